/* SPDX-License-Identifier: MIT */
/*
 * Cookies, and what happens between two submissions of a buffer: other work on
 * its bytes, errors, queues and channels that go. A patched word is
 * overwritten, which an honest host does not do, to see whether it is patched.
 */
#include <string.h>

#include "tests/unit/patch_oracle.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define WORDS        4096u /* of the buffer, an entry each; several passes of the firmware */
#define COOKIE       0xc001u
#define POISON       0x0badbad0u
#define HERE         0x1000000u /* where the allocation is at first */
#define THERE        0x2000000u

static void place_allocation(const struct card *card, uint32_t address)
{
	card_allocation(card, 0, address, 0x10000, CARD_SEGMENT(3));
}

static void write_entry(const struct card *card, uint32_t i, uint32_t format)
{
	const struct pb_patch_location patch = {
		.driver_id = format, .allocation_offset = i, .patch_offset = 4u * i};

	card_patch(card, i, &patch);
}

static struct pb_descriptor describe(const struct card *card)
{
	struct pb_descriptor descriptor = card_descriptor(card, 1, WORDS * 4u, 1, WORDS);

	descriptor.flags = PB_FLAG_NULL_RENDERING;
	descriptor.cookie = COOKIE;
	return descriptor;
}

static struct pb_descriptor start(struct card *card)
{
	card_start(card);
	place_allocation(card, HERE);
	for (uint32_t i = 0; i < WORDS; i++)
		write_entry(card, i, PB_PATCH_FORMAT_ADDRESS32);
	return describe(card);
}

static void poison(const struct card *card, uint32_t word)
{
	card_dma(card, 1)[word] = POISON;
}

/** Submits what is good. */
static void run(struct card *card, const struct pb_descriptor *descriptor)
{
	assert_int_equal(card_execute(card, 0, descriptor).status, PB_ERROR_OK);
}

/** Submits it again, and expects the words of an allocation there. */
static void expect_patched(struct card *card, const struct pb_descriptor *descriptor, uint32_t address)
{
	place_allocation(card, address);
	run(card, descriptor);
	for (uint32_t i = 0; i < WORDS; i++)
		card_equal("word", card_dma(card, 1)[i], address + i);
}

static void expect_skipped(struct card *card, const struct pb_descriptor *descriptor, uint32_t address)
{
	const struct pb_fence before = card_wait(card, 0, card->queues[0].put);

	place_allocation(card, address);
	poison(card, 9);
	run(card, descriptor);
	card_equal("skipped", card_dma(card, 1)[9], POISON);
	card_equal("skipped", card_wait(card, 0, card->queues[0].put).patches, before.patches);
	card_dma(card, 1)[9] = address + 9u;
}

/** Other work that patches some of the bytes, for an allocation elsewhere. The host itself wrote nothing. */
static void other_work_on_the_bytes(void **state)
{
	static const struct {
		const char *name;
		uint32_t first, end; /* words */
		uint32_t cookie;
		bool meets; /* the range that is looked at: words 64 to 128 */
	} rows[] = {
		{"the same, no cookie", 64, 128, 0, true},
		{"the same, another cookie", 64, 128, COOKIE + 1u, true},
		{"its first word", 64, 65, 0, true},
		{"its last word", 127, 128, 0, true},
		{"over its start", 0, 65, COOKIE + 1u, true},
		{"over its end", 127, 200, 0, true},
		{"around it", 0, WORDS, COOKIE + 2u, true},
		{"inside it", 80, 90, COOKIE + 2u, true},
		{"before it", 0, 64, 0, false},
		{"behind it", 128, WORDS, COOKIE + 3u, false},
	};
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	descriptor = start(&card);
	descriptor.dma_start = 64 * 4;
	descriptor.dma_end = 128 * 4;
	descriptor.patch_start = 64;
	descriptor.patch_length = 64;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_descriptor other = describe(&card);

		place_allocation(&card, HERE);
		run(&card, &descriptor);
		place_allocation(&card, THERE);
		other.cookie = rows[i].cookie;
		other.dma_start = rows[i].first * 4u;
		other.dma_end = rows[i].end * 4u;
		other.patch_start = rows[i].first;
		other.patch_length = rows[i].end - rows[i].first;
		run(&card, &other);
		place_allocation(&card, HERE);
		if (!rows[i].meets)
			poison(&card, 80);
		run(&card, &descriptor);
		for (uint32_t w = 64; w < 128; w++)
			card_equal(rows[i].name, card_dma(&card, 1)[w],
				   w == 80 && !rows[i].meets ? POISON : HERE + w);
	}
	card_stop(&card);
}

