/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "firmware/core.h"
#include "firmware/queue_look.h"

void pb_core_queue_init(struct pb_firmware *firmware)
{
	const struct pb_firmware_config *config = firmware->config;

	PB_ASSERT(config->queue_count >= 1u && config->queue_count <= PB_LIMIT_QUEUES);
	firmware->queues = config->queues;
	firmware->queue_count = config->queue_count;
	memset(firmware->queues, 0, firmware->queue_count * sizeof(struct pb_core_queue));
	for (uint32_t q = 0; q < firmware->queue_count; q++)
		firmware->queues[q].next =
			q + 1u < firmware->queue_count ? (uint16_t)(q + 1u) : PB_CORE_NO_QUEUE;
	firmware->free_queues = 0;
	firmware->waking = PB_CORE_NO_QUEUE;
}

/** @return enum pb_core_queue_action: what is to be done */
static uint32_t on_event(struct pb_core_queue *queue, enum pb_core_queue_event event)
{
	const struct pb_core_step step =
		pb_core_queue_next((enum pb_core_queue_state)pb_core_queue_state(queue), event);

	PB_ASSERT(step.action != PB_CORE_QUEUE_ACTION_IMPOSSIBLE);
	pb_core_queue_set_state(queue, step.state);
	return step.action;
}

/** What a QUEUE_CREATE asks for, checked. */
struct wanted {
	uint32_t node;
	uint32_t entries;
	uint32_t level;
	uint32_t quantum; /**< in PB_CORE_QUANTUM_UNIT */
	uint32_t offset;  /**< of its page in card memory */
};

static void open_queue(struct pb_firmware *firmware, struct pb_core_queue *queue, uint32_t channel,
		       const struct wanted *wanted)
{
	const uint16_t generation = (uint16_t)(queue->generation + 1u);

	firmware->free_queues = queue->next;
	(void)on_event(queue, PB_CORE_QUEUE_EVENT_CREATE);
	*queue = (struct pb_core_queue){
		.page = pb_core_at(firmware, wanted->offset),
		.error_timeline = UINT64_MAX,
		.mask = (uint8_t)(wanted->entries - 1u),
		.waiters = PB_CORE_NO_QUEUE,
		.generation = generation != 0 ? generation : 1u,
		.channel = (uint8_t)channel,
		.node = (uint8_t)wanted->node,
		.quantum = (uint8_t)wanted->quantum,
		.state = (uint8_t)(pb_core_queue_state(queue) | wanted->level << 4),
	};
	firmware->channels[channel].queues++;
	firmware->nodes[wanted->node].queues++;
}

static enum pb_error check_priority(const struct pb_firmware *firmware, uint32_t channel,
				    const uint32_t *arguments, struct wanted *wanted)
{
	const uint32_t quantum = arguments[5] != 0 ? arguments[5] : PB_QUANTUM_MICROSECONDS;

	if (arguments[4] >= PB_PRIORITIES || quantum > PB_QUANTUM_MICROSECONDS_MAX)
		return PB_ERROR_BAD_ARGUMENT;
	wanted->level = arguments[4];
	wanted->quantum = (quantum + PB_CORE_QUANTUM_UNIT - 1u) / PB_CORE_QUANTUM_UNIT;
	return wanted->level > firmware->channels[channel].priority_cap ? PB_ERROR_NO_PERMISSION
									: PB_ERROR_OK;
}

static enum pb_error check_place(struct pb_firmware *firmware, uint32_t channel, const uint32_t *arguments,
				 struct wanted *wanted)
{
	const uint32_t entries = arguments[1];
	const uint64_t address = pb_core_wide(arguments[2], arguments[3]);
	const struct pb_core_segment *system =
		pb_core_segment_of(firmware, &firmware->channels[channel], PB_SEGMENT_SYSTEM);

	if (arguments[0] >= firmware->config->node_count || address % PB_LINE_BYTES != 0 ||
	    entries < PB_LIMIT_RING_MIN || entries > PB_LIMIT_RING_MAX || (entries & (entries - 1u)) != 0)
		return PB_ERROR_BAD_ARGUMENT;
	wanted->node = arguments[0];
	wanted->entries = entries;
	wanted->offset = pb_core_segment_memory(
		system, address, sizeof(struct pb_queue_page) + entries * sizeof(struct pb_descriptor));
	return wanted->offset == 0 ? PB_ERROR_BAD_ARGUMENT : PB_ERROR_OK;
}

