/* SPDX-License-Identifier: MIT */
#include "tests/unit/card_fixture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ATTACH_TIMEOUT_US 1000000u
#define PATIENCE_US       2000000u
#define QUEUE_ENTRIES     16u

static const struct pb_segment_request requests[] = {
	{0, CARD_SYSTEM_OS, CARD_SYSTEM_GPU, CARD_SYSTEM_BYTES, CARD_SYSTEM_BYTES, PB_SEGMENT_LINEAR},
	{1, CARD_VIDEO_OS, CARD_VIDEO_GPU, CARD_VIDEO_BYTES, CARD_VIDEO_BACKED, PB_SEGMENT_LINEAR},
	{2, CARD_EDGE_OS, CARD_EDGE_GPU, CARD_EDGE_BYTES, CARD_EDGE_BYTES, PB_SEGMENT_LINEAR},
	{3, 0, 0, CARD_WIDE_BYTES, 0, PB_SEGMENT_LINEAR},
};

void card_compare(const char *row, const char *what, uint64_t actual, uint64_t expected, const char *file,
		  int line)
{
	if (actual == expected)
		return;
	print_error("%s: %s is %" PRIu64 " (0x%" PRIx64 "), expected %" PRIu64 " (0x%" PRIx64 ")\n", row,
		    what, actual, actual, expected, expected);
	_fail(file, line);
}

void card_join(const struct card *card, struct pb_channel *channel, uint32_t number)
{
	struct pb_link *link = NULL;

	assert_int_equal(pb_link_open_sim(card->sim, number, &link), PB_ERROR_OK);
	assert_int_equal(pb_channel_attach(channel, link, ATTACH_TIMEOUT_US), PB_ERROR_OK);
}

void card_leave(struct pb_channel *channel)
{
	channel->link->ops->close(channel->link);
}

static void attach(struct card *card, uint32_t host_bytes, uint32_t outer_bytes)
{
	memset(card, 0, sizeof(*card));
	card->sim = pb_sim_create_with(host_bytes, outer_bytes);
	assert_non_null(card->sim);
	card_join(card, &card->channel, 1);
	card->link = card->channel.link;
}

void card_attach(struct card *card)
{
	attach(card, 0, 0);
}

static void make_segments(struct pb_channel *channel, struct pb_segment segments[4], uint32_t first)
{
	for (uint32_t s = first; s < 4; s++)
		assert_int_equal(pb_segment_create(&segments[s], channel, &requests[s]), PB_ERROR_OK);
}

void card_make_segments(struct pb_channel *channel, struct pb_segment segments[4])
{
	make_segments(channel, segments, 0);
}

static void make_host_segments(struct pb_channel *channel, struct pb_segment segments[4])
{
	const struct pb_host_pages pages = {.address = 0};
	struct pb_segment_request request = requests[0];

	request.kind = PB_SEGMENT_HOST;
	assert_int_equal(pb_segment_create_host(&segments[0], channel, &request, &pages), PB_ERROR_OK);
	make_segments(channel, segments, 1);
}

static void furnish_client(struct card_client *client)
{
	assert_int_equal(pb_context_create(&client->channel, &client->context), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&client->queue, &client->channel, &client->segments[0], 0, 8),
			 PB_ERROR_OK);
}

void card_join_client(const struct card *card, struct card_client *client, uint32_t number)
{
	card_join(card, &client->channel, number);
	card_make_segments(&client->channel, client->segments);
	furnish_client(client);
}

void card_join_host_client(const struct card *card, struct card_client *client, uint32_t number)
{
	card_join(card, &client->channel, number);
	make_host_segments(&client->channel, client->segments);
	furnish_client(client);
}

static void furnish(struct card *card)
{
	assert_int_equal(pb_context_create(&card->channel, &card->context), PB_ERROR_OK);
	assert_int_equal(card->context, CARD_CONTEXT);
	for (uint32_t node = 0; node < 2; node++)
		assert_int_equal(pb_queue_create(&card->queues[node], &card->channel, &card->segments[0],
						 node, QUEUE_ENTRIES),
				 PB_ERROR_OK);
}

