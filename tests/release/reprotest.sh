#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/release/reprotest.sh [RELEASE_OPTION...]: Debian's reprotest builds a release twice, with all of its variations but one: environment,
# build path, kernel, ASLR, number of processors, clock (faketime), order of files (disorderfs), host's name, HOME, locale,
# PATH, time zone, umask. Not the user, as another one need not be allowed to mount: tests/release/reproducible.sh varies that.
# Without options: one image, and the package of the firmware. Adds a line to tests/records/reprotest.tsv. Needs root and FUSE.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/lib.sh
source "$project/scripts/lib.sh"
((EUID == 0)) || die 3 "needs root, for host names and file systems"
options=("$@")
(($#)) || options=(--boards mps2_an500 --packages firmware)
need_packages reprotest disorderfs faketime git
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q "$root" "$work/sources"
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
log=$logs/reprotest.log
mkdir -p "$logs"
begin=$(date +%s)
if ! (cd "$work/sources" && reprotest -vv --no-diffoscope --min-cpus=1 --variations=+all,-user_group \
	-c "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH bash scripts/release --untested --output out ${options[*]@Q}" . 'out/*') >"$log" 2>&1; then
	tail -n 40 "$log" >&2
	die 1 "two builds differ, or there was none; the whole log is $log"
fi
varied=$(sed -nE 's/^INFO:reprotest:build "experiment-1": //p' "$log" | sed 's/vary //g')
varied=${varied/, FIX user_group/}
[[ -n $varied && $varied != *FIX* ]] || die 1 "not all is varied: $varied"
grep -q 'Reproduction successful' "$log" || die 1 "reprotest does not say that it succeeded; the whole log is $log"
files=$(grep -cE '^[0-9a-f]{64}  ' "$log")
record=$root/tests/records/reprotest.tsv
[[ -e $record ]] || printf 'date\trevision\treprotest\toptions\tfiles\tvaried\tseconds\n' >"$record"
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%F)" "$(git -C "$root" log -1 --format=%h)" "$(dpkg-query -W -f '${Version}' reprotest)" \
	"${options[*]}" "$files" "$varied" "$(($(date +%s) - begin))" >>"$record"
say "$files files are equal: $varied"
