#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# runner.sh PROGRAM: the runner of unit suites reports each suite that fails or crashes, and runs suites apart. PROGRAM is
# a runner with the suites of sample_suites.c.
set -euo pipefail

program=$1
wrong=0

# expect STATUS LINE ARGUMENT...: the exit status, and the last line of the output; an empty LINE stands for any.
expect() {
	local status=0 output
	output=$("$program" "${@:3}" 2>/dev/null) || status=$?
	if [[ $status != "$1" || -n $2 && ${output##*$'\n'} != "$2" ]]; then
		printf '%s: status %s, not %s; output:\n%s\n' "${*:3}" "$status" "$1" "$output"
		wrong=1
	fi
}

expect 1 "-- 2 of 5 suites passed"
expect 0 "-- 2 of 2 suites passed" --suite passes --suite alone
expect 0 "" --suite sample_passes
expect 1 "" --suite fails
expect 134 "" --suite crashes
expect 1 "-- 1 of 2 suites passed" --suite passes --suite crashes
expect 0 "" --suite arguments a b
expect 1 "" --suite arguments a
expect 2 "-- 0 of 0 suites passed" --suite asses
expect 2 "" --suite
expect 2 "" --nothing x
expect 0 sample_long --list
expect 0 "" --suite long
expect 1 "-- 1 of 2 suites passed" --brief --suite passes --suite crashes

# What failed is shown with the command that runs it again; of what passed nothing is.
output=$("$program" --brief 2>&1) && wrong=1
for line in "a suite that fails" "-- sample_fails failed; alone: $program --suite sample_fails" \
	"-- sample_crashes: signal 6: Aborted" "-- sample_crashes failed; alone: $program --suite sample_crashes"; do
	grep -qxF -- "$line" <<<"$output" || { printf 'no line "%s" in\n%s\n' "$line" "$output" && wrong=1; }
done
if grep -F "a suite that passes" <<<"$output"; then
	wrong=1
fi
exit $wrong
