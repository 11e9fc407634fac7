#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each barrier of the source, left out, breaks a rule under some seed; or left_out.txt says why not.
# usage: barriers.sh PROGRAM SEEDS [FILE:LINE...]
set -euo pipefail

program=$1 seeds=$2
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."

# FILE:LINE FUNCTION N of each barrier, the N-th of its function. A function begins in the first column.
sites() {
	find firmware hal host qemu boards -name '*.[ch]' ! -path hal/shared.h -print0 | sort -z |
		xargs -0 awk '
	FNR == 1 { name = "" }
	/^[a-z].*[(]/ { name = $0; sub(/[(].*/, "", name); sub(/.*[ *]/, "", name); n = 0 }
	/pb_shared_(acquire|release|barrier)[(][)]/ { print FILENAME ":" FNR, name, ++n }'
}

# Whether left_out.txt has the barrier: its line names a function, one barrier of a function, or with * a whole file.
is_listed() {
	awk -v file="${1%:*}" -v name="$2" -v n="$3" '
	$1 == file && ($2 == name || $2 == name ":" n || $2 == "*") { found = 1 }
	END { exit !found }' "$here/left_out.txt"
}

caught=0 listed=0 missed=0
while read -r site name n; do
	(($# == 0)) || [[ " $* " == *" $site "* ]] || continue
	if is_listed "$site" "$name" "$n"; then
		listed=$((listed + 1))
		continue
	fi
	if ! output=$("$program" --without "$site" --count "$seeds" 2>&1); then
		caught=$((caught + 1))
		echo "$site ($name): ${output%%$'\n'*}"
	else
		missed=$((missed + 1))
		echo "$site ($name): no seed below $seeds shows that it is missing"
	fi
done < <(sites)
echo "$caught barriers left out were noticed, $missed were not, $listed are listed with a reason"
((missed == 0 && caught != 0))
