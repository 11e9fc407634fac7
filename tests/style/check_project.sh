#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The workflow of a public forge checks the tree out and calls .ci/run, and nothing else; the development container is Debian 12
# with the packages of scripts/lib.sh that build and run the demo; README.md has no badge, as nothing of this project shows one.
source "$(dirname "$0")/lib.sh"

workflow=.github/workflows/ci.yml container=.devcontainer/Dockerfile
if [[ -e $workflow ]]; then
	# "uses" and "run" of the steps, with their lines; a block of several lines shows as "|" or ">".
	grep -nE '(uses|run|shell|entrypoint|env|with|services|options): ?' "$workflow" | grep -vE '^[0-9]+: +run:$' | sed -E 's/^([0-9]+): *(- )?/\1:/' |
		grep -vxE '[0-9]+:(uses: actions/checkout@v[0-9]+|run: [.]ci/run)' |
		sed -E "s,^([0-9]+):(.*),$workflow:\1: more than .ci/run: \2," >>"$findings" || true
	[[ $(grep -cE '^ +- run: [.]ci/run$' "$workflow") == 1 ]] || echo "$workflow:1: .ci/run is not what it runs" >>"$findings"
	if command -v yamllint >/dev/null; then
		yamllint --format parsable "$workflow" | sed -E 's/^([^:]*:[0-9]+):[0-9]+:/\1:/' >>"$findings" || true
	fi
fi
if [[ -e $container ]]; then
	grep -qx 'FROM debian:12' "$container" || echo "$container:1: not Debian 12" >>"$findings"
	packages=$(bash -c 'source scripts/lib.sh && printf "%s\n" "${packages_host[@]}" "${packages_firmware[@]}" "${packages_run[@]}"' | sort -u)
	for package in $packages; do
		grep -qE "(^|[[:space:]])${package//+/[+]}([[:space:]]|\$)" "$container" || echo "$container:1: $package is missing" >>"$findings"
	done
	python3 - .devcontainer/devcontainer.json "$(basename "$container")" >>"$findings" <<'PYTHON'
import json
import sys
name, dockerfile = sys.argv[1:]
try:
    with open(name, encoding='utf-8') as file:
        found = json.load(file)['build']['dockerfile']
    if found != dockerfile:
        print(f'{name}:1: builds {found}')
except (OSError, ValueError, KeyError, TypeError) as error:
    print(f'{name}:1: {error!r}')
PYTHON
fi
[[ ! -e README.md ]] || grep -nE '!\[[^]]*\]\(https?:|shields[.]io|badge[.]svg' README.md | sed -E 's,^([0-9]+):.*,README.md:\1: a badge that no test holds,' >>"$findings" || true
finish