/** Another buffer's list fails: what was patched is as it was. This one's list fails: it is not. */
static void errors_in_between(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	descriptor = start(&card);
	expect_patched(&card, &descriptor, HERE);
	/* In the allocation list: nothing has been written. */
	card_allocation(&card, 0, HERE, 0, CARD_SEGMENT(3));
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_BAD_ALLOCATION);
	assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	expect_skipped(&card, &descriptor, HERE);
	/* In the patch list, at its end: it is half there. */
	write_entry(&card, WORDS - 1u, 99);
	place_allocation(&card, THERE);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_PATCH_FORMAT);
	assert_int_equal(card_dma(&card, 1)[0], THERE);
	assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	write_entry(&card, WORDS - 1u, PB_PATCH_FORMAT_ADDRESS32);
	expect_patched(&card, &descriptor, HERE);
	expect_skipped(&card, &descriptor, HERE);
	card_stop(&card);
}

/** A list that failed is not known: it fails again, wherever its bad entry is, and so does a bad descriptor. */
static void bad_is_bad_each_time(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	descriptor = start(&card);
	write_entry(&card, WORDS - 1u, 99);
	for (uint32_t i = 0; i < 3; i++) {
		const struct pb_fence fence = card_execute(&card, 0, &descriptor);

		assert_int_equal(fence.status, PB_ERROR_PATCH_FORMAT);
		assert_int_equal(fence.patches, (WORDS - 1u) * (i + 1u));
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	write_entry(&card, WORDS - 1u, PB_PATCH_FORMAT_ADDRESS32);
	expect_patched(&card, &descriptor, HERE);
	descriptor.dma_size = CARD_SYSTEM_BYTES;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_BAD_BUFFER);
	assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	descriptor = describe(&card);
	expect_skipped(&card, &descriptor, HERE);
	card_stop(&card);
}

/** A queue that goes in the middle leaves a buffer that is half one thing and half the other. */
static void queue_destroyed_in_the_middle(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	descriptor = start(&card);
	expect_patched(&card, &descriptor, HERE);
	place_allocation(&card, THERE);
	card_submit(&card, 1, &descriptor);
	while (card_dma(&card, 1)[0] == HERE)
		pb_sim_step(card.sim);
	assert_int_equal(pb_queue_destroy(&card.queues[1]), PB_ERROR_OK);
	assert_int_equal(card_dma(&card, 1)[0], THERE);
	assert_int_equal(card_dma(&card, 1)[WORDS - 1u], HERE + WORDS - 1u);
	expect_patched(&card, &descriptor, HERE);
	expect_skipped(&card, &descriptor, HERE);
	card_stop(&card);
}

/** A value of the submission's own is another one each time. */
static void fence_ids_are_never_skipped(void **state)
{
	static const uint32_t places[] = {0, 1, 1200, WORDS - 1u};

	(void)state;
	for (uint32_t i = 0; i < COUNT(places) * 2u; i++) {
		const uint32_t place = places[i / 2u];
		struct pb_patch_format format = {
			.source = PB_FORMAT_FENCE, .bound = PB_FORMAT_NONE, .align = 4, .mask = 0xffffffff};
		struct card card;
		struct pb_descriptor descriptor = start(&card);
		uint32_t reason;

		assert_int_equal(oracle_format_set(&card.channel, PB_FORMAT_OWN, &format, &reason),
				 PB_ERROR_OK);
		write_entry(&card, place, i % 2u == 0 ? PB_PATCH_FORMAT_FENCE_ID : PB_FORMAT_OWN);
		for (uint32_t round = 1; round < 5; round++) {
			descriptor.fence_id = 0x1000u * round;
			run(&card, &descriptor);
			assert_int_equal(card_dma(&card, 1)[place], 0x1000u * round + place);
		}
		card_stop(&card);
	}
}

