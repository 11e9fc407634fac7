/* SPDX-License-Identifier: MIT */
/* Words of page tables: which of them map, how long an engine remembers them, and for whom. */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))
#define VALUE    0x5a5aa5a5u
#define ENTRIES  64u /* of the cache, docs/engine.md */
/* Two pages of memory, and a third for the array of MAP. */
#define OLD   0x9000u
#define NEW   0xa000u
#define LISTS 0xb000u

/* ---- which words map ---- */

static void only_pages_of_linear_ranges_are_mapped(void **state)
{
	static const struct {
		const char *name;
		uint32_t entry;
		uint32_t offset; /* where it maps to; 0: not mapped */
	} cases[] = {
		{"empty", 0, 0},
		{"first page of range 0", BENCH_RANGE0 | 1, BENCH_RANGE0},
		{"before range 0", 0x0001, 0},
		{"last page of range 0", 0xf001, 0xf000},
		{"last page of range 1", 0x13001, 0x13000},
		{"range 2", BENCH_RANGE2 | 1, BENCH_RANGE2},
		{"behind range 2", (BENCH_RANGE2 + 0x1000) | 1, 0},
		{"not valid", 0x9000, 0},
		{"bit 1", 0x9003, 0},
		{"bit 11", 0x9801, 0},
		{"bit 11, not valid", 0x9800, 0},
		{"page of another channel", BENCH_OTHER | 1, 0},
		{"dummy page", BENCH_DUMMY | 1, 0},
		{"page table", BENCH_TABLE | 1, 0},
		{"end of memory", BENCH_BYTES | 1, 0},
		{"top", 0xfffff001, 0},
		{"all ones", 0xffffffff, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY(cases); i++) {
		struct bench bench;

		print_message("  %s\n", cases[i].name);
		bench_start(&bench, PB_NODE_COPY);
		STORE(&bench, 0x8000, FILL(IN(0x5008), 4, VALUE));
		*bench_at(&bench, BENCH_TABLE + 20) = cases[i].entry;
		bench_feed(&bench, 1, BENCH_GPU + 0x8000, 20);
		bench_run(&bench);
		if (cases[i].offset == 0) {
			bench_expect_fault(&bench, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE + 0x5008);
		} else {
			bench_expect_done(&bench);
			assert_int_equal(*bench_at(&bench, cases[i].offset + 8), VALUE);
		}
		assert_int_equal(*bench_at(&bench, BENCH_TABLE + 20), cases[i].entry);
		bench_stop(&bench);
	}
}

static void tables_lie_in_card_memory(void **state)
{
	static const struct {
		const char *name;
		struct pb_engine_range_entry entry;
		uint32_t code;
	} cases[] = {
		{"a table's page", {0, 9, 0x400000, BENCH_TABLE | 1}, PB_ENGINE_FAULT_NONE},
		{"past the end", {0, 9, 0x401000, BENCH_TABLE | 1}, PB_ENGINE_FAULT_ADDRESS},
		{"table behind the end", {0, 9, 0x1000, BENCH_BYTES | 1}, PB_ENGINE_FAULT_ADDRESS},
		{"table far", {0, 9, 0xfffff000, 0xfffff001}, PB_ENGINE_FAULT_ADDRESS},
		{"table no page", {0, 9, 0x1000, BENCH_TABLE | 5}, PB_ENGINE_FAULT_ADDRESS},
		{"other bits", {0, 9, 0x1000, BENCH_TABLE | 3}, PB_ENGINE_FAULT_ADDRESS},
		{"no whole page", {0, 9, 0xffc, BENCH_TABLE | 1}, PB_ENGINE_FAULT_ADDRESS},
		{"base no page", {4, 9, 0x1000, BENCH_TABLE | 1}, PB_ENGINE_FAULT_ADDRESS},
		{"not there", {0, 9, 0, BENCH_TABLE | 1}, PB_ENGINE_FAULT_ADDRESS},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY(cases); i++) {
		const uint64_t at = cases[i].entry.gpu_base_low + UINT64_C(0x900000000);
		struct bench bench;

		print_message("  %s\n", cases[i].name);
		bench_start(&bench, PB_NODE_COPY);
		*bench_range(&bench, 1, 31) = cases[i].entry;
		bench_map(&bench, 0, OLD);
		SUBMIT(&bench, FILL(ADDRESS(at), 4, VALUE));
		if (cases[i].code == PB_ENGINE_FAULT_NONE) {
			bench_expect_done(&bench);
			assert_int_equal(*bench_at(&bench, OLD), VALUE);
		} else {
			bench_expect_fault(&bench, cases[i].code, at);
		}
		bench_stop(&bench);
	}
}

/* ---- how long an engine remembers ---- */

/* Fills a word of page 0 and says in which of the two pages it went. */
static uint32_t fill(struct bench *bench)
{
	*bench_at(bench, OLD) = 0;
	*bench_at(bench, NEW) = 0;
	SUBMIT(bench, FILL(IN(0), 4, VALUE));
	bench_expect_done(bench);
	assert_int_equal(*bench_at(bench, OLD) + *bench_at(bench, NEW), VALUE);
	return *bench_at(bench, OLD) == VALUE ? OLD : NEW;
}

/* The engine remembers that page 0 is the old one; the table says the new one. */
static void start_stale(struct bench *bench)
{
	bench_start(bench, PB_NODE_COPY);
	bench_map(bench, 0, OLD);
	assert_int_equal(fill(bench), OLD);
	bench_map(bench, 0, NEW);
	STORE(bench, LISTS, AT(0xc000));
}

static void a_word_changed_behind_its_back_is_not_noticed(void **state)
{
	struct bench bench;

	(void)state;
	start_stale(&bench);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(fill(&bench), OLD);
	*bench_at(&bench, BENCH_TABLE) = 0;
	assert_int_equal(fill(&bench), OLD);
	/* Between them: a submission without ranges, an empty slot, a fault that is skipped. */
	bench_feed(&bench, 2, 0, 0);
	bench_run(&bench);
	SUBMIT(&bench, FAULT);
	bench_command(&bench, PB_ENGINE_COMMAND_CONTINUE);
	assert_int_equal(fill(&bench), OLD);
	bench_stop(&bench);
}

static void packets_of_pages_empty_the_cache(void **state)
{
	static const uint32_t packets[][6] = {
		{MAP(IN(0x5000), 1, AT(LISTS))},
		{UNMAP(IN(0x5000), 1), NOP(2)},
		{MAP(IN(0), 1, AT(LISTS + 8))}, /* its own page */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY(packets); i++) {
		struct bench bench;

		start_stale(&bench);
		STORE(&bench, LISTS + 8, AT(NEW));
		bench_submit_as(&bench, BENCH_PAGING, packets[i], 6);
		bench_expect_done(&bench);
		assert_int_equal(fill(&bench), NEW);
		bench_stop(&bench);
	}
}

/* Between two packets of one buffer. */
static void the_next_packet_sees_it(void **state)
{
	struct bench bench;

	(void)state;
	start_stale(&bench);
	*bench_at(&bench, OLD + 4) = *bench_at(&bench, NEW + 8) = *bench_at(&bench, 0xc00c) = 0;
	STORE(&bench, LISTS, AT(NEW), AT(0xc000));
	SUBMIT_PAGING(&bench, FILL(IN(4), 4, 1), MAP(IN(0), 1, AT(LISTS)), FILL(IN(8), 4, 2),
		      MAP(IN(0), 1, AT(LISTS + 8)), FILL(IN(12), 4, 3), UNMAP(IN(0), 1), FILL(IN(16), 4, 4));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE + 16);
	assert_int_equal(*bench_at(&bench, OLD + 4), 1);
	assert_int_equal(*bench_at(&bench, NEW + 8), 2);
	assert_int_equal(*bench_at(&bench, 0xc00c), 3);
	bench_stop(&bench);
}

