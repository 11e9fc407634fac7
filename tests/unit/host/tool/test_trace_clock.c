/* SPDX-License-Identifier: MIT */
/* Times of records: from counters of any rate that go round and begin anew, and on the host's clock. */
#define _GNU_SOURCE
#include <string.h>

#include "host/tool/trace_anchor.h"
#include "tests/unit/unit.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define MHZ          1000000u

/* ---- the counter ---- */

static void a_counter_of_any_rate_becomes_microseconds(void **state)
{
	static const struct {
		uint32_t hertz, from, to;
		uint64_t time;
	} cases[] = {
		{0, 5, 6, 1},
		{MHZ, 0, 1, 1},
		{25 * MHZ, 0, 24, 0},
		{25 * MHZ, 0, 25, 1},
		{25 * MHZ, 0xfffffff0u, 9, 1},
		{25 * MHZ, 0, UINT32_MAX, 171798691}, /* all but one count of a round */
		{10 * MHZ, 7, 6, 429496729},
		{32768000, 0, 32768, 1000},
		{100 * MHZ, 1, 0, 42949672},
		/* The card's clock steps back: that is no time. */
		{0, 1000, 999, 0},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		struct pb_trace_clock clock = {.hertz = cases[i].hertz};

		print_message("%u Hz from %u to %u\n", cases[i].hertz, cases[i].from, cases[i].to);
		assert_int_equal(pb_trace_clock_step(&clock, cases[i].from), 0);
		assert_int_equal(pb_trace_clock_step(&clock, cases[i].to), cases[i].time);
	}
}

static void no_rounding_adds_up(void **state)
{
	struct pb_trace_clock clock = {.hertz = 3 * MHZ};
	uint64_t time = 0;

	(void)state;
	for (uint32_t i = 0; i <= 3000000u; i++)
		time = pb_trace_clock_step(&clock, i);
	assert_int_equal(time, 1000000);
}

static void a_value_beside_the_last_one_has_a_time(void **state)
{
	struct pb_trace_clock clock = {.hertz = 25 * MHZ};

	(void)state;
	(void)pb_trace_clock_step(&clock, 0xffffff00u);
	(void)pb_trace_clock_step(&clock, 25000u - 0x100u); /* 1,000 us */
	assert_int_equal(pb_trace_clock_at(&clock, 25000u - 0x100u - 2500u), 900);
	assert_int_equal(pb_trace_clock_at(&clock, 25000u - 0x100u + 2500u), 1100);
	assert_int_equal(pb_trace_clock_at(&clock, 25000u - 0x100u - 50000u), 0);
	assert_int_equal(pb_trace_clock_step(&clock, 25000u - 0x100u), 1000);
}

/* ---- files ---- */

#define NONE PB_TRACE_NONE

/** A record, or with event 0 a loss; and the time that it is to have. */
struct row {
	uint32_t clock, event, first;
	uint64_t time;
};

static void write_rows(FILE *file, const struct row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct pb_trace_record record = {.clock = rows[i].clock,
						       .what = PB_TRACE_WHAT(rows[i].event, NONE),
						       .arguments = {rows[i].first, 1}};

		if (rows[i].event == 0)
			assert_true(pb_trace_file_lost(file, 1));
		else
			assert_true(pb_trace_file_records(file, &record, 1));
	}
}

static void check_rows(const char *name, uint32_t hertz, const struct row *rows, uint32_t count)
{
	struct pb_trace_data data;
	FILE *file = tmpfile();
	uint32_t at = 0;

	print_message("%s\n", name);
	assert_non_null(file);
	assert_true(pb_trace_file_begin(file, PB_TRACE_SCHEMA, hertz));
	write_rows(file, rows, count);
	rewind(file);
	assert_null(pb_trace_file_read(file, &data));
	fclose(file);
	assert_int_equal(data.hertz, hertz);
	for (uint32_t i = 0; i < count; i++) {
		if (rows[i].event == 0)
			continue;
		assert_true(at < data.count);
		assert_int_equal(data.moments[at++].time, rows[i].time);
	}
	assert_int_equal(at, data.count);
	pb_trace_data_free(&data);
}

