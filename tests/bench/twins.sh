#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# twins.sh [--built]: the loops in assembly and their C twins, run on equal lists in QEMU: the results must be equal. With --built
# nothing is built: build/BOARD-asm is there.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

[[ ${1-} != --built ]] || built=yes
need_packages "${packages_firmware[@]}" "${packages_run[@]}" gcc cmake ninja-build
# run_twins BOARD MACHINE
run_twins() {
	local image=$root/build/$1-asm/patchbay-twins-$1.elf
	build_board "$1" asm "$(basename "$image")"
	need_built "$image"
	limited 20 qemu-system-arm -M "$2" -display none -monitor none -serial null -serial null \
		-semihosting-config enable=on,target=native \
		-kernel "$image" || die 1 "the twins differ on $1"
}

run_twins mps2_an500 mps2-an500
run_twins mps3_an547 mps3-an547
