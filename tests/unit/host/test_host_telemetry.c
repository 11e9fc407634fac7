/* SPDX-License-Identifier: MIT */
/* The counters as the host reads them: whole, however their writer is interrupted, or refused. */
#include <stdlib.h>
#include <string.h>

#include "patchbay/telemetry.h"
#include "tests/unit/stepped.h"
#include "tests/unit/telemetry_sample.h"
#include "tests/unit/unit.h"

static uint8_t *memory;
static struct pb_telemetry_snapshot got;
static struct pb_link card;

/* ---- what happens meanwhile ---- */

static uint32_t reads;
static void (*meanwhile)(void);

uint32_t pb_stepped_read32(const uint32_t *address)
{
	reads++;
	if (meanwhile != NULL)
		meanwhile();
	return *address;
}

void pb_stepped_write32(uint32_t *address, uint32_t value)
{
	*address = value;
}

uint8_t pb_stepped_read8(const uint8_t *address)
{
	return *address;
}

void pb_stepped_write8(uint8_t *address, uint8_t value)
{
	*address = value;
}

/* A link whose clock goes on with each wait. */
static uint64_t clock_us;
static uint32_t waits, gone_after;

static uint64_t now(struct pb_link *link)
{
	(void)link;
	return clock_us;
}

static enum pb_error wait_for_card(struct pb_link *link, uint64_t timeout_us)
{
	(void)link;
	clock_us += timeout_us;
	return ++waits > gone_after ? PB_ERROR_NO_CARD : PB_ERROR_TIMEOUT;
}

static const struct pb_link_ops ops = {.now = now, .wait = wait_for_card};

static int start(void **state)
{
	(void)state;
	memory = malloc(SAMPLE_BYTES);
	assert_non_null(memory);
	sample_write(memory);
	card = (struct pb_link){.ops = &ops, .memory = memory, .memory_bytes = SAMPLE_BYTES};
	meanwhile = NULL;
	clock_us = UINT64_MAX / 2u;
	reads = waits = 0;
	gone_after = UINT32_MAX;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	free(memory);
	return 0;
}

static uint32_t *word(uint32_t offset)
{
	return (void *)(memory + offset);
}

/* ---- what it reads ---- */

static void check_values(uint32_t node_values, uint32_t card_values)
{
	assert_int_equal(got.node_values, node_values);
	assert_int_equal(got.card_values, card_values);
	for (uint32_t tag = 0; tag < PB_CARD_TAG_COUNT; tag++)
		assert_int_equal(got.values[tag], tag < card_values ? sample_card_value(tag) : 0);
	for (uint32_t n = 0; n < PB_TELEMETRY_NODES; n++)
		for (uint32_t tag = 0; tag < PB_NODE_TAG_COUNT; tag++)
			assert_int_equal(got.nodes[n].values[tag], n < SAMPLE_NODES && tag < node_values
									   ? sample_node_value(n, tag)
									   : 0);
}

static void reads_all_of_it(void **state)
{
	(void)state;
	assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_OK);
	assert_int_equal(got.node_count, SAMPLE_NODES);
	check_values(15, 3);
	assert_int_equal(got.channel_count, SAMPLE_CHANNELS);
	for (uint32_t r = 0; r < PB_RESOURCE_COUNT; r++) {
		assert_int_equal(got.channels[2].limit[r], 6096u + r);
		assert_int_equal(r < PB_RESOURCES_USED ? got.channels[2].used[r] : 200u + r, 200u + r);
	}
	for (uint32_t n = 0; n < SAMPLE_NODES; n++)
		for (uint32_t l = 0; l < PB_LATENCY_COUNT; l++)
			for (uint32_t b = 0; b < PB_LATENCY_BUCKETS; b++)
				assert_int_equal(got.nodes[n].latencies[l][b], sample_latency(n, l, b));
	assert_int_equal(got.clock, 123456789);
	assert_int_equal(got.card.incarnation, SAMPLE_INCARNATION);
	assert_string_equal(got.card.build, "sample \"1\\0\"");
	assert_int_equal(waits, 0);
}