void card_start(struct card *card)
{
	card_attach(card);
	card_make_segments(&card->channel, card->segments);
	furnish(card);
}

void card_start_host(struct card *card)
{
	attach(card, CARD_HOST_BYTES, 0);
	make_host_segments(&card->channel, card->segments);
	furnish(card);
}

void card_start_outer(struct card *card)
{
	attach(card, 0, CARD_OUTER_BYTES);
	card_make_segments(&card->channel, card->segments);
	furnish(card);
}

void card_start_on(struct card *card, struct pb_link *link)
{
	memset(card, 0, sizeof(*card));
	assert_int_equal(pb_channel_attach(&card->channel, link, UNIT_PATIENCE_US), PB_ERROR_OK);
	card->link = link;
	card_make_segments(&card->channel, card->segments);
	furnish(card);
}

void card_stop(struct card *card)
{
	card_leave(&card->channel);
	if (card->sim != NULL)
		pb_sim_destroy(card->sim);
}

uint8_t *card_bytes(const struct card *card, uint32_t segment, uint32_t offset)
{
	assert_true(offset < card->segments[segment].request.backing_bytes);
	return card->link->memory + card->segments[segment].memory_offset + offset;
}

uint32_t card_word(const struct card *card, uint32_t segment, uint32_t offset)
{
	uint32_t word;

	memcpy(&word, card_bytes(card, segment, offset), sizeof(word));
	return word;
}

uint32_t *card_dma(const struct card *card, uint32_t slot)
{
	return (uint32_t *)(void *)card_bytes(card, 0, CARD_DMA + slot * CARD_DMA_STRIDE);
}

uint32_t *card_fill(uint32_t *words, uint64_t gpu_address, uint32_t bytes, uint32_t value)
{
	*words++ = PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
	*words++ = (uint32_t)gpu_address;
	*words++ = (uint32_t)(gpu_address >> 32);
	*words++ = bytes;
	*words++ = value;
	return words;
}

void card_allocation(const struct card *card, uint32_t index, uint64_t os_address, uint64_t size,
		     uint32_t flags)
{
	const struct pb_allocation allocation = {
		.address_low = (uint32_t)os_address,
		.address_high = (uint32_t)(os_address >> 32),
		.size_low = (uint32_t)size,
		.size_high = (uint32_t)(size >> 32),
		.flags = flags,
		.id = 0xa110c000u + index,
	};

	memcpy(card_bytes(card, 0, CARD_ALLOCATIONS + index * (uint32_t)sizeof(allocation)), &allocation,
	       sizeof(allocation));
}

void card_patch(const struct card *card, uint32_t index, const struct pb_patch_location *patch)
{
	memcpy(card_bytes(card, 0, CARD_PATCHES + index * (uint32_t)sizeof(*patch)), patch, sizeof(*patch));
}

struct pb_descriptor card_descriptor(const struct card *card, uint32_t slot, uint32_t bytes,
				     uint32_t allocations, uint32_t patches)
{
	return (struct pb_descriptor){
		.context = card->context,
		.dma_address_low = (uint32_t)CARD_SYSTEM_OS + CARD_DMA + slot * CARD_DMA_STRIDE,
		.dma_size = (bytes + PB_PAGE_BYTES - 1u) / PB_PAGE_BYTES * PB_PAGE_BYTES,
		.dma_end = bytes,
		.allocation_count = allocations,
		.allocation_address_low = (uint32_t)CARD_SYSTEM_OS + CARD_ALLOCATIONS,
		.patch_address_low = (uint32_t)CARD_SYSTEM_OS + CARD_PATCHES,
		.patch_count = patches,
		.patch_length = patches,
	};
}

void card_edit(struct pb_descriptor *descriptor, const struct card_edit edits[CARD_EDITS])
{
	for (uint32_t i = 0; i < CARD_EDITS && edits[i].used; i++)
		memcpy((uint8_t *)descriptor + edits[i].offset, &edits[i].value, sizeof(uint32_t));
}

