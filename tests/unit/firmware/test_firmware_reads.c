/* SPDX-License-Identifier: MIT */
/*
 * A host that changes a descriptor or a list under the firmware's hands: each
 * of their words turns into something else as soon as it has been read. Work
 * comes out as if nothing had happened, so nothing is read twice; what has not
 * turned was not read at all.
 */
#include <string.h>

#include "hal/engine/registers.h"
#include "hal/engine_memory.h"
#include "qemu/mcu/layout.h"
#include "tests/unit/card_fixture.h"
#include "tests/unit/stepped.h"

#define NONSENSE    0xfffffffdu
#define ALLOCATIONS 80u /* more than two slices */
#define PATCHES     300u

/** Areas of card memory that turn; empty ones do not. */
static struct {
	const uint8_t *begin;
	const uint8_t *end;
} areas[3];
static uint32_t turned;
static uint32_t nonsense; /* what they turn into */

uint32_t pb_stepped_read32(const uint32_t *address)
{
	const uint32_t value = *address;
	uint8_t *at = (uint8_t *)(uintptr_t)address;

	for (uint32_t i = 0; i < 3; i++) {
		if (at >= areas[i].begin && at < areas[i].end) {
			*(uint32_t *)(void *)at = nonsense;
			turned++;
		}
	}
	return value;
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

static void watch(uint32_t area, uint8_t *begin, size_t bytes)
{
	areas[area].begin = begin;
	areas[area].end = begin + bytes;
}

static void watch_nothing(void)
{
	memset(areas, 0, sizeof(areas));
}

static int start(void **state)
{
	(void)state;
	watch_nothing();
	turned = 0;
	nonsense = NONSENSE;
	return 0;
}

/** The ring's next entry. */
static struct pb_descriptor *next_entry(const struct card *card)
{
	const struct pb_queue *queue = &card->queues[0];

	return (struct pb_descriptor *)(void *)(queue->memory.bytes_host + sizeof(struct pb_queue_page)) +
	       queue->put % queue->entries;
}

/** Allocation i starts at this GPU address; every seventh is unbound. */
static uint64_t address_of(uint32_t i)
{
	return CARD_VIDEO_GPU + i * 0x1000u;
}

static bool is_unbound(uint32_t i)
{
	return i % 7 == 3;
}

/** Patch i: formats change along the list, so that both ways through patch.c are taken. */
static struct pb_patch_location patch_of(uint32_t i)
{
	return (struct pb_patch_location){
		.allocation_index = i % ALLOCATIONS,
		.slot = i,
		.driver_id = i / 10 % 3 == 0 ? PB_PATCH_FORMAT_ADDRESS64_WRITE : PB_PATCH_FORMAT_SUM64_SIGNED,
		.allocation_offset = i,
		.patch_offset = i * 8,
		.split_offset = 0x51000000u + i,
	};
}

static void write_lists(const struct card *card)
{
	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		card_allocation(card, i, CARD_VIDEO_OS + i * 0x1000u, 0x1000,
				is_unbound(i) ? PB_ALLOCATION_UNBIND : CARD_SEGMENT(1) | PB_ALLOCATION_WRITE);
	for (uint32_t i = 0; i < PATCHES; i++) {
		const struct pb_patch_location patch = patch_of(i);

		card_patch(card, i, &patch);
	}
}

static void watch_all(const struct card *card)
{
	watch(0, (uint8_t *)next_entry(card), sizeof(struct pb_descriptor));
	watch(1, card_bytes(card, 0, CARD_ALLOCATIONS), ALLOCATIONS * sizeof(struct pb_allocation));
	watch(2, card_bytes(card, 0, CARD_PATCHES), PATCHES * sizeof(struct pb_patch_location));
}

static void every_word_is_read_once(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	write_lists(&card);
	descriptor = card_descriptor(&card, 0, PATCHES * 8u, ALLOCATIONS, PATCHES);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	descriptor.fence_id = 0xfe;
	descriptor.private_address_low = (uint32_t)CARD_SYSTEM_OS;
	descriptor.private_size = 16;
	watch_all(&card);
	fence = card_execute(&card, 0, &descriptor);
	assert_true(turned > PATCHES * 5u + ALLOCATIONS * 5u);
	assert_int_equal(fence.status, PB_ERROR_OK);
	assert_int_equal(fence.fence_id, 0xfe);
	assert_int_equal(fence.timeline, 1);
	assert_int_equal(fence.patches, PATCHES);
	for (uint32_t i = 0; i < PATCHES; i++) {
		const uint32_t a = i % ALLOCATIONS;
		const uint64_t expected = is_unbound(a) ? 0 : address_of(a) + i;

		card_equal("low", card_dma(&card, 0)[2 * i], (uint32_t)expected);
		card_equal("high", card_dma(&card, 0)[2 * i + 1], (uint32_t)(expected >> 32));
	}
	card_stop(&card);
}

/**
 * A bad entry stays bad, whatever it turns into: an earlier, longer list has
 * left an allocation where its index points. The entry that the error names is
 * counted from numbers that were read before, too.
 */
static void bad_entry_stays_bad(void **state)
{
	static const uint32_t values[] = {NONSENSE, 0};
	const uint32_t last = PATCHES - 1;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct card card;
		struct pb_patch_location bad = patch_of(last);
		struct pb_descriptor descriptor;
		struct pb_fence fence;

		card_start(&card);
		write_lists(&card);
		card_allocation(&card, ALLOCATIONS, CARD_VIDEO_OS, 0x1000, CARD_SEGMENT(1));
		descriptor = card_descriptor(&card, 0, PATCHES * 8u, ALLOCATIONS + 1, PATCHES);
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);

		bad.allocation_index = ALLOCATIONS;
		card_patch(&card, last, &bad);
		card_dma(&card, 0)[2 * last] = 0x1234;
		descriptor.allocation_count = ALLOCATIONS;
		descriptor.patch_start = 50;
		descriptor.patch_length = PATCHES - 50;
		nonsense = values[i];
		watch_all(&card);
		fence = card_execute(&card, 0, &descriptor);
		assert_int_equal(fence.status, PB_ERROR_PATCH_INDEX);
		assert_int_equal(fence.error_index, last);
		assert_int_equal(fence.patches, PATCHES + PATCHES - 51);
		assert_int_equal(card_dma(&card, 0)[2 * last], 0x1234);
		watch_nothing();
		card_stop(&card);
	}
}

