/* SPDX-License-Identifier: MIT */
#include "tests/bench/twins.h"

#include "boards/board.h"
#include "tests/bench/bench_board.h"

static uint32_t random_state = 1;

uint32_t pb_twins_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

uint32_t pb_twins_below(uint32_t bound)
{
	return (uint32_t)((uint64_t)pb_twins_random() * bound >> 32);
}

uint32_t pb_twins_edge_number(void)
{
	const uint32_t bit = 1u << pb_twins_below(32);

	switch (pb_twins_below(4)) {
	case 0:
		return bit;
	case 1:
		return bit - 1u;
	case 2:
		return 0u - bit;
	default:
		return pb_twins_random();
	}
}

void pb_twins_require(bool good, const char *what)
{
	if (good)
		return;
	pb_bench_print_text("twins: failed: ");
	pb_bench_print_text(what);
	pb_bench_print_text("\n");
	pb_bench_exit(1);
}

bool pb_twins_equal(const void *a, const void *b, uint32_t words)
{
	const uint32_t *const one = a, *const other = b;

	for (uint32_t i = 0; i < words; i++) {
		if (one[i] != other[i])
			return false;
	}
	return true;
}

void pb_twins_report(const char *key, const struct pb_twins_ends *ends)
{
	for (uint32_t i = 0; i < sizeof(ends->irregular) / sizeof(ends->irregular[0]); i++)
		pb_twins_require(ends->irregular[i] != 0, "no irregular entry at some index of the slice");
	pb_twins_require(ends->raised != 0, "no run ended by an interrupt");
	pb_twins_require(ends->finished != 0, "no run came to its end");
	pb_bench_print_text(key);
	pb_bench_print_text(" ");
	pb_bench_print_number(ends->entries);
	pb_bench_print_text(" entries, ");
	pb_bench_print_number(ends->runs);
	pb_bench_print_text(" runs\n");
}

int main(void);

int main(void)
{
	(void)pb_board_start();
	pb_twins_list();
	pb_twins_compact();
	pb_twins_resolve();
	pb_bench_exit(0);
}