/* A round of a counter at 25 MHz is 171,798,691.84 us. */
static void clock_records_count_the_rounds(void **state)
{
	static const struct row idle[] = {
		{1000, PB_TRACE_CLOCK, 500, 0},
		{1025, PB_TRACE_TICK, 0, 1},
		/* 400 s later, two rounds: 400,000,000 us are 10,000,000,000 counts, 1,410,065,408 modulo 2^32. */
		{1410066408u, PB_TRACE_CLOCK, 400000500u, 400000000u},
		{1410066433u, PB_TRACE_TICK, 0, 400000001u},
	};
	/* The records between the loss and CLOCK are behind the gap. */
	static const struct row lost[] = {
		{0, PB_TRACE_CLOCK, 0xffffff00u, 0}, /* the card's clock goes round, too */
		{25, PB_TRACE_TICK, 0, 1},
		{0, 0, 0, 0},
		{1410065408u - 50u, PB_TRACE_TICK, 0, 399999998u},
		{1410065408u - 25u, PB_TRACE_TICK, 0, 399999999u},
		{1410065408u, PB_TRACE_CLOCK, 0xffffff00u + 400000000u, 400000000u},
		{1410065433u, PB_TRACE_TICK, 0, 400000001u},
	};
	/* The card's clock stood still for a second, and was ahead by one: neither is a round. */
	static const struct row apart[] = {
		{0, PB_TRACE_CLOCK, 0, 0},
		{250000000u, PB_TRACE_CLOCK, 9000000u, 10000000u},
		{500000000u, PB_TRACE_CLOCK, 20000000u, 20000000u},
	};
	/* A boot is a second after the last record, whose CLOCK was 3 s before that one: the clock is the card's. */
	static const struct row boot[] = {
		{4000000000u, PB_TRACE_CLOCK, 7000000u, 0}, {4075000000u, PB_TRACE_TICK, 0, 3000000u},
		{77, PB_TRACE_BOOT, 0, 4000000u},           {102, PB_TRACE_CLOCK, 11000001u, 4000001u},
		{127, PB_TRACE_BOOT, 1, 4000002u},
	};
	/* The card's clock is not ahead of the last record: no time goes back. */
	static const struct row early[] = {
		{4000000000u, PB_TRACE_CLOCK, 7000000u, 0},
		{4075000000u, PB_TRACE_TICK, 0, 3000000u},
		{77, PB_TRACE_BOOT, 0, 3000000u},
		{102, PB_TRACE_CLOCK, 9000000u, 3000001u},
	};
	/* On the card's own clock, neither a boot nor CLOCK changes anything. */
	static const struct row card[] = {
		{100, PB_TRACE_CLOCK, 100, 0},
		{3000000, PB_TRACE_BOOT, 0, 2999900},
		{3000001, PB_TRACE_CLOCK, 3000001, 2999901},
	};

	(void)state;
	check_rows("idle for two rounds", 25 * MHZ, idle, COUNT(idle));
	check_rows("lost for two rounds", 25 * MHZ, lost, COUNT(lost));
	check_rows("clocks apart", 25 * MHZ, apart, COUNT(apart));
	check_rows("a boot", 25 * MHZ, boot, COUNT(boot));
	check_rows("a boot, and a late card", 25 * MHZ, early, COUNT(early));
	check_rows("the card's clock", 0, card, COUNT(card));
}

/* What earlier versions wrote: the card's clock, and anchors of three words. */
static void files_of_the_first_form_are_read(void **state)
{
	static const uint8_t bytes[] =
		{
			'P', 'B', 'T', 'R', 'A', 'C', 'E', '1',                      /* */
			1,   0,   0,   0,   24,  0,   0,   0,                        /* the schema */
			'1', ' ', 'B', 'O', 'O', 'T', ' ', 'L', 'I', 'F', 'E', ' ',  /* */
			'1', ' ', 's', 't', 'a', 'g', 'e', ':', 's', ' ', '-', '\n', /* */
			2,   0,   0,   0,   32,  0,   0,   0,                        /* two records */
			100, 0,   0,   0,   1,   0,   255, 255, 0,   0,   0,   0,    1, 0,
			0,   0,   200, 0,   0,   0,   1,   0,   255, 255, 0,   0,    0, 0,
			2,   0,   0,   0,   4,   0,   0,   0,   12,  0,   0,   0, /* an anchor */
			9,   0,   0,   0,   1,   0,   0,   0,   210, 0,   0,   0,
		};
	struct pb_trace_data data;
	FILE *file = tmpfile();
	int64_t time;

	(void)state;
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, sizeof(bytes), 1, file), 1);
	rewind(file);
	assert_null(pb_trace_file_read(file, &data));
	fclose(file);
	assert_int_equal(data.count, 2);
	assert_int_equal(data.moments[1].time, 100);
	assert_int_equal(data.anchor_count, 1);
	assert_int_equal(data.anchors[0].nanoseconds, 0x100000009u);
	assert_int_equal(data.anchors[0].time, 110);
	assert_false(pb_trace_time_of(&data, 0, &time));
	pb_trace_data_free(&data);
}

