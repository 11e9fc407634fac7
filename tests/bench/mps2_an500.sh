# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# How to run a bench image of this board: sourced by scripts/bench.

# bench_emulator IMAGE FOLDER [ARGUMENT...]: the second UART feeds the first through a socket; an instruction takes 1024 ns.
bench_emulator() {
	qemu-system-arm -M mps2-an500,memory-backend=vram \
		-object "memory-backend-file,id=vram,share=on,mem-path=$2/memory,size=16M" \
		-display none -monitor none -icount shift=10 \
		-chardev "socket,id=a,path=$2/lines,server=on,wait=off" -chardev "socket,id=b,path=$2/lines" \
		-serial chardev:a -serial chardev:b -semihosting-config enable=on,target=native \
		-kernel "$1" "${@:3}"
}
