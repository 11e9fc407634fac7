/* SPDX-License-Identifier: MIT */
/* Accesses to pages of an aperture that are not mapped: what was done before, the fault, the dummy page. */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

#define WORDS    20
#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))
#define VALUE    0x5a5aa5a5u
#define END      (BENCH_PAGES * 4096u)

struct miss_case {
	const char *name;
	uint32_t words[WORDS];
	uint32_t count;
	uint32_t at;    /* the access that misses, in the aperture */
	uint32_t first; /* bytes of the aperture that FILL or COPY wrote before it, with VALUE */
	uint32_t bytes;
};

#define MISS(name, at, first, bytes, ...)                                                                    \
	{                                                                                                    \
		name, {__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4, at, first, bytes           \
	}
/* 16 x 16 pixels of target and texture. */
#define TARGET16(...)  PB_PACKET(PB_PACKET_TARGET, 6), __VA_ARGS__, 16, 16, 64
#define TEXTURE16(...) PB_PACKET(PB_PACKET_TEXTURE, 6), __VA_ARGS__, 16, 16, 64

static const struct miss_case miss_cases[] = {
	MISS("FILL", BENCH_MAPPED, 0, 0, FILL(IN(BENCH_MAPPED), 4, VALUE)),
	MISS("FILL inside the page", BENCH_MAPPED + 0x804, 0, 0,
	     FILL(IN(BENCH_MAPPED + 0x804), 0x400, VALUE)),
	MISS("FILL into it", BENCH_MAPPED, 0x6ff8, 0x1008, FILL(IN(0x6ff8), 0x1010, VALUE)),
	MISS("FILL over it", BENCH_MAPPED, 0x7000, 0x1000, FILL(IN(0x7000), 0x3000, VALUE)),
	MISS("FILL out of it", BENCH_MAPPED + 8, 0, 0, FILL(IN(BENCH_MAPPED + 8), 0x1000, VALUE)),
	MISS("last page", END - 16, 0, 0, FILL(IN(END - 16), 16, VALUE)),
	MISS("COPY source", BENCH_MAPPED, 0, 0, COPY(IN(BENCH_MAPPED), AT(BENCH_DATA), 4)),
	MISS("COPY destination", BENCH_MAPPED + 16, 0, 0, COPY(AT(BENCH_DATA), IN(BENCH_MAPPED + 16), 4)),
	MISS("COPY source before destination", 0xa000, 0, 0, COPY(IN(0xa000), IN(BENCH_MAPPED), 4)),
	MISS("COPY into it", 0xa000, 0x9f00, 0x100, COPY(AT(0xc000), IN(0x9f00), 0x200)),
	MISS("COPY from it, further on", BENCH_MAPPED, 0x100, 0xf00, COPY(IN(0x7100), IN(0x100), 0x1000)),
	MISS("COPY down into it", BENCH_MAPPED, 0, 0, COPY(IN(0x7e00), IN(0x7f00), 0x200)),
	MISS("COPY down out of it", BENCH_ISLAND - 8, BENCH_ISLAND + 8, 0x10,
	     COPY(IN(BENCH_ISLAND - 16), IN(BENCH_ISLAND - 8), 0x20)),
	MISS("RECT, second row", BENCH_MAPPED, 0, 0x10, RECT(AT(0xc000), 0, IN(0), BENCH_MAPPED, 0x10, 2)),
	MISS("INDIRECT", BENCH_MAPPED, 0, 0, INDIRECT(IN(BENCH_MAPPED), 4)),
	MISS("INDIRECT, later", 0xa000, 0, 0, INDIRECT(IN(0x9ffc), 8)),
	MISS("INDIRECT, operands", 0xa000, 0, 0, INDIRECT(IN(0x9ff0), 24)),
	MISS("vertices", BENCH_MAPPED, 0, 0, TARGET16(AT(0xc000)), TEXTURE16(AT(0xc000)),
	     DRAW(IN(BENCH_MAPPED), 3)),
	MISS("half a triangle", BENCH_MAPPED, 0, 0, TARGET16(AT(0xc000)), TEXTURE16(AT(0xc000)),
	     DRAW(IN(0x7fe0), 3)),
	MISS("texel", BENCH_MAPPED, 0, 0, TARGET16(AT(0xe000)), TEXTURE16(IN(BENCH_MAPPED)),
	     DRAW(AT(0xd000), 3)),
	MISS("pixel", BENCH_MAPPED, 0, 0, TARGET16(IN(BENCH_MAPPED)), TEXTURE16(AT(0xc000)),
	     DRAW(AT(0xd000), 3)),
	MISS("ninth pixel", 0xa000, 0x9fe0, 0x20, TARGET16(IN(0x9fe0)), TEXTURE16(AT(0xc000)),
	     DRAW(AT(0xd000), 3)),
	MISS("texel before its pixel", 0xa000, 0, 0, TARGET16(IN(BENCH_MAPPED)), TEXTURE16(IN(0xa000)),
	     DRAW(AT(0xd000), 3)),
};

/*
 * VALUE in a page of memory, in most of page 7 and at the start of page 9,
 * which ends in a NOP and the first words of a FILL; a triangle over all of a
 * small target.
 */
static void prepare(struct bench *bench)
{
	static const struct pb_vertex triangle[] = {{0, 0, 0, 0}, {512, 0, 0, 0}, {0, 512, 0, 0}};
	static const uint32_t cut_off[] = {PB_PACKET(PB_PACKET_FILL, 5), AT(BENCH_DATA), NOP(1)};

	bench_start(bench, PB_NODE_3D);
	bench_scatter(bench);
	for (uint32_t i = 0; i < 0x1000; i += 4)
		*bench_at(bench, 0xc000 + i) = VALUE;
	for (uint32_t i = 0x7100; i < 0x8000; i += 4)
		*bench_at(bench, bench_place(i)) = VALUE;
	for (uint32_t i = 0; i < 16; i += 4)
		*bench_at(bench, bench_place(BENCH_ISLAND + i)) = VALUE;
	bench_store_in(bench, 0x9ff0, cut_off, ARRAY(cut_off));
	memcpy(bench->memory + 0xd000, triangle, sizeof(triangle));
}

static void what_is_not_mapped_faults(void **state)
{
	static uint8_t expected[BENCH_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY(miss_cases); i++) {
		const struct miss_case *at = &miss_cases[i];
		struct bench bench;

		print_message("  %s\n", at->name);
		prepare(&bench);
		bench_keep(&bench, expected);
		bench_expect_fill(expected, at->first, at->bytes, VALUE);
		bench_submit(&bench, at->words, at->count);
		bench_expect_fault(&bench, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE + at->at);
		assert_int_equal(bench.interrupts, 1);
		bench_expect_memory(&bench, expected);
		bench_command(&bench, PB_ENGINE_COMMAND_CONTINUE);
		SUBMIT(&bench, FILL(IN(0), 4, 1));
		bench_expect_done(&bench);
		bench_stop(&bench);
	}
}

/* The buffer of the ring itself; of one that misses only later, what stands before runs. */
static void a_submission_in_no_page_faults(void **state)
{
	static const uint32_t words[] = {FILL(AT(BENCH_DATA), 4, VALUE)};
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	bench_scatter(&bench);
	bench_feed(&bench, 1, BENCH_APERTURE + BENCH_MAPPED, 4);
	bench_run(&bench);
	bench_expect_fault(&bench, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE + BENCH_MAPPED);
	assert_int_equal(bench.registers->time, 2);
	bench_reset(&bench);
	*bench_at(&bench, BENCH_DATA) = 0;
	bench_store_in(&bench, BENCH_MAPPED - 20, words, ARRAY(words));
	bench_feed(&bench, 1, BENCH_APERTURE + BENCH_MAPPED - 20, 40);
	bench_run(&bench);
	bench_expect_fault(&bench, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE + BENCH_MAPPED);
	assert_int_equal(*bench_at(&bench, BENCH_DATA), VALUE);
	bench_command(&bench, PB_ENGINE_COMMAND_CONTINUE);
	bench_run(&bench);
	bench_expect_done(&bench);
	bench_stop(&bench);
}

/* ---- the dummy page ---- */

/* A FILL that begins in a page that is not mapped, with a register for the dummy page. */
static void fill_nothing(struct bench *bench, uint32_t dummy, uint8_t before[BENCH_BYTES])
{
	bench_start(bench, PB_NODE_COPY);
	bench_scatter(bench);
	bench->registers->dummy_offset = dummy;
	bench_keep(bench, before);
	SUBMIT(bench, FILL(IN(BENCH_MAPPED + 0x124), 0x3000, VALUE));
	bench_expect_fault(bench, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE + BENCH_MAPPED + 0x124);
}

static void a_store_goes_to_the_dummy_page(void **state)
{
	static const uint32_t dummies[] = {BENCH_DUMMY, BENCH_BYTES - 4096, BENCH_OTHER};
	static uint8_t expected[BENCH_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY(dummies); i++) {
		struct bench bench;

		fill_nothing(&bench, dummies[i], expected);
		memcpy(expected + dummies[i] + 0x124, (const uint32_t[]){VALUE}, 4);
		assert_memory_equal(bench.memory + BENCH_DATA, expected + BENCH_DATA,
				    BENCH_BYTES - BENCH_DATA);
		bench_stop(&bench);
	}
}

static void without_a_dummy_page_there_is_just_the_fault(void **state)
{
	static const uint32_t dummies[] = {BENCH_BYTES,         BENCH_BYTES - 4092, BENCH_DUMMY + 4,
					   BENCH_DUMMY + 0x800, 0xfffff000,         0xffffffff};
	static uint8_t expected[BENCH_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY(dummies); i++) {
		struct bench bench;

		fill_nothing(&bench, dummies[i], expected);
		assert_memory_equal(bench.memory + BENCH_DATA, expected + BENCH_DATA,
				    BENCH_BYTES - BENCH_DATA);
		bench_stop(&bench);
	}
}

UNIT_SUITE(test_engine_unmapped)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_mapped_faults),
		cmocka_unit_test(a_submission_in_no_page_faults),
		cmocka_unit_test(a_store_goes_to_the_dummy_page),
		cmocka_unit_test(without_a_dummy_page_there_is_just_the_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
