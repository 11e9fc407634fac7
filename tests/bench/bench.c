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

/** Sums of spans. */
struct spans {
	uint64_t submit, retire, submit_to_sleep, retire_to_sleep;
};

static struct spans measure_empty(void)
{
	struct spans sum = {0};

	for (uint32_t i = 0; i < REPEATS; i++) {
		const struct pb_descriptor descriptor = pb_bench_descriptor();
		uint32_t submit, retire;

		pb_bench_submit(&descriptor, &submit, &retire);
		sum.submit += submit;
		sum.retire += retire;
		sum.submit_to_sleep += pb_bench_submit_to_sleep;
		sum.retire_to_sleep += pb_bench_retire_to_sleep;
	}
	return sum;
}

static void print(const char *key, uint64_t sum)
{
	pb_bench_print_milli(key, (uint32_t)(sum / REPEATS));
}

/** What the default levels add, whether the host or the engine waits for it or not. */
static void measure_trace(const struct spans *untraced)
{
	struct spans traced;

	pb_bench_boot(true);
	traced = measure_empty();
	print("trace_submit_instr", traced.submit_to_sleep - untraced->submit_to_sleep);
	print("trace_retire_instr", traced.retire_to_sleep - untraced->retire_to_sleep);
	pb_bench_boot(false);
}

int main(void);

int main(void)
{
	struct spans spans;

	pb_bench_boot(false);
	spans = measure_empty();
	print("submit_instr", spans.submit);
	print("retire_instr", spans.retire);
	measure_trace(&spans);
	pb_bench_schedule();
	pb_bench_patches();
	pb_bench_delays();
	pb_bench_board_exit(0);
}
