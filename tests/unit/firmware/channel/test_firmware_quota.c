/* SPDX-License-Identifier: MIT */
/* Quotas: limits that the admin sets, minima that no other channel can take, and the account of each channel. */
#include <string.h>

#include "firmware/instance.h"
#include "tests/unit/card_queues.h"

#define PAGE         0x1000u
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static struct card card;
static struct pb_channel admin;

static void start(void)
{
	card_start(&card);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
}

static void stop(void)
{
	card_leave(&admin);
	card_stop(&card);
}

static struct pb_quota_status quota_of(uint32_t channel, uint32_t resource)
{
	struct pb_quota_status status;

	assert_int_equal(pb_quota_query(&admin, channel, resource, &status), PB_ERROR_OK);
	return status;
}

/* ---- one of each resource ---- */

/** Objects that a test has created in a channel, by number: they must not collide with those of the fixture. */
static enum pb_error create_queue(struct pb_channel *channel, uint32_t number, uint32_t *results)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		0, 4, (uint32_t)CARD_SYSTEM_OS + 0x80000u + number % 2u * 0x400u, 0, PB_PRIORITY_NORMAL, 0};

	return pb_channel_command(channel, PB_COMMAND_QUEUE_CREATE, arguments, results);
}

static enum pb_error create_context(struct pb_channel *channel, uint32_t number, uint32_t *results)
{
	static const uint32_t none[PB_COMMAND_ARGUMENTS];

	(void)number;
	return pb_channel_command(channel, PB_COMMAND_CONTEXT_CREATE, none, results);
}

static enum pb_error create_backed(struct pb_channel *channel, uint32_t number, uint32_t bytes,
				   uint32_t *results)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		4u + number, PB_SEGMENT_LINEAR, 0, 1u << 10, number << 28, 1u << 11, 1u << 28, 0, bytes};

	return pb_channel_command(channel, PB_COMMAND_SEGMENT_CREATE, arguments, results);
}

static enum pb_error create_segment(struct pb_channel *channel, uint32_t number, uint32_t *results)
{
	return create_backed(channel, number, 0, results);
}

static enum pb_error create_page(struct pb_channel *channel, uint32_t number, uint32_t *results)
{
	return create_backed(channel, number, PAGE, results);
}

static enum pb_error set_format(struct pb_channel *channel, uint32_t number, uint32_t *results)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		PB_FORMAT_OWN + number, PB_FORMAT_ADDRESS | PB_FORMAT_NONE << 8 | 4u << 24, 0, UINT32_MAX};

	return pb_channel_command(channel, PB_COMMAND_FORMAT_SET, arguments, results);
}

static const struct {
	uint32_t resource;
	uint32_t one; /**< how much of it an object takes */
	enum pb_error (*create)(struct pb_channel *channel, uint32_t number, uint32_t *results);
	uint32_t
		minimum; /**< of 4096 queues, 512 contexts, 96 segments, 64 formats, a pool of 4031 pages; nine channels */
	uint32_t total;
} rows[] = {
	{PB_RESOURCE_QUEUES, 1, create_queue, 227, 4096},
	{PB_RESOURCE_CONTEXTS, 1, create_context, 28, 512},
	{PB_RESOURCE_SEGMENTS, 1, create_segment, 5, 96},
	{PB_RESOURCE_FORMATS, 1, set_format, 3, 64},
	{PB_RESOURCE_POOL_BYTES, PAGE, create_page, 111 * PAGE, 0xfbf000},
};

/* ---- limits ---- */

static void a_limit_of_each_resource_is_reached_and_named(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const char *name = pb_resource_name(rows[i].resource);
		struct pb_quota_status status;
		uint32_t results[PB_REPLY_RESULTS], room, limit;

		start();
		status = quota_of(1, rows[i].resource);
		card_equal(name, status.minimum, rows[i].minimum);
		card_equal(name, status.total, rows[i].total);
		card_equal(name, status.limit, rows[i].total);
		limit = status.used > rows[i].minimum ? status.used + 2u * rows[i].one : rows[i].minimum;
		card_equal(name, pb_quota_set(&admin, 1, rows[i].resource, limit), PB_ERROR_OK);
		room = (limit - status.used) / rows[i].one;
		for (uint32_t n = 0; n < room; n++)
			card_equal(name, rows[i].create(&card.channel, n, results), PB_ERROR_OK);
		card_equal(name, rows[i].create(&card.channel, room, results), PB_ERROR_NO_QUOTA);
		card_equal(name, results[0], rows[i].resource);
		card_equal(name, quota_of(1, rows[i].resource).used, limit);
		/* The admin gives one more; a limit below what there is takes nothing away. */
		card_equal(name, pb_quota_set(&admin, 1, rows[i].resource, limit + rows[i].one), PB_ERROR_OK);
		card_equal(name, rows[i].create(&card.channel, room, results), PB_ERROR_OK);
		card_equal(name, pb_quota_set(&admin, 1, rows[i].resource, rows[i].minimum), PB_ERROR_OK);
		card_equal(name, rows[i].create(&card.channel, room + 1u, results), PB_ERROR_NO_QUOTA);
		card_equal(name, quota_of(1, rows[i].resource).used, limit + rows[i].one);
		stop();
	}
}

