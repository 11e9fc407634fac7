/* SPDX-License-Identifier: MIT */
/* Where DMA buffers are cut, what each part is given, and what cannot be submitted. */
#include <string.h>

#include "tests/unit/host/residency_bench.h"
#include "tests/unit/unit.h"

enum { A = 1, B, C, D };

/* Four allocations of two pages each in a segment of four: two at once. */
static void start(struct residency_bench *bench)
{
	residency_bench_start(bench);
	for (uint32_t handle = A; handle <= D; handle++)
		residency_bench_add(bench, handle, 0x2000, "1");
}

static void test_parts(void **state)
{
	static const struct {
		const char *commands;
		uint32_t parts;
		const char *expected;
	} cases[] = {
		{"ab ba", 1, "P(a>1.0 b>1.2) W0(0-64 0+4 f7 a1.0 b1.2) "},
		/* The third command is one too many; what it shares with the first part stays where it is. */
		{"ab b Cb", 2,
		 "P(a>1.0 b>1.2) W0(0-64 0+3 f7 a1.0 b1.2) P(x1.0+2 c>1.0) W0(64-96 3+2 f8 b1.2 C1.0) "},
		/* Its second operand does not fit: the first one belongs to the next part all the same. */
		{"ab bc", 2,
		 "P(a>1.0 b>1.2) W0(0-32 0+2 f7 a1.0 b1.2) P(x1.0+2 c>1.0) W0(32-64 2+2 f8 b1.2 c1.0) "},
		{"Ab cd aC", 3,
		 "P(a>1.0 b>1.2) W0(0-32 0+2 f7 A1.0 b1.2) "
		 "P(1.0>a x1.0+2 c>1.0 x1.2+2 d>1.2) W0(32-64 2+2 f8 C1.0 d1.2) "
		 "P(x1.2+2 a>1.2) W0(64-96 4+2 f9 A1.2 C1.0) "},
		/* Commands without operands go with those before them, and with the first at the front. */
		{"- ab - - cd -", 2,
		 "P(a>1.0 b>1.2) W0(0-128 0+2 f7 a1.0 b1.2) "
		 "P(x1.0+2 c>1.0 x1.2+2 d>1.2) W0(128-192 2+2 f8 c1.0 d1.2) "},
		/* NULL needs nothing. */
		{"a0b 0", 1, "P(a>1.0 b>1.2) W0(0-64 0+4 f7 a1.0 b1.2) "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct residency_bench bench;
		struct pb_residency_submission work;

		start(&bench);
		work = residency_bench_work(&bench, cases[i].commands);
		assert_int_equal(pb_residency_submit(&bench.manager, 0, &work), PB_ERROR_OK);
		residency_bench_expect(&bench, cases[i].expected);
		assert_int_equal(work.parts, cases[i].parts);
		assert_int_equal(work.failed, PB_INDEX_NONE);
		assert_int_equal(bench.manager.figures.splits, cases[i].parts - 1);
		residency_bench_stop(&bench);
	}
}

/* The rest of the descriptor is the same in each part, but the cookie stands for all of it. */
static void parts_keep_the_descriptor_but_for_the_cookie(void **state)
{
	struct residency_bench bench;
	struct pb_residency_submission work;
	struct pb_descriptor parts[2];

	(void)state;
	start(&bench);
	work = residency_bench_work(&bench, "ab cd");
	work.descriptor.private_size = 100;
	work.descriptor.private_end = 36;
	work.descriptor.context = 5;
	work.descriptor.fence_id = UINT32_MAX;
	work.descriptor.cookie = 77;
	bench.queues[BENCH_WORK0].timeline = UINT32_MAX;
	assert_int_equal(pb_residency_submit(&bench.manager, 0, &work), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(a>1.0 b>1.2) W0(0-32 0+2 f4294967295 a1.0 b1.2) "
				       "P(x1.0+2 c>1.0 x1.2+2 d>1.2) W0(32-64 2+2 f0 c1.0 d1.2) ");
	memcpy(parts, fake_page(&bench.fake, BENCH_WORK0) + 1, sizeof(parts));
	for (uint32_t i = 0; i < 2; i++) {
		struct pb_descriptor expected = work.descriptor;

		expected.fence_id += i;
		expected.timeline_low = i;
		expected.timeline_high = 1;
		expected.dma_start = 32 * i;
		expected.dma_end = 32 + 32 * i;
		expected.patch_start = 2 * i;
		expected.patch_length = 2;
		expected.cookie = 0;
		assert_memory_equal(&parts[i], &expected, sizeof(expected));
	}
	work = residency_bench_work(&bench, "cd");
	work.descriptor.cookie = 78;
	assert_int_equal(pb_residency_submit(&bench.manager, 0, &work), PB_ERROR_OK);
	residency_bench_expect(&bench, "W0(0-32 0+2 f7 c78 c1.0 d1.2) ");
	residency_bench_stop(&bench);
}

/* Of a range in the middle of buffer and list, what lies outside is not looked at. */
static void lists_outside_the_range_are_not_read(void **state)
{
	struct residency_bench bench;
	struct pb_residency_submission work;

	(void)state;
	start(&bench);
	work = residency_bench_work(&bench, "d ab b c d");
	work.descriptor.dma_start = 32;
	work.descriptor.dma_end = 128;
	work.descriptor.patch_start = 1;
	work.descriptor.patch_length = 4;
	assert_int_equal(pb_residency_submit(&bench.manager, 0, &work), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(a>1.0 b>1.2) W0(32-96 1+3 f7 a1.0 b1.2) "
				       "P(x1.0+2 c>1.0) W0(96-128 4+1 f8 c1.0) ");
	residency_bench_stop(&bench);
}

/*
 * One command alone needs three pages in a row, and what else it needs lies in
 * the middle: everything leaves, and then both fit.
 */
static void all_leave_for_one_that_needs_pages_in_a_row(void **state)
{
	struct residency_bench bench;

	(void)state;
	residency_bench_start(&bench);
	residency_bench_add(&bench, A, 0x1000, "1");
	residency_bench_add(&bench, B, 0x1000, "1");
	residency_bench_add(&bench, C, 0x3000, "1");
	residency_bench_add(&bench, D, 0x1000, "2");
	assert_int_equal(residency_bench_submit(&bench, "a Bd"), PB_ERROR_OK);
	bench.text[0] = '\0';
	assert_int_equal(residency_bench_submit(&bench, "cb"), PB_ERROR_OK);
	residency_bench_expect(&bench,
			       "P(x1.0+1 1.1>b x1.1+1 x2.0+1 c>1.0 b>1.3) W0(0-32 0+2 f7 b1.3 c1.0) ");
	residency_bench_stop(&bench);
}

static void test_too_much(void **state)
{
	static const struct {
		const char *commands;
		uint32_t parts;
		uint32_t failed;
		const char *expected;
	} cases[] = {
		{"abc", 0, 2, "P(a>1.0 b>1.2 x1.0+2 x1.2+2 a>1.0 b>1.2 x1.0+2 d>1.0) W0(0-32 0+1 f7 d1.0) "},
		{"a bcd", 1, 3,
		 "P(a>1.0 b>1.2) W0(0-32 0+1 f7 a1.0) "
		 "P(x1.0+2 c>1.0 x1.2+2 x1.0+2 b>1.0 c>1.2 x1.0+2 d>1.0) W0(0-32 0+1 f7 d1.0) "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct residency_bench bench;
		struct pb_residency_submission work;

		start(&bench);
		work = residency_bench_work(&bench, cases[i].commands);
		assert_int_equal(pb_residency_submit(&bench.manager, 0, &work), PB_ERROR_NO_SPACE);
		assert_int_equal(work.parts, cases[i].parts);
		assert_int_equal(work.failed, cases[i].failed);
		/* The manager goes on: what it has moved in vain is in the next paging buffer. */
		assert_int_equal(residency_bench_submit(&bench, "d"), PB_ERROR_OK);
		residency_bench_expect(&bench, cases[i].expected);
		residency_bench_stop(&bench);
	}
}

/* What stands in the lists, or in the call, cannot be. */
static void impossible_lists_are_refused(void **state)
{
	static const struct {
		const char *row;
		uint32_t location; /* the one that is changed; 2 begins the second command */
		uint32_t index;
		uint32_t split;
		enum pb_error expected;
	} cases[] = {
		{"sound", 3, A, 32, PB_ERROR_OK},
		{"last index", 3, BENCH_ALLOCATIONS, 32, PB_ERROR_BAD_HANDLE},
		{"index", 3, BENCH_ALLOCATIONS + 1u, 32, PB_ERROR_BAD_ARGUMENT},
		{"index of the first", 0, BENCH_ALLOCATIONS + 1u, 0, PB_ERROR_BAD_ARGUMENT},
		{"a split before the one before", 2, A, 0, PB_ERROR_OK},
		{"back", 3, A, 28, PB_ERROR_BAD_ARGUMENT},
		{"odd", 3, A, 38, PB_ERROR_BAD_ARGUMENT},
		{"last", 3, A, 60, PB_ERROR_OK},
		{"beyond", 3, A, 64, PB_ERROR_BAD_ARGUMENT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct residency_bench bench;
		struct pb_residency_submission work;
		enum pb_error error;

		start(&bench);
		work = residency_bench_work(&bench, "ab ab");
		bench.locations[cases[i].location].allocation_index = cases[i].index;
		bench.locations[cases[i].location].split_offset = cases[i].split;
		error = pb_residency_submit(&bench.manager, 0, &work);
		if (error != cases[i].expected)
			fail_msg("%s: %s", cases[i].row, pb_error_name(error));
		assert_int_equal(work.failed, error == PB_ERROR_OK ? PB_INDEX_NONE : cases[i].location);
		residency_bench_stop(&bench);
	}
}

static void test_bad_call(void **state)
{
	struct residency_bench bench;
	struct pb_residency_submission work;

	(void)state;
	start(&bench);
	work = residency_bench_work(&bench, "ab");
	assert_int_equal(pb_residency_submit(&bench.manager, 2, &work), PB_ERROR_BAD_ARGUMENT);
	assert_int_equal(pb_residency_submit(&bench.manager, PB_RESIDENCY_QUEUES, &work),
			 PB_ERROR_BAD_ARGUMENT);
	work.descriptor.patch_encoding = PB_PATCH_ENCODING_COMPACT;
	assert_int_equal(pb_residency_submit(&bench.manager, 0, &work), PB_ERROR_BAD_ARGUMENT);
	work.descriptor.patch_encoding = PB_PATCH_ENCODING_WDDM;
	work.descriptor.patch_start = UINT32_MAX;
	assert_int_equal(pb_residency_submit(&bench.manager, 0, &work), PB_ERROR_BAD_ARGUMENT);
	residency_bench_expect(&bench, "");
	residency_bench_stop(&bench);
}

static void test_bad_setup(void **state)
{
	static const struct {
		const char *row;
		struct pb_residency_segment segment; /* the first one */
	} cases[] = {
		{"segment 0", {0, 0, 0, 0, 0x1000, NULL}},
		{"segment 32", {32, 0, 0, 0, 0x1000, NULL}},
		{"kind", {1, 2, 0, 0, 0x1000, NULL}},
		{"OS base", {1, 0, 4, 0, 0x1000, NULL}},
		{"GPU base", {1, 0, 0, 4, 0x1000, NULL}},
		{"size", {1, 0, 0, 0, 0x1004, NULL}},
		{"OS end", {1, 0, 0xfffffffffffff000, 0, 0x1000, NULL}},
		{"GPU end", {1, 0, 0, 0xfffffffffffff000, 0x1000, NULL}},
	};
	struct residency_bench bench;
	struct pb_residency_setup setup;

	(void)state;
	start(&bench);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bench.segments[0] = cases[i].segment;
		if (pb_residency_start(&bench.manager, &bench.setup) != PB_ERROR_BAD_ARGUMENT)
			fail_msg("%s was taken", cases[i].row);
	}
	bench.segments[0] = bench.segments[1]; /* twice */
	assert_int_equal(pb_residency_start(&bench.manager, &bench.setup), PB_ERROR_BAD_ARGUMENT);
	bench.segments[0].id = 1;
	assert_int_equal(pb_residency_start(&bench.manager, &bench.setup), PB_ERROR_OK);
	setup = bench.setup;
	setup.buffer.bytes = PB_PAGING_BYTES_MIN - 4;
	assert_int_equal(pb_residency_start(&bench.manager, &setup), PB_ERROR_BAD_ARGUMENT);
	setup = bench.setup;
	setup.buffer.os_address += 64;
	assert_int_equal(pb_residency_start(&bench.manager, &setup), PB_ERROR_BAD_ARGUMENT);
	setup = bench.setup;
	setup.buffer.segment = NULL;
	assert_int_equal(pb_residency_start(&bench.manager, &setup), PB_ERROR_BAD_ARGUMENT);
	bench.system.request.id = 1;
	assert_int_equal(pb_residency_start(&bench.manager, &bench.setup), PB_ERROR_BAD_ARGUMENT);
	residency_bench_stop(&bench);
}

static void test_bad_allocations(void **state)
{
	static const struct {
		const char *row;
		struct pb_residency_request request;
		enum pb_error expected;
	} cases[] = {
		{"sound", {0x4000, 4, 0x1000, {1}}, PB_ERROR_OK},
		{"no bytes", {0, 4, 0x1000, {1}}, PB_ERROR_BAD_ARGUMENT},
		{"bytes", {6, 4, 0x1000, {1}}, PB_ERROR_BAD_ARGUMENT},
		{"too many", {PB_RESIDENCY_BYTES_MAX + 4, 4, 0x1000, {1}}, PB_ERROR_BAD_ARGUMENT},
		{"alignment", {4, 2, 0x1000, {1}}, PB_ERROR_BAD_ARGUMENT},
		{"no power of two", {4, 12, 0x1000, {1}}, PB_ERROR_BAD_ARGUMENT},
		{"backing", {4, 4, 0x1002, {1}}, PB_ERROR_BAD_ARGUMENT},
		{"backing beyond the end", {8, 4, UINT64_MAX - 3, {1}}, PB_ERROR_BAD_ARGUMENT},
		{"backing of an aperture", {4, 4, 0x1004, {1, 3}}, PB_ERROR_BAD_ARGUMENT},
		{"no segment", {4, 4, 0x1000, {0}}, PB_ERROR_BAD_ARGUMENT},
		{"unknown segment", {4, 4, 0x1000, {1, 4}}, PB_ERROR_BAD_ARGUMENT},
		{"larger than its segment", {0x4004, 4, 0x1000, {1}}, PB_ERROR_NO_SPACE},
		{"than all of them", {0x4004, 4, 0x1000, {2, 1}}, PB_ERROR_NO_SPACE},
		{"than one of them", {0x4000, 4, 0x1000, {2, 1}}, PB_ERROR_OK},
	};
	struct residency_bench bench;
	uint32_t handle = 0;

	(void)state;
	start(&bench);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const enum pb_error error = pb_residency_add(&bench.manager, &cases[i].request, &handle);

		if (error != cases[i].expected)
			fail_msg("%s: %s", cases[i].row, pb_error_name(error));
	}
	assert_int_equal(handle, D + 2);
	residency_bench_add(&bench, D + 3, 4, "1");
	residency_bench_add(&bench, D + 4, 4, "1");
	assert_int_equal(pb_residency_add(&bench.manager, &cases[0].request, &handle), PB_ERROR_NO_SPACE);
	assert_int_equal(pb_residency_remove(&bench.manager, B), PB_ERROR_OK);
	residency_bench_add(&bench, B, 4, "1");
	residency_bench_stop(&bench);
}

/* The ring has room for four: the fifth waits. */
static void a_full_ring_is_waited_for(void **state)
{
	struct residency_bench bench;

	(void)state;
	start(&bench);
	assert_int_equal(residency_bench_submit(&bench, "a"), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(a>1.0) W0(0-32 0+1 f7 a1.0) ");
	bench.fake.stopped = 1u << BENCH_WORK0;
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(residency_bench_submit(&bench, "-"), PB_ERROR_OK);
	bench.release_at = 1;
	bench.text[0] = '\0';
	assert_int_equal(residency_bench_submit(&bench, "a"), PB_ERROR_OK);
	residency_bench_expect(&bench, "waited W0(0-32 0+1 f7 a1.0) ");
	residency_bench_stop(&bench);
}

static void test_failures(void **state)
{
	struct residency_bench bench;

	(void)state;
	start(&bench);
	bench.fail_paging = PB_ERROR_ENGINE_FAULT;
	assert_int_equal(residency_bench_submit(&bench, "a"), PB_ERROR_ENGINE_FAULT);
	residency_bench_expect(&bench, "P(a>1.0) ");
	residency_bench_stop(&bench);

	/* Never done: each wait ends. */
	start(&bench);
	bench.fake.stopped = 1u << BENCH_PAGING;
	assert_int_equal(residency_bench_submit(&bench, "a"), PB_ERROR_TIMEOUT);
	residency_bench_stop(&bench);
	start(&bench);
	assert_int_equal(residency_bench_submit(&bench, "ab"), PB_ERROR_OK);
	bench.fake.stopped = 1u << BENCH_WORK0;
	assert_int_equal(pb_residency_page_out(&bench.manager, A, true), PB_ERROR_TIMEOUT);
	assert_int_equal(residency_bench_submit(&bench, "cd"), PB_ERROR_TIMEOUT);
	residency_bench_stop(&bench);

	start(&bench);
	assert_int_equal(residency_bench_submit(&bench, "ab"), PB_ERROR_OK);
	fake_die(&bench.fake);
	assert_int_equal(residency_bench_submit(&bench, "ab"), PB_ERROR_FIRMWARE_DEAD);
	fake_unplug(&bench.fake);
	assert_int_not_equal(residency_bench_submit(&bench, "c"), PB_ERROR_OK);
	residency_bench_stop(&bench);
}

UNIT_SUITE(test_residency_split)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(parts_keep_the_descriptor_but_for_the_cookie),
		cmocka_unit_test(lists_outside_the_range_are_not_read),
		cmocka_unit_test(all_leave_for_one_that_needs_pages_in_a_row),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(impossible_lists_are_refused),
		cmocka_unit_test(test_bad_call),
		cmocka_unit_test(test_bad_setup),
		cmocka_unit_test(a_full_ring_is_waited_for),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_bad_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
