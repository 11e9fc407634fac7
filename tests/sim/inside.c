/* SPDX-License-Identifier: MIT */
#include "tests/sim/inside.h"

#include "firmware/state.h"

bool pb_inside_idle_slot(const struct pb_firmware *firmware, uint32_t n)
{
	const struct pb_core_node *node = &firmware->nodes[n];

	/* With its bit in `awake` the node has its turn in the next pass. */
	return node->next == PB_CORE_NEXT_PREPARED && node->state == PB_NODE_STATE_RUNNING &&
	       node->fed - node->retired < node->depth && (firmware->awake >> n & 1u) == 0;
}

void pb_inside_break(struct pb_firmware *firmware)
{
	firmware->piece_count = 0;
}