/** Fields that the contract leaves to the host stand as they were. */
static void the_hosts_words_are_not_read(void **state)
{
	struct card card;
	struct pb_descriptor descriptor, *entry;

	(void)state;
	card_start(&card);
	write_lists(&card);
	descriptor = card_descriptor(&card, 0, PATCHES * 8u, ALLOCATIONS, PATCHES);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	descriptor.engine_ordinal = 0x0e0e0e0e;
	descriptor.private_address_low = 0x0b0b0b0b;
	descriptor.private_address_high = 0x0c0c0c0c;
	descriptor.wait_address_low = 0x0d0d0d0d;
	descriptor.wait_address_high = 0x0f0f0f0f;
	entry = next_entry(&card);
	watch_all(&card);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(entry->flags, NONSENSE);
	assert_int_equal(entry->engine_ordinal, 0x0e0e0e0e);
	assert_int_equal(entry->reserved, 0); /* the library stores 0; what is read turns into NONSENSE */
	assert_int_equal(entry->private_address_low, 0x0b0b0b0b);
	assert_int_equal(entry->private_address_high, 0x0c0c0c0c);
	assert_int_equal(entry->wait_address_low, 0x0d0d0d0d);
	assert_int_equal(entry->wait_address_high, 0x0f0f0f0f);
	for (uint32_t i = 0; i < ALLOCATIONS; i++) {
		struct pb_allocation allocation;

		memcpy(&allocation, card_bytes(&card, 0, CARD_ALLOCATIONS + i * (uint32_t)sizeof(allocation)),
		       sizeof(allocation));
		assert_int_equal(allocation.flags, NONSENSE);
		assert_int_equal(allocation.id, NONSENSE); /* formats may write it */
	}
	for (uint32_t i = 0; i < PATCHES; i++) {
		struct pb_patch_location patch;

		memcpy(&patch, card_bytes(&card, 0, CARD_PATCHES + i * (uint32_t)sizeof(patch)),
		       sizeof(patch));
		assert_int_equal(patch.patch_offset, NONSENSE);
		assert_int_equal(patch.split_offset, 0x51000000u + i);
	}
	card_stop(&card);
}

/** Nothing of the list outside [start, start + length) is read, nor of the private data. */
static void only_the_submitted_part_is_read(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	write_lists(&card);
	descriptor = card_descriptor(&card, 0, PATCHES * 8u, ALLOCATIONS, PATCHES);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	descriptor.patch_start = 100;
	descriptor.patch_length = 70;
	descriptor.private_address_low = (uint32_t)CARD_SYSTEM_OS + CARD_DMA - 64;
	descriptor.private_size = 64;
	descriptor.private_end = 64;
	watch(0, card_bytes(&card, 0, CARD_PATCHES), 100 * sizeof(struct pb_patch_location));
	watch(1, card_bytes(&card, 0, CARD_PATCHES + 170 * (uint32_t)sizeof(struct pb_patch_location)),
	      130 * sizeof(struct pb_patch_location));
	watch(2, card_bytes(&card, 0, CARD_DMA - 64), 64);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(turned, 0);
	assert_int_equal(card_dma(&card, 0)[199], 0);
	assert_int_equal(card_dma(&card, 0)[200], (uint32_t)address_of(20) + 100);
	assert_int_equal(card_dma(&card, 0)[340], 0);
	card_stop(&card);
}

