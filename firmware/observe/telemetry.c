/* SPDX-License-Identifier: MIT */
#include "firmware/observe/telemetry.h"

#include "firmware/assert.h"
#include "firmware/compiler.h"
#include "firmware/instance.h"

PB_STATIC_ASSERT((uint32_t)PB_NODE_TAG_COUNT <= PB_NODE_VALUES, "every value of a node has its place");
PB_STATIC_ASSERT((uint32_t)PB_CARD_TAG_COUNT <= PB_CARD_VALUES, "so has every one of the card");

void pb_core_telemetry_init(struct pb_firmware *firmware)
{
	const uint32_t nodes = firmware->config->node_count;
	const uint32_t bytes =
		(uint32_t)(sizeof(struct pb_telemetry) + nodes * sizeof(struct pb_node_telemetry) +
			   PB_LIMIT_CHANNELS * sizeof(struct pb_channel_account));
	struct pb_telemetry *telemetry = pb_core_at(firmware, firmware->config->telemetry_offset);

	PB_ASSERT(firmware->config->telemetry_offset != 0);
	pb_shared_write32(&telemetry->version, 0);
	pb_shared_release();
	for (uint32_t i = 1; i < bytes / sizeof(uint32_t); i++)
		pb_shared_write32(&telemetry->version + i, 0);
	for (uint32_t n = 0; n < nodes; n++) {
		const struct pb_engine *engine = &firmware->config->engines[n];
		struct pb_core_node_telemetry *node = &firmware->nodes[n].telemetry;
		uint32_t progress;

		node->page = (struct pb_node_telemetry *)(void *)(telemetry + 1) + n;
		/* A boot does not reset an engine's runtime counter. */
		node->busy_before = engine->run->runtime(engine->context, &progress);
	}
	pb_shared_write32(&telemetry->nodes, nodes);
	pb_shared_write32(&telemetry->node_values, PB_NODE_TAG_COUNT);
	pb_shared_write32(&telemetry->card_values, PB_CARD_TAG_COUNT);
	pb_shared_write32(&telemetry->channels, PB_LIMIT_CHANNELS);
	pb_shared_release();
	pb_shared_write32(&telemetry->version, PB_TELEMETRY_VERSION);
}

/** Begins to publish: the sequence number is odd until end(). */
static void begin(uint32_t *sequence)
{
	pb_shared_write32(sequence, pb_shared_read32(sequence) | 1u);
	pb_shared_release();
}

/** What was published is whole. */
static void end(uint32_t *sequence)
{
	pb_shared_release();
	pb_shared_write32(sequence, pb_shared_read32(sequence) + 1u);
}

/** Publishes a count whose low word is kept in private memory: a value below the last one published has wrapped. */
static void publish(struct pb_telemetry_value *value, uint32_t now)
{
	if (now < pb_shared_read32(&value->low))
		pb_shared_write32(&value->high, pb_shared_read32(&value->high) + 1u);
	pb_shared_write32(&value->low, now);
}

static void publish_node(const struct pb_core_node *node)
{
	const struct pb_core_node_telemetry *telemetry = &node->telemetry;
	struct pb_telemetry_value *values = telemetry->page->values;
	uint32_t progress;

	begin(&telemetry->page->sequence);
	publish(&values[PB_NODE_TAG_BUSY],
		node->engine->run->runtime(node->engine->context, &progress) - telemetry->busy_before);
	publish(&values[PB_NODE_TAG_SUBMISSIONS], node->retirement.before_reset + node->flight.retired);
	publish(&values[PB_NODE_TAG_PATCHES], node->staged.patches);
	publish(&values[PB_NODE_TAG_BYTES], node->retirement.bytes);
	publish(&values[PB_NODE_TAG_PREEMPTIONS], node->machine.stops);
	publish(&values[PB_NODE_TAG_FAULTS], node->machine.faults);
	publish(&values[PB_NODE_TAG_RESETS], node->machine.resets);
	publish(&values[PB_NODE_TAG_IDLES], node->retirement.idles);
	publish(&values[PB_NODE_TAG_STARVED], node->staged.starved);
	publish(&values[PB_NODE_TAG_FEED_TIME], telemetry->latency_time[PB_LATENCY_FEED]);
	publish(&values[PB_NODE_TAG_FENCE_TIME], telemetry->latency_time[PB_LATENCY_FENCE]);
	pb_shared_write32(&values[PB_NODE_TAG_DEPTH].low, telemetry->queued);
	pb_shared_write32(&values[PB_NODE_TAG_IN_FLIGHT].low, node->flight.fed - node->flight.retired);
	pb_shared_write32(&values[PB_NODE_TAG_QUEUES].low, node->queues);
	pb_shared_write32(&values[PB_NODE_TAG_STATE].low, node->machine.state);
	end(&telemetry->page->sequence);
}