enum pb_error pb_core_queue_create(struct pb_firmware *firmware, uint32_t channel, const uint32_t *arguments,
				   uint32_t *handle)
{
	struct pb_core_queue *queue = &firmware->queues[firmware->free_queues % PB_LIMIT_QUEUES];
	const struct pb_core_node *node;
	struct wanted wanted;
	enum pb_error error = check_place(firmware, channel, arguments, &wanted);

	if (error == PB_ERROR_OK)
		error = check_priority(firmware, channel, arguments, &wanted);
	if (error != PB_ERROR_OK)
		return error;
	node = &firmware->nodes[wanted.node];
	if (firmware->free_queues == PB_CORE_NO_QUEUE ||
	    (node->mode == PB_NODE_HOST_ORDERED && node->queues != 0))
		return PB_ERROR_NO_SPACE;
	open_queue(firmware, queue, channel, &wanted);
	pb_core_record_init(queue, firmware->channels[channel].epoch);
	*handle = pb_core_queue_handle(firmware, queue);
	PB_CORE_TRACE_QUEUE(firmware, QUEUE, queue, channel, queue->node);
	return PB_ERROR_OK;
}

uint32_t pb_core_queue_handle(const struct pb_firmware *firmware, const struct pb_core_queue *queue)
{
	return PB_HANDLE(pb_core_queue_index(firmware, queue), queue->generation);
}

void pb_core_queue_close(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	struct pb_core_node *node = &firmware->nodes[queue->node];

	if (on_event(queue, PB_CORE_QUEUE_EVENT_CLOSE) == PB_CORE_QUEUE_ACTION_NOTHING)
		return;
	pb_core_schedule_remove(firmware, queue);
	pb_core_wait_leave(firmware, queue);
	pb_core_stop_abandon(firmware, queue);
	queue->flags |= PB_CORE_QUEUE_CLOSING_IT;
	if (pb_core_next_is(node, queue))
		pb_core_job_drop(firmware, node);
	pb_core_wait_wake(firmware, queue);
	if (queue->busy == 0)
		pb_core_queue_drained(firmware, queue);
}

void pb_core_queue_drained(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	const uint16_t index = pb_core_queue_index(firmware, queue);

	if ((queue->flags & PB_CORE_QUEUE_AWAITED) != 0 || firmware->waking == index)
		return; /* once those that wait for it have been told, this comes again */
	(void)on_event(queue, PB_CORE_QUEUE_EVENT_EMPTY);
	queue->next = firmware->free_queues;
	firmware->free_queues = index;
	firmware->channels[queue->channel].queues--;
	firmware->nodes[queue->node].queues--;
	if ((queue->flags & PB_CORE_QUEUE_REPLY_OWED) == 0)
		return;
	pb_core_control_reply(firmware, queue->channel, PB_COMMAND_QUEUE_DESTROY, (uint32_t)queue->awaited,
			      PB_ERROR_OK, NULL);
}

void pb_core_queue_put_fault(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	const struct pb_event event = {
		.type = PB_EVENT_QUEUE_FAULT,
		.queue = pb_core_queue_handle(firmware, queue),
		.error = PB_ERROR_RING_FAULT,
		.index = PB_INDEX_NONE,
	};

	(void)on_event(queue, PB_CORE_QUEUE_EVENT_FAULT);
	pb_core_wait_wake(firmware, queue);
	pb_core_record_error(queue, PB_ERROR_RING_FAULT, 0, PB_INDEX_NONE);
	pb_core_event(firmware, queue->channel, &event);
}

bool pb_core_queue_is_there(const struct pb_core_queue *queue)
{
	return pb_core_queue_state(queue) != PB_CORE_QUEUE_FREE &&
	       pb_core_queue_state(queue) != PB_CORE_QUEUE_CLOSING;
}

bool pb_core_queue_look_again(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	return pb_core_queue_look(firmware, queue);
}

void pb_core_queue_go_on(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	(void)pb_core_queue_look_again(firmware, queue);
	/* One that broke its rule takes no more work; what it had goes on. */
	if (pb_core_queue_state(queue) == PB_CORE_QUEUE_FAULTED && pb_core_queue_has_more(queue) &&
	    pb_core_queue_place(queue) == PB_CORE_PLACE_NONE &&
	    (queue->flags & (PB_CORE_QUEUE_STOPPING | PB_CORE_QUEUE_SUSPENDED)) == 0)
		pb_core_schedule_add(firmware, queue);
}
