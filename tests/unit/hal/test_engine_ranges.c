/* SPDX-License-Identifier: MIT */
/* What a channel may touch: first and last bytes of ranges, and range tables that are wrong. */
#include <string.h>

#include "hal/engine_model/state.h"
#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

#define VALUE 0x5a5aa5a5u

static void ranges_end_where_they_end(void **state)
{
	static const struct {
		const char *name;
		uint64_t address;
		uint32_t bytes;
		uint32_t offset; /* where it lands; 0: ADDRESS */
	} cases[] = {
		{"first word of range 0", BENCH_GPU + BENCH_RANGE0, 4, BENCH_RANGE0},
		{"before range 0", BENCH_GPU + BENCH_RANGE0 - 4, 4, 0},
		{"into range 0", BENCH_GPU + BENCH_RANGE0 - 4, 8, 0},
		{"last word of range 0", BENCH_GPU + BENCH_RANGE1 - 4, 4, BENCH_RANGE1 - 4},
		{"across to range 1", BENCH_GPU + BENCH_RANGE1 - 4, 8, 0},
		{"first word of range 1", BENCH_GPU + BENCH_RANGE1, 4, BENCH_RANGE1},
		{"all of range 1", BENCH_GPU + BENCH_RANGE1, 0x4000, BENCH_RANGE1},
		{"past range 1", BENCH_GPU + BENCH_RANGE1, 0x4004, 0},
		{"last word of range 1", BENCH_GPU + BENCH_RANGE1_END - 4, 4, BENCH_RANGE1_END - 4},
		{"behind range 1", BENCH_GPU + BENCH_RANGE1_END, 4, 0},
		{"low word only", BENCH_RANGE0, 4, 0},
		{"high word wrong", BENCH_GPU * 2 + BENCH_RANGE0, 4, 0},
		{"first word of range 2", BENCH_RANGE2_GPU, 4, BENCH_RANGE2},
		{"last word of range 2", BENCH_RANGE2_GPU + 0xffc, 4, BENCH_RANGE2 + 0xffc},
		{"behind range 2", BENCH_RANGE2_GPU + 0x1000, 4, 0},
		{"past range 2", BENCH_RANGE2_GPU + 0xffc, 8, 0},
		{"top of all addresses", UINT64_MAX - 3, 4, 0},
		{"wraps around", UINT64_MAX - 3, 0xfffffffc, 0},
		{"address 0 is in no range", 0, 4, 0}, /* the range that is not there has base 0 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;

		print_message("  %s\n", cases[i].name);
		bench_start(&bench, PB_NODE_COPY);
		memcpy(bench.memory + BENCH_OTHER, (const uint32_t[]){NOP(1)}, 4);
		/* From a buffer in the middle of range 0, so that no case overwrites it. */
		STORE(&bench, 0x8000, FILL(ADDRESS(cases[i].address), cases[i].bytes, VALUE));
		bench_feed(&bench, 1, BENCH_GPU + 0x8000, 20);
		bench_run(&bench);
		if (cases[i].offset == 0) {
			bench_expect_fault(&bench, PB_ENGINE_FAULT_ADDRESS, cases[i].address);
		} else {
			bench_expect_done(&bench);
			assert_int_equal(*bench_at(&bench, cases[i].offset), VALUE);
			assert_int_equal(*bench_at(&bench, cases[i].offset + cases[i].bytes - 4), VALUE);
			assert_int_not_equal(*bench_at(&bench, cases[i].offset - 4), VALUE);
			assert_int_not_equal(*bench_at(&bench, cases[i].offset + cases[i].bytes), VALUE);
		}
		bench_stop(&bench);
	}
}

