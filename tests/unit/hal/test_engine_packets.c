/* SPDX-License-Identifier: MIT */
/* Decoding, the memory packets and buffers inside buffers. */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

#define WORDS 20
/* Addresses that no range holds, and that are not aligned. */
#define NOWHERE   ADDRESS(0x500000000)
#define UNALIGNED AT(BENCH_DATA + 2)

struct fault_case {
	const char *name;
	uint32_t words[WORDS];
	uint32_t count;
	uint32_t kind;
	uint32_t code;
	uint64_t address;
};

#define AT_PACKET(word) (BENCH_GPU + BENCH_BUFFER + 4 * (word))
#define FAULT_CASE(name, code, address, ...)                                                                 \
	{                                                                                                    \
		name, {__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4, PB_NODE_COPY,              \
			PB_ENGINE_FAULT_##code, address                                                      \
	}

static const struct fault_case fault_cases[] = {
	FAULT_CASE("length 0", PACKET, AT_PACKET(0), PB_PACKET(PB_PACKET_NOP, 0)),
	FAULT_CASE("second of two", PACKET, AT_PACKET(3), NOP(3), 0, 0, 0x70000001),
	FAULT_CASE("unknown below the last", PACKET, AT_PACKET(0), PB_PACKET(0x07, 1)),
	FAULT_CASE("unknown above the last", PACKET, AT_PACKET(0), PB_PACKET(0x33, 1)),
	FAULT_CASE("unknown 0xff", PACKET, AT_PACKET(0), PB_PACKET(0xff, 1)),
	FAULT_CASE("FENCE in a buffer", PACKET, AT_PACKET(0), PB_PACKET(PB_PACKET_FENCE, 2), 77),
	FAULT_CASE("INDIRECT of the ring", PACKET, AT_PACKET(0), PB_PACKET(0x20, 5), 1, AT(BENCH_DATA), 0),
	FAULT_CASE("FILL too short", PACKET, AT_PACKET(0), PB_PACKET(PB_PACKET_FILL, 4), AT(BENCH_DATA), 4),
	FAULT_CASE("FILL too long", PACKET, AT_PACKET(0), PB_PACKET(PB_PACKET_FILL, 6), AT(BENCH_DATA), 4, 5,
		   6),
	FAULT_CASE("COPY too short", PACKET, AT_PACKET(0), PB_PACKET(PB_PACKET_COPY, 5), AT(BENCH_DATA),
		   AT(0)),
	FAULT_CASE("RECT too long", PACKET, AT_PACKET(0), PB_PACKET(PB_PACKET_COPY_RECT, 10), 0, 0, 0, 0, 0,
		   0, 0, 0, 0),
	FAULT_CASE("HANG too long", PACKET, AT_PACKET(0), PB_PACKET(PB_PACKET_HANG, 2), 0),
	FAULT_CASE("FAULT too long", PACKET, AT_PACKET(0), PB_PACKET(PB_PACKET_FAULT, 2), 0),
	FAULT_CASE("BUSY too long", PACKET, AT_PACKET(0), PB_PACKET(PB_PACKET_BUSY, 3), 0, 0),
	FAULT_CASE("FILL cut off", PACKET, AT_PACKET(0), PB_PACKET(PB_PACKET_FILL, 5), AT(BENCH_DATA), 4),
	FAULT_CASE("NOP cut off", PACKET, AT_PACKET(1), NOP(1), NOP(3), 0),
	FAULT_CASE("NOP of 2^24", PACKET, AT_PACKET(0), NOP(0xffffff), 0),
	FAULT_CASE("TARGET on copy node", NODE, AT_PACKET(0), TARGET(AT(BENCH_DATA), 1, 1, 4)),
	FAULT_CASE("TEXTURE on copy node", NODE, AT_PACKET(1), NOP(1), TEXTURE(AT(BENCH_DATA), 1, 1, 4)),
	FAULT_CASE("DRAW on copy node", NODE, AT_PACKET(0), DRAW(AT(BENCH_DATA), 0)),
	FAULT_CASE("length before node", PACKET, AT_PACKET(0), PB_PACKET(PB_PACKET_DRAW, 3), AT(BENCH_DATA)),
	FAULT_CASE("asked", ASKED, AT_PACKET(2), NOP(2), 0, FAULT),
	FAULT_CASE("FILL address", ADDRESS, UINT64_C(0x500000000), FILL(NOWHERE, 4, 1)),
	FAULT_CASE("FILL unaligned", ALIGNMENT, AT_PACKET(0), FILL(UNALIGNED, 4, 1)),
	FAULT_CASE("FILL unaligned size", ALIGNMENT, AT_PACKET(0), FILL(AT(BENCH_DATA), 6, 1)),
	FAULT_CASE("FILL unaligned nowhere", ALIGNMENT, AT_PACKET(0), FILL(ADDRESS(0x500000001), 4, 1)),
	FAULT_CASE("FILL too far", ADDRESS, BENCH_GPU + BENCH_DATA, FILL(AT(BENCH_DATA), 0xd004, 1)),
	FAULT_CASE("FILL all", ADDRESS, BENCH_GPU + BENCH_DATA, FILL(AT(BENCH_DATA), 0xfffffffc, 1)),
	FAULT_CASE("COPY from nowhere", ADDRESS, UINT64_C(0x500000000), COPY(NOWHERE, AT(BENCH_DATA), 4)),
	FAULT_CASE("COPY to nowhere", ADDRESS, UINT64_C(0x500000000), COPY(AT(BENCH_DATA), NOWHERE, 4)),
	FAULT_CASE("COPY source first", ADDRESS, UINT64_C(0x600000000),
		   COPY(ADDRESS(0x600000000), NOWHERE, 4)),
	FAULT_CASE("COPY from unaligned", ALIGNMENT, AT_PACKET(0), COPY(UNALIGNED, AT(BENCH_DATA), 4)),
	FAULT_CASE("COPY to unaligned", ALIGNMENT, AT_PACKET(0), COPY(NOWHERE, UNALIGNED, 4)),
	FAULT_CASE("COPY unaligned size", ALIGNMENT, AT_PACKET(0), COPY(NOWHERE, NOWHERE, 5)),
	FAULT_CASE("RECT pitch", ALIGNMENT, AT_PACKET(0), RECT(NOWHERE, 6, AT(BENCH_DATA), 8, 4, 1)),
	FAULT_CASE("RECT other pitch", ALIGNMENT, AT_PACKET(0), RECT(NOWHERE, 8, AT(BENCH_DATA), 7, 4, 1)),
	FAULT_CASE("RECT row", ALIGNMENT, AT_PACKET(0), RECT(NOWHERE, 8, AT(BENCH_DATA), 8, 3, 1)),
	FAULT_CASE("RECT address", ALIGNMENT, AT_PACKET(0), RECT(NOWHERE, 8, UNALIGNED, 8, 4, 1)),
	FAULT_CASE("RECT pitch of nothing", ALIGNMENT, AT_PACKET(0), RECT(NOWHERE, 1, NOWHERE, 0, 4, 0)),
	FAULT_CASE("INDIRECT address", ADDRESS, UINT64_C(0x500000000), INDIRECT(NOWHERE, 4)),
	FAULT_CASE("INDIRECT unaligned", ALIGNMENT, AT_PACKET(0), INDIRECT(UNALIGNED, 4)),
	FAULT_CASE("INDIRECT unaligned size", ALIGNMENT, AT_PACKET(0), INDIRECT(AT(BENCH_DATA), 7)),
	FAULT_CASE("INDIRECT ends outside", ADDRESS, BENCH_GPU + 0xfffc, INDIRECT(AT(0xfffc), 8)),
};

static void wrong_packets_fault_and_store_nothing(void **state)
{
	static uint8_t before[BENCH_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(fault_cases) / sizeof(fault_cases[0]); i++) {
		const struct fault_case *at = &fault_cases[i];
		struct bench bench;

		bench_start(&bench, at->kind);
		print_message("  %s\n", at->name);
		memcpy(before, bench.memory, BENCH_BYTES);
		bench_submit(&bench, at->words, at->count);
		bench_expect_fault(&bench, at->code, at->address);
		assert_int_equal(bench.interrupts, 1);
		assert_memory_equal(bench.memory + BENCH_DATA, before + BENCH_DATA, BENCH_BYTES - BENCH_DATA);
		bench_stop(&bench);
	}
}

static void sizes_of_nothing_touch_nothing(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	SUBMIT(&bench, FILL(NOWHERE, 0, 1), FILL(UNALIGNED, 0, 1), COPY(NOWHERE, UNALIGNED, 0),
	       RECT(UNALIGNED, 4, NOWHERE, 4, 4, 0), RECT(NOWHERE, 4, UNALIGNED, 4, 0, 9),
	       INDIRECT(UNALIGNED, 0));
	bench_expect_done(&bench);
	bench_stop(&bench);
}

static void fill_stores_exactly_its_words(void **state)
{
	static uint8_t expected[BENCH_BYTES];
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	memcpy(expected, bench.memory, BENCH_BYTES);
	for (uint32_t i = 0; i < 40; i += 4)
		memcpy(expected + BENCH_DATA + 8 + i, (const uint8_t[]){0x78, 0x56, 0x34, 0x12}, 4);
	SUBMIT(&bench, NOP(3), 0, 0, FILL(AT(BENCH_DATA + 8), 40, 0x12345678), NOP(1));
	bench_expect_done(&bench);
	assert_memory_equal(bench.memory + BENCH_DATA, expected + BENCH_DATA, BENCH_BYTES - BENCH_DATA);
	bench_stop(&bench);
}

static void copy_is_as_if_read_first(void **state)
{
	static const struct {
		uint32_t from;
		uint32_t to;
		uint32_t bytes;
	} cases[] = {
		{BENCH_DATA, BENCH_DATA + 0x1000, 0x800}, {BENCH_DATA, BENCH_DATA + 4, 0x1000},
		{BENCH_DATA + 4, BENCH_DATA, 0x1000},     {BENCH_DATA + 0x100, BENCH_DATA, 0x104},
		{BENCH_DATA, BENCH_DATA, 0x100},          {BENCH_DATA, 0xfffc, 4},
		{BENCH_DATA, BENCH_RANGE1, 0x4000}, /* from one range to another */
	};
	static uint8_t expected[BENCH_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		memcpy(expected, bench.memory, BENCH_BYTES);
		for (uint32_t byte = 0; byte < cases[i].bytes; byte++)
			expected[cases[i].to + byte] = bench.memory[cases[i].from + byte];
		SUBMIT(&bench, COPY(AT(cases[i].from), AT(cases[i].to), cases[i].bytes));
		bench_expect_done(&bench);
		assert_memory_equal(bench.memory + BENCH_DATA, expected + BENCH_DATA,
				    BENCH_BYTES - BENCH_DATA);
		bench_stop(&bench);
	}
}

/* Expectation by bytes, rows one after the other, from a copy of the memory as it was before each row. */
static void expect_rect(uint8_t *memory, const uint32_t *words)
{
	static uint8_t before[BENCH_BYTES];

	for (uint32_t row = 0; row < words[8]; row++) {
		memcpy(before, memory, BENCH_BYTES);
		for (uint32_t byte = 0; byte < words[7]; byte++)
			memory[words[4] + row * words[6] + byte] = before[words[1] + row * words[3] + byte];
	}
}

static void rectangles_keep_their_pitches(void **state)
{
	static const uint32_t cases[][9] = {
		{RECT(AT(BENCH_DATA), 64, AT(BENCH_DATA + 0x4000), 128, 64, 16)},
		{RECT(AT(BENCH_DATA), 256, AT(BENCH_DATA + 0x4000), 32, 32, 16)},
		{RECT(AT(BENCH_DATA), 0, AT(BENCH_DATA + 0x4000), 12, 12, 9)}, /* one row, many times */
		{RECT(AT(BENCH_DATA), 12, AT(BENCH_DATA + 0x4000), 0, 12, 9)}, /* the last row stays */
		{RECT(AT(BENCH_DATA), 8, AT(BENCH_DATA + 0x4000), 4, 40, 9)},  /* rows overlap */
		{RECT(AT(BENCH_DATA), 64, AT(BENCH_DATA + 64), 64, 64, 9)}, /* each row from the one before */
		{RECT(AT(BENCH_DATA + 64), 64, AT(BENCH_DATA), 64, 64, 9)},
		{RECT(AT(BENCH_DATA), 64, AT(BENCH_DATA + 16), 64, 64, 9)},
		{RECT(AT(BENCH_DATA), 0xfffffffc, AT(BENCH_DATA + 0x4000), 0xfffffffc, 8, 1)},
	};
	static uint8_t expected[BENCH_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		memcpy(expected, bench.memory, BENCH_BYTES);
		expect_rect(expected, cases[i]);
		bench_submit(&bench, cases[i], 9);
		bench_expect_done(&bench);
		assert_memory_equal(bench.memory + BENCH_DATA, expected + BENCH_DATA,
				    BENCH_BYTES - BENCH_DATA);
		bench_stop(&bench);
	}
}

static void rows_before_a_fault_are_copied(void **state)
{
	/* The source leaves range 0 with the fourth row; range 1 behind it holds only half of that row. */
	static const uint32_t words[] = {RECT(AT(0xffb0), 24, AT(BENCH_DATA), 32, 16, 9)};
	static uint8_t expected[BENCH_BYTES];
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	memcpy(expected, bench.memory, BENCH_BYTES);
	for (uint32_t row = 0; row < 3; row++)
		memcpy(expected + BENCH_DATA + 32 * row, expected + 0xffb0 + 24 * row, 16);
	bench_submit(&bench, words, 9);
	bench_expect_fault(&bench, PB_ENGINE_FAULT_ADDRESS, BENCH_GPU + 0xffb0 + 72);
	assert_memory_equal(bench.memory + BENCH_DATA, expected + BENCH_DATA, BENCH_BYTES - BENCH_DATA);
	bench_stop(&bench);
}

/* Row addresses are 64 bits: a large pitch goes up, it neither goes back nor wraps. */
static void a_large_pitch_is_not_negative(void **state)
{
	const uint64_t third_row = BENCH_GPU + BENCH_DATA + UINT64_C(0x100000000);
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	SUBMIT(&bench, RECT(AT(BENCH_DATA + 4), 0, AT(BENCH_DATA + 4), 0xfffffffc, 4, 2));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_ADDRESS, third_row);
	bench_reset(&bench);
	/* The second row is there, the third would be the first again in 32 bits. */
	*bench_range(&bench, 1, 3) =
		(struct pb_engine_range_entry){AT(0x80000000 + BENCH_DATA), 0x1000, 0x1a000};
	SUBMIT(&bench, RECT(AT(BENCH_DATA), 0x80000000, AT(BENCH_DATA), 0, 4, 3));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_ADDRESS, third_row);
	bench_reset(&bench);
	SUBMIT(&bench, RECT(AT(BENCH_DATA), 0, AT(BENCH_DATA), 0x80000000, 4, 3));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_ADDRESS, third_row);
	bench_stop(&bench);
}