static void reads_saved_memory_and_what_a_dead_one_left(void **state)
{
	(void)state;
	sample_boot(memory)->mcu_state = PB_MCU_DEAD;
	sample_boot(memory)->boot_stage = PB_BOOT_STAGE_FATAL;
	assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_OK);
	check_values(15, 3);
	card.ops = NULL;
	assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_OK);
	check_values(15, 3);
}

static void other_firmware_has_fewer_or_more(void **state)
{
	static const struct {
		uint32_t node_values, card_values, expected_node, expected_card;
	} rows[] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {9, 2, 9, 2}, {15, 3, 15, 3}, {16, 4, 15, 3}, {24, 5, 15, 3}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sample_card(memory)->node_values = rows[i].node_values;
		sample_card(memory)->card_values = rows[i].card_values;
		assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_OK);
		check_values(rows[i].expected_node, rows[i].expected_card);
	}
}

/* ---- what it refuses ---- */

#define BOOT(field) ((uint32_t)offsetof(struct pb_boot_block, field))
#define HEAD(field) (SAMPLE_TELEMETRY + (uint32_t)offsetof(struct pb_telemetry, field))
#define NODE(n, field)                                                                                       \
	(SAMPLE_TELEMETRY + 64u + 512u * (n) + (uint32_t)offsetof(struct pb_node_telemetry, field))

static void refuses_nonsense(void **state)
{
	static const struct {
		uint32_t offset, value;
		enum pb_error expected;
	} rows[] = {
		{BOOT(magic), 0, PB_ERROR_NO_CARD},
		{BOOT(abi_version), 0x20000, PB_ERROR_BAD_VERSION},
		{BOOT(memory_bytes), SAMPLE_BYTES + 1u, PB_ERROR_PROTOCOL},
		{BOOT(telemetry_offset), 0, PB_ERROR_UNSUPPORTED},
		{BOOT(telemetry_offset), SAMPLE_TELEMETRY + 2u, PB_ERROR_PROTOCOL},
		{BOOT(telemetry_offset), SAMPLE_BYTES - 60u, PB_ERROR_PROTOCOL},
		{BOOT(telemetry_offset), SAMPLE_BYTES - 64u, PB_ERROR_UNSUPPORTED}, /* zeros there */
		{BOOT(telemetry_offset), SAMPLE_BYTES, PB_ERROR_PROTOCOL},
		{BOOT(telemetry_offset), 0xfffffffc, PB_ERROR_PROTOCOL},
		{BOOT(telemetry_offset), 0xffffffff, PB_ERROR_PROTOCOL},
		{HEAD(version), 0, PB_ERROR_UNSUPPORTED},
		{HEAD(version), 2, PB_ERROR_UNSUPPORTED},
		{HEAD(version), 0xffffffff, PB_ERROR_UNSUPPORTED},
		{HEAD(nodes), 0, PB_ERROR_OK},
		{HEAD(nodes), 8, PB_ERROR_OK},
		{HEAD(nodes), 9, PB_ERROR_PROTOCOL},
		{HEAD(nodes), 0x00800000, PB_ERROR_PROTOCOL},
		{HEAD(nodes), 0xffffffff, PB_ERROR_PROTOCOL},
		{HEAD(node_values), 25, PB_ERROR_PROTOCOL},
		{HEAD(node_values), 0xffffffff, PB_ERROR_PROTOCOL},
		{HEAD(card_values), 6, PB_ERROR_PROTOCOL},
		{HEAD(card_values), 0xffffffff, PB_ERROR_PROTOCOL},
		{HEAD(sequence), 13, PB_ERROR_PROTOCOL},
		{HEAD(sequence), 0xffffffff, PB_ERROR_PROTOCOL},
		{HEAD(sequence), 0xfffffffe, PB_ERROR_OK},
		{NODE(0, sequence), 1, PB_ERROR_PROTOCOL},
		{NODE(1, sequence), 0xffffffff, PB_ERROR_PROTOCOL},
		{HEAD(channels), 0, PB_ERROR_OK},
		{HEAD(channels), 16, PB_ERROR_OK},
		{HEAD(channels), 17, PB_ERROR_PROTOCOL},
		{HEAD(channels), 0xffffffff, PB_ERROR_PROTOCOL},
		{NODE(1, reserved), 0xffffffff, PB_ERROR_OK},
	};
	static const struct pb_telemetry_snapshot nothing = {.node_count = 0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("row %zu\n", i);
		sample_write(memory);
		*word(rows[i].offset) = rows[i].value;
		assert_int_equal(pb_telemetry_read(&card, &got), rows[i].expected);
		if (rows[i].expected == PB_ERROR_OK)
			continue;
		assert_memory_equal(got.nodes, nothing.nodes, sizeof(got.nodes));
		assert_memory_equal(got.values, nothing.values, sizeof(got.values));
		assert_int_equal(got.node_count + got.node_values + got.card_values, 0);
	}
}

