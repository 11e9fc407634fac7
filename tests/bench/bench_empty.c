/* SPDX-License-Identifier: MIT */
/* A submission with nothing to patch, repeated. */
#include "tests/bench/bench.h"

#define REPEATS 2048u

struct pb_bench_spans pb_bench_empty(void)
{
	struct pb_bench_spans sum = {0};

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

void pb_bench_print_span(const char *key, uint64_t sum)
{
	pb_bench_print_milli(key, (uint32_t)(sum / REPEATS));
}
