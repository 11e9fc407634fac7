# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by scripts/bench: how much goes through in QEMU, beside an earlier build, in one run. Wall time, so no gate.

throughput_folder=$root/build/before

# build_before COMMIT: the tools and the image of that commit, in build/before.
build_before() {
	local commit
	commit=$(git -C "$root" rev-parse --verify "$1^{commit}" 2>/dev/null) || die 2 "there is no commit $1 here"
	if [[ $(cat "$throughput_folder/commit" 2>/dev/null) != "$commit" ]]; then
		rm -rf "$throughput_folder"
		mkdir -p "$throughput_folder"
		git -C "$root" archive "$commit" | tar -x -C "$throughput_folder"
		logged before cmake -S "$throughput_folder" -B "$throughput_folder/build/host" --preset host
		logged before cmake -S "$throughput_folder" -B "$throughput_folder/build/$board" -G Ninja -DPB_BOARD="$board"
		echo "$commit" >"$throughput_folder/commit"
	fi
	logged before cmake --build "$throughput_folder/build/host" --target patchbay patchbay-throughput -j "$(nproc)"
	logged before cmake --build "$throughput_folder/build/$board" --target "patchbay-$board.elf" -j "$(nproc)"
}

# on_card TREE COMMAND...: a command of that tree's tool on a card of that tree that runs already: seconds it takes.
on_card() {
	local tree=$1 tool=$1/build/host/host/patchbay folder card start end status=0
	shift
	folder=$(mktemp -d)
	"$tool" card --quiet --socket "$folder/card" --board "$board" --image "$tree/build/$board/patchbay-$board.elf" &
	card=$!
	while [[ ! -S $folder/card ]]; do
		kill -0 "$card" 2>/dev/null || die 1 "the card of $tree did not start"
		sleep 0.05
	done
	start=$EPOCHREALTIME
	"$tool" "$@" --card "$folder/card" >"$logs/throughput.log" 2>&1 || status=$?
	end=$EPOCHREALTIME
	kill -INT "$card"
	wait "$card" || true
	rm -rf "$folder"
	((status == 0)) || die 1 "$tool $* failed: $(tail -n 3 "$logs/throughput.log")"
	awk -v a="$start" -v b="$end" 'BEGIN { printf "%.4f\n", b - a }'
}

# The three kinds: each prints a rate, in units a second.

rate_empty() {
	local tree=$1 image=$1/build/$board/patchbay-$board.elf arguments=()
	# An earlier program runs a second image beside it.
	grep -q 'usage: throughput FIRMWARE ECHO' "$tree/tests/e2e/throughput.c" && arguments=("$image")
	"$tree/build/host/tests/patchbay-throughput" "$image" "${arguments[@]}" 1 |
		awk '$1 == "e2e_submissions_per_s" { print $2 }'
}

rate_demo() {
	on_card "$1" demo --quiet --frames 48 --output "$root/build/throughput-demo" | awk '{ printf "%.2f\n", 48 / $1 }'
}

rate_replay() {
	on_card "$1" replay "$root/tests/data/hsw.subm.zst" | awk '{ printf "%.2f\n", 67 / $1 }'
}

# median_and_worst FILE: of the rates in it, a line each.
median_and_worst() {
	sort -g "$1" | awk '{ rate[NR] = $1 } END { print rate[int((NR + 1) / 2)], rate[1] }'
}

# measure_throughput COMMIT: seven runs of each kind, one of each build after the other.
measure_throughput() {
	local run kind side tree now before folder
	folder=$(mktemp -d)
	build_before "$1"
	build_preset host patchbay
	build_preset host patchbay-throughput
	build_board "$board" '' "patchbay-$board.elf"
	for ((run = 0; run < 7; run++)); do
		for kind in empty demo replay; do
			for side in before now; do
				tree=$root
				[[ $side == now ]] || tree=$throughput_folder
				"rate_$kind" "$tree" >>"$folder/$kind-$side"
			done
		done
		say "run $((run + 1)) of 7"
	done
	printf '| in QEMU, a second | %s: median (worst) | now: median (worst) | ratio |\n|---|---|---|---|\n' "$1"
	for kind in empty demo replay; do
		before=$(median_and_worst "$folder/$kind-before")
		now=$(median_and_worst "$folder/$kind-now")
		awk -v kind="$kind" -v before="$before" -v now="$now" 'BEGIN {
			name["empty"] = "empty submissions"; name["demo"] = "frames of the demo"; name["replay"] = "submissions replayed"
			split(before, b); split(now, n)
			printf "| %s | %s (%s) | %s (%s) | %.2f |\n", name[kind], b[1], b[2], n[1], n[2], n[1] / b[1]
		}'
	done
	rm -rf "$folder"
}
