/* SPDX-License-Identifier: MIT */
#include "firmware/queue/ring.h"

#include "firmware/compiler.h"
#include "hal/shared.h"
#include "patchbay/abi/channel.h"

/** Publishes a count whose high word has changed. Once in 2^32 patches. */
static PB_CORE_COLD void publish_carry(const struct pb_core_usage *usage, struct pb_channel_entry *entry)
{
	const uint32_t high = (uint32_t)(usage->patches >> 32);

	pb_shared_write32(&entry->patches_high, high | PB_PATCHES_CARRY);
	pb_shared_release();
	pb_shared_write32(&entry->patches_low, (uint32_t)usage->patches);
	pb_shared_release();
	pb_shared_write32(&entry->patches_high, high & ~PB_PATCHES_CARRY);
}

void pb_core_ring_count_patches(struct pb_core_usage *usage, struct pb_channel_entry *entry, uint32_t patches)
{
	usage->patches += patches;
	if ((uint32_t)usage->patches < patches)
		publish_carry(usage, entry);
	else
		pb_shared_write32(&entry->patches_low, (uint32_t)usage->patches);
}

void pb_core_ring_open(struct pb_core_usage *usage, struct pb_channel_entry *entry)
{
	usage->patches = 0;
	publish_carry(usage, entry);
}

void pb_core_ring_init(struct pb_core_queue *queue)
{
	queue->put = 0;
	queue->timeline = 0;
	queue->reached = 0;
	queue->completed = 0;
	queue->in_flight = 0;
	queue->prepared = 0;
}

void pb_core_ring_limit(struct pb_core_queue *queue, uint32_t count)
{
	queue->put = queue->completed + (count > queue->in_flight ? count : queue->in_flight);
}

void pb_core_ring_unlimit(struct pb_core_queue *queue, uint32_t put)
{
	if (put - queue->put <= queue->mask + 1u) /* or the limit was beyond what had been read */
		queue->put = put;
}

void pb_core_ring_return(struct pb_core_queue *queue, uint32_t cutoff)
{
	if (queue->put - cutoff > queue->mask + 1u)
		queue->put = cutoff; /* more is returned than had been read */
	queue->prepared = 0;
	queue->completed = cutoff;
}
