/* SPDX-License-Identifier: MIT */
#include "firmware/telemetry.h"

#include "firmware/core.h"

PB_STATIC_ASSERT((uint32_t)PB_NODE_TAG_COUNT <= PB_NODE_VALUES, "every value of a node has its place");
PB_STATIC_ASSERT((uint32_t)PB_CARD_TAG_COUNT <= PB_CARD_VALUES, "so has every one of the card");

void pb_core_telemetry_init(struct pb_firmware *firmware)
{
	const uint32_t nodes = firmware->config->node_count;
	const uint32_t bytes =
		(uint32_t)(sizeof(struct pb_telemetry) + nodes * sizeof(struct pb_node_telemetry));
	struct pb_telemetry *telemetry = pb_core_at(firmware, firmware->config->telemetry_offset);

	PB_ASSERT(firmware->config->telemetry_offset != 0);
	pb_shared_write32(&telemetry->version, 0);
	pb_shared_release();
	for (uint32_t i = 1; i < bytes / sizeof(uint32_t); i++)
		pb_shared_write32(&telemetry->version + i, 0);
	for (uint32_t n = 0; n < nodes; n++)
		firmware->nodes[n].telemetry = (struct pb_node_telemetry *)(void *)(telemetry + 1) + n;
	pb_shared_write32(&telemetry->nodes, nodes);
	pb_shared_write32(&telemetry->node_values, PB_NODE_TAG_COUNT);
	pb_shared_write32(&telemetry->card_values, PB_CARD_TAG_COUNT);
	pb_shared_release();
	pb_shared_write32(&telemetry->version, PB_TELEMETRY_VERSION);
}

/** It is odd until `end`. */
static void begin(uint32_t *sequence)
{
	pb_shared_write32(sequence, pb_shared_read32(sequence) | 1u);
	pb_shared_release();
}

static void end(uint32_t *sequence)
{
	pb_shared_release();
	pb_shared_write32(sequence, pb_shared_read32(sequence) + 1u);
}

/** A count whose low word is kept in private memory: that it went round shows by what was published last. */
static void publish(struct pb_telemetry_value *value, uint32_t now)
{
	if (now < pb_shared_read32(&value->low))
		pb_shared_write32(&value->high, pb_shared_read32(&value->high) + 1u);
	pb_shared_write32(&value->low, now);
}

static void publish_node(const struct pb_core_node *node)
{
	struct pb_telemetry_value *values = node->telemetry->values;
	uint32_t progress;

	begin(&node->telemetry->sequence);
	publish(&values[PB_NODE_TAG_BUSY],
		node->engine->ops->stopwatch(node->engine->context, &progress) - node->busy_before);
	publish(&values[PB_NODE_TAG_SUBMISSIONS], node->completed + node->retired);
	publish(&values[PB_NODE_TAG_PATCHES], node->patches);
	publish(&values[PB_NODE_TAG_BYTES], node->bytes);
	publish(&values[PB_NODE_TAG_PREEMPTIONS], node->stops);
	publish(&values[PB_NODE_TAG_FAULTS], node->faults);
	publish(&values[PB_NODE_TAG_RESETS], node->resets);
	publish(&values[PB_NODE_TAG_IDLES], node->idles);
	publish(&values[PB_NODE_TAG_STARVED], node->starved);
	publish(&values[PB_NODE_TAG_FEED_TIME], node->latency_time[PB_LATENCY_FEED]);
	publish(&values[PB_NODE_TAG_FENCE_TIME], node->latency_time[PB_LATENCY_FENCE]);
	pb_shared_write32(&values[PB_NODE_TAG_DEPTH].low, node->queued);
	pb_shared_write32(&values[PB_NODE_TAG_IN_FLIGHT].low, node->fed - node->retired);
	pb_shared_write32(&values[PB_NODE_TAG_QUEUES].low, node->queues);
	pb_shared_write32(&values[PB_NODE_TAG_STATE].low, node->state);
	end(&node->telemetry->sequence);
}

static void publish_card(struct pb_firmware *firmware)
{
	struct pb_telemetry *telemetry = pb_core_at(firmware, firmware->config->telemetry_offset);

	begin(&telemetry->sequence);
	publish(&telemetry->values[PB_CARD_TAG_TICKS], ++firmware->ticks);
	publish(&telemetry->values[PB_CARD_TAG_DROPS], firmware->drops);
	publish(&telemetry->values[PB_CARD_TAG_CHANNEL_FAULTS], firmware->channel_faults);
	end(&telemetry->sequence);
}

/** All queues have been looked through: that is what there was. */
static void take_sums(struct pb_firmware *firmware)
{
	for (uint32_t n = 0; n < firmware->config->node_count; n++) {
		struct pb_core_node *node = &firmware->nodes[n];

		node->queued = node->queued_so_far;
		node->queued_so_far = 0;
	}
	firmware->queued_at = 0;
}

static void count_some(struct pb_firmware *firmware)
{
	for (uint32_t i = 0; i < PB_SLICE_SEARCH && firmware->queued_at < firmware->queue_count; i++) {
		const struct pb_core_queue *queue = &firmware->queues[firmware->queued_at++];

		if (pb_core_queue_state(queue) != PB_CORE_QUEUE_FREE)
			firmware->nodes[queue->node].queued_so_far += queue->put - queue->completed;
	}
	if (firmware->queued_at == firmware->queue_count)
		take_sums(firmware);
}

void pb_core_telemetry_tick(struct pb_firmware *firmware)
{
	count_some(firmware);
	publish_card(firmware);
	publish_node(&firmware->nodes[firmware->ticks % firmware->config->node_count]);
}
