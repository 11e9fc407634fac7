/* SPDX-License-Identifier: MIT */
/*
 * Instruction counts of the submission path, inside the image and with no host
 * in the loop: this program is host, engine and stopwatch around the very core
 * and drivers that the board ships. Prints "key value" lines; a run in which
 * anything failed ends with an error instead of a figure.
 */
#include "tests/bench/bench.h"

#include "tests/bench/bench_board.h"

#define REPEATS 2048u

static void measure_empty(void)
{
	uint64_t submit_sum = 0, retire_sum = 0;

	for (uint32_t i = 0; i < REPEATS; i++) {
		const struct pb_descriptor descriptor = pb_bench_descriptor();
		uint32_t submit, retire;

		pb_bench_submit(&descriptor, &submit, &retire);
		submit_sum += submit;
		retire_sum += retire;
	}
	pb_bench_print_milli("submit_instr", (uint32_t)(submit_sum / REPEATS));
	pb_bench_print_milli("retire_instr", (uint32_t)(retire_sum / REPEATS));
}

int main(void);

int main(void)
{
	pb_bench_boot();
	measure_empty();
	pb_bench_schedule();
	pb_bench_patches();
	pb_bench_delays();
	pb_bench_board_exit(0);
}
