/* SPDX-License-Identifier: MIT */
#include "firmware/queue/repay.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"
#include "hal/bits.h"

/** The highest priority that uses the node beside one: in its lists, in flight or staged; or that one. */
static uint32_t highest_beside(struct pb_core_node *node, uint32_t priority)
{
	uint32_t mask = node->ready.priorities | node->flight.priorities | 1u << priority;

	if (node->staged.kind != PB_CORE_STAGED_NONE)
		mask |= 1u << pb_core_queue_priority(pb_core_in_flight_next(&node->flight)->queue);
	return 31u - (uint32_t)__builtin_clz(mask);
}

/** Has a priority repay some runtime so many times. */
static void owe(struct pb_core_fair *fair, uint32_t priority, uint32_t microseconds, uint32_t times)
{
	struct pb_core_fair_level *level = &fair->at[priority];
	const uint32_t most = (UINT32_MAX - level->repay_us) / times;

	level->repay_us += (microseconds < most ? microseconds : most) * times;
	fair->repays |= 1u << priority;
}

PB_CORE_COLD void pb_core_repay_protected(struct pb_core_node *node, uint32_t priority, uint32_t microseconds)
{
	const uint32_t top = highest_beside(node, priority);

	owe(&node->fair, priority, microseconds, PB_REPAY_TIMES);
	for (uint32_t other = 0; other < top; other++) {
		if (other != priority)
			owe(&node->fair, other, microseconds, PB_REPAY_TIMES - 1u);
	}
}

void pb_core_repay(struct pb_core_node *node, uint32_t priority, uint32_t microseconds)
{
	for (uint32_t left = node->fair.repays & ((1u << priority) - 1u); left != 0; left &= left - 1u) {
		const uint32_t below = pb_bits_lowest(left);
		uint32_t *repay_us = &node->fair.at[below].repay_us;

		*repay_us -= microseconds < *repay_us ? microseconds : *repay_us;
		if (*repay_us == 0)
			node->fair.repays &= ~(1u << below);
	}
}
