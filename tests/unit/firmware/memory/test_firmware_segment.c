/* SPDX-License-Identifier: MIT */
/* Segments: what may be made, where its memory comes from, when it may go. */
#include <string.h>

#include "qemu/mcu/layout.h"
#include "tests/unit/card_fixture.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define PAGE         0x1000u
#define MIB          0x100000u

static enum pb_error create(struct pb_channel *channel, uint32_t id, uint64_t os_base, uint64_t gpu_base,
			    uint64_t size, uint32_t backing, uint32_t *offset)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		id,
		PB_SEGMENT_LINEAR,
		(uint32_t)os_base,
		(uint32_t)(os_base >> 32),
		(uint32_t)gpu_base,
		(uint32_t)(gpu_base >> 32),
		(uint32_t)size,
		(uint32_t)(size >> 32),
		backing,
	};
	uint32_t results[PB_REPLY_RESULTS] = {0};
	enum pb_error error = pb_channel_command(channel, PB_COMMAND_SEGMENT_CREATE, arguments, results);

	if (offset != NULL)
		*offset = results[0];
	return error;
}

static enum pb_error destroy(struct pb_channel *channel, uint32_t id)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {id};

	return pb_channel_command(channel, PB_COMMAND_SEGMENT_DESTROY, arguments, NULL);
}

/* ---- arguments ---- */

#define TOP (UINT64_MAX - 0xfffu) /* the last page of all addresses */

/** Each is made beside segment 0: OS 1 MiB, GPU 4 MiB to 5 MiB, of which half a MiB is backed. */
static const struct {
	const char *name;
	uint32_t id;
	uint64_t os_base;
	uint64_t gpu_base;
	uint64_t size;
	uint32_t backing;
	enum pb_error error;
} rows[] = {
	{"one page", 1, 0, 0, PAGE, PAGE, PB_ERROR_OK},
	{"addresses only", 1, 0, 0, PAGE, 0, PB_ERROR_OK},
	{"up to 2^64 - 1 page", 1, TOP - PAGE, TOP - PAGE, PAGE, PAGE, PB_ERROR_OK},
	{"all addresses but the last page", 3, 0, 0, TOP, 0, PB_ERROR_OK},
	{"OS addresses of another segment", 1, MIB, 0, MIB, PAGE, PB_ERROR_OK},
	{"adjoining below", 1, 0, 3 * MIB, MIB, MIB, PB_ERROR_OK},
	{"adjoining above", 1, 0, 5 * MIB, MIB, MIB, PB_ERROR_OK},
	{"over the part that is not backed", 1, 0, 4 * MIB + MIB / 2, MIB, MIB, PB_ERROR_OK},
	{"its part that is not backed reaches over", 1, 0, 3 * MIB, 4 * MIB, MIB, PB_ERROR_OK},
	{"addresses only, over memory", 1, 0, 4 * MIB, MIB, 0, PB_ERROR_OK},

	{"segment 31", 31, 0, 0, PAGE, 0, PB_ERROR_OK},
	{"segment 32", 32, 0, 0, PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"segment 2^32 - 1", 0xffffffff, 0, 0, PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"segment that exists", 0, 0, 0, PAGE, 0, PB_ERROR_BUSY},
	{"size 0", 1, 0, 0, 0, 0, PB_ERROR_BAD_ARGUMENT},
	{"size misaligned", 1, 0, 0, PAGE + 4, 0, PB_ERROR_BAD_ARGUMENT},
	{"size below a page", 1, 0, 0, 64, 0, PB_ERROR_BAD_ARGUMENT},
	{"OS base misaligned", 1, 2048, 0, PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"GPU base misaligned", 1, 0, 64, PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"backing misaligned", 1, 0, 0, PAGE, 64, PB_ERROR_BAD_ARGUMENT},
	{"backing larger than the segment", 1, 0, 0, PAGE, 2 * PAGE, PB_ERROR_BAD_ARGUMENT},
	{"OS addresses to 2^64", 1, TOP, 0, PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"OS addresses wrap", 1, TOP, 0, 2 * PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"GPU addresses to 2^64", 1, 0, TOP, PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"GPU addresses wrap", 1, 0, TOP, 2 * PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"size wraps", 1, 2 * PAGE, 0, TOP, 0, PB_ERROR_BAD_ARGUMENT},
	{"same memory", 1, 0, 4 * MIB, MIB / 2, MIB / 2, PB_ERROR_BAD_ARGUMENT},
	{"last backed page", 1, 0, 4 * MIB + MIB / 2 - PAGE, PAGE, PAGE, PB_ERROR_BAD_ARGUMENT},
	{"reaches the first page", 1, 0, 3 * MIB, MIB + PAGE, MIB + PAGE, PB_ERROR_BAD_ARGUMENT},
	{"within", 1, 0, 4 * MIB + PAGE, PAGE, PAGE, PB_ERROR_BAD_ARGUMENT},
	{"around", 1, 0, 3 * MIB, 4 * MIB, 4 * MIB, PB_ERROR_BAD_ARGUMENT},
	{"more than the pool", 1, 0, 0x100000000, 16 * MIB, 16 * MIB, PB_ERROR_NO_SPACE},
	{"far more than the pool", 1, 0, 0x100000000, 0x100000000, 0xfffff000, PB_ERROR_NO_SPACE},
};

