/* SPDX-License-Identifier: MIT */
/* Aperture segments: how they are made, and go. */
#include <string.h>

#include "tests/unit/card_fixture.h"

#define COUNT(array)    ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define PAGE            0x1000u
#define MIB             0x100000u
#define CONTROL_ENTRIES 16u
#define LIMIT_PAGES     16384u

/* The aperture of these tests beside the fixture's segments: 64 pages. */
#define APERTURE       4u
#define APERTURE_OS    UINT64_C(0x50000000)
#define APERTURE_GPU   UINT64_C(0x2c0000000)
#define APERTURE_BYTES 0x40000u

struct request {
	uint32_t id;
	uint32_t kind;
	uint64_t os_base;
	uint64_t gpu_base;
	uint64_t size;
	uint32_t backing;
};

static void arguments_of(const struct request *request, uint32_t arguments[PB_COMMAND_ARGUMENTS])
{
	const uint32_t all[PB_COMMAND_ARGUMENTS] = {
		request->id,
		request->kind,
		(uint32_t)request->os_base,
		(uint32_t)(request->os_base >> 32),
		(uint32_t)request->gpu_base,
		(uint32_t)(request->gpu_base >> 32),
		(uint32_t)request->size,
		(uint32_t)(request->size >> 32),
		request->backing,
	};

	memcpy(arguments, all, sizeof(all));
}

static enum pb_error create(struct pb_channel *channel, const struct request *request, uint32_t *result)
{
	uint32_t arguments[PB_COMMAND_ARGUMENTS];
	uint32_t results[PB_REPLY_RESULTS] = {0};
	enum pb_error error;

	arguments_of(request, arguments);
	error = pb_channel_command(channel, PB_COMMAND_SEGMENT_CREATE, arguments, results);
	if (result != NULL)
		*result = results[0];
	return error;
}

static enum pb_error destroy(struct pb_channel *channel, uint32_t id)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {id};

	return pb_channel_command(channel, PB_COMMAND_SEGMENT_DESTROY, arguments, NULL);
}

static const struct request the_aperture = {APERTURE,     PB_SEGMENT_APERTURE, APERTURE_OS,
					    APERTURE_GPU, APERTURE_BYTES,      0};

/* ---- arguments ---- */

#define TOP (UINT64_MAX - 0xfffu)

/** Each is made beside linear segment 0, GPU 4 to 5 MiB, half of it backed, and aperture 1, GPU 16 to 17 MiB. */
static const struct {
	const char *name;
	struct request request;
	enum pb_error error;
} rows[] = {
	{"one page", {2, 1, 0, 0, PAGE, 0}, PB_ERROR_OK},
	{"as many as there may be", {2, 1, 0, 1ull << 40, LIMIT_PAGES *PAGE, 0}, PB_ERROR_OK},
	{"up to 2^64 - 1 page", {31, 1, TOP - PAGE, TOP - PAGE, PAGE, 0}, PB_ERROR_OK},
	{"adjoining below", {2, 1, 0, 15 * MIB, MIB, 0}, PB_ERROR_OK},
	{"adjoining above", {2, 1, 0, 17 * MIB, MIB, 0}, PB_ERROR_OK},
	{"over what is not backed", {2, 1, 0, 4 * MIB + MIB / 2, MIB, 0}, PB_ERROR_OK},
	{"addresses only, over an aperture", {2, 0, 0, 16 * MIB, MIB, 0}, PB_ERROR_OK},

	{"one page too many", {2, 1, 0, 1ull << 40, (LIMIT_PAGES + 1) * PAGE, 0}, PB_ERROR_BAD_ARGUMENT},
	{"4 GiB and a page", {2, 1, 0, 1ull << 40, 0x100001000, 0}, PB_ERROR_BAD_ARGUMENT},
	{"backing", {2, 1, 0, 0, MIB, PAGE}, PB_ERROR_BAD_ARGUMENT},
	{"size 0", {2, 1, 0, 0, 0, 0}, PB_ERROR_BAD_ARGUMENT},
	{"size misaligned", {2, 1, 0, 0, PAGE + 4, 0}, PB_ERROR_BAD_ARGUMENT},
	{"OS base misaligned", {2, 1, 4, 0, PAGE, 0}, PB_ERROR_BAD_ARGUMENT},
	{"GPU base misaligned", {2, 1, 0, 4, PAGE, 0}, PB_ERROR_BAD_ARGUMENT},
	{"OS addresses to 2^64", {2, 1, TOP, 0, PAGE, 0}, PB_ERROR_BAD_ARGUMENT},
	{"GPU addresses to 2^64", {2, 1, 0, TOP, PAGE, 0}, PB_ERROR_BAD_ARGUMENT},
	{"segment 32", {32, 1, 0, 0, PAGE, 0}, PB_ERROR_BAD_ARGUMENT},
	{"segment that exists", {1, 1, 0, 0, PAGE, 0}, PB_ERROR_BUSY},
	{"linear segment that exists", {0, 1, 0, 0, PAGE, 0}, PB_ERROR_BUSY},
	{"over memory", {2, 1, 0, 4 * MIB, PAGE, 0}, PB_ERROR_BAD_ARGUMENT},
	{"last page over memory", {2, 1, 0, 3 * MIB, MIB + PAGE, 0}, PB_ERROR_BAD_ARGUMENT},
	{"over an aperture", {2, 1, 0, 16 * MIB, MIB, 0}, PB_ERROR_BAD_ARGUMENT},
	{"over an aperture's last page", {2, 1, 0, 17 * MIB - PAGE, MIB, 0}, PB_ERROR_BAD_ARGUMENT},
	{"memory over an aperture's last page", {2, 0, 0, 17 * MIB - PAGE, MIB, PAGE}, PB_ERROR_BAD_ARGUMENT},
	{"no kind", {2, 2, 0, 0, PAGE, 0}, PB_ERROR_UNSUPPORTED},
};

