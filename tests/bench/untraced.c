/* SPDX-License-Identifier: MIT */
/* The bench of a core without a trace: scripts/bench compares its figure with that of the traced core. */
#include "tests/bench/bench.h"
#include "tests/bench/bench_board.h"

int main(void);

int main(void)
{
	pb_bench_boot(false);
	pb_bench_print_span("untraced_submit_instr", pb_bench_empty().submit);
	pb_bench_exit(0);
}