static void every_row(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct card card;

		card_attach(&card);
		assert_int_equal(create(&card.channel, 0, MIB, 4 * MIB, MIB, MIB / 2, NULL), PB_ERROR_OK);
		card_equal(rows[i].name,
			   create(&card.channel, rows[i].id, rows[i].os_base, rows[i].gpu_base, rows[i].size,
				  rows[i].backing, NULL),
			   rows[i].error);
		/* A refused one leaves nothing behind, neither itself nor memory taken. */
		if (rows[i].error != PB_ERROR_OK && rows[i].id == 1)
			card_equal(rows[i].name,
				   create(&card.channel, 1, 0, 0x100000000, 11 * MIB, 11 * MIB, NULL),
				   PB_ERROR_OK);
		card_stop(&card);
	}
}

static void kinds(void **state)
{
	struct card card;
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {1, 2, 0, 0, 0, 0, PAGE};
	static const uint32_t unknown[] = {2, 3, 4, 256, 257, 0xffffffff};

	(void)state;
	card_attach(&card);
	assert_int_equal(card.channel.card.capabilities[PB_CAPABILITY_SEGMENT_KINDS], 3);
	for (uint32_t i = 0; i < COUNT(unknown); i++) {
		arguments[1] = unknown[i];
		assert_int_equal(
			pb_channel_command(&card.channel, PB_COMMAND_SEGMENT_CREATE, arguments, NULL),
			PB_ERROR_UNSUPPORTED);
	}
	for (uint32_t kind = PB_SEGMENT_LINEAR; kind <= PB_SEGMENT_APERTURE; kind++) {
		arguments[0] = 1 + kind;
		arguments[1] = kind;
		assert_int_equal(
			pb_channel_command(&card.channel, PB_COMMAND_SEGMENT_CREATE, arguments, NULL),
			PB_ERROR_OK);
	}
	card_stop(&card);
}

static void destroy_what_is_not_there(void **state)
{
	static const uint32_t ids[] = {1, 4, 31, 32, 0xffffffff};
	struct card card;

	(void)state;
	card_attach(&card);
	for (uint32_t i = 0; i < COUNT(ids); i++)
		assert_int_equal(destroy(&card.channel, ids[i]), PB_ERROR_BAD_ARGUMENT);
	assert_int_equal(create(&card.channel, 1, 0, 0, PAGE, PAGE, NULL), PB_ERROR_OK);
	assert_int_equal(destroy(&card.channel, 1), PB_ERROR_OK);
	assert_int_equal(destroy(&card.channel, 1), PB_ERROR_BAD_ARGUMENT);
	card_stop(&card);
}

/* ---- the pool ---- */

static void first_fit(void **state)
{
	struct card card;
	struct pb_channel *channel = &card.channel;
	uint32_t pool, offset[4], again;

	(void)state;
	card_attach(&card);
	pool = channel->card.capabilities[PB_CAPABILITY_POOL_OFFSET];
	for (uint32_t s = 0; s < 4; s++)
		assert_int_equal(create(channel, s, 0, s * MIB, MIB, (s + 1) * PAGE, &offset[s]),
				 PB_ERROR_OK);
	assert_int_equal(offset[0], pool);
	assert_int_equal(offset[1], pool + 1 * PAGE);
	assert_int_equal(offset[2], pool + 3 * PAGE);
	assert_int_equal(offset[3], pool + 6 * PAGE);
	/* The first gap that is long enough is taken: behind page 1 there are two, later seven from page 3. */
	assert_int_equal(destroy(channel, 1), PB_ERROR_OK);
	assert_int_equal(create(channel, 1, 0, MIB, MIB, 3 * PAGE, &again), PB_ERROR_OK);
	assert_int_equal(again, pool + 10 * PAGE);
	assert_int_equal(destroy(channel, 3), PB_ERROR_OK);
	assert_int_equal(create(channel, 3, 0, 3 * MIB, MIB, 2 * PAGE, &again), PB_ERROR_OK);
	assert_int_equal(again, pool + 1 * PAGE);
	assert_int_equal(destroy(channel, 2), PB_ERROR_OK);
	assert_int_equal(create(channel, 2, 0, 2 * MIB, MIB, 7 * PAGE, &again), PB_ERROR_OK);
	assert_int_equal(again, pool + 3 * PAGE);
	card_stop(&card);
}

