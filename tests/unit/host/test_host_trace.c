/* SPDX-License-Identifier: MIT */
/* The records' clock beside the clock of the host's link, on a card whose ticks and delays are scripted. */
#include <string.h>

#include "patchbay/trace.h"
#include "tests/unit/unit.h"

#define TICK_US 5000u
#define NEVER   UINT64_MAX

/** A card and its host. */
static struct world {
	struct pb_trace_ring ring; /* all of card memory */
	uint64_t now;              /* the host's clock */
	uint64_t next;             /* time of the next tick */
	uint64_t stops, leaves;    /* when the firmware stops, when the card is gone */
	uint32_t hertz;
	uint32_t delays[8]; /* of the ticks: from when the counter was read until it was published */
	uint32_t ticks;     /* so far */
	uint32_t slow;      /* what each reading of the host's clock takes */
	uint32_t refresh;   /* what a refresh takes; 0: the memory is the card's own */
} world;

/** The counter of the MCU: 1,000 us ahead of the host, and near its end. */
static uint32_t counter_at(uint64_t host_us)
{
	return (uint32_t)((host_us + 1000u) * (world.hertz / 1000000u)) + 0xffff0000u;
}

static void go_on(uint64_t microseconds)
{
	world.now += microseconds;
	for (; world.next <= world.now && world.next < world.stops; world.next += TICK_US)
		world.ring.clock = counter_at(world.next - world.delays[world.ticks++ % 8u]);
}

static uint64_t now(struct pb_link *link)
{
	(void)link;
	go_on(world.slow);
	return world.now;
}

static enum pb_error wait_for_card(struct pb_link *link, uint64_t timeout_us)
{
	(void)link;
	go_on(timeout_us);
	return world.now < world.leaves ? PB_ERROR_TIMEOUT : PB_ERROR_NO_CARD;
}

static enum pb_error refresh(struct pb_link *link)
{
	(void)link;
	go_on(world.refresh);
	return PB_ERROR_OK;
}

static enum pb_error measure(uint32_t version, uint32_t count, struct pb_trace_stamp *stamp)
{
	static const struct pb_link_ops mapped = {.now = now, .wait = wait_for_card},
					copied = {.now = now, .wait = wait_for_card, .refresh = refresh};
	struct pb_link link = {.ops = world.refresh != 0 ? &copied : &mapped,
			       .memory = (uint8_t *)(void *)&world.ring,
			       .memory_bytes = sizeof(world.ring)};
	const struct pb_trace trace = {.link = &link,
				       .records_offset = sizeof(world.ring),
				       .version = version,
				       .hertz = world.hertz == 1000000u ? 0 : world.hertz};

	return pb_trace_stamp(&trace, &link, count, stamp);
}

static void the_tick_that_was_seen_first_is_taken(void **state)
{
	static const struct {
		const char *name;
		uint32_t hertz, slow, refresh;
		uint32_t delays[8];
		uint64_t late; /* the host saw it at most so much late, in microseconds */
	} rows[] = {
		{"in time", 25000000, 1, 0, {0}, 5},
		{"the card's clock", 1000000, 1, 0, {0}, 5},
		/* The first tick tells when the others come. */
		{"one of three in time", 25000000, 1, 0, {0, 700, 0, 900}, 5},
		{"the last in time", 10000000, 1, 0, {900, 700, 900, 0}, 5},
		{"none in time", 10000000, 1, 0, {0, 700, 650, 900}, 656},
		{"a slow host", 25000000, 40, 0, {0}, 170},
		{"a simulated card", 25000000, 0, 0, {0}, 2},
		{"a probe", 25000000, 1, 300, {0}, 620},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pb_trace_stamp stamp;
		uint64_t exact;

		print_message("%s\n", rows[i].name);
		world = (struct world){.now = 77777,
				       .next = 79000,
				       .stops = NEVER,
				       .leaves = NEVER,
				       .hertz = rows[i].hertz,
				       .slow = rows[i].slow,
				       .refresh = rows[i].refresh};
		memcpy(world.delays, rows[i].delays, sizeof(world.delays));
		assert_int_equal(measure(PB_TRACE_VERSION, 3, &stamp), PB_ERROR_OK);
		/* When the counter had this value. */
		exact = (uint32_t)(stamp.clock - 0xffff0000u) / (world.hertz / 1000000u) - 1000u;
		assert_true(stamp.host_us >= exact && stamp.host_us - exact <= rows[i].late);
		if (rows[i].delays[1] == 0)
			assert_true(stamp.host_us - stamp.error_us <= exact);
		assert_int_equal(world.ticks, 4);
	}
}

static void what_cannot_be_measured_is_reported(void **state)
{
	static const struct {
		const char *name;
		uint64_t stops, leaves;
		uint32_t version;
		enum pb_error error;
		uint64_t until; /* the host's clock afterwards, at most */
	} rows[] = {
		{"no such word", NEVER, NEVER, 1, PB_ERROR_UNSUPPORTED, 77777},
		{"dead", 0, NEVER, 2, PB_ERROR_TIMEOUT, 77777 + 21000},
		{"dies meanwhile", 88000, NEVER, 2, PB_ERROR_TIMEOUT, 84000 + 21000},
		{"leaves", NEVER, 85000, 2, PB_ERROR_NO_CARD, 86000},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pb_trace_stamp stamp;

		print_message("%s\n", rows[i].name);
		world = (struct world){.now = 77777,
				       .next = 79000,
				       .stops = rows[i].stops,
				       .leaves = rows[i].leaves,
				       .hertz = 25000000,
				       .slow = 1};
		assert_int_equal(measure(rows[i].version, 3, &stamp), rows[i].error);
		assert_true(world.now <= rows[i].until);
	}
}

UNIT_SUITE(test_host_trace)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tick_that_was_seen_first_is_taken),
		cmocka_unit_test(what_cannot_be_measured_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
