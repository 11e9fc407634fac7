/* SPDX-License-Identifier: MIT */
/* DISCARD, MAP_APERTURE and UNMAP_APERTURE: privilege, operands, what they store, and their time. */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

#define WORDS    20
#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))
#define LISTS    0xb000u
#define NOWHERE  ADDRESS(0x500000000)
#define END      (BENCH_PAGES * 4096u)

/* ---- privilege ---- */

static const struct {
	const char *name;
	uint32_t words[WORDS];
	uint32_t count;
	uint32_t from_end; /* the packet begins so many words before the end */
} unprivileged[] = {
	{"DISCARD", {DISCARD(AT(BENCH_DATA), 64)}, 4, 4},
	{"MAP", {MAP(IN(0), 1, AT(LISTS))}, 6, 6},
	{"UNMAP", {UNMAP(IN(0), 1)}, 4, 4},
	{"DISCARD of nothing", {DISCARD(AT(BENCH_DATA), 0)}, 4, 4},
	{"MAP of nothing", {NOP(1), MAP(IN(0), 0, AT(LISTS))}, 7, 6},
	{"UNMAP of nothing", {UNMAP(IN(0), 0)}, 4, 4},
	{"before alignment", {DISCARD(AT(BENCH_DATA + 1), 3)}, 4, 4},
	{"before address", {UNMAP(NOWHERE, 1)}, 4, 4},
};

static void paging_packets_want_privilege(void **state)
{
	static uint8_t expected[BENCH_BYTES];

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY(unprivileged); i++) {
		const uint32_t *words = unprivileged[i / 2].words;
		uint32_t count = unprivileged[i / 2].count;
		struct bench bench;

		print_message("  %s\n", unprivileged[i / 2].name);
		bench_start(&bench, i % 2 == 0 ? PB_NODE_COPY : PB_NODE_3D);
		bench_map(&bench, 0, 0x9000);
		STORE(&bench, LISTS, AT(0xc000));
		bench_keep(&bench, expected);
		/* Every bit of the owner but that of privilege. */
		bench_submit_as(&bench, 0xfffffe01, words, count);
		bench_expect_fault(&bench, PB_ENGINE_FAULT_PRIVILEGE,
				   BENCH_GPU + BENCH_BUFFER + 4 * (count - unprivileged[i / 2].from_end));
		assert_int_equal(bench.registers->time, count == 7 ? 3 : 2);
		bench_expect_memory(&bench, expected);
		bench_stop(&bench);
	}
}

static void wrong_packets_want_none(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	SUBMIT(&bench, PB_PACKET(PB_PACKET_UNMAP_APERTURE, 5), IN(0), 0, 0);
	bench_expect_fault(&bench, PB_ENGINE_FAULT_PACKET, BENCH_GPU + BENCH_BUFFER);
	bench_reset(&bench);
	SUBMIT(&bench, PB_PACKET(PB_PACKET_MAP_APERTURE, 6), IN(0), 0);
	bench_expect_fault(&bench, PB_ENGINE_FAULT_PACKET, BENCH_GPU + BENCH_BUFFER);
	bench_stop(&bench);
}

/* Privilege is the slot's: nested buffers have it, the next slot does not. */
static void privilege_is_the_slots(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	STORE(&bench, BENCH_DATA, DISCARD(AT(0x9000), 4));
	SUBMIT_PAGING(&bench, INDIRECT(AT(BENCH_DATA), 16));
	bench_expect_done(&bench);
	assert_int_equal(*bench_at(&bench, 0x9000), 0xdeadda7a);
	SUBMIT(&bench, INDIRECT(AT(BENCH_DATA), 16));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_PRIVILEGE, BENCH_GPU + BENCH_DATA);
	bench_stop(&bench);
}

/* ---- what they store ---- */