/* Packets of no pages, or refused ones, empty nothing. */
static void other_packets_empty_nothing(void **state)
{
	struct bench bench;

	(void)state;
	start_stale(&bench);
	SUBMIT_PAGING(&bench, MAP(IN(0), 0, AT(LISTS)), UNMAP(IN(0), 0), DISCARD(AT(0xc000), 64), NOP(1));
	bench_expect_done(&bench);
	assert_int_equal(fill(&bench), OLD);
	SUBMIT(&bench, UNMAP(IN(0), 1));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_PRIVILEGE, BENCH_GPU + BENCH_BUFFER);
	bench_command(&bench, PB_ENGINE_COMMAND_CONTINUE);
	assert_int_equal(fill(&bench), OLD);
	bench_stop(&bench);
}

static void a_reset_empties_the_cache(void **state)
{
	struct bench bench;

	(void)state;
	start_stale(&bench);
	bench_reset(&bench);
	assert_int_equal(fill(&bench), NEW);
	bench_stop(&bench);
}

/* What the MCU does when it has cleared a table. */
static void the_counter_of_the_mcu_empties_the_cache(void **state)
{
	struct pb_engine_translation *translation;
	struct bench bench;

	(void)state;
	start_stale(&bench);
	translation = (struct pb_engine_translation *)(void *)(bench.memory + BENCH_TRANSLATION);
	translation->cleared++;
	assert_int_equal(fill(&bench), NEW);
	bench_map(&bench, 0, OLD);
	assert_int_equal(fill(&bench), NEW);
	translation->cleared = 0; /* any change counts */
	assert_int_equal(fill(&bench), OLD);
	bench_stop(&bench);
}

