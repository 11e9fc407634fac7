#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# quick_test.sh STAMP COMMAND...: runs a test of the inner loop. If it passes, STAMP is made; if not, its output is printed
# and STAMP.failed is made. Either has a line: how many suites passed, and how many failed.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"

stamp=$1
shift
rm -f "$stamp" "$stamp.failed"
status=0
output=$(limited 60 "$@" 2>&1 </dev/null) || status=$?
# A runner of suites counts them; any other program is one.
counts=$(sed -nE '$s/^-- ([0-9]+) of ([0-9]+) suites passed$/\1 \2/p' <<<"$output")
read -r passed all <<<"${counts:-$((status == 0)) 1}"
if [[ $status == 0 ]]; then
	printf '%d 0\n' "$passed" >"$stamp"
	exit
fi
printf '%s\nFAILED, status %d: %s\n' "$output" "$status" "$*"
printf '%d %d\n' "$passed" "$((all > passed ? all - passed : 1))" >"$stamp.failed"
exit 1
