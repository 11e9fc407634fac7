#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run_suites.sh LIST IMAGES COMMAND...: runs the images of suites of a board, and
# compares the names, results and counts of each suite's tests with those of the
# program of this host. LIST has a line for each suite, "SUITE IMAGE PROGRAM";
# COMMAND... IMAGES/IMAGE runs all suites of an image. Differences are printed with
# the suite's own output. Exit status 1 if anything differs or fails.
set -euo pipefail

# The lines of cmocka with test names, results and counts.
tests_of() {
	grep -aE '^\[( RUN      | +OK |  FAILED  |==========|  PASSED  |   LEAK   )\]|^\[  ERROR   \] [a-z]|^ [0-9]+ FAILED' || true
}

# split FOLDER: a file for each suite with what it printed.
split() {
	mkdir -p "$1"
	awk -v folder="$1" '/^-- [a-z0-9_]+$/ { file = folder "/" $2 } file != "" { print >file }'
}

# run_host PROGRAM SUITE...: the suites on this host. What they printed is kept for other boards until the program is newer.
run_host() {
	local program=$1 suite words=() fresh
	fresh=$work/host_$(basename "$1")
	shift
	exec 9>"$host/$(basename "$program").lock"
	flock 9
	for suite; do
		[[ $host/$suite -nt $program ]] || words+=(--suite "$suite")
	done
	((${#words[@]})) || return 0
	{ "$program" "${words[@]}" 2>&1 </dev/null || true; } | split "$fresh"
	for suite; do
		if [[ -e $fresh/$suite ]] && grep -qE '^\[=+\] [0-9]+ test\(s\) run\.$' "$fresh/$suite"; then
			mv "$fresh/$suite" "$host/$suite"
		fi
	done
}

# judge SUITE OUTPUT STATUS: prints the suite's count, or all errors.
judge() {
	local suite=$1 output=$2 differences
	touch "$output" "$host/$suite"
	differences=$(diff <(tests_of <"$host/$suite") <(tests_of <"$output")) || true
	if [[ -n $differences ]] || ! grep -q '^\[  PASSED  \]' "$output" || grep -q '^\[  FAILED  \]' "$output"; then
		printf 'FAILED %s: status %s\n' "$suite" "$3"
		cat "$output"
		[[ -z $differences ]] || printf 'its tests differ from those of the host:\n%s\n' "$differences"
		return
	fi
	sed -nE "s/^\[  PASSED  \] ([0-9]+) .*/passed \1 $suite/p" "$output"
}

# run_image IMAGE SUITE...: judges each suite. The image's status must not say otherwise.
run_image() {
	local image=$1 output=$work/image_$1 status=0 suite
	shift
	if [[ ! -e $images/$image ]]; then
		printf "FAILED %s: there is no image $image\n" "$@"
		return
	fi
	mkdir "$output"
	"${command[@]}" "$images/$image" >"$output.all" 2>&1 </dev/null || status=$?
	split "$output" <"$output.all"
	for suite; do
		judge "$suite" "$output/$suite" "$status"
	done >"$output.verdicts"
	cat "$output.verdicts"
	if [[ $status != 0 ]] && ! grep -q '^FAILED' "$output.verdicts"; then
		printf 'FAILED image %s: status %s\n' "$image" "$status"
		cat "$output.all"
	fi
}

# each COLUMN FUNCTION: calls the function with each word of the column of the list, and its suites; as many at once as there
# are processors.
each() {
	local key suites
	while read -r key suites; do
		while (($(jobs -rp | wc -l) >= $(nproc))); do
			wait -n || true
		done
		# shellcheck disable=SC2086 # names of suites
		"$2" "$key" $suites >"$work/$2_$(basename "$key")" &
	done < <(awk -v column="$1" '{ suites[$column] = suites[$column] " " $1 } END { for (key in suites) print key suites[key] }' "$list")
	wait
}

list=$1 images=$2
command=("${@:3}")
host=$(dirname "$list")/host_suites
mkdir -p "$host"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
each 3 run_host
each 2 run_image
cat "$work"/run_image_*
awk -v wanted="$(grep -c . "$list")" '
$1 == "FAILED" { failed++ }
$1 == "passed" { suites++; tests += $2 }
END {
	printf "%d of %d suites passed, %d tests\n", suites, wanted, tests
	exit suites != wanted || failed > 0
}' "$work"/run_image_*
