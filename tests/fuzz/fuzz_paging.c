/* SPDX-License-Identifier: MIT */
/*
 * Paging buffers: packets that map and unmap pages of an aperture, move and
 * fill memory, with any operands; then work that lies in the aperture and is
 * patched there. Page tables name the guest's own pages and nothing else.
 *
 * Aims at: firmware/memory/aperture.c hal/engine_model/pages.c hal/engine_model/blit.c
 * Aims at: hal/engine_model/packets.c hal/engine_model/memory.c
 */
#include <string.h>

#include "tests/fuzz/card.h"

#define SETTLE_STEPS 4000u
#define COPY_NODE    1u
#define BUFFER       FUZZ_FREE             /* a page of packets */
#define ADDRESSES    (FUZZ_FREE + 0x1000u) /* a page of addresses to map */
#define BUFFER_WORDS (PB_PAGE_BYTES / 4u)

static uint32_t words[BUFFER_WORDS];
static uint32_t count;

/** A GPU address, most often one where the guest has something. */
static uint64_t address(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);
	const uint32_t offset = fuzz_number(input);

	if (kind < 0x50)
		return ORACLE_APERTURE_GPU + kind % 34u * PB_PAGE_BYTES + (offset & 0xffcu);
	if (kind < 0x90)
		return CARD_VIDEO_GPU + kind % 17u * PB_PAGE_BYTES + (offset & 0xffcu);
	if (kind < 0xb0)
		return FUZZ_SYSTEM_GPU + ADDRESSES + (offset & 0xffcu);
	if (kind < 0xd0)
		return FUZZ_SYSTEM_GPU + kind % 33u * PB_PAGE_BYTES;
	return kind < 0xf0 ? offset : (uint64_t)fuzz_word(input) << 32 | offset;
}

static void put(uint32_t word)
{
	if (count < BUFFER_WORDS)
		words[count++] = word;
}

static void put_address(struct fuzz_input *input)
{
	const uint64_t at = address(input);

	put((uint32_t)at);
	put((uint32_t)(at >> 32));
}

/** Its operands, by letter: an address, or a number. */
static const struct {
	uint32_t header;
	const char *operands;
} packets[] = {
	{PB_PACKET(PB_PACKET_MAP_APERTURE, PB_PACKET_MAP_APERTURE_WORDS), "ana"},
	{PB_PACKET(PB_PACKET_UNMAP_APERTURE, PB_PACKET_UNMAP_APERTURE_WORDS), "an"},
	{PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), "ann"},
	{PB_PACKET(PB_PACKET_COPY, PB_PACKET_COPY_WORDS), "aan"},
	{PB_PACKET(PB_PACKET_COPY_RECT, PB_PACKET_COPY_RECT_WORDS), "ananns"},
	{PB_PACKET(PB_PACKET_DISCARD, PB_PACKET_DISCARD_WORDS), "an"},
	{PB_PACKET(PB_PACKET_INDIRECT, PB_PACKET_INDIRECT_WORDS), "an"},
	{PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS), "s"},
	{PB_PACKET(PB_PACKET_MAP_APERTURE, PB_PACKET_MAP_APERTURE_WORDS), "asa"},
	{PB_PACKET(PB_PACKET_UNMAP_APERTURE, PB_PACKET_UNMAP_APERTURE_WORDS), "as"},
};
#define PACKETS (sizeof(packets) / sizeof(packets[0]))

static void packet(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);
	const char *operand = packets[kind % PACKETS].operands;

	if (kind >= 0xf8) {
		put(fuzz_word(input));
		return;
	}
	put(packets[kind % PACKETS].header);
	for (; *operand != '\0'; operand++) {
		if (*operand == 'a')
			put_address(input);
		else
			put(*operand == 's' ? fuzz_below(input, 64) : fuzz_number(input));
	}
}

static void write_addresses(struct fuzz_input *input)
{
	const uint32_t first = fuzz_below(input, 64);

	for (uint32_t i = 0; i < 8u; i++) {
		const uint64_t page = address(input);

		memcpy(fuzz_guest_bytes(ADDRESSES + (first + i) * (uint32_t)sizeof(page)), &page,
		       sizeof(page));
	}
}

/** What was put together so far. */
static void submit_paging(void)
{
	const struct pb_descriptor descriptor = {
		.flags = PB_FLAG_PAGING,
		.timeline_low = fuzz_card.guest.queues[COPY_NODE].put + 1u,
		.dma_address_low = (uint32_t)FUZZ_SYSTEM_OS + BUFFER,
		.dma_size = PB_PAGE_BYTES,
		.dma_end = 4u * count,
	};

	memcpy(fuzz_guest_bytes(BUFFER), words, 4u * count);
	if (fuzz_guest_room(COPY_NODE))
		fuzz_submit_raw(COPY_NODE, &descriptor);
	(void)fuzz_card_settle(SETTLE_STEPS);
	count = 0;
}

