#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# threads.sh PROGRAM library|shim --count N [--from SEED]: so many random schedules of four threads and an interrupt without a
# race.
# threads.sh PROGRAM library|shim --planted: each lock, and each place that takes one, is left out: ThreadSanitizer must find
# it. A fault of a caller may break a rule first (3).
set -euo pipefail
program=$1
what=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
planted=2000

# ThreadSanitizer fails to start where addresses are more random than it expects. A container may not allow the change.
run=()
! setarch -R true 2>/dev/null || run=(setarch -R)
export TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS-}"

shim=()
[[ $what == library ]] || shim=(--shim yes)
if [[ $3 != --planted ]]; then
	exec "${run[@]}" "$program" "${shim[@]}" "${@:3}"
fi

# Places whose absence no schedule shows, as FILE:FUNCTION, and why.
excused='
host/stop.c:end the interrupt reads what it clears only while a record is newer than the last one, which is read before
host/wddm/power.c:pb_wddm_set_power_state at level three no other function of the shim runs, and the DPC does not read the state
'

# takes FOLDER: places there that take a lock, as FILE:LINE.
takes() {
	local file
	cd "$root"
	for file in "$1"/*.c; do
		awk -v file="$file" -v excused="$excused" '
		/^[a-z].*[a-z_0-9]+\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
		/[ \t]pb_(wddm_)?lock\(/ && index(excused, file ":" name " ") == 0 { print file ":" FNR }' "$file"
	done
}

# without WHAT CODE...: the fault ends the program with one of these codes.
without() {
	local what=$1 status=0 output
	shift
	output=$("${run[@]}" "$program" "${shim[@]}" --without "$what" --count "$planted" 2>&1) || status=$?
	if [[ " $* " != *" $status "* ]]; then
		echo "without $what: ends with $status, not with $*"
		failures=$((failures + 1))
		return
	fi
	echo "without $what: $(grep -m 1 -E '^SUMMARY|^seed' <<<"$output")"
}

# each LEAST FOLDER: leaves out each place of a folder.
each() {
	local places place
	places=$(takes "$2")
	for place in $places; do
		without "$place" 66
	done
	(($(wc -w <<<"$places") >= $1)) || { echo "the places of $2 that take a lock were not found" && exit 1; }
}

failures=0
if [[ $what == library ]]; then
	for lock in commands kicks events queue trace mutex; do
		without "$lock" 66
	done
	without stops 66 3
	each 15 host
else
	for lock in adapter rings interrupt; do
		without "$lock" 66
	done
	without scheduler 66 3
	each 10 host/wddm
fi
((failures == 0))
