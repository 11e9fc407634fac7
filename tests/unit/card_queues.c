/* SPDX-License-Identifier: MIT */
#include "tests/unit/card_queues.h"

#include <string.h>

#define QUEUE_BYTES                                                                                          \
	((uint32_t)sizeof(struct pb_queue_page) + CARD_QUEUE_ENTRIES * (uint32_t)sizeof(struct pb_descriptor))

/** What the fixture leaves free in segment 0. */
static const struct {
	uint32_t start;
	uint32_t end;
} free_runs[] = {
	{0x2000, CARD_DMA},
	{CARD_DMA + CARD_QUEUE_BUFFERS * CARD_DMA_STRIDE, CARD_ALLOCATIONS},
	{CARD_PATCHES + 0x4000, CARD_SYSTEM_BYTES},
};

static uint32_t offset_of(uint32_t place)
{
	for (uint32_t run = 0; run < sizeof(free_runs) / sizeof(free_runs[0]); run++) {
		const uint32_t places = (free_runs[run].end - free_runs[run].start) / QUEUE_BYTES;

		if (place < places)
			return free_runs[run].start + place * QUEUE_BYTES;
		place -= places;
	}
	fail_msg("no such place");
	return 0;
}

enum pb_error card_queue_open(struct pb_queue *queue, struct pb_channel *channel, struct pb_segment *system,
			      const struct card_queue_request *request)
{
	const uint32_t offset = offset_of(request->place);
	const uint64_t address = system->request.os_base + offset;
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		request->node,  CARD_QUEUE_ENTRIES, (uint32_t)address, (uint32_t)(address >> 32),
		request->level, request->quantum,
	};
	uint32_t results[PB_REPLY_RESULTS];
	enum pb_error error;

	*queue = (struct pb_queue){
		.channel = channel,
		.memory = {system, offset, QUEUE_BYTES, address,
			   channel->link->memory + system->memory_offset + offset},
		.entries = CARD_QUEUE_ENTRIES,
	};
	memset(queue->memory.bytes_host, 0, QUEUE_BYTES);
	error = pb_channel_command(channel, PB_COMMAND_QUEUE_CREATE, arguments, results);
	queue->handle = results[0];
	return error;
}

void card_queue_make(struct pb_queue *queue, struct card *card, const struct card_queue_request *request)
{
	assert_int_equal(card_queue_open(queue, &card->channel, &card->segments[0], request), PB_ERROR_OK);
}

enum pb_error card_queue_close(const struct pb_queue *queue)
{
	return card_command(queue->channel, PB_COMMAND_QUEUE_DESTROY, queue->handle, 0, 0, 0, 0);
}

void card_queue_submit(struct pb_queue *queue, const struct pb_descriptor *descriptor)
{
	assert_int_equal(pb_queue_submit(queue, descriptor), PB_ERROR_OK);
}

uint32_t card_queue_completed(struct pb_queue *queue)
{
	uint32_t completed;

	assert_int_equal(pb_queue_completed(queue, &completed), PB_ERROR_OK);
	return completed;
}

struct pb_descriptor card_nothing(const struct card *card, uint32_t fence_id)
{
	return (struct pb_descriptor){.context = card->context, .fence_id = fence_id};
}

struct pb_descriptor card_busy(const struct card *card, uint32_t slot, uint32_t microseconds)
{
	card_dma(card, slot)[0] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
	card_dma(card, slot)[1] = microseconds;
	return card_descriptor(card, slot, PB_PACKET_BUSY_WORDS * 4u, 0, 0);
}

/* Behind the allocation lists of the tests. */
#define WAITS      (CARD_ALLOCATIONS + 0x10000u)
#define LIST_BYTES (PB_WAITS_MAX * (uint32_t)sizeof(struct pb_wait))

struct pb_descriptor card_waiting(const struct card *card, uint32_t list, const struct pb_wait *waits,
				  uint32_t count)
{
	struct pb_descriptor descriptor = card_nothing(card, 0);
	const uint32_t offset = WAITS + list * LIST_BYTES;

	assert_true(list < CARD_WAIT_LISTS && count <= PB_WAITS_MAX);
	memcpy(card_bytes(card, 0, offset), waits, count * sizeof(*waits));
	descriptor.wait_address_low = (uint32_t)CARD_SYSTEM_OS + offset;
	descriptor.wait_count = count;
	return descriptor;
}

struct pb_wait card_wait_on(const struct pb_queue *queue, uint64_t value)
{
	return (struct pb_wait){
		.queue = queue->handle,
		.timeline_low = (uint32_t)value,
		.timeline_high = (uint32_t)(value >> 32),
	};
}

struct pb_descriptor card_waiting_for(const struct card *card, uint32_t list, const struct pb_queue *queue,
				      uint64_t value)
{
	const struct pb_wait wait = card_wait_on(queue, value);

	return card_waiting(card, list, &wait, 1);
}

void card_expect_completed(const struct card *card, const char *row, struct pb_queue *queue,
			   uint32_t completed, enum pb_error status)
{
	struct pb_fence fence;

	card_run(card, 2000);
	assert_int_equal(pb_queue_fence(queue, &fence), PB_ERROR_OK);
	card_equal(row, fence.completed, completed);
	card_equal(row, fence.status, status);
}

enum pb_error card_command(struct pb_channel *channel, uint32_t code, uint32_t a, uint32_t b, uint32_t c,
			   uint32_t d, uint32_t e)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {a, b, c, d, e};

	return pb_channel_command(channel, code, arguments, NULL);
}

void card_query(struct pb_channel *channel, uint32_t what, uint32_t object,
		uint32_t results[PB_REPLY_RESULTS])
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {what, object};

	assert_int_equal(pb_channel_command(channel, PB_COMMAND_QUERY, arguments, results), PB_ERROR_OK);
}

uint32_t card_why(const struct pb_queue *queue)
{
	uint32_t results[PB_REPLY_RESULTS];

	card_query(queue->channel, PB_QUERY_QUEUE, queue->handle, results);
	return results[0];
}
