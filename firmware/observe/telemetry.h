/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Counters that hosts can read at any time. Totals are kept in private memory
 * by the modules that count and published at the tick; latency histograms lie
 * in card memory. The owner of struct pb_core_telemetry and of struct
 * pb_core_node_telemetry; main loop only.
 */
#ifndef PB_FIRMWARE_OBSERVE_TELEMETRY_H
#define PB_FIRMWARE_OBSERVE_TELEMETRY_H

#include <stdbool.h>

#include "hal/bits.h"
#include "hal/shared_pair.h"
#include "patchbay/abi/submission.h"
#include "patchbay/abi/telemetry.h"

struct pb_firmware;

/** The state of this module. */
struct pb_core_telemetry {
	uint32_t ticks;     /**< since boot */
	uint32_t queued_at; /**< the next queue whose descriptors are counted */
};

/** A member of a node's record. */
struct pb_core_node_telemetry {
	struct pb_node_telemetry *page; /**< shared */
	uint32_t busy_before;           /**< runtime counter of its engine at boot, in microseconds */
	uint32_t latency_time[PB_LATENCY_COUNT]; /**< sum of all latencies, in microseconds */
	uint32_t
		queued; /**< descriptors in its queues that have not completed, when they were last counted */
	uint32_t queued_so_far; /**< of the count that is under way */
};

/** Clears what the last boot has left. Pre: every engine has its driver. Once, at boot. */
void pb_core_telemetry_init(struct pb_firmware *firmware);
/** Publishes the card and one node, and counts what a slice of the queues holds. Called at each tick. */
void pb_core_telemetry_tick(struct pb_firmware *firmware);

/** Counts one latency. Each submission comes by here. */
static inline void pb_core_telemetry_latency(struct pb_core_node_telemetry *telemetry, enum pb_latency which,
					     uint32_t microseconds)
{
	uint32_t *bucket = &telemetry->page->latencies[which][pb_bits_leading_zeros(microseconds)];

	telemetry->latency_time[which] += microseconds;
	pb_shared_write32(bucket, pb_shared_read32(bucket) + 1u);
}

/** Starts to measure from a doorbell: it showed descriptors from index `first` on. @param clock the card's */
static inline void pb_core_telemetry_doorbell(struct pb_queue_page *page, uint32_t first, uint32_t clock)
{
	pb_shared_write_pair(&page->preempt.doorbell_index, first, clock);
}

/** Whether a doorbell is being measured whose first descriptor, in [next, put), is still to be admitted. */
static inline bool pb_core_telemetry_measures(const struct pb_queue_page *page, uint32_t next, uint32_t put)
{
	return pb_shared_read32(&page->preempt.doorbell_index) - next < put - next;
}

/** The time of the doorbell that showed a descriptor first. @return 0: it is not measured */
static inline uint32_t pb_core_telemetry_doorbell_of(const struct pb_queue_page *page, uint32_t index)
{
	uint32_t first, clock;

	pb_shared_read_pair(&page->preempt.doorbell_index, &first, &clock);
	return first == index ? clock : 0;
}

#endif
