/* SPDX-License-Identifier: MIT */
/*
 * What attacks cost a victim at most: its share of the engines, and how long its wakes, replies and preemptions take.
 * Prints a line for each attack, which begins with #, then "key value" lines.
 */
#include "tests/bench/victim.h"

#include "tests/bench/bench.h"
#include "tests/bench/bench_board.h"

static void print_part(const char *what, uint32_t value)
{
	pb_bench_print_text(what);
	pb_bench_print_number(value);
}

static void print_result(const char *name, const struct pb_victim_result *result)
{
	pb_bench_print_text("# ");
	pb_bench_print_text(name);
	print_part(": share ", result->share);
	print_part(" permille, in any window ", result->anywhere);
	print_part("; wake ", result->wake);
	print_part(" us, reply ", result->reply);
	print_part(" us, preemption ", result->preempt);
	print_part(" us; of ", result->counts[0]);
	print_part(", ", result->counts[1]);
	print_part(", ", result->counts[2]);
	pb_bench_print_text("\n");
}

static uint32_t more_of(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

int main(void);

int main(void)
{
	uint32_t share = UINT32_MAX, latency = 0;

	for (uint32_t a = 0; a <= 23; a++) {
		struct pb_victim_result result;

		pb_victim_judge(a, &result);
		print_result(pb_victim_attacks[a].name, &result);
		share = result.share < share ? result.share : share;
		latency = more_of(latency, more_of(result.wake, more_of(result.reply, result.preempt)));
	}
	pb_bench_print_milli("victim_share_worst", share);
	print_part("victim_latency_worst_us ", latency);
	pb_bench_print_text("\n");
	pb_bench_exit(0);
}
