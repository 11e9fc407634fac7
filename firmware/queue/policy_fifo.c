/* SPDX-License-Identifier: MIT */
/*
 * The policy of a node that its host orders (PB_NODE_HOST_ORDERED): such a node
 * has one queue at most, so that the order of its ring is the order of the node.
 */
#include "firmware/instance.h"
#include "firmware/queue/policy.h"
#include "hal/bits.h"

static struct pb_core_queue *next(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_queue *queue = node->slice.current;
	uint32_t priority;
	uint32_t channel;

	if (queue != NULL && pb_core_ring_has_more(queue))
		return queue;
	if (!pb_core_ready_any(&node->ready))
		return NULL;
	if (queue != NULL)
		pb_core_timeslice_end(&node->slice);
	priority = pb_bits_lowest(node->ready.priorities);
	channel = pb_bits_lowest(node->ready.at[priority].ready);
	return pb_core_timeslice_pick(firmware, node, priority, channel);
}

/** No queue shares the node, so that no time is accounted. */
static void charge(struct pb_core_node *node, const struct pb_core_submission *submission,
		   uint32_t microseconds)
{
	(void)node;
	(void)submission;
	(void)microseconds;
}

static bool is_over(const struct pb_core_node *node, const struct pb_core_queue *queue, uint32_t used)
{
	(void)node;
	(void)queue;
	(void)used;
	return false;
}

static bool should_preempt(struct pb_core_node *node, const struct pb_core_submission *next_one,
			   uint32_t used)
{
	(void)node;
	(void)next_one;
	(void)used;
	return false;
}

/** Only SUSPEND of the whole card stops the engine for a reason other than the host's: everything may go back then. */
static bool may_recall(const struct pb_core_node *node, const struct pb_core_submission *submission)
{
	(void)node;
	(void)submission;
	return true;
}

const struct pb_core_policy pb_core_policy_fifo = {.next = next,
						   .charge = charge,
						   .is_over = is_over,
						   .should_preempt = should_preempt,
						   .may_recall = may_recall};
