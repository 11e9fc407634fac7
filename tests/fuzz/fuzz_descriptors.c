/* SPDX-License-Identifier: MIT */
/*
 * Descriptors with any words in them, over lists and waits with any words in
 * them. Each completes in its order, with or without an error, unless it waits
 * for what does not come; the witness does not notice.
 *
 * Aims at: firmware/prepare/admit.c firmware/prepare/lists.c firmware/prepare/resolve.c firmware/prepare/run_resolve.c
 * Aims at: firmware/queue/wait.c firmware/engine/feed.c
 */
#include <string.h>

#include "tests/fuzz/lists.h"

#define SETTLE_STEPS     4000u
#define DESCRIPTOR_WORDS (sizeof(struct pb_descriptor) / sizeof(uint32_t))

/** Puts that broke their rule: nothing is promised to such a queue any more. */
static bool spoilt[FUZZ_NODES];

/** An address of the OS, most often one where the guest has memory. */
static uint64_t address(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);

	if (kind < 0x80)
		return FUZZ_SYSTEM_OS + kind % 32u * PB_PAGE_BYTES;
	if (kind < 0xa0)
		return FUZZ_SYSTEM_OS + fuzz_number(input);
	if (kind < 0xc0)
		return CARD_VIDEO_OS + fuzz_number(input);
	if (kind < 0xd0)
		return ORACLE_APERTURE_OS + fuzz_number(input);
	return (uint64_t)fuzz_number(input) << 32 | fuzz_number(input);
}

/** What a descriptor can have beside a buffer: lists, waits, flags. */
static void add_something(struct fuzz_input *input, struct pb_descriptor *descriptor)
{
	switch (fuzz_below(input, 8)) {
	case 0:
		descriptor->allocation_count = fuzz_number(input);
		descriptor->allocation_address_low = (uint32_t)FUZZ_SYSTEM_OS + FUZZ_ALLOCATIONS;
		break;
	case 1:
		descriptor->patch_count = fuzz_number(input);
		descriptor->patch_length = fuzz_number(input);
		descriptor->patch_address_low = (uint32_t)FUZZ_SYSTEM_OS + FUZZ_PATCHES;
		break;
	case 2:
		descriptor->wait_count = fuzz_below(input, PB_WAITS_MAX + 2u);
		descriptor->wait_address_low = (uint32_t)FUZZ_SYSTEM_OS + FUZZ_WAITS;
		break;
	case 3:
		descriptor->flags = fuzz_number(input);
		break;
	case 4: {
		const uint64_t at = address(input);

		descriptor->dma_address_low = (uint32_t)at;
		descriptor->dma_address_high = (uint32_t)(at >> 32);
		descriptor->dma_segment = fuzz_below(input, 16);
		break;
	}
	case 5:
		descriptor->cookie = fuzz_below(input, 4);
		break;
	case 6:
		descriptor->patch_encoding = fuzz_below(input, 3);
		descriptor->patch_start = fuzz_number(input);
		break;
	default: {
		uint32_t words[DESCRIPTOR_WORDS];

		memcpy(words, descriptor, sizeof(words));
		words[fuzz_below(input, DESCRIPTOR_WORDS)] = fuzz_number(input);
		memcpy(descriptor, words, sizeof(words));
		break;
	}
	}
}

static void submit(struct fuzz_input *input)
{
	const uint32_t q = fuzz_below(input, FUZZ_NODES);
	struct pb_descriptor descriptor = fuzz_mark(&fuzz_card.guest, fuzz_below(input, FUZZ_MARK_COUNT));

	if (spoilt[q] || !fuzz_guest_room(q))
		return;
	descriptor.timeline_low = fuzz_card.guest.queues[q].put + 1u;
	for (uint32_t things = fuzz_below(input, 8); things != 0; things--)
		add_something(input, &descriptor);
	fuzz_submit_raw(q, &descriptor);
}

static void write_list_entry(struct fuzz_input *input)
{
	const uint64_t at = address(input);
	struct pb_allocation allocation = {.address_low = (uint32_t)at, .address_high = (uint32_t)(at >> 32)};
	struct pb_patch_location patch = {0};
	const uint32_t i = fuzz_below(input, 32);

	if (fuzz_below(input, 2) == 0) {
		allocation.size_low = fuzz_number(input);
		allocation.flags = fuzz_number(input);
		memcpy(fuzz_guest_bytes(FUZZ_ALLOCATIONS + i * (uint32_t)sizeof(allocation)), &allocation,
		       sizeof(allocation));
		return;
	}
	patch.allocation_index = fuzz_number(input);
	patch.slot = fuzz_number(input);
	patch.driver_id = fuzz_number(input);
	patch.allocation_offset = fuzz_number(input);
	patch.patch_offset = fuzz_number(input);
	memcpy(fuzz_guest_bytes(FUZZ_PATCHES + i * (uint32_t)sizeof(patch)), &patch, sizeof(patch));
}

