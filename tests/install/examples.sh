#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/install/examples.sh BUILD_FOLDER [--all]: the examples of host/examples, built with the installed packages alone and run on
# an emulated card with the installed image; with --all also with the image of the example's own board.
# shellcheck source=tests/install/lib.sh
source "$(dirname "$0")/lib.sh" "$@"

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

# The image of the example's own board, with the same programs.
run_on_own_board() {
	quiet cmake -S "$work/examples/board" -B "$work/board" -G Ninja -DCMAKE_PREFIX_PATH="$staged" \
		-DPB_BOARD_DIR="$work/examples/board/my_board" \
		-DCMAKE_TOOLCHAIN_FILE="$staged/share/patchbay/boards/cmake/toolchain.cmake"
	quiet cmake --build "$work/board"
	quiet "$staged/bin/patchbay" image --board my_board "$work/board/patchbay_firmware/patchbay-my_board.bin"
	start_card "$staged/bin/patchbay" --image "$work/board/patchbay_firmware/patchbay-my_board.elf"
	grep -qx 'build  *patchbay [0-9.]* my_board' <("$staged/bin/patchbay" info --card "$work/card") || fail "another board runs"
	run_all
}

need_stage
cp -r "$staged/share/doc/patchbay/examples" "$work/examples"
quiet cmake -S "$work/examples" -B "$work/programs" -G Ninja -DCMAKE_PREFIX_PATH="$staged" \
	-DCMAKE_C_FLAGS="-Wall -Wextra -Wpedantic -Wconversion -Werror"
quiet cmake --build "$work/programs"
start_card "$staged/bin/patchbay"
run_all
stop_card

if [[ $all == --all ]]; then
	run_on_own_board
fi
echo "${#programs[@]} examples ran"