struct pb_descriptor card_mark(const struct card *card, uint32_t slot, uint32_t fence_id)
{
	const struct pb_patch_location patch = {
		.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
		.allocation_offset = slot * 4u,
		.patch_offset = 4,
	};
	struct pb_descriptor descriptor;

	card_fill(card_dma(card, slot), 0, 4, fence_id);
	card_patch(card, slot, &patch);
	card_allocation(card, 0, CARD_VIDEO_OS, 4096, CARD_SEGMENT(1) | PB_ALLOCATION_WRITE);
	descriptor = card_descriptor(card, slot, PB_PACKET_FILL_WORDS * 4u, 1, 1);
	descriptor.patch_address_low += slot * (uint32_t)sizeof(patch);
	descriptor.fence_id = fence_id;
	return descriptor;
}

void card_submit(struct card *card, uint32_t node, const struct pb_descriptor *descriptor)
{
	assert_int_equal(pb_queue_submit(&card->queues[node], descriptor), PB_ERROR_OK);
}

void card_submit_exactly(struct card *card, uint32_t node, const struct pb_descriptor *descriptor)
{
	struct pb_queue *queue = &card->queues[node];
	const uint32_t entry = queue->put % queue->entries;

	card_submit(card, node, descriptor);
	/* The card has not moved since, so that nothing has read what the library made of it. */
	memcpy(queue->memory.bytes_host + sizeof(struct pb_queue_page) + entry * sizeof(*descriptor),
	       descriptor, sizeof(*descriptor));
}

struct pb_fence card_wait_queue(const struct card *card, struct pb_queue *queue, uint32_t completed)
{
	struct pb_fence fence;
	uint64_t end;

	if (card->sim == NULL) {
		assert_int_equal(pb_queue_wait(queue, queue->timeline, UNIT_PATIENCE_US, &fence),
				 PB_ERROR_OK);
		assert_int_equal(fence.completed, completed);
		return fence;
	}
	end = pb_sim_now(card->sim) + PATIENCE_US;
	for (;;) {
		assert_int_equal(pb_queue_fence(queue, &fence), PB_ERROR_OK);
		if (fence.completed >= completed)
			break;
		if (pb_sim_now(card->sim) > end)
			fail_msg("%u of %u completed", fence.completed, completed);
		pb_sim_step(card->sim);
	}
	assert_int_equal(fence.completed, completed);
	return fence;
}

struct pb_fence card_wait(struct card *card, uint32_t node, uint32_t completed)
{
	return card_wait_queue(card, &card->queues[node], completed);
}

struct pb_fence card_execute(struct card *card, uint32_t node, const struct pb_descriptor *descriptor)
{
	card_submit(card, node, descriptor);
	return card_wait(card, node, card->queues[node].put);
}

void card_run(const struct card *card, uint64_t microseconds)
{
	const uint64_t end = pb_sim_now(card->sim) + microseconds;

	while (pb_sim_now(card->sim) < end)
		pb_sim_step(card->sim);
}

void card_expect_event(struct pb_channel *channel, const char *row, const struct pb_event *expected)
{
	struct pb_event event;

	if (!pb_channel_event(channel, &event))
		fail_msg("%s: no event where %s was expected", row, pb_event_name(expected->type));
	card_equal(row, event.type, expected->type);
	card_equal(row, event.epoch, channel->epoch);
	card_equal(row, event.queue, expected->queue);
	card_equal(row, event.fence_id, expected->fence_id);
	card_equal(row, event.error, expected->error);
	card_equal(row, event.index, expected->index);
	card_equal(row, event.detail, expected->detail);
}

void card_expect_no_event(struct pb_channel *channel, const char *row)
{
	struct pb_event event;

	if (pb_channel_event(channel, &event))
		fail_msg("%s: unexpected event %s, error %s", row, pb_event_name(event.type),
			 pb_error_name(event.error));
}