/** What all channels share of the pool: the rest is kept for them, an equal part for each. */
static uint32_t shared_pool(const struct card *card)
{
	const uint32_t *capabilities = card->channel.card.capabilities;

	return capabilities[PB_CAPABILITY_POOL_BYTES] -
	       card->channel.card.channel_count * capabilities[PB_CAPABILITY_POOL_BYTES_MIN];
}

static void pool_to_its_last_page(void **state)
{
	struct card card;
	struct pb_channel neighbour;
	uint32_t pool, own, offset;

	(void)state;
	card_attach(&card);
	card_join(&card, &neighbour, 2);
	pool = shared_pool(&card);
	own = card.channel.card.capabilities[PB_CAPABILITY_POOL_BYTES_MIN];
	assert_int_equal(create(&card.channel, 0, 0, 0, pool + PAGE, pool + PAGE, NULL), PB_ERROR_NO_SPACE);
	assert_int_equal(create(&card.channel, 0, 0, 0, pool, pool - PAGE, NULL), PB_ERROR_OK);
	/* Each has one page more than its own part; then only its own part is left, to its last page. */
	assert_int_equal(create(&neighbour, 0, 0, 0, pool, own + PAGE, NULL), PB_ERROR_NO_SPACE);
	assert_int_equal(create(&neighbour, 0, 0, 0, pool, PAGE, &offset), PB_ERROR_OK);
	assert_int_equal(offset, PB_CARD_TRACE_OFFSET - 9 * own - PAGE);
	assert_int_equal(create(&neighbour, 1, 0, 0, pool, 0, &offset), PB_ERROR_OK);
	assert_int_equal(offset, 0);
	assert_int_equal(create(&neighbour, 2, 0, MIB, pool, own + PAGE, NULL), PB_ERROR_NO_SPACE);
	assert_int_equal(create(&neighbour, 2, 0, MIB, pool, own - PAGE, &offset), PB_ERROR_OK);
	assert_int_equal(offset, PB_CARD_TRACE_OFFSET - 7 * own);
	assert_int_equal(create(&neighbour, 3, 0, pool + MIB, pool, PAGE, &offset), PB_ERROR_OK);
	assert_int_equal(offset, PB_CARD_TRACE_OFFSET - 6 * own - PAGE);
	assert_int_equal(create(&neighbour, 4, 0, 3 * pool, pool, PAGE, NULL), PB_ERROR_NO_SPACE);
	assert_int_equal(create(&card.channel, 4, 0, 3 * pool, pool, own, &offset), PB_ERROR_OK);
	assert_int_equal(offset, PB_CARD_TRACE_OFFSET - 8 * own);
	assert_int_equal(pb_channel_detach(&card.channel), PB_ERROR_OK);
	assert_int_equal(create(&neighbour, 4, 0, 3 * pool, pool, pool - PAGE, &offset), PB_ERROR_OK);
	card_leave(&neighbour);
	card_stop(&card);
}

/** Of 96, which are five for each channel that has none: beside three channels there are six. */
#define TAKEN 66u

/** As many segments as three channels can have, made and destroyed in another order, twice; the next has its own only. */
static void as_many_as_there_can_be(void **state)
{
	struct card card;
	struct pb_channel channels[4];

	(void)state;
	card_attach(&card);
	assert_int_equal(card.channel.card.capabilities[PB_CAPABILITY_SEGMENTS_TOTAL], 96);
	for (uint32_t c = 0; c < 4; c++)
		card_join(&card, &channels[c], 2 + c);
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < TAKEN; i++)
			assert_int_equal(
				create(&channels[i % 3], i / 3, 0, i * MIB, MIB, (1 + i % 7) * PAGE, NULL),
				PB_ERROR_OK);
		for (uint32_t c = 0; c < 3; c++)
			assert_int_equal(create(&channels[c], TAKEN / 3, 0, 40 * MIB, MIB, 0, NULL),
					 PB_ERROR_NO_SPACE);
		for (uint32_t s = 0; s < 6; s++)
			assert_int_equal(create(&channels[3], s, 0, s * MIB, MIB, 0, NULL),
					 s < 5 ? PB_ERROR_OK : PB_ERROR_NO_SPACE);
		for (uint32_t s = 0; s < 5; s++)
			assert_int_equal(destroy(&channels[3], s), PB_ERROR_OK);
		for (uint32_t i = 0; i < TAKEN; i++)
			assert_int_equal(destroy(&channels[i * 5 % 3], i * 5 % TAKEN / 3), PB_ERROR_OK);
	}
	for (uint32_t c = 0; c < 4; c++)
		card_leave(&channels[c]);
	card_stop(&card);
}

