/* SPDX-License-Identifier: MIT */
/* Memory that passes from one client to another: clear before the next can have it, slice by slice, whatever ends the first. */
#include <string.h>

#include "firmware/instance.h"
#include "tests/unit/card_fixture.h"

#define PAGE         0x1000u
#define SECRET       0xa5
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static bool all_are(const uint8_t *bytes, uint32_t count, uint8_t value)
{
	return count == 0 || (bytes[0] == value && memcmp(bytes, bytes + 1, count - 1u) == 0);
}

static enum pb_error create(struct pb_channel *channel, uint32_t id, uint32_t bytes, uint32_t *offset)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		id, PB_SEGMENT_LINEAR, 0, 0, id << 26, 0, bytes, 0, bytes};
	uint32_t results[PB_REPLY_RESULTS];
	const enum pb_error error =
		pb_channel_command(channel, PB_COMMAND_SEGMENT_CREATE, arguments, results);

	*offset = results[0];
	return error;
}

/* ---- one slice after another ---- */

#define POOL  0x4000u
#define BYTES (3u * PAGE)
#define ALL   0x40000u

static struct pb_firmware firmware;
static _Alignas(PAGE) uint8_t memory[ALL];
static uint32_t pending;

static void no_range(void *context, uint32_t channel, uint32_t index, const struct pb_engine_range *range)
{
	(void)context;
	(void)channel;
	(void)index;
	(void)range;
}

/** A firmware whose channel 1 has a segment of three pages, filled, and which is asked to let it go. */
static struct pb_core_create *remove_filled(void)
{
	static const struct pb_engine_memory_ops ops = {.set_range = no_range};
	static const struct pb_engine_memory engine_memory = {.ops = &ops};
	static const struct pb_lines lines = {.pending = &pending};
	static const struct pb_firmware_config config = {
		.memory = memory, .memory_bytes = ALL, .pool_offset = POOL, .engine_memory = &engine_memory};

	memset(&firmware, 0, sizeof(firmware));
	firmware.config = &config;
	firmware.lines = &lines;
	pb_core_quota_boot(&firmware);
	assert_int_equal(pb_core_quota_claim(&firmware, 1, PB_RESOURCE_SEGMENTS, 1), PB_ERROR_OK);
	assert_int_equal(pb_core_quota_claim(&firmware, 1, PB_RESOURCE_POOL_BYTES, BYTES), PB_ERROR_OK);
	firmware.segments.taken[0] = 1;
	firmware.segments.at[1] = (struct pb_core_segment){
		.size = BYTES, .memory_bytes = BYTES, .memory_offset = POOL, .channel = 1};
	firmware.channels[1].memory.segment_of[7] = 1;
	firmware.channels[1].replies.deferred = 1;
	pb_core_pool_claim(&firmware.pool, 1, POOL, BYTES);
	memset(memory, SECRET, sizeof(memory));
	assert_int_equal(pb_core_segment_destroy(&firmware, 1, 0, 7), PB_ERROR_OK);
	return &firmware.channels[1].memory.create;
}

/** While a line or a node waits, each pass clears a slice. The piece has its owner until the last slice is clear. */
static void a_piece_is_free_after_its_last_slice(void **state)
{
	static const struct {
		uint32_t pending, nodes, slice;
	} cases[] = {{1, 0, 1024}, {0, 1, 1024}, {0, 0, 16 * 1024}};

	(void)state;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		const struct pb_core_create *task = remove_filled();

		pending = cases[i].pending;
		firmware.marks.nodes = cases[i].nodes;
		for (uint32_t at = 0; at < BYTES; at += cases[i].slice) {
			uint32_t start = POOL;

			assert_int_equal(task->step, PB_CORE_CREATE_WIPE);
			assert_true(all_are(&memory[POOL], at, 0));
			assert_true(all_are(&memory[POOL + at], BYTES - at, SECRET));
			assert_int_equal(pb_core_pool_owner(&firmware.pool, POOL), 1);
			assert_int_equal(pb_core_pool_search(&firmware.pool, ALL, &start, PAGE),
					 PB_CORE_SEARCH_FOUND);
			assert_int_equal(start, POOL + BYTES);
			assert_int_equal(firmware.channels[1].quota.used[PB_RESOURCE_POOL_BYTES],
					 BYTES / PB_PAGE_BYTES);
			pb_core_segment_step(&firmware, 1);
		}
		assert_int_equal(task->step, PB_CORE_CREATE_NONE);
		assert_true(all_are(&memory[POOL], BYTES, 0));
		assert_true(all_are(memory, POOL, SECRET));
		assert_true(all_are(&memory[POOL + BYTES], ALL - POOL - BYTES, SECRET));
		assert_int_equal(pb_core_pool_owner(&firmware.pool, POOL), 0);
		assert_int_equal(firmware.segments.taken[0], 0);
		assert_int_equal(firmware.channels[1].quota.used[PB_RESOURCE_POOL_BYTES], 0);
		assert_int_equal(firmware.channels[1].quota.used[PB_RESOURCE_SEGMENTS], 0);
	}
}

/* ---- on a card ---- */

static struct card card;
static struct pb_channel next, admin;
/** How much the first client has, in each of two segments: some passes' worth. */
#define SECRET_BYTES (40u * PAGE)

/** What ends the first client's hold of its memory. Sends it, and does not wait. */
static void send(uint32_t code, struct pb_channel *channel, uint32_t argument, uint32_t *tag)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {argument};

	assert_int_equal(pb_channel_begin(channel, code, arguments, tag), PB_ERROR_OK);
}

