/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "tests/bench/bench.h"
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

void pb_bench_print_milli(const char *key, uint32_t milli)
{
	pb_bench_print_text(key);
	pb_bench_print_text(" ");
	pb_bench_print_number(milli / 1000u);
	pb_bench_print_text(".");
	pb_bench_print_number(milli / 100u % 10u);
	pb_bench_print_number(milli / 10u % 10u);
	pb_bench_print_text("\n");
}

void pb_bench_require(bool good, const char *what)
{
	if (good)
		return;
	pb_bench_print_text("bench: failed: ");
	pb_bench_print_text(what);
	pb_bench_print_text("\n");
	pb_bench_exit(1);
}