/** A channel with all that it can have is closed, and another finds all of it. */
static void closing_gives_everything_back(void **state)
{
	struct card card;
	uint32_t pool;

	(void)state;
	card_attach(&card);
	pool = shared_pool(&card);
	for (uint32_t round = 0; round < 4; round++) {
		const uint32_t number = 1 + round % 2;
		struct pb_channel channel;

		card_join(&card, &channel, number);
		for (uint32_t s = 0; s < 32; s++)
			assert_int_equal(create(&channel, s, 0, s * MIB, MIB, MIB / 4, NULL), PB_ERROR_OK);
		assert_int_equal(pb_channel_detach(&channel), PB_ERROR_OK);
		card_leave(&channel);
		card_join(&card, &channel, 3);
		assert_int_equal(create(&channel, 0, 0, 0, pool, pool, NULL), PB_ERROR_OK);
		assert_int_equal(pb_channel_detach(&channel), PB_ERROR_OK);
		card_leave(&channel);
	}
	card_stop(&card);
}

/* ---- in use ---- */

static void segment_in_use_is_busy(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	/* Segment 0 holds the queues. */
	assert_int_equal(destroy(&card.channel, 0), PB_ERROR_BUSY);
	card_dma(&card, 0)[0] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
	card_dma(&card, 0)[1] = 30000;
	descriptor = card_descriptor(&card, 0, 8, 0, 0);
	card_submit(&card, 1, &descriptor);
	card_run(&card, 1000);
	for (uint32_t s = 0; s < 4; s++)
		assert_int_equal(destroy(&card.channel, s), PB_ERROR_BUSY);
	assert_int_equal(card_wait(&card, 1, 1).status, PB_ERROR_OK);
	for (uint32_t s = 1; s < 4; s++)
		assert_int_equal(destroy(&card.channel, s), PB_ERROR_OK);
	assert_int_equal(destroy(&card.channel, 0), PB_ERROR_BUSY);
	assert_int_equal(pb_queue_destroy(&card.queues[0]), PB_ERROR_OK);
	assert_int_equal(destroy(&card.channel, 0), PB_ERROR_BUSY);
	assert_int_equal(pb_queue_destroy(&card.queues[1]), PB_ERROR_OK);
	assert_int_equal(destroy(&card.channel, 0), PB_ERROR_OK);
	card_stop(&card);
}

/** The engine loses sight of a segment's memory with the segment. */
static void destroyed_segment_is_out_of_reach(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	uint8_t *gone;

	(void)state;
	card_start(&card);
	gone = card_bytes(&card, 1, 0);
	assert_int_equal(destroy(&card.channel, 1), PB_ERROR_OK);
	card_fill(card_dma(&card, 0), CARD_VIDEO_GPU, 4, 0xbad);
	descriptor = card_descriptor(&card, 0, 20, 0, 0);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_ENGINE_FAULT);
	assert_int_equal(gone[0], 0);
	/* Made again with another GPU base, it is where it was. */
	assert_int_equal(create(&card.channel, 1, 0, 0x200000000, PAGE, PAGE, NULL), PB_ERROR_OK);
	assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_ENGINE_FAULT);
	assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	card_fill(card_dma(&card, 0), 0x200000000, 4, 0x600d);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 1, 0), 0x600d);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_segment)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
		cmocka_unit_test(kinds),
		cmocka_unit_test(destroy_what_is_not_there),
		cmocka_unit_test(first_fit),
		cmocka_unit_test(pool_to_its_last_page),
		cmocka_unit_test(as_many_as_there_can_be),
		cmocka_unit_test(closing_gives_everything_back),
		cmocka_unit_test(segment_in_use_is_busy),
		cmocka_unit_test(destroyed_segment_is_out_of_reach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
