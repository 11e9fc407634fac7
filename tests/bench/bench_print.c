/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "tests/bench/bench_board.h"
#include "tests/target/semihost.h"

#define SYS_WRITE0 0x04u

void pb_bench_print_text(const char *text)
{
	(void)semihost_call(SYS_WRITE0, text);
}

void pb_bench_print_number(uint32_t value)
{
	char text[12];
	size_t at = sizeof(text) - 1u;

	text[at] = '\0';
	do {
		text[--at] = (char)('0' + value % 10u);
		value /= 10u;
	} while (value != 0);
	pb_bench_print_text(&text[at]);
}

_Noreturn void pb_bench_exit(uint32_t code)
{
	semihost_exit(code);
}
