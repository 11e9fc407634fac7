/* SPDX-License-Identifier: MIT */
/* Where allocations go, what leaves for them, and what that takes. */
#include <string.h>

#include "tests/unit/host/residency_bench.h"
#include "tests/unit/unit.h"

enum { A = 1, B, C, D, E, F };

/* Page in, run; run again with nothing to do. */
static void resident_allocations_are_not_paged_again(void **state)
{
	struct residency_bench bench;

	(void)state;
	residency_bench_start(&bench);
	residency_bench_add(&bench, A, 0x1000, "1");
	residency_bench_add(&bench, B, 0x1800, "12");
	assert_int_equal(residency_bench_submit(&bench, "a B"), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(a>1.0 b>1.1) W0(0-64 0+2 f7 a1.0 B1.1) ");
	assert_int_equal(residency_bench_submit(&bench, "ab -"), PB_ERROR_OK);
	residency_bench_expect(&bench, "W0(0-64 0+2 f7 a1.0 b1.1) ");
	assert_int_equal(residency_bench_submit(&bench, "0 -"), PB_ERROR_OK);
	residency_bench_expect(&bench, "W0(0-64 0+1 f7) ");
	assert_int_equal(residency_bench_submit(&bench, "-"), PB_ERROR_OK);
	residency_bench_expect(&bench, "W0(0-32 0+0 f7) ");
	assert_int_equal(bench.manager.figures.page_ins, 2);
	assert_int_equal(bench.manager.figures.bytes_in, 0x2800);
	assert_int_equal(bench.manager.figures.paging_submissions, 1);
	assert_int_equal(bench.manager.figures.evictions, 0);
	residency_bench_stop(&bench);
}

/* The very words, once: two that have to go, one of which was written to. */
static void paging_moves_each_word_once(void **state)
{
	static const uint32_t expected[] = {
		0x02000006, 0x80000000, 1, 0x40010000, 0, 0x2000, /* a to its backing store */
		0x04000004, 0x80000000, 1, 0x2000,                /* nothing there any more */
		0x04000004, 0x80002000, 1, 0x2000,                /* b is unchanged */
		0x02000006, 0x40030000, 0, 0x80000000, 1, 0x3000, /* c */
	};
	struct residency_bench bench;

	(void)state;
	residency_bench_start(&bench);
	residency_bench_add(&bench, A, 0x2000, "1");
	residency_bench_add(&bench, B, 0x2000, "1");
	residency_bench_add(&bench, C, 0x3000, "1");
	assert_int_equal(residency_bench_submit(&bench, "Ab"), PB_ERROR_OK);
	bench.text[0] = '\0';
	assert_int_equal(residency_bench_submit(&bench, "c"), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(1.0>a x1.0+2 x1.2+2 c>1.0) W0(0-32 0+1 f7 c1.0) ");
	assert_memory_equal(bench.setup.buffer.bytes_host, expected, sizeof(expected));
	assert_int_equal(bench.manager.figures.evictions, 2);
	assert_int_equal(bench.manager.figures.bytes_out, 0x2000);
	assert_int_equal(bench.manager.figures.bytes_in, 0x7000);
	residency_bench_stop(&bench);
}

static void the_least_recently_used_goes_first(void **state)
{
	static const struct {
		const char *use; /* works, one letter each */
		const char *expected;
	} cases[] = {
		{"abcd", "P(x1.0+1 e>1.0) W0(0-32 0+1 f7 e1.0) "},
		{"dcbac", "P(x1.0+1 e>1.0) W0(0-32 0+1 f7 e1.0) "}, /* d */
		{"abcda", "P(x1.1+1 e>1.1) W0(0-32 0+1 f7 e1.1) "},
		{"abcdabc", "P(x1.3+1 e>1.3) W0(0-32 0+1 f7 e1.3) "},
		{"abcdbad", "P(x1.2+1 e>1.2) W0(0-32 0+1 f7 e1.2) "},
		{"Aabcd", "P(1.0>a x1.0+1 e>1.0) W0(0-32 0+1 f7 e1.0) "},
		{"abCdab", "P(1.2>c x1.2+1 e>1.2) W0(0-32 0+1 f7 e1.2) "},
		/* Written to, gone, come back, not written to: nothing to keep. */
		{"Abcdefabcd", "P(x1.2+1 e>1.2) W0(0-32 0+1 f7 e1.2) "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct residency_bench bench;

		residency_bench_start(&bench);
		for (uint32_t handle = A; handle <= F; handle++)
			residency_bench_add(&bench, handle, 0x1000, "1");
		for (const char *use = cases[i].use; *use != '\0'; use++) {
			assert_int_equal(residency_bench_submit(&bench, (const char[]){*use, '\0'}),
					 PB_ERROR_OK);
			while (fake_serve(&bench.fake))
				continue;
		}
		bench.text[0] = '\0';
		assert_int_equal(residency_bench_submit(&bench, "e"), PB_ERROR_OK);
		residency_bench_expect(&bench, cases[i].expected);
		residency_bench_stop(&bench);
	}
}

/* The older ones are in flight: one that is not goes before them. */
static void an_idle_allocation_goes_before_those_in_flight(void **state)
{
	struct residency_bench bench;
	struct pb_residency_submission work;

	(void)state;
	residency_bench_start(&bench);
	residency_bench_add(&bench, A, 0x2000, "1");
	residency_bench_add(&bench, B, 0x1000, "1");
	residency_bench_add(&bench, C, 0x1000, "1");
	residency_bench_add(&bench, D, 0x1000, "1");
	assert_int_equal(residency_bench_submit(&bench, "abc"), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(a>1.0 b>1.2 c>1.3) W0(0-32 0+3 f7 a1.0 b1.2 c1.3) ");
	bench.fake.stopped = 1u << BENCH_WORK0;
	assert_int_equal(residency_bench_submit(&bench, "Ab"), PB_ERROR_OK);
	work = residency_bench_work(&bench, "c");
	assert_int_equal(pb_residency_submit(&bench.manager, 1, &work), PB_ERROR_OK);
	/* Queue 1 goes on, queue 0 does not: c, used last of the three, is the only one that is free. */
	residency_bench_expect(&bench, "W0(0-32 0+2 f7 A1.0 b1.2) W1(0-32 0+1 f7 c1.3) ");
	work = residency_bench_work(&bench, "d");
	assert_int_equal(pb_residency_submit(&bench.manager, 1, &work), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(x1.3+1 d>1.3) W1(0-32 0+1 f7 d1.3) ");
	assert_int_equal(bench.manager.figures.waits, 0);
	/* What the command itself needs stays, all others are in flight: the oldest of them is waited for. */
	bench.release_at = 1;
	work = residency_bench_work(&bench, "cd");
	assert_int_equal(pb_residency_submit(&bench.manager, 1, &work), PB_ERROR_OK);
	residency_bench_expect(&bench, "waited P(1.0>a x1.0+2 c>1.0) W1(0-32 0+2 f7 c1.0 d1.3) ");
	assert_int_equal(bench.manager.figures.waits, 1);
	residency_bench_stop(&bench);
}

/* All is in flight: the one used least recently is waited for, before anything of it moves. */
static void the_oldest_in_flight_is_waited_for(void **state)
{
	struct residency_bench bench;
	struct pb_residency_submission work;

	(void)state;
	residency_bench_start(&bench);
	residency_bench_add(&bench, A, 0x2000, "1");
	residency_bench_add(&bench, B, 0x2000, "1");
	residency_bench_add(&bench, C, 0x2000, "1");
	bench.fake.stopped = 1u << BENCH_WORK0 | 1u << BENCH_WORK1;
	assert_int_equal(residency_bench_submit(&bench, "A"), PB_ERROR_OK);
	work = residency_bench_work(&bench, "B");
	assert_int_equal(pb_residency_submit(&bench.manager, 1, &work), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(a>1.0) W0(0-32 0+1 f7 A1.0) P(b>1.2) W1(0-32 0+1 f7 B1.2) ");
	/* Two waits for paging buffers are over; the next one is for a. */
	bench.release_at = 3;
	assert_int_equal(residency_bench_submit(&bench, "c"), PB_ERROR_OK);
	residency_bench_expect(&bench, "waited P(1.0>a x1.0+2 c>1.0) W0(0-32 0+1 f7 c1.0) ");
	assert_int_equal(bench.manager.figures.waits, 1);
	residency_bench_stop(&bench);
}

static void test_preferences(void **state)
{
	struct residency_bench bench;

	(void)state;
	residency_bench_start(&bench);
	residency_bench_add(&bench, A, 0x2000, "21");
	residency_bench_add(&bench, B, 0x1000, "21");
	residency_bench_add(&bench, C, 0x3000, "1");
	residency_bench_add(&bench, D, 0x1000, "12");
	residency_bench_add(&bench, E, 0x2000, "12");
	assert_int_equal(residency_bench_submit(&bench, "a b c"), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(a>2.0 b>1.0 c>1.1) W0(0-96 0+3 f7 a2.0 b1.0 c1.1) ");
	/* No room anywhere: the first choice has to make some, and b leaves before c as it is older. */
	assert_int_equal(residency_bench_submit(&bench, "d"), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(x1.0+1 d>1.0) W0(0-32 0+1 f7 d1.0) ");
	/* The first choice cannot make room beside c and d: the second one does. */
	assert_int_equal(residency_bench_submit(&bench, "cd e"), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(x2.0+2 e>2.0) W0(0-64 0+3 f7 c1.1 d1.0 e2.0) ");
	residency_bench_stop(&bench);
}

static void test_apertures(void **state)
{
	struct residency_bench bench;

	(void)state;
	residency_bench_start(&bench);
	residency_bench_add(&bench, A, 0x2004, "3"); /* three pages */
	residency_bench_add(&bench, B, 0x1000, "3");
	residency_bench_add(&bench, C, 0x1000, "31");
	residency_bench_add(&bench, D, 0x1000, "3");
	assert_int_equal(residency_bench_submit(&bench, "A B"), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(a=3.0+3 b=3.3+1) W0(0-64 0+2 f7 A3.0 B3.3) ");
	assert_int_equal(residency_bench_submit(&bench, "c"), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(c>1.0) W0(0-32 0+1 f7 c1.0) ");
	/* What is written to is in system memory already. */
	assert_int_equal(residency_bench_submit(&bench, "d"), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(3.0=+3 d=3.0+1) W0(0-32 0+1 f7 d3.0) ");
	assert_int_equal(pb_residency_page_out(&bench.manager, B, true), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(3.3=+1) ");
	assert_int_equal(bench.manager.figures.bytes_in, 0x1000);
	assert_int_equal(bench.manager.figures.bytes_out, 0);
	residency_bench_stop(&bench);
}

static void test_alignment(void **state)
{
	struct residency_bench bench;
	struct pb_residency_request request = {
		.bytes = 4, .alignment = 0x2000, .backing = BENCH_BACKING(2), .segments = {2, 1}};
	uint32_t handle;

	(void)state;
	residency_bench_start(&bench);
	residency_bench_add(&bench, A, 4, "2");
	/* Segment 2 begins one page below a multiple of 8 KiB: the address counts, not the offset. */
	assert_int_equal(pb_residency_add(&bench.manager, &request, &handle), PB_ERROR_OK);
	assert_int_equal(residency_bench_submit(&bench, "ab"), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(a>2.0 b>2.1) W0(0-32 0+2 f7 a2.0 b2.1) ");
	request.alignment = 0x40;
	request.backing = BENCH_BACKING(3);
	assert_int_equal(pb_residency_add(&bench.manager, &request, &handle), PB_ERROR_OK);
	assert_int_equal(residency_bench_submit(&bench, "c"), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(c>2.0_64) W0(0-32 0+1 f7 c2.0_64) ");
	residency_bench_stop(&bench);
}

/* The host's turn: contents come out, or are dropped. */
static void the_host_may_page_out_or_drop(void **state)
{
	struct residency_bench bench;
	struct pb_render_allocation found;

	(void)state;
	residency_bench_start(&bench);
	residency_bench_add(&bench, A, 0x1000, "1");
	residency_bench_add(&bench, B, 0x1000, "1");
	assert_int_equal(pb_residency_page_out(&bench.manager, A, true), PB_ERROR_OK);
	assert_true(pb_residency_find(&bench.manager, A, &found));
	assert_int_equal(found.segment, 0);
	assert_int_equal(residency_bench_submit(&bench, "A B"), PB_ERROR_OK);
	bench.text[0] = '\0';
	assert_true(pb_residency_find(&bench.manager, B, &found));
	assert_int_equal(found.segment, 1);
	assert_true(found.size == 0x1000);
	assert_true(found.os_address == 0x800001000 && found.gpu_address == 0x180001000);
	bench.fake.stopped = 1u << BENCH_WORK0;
	bench.release_at = 1;
	assert_int_equal(pb_residency_page_out(&bench.manager, A, true), PB_ERROR_OK);
	residency_bench_expect(&bench, "waited P(1.0>a x1.0+1) ");
	assert_int_equal(pb_residency_page_out(&bench.manager, B, false), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(x1.1+1) ");
	assert_int_equal(residency_bench_submit(&bench, "A"), PB_ERROR_OK);
	assert_int_equal(pb_residency_remove(&bench.manager, A), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(a>1.0) W0(0-32 0+1 f7 A1.0) P(x1.0+1) ");
	assert_false(pb_residency_find(&bench.manager, A, &found));
	assert_false(pb_residency_find(&bench.manager, 0, &found));
	assert_false(pb_residency_find(&bench.manager, BENCH_ALLOCATIONS + 1u, &found));
	assert_int_equal(pb_residency_remove(&bench.manager, A), PB_ERROR_BAD_HANDLE);
	assert_int_equal(pb_residency_page_out(&bench.manager, A, true), PB_ERROR_BAD_HANDLE);
	residency_bench_add(&bench, A, 0x1000, "1");
	residency_bench_stop(&bench);
}

/* A paging buffer with room for one packet: the same, in more submissions. */
static void small_paging_buffers_take_more_submissions(void **state)
{
	struct residency_bench bench;

	(void)state;
	residency_bench_start(&bench);
	bench.setup.buffer.bytes = PB_PAGING_BYTES_MIN;
	assert_int_equal(pb_residency_start(&bench.manager, &bench.setup), PB_ERROR_OK);
	residency_bench_add(&bench, A, 0x4000, "1");
	residency_bench_add(&bench, B, 0x2000, "1");
	residency_bench_add(&bench, C, 0x2000, "3");
	assert_int_equal(residency_bench_submit(&bench, "A"), PB_ERROR_OK);
	assert_int_equal(residency_bench_submit(&bench, "bc"), PB_ERROR_OK);
	residency_bench_expect(&bench, "P(a>1.0) W0(0-32 0+1 f7 A1.0) P(1.0>a x1.0+4) P(b>1.0) P(c=3.0+1) "
				       "P(c_4096=3.1+1) W0(0-32 0+2 f7 b1.0 c3.0) ");
	residency_bench_stop(&bench);
}

UNIT_SUITE(test_residency_place)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resident_allocations_are_not_paged_again),
		cmocka_unit_test(paging_moves_each_word_once),
		cmocka_unit_test(the_least_recently_used_goes_first),
		cmocka_unit_test(an_idle_allocation_goes_before_those_in_flight),
		cmocka_unit_test(the_oldest_in_flight_is_waited_for),
		cmocka_unit_test(test_preferences),
		cmocka_unit_test(test_apertures),
		cmocka_unit_test(test_alignment),
		cmocka_unit_test(the_host_may_page_out_or_drop),
		cmocka_unit_test(small_paging_buffers_take_more_submissions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