static void a_packet_may_write_the_next_one(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	*bench_at(&bench, BENCH_DATA) = 0;
	SUBMIT(&bench, FILL(AT(BENCH_BUFFER + 20), 4, NOP(2)), FAULT, FAULT, FILL(AT(BENCH_DATA), 4, 3));
	bench_expect_done(&bench);
	assert_int_equal(*bench_at(&bench, BENCH_DATA), 3);
	bench_stop(&bench);
}

/* Each level fills its word with the count of levels below; then its caller goes on. */
static void buffers_nest_up_to_the_limit(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	STORE(&bench, BENCH_DATA + 0x100, FILL(AT(BENCH_DATA), 4, 1), INDIRECT(AT(BENCH_DATA + 0x200), 36),
	      COPY(AT(BENCH_DATA), AT(BENCH_DATA + 4), 4));
	STORE(&bench, BENCH_DATA + 0x200, INDIRECT(AT(BENCH_DATA + 0x300), 20),
	      FILL(AT(BENCH_DATA + 12), 4, 5));
	STORE(&bench, BENCH_DATA + 0x300, FILL(AT(BENCH_DATA), 4, 2));
	SUBMIT(&bench, INDIRECT(AT(BENCH_DATA + 0x100), 60), COPY(AT(BENCH_DATA), AT(BENCH_DATA + 8), 4),
	       INDIRECT(AT(BENCH_DATA + 0x100), 60));
	bench_expect_done(&bench);
	assert_memory_equal(bench.memory + BENCH_DATA, ((const uint32_t[]){2, 2, 2, 5}), 16);

	/* One more level faults at its INDIRECT, be the buffer there or not. */
	STORE(&bench, BENCH_DATA + 0x300, NOP(1), INDIRECT(AT(BENCH_DATA + 0x400), 4));
	SUBMIT(&bench, INDIRECT(AT(BENCH_DATA + 0x100), 60));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_NESTING, BENCH_GPU + BENCH_DATA + 0x304);
	bench_reset(&bench);
	STORE(&bench, BENCH_DATA + 0x300, NOP(1), INDIRECT(UNALIGNED, 0));
	SUBMIT(&bench, INDIRECT(AT(BENCH_DATA + 0x100), 60));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_NESTING, BENCH_GPU + BENCH_DATA + 0x304);
	bench_stop(&bench);
}

static void a_buffer_that_runs_itself_ends(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	SUBMIT(&bench, INDIRECT(AT(BENCH_BUFFER), 16));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_NESTING, BENCH_GPU + BENCH_BUFFER);
	bench_stop(&bench);
}

UNIT_SUITE(test_engine_packets)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_packets_fault_and_store_nothing),
		cmocka_unit_test(sizes_of_nothing_touch_nothing),
		cmocka_unit_test(fill_stores_exactly_its_words),
		cmocka_unit_test(copy_is_as_if_read_first),
		cmocka_unit_test(rectangles_keep_their_pitches),
		cmocka_unit_test(rows_before_a_fault_are_copied),
		cmocka_unit_test(a_large_pitch_is_not_negative),
		cmocka_unit_test(a_packet_may_write_the_next_one),
		cmocka_unit_test(buffers_nest_up_to_the_limit),
		cmocka_unit_test(a_buffer_that_runs_itself_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
