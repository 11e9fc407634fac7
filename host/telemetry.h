/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The firmware's counters, read with no command and no channel: while it runs,
 * and after it died. What it says is foreign.
 */
#ifndef PB_HOST_TELEMETRY_H
#define PB_HOST_TELEMETRY_H

#include "firmware/abi/telemetry.h"
#include "host/patchbay.h"

/** Nodes that the library reads, at most: as many as a capability has kinds for. */
#define PB_TELEMETRY_NODES 8u

/** How a value moves. */
enum pb_telemetry_kind {
	PB_TELEMETRY_COUNTER, /**< it only grows, from 0 at boot */
	PB_TELEMETRY_GAUGE,   /**< it goes up and down */
};

/** What a value counts in. */
enum pb_telemetry_unit {
	PB_TELEMETRY_NONE,         /**< things */
	PB_TELEMETRY_MICROSECONDS, /**< time, on the card's clock or an engine's */
	PB_TELEMETRY_BYTES,        /**< bytes */
};

/** What a value is. */
struct pb_telemetry_meaning {
	const char *name;            /**< in capitals, as in firmware/abi/telemetry.h */
	enum pb_telemetry_kind kind; /**< how it moves */
	enum pb_telemetry_unit unit; /**< what it counts in */
	const char *meaning;         /**< one phrase */
};

/** The values of a node, by enum pb_node_tag. */
extern const struct pb_telemetry_meaning pb_node_meanings[PB_NODE_TAG_COUNT];
/** The values of the card, by enum pb_card_tag. */
extern const struct pb_telemetry_meaning pb_card_meanings[PB_CARD_TAG_COUNT];

/** What a histogram is. */
struct pb_latency_meaning {
	const char *name;     /**< in capitals */
	enum pb_node_tag sum; /**< the value that is the sum of what it counts, in microseconds */
	const char *meaning;  /**< one phrase: from when until when */
};

/** The histograms of a node, by enum pb_latency. */
extern const struct pb_latency_meaning pb_latency_meanings[PB_LATENCY_COUNT];

/** What a node had counted. */
struct pb_telemetry_node {
	uint64_t values
		[PB_NODE_TAG_COUNT]; /**< of one moment; those from node_values on are 0 and say nothing */
	uint32_t latencies[PB_LATENCY_COUNT]
			  [PB_LATENCY_BUCKETS]; /**< each word modulo 2^32, of about that moment */
};

/** A copy of all of it, checked. */
struct pb_telemetry_snapshot {
	struct pb_card_info card; /**< as read with it; also if there are no counters */
	uint32_t clock;           /**< the card's, in microseconds, modulo 2^32 */
	uint32_t node_count;      /**< PB_TELEMETRY_NODES at most */
	uint32_t node_values;     /**< how many values this firmware has of a node, of those known here */
	uint32_t card_values;     /**< the same of the card */
	uint64_t values
		[PB_CARD_TAG_COUNT]; /**< of the card; those from card_values on are 0 and say nothing */
	struct pb_telemetry_node nodes[PB_TELEMETRY_NODES]; /**< the first node_count */
};

/**
 * Copies all that a card's firmware counts. Waits at most a moment, for a writer that was stopped while it wrote.
 * @param link of saved memory: its ops are NULL, and nothing waits
 * @retval PB_ERROR_NO_CARD no firmware has ever come up in this memory
 * @retval PB_ERROR_BAD_VERSION of another major version
 * @retval PB_ERROR_UNSUPPORTED this firmware has no counters, or they are of another version, or it is just booting
 * @retval PB_ERROR_PROTOCOL an offset or count is out of range, or the values are changed without end
 */
enum pb_error pb_telemetry_read(struct pb_link *link, struct pb_telemetry_snapshot *snapshot);

/** The largest latency that a bucket counts, in microseconds. @param bucket below PB_LATENCY_BUCKETS */
uint32_t pb_latency_bound(uint32_t bucket);
/** How many latencies a histogram has counted. */
uint64_t pb_latency_count(const uint32_t buckets[PB_LATENCY_BUCKETS]);
/**
 * Of all latencies that a histogram has counted so many thousandths are no longer than this.
 * @param permille 1 to 1000; 1000: none is longer
 * @param bound of the bucket in which that falls, in microseconds
 * @return false: it has counted none
 */
bool pb_latency_percentile(const uint32_t buckets[PB_LATENCY_BUCKETS], uint32_t permille, uint32_t *bound);

#endif
