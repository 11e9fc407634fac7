/* SPDX-License-Identifier: MIT */
/*
 * DMA buffers in an aperture are patched word by word, each where its page lies
 * just then: the same bytes as in a buffer in one piece, or an error that names
 * the entry whose page is not there.
 */
#include <stdio.h>
#include <string.h>

#include "hal/engine/packets.h"
#include "hal/engine/registers.h"
#include "hal/engine_memory.h"
#include "qemu/mcu/layout.h"
#include "tests/unit/patch_oracle.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define PAGE         0x1000u

/* The aperture: 64 pages, below 4 GiB so that every format reaches it. */
#define APERTURE       4u
#define APERTURE_OS    UINT64_C(0x50000000)
#define APERTURE_GPU   UINT64_C(0xa0000000)
#define APERTURE_BYTES 0x40000u
#define FIRST_PAGE     8u
#define PAGES          6u
#define BYTES          (PAGES * PAGE)
#define WHOLE          24u /* slot of a buffer in one piece, for comparison */
#define PIECES         64u /* pages of memory that are looked at, from CARD_DMA on */

/** Slots in which the buffer's pages lie. */
static const uint32_t slots[PAGES] = {5, 2, 9, 3, 17, 4};

static struct pb_allocation allocations[] = {
	{.address_low = 0x345000, .size_low = 0x2000, .flags = CARD_SEGMENT(3) | PB_ALLOCATION_WRITE | 0x400},
};

/** Where the engine, and the firmware, look for a page of the aperture. */
static uint32_t *page_word(const struct card *card, uint32_t page)
{
	const struct pb_engine_range_entry *ranges =
		(const void *)(pb_sim_memory(card->sim) + PB_CARD_RANGES_OFFSET);
	const uint32_t table = ranges[PB_ENGINE_RANGES + APERTURE].memory_offset;

	assert_true((table & PB_ENGINE_RANGE_PAGED) != 0);
	return (uint32_t *)(void *)(pb_sim_memory(card->sim) + (table & ~PB_ENGINE_RANGE_PAGED)) +
	       FIRST_PAGE + page;
}

/** Offset in card memory of a slot of the fixture. */
static uint32_t slot_offset(const struct card *card, uint32_t slot)
{
	return card->segments[0].memory_offset + CARD_DMA + slot * CARD_DMA_STRIDE;
}

static void map_all(const struct card *card)
{
	for (uint32_t i = 0; i < PAGES; i++)
		*page_word(card, i) = slot_offset(card, slots[i]) | PB_ENGINE_PAGE_VALID;
}

static void start(struct card *card)
{
	static const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		APERTURE, PB_SEGMENT_APERTURE, (uint32_t)APERTURE_OS, 0, (uint32_t)APERTURE_GPU,
		0,        APERTURE_BYTES};

	oracle_start(card);
	assert_int_equal(pb_channel_command(&card->channel, PB_COMMAND_SEGMENT_DESTROY,
					    &(uint32_t[PB_COMMAND_ARGUMENTS]){APERTURE}[0], NULL),
			 PB_ERROR_OK);
	assert_int_equal(pb_channel_command(&card->channel, PB_COMMAND_SEGMENT_CREATE, arguments, NULL),
			 PB_ERROR_OK);
	memcpy(card_bytes(card, 0, CARD_ALLOCATIONS), allocations, sizeof(allocations));
	map_all(card);
}

/** A list of that many entries, or words, for the buffer in the aperture or the one in one piece. */
static struct pb_descriptor describe(const struct card *card, bool paged, uint32_t patches)
{
	struct pb_descriptor descriptor = card_descriptor(card, WHOLE, BYTES, 1, patches);

	if (paged) {
		descriptor.dma_segment = APERTURE;
		descriptor.dma_address_low = (uint32_t)APERTURE_OS + FIRST_PAGE * PAGE;
	}
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	descriptor.fence_id = 0xfe0000aa;
	return descriptor;
}

static uint8_t *byte_of(const struct card *card, bool paged, uint32_t offset)
{
	const uint32_t slot = paged ? slots[offset / PAGE] : WHOLE + offset / PAGE;

	return (uint8_t *)card_dma(card, slot) + offset % PAGE;
}

static void fill(const struct card *card)
{
	uint32_t seed = 99;

	memset(card_dma(card, 0), 0xaa, PIECES * PAGE);
	for (uint32_t i = 0; i < BYTES; i++)
		*byte_of(card, true, i) = *byte_of(card, false, i) = (uint8_t)(oracle_random(&seed) >> 24);
}

/* ---- the same bytes ---- */