/* A word is replaced by that of the page 64 further on, and by no other. */
static void the_cache_is_direct_mapped(void **state)
{
	struct bench bench;

	(void)state;
	start_stale(&bench);
	for (uint32_t page = 1; page < BENCH_PAGES; page++) {
		bench_map(&bench, page, 0xc000);
		if (page == ENTRIES)
			continue;
		SUBMIT(&bench, FILL(IN(4096 * page), 4, page));
		bench_expect_done(&bench);
		assert_int_equal(fill(&bench), OLD);
	}
	SUBMIT(&bench, FILL(IN(4096 * ENTRIES), 4, 1));
	assert_int_equal(fill(&bench), NEW);
	bench_stop(&bench);
}

static void what_is_not_mapped_is_not_remembered(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	SUBMIT(&bench, FILL(IN(0), 4, VALUE));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE);
	bench_command(&bench, PB_ENGINE_COMMAND_CONTINUE);
	bench_map(&bench, 0, NEW);
	assert_int_equal(fill(&bench), NEW);
	bench_stop(&bench);
}

/* ---- for whom ---- */

/* Each node has its own cache, and sees what the other one maps from its next packet on. */
static void nodes_tell_each_other(void **state)
{
	struct bench bench;
	struct bench other;

	(void)state;
	start_stale(&bench);
	bench_start_other(&other, &bench, PB_NODE_3D);
	assert_int_equal(fill(&other), NEW);
	assert_int_equal(fill(&bench), OLD);
	STORE(&bench, 0xd000, FILL(IN(0), 4, 1), BUSY(10), FILL(IN(4), 4, 2), FILL(IN(8), 4, 3));
	*bench_at(&bench, NEW + 8) = 0;
	*bench_at(&bench, NEW + 4) = 0;
	bench_feed(&bench, 1, BENCH_GPU + 0xd000, 68);
	assert_true(pb_engine_model_step(bench.model, 5));
	assert_int_equal(*bench_at(&bench, OLD), 1);
	SUBMIT_PAGING(&other, UNMAP(IN(0x3000), 1));
	bench_expect_done(&other);
	bench_run(&bench);
	bench_expect_done(&bench);
	assert_int_equal(*bench_at(&bench, NEW + 4), 2);
	assert_int_equal(*bench_at(&bench, NEW + 8), 3);
	/* And the reverse. */
	assert_int_equal(fill(&other), NEW);
	bench_map(&bench, 0, OLD);
	assert_int_equal(fill(&other), NEW);
	SUBMIT_PAGING(&bench, MAP(IN(0x3000), 1, AT(LISTS)));
	assert_int_equal(fill(&other), OLD);
	bench_stop_other(&other);
	bench_stop(&bench);
}

/* What is remembered is held against the ranges at each access: they may have changed since. */
static void a_page_remembered_must_still_be_the_channels(void **state)
{
	struct bench bench;

	(void)state;
	start_stale(&bench);
	*bench_range(&bench, 1, 0) = (struct pb_engine_range_entry){AT(BENCH_RANGE0), 0x8000, BENCH_RANGE0};
	SUBMIT(&bench, FILL(IN(0), 4, VALUE));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE);
	assert_int_not_equal(*bench_at(&bench, NEW), VALUE);
	bench_reset(&bench);
	bench_map(&bench, 0, OLD);
	*bench_range(&bench, 1, 0) = (struct pb_engine_range_entry){AT(BENCH_RANGE0), 0xf000, BENCH_RANGE0};
	assert_int_equal(fill(&bench), OLD);
	/* Another channel with the same page table: the page is not one of its own. */
	*bench_range(&bench, 2, 1) = *bench_range(&bench, 1, 4);
	*bench_at(&bench, OLD) = 0;
	STORE(&bench, BENCH_OTHER, FILL(IN(0), 4, VALUE));
	bench_feed(&bench, 2, BENCH_GPU + BENCH_RANGE0, 20);
	bench_run(&bench);
	bench_expect_fault(&bench, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE);
	assert_int_equal(*bench_at(&bench, OLD), 0);
	bench_stop(&bench);
}

UNIT_SUITE(test_engine_translation)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_pages_of_linear_ranges_are_mapped),
		cmocka_unit_test(tables_lie_in_card_memory),
		cmocka_unit_test(a_word_changed_behind_its_back_is_not_noticed),
		cmocka_unit_test(packets_of_pages_empty_the_cache),
		cmocka_unit_test(the_next_packet_sees_it),
		cmocka_unit_test(other_packets_empty_nothing),
		cmocka_unit_test(a_reset_empties_the_cache),
		cmocka_unit_test(the_counter_of_the_mcu_empties_the_cache),
		cmocka_unit_test(the_cache_is_direct_mapped),
		cmocka_unit_test(what_is_not_mapped_is_not_remembered),
		cmocka_unit_test(nodes_tell_each_other),
		cmocka_unit_test(a_page_remembered_must_still_be_the_channels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
