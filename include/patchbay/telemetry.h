/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The firmware's counters, read from card memory without a command or a
 * channel, while the firmware runs and after it died. Offsets and counts are
 * range-checked; the counted values are not.
 */
#ifndef PB_HOST_TELEMETRY_H
#define PB_HOST_TELEMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/telemetry.h"
#include "patchbay/card.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Largest number of nodes that the library reads: as many as the capability NODE_KINDS has room for. */
#define PB_TELEMETRY_NODES 8u
/** Channels that a snapshot has room for. */
#define PB_TELEMETRY_CHANNELS 16u

/** How a value changes. */
enum pb_telemetry_kind {
	PB_TELEMETRY_COUNTER, /**< only grows, from 0 at boot */
	PB_TELEMETRY_GAUGE,   /**< goes up and down */
};

/** Unit of a value. */
enum pb_telemetry_unit {
	PB_TELEMETRY_NONE,         /**< a plain number */
	PB_TELEMETRY_MICROSECONDS, /**< microseconds on the card's clock or of engine time */
	PB_TELEMETRY_BYTES,        /**< bytes */
};

/** Description of a value. */
struct pb_telemetry_meaning {
	const char *name;            /**< in capitals, as in include/patchbay/abi/telemetry.h */
	enum pb_telemetry_kind kind; /**< how the value changes */
	enum pb_telemetry_unit unit; /**< its unit */
	const char *meaning;         /**< one phrase */
};

/** Descriptions of a node's values, by enum pb_node_tag. */
extern const struct pb_telemetry_meaning pb_node_meanings[PB_NODE_TAG_COUNT];
/** Descriptions of the card's values, by enum pb_card_tag. */
extern const struct pb_telemetry_meaning pb_card_meanings[PB_CARD_TAG_COUNT];

/** Description of a latency histogram. */
struct pb_latency_meaning {
	const char *name;     /**< in capitals */
	enum pb_node_tag sum; /**< the node's value that holds the sum of all latencies, in microseconds */
	const char *meaning;  /**< one phrase: start and end of the measured time */
};

/** Descriptions of a node's histograms, by enum pb_latency. */
extern const struct pb_latency_meaning pb_latency_meanings[PB_LATENCY_COUNT];

/** Counters of one node. */
struct pb_telemetry_node {
	/** By enum pb_node_tag, all of one moment; from index node_values on 0 and without meaning. */
	uint64_t values[PB_NODE_TAG_COUNT];
	/** By enum pb_latency and bucket, each modulo 2^32, read just before `values`. */
	uint32_t latencies[PB_LATENCY_COUNT][PB_LATENCY_BUCKETS];
};

/** A copy of all counters of a card. */
struct pb_telemetry_snapshot {
	/** Boot block read with the counters; valid also if there are no counters. */
	struct pb_card_info card;
	uint32_t clock;       /**< the card's clock in microseconds, modulo 2^32 */
	uint32_t node_count;  /**< nodes copied, PB_TELEMETRY_NODES at most */
	uint32_t node_values; /**< values of a node that both the firmware and this library know */
	uint32_t card_values; /**< values of the card that both the firmware and this library know */
	/** By enum pb_card_tag; from index card_values on 0 and without meaning. */
	uint64_t values[PB_CARD_TAG_COUNT];
	struct pb_telemetry_node nodes[PB_TELEMETRY_NODES]; /**< the first node_count are valid */
	uint32_t
		channel_count; /**< channels copied, PB_TELEMETRY_CHANNELS at most; 0: the firmware has no accounts */
	/** What each channel has and may have, by enum pb_resource; the first channel_count are valid. */
	struct pb_channel_account channels[PB_TELEMETRY_CHANNELS];
};

/**
 * Copies all counters of a card. Blocks for at most 100 ms a group of values, if the firmware was stopped while it
 * wrote them.
 * @param link open; or with ops NULL, for saved card memory: then it never blocks
 * @param snapshot out
 * @retval PB_ERROR_NO_CARD no firmware has ever booted in this memory
 * @retval PB_ERROR_BAD_VERSION the firmware has another major version
 * @retval PB_ERROR_UNSUPPORTED the firmware has no counters, has another version of them, or is booting
 * @retval PB_ERROR_PROTOCOL an offset or count is out of range, or the values change during every attempt to read them
 */
enum pb_error pb_telemetry_read(struct pb_link *link, struct pb_telemetry_snapshot *snapshot);

/**
 * Returns the largest latency that a bucket counts, in microseconds.
 * @param bucket below PB_LATENCY_BUCKETS; the last bucket counts the shortest latencies
 */
uint32_t pb_latency_bound(uint32_t bucket);
/** Returns the number of latencies in a histogram. */
uint64_t pb_latency_count(const uint32_t buckets[PB_LATENCY_BUCKETS]);
/**
 * Finds an upper bound of a percentile of a histogram.
 * @param permille 1 to 1000: this many thousandths of all latencies are no longer than the bound
 * @param bound out: bound of the bucket that holds the percentile, in microseconds
 * @return false: the histogram is empty
 */
bool pb_latency_percentile(const uint32_t buckets[PB_LATENCY_BUCKETS], uint32_t permille, uint32_t *bound);

#ifdef __cplusplus
}
#endif

#endif