/* Whatever stands there, nothing outside of the memory is read, and what comes out is in range. */
static void takes_any_garbage(void **state)
{
	uint32_t *words = word(SAMPLE_TELEMETRY);
	uint32_t random = 1, good = 0;

	(void)state;
	card.ops = NULL;
	for (uint32_t i = 0; i < 3000; i++) {
		sample_write(memory);
		for (uint32_t changes = 0; changes < 1u + i % 3u; changes++) {
			random = random * 1664525u + 1013904223u;
			/* Of the head more often than of the values. */
			words[random >> 16u & (i % 2u == 0 ? 0xfu : 0xffu)] = random >> (random >> 27u);
		}
		random = random * 1664525u + 1013904223u;
		sample_boot(memory)->telemetry_offset += i % 5u == 0 ? random >> 14u : 0;
		good += pb_telemetry_read(&card, &got) == PB_ERROR_OK;
		assert_true(got.node_count <= PB_TELEMETRY_NODES && got.node_values <= PB_NODE_TAG_COUNT &&
			    got.card_values <= PB_CARD_TAG_COUNT &&
			    got.channel_count <= PB_TELEMETRY_CHANNELS);
	}
	assert_in_range(good, 500, 2500);
}

static void nodes_must_lie_in_the_memory(void **state)
{
	const uint32_t bytes = 64u + SAMPLE_NODES * 512u + SAMPLE_CHANNELS * 64u;
	uint8_t *end = memory + SAMPLE_BYTES - bytes;

	(void)state;
	memmove(end, memory + SAMPLE_TELEMETRY, bytes);
	sample_boot(memory)->telemetry_offset = SAMPLE_BYTES - bytes;
	assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_OK);
	check_values(15, 3);
	((struct pb_telemetry *)(void *)end)->channels = SAMPLE_CHANNELS + 1u;
	assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_PROTOCOL);
	((struct pb_telemetry *)(void *)end)->channels = 0;
	assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_OK);
	assert_int_equal(got.channel_count, 0);
	((struct pb_telemetry *)(void *)end)->nodes = SAMPLE_NODES + 1u;
	assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_PROTOCOL);
}

/* ---- a writer at work ---- */

static void a_lock_for_ever_ends(void **state)
{
	(void)state;
	sample_node(memory, 1)->sequence = 7;
	assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_PROTOCOL);
	assert_int_equal(waits, 100);
	/* A thousand looks at the lock each time, and all else once. */
	assert_in_range(reads, 100000, 110000);
	card.ops = NULL;
	reads = 0;
	assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_PROTOCOL);
	assert_in_range(reads, 1000, 2000);
}

