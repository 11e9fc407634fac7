/* SPDX-License-Identifier: MIT */
#include "tests/sim/inside.h"

#include "firmware/instance.h"

bool pb_inside_idle_slot(const struct pb_firmware *firmware, uint32_t n)
{
	const struct pb_core_node *node = &firmware->nodes[n];

	/* A node that is marked runs in the next pass. */
	return pb_core_staged_is_ready(&node->staged) && pb_core_node_is_running(&node->machine) &&
	       pb_core_in_flight_count(&node->flight) < node->machine.depth &&
	       (firmware->marks.nodes >> n & 1u) == 0;
}

bool pb_inside_counts_in_flight(const struct pb_firmware *firmware, uint32_t n)
{
	const struct pb_core_in_flight *flight = &firmware->nodes[n].flight;
	bool exact = true;

	for (uint32_t cell = 0; cell < PB_PRIORITIES * PB_LIMIT_CHANNELS; cell++) {
		const uint32_t priority = cell / PB_LIMIT_CHANNELS, channel = cell % PB_LIMIT_CHANNELS;
		uint32_t count = 0;

		for (uint32_t s = flight->retired; s != flight->fed; s++) {
			const struct pb_core_queue *queue = flight->at[(s + 1u) % PB_CORE_SUBMISSIONS].queue;

			count +=
				queue->channel == channel && (queue->identity >> 2 & 7u) == priority ? 1u : 0;
		}
		exact = exact && flight->counts[16u * priority + channel] == count &&
			(flight->channels[priority] >> channel & 1u) == (count != 0 ? 1u : 0) &&
			(flight->priorities >> priority & 1u) == (flight->channels[priority] != 0 ? 1u : 0);
	}
	return exact;
}

bool pb_inside_owner(const struct pb_firmware *firmware, uint32_t offset)
{
	return pb_core_pool_owner(&firmware->pool, offset) != 0;
}

/** The first word that is not 0 and that no segment has. @return its offset, or 0 */
static uint32_t dirty_between(const struct pb_firmware *firmware, uint32_t from, uint32_t to)
{
	for (uint32_t page = from; page < to; page += PB_PAGE_BYTES) {
		const uint32_t *words = pb_core_at(firmware, page);

		if (pb_core_pool_owner(&firmware->pool, page) != 0)
			continue;
		for (uint32_t i = 0; i < PB_PAGE_BYTES / sizeof(*words); i++) {
			if (words[i] != 0)
				return page + 4u * i;
		}
	}
	return 0;
}

uint32_t pb_inside_dirty(const struct pb_firmware *firmware)
{
	const uint32_t own = firmware->quotas.minimum[PB_RESOURCE_POOL_BYTES];
	uint32_t dirty = dirty_between(firmware, firmware->config->pool_offset, firmware->segments.clean);

	for (uint32_t c = 0; c < PB_LIMIT_CHANNELS && dirty == 0; c++)
		dirty = dirty_between(firmware,
				      firmware->config->memory_bytes - (PB_LIMIT_CHANNELS - c) * own,
				      firmware->channels[c].memory.create.clean);
	return dirty;
}

void pb_inside_break(struct pb_firmware *firmware)
{
	firmware->pool.piece_count = 0;
}