/** What an object takes is there again when the object is gone, and when its creation fails. */
static void what_is_destroyed_is_given_back(void **state)
{
	static const uint32_t none[PB_COMMAND_ARGUMENTS];
	uint32_t results[PB_REPLY_RESULTS], before[PB_RESOURCES_USED];

	(void)state;
	start();
	for (uint32_t r = 0; r < PB_RESOURCES_USED; r++)
		before[r] = quota_of(1, r).used;
	for (uint32_t round = 0; round < 3; round++) {
		assert_int_equal(create_queue(&card.channel, 0, results), PB_ERROR_OK);
		assert_int_equal(
			card_command(&card.channel, PB_COMMAND_QUEUE_DESTROY, results[0], 0, 0, 0, 0),
			PB_ERROR_OK);
		assert_int_equal(create_context(&card.channel, 0, results), PB_ERROR_OK);
		assert_int_equal(
			card_command(&card.channel, PB_COMMAND_CONTEXT_DESTROY, results[0], 0, 0, 0, 0),
			PB_ERROR_OK);
		assert_int_equal(create_backed(&card.channel, 0, 7 * PAGE, results), PB_ERROR_OK);
		assert_int_equal(quota_of(1, PB_RESOURCE_POOL_BYTES).used,
				 before[PB_RESOURCE_POOL_BYTES] + 7 * PAGE);
		assert_int_equal(card_command(&card.channel, PB_COMMAND_SEGMENT_DESTROY, 4, 0, 0, 0, 0),
				 PB_ERROR_OK);
		/* As many bytes as the card has, but not in one piece. */
		assert_int_equal(create_backed(&card.channel, 0, 3500 * PAGE, results), PB_ERROR_NO_SPACE);
		for (uint32_t r = 0; r < PB_RESOURCES_USED; r++)
			card_equal(pb_resource_name(r), quota_of(1, r).used, before[r]);
	}
	assert_int_equal(set_format(&card.channel, 0, results), PB_ERROR_OK);
	assert_int_equal(set_format(&card.channel, 0, results),
			 PB_ERROR_OK); /* the same again takes nothing */
	assert_int_equal(quota_of(1, PB_RESOURCE_FORMATS).used, 1);
	assert_int_equal(pb_channel_command(&card.channel, PB_COMMAND_PING, none, NULL), PB_ERROR_OK);
	assert_int_equal(pb_channel_detach(&card.channel), PB_ERROR_OK);
	for (uint32_t r = 0; r < PB_RESOURCES_USED; r++)
		card_equal(pb_resource_name(r), quota_of(1, r).used, 0);
	stop();
}

/** A second stop request while one is in progress: with a limit of one refused, else both are carried out. */
static void stop_requests_have_a_limit(void **state)
{
	(void)state;
	for (uint32_t limit = 1; limit <= 2; limit++) {
		const uint32_t second[PB_COMMAND_ARGUMENTS] = {0, 1, 2};
		uint32_t first[PB_COMMAND_ARGUMENTS] = {0, 1, 1};
		uint32_t arguments[PB_COMMAND_ARGUMENTS], results[PB_REPLY_RESULTS], tag;
		struct pb_descriptor descriptor;

		start();
		assert_int_equal(pb_quota_set(&admin, 1, PB_RESOURCE_STOPS, limit), PB_ERROR_OK);
		for (uint32_t n = 0; n < 2; n++) {
			descriptor = card_busy(&card, n, 30000);
			card_submit(&card, n, &descriptor);
		}
		card_run(&card, 1000);
		first[0] = card.queues[0].handle;
		assert_int_equal(pb_channel_begin(&card.channel, PB_COMMAND_PREEMPT, first, &tag),
				 PB_ERROR_OK);
		card_run(&card, 1000);
		assert_int_equal(quota_of(1, PB_RESOURCE_STOPS).used, 1);
		memcpy(arguments, second, sizeof(arguments));
		arguments[0] = card.queues[1].handle;
		assert_int_equal(pb_channel_command(&card.channel, PB_COMMAND_PREEMPT, arguments, results),
				 limit == 1 ? PB_ERROR_NO_QUOTA : PB_ERROR_OK);
		if (limit == 1)
			assert_int_equal(results[0], PB_RESOURCE_STOPS);
		card_run(&card, 60000);
		assert_int_equal(pb_channel_finish(&card.channel, tag, results), PB_ERROR_OK);
		assert_int_equal(quota_of(1, PB_RESOURCE_STOPS).used, 0);
		stop();
	}
}