/** More buffers than the firmware can know: some are patched again, all are right. */
static void more_cookies_than_places(void **state)
{
	const uint32_t buffers = 100;
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	descriptor = start(&card);
	descriptor.dma_end = 64;
	descriptor.patch_length = 16;
	for (uint32_t i = 0; i < 6u * buffers; i++) {
		const uint32_t b = i % buffers;
		const uint32_t address = i / buffers % 3u == 1 ? HERE : THERE;

		place_allocation(&card, address);
		descriptor.dma_address_low = (uint32_t)CARD_SYSTEM_OS + CARD_DMA + b * CARD_DMA_STRIDE;
		descriptor.cookie = COOKIE + b * 0x01000193u;
		run(&card, &descriptor);
		for (uint32_t w = 0; w < 16; w++)
			card_equal("word", card_dma(&card, b)[w], address + w);
	}
	card_stop(&card);
}

/** Everything is as it was, but for the channel's epoch: memory may have been another's in between. */
static void channel_attached_again(void **state)
{
	static struct pb_patch_location list[WORDS];
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	descriptor = start(&card);
	expect_patched(&card, &descriptor, HERE);
	memcpy(list, card_bytes(&card, 0, CARD_PATCHES), sizeof(list));
	for (uint32_t round = 0; round < 3; round++) {
		const uint32_t where = card.segments[0].memory_offset;
		struct card again = {.sim = card.sim};

		card_leave(&card.channel);
		card_join(&card, &again.channel, 1);
		again.link = again.channel.link;
		card_make_segments(&again.channel, again.segments);
		assert_int_equal(again.segments[0].memory_offset, where);
		assert_int_equal(pb_context_create(&again.channel, &again.context), PB_ERROR_OK);
		assert_int_equal(pb_queue_create(&again.queues[0], &again.channel, &again.segments[0], 0, 16),
				 PB_ERROR_OK);
		card = again;
		descriptor.context = card.context;
		memcpy(card_bytes(&card, 0, CARD_PATCHES), list, sizeof(list)); /* its memory was cleared */
		poison(&card, 9);
		expect_patched(&card, &descriptor, HERE);
		expect_skipped(&card, &descriptor, HERE);
	}
	card_stop(&card);
}

/** Cookies are a channel's own. */
static void other_channel_same_cookie(void **state)
{
	struct card card, other;
	struct pb_descriptor descriptor;

	(void)state;
	descriptor = start(&card);
	expect_patched(&card, &descriptor, HERE);
	other = (struct card){.sim = card.sim};
	card_join(&card, &other.channel, 2);
	other.link = other.channel.link;
	card_make_segments(&other.channel, other.segments);
	assert_int_equal(pb_context_create(&other.channel, &other.context), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&other.queues[0], &other.channel, &other.segments[0], 0, 16),
			 PB_ERROR_OK);
	for (uint32_t i = 0; i < WORDS; i++)
		write_entry(&other, i, PB_PATCH_FORMAT_ADDRESS32);
	for (uint32_t round = 0; round < 3; round++) {
		struct pb_descriptor theirs = describe(&other);

		expect_patched(&other, &theirs, round % 2u != 0 ? HERE : THERE);
		expect_patched(&card, &descriptor, round % 2u != 0 ? THERE : HERE);
	}
	card_leave(&other.channel);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_cookie_between)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_work_on_the_bytes),
		cmocka_unit_test(errors_in_between),
		cmocka_unit_test(bad_is_bad_each_time),
		cmocka_unit_test(queue_destroyed_in_the_middle),
		cmocka_unit_test(fence_ids_are_never_skipped),
		cmocka_unit_test(more_cookies_than_places),
		cmocka_unit_test(channel_attached_again),
		cmocka_unit_test(other_channel_same_cookie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
