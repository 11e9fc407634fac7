/* SPDX-License-Identifier: MIT */
#include "firmware/engine/feed.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"

/** Hands the engine the progress of a submission that was stopped inside. */
static PB_CORE_COLD void restore(struct pb_core_node *node, const struct pb_core_submission *submission)
{
	if (submission->engine.bytes != 0)
		node->engine->preempt->restore(node->engine->context, submission->queue->page->save);
}

void pb_core_feed_again(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t sequence)
{
	struct pb_core_submission *submission = pb_core_in_flight_at(&node->flight, sequence);

	if (submission->resumes)
		restore(node, submission);
	node->engine->run->feed(node->engine->context, &submission->engine, sequence);
	submission->fed = pb_core_clock(firmware);
	PB_CORE_TRACE_QUEUE(firmware, FEED, submission->queue, submission->fence_id, submission->context);
}

/** Gives the engine the node's next submission. */
static PB_CORE_INLINE void give(struct pb_firmware *firmware, struct pb_core_node *node,
				struct pb_core_submission *submission)
{
	node->run->feed(node->context, &submission->engine, pb_core_in_flight_feed(&node->flight));
	/* The engine's doorbell has rung: what follows costs the submission nothing. */
	pb_core_in_flight_enter(&node->flight, submission->queue);
	submission->fed = pb_core_clock(firmware);
	if (submission->doorbell != 0)
		pb_core_telemetry_latency(&node->telemetry, PB_LATENCY_FEED,
					  submission->fed - submission->doorbell);
	PB_CORE_TRACE_HOT(firmware, FEED, submission->queue, submission->fence_id, submission->context);
}

PB_CORE_STEP void pb_core_feed(struct pb_firmware *firmware, struct pb_core_node *node,
			       struct pb_core_submission *submission)
{
	if (submission->patches != 0 && pb_core_in_flight_is_empty(&node->flight))
		pb_core_charge_prepared(firmware, node, submission);
	pb_core_staged_feed(&node->staged);
	if (submission->resumes)
		restore(node, submission);
	give(firmware, node, submission);
}

void pb_core_feed_at_once(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_submission *submission = pb_core_in_flight_next(&node->flight);

	PB_CORE_KEEP(submission);
	give(firmware, node, submission);
}