#define OWN_KEEP  (PB_FORMAT_OWN + 0u) /* bits of two words apart, at any byte */
#define OWN_APART (PB_FORMAT_OWN + 1u) /* two words a page boundary apart */
static const struct pb_patch_format own_formats[] = {
	{.bound = PB_FORMAT_NONE,
	 .flags = PB_FORMAT_KEEP | PB_FORMAT_WIDE | PB_FORMAT_SIGNED,
	 .align = 1,
	 .step = 2,
	 .mask = 0x0ffffff0,
	 .high_mask = 0x00ffff00},
	{.bound = PB_FORMAT_END,
	 .flags = PB_FORMAT_WIDE,
	 .align = 8,
	 .step = 4,
	 .mask = 0xfffff000,
	 .high_mask = 0xffffffff,
	 .background = 0xabc},
};

/** Every built-in format once inside a page, and those that can lie in two pages across a boundary each. */
static uint32_t make_list(struct pb_patch_location *patches)
{
	static const struct {
		uint32_t format;
		uint32_t place;
	} across[] = {
		{PB_PATCH_FORMAT_ADDRESS64, PAGE - 4},
		{PB_PATCH_FORMAT_SPLIT40, 2 * PAGE - 4},
		{PB_PATCH_FORMAT_UNALIGNED32, 3 * PAGE - 1},
		{PB_PATCH_FORMAT_UNALIGNED32, 4 * PAGE - 2},
		{PB_PATCH_FORMAT_UNALIGNED32, 5 * PAGE - 3},
		{OWN_KEEP, 3 * PAGE - 7},
		{OWN_KEEP, 4 * PAGE - 11},
		{OWN_APART, 2 * PAGE - 16},
		{PB_PATCH_FORMAT_SUM64_CANONICAL, 5 * PAGE - 4},
		{PB_PATCH_FORMAT_UNALIGNED32, BYTES - 4},
		{PB_PATCH_FORMAT_ADDRESS32, PAGE},
		{PB_PATCH_FORMAT_LOW24, 2 * PAGE - 8},
	};
	uint32_t count = 0;

	for (uint32_t f = 0; f < PB_PATCH_FORMAT_COUNT; f++, count++)
		patches[count] = (struct pb_patch_location){
			.driver_id = f, .allocation_offset = 0x124, .patch_offset = 0x80 + f * 0x320};
	for (uint32_t i = 0; i < COUNT(across); i++, count++)
		patches[count] = (struct pb_patch_location){.driver_id = across[i].format,
							    .allocation_offset = 0x1000 + i * 4u,
							    .patch_offset = across[i].place};
	return count;
}

/** Formats of source SELF write another address: each buffer's own. */
static void expect_same_but_self(const struct card *card, const char *row)
{
	const uint32_t self[] = {0x80 + PB_PATCH_FORMAT_SELF32 * 0x320,
				 0x80 + PB_PATCH_FORMAT_SELF64 * 0x320};
	const uint32_t addresses[] = {(uint32_t)CARD_SYSTEM_GPU + CARD_DMA + WHOLE * CARD_DMA_STRIDE,
				      (uint32_t)APERTURE_GPU + FIRST_PAGE * PAGE};

	for (uint32_t paged = 0; paged < 2; paged++) {
		for (uint32_t i = 0; i < 2; i++) {
			uint32_t *word = (uint32_t *)(void *)byte_of(card, paged != 0, self[i]);

			card_equal(row, *word, addresses[paged] + 0x124);
			*word = 0;
		}
	}
	for (uint32_t i = 0; i < BYTES; i++)
		card_equal(row, *byte_of(card, true, i), *byte_of(card, false, i));
}

/** Nothing but the two buffers has been written. */
static void expect_rest_untouched(const struct card *card)
{
	for (uint32_t slot = 0; slot < PIECES; slot++) {
		bool used = slot >= WHOLE && slot < WHOLE + PAGES;

		for (uint32_t i = 0; i < PAGES; i++)
			used = used || slots[i] == slot;
		for (uint32_t i = 0; i < PAGE / 4u && !used; i++)
			card_equal("rest", card_dma(card, slot)[i], 0xaaaaaaaa);
	}
}

