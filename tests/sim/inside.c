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

void pb_inside_break(struct pb_firmware *firmware)
{
	firmware->pool.piece_count = 0;
}
