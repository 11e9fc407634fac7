#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run_suites.sh LIST IMAGES COMMAND...: runs each suite of the list as an image of a
# board, and holds the names, results and counts of its tests against those of the
# program of this host. LIST has a line for each, "SUITE PROGRAM"; its image is
# IMAGES/SUITE, and COMMAND... IMAGE runs it. What differs is printed with the suite's
# own output. Exit status 1 if anything differs or fails.
set -euo pipefail

# Of one suite, in seconds: one that hangs is ended.
patience=300

# The lines of cmocka that name tests, say what came of them, and count.
tests_of() {
	grep -aE '^\[( RUN      | +OK |  FAILED  |==========|  PASSED  )\]|^\[  ERROR   \] [a-z]|^ [0-9]+ FAILED' || true
}

# The sanitizers' library would have nothing loaded before it; stdbuf works that way.
export ASAN_OPTIONS=verify_asan_link_order=0

# The same of the program of this host, which is run again only when it is newer than what it said.
host_tests() {
	local name=$1 program=$2 said
	said=$said_by_host/$name
	if [[ ! -e $said || $program -nt $said ]]; then
		# In the order in which it wrote, of both of its outputs.
		{ stdbuf -o0 "$program" 2>&1 </dev/null || true; } | tests_of >"$said.$$"
		mv "$said.$$" "$said"
	fi
	cat "$said"
}

# One suite. A line of its count goes to stdout, or all that went wrong.
run_suite() {
	local name=$1 program=$2 image=$images/$1 output status=0
	if [[ ! -e $image ]]; then
		printf 'FAILED %s: there is no image %s\n' "$name" "$image"
		return
	fi
	output=$(timeout "$patience" "${command[@]}" "$image" 2>&1 </dev/null) || status=$?
	local differences
	differences=$(diff <(host_tests "$name" "$program") <(tests_of <<<"$output")) || true
	if [[ $status != 0 || -n $differences ]]; then
		printf 'FAILED %s: status %s\n%s\n' "$name" "$status" "$output"
		[[ -z $differences ]] || printf 'its tests differ from those of the host:\n%s\n' "$differences"
		return
	fi
	sed -nE "s/^\[  PASSED  \] ([0-9]+) .*/passed \1 $name/p" <<<"$output"
}

list=$1 images=$2
command=("${@:3}")
said_by_host=$(dirname "$list")/host_suites
mkdir -p "$said_by_host"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
began=$SECONDS
while read -r name program; do
	while (($(jobs -rp | wc -l) >= $(nproc))); do
		wait -n
	done
	run_suite "$name" "$program" >"$results/$name" &
done <"$list"
wait

cat "$results"/*
awk -v seconds=$((SECONDS - began)) -v wanted="$(grep -c . "$list")" '
$1 == "passed" { suites++; tests += $2 }
END {
	printf "%d of %d suites passed, %d tests, %d s\n", suites, wanted, tests, seconds
	exit suites != wanted
}' "$results"/*