/** The cookie is what it was when it was read: the buffer is known by that, and not by what it has become. */
static void cookie_is_read_once(void **state)
{
	static const uint32_t cookies[] = {0xc00c1e, 0, NONSENSE - 1u};
	struct card card;
	struct pb_descriptor descriptor;
	uint64_t before = 0;

	(void)state;
	card_start(&card);
	write_lists(&card);
	descriptor = card_descriptor(&card, 0, PATCHES * 8u, ALLOCATIONS, PATCHES);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	for (uint32_t i = 0; i < sizeof(cookies) / sizeof(cookies[0]); i++) {
		/* Once with words that turn, and again with that name and words that stay. */
		for (uint32_t again = 0; again < 2; again++) {
			struct pb_fence fence;

			descriptor.cookie = cookies[i];
			if (again == 0)
				watch(0, (uint8_t *)next_entry(&card), sizeof(struct pb_descriptor));
			fence = card_execute(&card, 0, &descriptor);
			watch_nothing();
			card_equal("status", fence.status, PB_ERROR_OK);
			card_equal("patches", fence.patches - before,
				   again == 0 || cookies[i] == 0 ? PATCHES : 0);
			before = fence.patches;
		}
	}
	card_stop(&card);
}

/* ---- a format's words ---- */

static enum pb_error set_format(struct card *card, const struct pb_patch_format *format, uint32_t *reason)
{
	const uint8_t *memory = pb_sim_memory(card->sim);
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {PB_FORMAT_OWN};
	const struct pb_channel_entry *entry =
		(const struct pb_channel_entry *)(const void *)(memory + PB_CARD_CHANNELS_OFFSET) + 1;
	const uint32_t at = entry->control_put % entry->control_entries;
	enum pb_error error;

	memcpy(&arguments[1], format, sizeof(*format));
	watch(0, pb_sim_memory(card->sim) + entry->control_offset + at * sizeof(struct pb_command),
	      sizeof(struct pb_command));
	turned = 0;
	error = pb_channel_command(&card->channel, PB_COMMAND_FORMAT_SET, arguments, NULL);
	watch_nothing();
	*reason = ((const struct pb_reply *)(const void *)(memory +
							   entry->reply_offset))[(entry->reply_put - 1u) %
										 entry->control_entries]
			  .results[0];
	return error;
}

/** A format is what was read: a good one is taken as it was, a bad one is refused for what it was. */
static void format_words_are_read_once(void **state)
{
	static const struct pb_patch_format good = {.bound = PB_FORMAT_NONE,
						    .align = 4,
						    .shift_right = 4,
						    .mask = 0x0fffffff,
						    .background = 0x70000000};
	static const struct pb_patch_format bad = {
		.bound = PB_FORMAT_NONE, .align = 4, .mask = 1, .reserved = 1};
	static const uint32_t values[] = {NONSENSE, 0, 0x04000300};

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		const struct pb_patch_location patch = {.driver_id = PB_FORMAT_OWN, .patch_offset = 8};
		struct card card;
		struct pb_descriptor descriptor;
		uint32_t reason;

		card_start(&card);
		nonsense = values[i];
		assert_int_equal(set_format(&card, &bad, &reason), PB_ERROR_BAD_FORMAT);
		assert_int_equal(reason, PB_FORMAT_REASON_RESERVED);
		assert_int_equal(set_format(&card, &good, &reason), PB_ERROR_OK);
		assert_int_equal(reason, PB_FORMAT_REASON_NONE);
		assert_true(turned >= 15); /* code, tag and 13 arguments at least */
		card_allocation(&card, 0, 0x12345670, 0x1000, CARD_SEGMENT(3));
		card_patch(&card, 0, &patch);
		descriptor = card_descriptor(&card, 0, 64, 1, 1);
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
		assert_int_equal(card_dma(&card, 0)[2], 0x71234567);
		card_stop(&card);
	}
}

/* ---- an aperture's page table ---- */

#define APERTURE     4u
#define APERTURE_OS  UINT64_C(0x50000000)
#define APERTURE_GPU UINT64_C(0xa0000000)
#define FIRST_SLOT   20u
#define OTHER_SLOT   30u