static void the_table_is_not_trusted(void **state)
{
	static const struct {
		const char *name;
		struct pb_engine_range_entry entry;
		uint64_t address;
		uint32_t bytes;
		uint32_t offset; /* 0: ADDRESS */
	} cases[] = {
		{"to the end of memory",
		 {0, 9, 0x1000, BENCH_BYTES - 0x1000},
		 0x900000ffc,
		 4,
		 BENCH_BYTES - 4},
		{"past the end of memory", {0, 9, 0x2000, BENCH_BYTES - 0x1000}, 0x900000000, 4, 0},
		{"offset outside memory", {0, 9, 0x1000, BENCH_BYTES}, 0x900000000, 4, 0},
		{"sum wraps 32 bits", {0, 9, 0x2000, 0xfffff000}, 0x900000000, 4, 0},
		{"all ones", {0xfffff000, 9, 0xfffff000, 0xfffff000}, 0x9fffff000, 4, 0},
		{"offset no page", {0, 9, 0x1000, 0x1a800}, 0x900000000, 4, 0},
		{"offset unaligned", {0, 9, 0x1000, 0x1a002}, 0x900000000, 4, 0},
		{"base no page", {0x800, 9, 0x1000, 0x1a000}, 0x900000800, 4, 0},
		{"base unaligned", {2, 9, 0x1000, 0x1a000}, 0x900000004, 4, 0},
		{"no whole pages", {0, 9, 0x1ffc, 0x1a000}, 0x900000000, 4, 0},
		{"whole memory", {0, 9, BENCH_BYTES, 0}, 0x90001a000, 4, 0x1a000},
		{"3 bytes", {0, 9, 3, 0x1a000}, 0x900000000, 4, 0},
		{"not there", {0, 9, 0, 0x1a000}, 0x900000000, 4, 0},
		{"top of all addresses",
		 {0xfffff000, 0xffffffff, 0x1000, 0x1a000},
		 UINT64_MAX - 3,
		 4,
		 0x1affc},
		{"beyond the top", {0xfffff000, 0xffffffff, 0x2000, 0x1a000}, 0, 4, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;

		print_message("  %s\n", cases[i].name);
		bench_start(&bench, PB_NODE_COPY);
		*bench_range(&bench, 1, 3) = cases[i].entry;
		SUBMIT(&bench, FILL(ADDRESS(cases[i].address), cases[i].bytes, VALUE));
		if (cases[i].offset == 0) {
			bench_expect_fault(&bench, PB_ENGINE_FAULT_ADDRESS, cases[i].address);
		} else {
			bench_expect_done(&bench);
			assert_int_equal(*bench_at(&bench, cases[i].offset), VALUE);
		}
		bench_stop(&bench);
	}
}

/* Card memory ends at 0x19000 here, and outer memory is 0x1a000 to 0x1c000. */
static void outer_memory_is_in_reach(void **state)
{
	static const struct {
		const char *name;
		struct pb_engine_range_entry entry;
		uint32_t offset; /* 0: ADDRESS */
	} cases[] = {
		{"its first page", {0, 9, 0x1000, 0x1a000}, 0x1a000},
		{"its last page", {0, 9, 0x1000, 0x1b000}, 0x1b000},
		{"all of it", {0, 9, 0x2000, 0x1a000}, 0x1a000},
		{"past its end", {0, 9, 0x2000, 0x1b000}, 0},
		{"behind it", {0, 9, 0x1000, 0x1c000}, 0},
		{"before it", {0, 9, 0x1000, 0x19000}, 0},
		{"into it", {0, 9, 0x2000, 0x19000}, 0},
		{"the end of card memory", {0, 9, 0x1000, 0x18000}, 0x18000},
		{"past the end of card memory", {0, 9, 0x2000, 0x18000}, 0},
		{"a page table there", {0, 9, 0x1000, 0x1a000 | PB_ENGINE_RANGE_PAGED}, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb_engine_model_config config;
		struct bench bench;

		print_message("  %s\n", cases[i].name);
		bench_start(&bench, PB_NODE_COPY);
		config = bench.model->config;
		config.memory_bytes = 0x19000;
		config.outer_offset = 0x1a000;
		config.outer_bytes = 0x2000;
		pb_engine_model_init(bench.model, &config);
		*bench_range(&bench, 1, 3) = cases[i].entry;
		SUBMIT(&bench, FILL(ADDRESS(0x900000000), 4, VALUE));
		if (cases[i].offset == 0) {
			bench_expect_fault(&bench, PB_ENGINE_FAULT_ADDRESS, 0x900000000);
		} else {
			bench_expect_done(&bench);
			assert_int_equal(*bench_at(&bench, cases[i].offset), VALUE);
		}
		bench_stop(&bench);
	}
}

/* The same address is another place for another channel, and nothing for a third. */
static void each_channel_has_its_own_ranges(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	STORE(&bench, BENCH_RANGE0, FILL(AT(BENCH_RANGE0 + 0x100), 4, 1));
	STORE(&bench, BENCH_OTHER, FILL(AT(BENCH_RANGE0 + 0x100), 4, 2));
	bench_feed(&bench, 1, BENCH_GPU + BENCH_RANGE0, 20);
	bench_feed(&bench, 2, BENCH_GPU + BENCH_RANGE0, 20);
	bench_run(&bench);
	bench_expect_done(&bench);
	assert_int_equal(*bench_at(&bench, BENCH_RANGE0 + 0x100), 1);
	assert_int_equal(*bench_at(&bench, BENCH_OTHER + 0x100), 2);
	bench_feed(&bench, 0, BENCH_GPU + BENCH_RANGE0, 20);
	bench_run(&bench);
	bench_expect_fault(&bench, PB_ENGINE_FAULT_ADDRESS, BENCH_GPU + BENCH_RANGE0);
	bench_stop(&bench);
}

/* The first range that holds the whole access serves it. */
static void ranges_may_overlap(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	*bench_range(&bench, 1, 3) = (struct pb_engine_range_entry){AT(0xf000), 0x2000, 0x1a000};
	SUBMIT(&bench, FILL(AT(0xfffc), 8, VALUE));
	bench_expect_done(&bench);
	assert_int_equal(*bench_at(&bench, 0x1affc), VALUE);
	assert_int_equal(*bench_at(&bench, 0x1b000), VALUE);
	bench_stop(&bench);
}

/* Ranges belong to the slot: a new table counts from the next slot on. */
static void ranges_are_read_with_the_slot(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	STORE(&bench, BENCH_BUFFER, BUSY(10), FILL(AT(BENCH_RANGE1), 4, VALUE));
	bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 28);
	assert_true(pb_engine_model_step(bench.model, 5));
	bench_range(&bench, 1, 1)->bytes = 0;
	bench_run(&bench);
	bench_expect_done(&bench);
	bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 28);
	bench_run(&bench);
	bench_expect_fault(&bench, PB_ENGINE_FAULT_ADDRESS, BENCH_GPU + BENCH_RANGE1);
	bench_stop(&bench);
}

UNIT_SUITE(test_engine_ranges)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_end_where_they_end),       cmocka_unit_test(the_table_is_not_trusted),
		cmocka_unit_test(each_channel_has_its_own_ranges), cmocka_unit_test(ranges_may_overlap),
		cmocka_unit_test(ranges_are_read_with_the_slot),   cmocka_unit_test(outer_memory_is_in_reach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
