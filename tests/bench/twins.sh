#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The loops in assembly and their C twins, run on equal lists in QEMU: the results must be equal.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

need_packages "${packages_firmware[@]}" "${packages_run[@]}" gcc cmake ninja-build
# run_twins BOARD MACHINE
run_twins() {
	build_board "$1" asm
	timeout 100 qemu-system-arm -M "$2" -display none -monitor none -serial null -serial null \
		-semihosting-config enable=on,target=native \
		-kernel "$root/build/$1-asm/patchbay-twins-$1.elf" || die 1 "the twins differ on $1"
}

run_twins mps2_an500 mps2-an500
run_twins mps3_an547 mps3-an547