/* ---- the host's clock ---- */

/** Anchors of a trace, and what they tell. */
static const struct {
	const char *name;
	struct pb_trace_anchor anchors[3];
	uint32_t count;
	bool drifts;
	int64_t drift;   /* parts of 10^9 */
	uint64_t at[3];  /* the host's clock */
	int64_t time[3]; /* of the trace */
} host_cases[] = {
	{"none", {{0}}, 0, false, 0, {0}, {0}},
	{"one",
	 {{.host_us = 5000000, .time = 100}},
	 1,
	 false,
	 0,
	 {4999900, 5000000, 6000000},
	 {0, 100, 1000100}},
	{"before the first record",
	 {{.host_us = 5000000, .time = 100}},
	 1,
	 false,
	 0,
	 {4999000, 4999899, 4999901},
	 {-900, -1, 1}},
	{"in step",
	 {{.host_us = 5000000, .time = 100}, {.host_us = 7000000, .time = 2000100}},
	 2,
	 true,
	 0,
	 {5000000, 6000000, 9000000},
	 {100, 1000100, 4000100}},
	/* In 10 s of the card the host counts 1 ms more: 100 parts in a million. */
	{"the host is fast",
	 {{.host_us = 5000000, .time = 0}, {.nanoseconds = 1}, {.host_us = 15001000, .time = 10000000}},
	 3,
	 true,
	 100000,
	 {5000000, 10000500, 15001000},
	 {0, 5000000, 10000000}},
	{"the host is slow",
	 {{.host_us = 5000000, .time = 0}, {.host_us = 14999000, .time = 10000000}},
	 2,
	 true,
	 -100000,
	 {5000000, 9999500, 14999000},
	 {0, 5000000, 10000000}},
	/* 99 ms apart: what is between them is error, not drift. */
	{"too close",
	 {{.host_us = 5000000, .time = 0}, {.host_us = 5099000, .time = 99000}},
	 2,
	 false,
	 0,
	 {5000000, 5099000, 6000000},
	 {0, 99000, 1000000}},
	/* The MCU was stopped for 2 ms between the first two. */
	{"a stop",
	 {{.host_us = 5000000, .time = 0},
	  {.host_us = 5252000, .time = 250000},
	  {.host_us = 5502000, .time = 500000}},
	 3,
	 true,
	 4000000,
	 {5000000, 5252000, 5402000},
	 {0, 250000, 400000}},
	/* The second was seen 3 ms late. */
	{"a late one",
	 {{.host_us = 5000000, .time = 0},
	  {.host_us = 5253000, .time = 250000},
	  {.host_us = 5500000, .time = 500000}},
	 3,
	 true,
	 0,
	 {5100000, 5250000, 5400000},
	 {100000, 250000, 400000}},
	{"the first is late",
	 {{.host_us = 5003000, .time = 0},
	  {.host_us = 5250000, .time = 250000},
	  {.host_us = 5500000, .time = 500000}},
	 3,
	 true,
	 0,
	 {5000000, 5100000, 5400000},
	 {0, 100000, 400000}},
};

static void the_host_s_clock_is_read_between_two_anchors(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(host_cases); i++) {
		struct pb_trace_anchor anchors[3];
		const struct pb_trace_data data = {.anchors = anchors, .anchor_count = host_cases[i].count};
		int64_t drift;

		print_message("%s\n", host_cases[i].name);
		memcpy(anchors, host_cases[i].anchors, sizeof(anchors));
		assert_int_equal(pb_trace_drift(&data, &drift), host_cases[i].drifts);
		assert_int_equal(drift, host_cases[i].drift);
		for (uint32_t k = 0; k < 3u; k++) {
			int64_t time = 0;

			assert_int_equal(pb_trace_time_of(&data, host_cases[i].at[k], &time),
					 host_cases[i].count != 0);
			assert_int_equal(time, host_cases[i].time[k]);
		}
	}
}

UNIT_SUITE(test_trace_clock)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_counter_of_any_rate_becomes_microseconds),
		cmocka_unit_test(no_rounding_adds_up),
		cmocka_unit_test(a_value_beside_the_last_one_has_a_time),
		cmocka_unit_test(clock_records_count_the_rounds),
		cmocka_unit_test(files_of_the_first_form_are_read),
		cmocka_unit_test(the_host_s_clock_is_read_between_two_anchors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