static void a_limit_ends_with_channel_close(void **state)
{
	(void)state;
	start();
	for (uint32_t r = 0; r < PB_RESOURCE_COUNT; r++) {
		const struct pb_quota_status before = quota_of(2, r);

		assert_int_equal(pb_quota_set(&admin, 2, r, before.minimum), PB_ERROR_OK);
		card_equal(pb_resource_name(r), quota_of(2, r).limit, before.minimum);
		assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_CLOSE, 2, 0, 0, 0, 0), PB_ERROR_OK);
		card_equal(pb_resource_name(r), quota_of(2, r).limit, before.limit);
	}
	stop();
}

static void refusals(void **state)
{
	static const struct {
		uint32_t channel, resource, limit;
		enum pb_error error;
	} cases[] = {
		{0, PB_RESOURCE_QUEUES, 4096, PB_ERROR_BAD_ARGUMENT},
		{9, PB_RESOURCE_QUEUES, 4096, PB_ERROR_BAD_ARGUMENT},
		{8, PB_RESOURCE_QUEUES, 4096, PB_ERROR_OK},
		{1, 9, -1u, PB_ERROR_BAD_ARGUMENT},
		{1, -1u, -1u, PB_ERROR_BAD_ARGUMENT},
		{1, PB_RESOURCE_QUEUES, 226, PB_ERROR_BAD_ARGUMENT},
		{1, PB_RESOURCE_CONTEXTS, 27, PB_ERROR_BAD_ARGUMENT},
		{1, PB_RESOURCE_SEGMENTS, 4, PB_ERROR_BAD_ARGUMENT},
		{1, PB_RESOURCE_FORMATS, 2, PB_ERROR_BAD_ARGUMENT},
		{1, PB_RESOURCE_POOL_BYTES, 111 * PAGE - 1, PB_ERROR_BAD_ARGUMENT},
		{1, PB_RESOURCE_STOPS, 0, PB_ERROR_BAD_ARGUMENT},
		{1, PB_RESOURCE_WAKES, 0, PB_ERROR_BAD_ARGUMENT},
		{1, PB_RESOURCE_HANG_MICROSECONDS, 9999, PB_ERROR_BAD_ARGUMENT},
		{1, PB_RESOURCE_STOP_MICROSECONDS, 9999, PB_ERROR_BAD_ARGUMENT},
	};
	/** What a limit above all that there is becomes. */
	static const uint32_t most[] = {4096, 512, 96, 64, 0xfbf000, 16, 4, 0x7fffffff, 0x7fffffff};
	struct pb_channel other;
	struct pb_quota_status status;

	(void)state;
	start();
	card_join(&card, &other, 2);
	assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_GRANT, 2, 0, 1, 4, 0), PB_ERROR_OK);
	for (uint32_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(pb_quota_set(&admin, cases[i].channel, cases[i].resource, cases[i].limit),
				 cases[i].error);
	for (uint32_t r = 0; r < PB_RESOURCE_COUNT; r++) {
		assert_int_equal(pb_quota_set(&admin, 1, r, UINT32_MAX), PB_ERROR_OK);
		card_equal(pb_resource_name(r), quota_of(1, r).limit, most[r]);
	}
	assert_int_equal(pb_quota_query(&other, 1, 0, &status), PB_ERROR_NO_PERMISSION);
	assert_int_equal(pb_quota_query(&other, 2, 0, &status), PB_ERROR_OK);
	assert_int_equal(pb_quota_query(&other, 2, 9, &status), PB_ERROR_BAD_ARGUMENT);
	assert_int_equal(pb_quota_query(&admin, 9, 0, &status), PB_ERROR_BAD_ARGUMENT);
	card_leave(&other);
	stop();
}

/* ---- minima ---- */

