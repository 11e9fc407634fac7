/* SPDX-License-Identifier: MIT */
/* Lists whose patching the emulator follows (tests/bench/probe.c): of each kind half a list, then a whole one. */
#include "tests/bench/bench.h"
#include "tests/bench/bench_board.h"

int main(void);

int main(void)
{
	pb_bench_boot(false);
	pb_bench_patches_marked();
	pb_bench_exit(0);
}
