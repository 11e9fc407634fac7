# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# How to run a bench image: sourced by scripts/bench and scripts/cycles, behind scripts/lib.sh.

# emulate BOARD FILE OUTPUT [ARGUMENT...]: a bench image is its own host and engine; tests/bench/BOARD.sh knows how to run it. The
# one that takes longest, that of attacks, needs 70 s of processor time.
emulate() {
	local name=$1 image=$2 output=$3 work
	shift 3
	need_built "$image"
	work=$(mktemp -d)
	truncate -s 16M "$work/memory"
	mkdir -p "$logs"
	# shellcheck disable=SC2016
	if ! limited 350 bash -c 'source "$0"; bench_emulator "$@"' "$root/tests/bench/$name.sh" "$image" "$work" "$@" \
		2>"$output"; then
		cat "$output" >&2
		rm -rf "$work"
		die 1 "the bench image failed"
	fi
	rm -rf "$work"
}

# follow_image BOARD OUTPUT [FILE]: the bus transactions of lists by kind, and with a file the instructions: tests/bench/probe.c.
follow_image() {
	local pool image=$root/build/$1/patchbay-bench-marked-$1.elf probe=$root/build/host/tests/patchbay-bench-probe.so mark
	build_board "$1" '' "$(basename "$image")"
	build_preset host patchbay-bench-probe
	need_built "$image" "$probe"
	mark=$(nm "$image" | sed -n 's/ . pb_bench_mark$//p')
	# From the pool of the card to its end: clients have their lists and buffers there.
	pool=$(($(sed -nE 's/.*PB_CARD_MEMORY=(0x[0-9a-f]+)u.*/\1/p' "$root/boards/$1/board.cmake") + 0x20000))
	emulate "$1" "$image" "$2" -plugin "$probe,mark=0x$mark,from=$pool,bytes=0xfe0000${3:+,trace=$3}"
}
