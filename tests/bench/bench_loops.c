/* SPDX-License-Identifier: MIT */
/* The cost of patching alone, for a board that only has other loops than the first one's: see bench.c. */
#include "tests/bench/bench.h"
#include "tests/bench/bench_board.h"

int main(void);

int main(void)
{
	pb_bench_boot(false);
	pb_bench_patches();
	pb_bench_exit(0);
}
