#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shell scripts parse, and those that people run can be run.
source "$(dirname "$0")/lib.sh"

while IFS= read -r script; do
	IFS= read -r first <"$script" || true
	[[ $first == '#!'*bash* || $script == *.sh ]] || continue
	if ! message=$(bash -n "$script" 2>&1); then
		sed -E "s,^.*: line ([0-9]+): ,$script:\1: ,;q" <<<"$message" >>"$findings"
	fi
	if [[ $script != */*.sh && ! -x $script ]]; then
		echo "$script:1: not executable" >>"$findings"
	fi
done < <(texts | grep -E '^scripts/|^\.ci/|\.sh$')
finish