static void every_row(void **state)
{
	static const struct request linear = {0, 0, MIB, 4 * MIB, MIB, MIB / 2};
	static const struct request aperture = {1, 1, 0, 16 * MIB, MIB, 0};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct request whole = {3, 0, 0, 1ull << 50, 11 * MIB, 11 * MIB};
		struct card card;
		uint32_t result = 0;

		card_attach(&card);
		assert_int_equal(create(&card.channel, &linear, NULL), PB_ERROR_OK);
		assert_int_equal(create(&card.channel, &aperture, &result), PB_ERROR_OK);
		assert_int_equal(result, 0);
		card_equal(rows[i].name, create(&card.channel, &rows[i].request, &result), rows[i].error);
		card_equal(rows[i].name, result, 0);
		/* A refused one takes nothing; nor does one that has been destroyed. */
		if (rows[i].error == PB_ERROR_OK)
			card_equal(rows[i].name, destroy(&card.channel, rows[i].request.id), PB_ERROR_OK);
		card_equal(rows[i].name, create(&card.channel, &whole, NULL), PB_ERROR_OK);
		card_stop(&card);
	}
	/* The numbers above are those of the card. */
	assert_int_equal(LIMIT_PAGES * PAGE, 64 * MIB);
}

static void capabilities(void **state)
{
	struct card card;

	(void)state;
	card_attach(&card);
	assert_int_equal(card.channel.card.capabilities[PB_CAPABILITY_SEGMENT_KINDS], 3);
	assert_int_equal(card.channel.card.capabilities[PB_CAPABILITY_APERTURE_PAGES], LIMIT_PAGES);
	card_stop(&card);
}

/** A table takes whole pages of the pool: a word for each page of the aperture. */
static void table_is_taken_from_the_pool(void **state)
{
	static const struct {
		uint32_t pages;
		uint32_t table_pages;
	} sizes[] = {{1, 1}, {1023, 1}, {1024, 1}, {1025, 2}, {LIMIT_PAGES, 16}};

	(void)state;
	for (uint32_t i = 0; i < COUNT(sizes); i++) {
		struct request aperture = {1, 1, 0, 0, sizes[i].pages * PAGE, 0};
		struct request rest = {2, 0, 0, 1ull << 40, 0, 0};
		struct card card;
		uint32_t pool;

		card_attach(&card);
		pool = card.channel.card.capabilities[PB_CAPABILITY_POOL_BYTES] -
		       9 * card.channel.card.capabilities[PB_CAPABILITY_POOL_BYTES_MIN];
		assert_int_equal(create(&card.channel, &aperture, NULL), PB_ERROR_OK);
		rest.backing = pool - sizes[i].table_pages * PAGE + PAGE;
		rest.size = rest.backing;
		assert_int_equal(create(&card.channel, &rest, NULL), PB_ERROR_NO_SPACE);
		rest.backing -= PAGE;
		assert_int_equal(create(&card.channel, &rest, NULL), PB_ERROR_OK);
		/* What is kept for the channel is the last that it can have. */
		rest.id = 4;
		rest.gpu_base = 1ull << 45;
		rest.backing = card.channel.card.capabilities[PB_CAPABILITY_POOL_BYTES_MIN];
		rest.size = rest.backing;
		assert_int_equal(create(&card.channel, &rest, NULL), PB_ERROR_OK);
		aperture.id = 3;
		aperture.gpu_base = 1ull << 50;
		assert_int_equal(create(&card.channel, &aperture, NULL), PB_ERROR_NO_SPACE);
		card_stop(&card);
	}
}

