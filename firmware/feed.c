/* SPDX-License-Identifier: MIT */
/*
 * Step 4: into the engine's ring. Work that failed is fed empty, so that its
 * fence comes in order like any other.
 */
#include "firmware/core.h"

/** A context may have been lost since its work was admitted: by earlier work, or on another node. */
static void cancel_if_lost(const struct pb_firmware *firmware, struct pb_core_work *work)
{
	if (work->status == PB_ERROR_OK && work->context < PB_LIMIT_CONTEXTS &&
	    firmware->contexts[work->context].lost)
		pb_core_work_fail(work, PB_ERROR_CONTEXT_LOST, PB_INDEX_NONE, 0);
}

void pb_core_feed(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_job *job = &node->job;
	struct pb_core_work *work;

	node->fed++;
	work = &node->in_flight[node->fed % PB_LIMIT_IN_FLIGHT];
	*work = job->work;
	cancel_if_lost(firmware, work);
	job->state = PB_CORE_JOB_NONE;
	node->engine->ops->feed(node->engine->context, &work->engine, node->fed);
}

void pb_core_feed_again(struct pb_core_node *node)
{
	const uint32_t count = node->fed - node->retired;
	struct pb_core_work again[PB_LIMIT_IN_FLIGHT];

	for (uint32_t i = 0; i < count; i++)
		again[i] = node->in_flight[(node->retired + 1u + i) % PB_LIMIT_IN_FLIGHT];
	node->fed = 0;
	node->retired = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct pb_core_work *work = &node->in_flight[++node->fed % PB_LIMIT_IN_FLIGHT];

		*work = again[i];
		node->engine->ops->feed(node->engine->context, &work->engine, node->fed);
	}
}