static void a_card_that_leaves_ends_it_too(void **state)
{
	(void)state;
	sample_card(memory)->sequence = 7;
	gone_after = 4;
	assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_NO_CARD);
	assert_int_equal(waits, 5);
}

static void unlock_late(void)
{
	if (waits == 3)
		sample_card(memory)->sequence = 14;
}

static void a_writer_that_is_slow_is_awaited(void **state)
{
	(void)state;
	sample_card(memory)->sequence = 13;
	meanwhile = unlock_late;
	assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_OK);
	assert_int_equal(waits, 3);
	check_values(15, 3);
}

/* From the read `begins` on all values are written anew, in two parts with reads between them. */
static uint32_t begins, ends;

static void write_half(uint32_t from, uint32_t to)
{
	for (uint32_t tag = from; tag < to; tag++)
		for (uint32_t n = 0; n < SAMPLE_NODES; n++)
			sample_node(memory, n)->values[tag] = (struct pb_telemetry_value){~0u - tag, tag};
}

static void write_meanwhile(void)
{
	if (reads == begins) {
		sample_node(memory, 0)->sequence++;
		sample_node(memory, 1)->sequence++;
		write_half(0, 7);
	}
	if (reads == ends) {
		write_half(7, PB_NODE_TAG_COUNT);
		sample_node(memory, 0)->sequence++;
		sample_node(memory, 1)->sequence++;
	}
}

/** @return whether it has the new values; fails if it has some of both */
static bool is_new(uint32_t n)
{
	const uint64_t *values = got.nodes[n].values;
	const bool fresh = values[0] == UINT32_MAX;

	for (uint32_t tag = 0; tag < PB_NODE_TAG_COUNT; tag++)
		assert_int_equal(values[tag], fresh ? (uint64_t)tag << 32 | (UINT32_MAX - tag)
						    : sample_node_value(n, tag));
	return fresh;
}

static void values_are_of_one_moment(void **state)
{
	static const uint32_t lengths[] = {0, 1, 5, 40, 2000};
	uint32_t all, old = 0, fresh = 0;

	(void)state;
	assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_OK);
	all = reads;
	for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
		for (begins = 1; begins <= all; begins++) {
			sample_write(memory);
			ends = begins + lengths[l];
			reads = 0;
			meanwhile = write_meanwhile;
			assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_OK);
			meanwhile = NULL;
			fresh += is_new(0);
			fresh += is_new(1);
			old += !is_new(0);
		}
	}
	assert_true(old > 100 && fresh > 100);
}

static void reboot_once(void)
{
	if (reads == begins)
		sample_boot(memory)->incarnation++;
}

static void reboot_always(void)
{
	sample_boot(memory)->incarnation++;
}

static void it_is_of_one_boot(void **state)
{
	(void)state;
	meanwhile = reboot_once;
	for (begins = 30; begins < 400; begins += 13) {
		sample_write(memory);
		reads = 0;
		assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_OK);
		assert_int_equal(got.card.incarnation, sample_boot(memory)->incarnation);
		check_values(15, 3);
	}
	assert_true(reads < begins); /* the last of them came too late to matter */
	meanwhile = reboot_always;
	assert_int_equal(pb_telemetry_read(&card, &got), PB_ERROR_PROTOCOL);
	assert_int_equal(got.node_count, 0);
}

/* ---- histograms ---- */

static void bounds_of_buckets(void **state)
{
	static const uint32_t expected[][2] = {{32, 0},      {31, 1},         {30, 3},
					       {22, 1023},   {1, 0x7fffffff}, {0, 0xffffffff},
					       {16, 0xffff}, {2, 0x3fffffff}};

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(pb_latency_bound(expected[i][0]), expected[i][1]);
}