/** Work in the aperture, with one entry that is patched there. */
static void submit_paged(struct fuzz_input *input)
{
	const struct pb_allocation target = {.address_low = (uint32_t)CARD_VIDEO_OS,
					     .address_high = (uint32_t)(CARD_VIDEO_OS >> 32),
					     .size_low = 0x1000,
					     .flags =
						     1u << PB_ALLOCATION_SEGMENT_SHIFT | PB_ALLOCATION_WRITE};
	const struct pb_patch_location patch = {.driver_id = fuzz_below(input, PB_PATCH_FORMAT_COUNT),
						.patch_offset = fuzz_number(input)};
	const uint32_t page = fuzz_below(input, 34);
	const uint64_t at = ORACLE_APERTURE_OS + page * PB_PAGE_BYTES;
	const struct pb_descriptor descriptor = {
		.flags = fuzz_below(input, 2) * PB_FLAG_NULL_RENDERING,
		.context = fuzz_card.guest.context,
		.timeline_low = fuzz_card.guest.queues[COPY_NODE].put + 1u,
		.dma_address_low = (uint32_t)at,
		.dma_address_high = (uint32_t)(at >> 32),
		.dma_segment = FUZZ_APERTURE,
		.dma_size = fuzz_number(input),
		.dma_end = fuzz_number(input) & ~3u,
		.allocation_count = 1,
		.allocation_address_low = (uint32_t)FUZZ_SYSTEM_OS + FUZZ_ALLOCATIONS,
		.patch_count = 1,
		.patch_length = 1,
		.patch_address_low = (uint32_t)FUZZ_SYSTEM_OS + FUZZ_PATCHES,
	};

	memcpy(fuzz_guest_bytes(FUZZ_ALLOCATIONS), &target, sizeof(target));
	memcpy(fuzz_guest_bytes(FUZZ_PATCHES), &patch, sizeof(patch));
	if (fuzz_guest_room(COPY_NODE))
		fuzz_submit_raw(COPY_NODE, &descriptor);
}

static bool is_own_page(uint32_t entry)
{
	const struct pb_segment *system = &fuzz_card.guest.system;
	const struct pb_segment *video = &fuzz_card.guest.video;
	const uint32_t page = entry - PB_ENGINE_PAGE_VALID;

	return entry % PB_PAGE_BYTES == PB_ENGINE_PAGE_VALID &&
	       (page - system->memory_offset < system->request.backing_bytes ||
		page - video->memory_offset < video->request.backing_bytes);
}

static void check_page_table(void)
{
	const struct pb_engine_range_entry *ranges = (const void *)(fuzz_card.memory + PB_CARD_RANGES_OFFSET);
	const struct pb_engine_range_entry *range = &ranges[PB_ENGINE_RANGES + FUZZ_APERTURE];
	const uint32_t *table =
		(const void *)(fuzz_card.memory + (range->memory_offset & ~PB_ENGINE_RANGE_PAGED));

	for (uint32_t i = 0; i < PB_PAGE_BYTES / 4u; i++)
		FUZZ_CHECK(table[i] == 0 ||
			   (i < ORACLE_SMALL_BYTES / PB_PAGE_BYTES && is_own_page(table[i])));
}

/**
 * Bad buffers halt the guest, one after the other, and something endless may run. Its copies may also write over the page
 * of its own queue, whose put index is wrong then.
 */
static bool all_ends(void)
{
	struct pb_queue *queue = &fuzz_card.guest.queues[COPY_NODE];

	for (uint32_t i = 0; i < 3u * FUZZ_ENTRIES; i++) {
		const bool quiet = fuzz_card_settle(SETTLE_STEPS);
		struct pb_queue_state state;

		FUZZ_CHECK(pb_queue_query(queue, &state) == PB_ERROR_OK);
		if (state.why == PB_WHY_FAULTED)
			return true;
		FUZZ_CHECK(state.put == queue->put);
		if (quiet && state.completed == queue->put)
			return true;
		if (!quiet)
			(void)pb_queue_reset(queue, NULL);
		FUZZ_CHECK(pb_node_release(&fuzz_card.guest.channel, COPY_NODE) == PB_ERROR_OK);
	}
	return false;
}

void fuzz_one(struct fuzz_input *input)
{
	fuzz_card_reset();
	count = 0;
	while (fuzz_more(input)) {
		const uint32_t kind = fuzz_below(input, 8);

		if (kind == 0)
			write_addresses(input);
		else if (kind == 1)
			submit_paging();
		else if (kind == 2)
			submit_paged(input);
		else if (kind == 3)
			fuzz_witness_submit(0);
		else
			packet(input);
	}
	submit_paging();
	FUZZ_CHECK(all_ends());
	fuzz_witness_check();
	check_page_table();
}
