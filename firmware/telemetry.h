/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Where the other files of the core count what they do. Totals are kept in
 * private memory and published at the tick; histograms lie in card memory.
 */
#ifndef PB_FIRMWARE_TELEMETRY_H
#define PB_FIRMWARE_TELEMETRY_H

#include "firmware/abi/telemetry.h"
#include "firmware/state.h"
#include "hal/bits.h"
#include "hal/shared.h"

/** Clears what the last boot has left. The boot block says where it is. */
void pb_core_telemetry_init(struct pb_firmware *firmware);
/** At each tick: publishes the card and one node, and counts what some of the queues hold. */
void pb_core_telemetry_tick(struct pb_firmware *firmware);

/** One more latency, where each instruction counts. */
static inline void pb_core_telemetry_latency(struct pb_core_node *node, enum pb_latency which,
					     uint32_t microseconds)
{
	uint32_t *bucket = &node->telemetry->latencies[which][pb_bits_leading_zeros(microseconds)];

	node->latency_time[which] += microseconds;
	pb_shared_write32(bucket, pb_shared_read32(bucket) + 1u);
}

/** A doorbell has shown descriptors of a queue, from `first` on. */
static inline void pb_core_telemetry_shown(const struct pb_firmware *firmware, struct pb_queue_page *page,
					   uint32_t first)
{
	/* In one sum: what is behind the page, and the word's place in a descriptor, are then part of the store. */
	uint8_t *const at = (uint8_t *)page + first * sizeof(struct pb_descriptor);

	pb_shared_write32((uint32_t *)(void *)(at + sizeof(*page) + offsetof(struct pb_descriptor, shown)),
			  pb_shared_read32(firmware->clock));
}

/** An engine has just been given work for the first time, or once more. */
static inline void pb_core_telemetry_fed(const struct pb_firmware *firmware, struct pb_core_node *node,
					 struct pb_core_work *work)
{
	const uint32_t clock = pb_shared_read32(firmware->clock);

	work->fed = clock;
	if (work->shown == 0)
		return;
	pb_core_telemetry_latency(node, PB_LATENCY_FEED, clock - work->shown);
	work->shown = 0;
}

/** Work that did not fail is complete. */
static inline void pb_core_telemetry_fenced(const struct pb_firmware *firmware, struct pb_core_node *node,
					    const struct pb_core_work *work)
{
	pb_core_telemetry_latency(node, PB_LATENCY_FENCE, pb_shared_read32(firmware->clock) - work->fed);
}

#endif