/** Publishes what a channel has and may have, behind the last node. */
static PB_CORE_COLD void publish_account(const struct pb_firmware *firmware, uint32_t channel)
{
	const struct pb_core_quota *quota = &firmware->channels[channel].quota;
	const struct pb_core_node *last = &firmware->nodes[firmware->config->node_count - 1u];
	struct pb_channel_account *account =
		(struct pb_channel_account *)(void *)(last->telemetry.page + 1) + channel;

	for (uint32_t r = 0; r < PB_RESOURCES_USED; r++)
		pb_shared_write32(&account->used[r], quota->used[r] * PB_CORE_QUOTA_UNIT(r));
	for (uint32_t r = 0; r < PB_CORE_QUOTA_COUNTS; r++)
		pb_shared_write32(&account->limit[r], quota->limit[r] * PB_CORE_QUOTA_UNIT(r));
	for (uint32_t r = PB_CORE_QUOTA_COUNTS; r < PB_RESOURCE_COUNT; r++)
		pb_shared_write32(&account->limit[r], quota->limit_us[r - PB_CORE_QUOTA_COUNTS]);
}

static void publish_card(struct pb_firmware *firmware)
{
	struct pb_telemetry *telemetry = pb_core_at(firmware, firmware->config->telemetry_offset);

	begin(&telemetry->sequence);
	publish(&telemetry->values[PB_CARD_TAG_TICKS], ++firmware->telemetry.ticks);
	publish(&telemetry->values[PB_CARD_TAG_DROPS], firmware->event_drops);
	publish(&telemetry->values[PB_CARD_TAG_CHANNEL_FAULTS], firmware->endpoint_counts.faults);
	end(&telemetry->sequence);
}

/** All queues were counted: publishes the sums from the next tick on, and begins anew. */
static void claim_sums(struct pb_firmware *firmware)
{
	for (uint32_t n = 0; n < firmware->config->node_count; n++) {
		struct pb_core_node_telemetry *node = &firmware->nodes[n].telemetry;

		node->queued = node->queued_so_far;
		node->queued_so_far = 0;
	}
	firmware->telemetry.queued_at = 0;
}

/** Counts the descriptors of a slice of the queues. */
static void count_some(struct pb_firmware *firmware)
{
	struct pb_core_telemetry *telemetry = &firmware->telemetry;

	for (uint32_t i = 0; i < PB_SLICE_SEARCH && telemetry->queued_at < firmware->table.count; i++) {
		const struct pb_core_queue *queue = &firmware->table.queues[telemetry->queued_at++];

		if (pb_core_queue_state(queue) != PB_CORE_QUEUE_FREE)
			pb_core_node_of(firmware, queue)->telemetry.queued_so_far +=
				queue->put - queue->completed;
	}
	if (telemetry->queued_at == firmware->table.count)
		claim_sums(firmware);
}

void pb_core_telemetry_tick(struct pb_firmware *firmware)
{
	count_some(firmware);
	publish_card(firmware);
	publish_node(&firmware->nodes[firmware->telemetry.ticks % firmware->config->node_count]);
	publish_account(firmware, firmware->telemetry.ticks % PB_LIMIT_CHANNELS);
}
