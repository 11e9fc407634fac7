/* SPDX-License-Identifier: MIT */
#include "host/tool/top_model.h"

#include <math.h>

#define UNKNOWN ((double)NAN)

void pb_top_model_restart(struct pb_top_model *model)
{
	model->known = false;
}

bool pb_top_model_has(const struct pb_top_model *model, enum pb_node_tag tag)
{
	return (uint32_t)tag < model->now.node_values;
}

/** Returns whether a counter of a node decreased. */
static bool went_back(const struct pb_telemetry_node *before, const struct pb_telemetry_node *now)
{
	for (uint32_t tag = 0; tag < PB_NODE_TAG_COUNT; tag++)
		if (pb_node_meanings[tag].kind == PB_TELEMETRY_COUNTER &&
		    now->values[tag] < before->values[tag])
			return true;
	return false;
}

/** Returns whether two snapshots are of one boot of the firmware. */
static bool comparable(const struct pb_telemetry_snapshot *before, const struct pb_telemetry_snapshot *now)
{
	bool same = now->card.incarnation == before->card.incarnation &&
		    now->node_count == before->node_count && now->node_values == before->node_values &&
		    now->clock - before->clock <= INT32_MAX;

	for (uint32_t n = 0; n < now->node_count && same; n++)
		same = !went_back(&before->nodes[n], &now->nodes[n]);
	return same;
}

static struct pb_top_latency latency(const uint32_t *before, const uint32_t *now)
{
	uint32_t fresh[PB_LATENCY_BUCKETS];
	struct pb_top_latency result = {.any = false};

	for (uint32_t b = 0; b < PB_LATENCY_BUCKETS; b++)
		fresh[b] = now[b] - before[b];
	result.any = pb_latency_percentile(fresh, 500, &result.p50) &&
		     pb_latency_percentile(fresh, 990, &result.p99);
	return result;
}

static double rate(uint64_t before, uint64_t now, double seconds)
{
	return seconds > 0 ? (double)(now - before) / seconds : UNKNOWN;
}

/** @param seconds 0: the card's clock has not moved */
static void compare_node(struct pb_top_node *node, const struct pb_telemetry_node *before,
			 const struct pb_telemetry_node *now, double seconds)
{
	for (uint32_t tag = 0; tag < PB_NODE_TAG_COUNT; tag++)
		node->rates[tag] = rate(before->values[tag], now->values[tag], seconds);
	/* Busy time is published with a delay, so that a short interval may show more than 100 %. */
	node->busy = node->rates[PB_NODE_TAG_BUSY] / 1e6;
	node->busy = node->busy > 1 ? 1 : node->busy;
	for (uint32_t l = 0; l < PB_LATENCY_COUNT; l++)
		node->latencies[l] = latency(before->latencies[l], now->latencies[l]);
}

static void forget_node(struct pb_top_node *node)
{
	*node = (struct pb_top_node){.busy = UNKNOWN};
	for (uint32_t tag = 0; tag < PB_NODE_TAG_COUNT; tag++)
		node->rates[tag] = UNKNOWN;
}

void pb_top_model_update(struct pb_top_model *model, const struct pb_telemetry_snapshot *now)
{
	const struct pb_telemetry_snapshot *before = &model->now;
	const bool compare = model->known && comparable(before, now);
	const double seconds = (double)(now->clock - before->clock) / 1e6;
	const uint32_t beats = now->card.heartbeat - before->card.heartbeat;

	model->beating = !compare || beats != 0;
	model->beats = compare ? rate(0, beats, seconds) : UNKNOWN;
	for (uint32_t n = 0; n < now->node_count; n++) {
		if (compare)
			compare_node(&model->nodes[n], &before->nodes[n], &now->nodes[n], seconds);
		else
			forget_node(&model->nodes[n]);
	}
	model->now = *now;
	model->known = true;
}
