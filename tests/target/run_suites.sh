#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run_suites.sh LIST IMAGES COMMAND...: runs each suite of the list as an image of a
# board, and compares the names, results and counts of its tests with those of the
# program of this host. LIST has a line for each, "SUITE PROGRAM [ARGUMENT...]"; its
# image is IMAGES/SUITE, and COMMAND... IMAGE runs it. Differences are printed with the
# suite's own output. Exit status 1 if anything differs or fails.
set -euo pipefail

# Timeout of one suite, in seconds.
patience=300

# The lines of cmocka with test names, results and counts.
tests_of() {
	grep -aE '^\[( RUN      | +OK |  FAILED  |==========|  PASSED  )\]|^\[  ERROR   \] [a-z]|^ [0-9]+ FAILED' || true
}

# stdbuf preloads a library before the sanitizers' one, which they refuse by default.
export ASAN_OPTIONS=verify_asan_link_order=0

# host_tests NAME PROGRAM [ARGUMENT...]: the lines of the program of this host, which runs again only when it is newer
# than its saved output.
host_tests() {
	local name=$1 saved
	shift
	saved=$host_output/$name
	if [[ ! -e $saved || $1 -nt $saved ]]; then
		# Both outputs, in the order of writing.
		{ stdbuf -o0 "$@" 2>&1 </dev/null || true; } | tests_of >"$saved.$$"
		# A run that was cut off is shown, and not kept for the boards that come later.
		if ! grep -qE '^\[=+\] [0-9]+ test\(s\) run\.$' "$saved.$$"; then
			cat "$saved.$$"
			rm "$saved.$$"
			return
		fi
		mv "$saved.$$" "$saved"
	fi
	cat "$saved"
}

# Runs one suite. Prints its count, or all errors.
run_suite() {
	local name=$1 image=$images/$1 output status=0
	shift
	if [[ ! -e $image ]]; then
		printf 'FAILED %s: there is no image %s\n' "$name" "$image"
		return
	fi
	output=$(timeout "$patience" "${command[@]}" "$image" 2>&1 </dev/null) || status=$?
	local differences
	differences=$(diff <(host_tests "$name" "$@") <(tests_of <<<"$output")) || true
	if [[ $status != 0 || -n $differences ]]; then
		printf 'FAILED %s: status %s\n%s\n' "$name" "$status" "$output"
		[[ -z $differences ]] || printf 'its tests differ from those of the host:\n%s\n' "$differences"
		return
	fi
	sed -nE "s/^\[  PASSED  \] ([0-9]+) .*/passed \1 $name/p" <<<"$output"
}

list=$1 images=$2
command=("${@:3}")
host_output=$(dirname "$list")/host_suites
mkdir -p "$host_output"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
began=$SECONDS
while read -r name program arguments; do
	while (($(jobs -rp | wc -l) >= $(nproc))); do
		wait -n
	done
	# shellcheck disable=SC2086 # words of their own
	run_suite "$name" "$program" $arguments >"$results/$name" &
done <"$list"
wait

cat "$results"/*
awk -v seconds=$((SECONDS - began)) -v wanted="$(grep -c . "$list")" '
$1 == "passed" { suites++; tests += $2 }
END {
	printf "%d of %d suites passed, %d tests, %d s\n", suites, wanted, tests, seconds
	exit suites != wanted
}' "$results"/*