static void request(uint32_t op)
{
	struct pb_channel_entry *entry = card.channel.entry;

	entry->attach_request = (entry->attach_done & ~PB_ATTACH_OP_MASK) + PB_ATTACH_COUNTER_ONE + op;
	card.link->ops->doorbell(card.link);
}

enum end { DETACH, ATTACH, CLOSE, DESTROY, ENDS };

static void end_first_client(uint32_t end)
{
	uint32_t tags[2];

	if (end == DETACH) {
		request(PB_ATTACH_OP_DETACH);
	} else if (end == ATTACH) {
		card.channel.entry->control_put = 0;
		card.channel.entry->reply_get = 0;
		request(PB_ATTACH_OP_ATTACH);
	} else if (end == CLOSE) {
		send(PB_COMMAND_CHANNEL_CLOSE, &admin, 1, &tags[0]);
	} else {
		send(PB_COMMAND_SEGMENT_DESTROY, &card.channel, 1, &tags[0]);
		send(PB_COMMAND_SEGMENT_DESTROY, &card.channel, 2, &tags[1]);
	}
}

/** Some steps after the first client's end began, the next one asks for all that it can get: all of it is 0. */
static void next_client_finds_nothing_at_any_time(void **state)
{
	(void)state;
	for (uint32_t end = 0; end < ENDS; end++) {
		for (uint32_t steps = 0; steps < 32; steps++) {
			uint32_t offset[2], found;

			card_attach(&card);
			card_join(&card, &admin, PB_CHANNEL_ADMIN);
			card_join(&card, &next, 2);
			for (uint32_t i = 0; i < 2; i++) {
				assert_int_equal(create(&card.channel, 1 + i, SECRET_BYTES, &offset[i]),
						 PB_ERROR_OK);
				memset(card.link->memory + offset[i], SECRET, SECRET_BYTES);
			}
			end_first_client(end);
			for (uint32_t i = 0; i < steps; i++)
				pb_sim_step(card.sim);
			for (uint32_t bytes = 100u * PAGE, id = 0; bytes >= PAGE && id < 24; id++) {
				if (create(&next, id, bytes, &found) != PB_ERROR_OK) {
					bytes /= 2u;
					continue;
				}
				assert_true(all_are(card.link->memory + found, bytes, 0));
			}
			card_leave(&admin);
			card_leave(&next);
			card_stop(&card);
		}
	}
}

/** A host that attaches again at once is answered when its memory is clear. So is the reply to CHANNEL_CLOSE. */
static void a_close_is_answered_when_the_memory_is_clear(void **state)
{
	(void)state;
	for (uint32_t end = 0; end < DESTROY; end++) {
		const struct pb_channel_entry *entry;
		uint32_t offset, before, passes = 0;

		card_attach(&card);
		card_join(&card, &admin, PB_CHANNEL_ADMIN);
		entry = card.channel.entry;
		assert_int_equal(create(&card.channel, 1, SECRET_BYTES, &offset), PB_ERROR_OK);
		memset(card.link->memory + offset, SECRET, SECRET_BYTES);
		before = end == CLOSE ? admin.entry->reply_put : entry->attach_done;
		end_first_client(end);
		while ((end == CLOSE ? admin.entry->reply_put : entry->attach_done) == before) {
			pb_sim_step(card.sim);
			assert_true(++passes < 10000u);
		}
		assert_true(all_are(card.link->memory + offset, SECRET_BYTES, 0));
		card_leave(&admin);
		card_stop(&card);
	}
}

/** What an earlier boot left in the pool is cleared before a segment has it: in the shared part, and in the channel's own. */
static void memory_of_an_earlier_boot_is_cleared(void **state)
{
	uint32_t pool, own, offset;

	(void)state;
	card_attach(&card);
	pool = card.channel.card.capabilities[PB_CAPABILITY_POOL_OFFSET];
	own = card.channel.card.capabilities[PB_CAPABILITY_POOL_BYTES_MIN];
	memset(card.link->memory + pool, SECRET, card.channel.card.capabilities[PB_CAPABILITY_POOL_BYTES]);
	for (uint32_t id = 0; id < 5; id++) {
		assert_int_equal(create(&card.channel, id, (1u + id) * PAGE, &offset), PB_ERROR_OK);
		assert_true(all_are(card.link->memory + offset, (1u + id) * PAGE, 0));
		assert_true(all_are(card.link->memory + offset + (1u + id) * PAGE, PAGE, SECRET));
	}
	/* The rest of what channels share; then its own part. */
	assert_int_equal(
		create(&card.channel, 6,
		       card.channel.card.capabilities[PB_CAPABILITY_POOL_BYTES] - 9 * own - 15 * PAGE,
		       &offset),
		PB_ERROR_OK);
	assert_int_equal(create(&card.channel, 20, own, &offset), PB_ERROR_OK);
	assert_true(all_are(card.link->memory + offset, own, 0));
	assert_true(all_are(card.link->memory + offset - PAGE, PAGE, SECRET));
	assert_true(all_are(card.link->memory + offset + own, PAGE, SECRET));
	card_stop(&card);
}

UNIT_SUITE(test_firmware_wipe)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_piece_is_free_after_its_last_slice),
		cmocka_unit_test(next_client_finds_nothing_at_any_time),
		cmocka_unit_test(a_close_is_answered_when_the_memory_is_clear),
		cmocka_unit_test(memory_of_an_earlier_boot_is_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