static void same_bytes_as_in_one_piece(void **state)
{
	static struct pb_patch_location patches[64];
	static uint32_t words[64 * PB_COMPACT_ESCAPE_WORDS];
	const uint32_t count = make_list(patches);
	struct oracle_formats own = {0};
	struct card card;

	(void)state;
	start(&card);
	for (uint32_t i = 0; i < COUNT(own_formats); i++)
		oracle_own(&card, &own, PB_FORMAT_OWN + i, &own_formats[i]);
	/* WDDM and compact; all of it, and from the middle of the first page on. */
	for (uint32_t round = 0; round < 4; round++) {
		const bool compact = round % 2u != 0;
		const uint32_t length = compact ? oracle_compact(patches, count, 0, words) : count;

		memcpy(card_bytes(&card, 0, CARD_PATCHES), compact ? (void *)words : (void *)patches,
		       compact ? length * sizeof(*words) : length * sizeof(*patches));
		fill(&card);
		for (uint32_t paged = 0; paged < 2; paged++) {
			struct pb_descriptor descriptor = describe(&card, paged != 0, length);
			struct pb_fence fence;

			descriptor.patch_encoding =
				compact ? PB_PATCH_ENCODING_COMPACT : PB_PATCH_ENCODING_WDDM;
			descriptor.dma_start = round / 2u * 0x80u;
			fence = card_execute(&card, 0, &descriptor);
			card_equal("patched", fence.status, PB_ERROR_OK);
			card_equal("patched", fence.patches, count * (round * 2u + paged + 1u));
		}
		expect_same_but_self(&card, compact ? "compact" : "WDDM");
		expect_rest_untouched(&card);
	}
	card_stop(&card);
}

/** A packet whose address lies in two pages is patched there, and runs from there. */
static void patched_buffer_runs(void **state)
{
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
						.allocation_offset = 8,
						.patch_offset = PAGE - 4};
	const uint32_t packet[] = {PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), 0, 0, 4, 0x600d};
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	start(&card);
	card_allocation(&card, 0, CARD_VIDEO_OS, 0x1000, CARD_SEGMENT(1) | PB_ALLOCATION_WRITE);
	card_patch(&card, 0, &patch);
	memcpy(byte_of(&card, true, PAGE - 8), packet, 8);
	memcpy(byte_of(&card, true, PAGE), &packet[2], 12);
	descriptor = describe(&card, true, 1);
	descriptor.flags = 0;
	descriptor.dma_start = PAGE - 8;
	descriptor.dma_end = PAGE + 12;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 1, 8), 0x600d);
	card_stop(&card);
}

/* ---- pages that are not there ---- */

enum wrong {
	UNMAPPED,
	NOT_VALID,
	OTHER_BITS,
	PAGE_0,
	TABLE_ITSELF,
	BEYOND_MEMORY,
	FREE_MEMORY,
	OTHER_CHANNEL,
	WRONGS
};

static uint32_t wrong_word(const struct card *card, const struct card *other, enum wrong wrong)
{
	const uint32_t good = *page_word(card, 0);
	const uint8_t *table = (const uint8_t *)page_word(card, 0);

	switch (wrong) {
	case NOT_VALID:
		return good & ~PB_ENGINE_PAGE_VALID;
	case OTHER_BITS:
		return good | 2u;
	case PAGE_0:
		return PB_ENGINE_PAGE_VALID;
	case TABLE_ITSELF:
		return (uint32_t)(table - pb_sim_memory(card->sim)) / PAGE * PAGE | PB_ENGINE_PAGE_VALID;
	case BEYOND_MEMORY:
		return 0xfffff000 | PB_ENGINE_PAGE_VALID;
	case FREE_MEMORY:
		return (PB_CARD_TRACE_OFFSET - PAGE) | PB_ENGINE_PAGE_VALID;
	case OTHER_CHANNEL:
		return slot_offset(other, 0) | PB_ENGINE_PAGE_VALID;
	case UNMAPPED:
	case WRONGS:
		break;
	}
	return 0;
}

/** Entries in good pages, then one that has a word in page `at` of the buffer, then one more. */
static const struct {
	const char *name;
	uint32_t format;
	uint32_t place;
	uint32_t at;
} lasts[] = {
	{"a word", PB_PATCH_FORMAT_ADDRESS32, 2 * PAGE + 8, 2},
	{"its first word", PB_PATCH_FORMAT_ADDRESS64, 3 * PAGE - 4, 2},
	{"its second word", PB_PATCH_FORMAT_ADDRESS64, 3 * PAGE - 4, 3},
	{"kept bits", PB_PATCH_FORMAT_LOW24, 4 * PAGE - 4, 3},
	{"kept bits of a second word", PB_PATCH_FORMAT_SPLIT40, PAGE - 4, 1},
	{"its first byte", PB_PATCH_FORMAT_UNALIGNED32, PAGE - 1, 0},
	{"its last byte", PB_PATCH_FORMAT_UNALIGNED32, PAGE - 3, 1},
};

