/* SPDX-License-Identifier: MIT */
#include "firmware/queue/table.h"

#include <string.h>

#include "firmware/assert.h"
#include "firmware/instance.h"

void pb_core_table_init(struct pb_firmware *firmware)
{
	const struct pb_firmware_config *config = firmware->config;
	struct pb_core_table *table = &firmware->table;

	PB_ASSERT(config->queue_count >= 1u && config->queue_count <= PB_LIMIT_QUEUES);
	table->queues = config->queues;
	table->count = config->queue_count;
	table->free = PB_CORE_NO_QUEUE;
	for (uint32_t c = 0; c < PB_LIMIT_CHANNELS; c++)
		table->drained[c] = PB_CORE_NO_QUEUE;
	memset(table->cells, 0, sizeof(table->cells));
	memset(table->queues, 0, table->count * sizeof(struct pb_core_queue));
	for (uint32_t q = table->count; q-- != 0;)
		pb_core_stack_push(table->queues, &table->free, &table->queues[q]);
}

struct pb_core_queue *pb_core_table_find(struct pb_firmware *firmware, uint32_t channel, uint32_t handle)
{
	struct pb_core_queue *queue;

	if (PB_HANDLE_INDEX(handle) >= firmware->table.count)
		return NULL;
	queue = &firmware->table.queues[PB_HANDLE_INDEX(handle)];
	if (queue->channel != channel || queue->generation != PB_HANDLE_GENERATION(handle) ||
	    !pb_core_table_is_alive(queue))
		return NULL;
	return queue;
}

/** How many queues a queue's channel has in its cell. */
static uint8_t *cell_of(struct pb_core_table *table, const struct pb_core_queue *queue)
{
	return &table->cells[queue->channel][pb_core_table_index(table, queue) / PB_CORE_CELL_SLOTS];
}

/** The first slot at which a search for a channel's queues goes on. @param slot a multiple of PB_SLICE_SEARCH */
static uint32_t skip_cells(const struct pb_core_table *table, uint32_t channel, uint32_t slot)
{
	while (slot < table->count && table->cells[channel][slot / PB_CORE_CELL_SLOTS] == 0)
		slot += PB_CORE_CELL_SLOTS - slot % PB_CORE_CELL_SLOTS;
	return slot < table->count ? slot : table->count;
}

struct pb_core_queue *pb_core_table_next(const struct pb_core_table *table, uint32_t channel, uint16_t *at)
{
	const uint32_t end = (*at / PB_SLICE_SEARCH + 1u) * PB_SLICE_SEARCH;
	const uint32_t last = end < table->count ? end : table->count;
	struct pb_core_queue *found = NULL;
	uint32_t slot = *at;

	while (found == NULL && slot < last) {
		struct pb_core_queue *queue = &table->queues[slot++];

		if (queue->channel == channel && pb_core_queue_state(queue) != PB_CORE_QUEUE_FREE)
			found = queue;
	}
	*at = (uint16_t)(slot >= last ? skip_cells(table, channel, last) : slot);
	return found;
}

uint32_t pb_core_table_handle(const struct pb_firmware *firmware, const struct pb_core_queue *queue)
{
	return PB_HANDLE(pb_core_table_index(&firmware->table, queue), queue->generation);
}

uint32_t pb_core_table_step(struct pb_core_queue *queue, enum pb_core_queue_event event)
{
	const struct pb_core_step step =
		pb_core_queue_next((enum pb_core_queue_state)pb_core_queue_state(queue), event);

	PB_ASSERT(step.action != PB_CORE_QUEUE_ACTION_IMPOSSIBLE);
	queue->identity = (uint8_t)((queue->identity & ((1u << PB_CORE_QUEUE_STATE_SHIFT) - 1u)) |
				    (uint32_t)step.state << PB_CORE_QUEUE_STATE_SHIFT);
	/*@ assert state: queue->identity / 64 == step.state; */
	return step.action;
}

struct pb_core_queue *pb_core_table_open(struct pb_firmware *firmware, const struct pb_core_queue_plan *plan)
{
	struct pb_core_queue *queue;
	uint16_t generation;

	PB_ASSERT(firmware->table.free != PB_CORE_NO_QUEUE);
	queue = pb_core_stack_pop(firmware->table.queues, &firmware->table.free);
	generation = (uint16_t)(queue->generation + 1u);
	queue->page = plan->page;
	queue->generation = generation != 0 ? generation : 1u;
	queue->channel = (uint8_t)plan->channel;
	queue->mask = (uint8_t)(plan->entries - 1u);
	queue->quantum = (uint8_t)plan->quantum;
	queue->identity = (uint8_t)(plan->node | plan->priority << PB_CORE_QUEUE_PRIORITY_SHIFT);
	(void)pb_core_table_step(queue, PB_CORE_QUEUE_EVENT_CREATE);
	(*cell_of(&firmware->table, queue))++;
	firmware->nodes[plan->node].queues++;
	return queue;
}

void pb_core_table_drain(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	pb_core_stack_push(firmware->table.queues, &firmware->table.drained[queue->channel], queue);
	pb_core_mark_channel_drained(&firmware->marks, queue->channel);
}

struct pb_core_queue *pb_core_table_claim_drained(struct pb_firmware *firmware, uint32_t channel)
{
	if (firmware->table.drained[channel] == PB_CORE_NO_QUEUE)
		return NULL;
	return pb_core_stack_pop(firmware->table.queues, &firmware->table.drained[channel]);
}

void pb_core_table_free(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	(void)pb_core_table_step(queue, PB_CORE_QUEUE_EVENT_EMPTY);
	(*cell_of(&firmware->table, queue))--;
	pb_core_stack_push(firmware->table.queues, &firmware->table.free, queue);
	pb_core_node_of(firmware, queue)->queues--;
}

void pb_core_table_defer_reply(struct pb_core_queue *queue, uint32_t tag)
{
	queue->identity |= PB_CORE_QUEUE_REPLY_DEFERRED;
	queue->awaited = tag;
}

void pb_core_table_forget_reply(struct pb_core_queue *queue)
{
	queue->identity &= (uint8_t)~PB_CORE_QUEUE_REPLY_DEFERRED;
}
