#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_run_suites.sh FAILING OTHER IMAGES COMMAND...: run_suites.sh detects what goes
# wrong on a board. FAILING is the host's program of the suite test_target_fails, OTHER
# that of a suite with other tests; the rest is as for run_suites.sh.
set -euo pipefail

failing=$1 other=$2 images=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0

# expect NAME LINE-OF-THE-LIST REGEX...: run_suites.sh fails, and each regex matches a line that it prints.
expect() {
	local name=$1 output regex
	printf '%s\n' "$2" >"$work/list.txt"
	rm -rf "$work/host_suites"
	if output=$(bash "$(dirname "$0")/run_suites.sh" "$work/list.txt" "$images" "${command[@]}"); then
		printf '%s: was not detected\n' "$name"
		wrong=1
	fi
	shift 2
	for regex; do
		if ! grep -qE -- "$regex" <<<"$output"; then
			printf '%s: "%s" is not in\n%s\n' "$name" "$regex" "$output"
			wrong=1
		fi
	done
	last_output=$output
}

command=("$@")
# The small cmocka of the target prints what the host's cmocka prints.
expect "failing tests" "test_target_fails $failing" '^FAILED test_target_fails: status 1$' \
	'0x100000002 != 0x2' 'test_target_fails.c:[0-9]+: error: Failure!' '^\[  FAILED  \] numbers_differ$' \
	'^\[  PASSED  \] 2 test' '^ 5 FAILED TEST' '^0 of 1 suites passed, 0 tests'
if grep -q 'differ from those' <<<"$last_output"; then
	printf 'on the host the output of the failing tests differs:\n%s\n' "$last_output"
	wrong=1
fi
expect "other tests than the host's" "test_target_fails $other" 'differ from those of the host' '^< \[ RUN'
expect "no image" "test_not_there $other" '^FAILED test_not_there: there is no image'
command=(sh -c 'exit 0')
expect "an emulator without output" "test_target_fails $failing" '^FAILED test_target_fails: status 0$'
exit $wrong
