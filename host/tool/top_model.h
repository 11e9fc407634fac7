/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What `patchbay top` shows of a card and its nodes: what they do now, from two looks at what they have counted.
 */
#ifndef PB_HOST_TOOL_TOP_MODEL_H
#define PB_HOST_TOOL_TOP_MODEL_H

#include <stdbool.h>

#include "host/telemetry.h"

/** Latencies of the last interval. */
struct pb_top_latency {
	bool any;     /**< there were some */
	uint32_t p50; /**< microseconds, of its bucket the longest */
	uint32_t p99; /**< the same */
};

/** A node. Rates are NaN as long as they are not known. */
struct pb_top_node {
	double busy; /**< share of the time in which it ran something, 0 to 1 */
	double rates
		[PB_NODE_TAG_COUNT]; /**< of counters: by how much they grow in a second of the card's clock */
	struct pb_top_latency latencies[PB_LATENCY_COUNT]; /**< of the last interval */
};

/** All of it. */
struct pb_top_model {
	struct pb_telemetry_snapshot now;             /**< the last one */
	bool known;                                   /**< there is one to compare the next with */
	bool beating;                                 /**< the main loop has turned since the one before it */
	double beats;                                 /**< how often in a second; NaN: not known */
	struct pb_top_node nodes[PB_TELEMETRY_NODES]; /**< the first now.node_count */
};

/** The next look begins anew: there is nothing to compare it with. */
void pb_top_model_restart(struct pb_top_model *model);
/**
 * A new look. If a boot lies between it and the last one, or anything else for which a count went back, it begins anew.
 * @param now without counters it has no nodes
 */
void pb_top_model_update(struct pb_top_model *model, const struct pb_telemetry_snapshot *now);
/** Whether the firmware has this value of a node, as far as the last look tells. */
bool pb_top_model_has(const struct pb_top_model *model, enum pb_node_tag tag);

#endif