static void discard_leaves_poison(void **state)
{
	static const uint32_t poison = 0xdeadda7a;
	static uint8_t expected[BENCH_BYTES];
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	bench_map(&bench, 0, 0x9000);
	bench_map(&bench, 1, 0x6000);
	bench_keep(&bench, expected);
	for (uint32_t i = 0; i < 0x40; i += 4)
		memcpy(expected + 0x4004 + i, &poison, 4);
	memcpy(expected + 0x9ffc, &poison, 4);
	memcpy(expected + 0x6000, &poison, 4);
	SUBMIT_PAGING(&bench, DISCARD(AT(0x4004), 0x40), DISCARD(IN(0xffc), 8), DISCARD(NOWHERE, 0));
	bench_expect_done(&bench);
	bench_expect_memory(&bench, expected);
	bench_stop(&bench);
}

static void map_and_unmap_store_words_of_the_table(void **state)
{
	static const uint32_t mapped[] = {0x9001, 0x10001, 0x14001, 0x1001, 0x9001};
	static uint8_t expected[BENCH_BYTES];
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	STORE(&bench, LISTS, AT(0x9000), AT(0x10000), ADDRESS(BENCH_RANGE2_GPU), AT(0x1000), AT(0x9000));
	bench_keep(&bench, expected);
	memcpy(expected + BENCH_TABLE + 12, mapped, sizeof(mapped));
	SUBMIT_PAGING(&bench, MAP(IN(0x3000), 5, AT(LISTS)), MAP(NOWHERE, 0, ADDRESS(1)), UNMAP(NOWHERE, 0));
	bench_expect_done(&bench);
	bench_expect_memory(&bench, expected);
	/* The last pages, an array in the aperture, and one over another. */
	memcpy(expected + BENCH_TABLE + 4 * (BENCH_PAGES - 2), (const uint32_t[]){0x10001, 0x14001}, 8);
	memcpy(expected + BENCH_TABLE + 12, (const uint32_t[]){0x10001}, 4);
	memcpy(expected + 0x9ffc, (const uint32_t[]){AT(0x10000)}, 4);
	memcpy(expected + 0x10000, (const uint32_t[]){1}, 4);
	SUBMIT_PAGING(&bench, MAP(IN(END - 0x2000), 2, AT(LISTS + 8)), COPY(AT(LISTS + 8), IN(0x3ffc), 8),
		      MAP(IN(0x3000), 1, IN(0x3ffc)));
	bench_expect_done(&bench);
	bench_expect_memory(&bench, expected);
	memset(expected + BENCH_TABLE + 16, 0, 8);
	memset(expected + BENCH_TABLE + 4 * (BENCH_PAGES - 1), 0, 4);
	SUBMIT_PAGING(&bench, UNMAP(IN(0x4000), 2), UNMAP(IN(END - 0x1000), 1));
	bench_expect_done(&bench);
	bench_expect_memory(&bench, expected);
	bench_stop(&bench);
}

/* ---- faults ---- */

#define LIST(index)       AT(LISTS + 8 * (index))
#define AT_PACKET         (BENCH_GPU + BENCH_BUFFER)
#define CASE(name, ...)   name, {__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4
#define FAULTS(code, ...) PB_ENGINE_FAULT_##code, __VA_ARGS__

/* The array: two good pages, then those that are wrong. */
static const struct {
	uint64_t page;
	uint32_t code;
} wrong_pages[] = {
	{BENCH_GPU + 0x9004, PB_ENGINE_FAULT_ALIGNMENT},
	{1, PB_ENGINE_FAULT_ALIGNMENT},
	{0, PB_ENGINE_FAULT_ADDRESS},
	{BENCH_GPU, PB_ENGINE_FAULT_ADDRESS},
	{BENCH_GPU + BENCH_RANGE1_END, PB_ENGINE_FAULT_ADDRESS},
	{BENCH_GPU + BENCH_OTHER, PB_ENGINE_FAULT_ADDRESS},
	{BENCH_RANGE2_GPU + 0x1000, PB_ENGINE_FAULT_ADDRESS},
	{BENCH_APERTURE, PB_ENGINE_FAULT_ADDRESS},
	{UINT64_MAX - 4095, PB_ENGINE_FAULT_ADDRESS},
};

