# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# How to run a bench image of this board: sourced by scripts/bench.

# bench_emulator IMAGE FOLDER [ARGUMENT...]: the second UART feeds the first through a socket; an instruction takes 1024 ns. The file is
# all of the board's DDR4.
bench_emulator() {
	truncate -s 2G "$2/memory"
	qemu-system-arm -M mps3-an547,memory-backend=vram \
		-object "memory-backend-file,id=vram,share=on,mem-path=$2/memory,size=2G" \
		-display none -monitor none -icount shift=10 \
		-chardev "socket,id=a,path=$2/lines,server=on,wait=off" -chardev "socket,id=b,path=$2/lines" \
		-serial chardev:a -serial chardev:b -semihosting-config enable=on,target=native \
		-kernel "$1" "${@:3}"
}
