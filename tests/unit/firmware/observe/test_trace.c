/* SPDX-License-Identifier: MIT */
/* The trace: what the firmware leaves there, at which level, and what a reader makes of it. */
#include <string.h>

#include "hal/shared.h"
#include "patchbay/trace.h"
#include "qemu/mcu/layout.h"
#include "tests/unit/card_queues.h"

#define RECORDS_MAX 8192u
/** Of the ring of the simulated card: the largest power of two that fits. */
#define ENTRIES 8192u

static struct pb_trace_record records[RECORDS_MAX];
static uint32_t count;
static struct pb_trace trace;

static uint32_t event(uint32_t i)
{
	return PB_TRACE_WHAT_EVENT(records[i].what);
}

static void read_all(void)
{
	uint32_t more;

	count = 0;
	do {
		more = pb_trace_read(&trace, &records[count], RECORDS_MAX - count);
		count += more;
	} while (more != 0);
}

/** A card whose trace so far has been read. */
static void start(struct card *card)
{
	card_start(card);
	assert_int_equal(pb_trace_open(&trace, card->link), PB_ERROR_OK);
	read_all();
}

/** What is expected of a record; its clock is not. */
struct expected {
	uint32_t event, object, first, second;
};

static void expect(const char *row, const struct expected *expected, uint32_t expected_count)
{
	card_equal(row, count, expected_count);
	for (uint32_t i = 0; i < count; i++) {
		card_equal(row, records[i].what, expected[i].object << 16 | expected[i].event);
		card_equal(row, records[i].arguments[0], expected[i].first);
		card_equal(row, records[i].arguments[1], expected[i].second);
	}
}

/** State and event of a node whose engine has answered: 2, as enum pb_core_node_event numbers them. */
#define ANSWERED PB_NODE_STATE_RUNNING, 2

static void a_boot_leaves_its_stages(void **state)
{
	/* Channel 0 is the simulation's own. */
	static const struct expected expected[] = {
		{PB_TRACE_BOOT, 0xffff, 0, 1}, {PB_TRACE_CLOCK, 0xffff, 0, 0}, {PB_TRACE_BOOT, 0xffff, 1, 1},
		{PB_TRACE_NODE, 0, ANSWERED},  {PB_TRACE_NODE, 1, ANSWERED},   {PB_TRACE_NODE, 2, ANSWERED},
		{PB_TRACE_NODE, 3, ANSWERED},  {PB_TRACE_BOOT, 0xffff, 2, 1},  {PB_TRACE_BOOT, 0xffff, 3, 1},
		{PB_TRACE_BOOT, 0xffff, 4, 1},
	};
	struct card card;
	uint32_t first = 0;

	(void)state;
	card_attach(&card);
	assert_int_equal(pb_trace_open(&trace, card.link), PB_ERROR_OK);
	read_all();
	while (first < count && event(first) == 0)
		first++; /* never written */
	assert_int_equal(trace.lost, 0);
	memmove(records, &records[first], (count - first) * sizeof(records[0]));
	assert_int_equal(event(10), PB_TRACE_CHANNEL);
	count = 10;
	expect("boot", expected, 10);
	card_stop(&card);
}

static void a_submission_leaves_its_way(void **state)
{
	static const struct expected expected[] = {
		{PB_TRACE_PATCH, 1, 0x1234, 1},
		{PB_TRACE_PATCHED, 1, 0x1234, PB_ERROR_OK},
		{PB_TRACE_FEED, 1, 0x1234, 0},
		{PB_TRACE_COMPLETE, 1, 0x1234, PB_TRACE_DONE(1, PB_ERROR_OK)},
	};
	struct pb_descriptor descriptor;
	struct card card;

	(void)state;
	start(&card);
	descriptor = card_mark(&card, 3, 0x1234);
	card_submit(&card, 1, &descriptor);
	(void)card_wait(&card, 1, 1);
	read_all();
	expect("a mark", expected, 4);
	for (uint32_t i = 1; i < count; i++)
		assert_true(records[i].clock - records[i - 1].clock < 1000000u);
	card_stop(&card);
}

