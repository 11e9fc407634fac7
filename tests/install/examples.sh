#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/install/examples.sh BUILD_FOLDER: the examples of host/examples, built with the installed packages alone and run on an
# emulated card: first with the installed image, then with the image of the example's own board.
# shellcheck source=tests/install/lib.sh
source "$(dirname "$0")/lib.sh" "$1"

programs=(hello_submit waits preemption own_format residency)

run_all() {
	local program lines
	for program in "${programs[@]}"; do
		quiet "$work/programs/$program" "$work/card"
		[[ -s $work/output ]] || fail "$program said nothing"
		lines=$(wc -l <"$work/examples/$program.c")
		((lines >= 50 && lines <= 100)) || fail "$program.c has $lines lines"
	done
	# With no card there, an example says so.
	refused NO_CARD "$work/programs/hello_submit" "$work/none"
}

quiet cmake --install "$build" --prefix "$work/prefix"
cp -r "$work/prefix/share/doc/patchbay/examples" "$work/examples"
quiet cmake -S "$work/examples" -B "$work/programs" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
	-DCMAKE_C_FLAGS="-Wall -Wextra -Wpedantic -Wconversion -Werror"
quiet cmake --build "$work/programs"
start_card "$work/prefix/bin/patchbay"
run_all
stop_card

quiet cmake -S "$work/examples/board" -B "$work/board" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
	-DPB_BOARD_DIR="$work/examples/board/my_board" \
	-DCMAKE_TOOLCHAIN_FILE="$work/prefix/share/patchbay/boards/cmake/toolchain.cmake"
quiet cmake --build "$work/board"
quiet "$work/prefix/bin/patchbay" image --board my_board "$work/board/patchbay_firmware/patchbay-my_board.bin"
start_card "$work/prefix/bin/patchbay" --image "$work/board/patchbay_firmware/patchbay-my_board.elf"
grep -qx 'build  *patchbay [0-9.]* my_board' <("$work/prefix/bin/patchbay" info --card "$work/card") || fail "another board runs"
run_all
echo "${#programs[@]} examples ran on two boards"
