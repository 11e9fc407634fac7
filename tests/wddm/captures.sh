#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# captures.sh FOLDER: replays all captures of a folder (NAME.subm.zst beside NAME.expect.tsv.zst) as a WDDM kernel, on one
# board of each instruction set. Each CRC must be the expected one; at random places, that of the plain replay. Adds a
# line for each run to tests/records/replay_wddm.tsv.
set -euo pipefail

captures=${1:?give the folder of the captures}
root=$(cd "$(dirname "$0")/../.." && pwd)
patchbay=$root/scripts/patchbay
record=$root/tests/records/replay_wddm.tsv
seed=7
revision=$(git -C "$root" rev-parse --short HEAD)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[[ -e $record ]] || printf 'date\trevision\tboard\tcapture\tplaces\tsubmissions\tpackets\tpatched\tmoves\tpreemptions\tmemory\n' >"$record"

# run BOARD NAME PLACES EXPECTED [OPTION...]
run() {
	local board=$1 name=$2 places=$3 expected=$4 packets patched moves preemptions memory
	shift 4
	"$patchbay" replay "$captures/$name.subm.zst" --wddm --board "$board" --crc-out "$work/found" "$@" >"$work/out"
	cmp "$work/found" "$expected"
	read -r packets patched moves preemptions memory < <(sed -nE \
		's/^as a WDDM kernel: ([0-9]+) packets, ([0-9]+) patched, ([0-9]+) moves, ([0-9]+) preemptions; in ([a-z]+) memory$/\1 \2 \3 \4 \5/p' \
		"$work/out")
	printf '%s\t' "$(date +%F)" "$revision" "$board" "$name" "$places" "$(($(wc -l <"$work/found") - 1))" \
		"$packets" "$patched" "$moves" "$preemptions" >>"$record"
	printf '%s\n' "$memory" >>"$record"
}

for board in mps2_an500 qemu_virt_rv32; do
	for capture in "$captures"/*.subm.zst; do
		name=$(basename "$capture" .subm.zst)
		zstdcat "$captures/$name.expect.tsv.zst" >"$work/expected"
		run "$board" "$name" fixed "$work/expected"
		"$patchbay" replay "$capture" --board "$board" --seed "$seed" --crc-out "$work/plain" >"$work/out"
		run "$board" "$name" "seed $seed" "$work/plain" --seed "$seed"
	done
done
tail -n 16 "$record"