/* ---- the time that clearing takes ---- */

/** Fills memory where the next page table will be with what would be mapped pages. It is free, and was cleared before. */
static uint8_t *poison_pool(struct card *card)
{
	const struct request linear = {9, 0, 0, 1ull << 40, 17 * PAGE, 17 * PAGE};
	uint32_t offset;

	assert_int_equal(create(&card->channel, &linear, &offset), PB_ERROR_OK);
	assert_int_equal(destroy(&card->channel, 9), PB_ERROR_OK);
	memset(card->link->memory + offset, 0xff, 17 * PAGE);
	return card->link->memory + offset;
}

static void table_is_cleared_first(void **state)
{
	static const uint32_t sizes[] = {1, 63, 64, 65, 1000, LIMIT_PAGES};

	(void)state;
	for (uint32_t i = 0; i < COUNT(sizes); i++) {
		const struct request aperture = {APERTURE, 1, 0, APERTURE_GPU, sizes[i] * PAGE, 0};
		struct card card;
		const uint8_t *table;

		card_start(&card);
		table = poison_pool(&card);
		assert_int_equal(create(&card.channel, &aperture, NULL), PB_ERROR_OK);
		for (uint32_t byte = 0; byte < 17 * PAGE; byte++)
			card_equal("table", table[byte], byte < 4 * sizes[i] ? 0 : 0xff);
		card_stop(&card);
	}
}

static void send(struct pb_channel *channel, uint32_t code, uint32_t tag,
		 const uint32_t arguments[PB_COMMAND_ARGUMENTS])
{
	struct pb_command command = {.code = code, .tag = tag};

	memcpy(command.arguments, arguments, sizeof(command.arguments));
	memcpy(channel->link->memory + channel->control_offset +
		       channel->control_put % CONTROL_ENTRIES * sizeof(command),
	       &command, sizeof(command));
	channel->entry->control_put = ++channel->control_put;
	channel->link->ops->doorbell(channel->link);
}

static void send_create(struct pb_channel *channel, uint32_t tag, const struct request *request)
{
	uint32_t arguments[PB_COMMAND_ARGUMENTS];

	arguments_of(request, arguments);
	send(channel, PB_COMMAND_SEGMENT_CREATE, tag, arguments);
}

static void send_id(struct pb_channel *channel, uint32_t code, uint32_t tag, uint32_t id)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {id};

	send(channel, code, tag, arguments);
}

static void expect_reply(struct pb_channel *channel, uint32_t tag, enum pb_error error)
{
	struct pb_reply reply;

	assert_true((int32_t)(channel->entry->reply_put - channel->reply_get) > 0);
	memcpy(&reply,
	       channel->link->memory + channel->reply_offset +
		       channel->reply_get % CONTROL_ENTRIES * sizeof(reply),
	       sizeof(reply));
	channel->entry->reply_get = ++channel->reply_get;
	assert_int_equal(reply.tag, tag);
	assert_int_equal(reply.error, error);
}

static const struct request largest = {APERTURE, 1, 0, APERTURE_GPU, LIMIT_PAGES *PAGE, 0};