/** Two channels and the admin take what they can get; each other one gets its minimum, and no more. The pool: in one piece. */
static void hoarders_leave_each_channel_its_minimum(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const char *name = pb_resource_name(rows[i].resource);
		const bool pool = rows[i].resource == PB_RESOURCE_POOL_BYTES;
		const uint32_t pieces[] = {2916 * PAGE, 111 * PAGE, 50 * PAGE, 8 * PAGE, PAGE};
		uint32_t results[PB_REPLY_RESULTS], n = 0, taken;
		struct card_client hoarder;
		struct pb_channel others[6];

		start();
		card_join_client(&card, &hoarder, 2);
		for (uint32_t p = 0; pool && p < COUNT(pieces);) {
			enum pb_error error = create_backed(&hoarder.channel, n, pieces[p], results);

			assert_true(error == PB_ERROR_OK || error == PB_ERROR_NO_SPACE);
			p += error != PB_ERROR_OK;
			n += error == PB_ERROR_OK;
		}
		for (uint32_t h = 0; !pool && h < 3; h++) {
			struct pb_channel *hoarders[] = {&card.channel, &hoarder.channel, &admin};

			for (n = 0; rows[i].create(hoarders[h], n, results) == PB_ERROR_OK;)
				n++;
		}
		for (uint32_t c = 0; c < COUNT(others); c++) {
			card_join(&card, &others[c], 3 + c);
			if (rows[i].resource == PB_RESOURCE_QUEUES) {
				const uint32_t system[PB_COMMAND_ARGUMENTS] = {
					0, 0, (uint32_t)CARD_SYSTEM_OS, 0, 0, 0, 0x81000, 0, 0x81000};

				assert_int_equal(pb_channel_command(&others[c], PB_COMMAND_SEGMENT_CREATE,
								    system, NULL),
						 PB_ERROR_OK);
			}
			taken = pool ? 1 : rows[i].minimum;
			for (uint32_t own = 0; own < taken; own++)
				card_equal(name,
					   pool ? create_backed(&others[c], own, 111 * PAGE, results)
						: rows[i].create(&others[c], own, results),
					   PB_ERROR_OK);
			card_equal(name, rows[i].create(&others[c], taken, results), PB_ERROR_NO_SPACE);
			card_equal(name, quota_of(3 + c, rows[i].resource).used, rows[i].minimum);
		}
		for (uint32_t c = 0; c < COUNT(others); c++)
			card_leave(&others[c]);
		card_leave(&hoarder.channel);
		stop();
	}
}

/* ---- the account ---- */

static struct pb_firmware firmware;

/** What the channels have together, each at least with its minimum. */
static uint32_t committed(uint32_t resource)
{
	uint32_t sum = 0;

	for (uint32_t c = 0; c < PB_LIMIT_CHANNELS; c++) {
		const uint32_t used = pb_core_quota_used(&firmware.channels[c].quota, resource);
		const uint32_t minimum = firmware.quotas.minimum[resource];

		sum += used > minimum ? used : minimum;
	}
	return sum;
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/** Claims and gives back at random: each answer is that of a sum over all channels. */
static void the_running_sum_is_the_sum_of_all_channels(void **state)
{
	static const struct pb_firmware_config config = {
		.pool_offset = 0x4000, .memory_bytes = 0x104000, .queue_count = 40};
	uint32_t seed = 1, refused = 0;

	(void)state;
	memset(&firmware, 0, sizeof(firmware));
	firmware.config = &config;
	pb_core_quota_boot(&firmware);
	for (uint32_t i = 0; i < 100000; i++) {
		const uint32_t c = next_random(&seed) % PB_LIMIT_CHANNELS;
		const uint32_t r = next_random(&seed) % PB_RESOURCES_USED;
		const uint32_t total = firmware.quotas.total[r];
		const uint32_t unit = r == PB_RESOURCE_POOL_BYTES ? PB_PAGE_BYTES : 1u;
		uint16_t *used = &firmware.channels[c].quota.used[r];
		const uint32_t before = *used;
		const uint32_t most = total / unit / 4u + 2u;
		uint32_t amount = next_random(&seed) % most;
		enum pb_error error;

		if (next_random(&seed) % 2u == 0) {
			amount = amount < before ? amount : before;
			pb_core_quota_release(&firmware, c, r, amount * unit);
			assert_int_equal(*used, before - amount);
			continue;
		}
		error = pb_core_quota_claim(&firmware, c, r, amount * unit);
		*used = (uint16_t)(before + amount);
		assert_int_equal(error, committed(r) <= total ? PB_ERROR_OK : PB_ERROR_NO_SPACE);
		*used = (uint16_t)(error == PB_ERROR_OK ? before + amount : before);
		refused += error != PB_ERROR_OK;
		assert_true(committed(r) <= total);
	}
	assert_in_range(refused, 1000, 50000);
}

UNIT_SUITE(test_firmware_quota)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limit_of_each_resource_is_reached_and_named),
		cmocka_unit_test(what_is_destroyed_is_given_back),
		cmocka_unit_test(stop_requests_have_a_limit),
		cmocka_unit_test(a_limit_ends_with_channel_close),
		cmocka_unit_test(refusals),
		cmocka_unit_test(hoarders_leave_each_channel_its_minimum),
		cmocka_unit_test(the_running_sum_is_the_sum_of_all_channels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