static void pages_before_a_wrong_one_stay_mapped(void **state)
{
	static uint8_t expected[BENCH_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY(wrong_pages); i++) {
		uint64_t page = wrong_pages[i].page;
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		bench_map(&bench, 3, 0xc000);
		bench_map(&bench, 4, 0xc000);
		bench_map(&bench, 5, 0xc000);
		SUBMIT(&bench, FILL(IN(0x3000), 4, 1)); /* page 3 is remembered */
		STORE(&bench, LISTS, AT(0x9000), AT(0xa000), ADDRESS(page), AT(0x9000));
		bench_keep(&bench, expected);
		memcpy(expected + BENCH_TABLE + 12, (const uint32_t[]){0x9001, 0xa001}, 8);
		SUBMIT_PAGING(&bench, MAP(IN(0x3000), 4, AT(LISTS)));
		bench_expect_fault(&bench, wrong_pages[i].code,
				   wrong_pages[i].code == PB_ENGINE_FAULT_ADDRESS ? page : AT_PACKET);
		bench_expect_memory(&bench, expected);
		bench_command(&bench, PB_ENGINE_COMMAND_CONTINUE);
		SUBMIT(&bench, FILL(IN(0x3008), 4, 77));
		bench_expect_done(&bench);
		assert_int_equal(*bench_at(&bench, 0x9008), 77);
		bench_stop(&bench);
	}
}

static void operands_are_checked_before_anything_is_stored(void **state)
{
	static const struct {
		const char *name;
		uint32_t words[WORDS];
		uint32_t count;
		uint32_t code;
		uint64_t address;
	} cases[] = {
		{CASE("MAP inside a page", MAP(IN(0x3004), 1, LIST(0))), FAULTS(ALIGNMENT, AT_PACKET)},
		{CASE("MAP inside a page, nowhere", MAP(ADDRESS(0x500000800), 1, LIST(0))),
		 FAULTS(ALIGNMENT, AT_PACKET)},
		{CASE("MAP array unaligned", MAP(NOWHERE, 1, AT(LISTS + 2))), FAULTS(ALIGNMENT, AT_PACKET)},
		{CASE("MAP nowhere", MAP(NOWHERE, 1, ADDRESS(0x600000000))),
		 FAULTS(ADDRESS, UINT64_C(0x500000000))},
		{CASE("MAP linear", MAP(AT(0x9000), 1, LIST(0))), FAULTS(ADDRESS, BENCH_GPU + 0x9000)},
		{CASE("MAP over the end", MAP(IN(END - 0x1000), 2, LIST(0))),
		 FAULTS(ADDRESS, BENCH_APERTURE + END - 0x1000)},
		{CASE("MAP behind the end", MAP(IN(END), 1, LIST(0))), FAULTS(ADDRESS, BENCH_APERTURE + END)},
		{CASE("MAP 2^32 - 1", MAP(IN(0), 0xffffffff, LIST(0))), FAULTS(ADDRESS, BENCH_APERTURE)},
		{CASE("MAP 2^20", MAP(IN(0), 0x100000, LIST(0))), FAULTS(ADDRESS, BENCH_APERTURE)},
		{CASE("MAP array nowhere", MAP(IN(0), 1, NOWHERE)), FAULTS(ADDRESS, UINT64_C(0x500000000))},
		{CASE("MAP array over an end", MAP(IN(0), 2, AT(0x10000 - 12))),
		 FAULTS(ADDRESS, BENCH_GPU + 0x10000 - 12)},
		{CASE("MAP array not mapped", MAP(IN(0), 2, IN(0x4000))),
		 FAULTS(PAGE, BENCH_APERTURE + 0x4000)},
		{CASE("MAP second word of it", MAP(IN(0), 2, IN(0x3ffc))),
		 FAULTS(PAGE, BENCH_APERTURE + 0x4000)},
		{CASE("UNMAP inside a page", UNMAP(IN(0x3800), 1)), FAULTS(ALIGNMENT, AT_PACKET)},
		{CASE("UNMAP nowhere", UNMAP(NOWHERE, 1)), FAULTS(ADDRESS, UINT64_C(0x500000000))},
		{CASE("UNMAP linear", UNMAP(AT(0x9000), 1)), FAULTS(ADDRESS, BENCH_GPU + 0x9000)},
		{CASE("UNMAP over the end", UNMAP(IN(0), BENCH_PAGES + 1)), FAULTS(ADDRESS, BENCH_APERTURE)},
		{CASE("UNMAP 2^32 - 1", UNMAP(IN(0), 0xffffffff)), FAULTS(ADDRESS, BENCH_APERTURE)},
		{CASE("DISCARD unaligned", DISCARD(AT(0x9002), 4)), FAULTS(ALIGNMENT, AT_PACKET)},
		{CASE("DISCARD over an end", DISCARD(AT(0xfffc), 8)), FAULTS(ADDRESS, BENCH_GPU + 0xfffc)},
	};
	static uint8_t expected[BENCH_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY(cases); i++) {
		struct bench bench;

		print_message("  %s\n", cases[i].name);
		bench_start(&bench, PB_NODE_COPY);
		STORE(&bench, LISTS, AT(0x9000), AT(0xa000));
		bench_map(&bench, 3, 0x9000);
		bench_keep(&bench, expected);
		bench_submit_as(&bench, BENCH_PAGING, cases[i].words, cases[i].count);
		bench_expect_fault(&bench, cases[i].code, cases[i].address);
		bench_expect_memory(&bench, expected);
		bench_stop(&bench);
	}
}

