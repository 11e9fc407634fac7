#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The loops in assembly and their C twins, run on equal lists in QEMU: the results must be equal.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

need_packages "${packages_firmware[@]}" "${packages_run[@]}" gcc cmake ninja-build
build_board mps2_an500 asm
timeout 100 qemu-system-arm -M mps2-an500 -display none -monitor none -serial null -serial null \
	-semihosting-config enable=on,target=native \
	-kernel "$root/build/mps2_an500-asm/patchbay-twins-mps2_an500.elf" || die 1 "the twins differ"