/** Lists in which most is as it should be, for descriptors that name as much of them. */
static void write_good_lists(struct fuzz_input *input)
{
	static struct fuzz_lists lists;
	const uint32_t patches = fuzz_below(input, 32);

	fuzz_lists_init(&lists);
	fuzz_lists_allocations(input, &lists, fuzz_below(input, FUZZ_ALLOCATION_MAX + 1u));
	for (uint32_t i = 0; i < patches; i++)
		lists.patches[i] = fuzz_lists_patch(input, &lists);
	memcpy(fuzz_guest_bytes(FUZZ_ALLOCATIONS), lists.allocations, sizeof(lists.allocations));
	memcpy(fuzz_guest_bytes(FUZZ_PATCHES), lists.patches, patches * sizeof(lists.patches[0]));
}

static void write_wait(struct fuzz_input *input)
{
	const struct fuzz_client *guest = &fuzz_card.guest;
	const uint32_t kind = fuzz_byte(input);
	const struct pb_wait wait = {
		.queue = kind < 0xc0 ? guest->queues[kind % FUZZ_NODES].handle : fuzz_number(input),
		.reserved = kind >= 0xf0,
		.timeline_low = fuzz_number(input),
		.timeline_high = kind >= 0xe0 ? fuzz_number(input) : 0,
	};

	memcpy(fuzz_guest_bytes(FUZZ_WAITS + fuzz_below(input, PB_WAITS_MAX) * (uint32_t)sizeof(wait)), &wait,
	       sizeof(wait));
}

/** Any word of its own memory, but for the fence records: what it does to those, it does to itself. */
static void write_word(struct fuzz_input *input)
{
	const uint32_t word = fuzz_number(input);
	const uint32_t place = fuzz_word(input) % (FUZZ_TAKEN / 4u);

	memcpy(fuzz_guest_bytes(4u * place), &word, sizeof(word));
}

static void spoil_put(struct fuzz_input *input)
{
	const uint32_t q = fuzz_below(input, FUZZ_NODES);
	struct pb_queue *queue = &fuzz_card.guest.queues[q];

	((struct pb_queue_page *)(void *)queue->memory.bytes_host)->put = fuzz_number(input);
	spoilt[q] = true;
	fuzz_guest_entry()->rescan++;
	fuzz_card.guest.link.ops->doorbell(&fuzz_card.guest.link);
}

static void act(struct fuzz_input *input)
{
	switch (fuzz_below(input, 16)) {
	case 0:
		for (uint32_t steps = fuzz_below(input, 64); steps != 0; steps--)
			fuzz_card_step();
		break;
	case 1:
		write_wait(input);
		break;
	case 2:
	case 3:
		write_list_entry(input);
		break;
	case 4:
		write_good_lists(input);
		break;
	case 5:
		write_word(input);
		break;
	case 6:
		fuzz_witness_submit(fuzz_below(input, FUZZ_NODES));
		break;
	case 7:
		(void)pb_context_clear(&fuzz_card.guest.channel, fuzz_card.guest.context);
		break;
	case 8:
		if (fuzz_below(input, 16) == 0)
			spoil_put(input);
		break;
	default:
		submit(input);
		break;
	}
}

/** All of it has completed, or it says what it waits for. */
static bool has_ended(uint32_t q)
{
	struct pb_queue *queue = &fuzz_card.guest.queues[q];
	struct pb_queue_state state;

	if (spoilt[q])
		return true;
	FUZZ_CHECK(pb_queue_query(queue, &state) == PB_ERROR_OK);
	FUZZ_CHECK(state.put == queue->put);
	return state.why == (state.completed == queue->put ? PB_WHY_EMPTY : PB_WHY_WAITING);
}

/** Bad paging buffers halt the guest, one after the other, and something endless may run. */
static bool let_all_end(void)
{
	struct fuzz_client *guest = &fuzz_card.guest;

	for (uint32_t i = 0; i < 3u * FUZZ_ENTRIES; i++) {
		const bool quiet = fuzz_card_settle(SETTLE_STEPS);

		if (quiet && has_ended(0) && has_ended(1))
			return true;
		for (uint32_t n = 0; n < FUZZ_NODES; n++) {
			if (!quiet)
				(void)pb_queue_reset(&guest->queues[n], NULL);
			FUZZ_CHECK(pb_node_release(&guest->channel, n) == PB_ERROR_OK);
		}
	}
	return false;
}

void fuzz_one(struct fuzz_input *input)
{
	fuzz_card_reset();
	memset(spoilt, 0, sizeof(spoilt));
	while (fuzz_more(input))
		act(input);
	FUZZ_CHECK(let_all_end());
	fuzz_witness_check();
}