/* ---- time ---- */

/* A table of 4096 words: a microsecond for each full 1024 of them, and a step that ends inside. */
static void long_packets_are_done_in_steps(void **state)
{
	static const uint64_t large = UINT64_C(0x900000000);
	static const uint32_t packets[][6] = {
		{UNMAP(ADDRESS(large), 4096)},
		{MAP(ADDRESS(large), 4096, ADDRESS(BENCH_APERTURE))},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY(packets); i++) {
		uint32_t count = PB_PACKET_WORDS(packets[i][0]);
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		*bench_range(&bench, 1, 3) = (struct pb_engine_range_entry){
			ADDRESS(large), 4096 * 4096, BENCH_OTHER | PB_ENGINE_RANGE_PAGED};
		/* The array is one page of memory, eight times over. */
		for (uint32_t page = 0; page < 8; page++)
			bench_map(&bench, page, 0x9000);
		for (uint32_t at = 0x9000; at < 0xa000; at += 8)
			STORE(&bench, at, AT(0x9000));
		bench_store(&bench, BENCH_BUFFER, packets[i], count);
		bench_feed(&bench, BENCH_PAGING, BENCH_GPU + BENCH_BUFFER, 4 * count);
		for (uint32_t now = 1; now <= 6; now++) {
			assert_true(pb_engine_model_step(bench.model, 1));
			assert_int_equal(bench.registers->time, now);
			assert_int_equal(bench.registers->progress, now);
			assert_int_equal(bench.registers->sequence, 0);
		}
		bench_run(&bench);
		bench_expect_done(&bench);
		assert_int_equal(bench.registers->time, 6);
		for (uint32_t at = 0; at < 4096; at++)
			assert_int_equal(*bench_at(&bench, BENCH_OTHER + 4 * at), i == 0 ? 0 : 0x9001);
		bench_stop(&bench);
	}
}

UNIT_SUITE(test_engine_paging)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(paging_packets_want_privilege),
		cmocka_unit_test(wrong_packets_want_none),
		cmocka_unit_test(privilege_is_the_slots),
		cmocka_unit_test(discard_leaves_poison),
		cmocka_unit_test(map_and_unmap_store_words_of_the_table),
		cmocka_unit_test(pages_before_a_wrong_one_stay_mapped),
		cmocka_unit_test(operands_are_checked_before_anything_is_stored),
		cmocka_unit_test(long_packets_are_done_in_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
