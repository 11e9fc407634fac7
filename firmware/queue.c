/* SPDX-License-Identifier: MIT */
#include "firmware/core.h"

static struct pb_core_queue *find_free(struct pb_firmware *firmware)
{
	for (uint32_t q = 0; q < firmware->queue_count; q++) {
		/* A freed queue may still stand in a ready list until its turn comes. */
		if (firmware->queues[q].state == PB_CORE_QUEUE_FREE && !firmware->queues[q].ready)
			return &firmware->queues[q];
	}
	return NULL;
}

static void open_queue(struct pb_core_queue *queue, uint32_t channel, uint32_t node, uint32_t entries)
{
	const uint16_t generation = (uint16_t)(queue->generation + 1u);
	struct pb_queue_page *page = queue->page;

	*queue = (struct pb_core_queue){
		.page = page,
		.ring = (struct pb_descriptor *)(void *)(page + 1),
		.mask = entries - 1u,
		.next = PB_CORE_NO_QUEUE,
		.generation = generation != 0 ? generation : 1u,
		.channel = (uint8_t)channel,
		.node = (uint8_t)node,
		.state = PB_CORE_QUEUE_OPEN,
	};
}

enum pb_error pb_core_queue_create(struct pb_firmware *firmware, uint32_t channel, const uint32_t *arguments,
				   uint32_t *handle)
{
	const uint32_t node = arguments[0];
	const uint32_t entries = arguments[1];
	const uint64_t address = pb_core_wide(arguments[2], arguments[3]);
	const struct pb_core_segment *system =
		pb_core_segment_of(firmware, &firmware->channels[channel], PB_SEGMENT_SYSTEM);
	struct pb_core_queue *queue;
	uint32_t offset;

	if (node >= firmware->config->node_count || address % PB_LINE_BYTES != 0 ||
	    entries < PB_LIMIT_RING_MIN || entries > PB_LIMIT_RING_MAX || (entries & (entries - 1u)) != 0)
		return PB_ERROR_BAD_ARGUMENT;
	if (arguments[4] >= PB_PRIORITIES)
		return PB_ERROR_BAD_ARGUMENT;
	offset = pb_core_segment_memory(
		system, address, sizeof(struct pb_queue_page) + entries * sizeof(struct pb_descriptor));
	if (offset == 0)
		return PB_ERROR_BAD_ARGUMENT;
	queue = find_free(firmware);
	if (queue == NULL)
		return PB_ERROR_NO_SPACE;
	queue->page = pb_core_at(firmware, offset);
	open_queue(queue, channel, node, entries);
	pb_core_record_init(queue, firmware->channels[channel].epoch);
	*handle = pb_core_queue_handle(firmware, queue);
	return PB_ERROR_OK;
}

uint32_t pb_core_queue_handle(const struct pb_firmware *firmware, const struct pb_core_queue *queue)
{
	return PB_HANDLE(queue - firmware->queues, queue->generation);
}

void pb_core_queue_close(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	queue->state = PB_CORE_QUEUE_CLOSING;
	pb_core_job_drop(firmware, &firmware->nodes[queue->node]);
	if (queue->state == PB_CORE_QUEUE_CLOSING && queue->busy == 0)
		pb_core_queue_drained(firmware, queue);
}

void pb_core_queue_drained(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	queue->state = PB_CORE_QUEUE_FREE;
	if (!queue->reply_owed)
		return;
	queue->reply_owed = false;
	pb_core_control_reply(firmware, queue->channel, PB_COMMAND_QUEUE_DESTROY, queue->destroy_tag,
			      PB_ERROR_OK, 0);
}

/** A put index moves forward, and stays within one ring of what was completed. */
static bool put_is_sane(const struct pb_core_queue *queue, uint32_t put)
{
	const uint32_t room = queue->mask + 1u - (queue->put - queue->completed);

	return put - queue->put <= room;
}

static __attribute__((noinline)) void put_fault(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	const struct pb_event event = {
		.type = PB_EVENT_QUEUE_FAULT,
		.queue = pb_core_queue_handle(firmware, queue),
		.error = PB_ERROR_RING_FAULT,
		.index = PB_INDEX_NONE,
	};

	queue->state = PB_CORE_QUEUE_FAULTED;
	pb_core_record_error(queue, PB_ERROR_RING_FAULT, 0, PB_INDEX_NONE);
	pb_core_event(firmware, queue->channel, &event);
}

void pb_core_queue_look(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	uint32_t put;

	if (queue->state != PB_CORE_QUEUE_OPEN)
		return;
	put = pb_shared_read32(&queue->page->put);
	if (!put_is_sane(queue, put)) {
		put_fault(firmware, queue);
		return;
	}
	queue->put = put;
	pb_shared_acquire(); /* the descriptors behind put may be newer than the kick that led here */
	if (put != queue->admitted && !queue->ready)
		pb_core_schedule_add(firmware, queue);
}
