# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# How to run a bench image of this board: sourced by scripts/bench.

# bench_emulator IMAGE FOLDER [ARGUMENT...]: the UART is in loopback; an instruction takes 1 ns.
bench_emulator() {
	qemu-system-riscv32 -M virt -m 8M -bios none \
		-object "memory-backend-file,id=vram,share=on,mem-path=$2/memory,size=16M" \
		-device ivshmem-plain,memdev=vram \
		-display none -monitor none -serial null -icount shift=0 \
		-semihosting-config enable=on,target=native \
		-kernel "$1" "${@:3}"
}