/* Behind PATCH and PATCHED of its admission, and once more when it is admitted again: timelines count on that. */
static void a_kind_is_told_at_each_admission_before_the_feed(void **state)
{
	static const struct expected patched[] = {
		{PB_TRACE_PATCH, 0, 7, 1},
		{PB_TRACE_PATCHED, 0, 7, PB_ERROR_OK},
		{PB_TRACE_KIND, 0, 7, PB_FLAG_PRESENT},
		{PB_TRACE_FEED, 0, 7, 0},
		{PB_TRACE_COMPLETE, 0, 7, PB_TRACE_DONE(0, PB_ERROR_OK)},
	};
	static const uint32_t recalled[8] = {PB_TRACE_KIND, PB_TRACE_FEED, PB_TRACE_KIND, PB_TRACE_FEED,
					     PB_TRACE_NODE, PB_TRACE_NODE, PB_TRACE_KIND, PB_TRACE_FEED};
	uint32_t way[8], steps = 0;
	struct pb_descriptor descriptor;
	struct card card;

	(void)state;
	start(&card);
	descriptor = card_mark(&card, 0, 7);
	descriptor.flags |= PB_FLAG_PRESENT;
	card_submit(&card, 0, &descriptor);
	(void)card_wait(&card, 0, 1);
	read_all();
	expect("a present", patched, sizeof(patched) / sizeof(patched[0]));
	descriptor = card_busy(&card, 1, 20000);
	descriptor.flags |= PB_FLAG_PRESENT;
	/* The second one of two waits in the engine's ring, from where it is recalled. */
	for (descriptor.fence_id = 8; descriptor.fence_id < 10u; descriptor.fence_id++)
		card_submit(&card, 0, &descriptor);
	card_run(&card, 2000);
	assert_int_equal(pb_queue_suspend(&card.queues[0], PB_STOP_RECALL), PB_ERROR_OK);
	assert_int_equal(pb_queue_resume(&card.queues[0]), PB_ERROR_OK);
	(void)card_wait(&card, 0, 3);
	read_all();
	for (uint32_t i = 0; i < count; i++) {
		if (event(i) == PB_TRACE_KIND || event(i) == PB_TRACE_NODE || event(i) == PB_TRACE_FEED)
			way[steps++ % 8u] = event(i);
	}
	assert_int_equal(steps, 8);
	assert_memory_equal(way, recalled, sizeof(recalled));
	card_stop(&card);
}

static void a_refused_one_says_why(void **state)
{
	static const struct expected expected[] = {
		{PB_TRACE_PATCH, 0, 7, 1},
		{PB_TRACE_REFUSE, 0, 7, PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT},
		{PB_TRACE_PATCHED, 0, 7, PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT},
		{PB_TRACE_FEED, 0, 7, 0},
		{PB_TRACE_COMPLETE, 0, 7, PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT},
	};
	struct pb_descriptor descriptor;
	struct card card;

	(void)state;
	start(&card);
	descriptor = card_mark(&card, 0, 7);
	card_allocation(&card, 0, 0xdead0000u, 4096, CARD_SEGMENT(1) | PB_ALLOCATION_WRITE);
	card_submit(&card, 0, &descriptor);
	(void)card_wait(&card, 0, 1);
	read_all();
	expect("a bad allocation", expected, sizeof(expected) / sizeof(expected[0]));
	card_stop(&card);
}

static void levels_say_how_much(void **state)
{
	static const struct {
		const char *row;
		uint32_t levels;
		uint32_t events[10]; /* of a PING and of a submission without lists */
	} rows[] = {
		{"nothing", PB_TRACE_LEVELS_NONE, {0}},
		{"the default",
		 PB_TRACE_LEVELS_DEFAULT,
		 /* The card has two queues. */
		 {PB_TRACE_LEVELS, PB_TRACE_CLOCK, PB_TRACE_HANDLE, PB_TRACE_HANDLE, PB_TRACE_TIME,
		  PB_TRACE_COMMAND, PB_TRACE_COMMAND, PB_TRACE_FEED, PB_TRACE_COMPLETE}},
		{"packets only", 0x10, {PB_TRACE_FEED, PB_TRACE_COMPLETE}},
		{"packets, each step", 0x20, {PB_TRACE_SUBMIT, PB_TRACE_FEED, PB_TRACE_COMPLETE}},
		{"commands only", 0x10000, {PB_TRACE_COMMAND, PB_TRACE_COMMAND}},
	};
	struct pb_channel admin;
	struct card card;

	(void)state;
	start(&card);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	for (uint32_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		const struct pb_descriptor descriptor = card_nothing(&card, 1);
		uint32_t seen = 0;

		assert_int_equal(pb_trace_set(&admin, PB_TRACE_LEVELS_NONE, 0), PB_ERROR_OK);
		read_all();
		assert_int_equal(pb_trace_set(&admin, rows[r].levels, 0x123456789), PB_ERROR_OK);
		assert_int_equal(card_command(&card.channel, PB_COMMAND_PING, 0, 0, 0, 0, 0), PB_ERROR_OK);
		card_submit(&card, 0, &descriptor);
		(void)card_wait(&card, 0, r + 1u);
		read_all();
		for (uint32_t i = 0; i < count; i++) {
			card_equal(rows[r].row, event(i), rows[r].events[seen]);
			seen++;
			if (event(i) != PB_TRACE_TIME)
				continue;
			assert_int_equal(records[i].arguments[0], 0x23456789);
			assert_int_equal(records[i].arguments[1], 1);
		}
		card_equal(rows[r].row, rows[r].events[seen], 0);
	}
	card_leave(&admin);
	card_stop(&card);
}