/** While the table is being cleared the id is taken, the segment is not there, and everything else goes on. */
static void segment_being_made(void **state)
{
	const struct request again = {APERTURE, 0, 0, 1ull << 41, PAGE, PAGE};
	const struct request second = {5, 1, 0, 1ull << 42, PAGE, 0};
	struct card card;
	struct pb_channel *channel = &card.channel;
	struct pb_channel neighbour;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	card_join(&card, &neighbour, 2);
	send_create(channel, 1, &largest);
	card_run(&card, 200);
	send_create(channel, 2, &again);
	send_id(channel, PB_COMMAND_SEGMENT_DESTROY, 3, APERTURE);
	send_id(channel, PB_COMMAND_PING, 4, 0);
	send_create(channel, 5, &second);
	card_run(&card, 200);
	expect_reply(channel, 2, PB_ERROR_BUSY);
	expect_reply(channel, 3, PB_ERROR_BUSY);
	expect_reply(channel, 4, PB_ERROR_OK);
	assert_int_equal(channel->entry->reply_put, channel->reply_get);
	/* Another channel need not wait for it. */
	assert_int_equal(create(&neighbour, &second, NULL), PB_ERROR_OK);
	descriptor = card_mark(&card, 0, 1);
	descriptor.dma_segment = APERTURE;
	descriptor.dma_address_low = 0;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_BAD_SEGMENT);
	send_id(channel, PB_COMMAND_CONTEXT_CLEAR, 6, card.context);
	card_run(&card, 5000);
	expect_reply(channel, 1, PB_ERROR_OK);
	/* The second waited for the first, and what is behind it does not wait for its table. */
	expect_reply(channel, 6, PB_ERROR_OK);
	expect_reply(channel, 5, PB_ERROR_OK);
	assert_int_equal(channel->entry->reply_put, channel->reply_get);
	descriptor.patch_length = 0;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_ENGINE_FAULT);
	card_leave(&neighbour);
	card_stop(&card);
}

/** Commands are carried out in their order: what is behind a SEGMENT_CREATE finds the segment. */
static void commands_behind_find_the_segment(void **state)
{
	const struct request linear = {0, 0, 0, 0, MIB, MIB};
	const uint32_t queue[PB_COMMAND_ARGUMENTS] = {0, 4, 0};
	struct card card;
	struct pb_channel *channel = &card.channel;

	(void)state;
	card_attach(&card);
	send_create(channel, 1, &linear);
	send(channel, PB_COMMAND_QUEUE_CREATE, 2, queue);
	send_create(channel, 3, &the_aperture);
	send_create(channel, 4, &(struct request){5, 1, 0, 1ull << 42, PAGE, 0});
	send_id(channel, PB_COMMAND_SEGMENT_DESTROY, 5, 5);
	card_run(&card, 2000);
	expect_reply(channel, 1, PB_ERROR_OK);
	expect_reply(channel, 2, PB_ERROR_OK);
	expect_reply(channel, 3, PB_ERROR_OK);
	/* The second is still being made when it is asked to go. */
	expect_reply(channel, 5, PB_ERROR_BUSY);
	expect_reply(channel, 4, PB_ERROR_OK);
	card_stop(&card);
}

/** Leaving in the middle ends it, at whatever step, and what it had taken is there for the next. */
static void closed_in_the_middle(void **state)
{
	struct card card;
	struct pb_channel other;
	struct request whole = {0, 0, 0, 0, 0, 0};

	(void)state;
	card_attach(&card);
	card_join(&card, &other, 2);
	whole.backing = card.channel.card.capabilities[PB_CAPABILITY_POOL_BYTES] -
			9 * card.channel.card.capabilities[PB_CAPABILITY_POOL_BYTES_MIN];
	whole.size = whole.backing;
	for (uint32_t steps = 0; steps < 300; steps = steps < 12 ? steps + 1 : steps + 50) {
		card_leave(&card.channel);
		card_join(&card, &card.channel, 1);
		card.link = card.channel.link;
		send_create(&card.channel, 1, &largest);
		for (uint32_t i = 0; i < steps; i++)
			pb_sim_step(card.sim);
		assert_int_equal(pb_channel_detach(&card.channel), PB_ERROR_OK);
		assert_int_equal(create(&other, &whole, NULL), PB_ERROR_OK);
		assert_int_equal(destroy(&other, 0), PB_ERROR_OK);
		assert_int_equal(pb_channel_attach(&card.channel, card.link, 1000000), PB_ERROR_OK);
		assert_int_equal(create(&card.channel, &the_aperture, NULL), PB_ERROR_OK);
	}
	card_leave(&other);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_aperture)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
		cmocka_unit_test(capabilities),
		cmocka_unit_test(table_is_taken_from_the_pool),
		cmocka_unit_test(table_is_cleared_first),
		cmocka_unit_test(segment_being_made),
		cmocka_unit_test(commands_behind_find_the_segment),
		cmocka_unit_test(closed_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
