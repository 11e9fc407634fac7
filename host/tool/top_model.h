/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Rates of a card and its nodes for `patchbay top`, from the difference of two snapshots of the counters.
 */
#ifndef PB_HOST_TOOL_TOP_MODEL_H
#define PB_HOST_TOOL_TOP_MODEL_H

#include <stdbool.h>

#include "patchbay/telemetry.h"

/** Latencies of the last interval. */
struct pb_top_latency {
	bool any;     /**< there were latencies */
	uint32_t p50; /**< median: upper bound of its bucket, in microseconds */
	uint32_t p99; /**< 99th percentile: upper bound of its bucket, in microseconds */
};

/** A node. Rates are NaN while they are unknown. */
struct pb_top_node {
	double busy;                     /**< share of time in which the engine ran, 0 to 1 */
	double rates[PB_NODE_TAG_COUNT]; /**< growth of each counter in one second of the card's clock */
	struct pb_top_latency latencies[PB_LATENCY_COUNT]; /**< of the last interval */
};

/** The last snapshot and its rates. */
struct pb_top_model {
	struct pb_telemetry_snapshot now;             /**< last snapshot */
	bool known;                                   /**< `now` can be compared with the next snapshot */
	bool beating;                                 /**< the heartbeat changed since the snapshot before */
	double beats;                                 /**< heartbeats in a second; NaN: unknown */
	struct pb_top_node nodes[PB_TELEMETRY_NODES]; /**< the first now.node_count are valid */
};

/** Starts a new interval with the next snapshot. */
void pb_top_model_restart(struct pb_top_model *model);
/**
 * Adds a snapshot. Starts a new interval if a counter decreased, as after a boot.
 * @param now a snapshot without counters has no nodes
 */
void pb_top_model_update(struct pb_top_model *model, const struct pb_telemetry_snapshot *now);
/** Returns whether the last snapshot has this value of a node. */
bool pb_top_model_has(const struct pb_top_model *model, enum pb_node_tag tag);

#endif