static void who_may_set_levels(void **state)
{
	static const uint32_t bad[] = {4, 0x40, 0x400000, 0x1000000, 0xffffffff};
	struct pb_channel admin;
	struct card card;

	(void)state;
	start(&card);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(pb_trace_set(&admin, bad[i], 0), PB_ERROR_BAD_ARGUMENT);
	assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_GRANT, 1, 0, 1, 2, 0), PB_ERROR_OK);
	assert_int_equal(pb_trace_set(&card.channel, 0, 0), PB_ERROR_NO_PERMISSION);
	assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_GRANT, 1, PB_PRIVILEGE_QUERY, 1, 2, 0),
			 PB_ERROR_OK);
	assert_int_equal(pb_trace_set(&card.channel, PB_TRACE_LEVELS_ALL, 0), PB_ERROR_OK);
	card_leave(&admin);
	card_stop(&card);
}

static void what_is_written_over_is_counted(void **state)
{
	struct card card;
	uint32_t pings;

	(void)state;
	start(&card);
	/* One COMMAND each. */
	for (pings = 0; pings < ENTRIES + 100u; pings++)
		assert_int_equal(card_command(&card.channel, PB_COMMAND_PING, 0, 0, 0, 0, 0), PB_ERROR_OK);
	read_all();
	assert_int_equal(count, ENTRIES - PB_TRACE_MARGIN);
	assert_int_equal(trace.lost, pings - count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(event(i), PB_TRACE_COMMAND);
	card_stop(&card);
}

static void the_schema_tells_all_events(void **state)
{
	static char text[PB_TRACE_SCHEMA_BYTES_MAX + 1u];
	struct card card;

	(void)state;
	start(&card);
	pb_trace_schema(&trace, text);
	assert_non_null(strstr(text, "20 FEED PACKET 1 fence:x context:u\n"));
	assert_non_null(strstr(text, "1 BOOT LIFE 1 stage:s incarnation:u\n"));
	assert_int_equal(trace.schema_bytes, strlen(text));
	assert_string_equal(text, PB_TRACE_SCHEMA);
	card_stop(&card);
}

static void a_ring_of_nonsense_is_refused(void **state)
{
#define RING(field) offsetof(struct pb_trace_ring, field)
	static const struct {
		const char *row;
		uint32_t offset, value;
		enum pb_error error;
	} rows[] = {
		{"no magic", RING(magic), 0, PB_ERROR_UNSUPPORTED},
		{"a later version", RING(version), 3, PB_ERROR_UNSUPPORTED},
		{"no version", RING(version), 0, PB_ERROR_UNSUPPORTED},
		{"a slow clock", RING(clock_hertz), 999999, PB_ERROR_PROTOCOL},
		{"longer records", RING(record_bytes), 32, PB_ERROR_UNSUPPORTED},
		{"no entries", RING(entries), 0, PB_ERROR_PROTOCOL},
		{"as few as may be written over", RING(entries), 2, PB_ERROR_PROTOCOL},
		{"no power of two", RING(entries), 5, PB_ERROR_PROTOCOL},
		{"too many", RING(entries), 16384, PB_ERROR_PROTOCOL},
		{"half of all", RING(entries), 0x80000000u, PB_ERROR_PROTOCOL},
		{"records elsewhere", RING(records_offset), 0x1000, PB_ERROR_PROTOCOL},
		{"schema behind the end", RING(schema_offset), PB_CARD_MEMORY_BYTES, PB_ERROR_PROTOCOL},
		{"schema askew", RING(schema_offset), 0x1001, PB_ERROR_PROTOCOL},
		{"schema too long", RING(schema_bytes), PB_TRACE_SCHEMA_BYTES_MAX + 1u, PB_ERROR_PROTOCOL},
	};
	struct pb_boot_block *boot;
	struct card card;

	(void)state;
	start(&card);
	for (uint32_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		uint32_t *word =
			(uint32_t *)(void *)(card.link->memory + PB_CARD_TRACE_OFFSET + rows[r].offset);
		const uint32_t old = *word;

		*word = rows[r].value;
		card_equal(rows[r].row, pb_trace_open(&trace, card.link), rows[r].error);
		*word = old;
	}
	boot = (struct pb_boot_block *)(void *)(card.link->memory + PB_BOOT_OFFSET);
	boot->trace_offset = PB_CARD_MEMORY_BYTES - 64u;
	assert_int_equal(pb_trace_open(&trace, card.link), PB_ERROR_PROTOCOL);
	boot->trace_offset = 0;
	assert_int_equal(pb_trace_open(&trace, card.link), PB_ERROR_UNSUPPORTED);
	card_stop(&card);
}

UNIT_SUITE(test_trace)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_boot_leaves_its_stages),
		cmocka_unit_test(a_submission_leaves_its_way),
		cmocka_unit_test(a_kind_is_told_at_each_admission_before_the_feed),
		cmocka_unit_test(a_refused_one_says_why),
		cmocka_unit_test(levels_say_how_much),
		cmocka_unit_test(who_may_set_levels),
		cmocka_unit_test(what_is_written_over_is_counted),
		cmocka_unit_test(the_schema_tells_all_events),
		cmocka_unit_test(a_ring_of_nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
