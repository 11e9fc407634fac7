#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_run_suites.sh FAILING IMAGES COMMAND...: run_suites.sh detects what goes wrong on a board. FAILING is the host's
# program of the suites of test_target_fails.c; the rest is as for run_suites.sh.
set -euo pipefail

failing=$1 images=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0

# expect NAME LINES-OF-THE-LIST REGEX...: run_suites.sh fails, and each regex matches a line that it prints.
expect() {
	local name=$1 regex
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
}

# emulate SUITE...: run_suites.sh runs these of the image, which goes without them otherwise.
emulator=("$@")
emulate() {
	command=("${emulator[@]:0:${#emulator[@]}-1}" -append "$*" "${emulator[-1]}")
}

# The small cmocka of the target prints what the host's cmocka prints. A suite finds nothing of the one before it.
emulate test_target_leaves test_target_fails
expect "failing tests" "test_target_fails everyday $failing" '^FAILED test_target_fails: status 1$' \
	'0x100000002 != 0x2' 'test_target_fails.c:[0-9]+: error: Failure!' '^\[  FAILED  \] numbers_differ$' \
	'^\[  PASSED  \] 3 test' '^ 5 FAILED TEST' '^0 of 1 suites passed, 0 tests'
if grep -q 'differ from those' <<<"$output"; then
	printf 'on the host the output of the failing tests differs:\n%s\n' "$output"
	wrong=1
fi
# The same output, beside that of a host with another test.
printf '#!/bin/sh\nprintf -- "-- test_target_fails\\n[ RUN      ] other\\n[==========] 1 test(s) run.\\n"\n' >"$work/other"
chmod +x "$work/other"
emulate test_target_leaves test_target_halts
expect "memory that is not freed, and a halt" "test_target_leaves everyday $failing
test_target_halts everyday $failing" '^FAILED test_target_leaves: status 2$' '^> \[   LEAK   \] 16 bytes' \
	'^FAILED test_target_halts: status 2$' '^\[  HALTED  \]' '^0 of 2 suites passed'
command=(sh -c 'printf -- "-- test_target_fails\n[ RUN      ] fails\n[==========] 1 test(s) run.\n[  PASSED  ] 1 test(s).\n"')
expect "other tests than the host's" "test_target_fails everyday $work/other" 'differ from those of the host' '^< \[ RUN'
command=(sh -c 'printf -- "-- test_target_fails\n[ RUN      ] other\n[==========] 1 test(s) run.\n[  PASSED  ] 1 test(s).\n"; exit 3')
printf '#!/bin/sh\nprintf -- "-- test_target_fails\\n[ RUN      ] other\\n[==========] 1 test(s) run.\\n[  PASSED  ] 1 test(s).\\n"\n' >"$work/other"
expect "a status that says otherwise" "test_target_fails everyday $work/other" '^FAILED image everyday: status 3$'
expect "no image" "test_target_fails test_not_there $work/other" '^FAILED test_target_fails: there is no image'
command=(sh -c 'exit 0')
expect "an emulator without output" "test_target_fails everyday $failing" '^FAILED test_target_fails: status 0$'
exit $wrong