/** A buffer of two pages in an aperture. @return the words of its page table */
static uint32_t *start_paged(struct card *card)
{
	static const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		APERTURE, PB_SEGMENT_APERTURE, (uint32_t)APERTURE_OS, 0, (uint32_t)APERTURE_GPU, 0, 0x10000};
	const struct pb_engine_range_entry *ranges;
	uint32_t *table;

	card_start(card);
	assert_int_equal(pb_channel_command(&card->channel, PB_COMMAND_SEGMENT_CREATE, arguments, NULL),
			 PB_ERROR_OK);
	ranges = (const void *)(pb_sim_memory(card->sim) + PB_CARD_RANGES_OFFSET);
	table = (uint32_t *)(void *)(pb_sim_memory(card->sim) +
				     (ranges[PB_ENGINE_RANGES + APERTURE].memory_offset &
				      ~PB_ENGINE_RANGE_PAGED));
	for (uint32_t page = 0; page < 2; page++)
		table[page] =
			(uint32_t)((uint8_t *)card_dma(card, FIRST_SLOT + page) - pb_sim_memory(card->sim)) |
			PB_ENGINE_PAGE_VALID;
	card_allocation(card, 0, 0x33445566, 0x1000, CARD_SEGMENT(3));
	memset(card_dma(card, FIRST_SLOT), 0xdd, 2u * CARD_DMA_STRIDE);
	memset(card_dma(card, OTHER_SLOT), 0xdd, CARD_DMA_STRIDE);
	return table;
}

/**
 * A page's word is read once for each word that is stored, or each byte of one
 * that is not aligned: what was read is what was checked and what is used.
 * After the first read it is gone, or another page of the channel's.
 */
static const struct {
	const char *name;
	uint32_t format;
	uint32_t place;
	uint32_t reads;    /* with words that turn into a good page */
	bool one_word;     /* one read is all that it takes */
	uint32_t first[2]; /* words 0 and 1 of its first page afterwards */
	uint32_t other[2]; /* of the page that it has turned into */
} paged[] = {
	{"a word", PB_PATCH_FORMAT_ADDRESS32, 0, 1, true, {0x33445566, 0xdddddddd}, {0xdddddddd, 0xdddddddd}},
	{"kept bits", PB_PATCH_FORMAT_LOW24, 0, 1, true, {0xdd445566, 0xdddddddd}, {0xdddddddd, 0xdddddddd}},
	{"two words", PB_PATCH_FORMAT_ADDRESS64, 0, 2, false, {0x33445566, 0xdddddddd}, {0xdddddddd, 0}},
	{"four bytes",
	 PB_PATCH_FORMAT_UNALIGNED32,
	 1,
	 4,
	 false,
	 {0xdddd66dd, 0xdddddddd},
	 {0x4455dddd, 0xdddddd33}},
};

static void page_words(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2u * sizeof(paged) / sizeof(paged[0]); i++) {
		const uint32_t row = i / 2u;
		const struct pb_patch_location patch = {.driver_id = paged[row].format,
							.patch_offset = paged[row].place};
		const bool gone = i % 2u != 0;
		struct card card;
		uint32_t *table = start_paged(&card);
		struct pb_descriptor descriptor = card_descriptor(&card, 0, 0x2000, 1, 1);

		card_patch(&card, 0, &patch);
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		descriptor.dma_segment = APERTURE;
		descriptor.dma_address_low = (uint32_t)APERTURE_OS;
		nonsense =
			gone ? 0
			     : (uint32_t)((uint8_t *)card_dma(&card, OTHER_SLOT) - pb_sim_memory(card.sim)) |
					PB_ENGINE_PAGE_VALID;
		turned = 0;
		watch(0, (uint8_t *)table, 8);
		card_equal(paged[row].name, card_execute(&card, 0, &descriptor).status,
			   gone && !paged[row].one_word ? PB_ERROR_PATCH_PAGE : PB_ERROR_OK);
		watch_nothing();
		card_equal(paged[row].name, turned, gone && !paged[row].one_word ? 2 : paged[row].reads);
		for (uint32_t w = 0; w < 2; w++) {
			card_equal(paged[row].name, card_dma(&card, FIRST_SLOT)[w], paged[row].first[w]);
			card_equal(paged[row].name, card_dma(&card, OTHER_SLOT)[w],
				   gone ? 0xdddddddd : paged[row].other[w]);
		}
		card_stop(&card);
	}
}

UNIT_SUITE(test_firmware_reads)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_word_is_read_once, start),
		cmocka_unit_test_setup(bad_entry_stays_bad, start),
		cmocka_unit_test_setup(the_hosts_words_are_not_read, start),
		cmocka_unit_test_setup(only_the_submitted_part_is_read, start),
		cmocka_unit_test_setup(cookie_is_read_once, start),
		cmocka_unit_test_setup(format_words_are_read_once, start),
		cmocka_unit_test_setup(page_words, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