static void expect_page_error(struct card *card, const char *row, uint32_t last, bool compact)
{
	const struct pb_patch_location patches[] = {
		{.patch_offset = 4u * PAGE},
		{.patch_offset = 5u * PAGE + 4u},
		{.driver_id = lasts[last].format, .patch_offset = lasts[last].place},
		{.patch_offset = 5u * PAGE + 8u},
	};
	uint32_t words[COUNT(patches) * PB_COMPACT_ESCAPE_WORDS];
	const uint32_t length = compact ? oracle_compact(patches, COUNT(patches), 0, words) : COUNT(patches);
	const struct pb_fence before = card_wait(card, 0, card->queues[0].put);
	struct pb_descriptor descriptor = describe(card, true, length);
	struct pb_fence fence;

	memcpy(card_bytes(card, 0, CARD_PATCHES), compact ? (const void *)words : (const void *)patches,
	       compact ? length * sizeof(*words) : sizeof(patches));
	fill(card);
	descriptor.patch_encoding = compact ? PB_PATCH_ENCODING_COMPACT : PB_PATCH_ENCODING_WDDM;
	descriptor.flags = 0; /* what it would run is nonsense, which would be a fault */
	fence = card_execute(card, 0, &descriptor);
	card_equal(row, fence.status, PB_ERROR_PATCH_PAGE);
	card_equal(row, fence.error_index, compact ? 4 : 2);
	card_equal(row, fence.patches - before.patches, 2);
	card_equal(row, *(uint32_t *)(void *)byte_of(card, true, 4 * PAGE), 0x345000);
	card_equal(row, *(uint32_t *)(void *)byte_of(card, true, 5 * PAGE + 4), 0x345000);
	assert_int_equal(pb_context_clear(&card->channel, card->context), PB_ERROR_OK);
	assert_int_equal(pb_queue_clear(&card->queues[0]), PB_ERROR_OK);
}

static void pages_that_are_not_there(void **state)
{
	struct card card, other;

	(void)state;
	start(&card);
	other = (struct card){.sim = card.sim};
	card_join(&card, &other.channel, 2);
	other.link = other.channel.link;
	card_make_segments(&other.channel, other.segments);
	memset(card_dma(&other, 0), 0x55, PAGE);
	for (uint32_t i = 0; i < WRONGS * COUNT(lasts) * 2u; i++) {
		const uint32_t last = i / 2u % COUNT(lasts);
		const enum wrong wrong = (enum wrong)(i / 2u / COUNT(lasts));
		char row[64];

		snprintf(row, sizeof(row), "%s, wrong %u", lasts[last].name, wrong);
		map_all(&card);
		*page_word(&card, lasts[last].at) = wrong_word(&card, &other, wrong);
		expect_page_error(&card, row, last, i % 2u != 0);
		for (uint32_t w = 0; w < PAGE / 4u; w++)
			card_equal(row, card_dma(&other, 0)[w], 0x55555555);
	}
	card_leave(&other.channel);
	card_stop(&card);
}

/* ---- cookies ---- */

/** Pages move without a word to the firmware: such a buffer is patched each time. */
static void cookies_have_no_effect(void **state)
{
	const struct pb_patch_location patch = {.patch_offset = PAGE + 8};
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	start(&card);
	card_patch(&card, 0, &patch);
	descriptor = describe(&card, true, 1);
	descriptor.cookie = 0xc001;
	for (uint32_t i = 0; i < 6; i++) {
		const uint32_t slot = 40u + i / 2u;

		*page_word(&card, 1) = slot_offset(&card, slot) | PB_ENGINE_PAGE_VALID;
		card_dma(&card, slot)[2] = 0;
		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
		assert_int_equal(card_dma(&card, slot)[2], 0x345000);
	}
	card_stop(&card);
}

/** A buffer in one piece has one of its pages patched through the aperture: its cookie does not know. */
static void aperture_onto_a_known_buffer(void **state)
{
	const struct pb_patch_location patch = {.patch_offset = PAGE + 8};
	uint32_t *word;
	struct card card;

	(void)state;
	start(&card);
	card_patch(&card, 0, &patch);
	*page_word(&card, 1) = slot_offset(&card, WHOLE + 1u) | PB_ENGINE_PAGE_VALID;
	word = &card_dma(&card, WHOLE + 1u)[2];
	for (uint32_t i = 0; i < 6; i++) {
		const bool paged = i % 2u != 0;
		struct pb_descriptor descriptor = describe(&card, paged, 1);

		descriptor.cookie = paged ? 0 : 0xc001;
		allocations[0].address_low = paged ? 0x777000 : 0x345000;
		memcpy(card_bytes(&card, 0, CARD_ALLOCATIONS), allocations, sizeof(allocations));
		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
		assert_int_equal(*word, allocations[0].address_low);
	}
	allocations[0].address_low = 0x345000;
	card_stop(&card);
}

UNIT_SUITE(test_firmware_paged_patch)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bytes_as_in_one_piece),   cmocka_unit_test(patched_buffer_runs),
		cmocka_unit_test(pages_that_are_not_there),     cmocka_unit_test(cookies_have_no_effect),
		cmocka_unit_test(aperture_onto_a_known_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
