/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "tests/bench/bench_board.h"

void pb_bench_print_number(uint32_t value)
{
	char text[12];
	size_t at = sizeof(text) - 1u;

	text[at] = '\0';
	do {
		text[--at] = (char)('0' + value % 10u);
		value /= 10u;
	} while (value != 0);
	pb_bench_board_print(&text[at]);
}