static void percentiles(void **state)
{
	static const struct {
		struct {
			uint32_t bucket, count;
		} buckets[3];
		uint32_t permille, expected;
	} rows[] = {
		{{{32, 1}}, 1, 0},
		{{{32, 1}}, 1000, 0},
		{{{0, 1}}, 500, 0xffffffff},
		{{{30, 1}, {20, 1}}, 500, 3},
		{{{30, 1}, {20, 1}}, 501, 4095},
		{{{30, 99}, {20, 1}}, 990, 3},
		{{{30, 99}, {20, 1}}, 991, 4095},
		{{{30, 98}, {20, 2}}, 990, 4095},
		{{{30, 90}, {25, 9}, {20, 1}}, 900, 3},
		{{{30, 90}, {25, 9}, {20, 1}}, 901, 127},
		{{{30, 90}, {25, 9}, {20, 1}}, 1000, 4095},
		/* More than 2^32 of them. */
		{{{30, UINT32_MAX}, {20, UINT32_MAX}}, 500, 3},
		{{{30, UINT32_MAX}, {20, UINT32_MAX}, {1, 1}}, 500, 4095},
		{{{30, UINT32_MAX}, {20, UINT32_MAX}, {1, UINT32_MAX}}, 1000, 0x7fffffff},
	};
	uint32_t buckets[PB_LATENCY_BUCKETS] = {0}, bound = 77;

	(void)state;
	assert_false(pb_latency_percentile(buckets, 500, &bound));
	assert_int_equal(bound, 77);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("row %zu\n", i);
		memset(buckets, 0, sizeof(buckets));
		for (uint32_t b = 0; b < 3; b++)
			buckets[rows[i].buckets[b].bucket] += rows[i].buckets[b].count;
		assert_true(pb_latency_percentile(buckets, rows[i].permille, &bound));
		assert_int_equal(bound, rows[i].expected);
	}
	assert_int_equal(pb_latency_count(buckets), 3u * UINT64_C(0xffffffff));
}

static void meanings(void **state)
{
	(void)state;
	assert_string_equal(pb_node_meanings[PB_NODE_TAG_BUSY].name, "BUSY");
	assert_int_equal(pb_node_meanings[PB_NODE_TAG_BUSY].kind, PB_TELEMETRY_COUNTER);
	assert_int_equal(pb_node_meanings[PB_NODE_TAG_BUSY].unit, PB_TELEMETRY_MICROSECONDS);
	assert_int_equal(pb_node_meanings[PB_NODE_TAG_BYTES].unit, PB_TELEMETRY_BYTES);
	assert_int_equal(pb_node_meanings[PB_NODE_TAG_STATE].kind, PB_TELEMETRY_GAUGE);
	assert_int_equal(pb_node_meanings[PB_NODE_TAG_STATE].unit, PB_TELEMETRY_NONE);
	assert_string_equal(pb_card_meanings[PB_CARD_TAG_DROPS].meaning, "events that found their ring full");
	assert_string_equal(pb_latency_meanings[PB_LATENCY_FENCE].name, "FENCE");
	assert_int_equal(pb_latency_meanings[PB_LATENCY_FENCE].sum, PB_NODE_TAG_FENCE_TIME);
	for (uint32_t tag = 0; tag < PB_NODE_TAG_COUNT; tag++)
		assert_non_null(pb_node_meanings[tag].meaning);
}

#define test(function) cmocka_unit_test_setup_teardown(function, start, stop)

UNIT_SUITE(test_host_telemetry)
{
	const struct CMUnitTest tests[] = {
		test(reads_all_of_it),
		test(reads_saved_memory_and_what_a_dead_one_left),
		test(other_firmware_has_fewer_or_more),
		test(refuses_nonsense),
		test(takes_any_garbage),
		test(nodes_must_lie_in_the_memory),
		test(a_lock_for_ever_ends),
		test(a_card_that_leaves_ends_it_too),
		test(a_writer_that_is_slow_is_awaited),
		test(values_are_of_one_moment),
		test(it_is_of_one_boot),
		test(bounds_of_buckets),
		test(percentiles),
		test(meanings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
