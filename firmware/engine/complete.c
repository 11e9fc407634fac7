/* SPDX-License-Identifier: MIT */
#include "firmware/engine/complete.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"

static uint32_t event_type(uint32_t status)
{
	if (status == PB_ERROR_ENGINE_FAULT)
		return PB_EVENT_ENGINE_FAULT;
	return status == PB_ERROR_ENGINE_HANG ? PB_EVENT_ENGINE_HANG : PB_EVENT_SUBMISSION_FAILED;
}

/** Whether a failure is the submission's own, so that its context is lost by it. */
static bool is_own_failure(uint32_t status)
{
	return status != PB_ERROR_CONTEXT_LOST && status != PB_ERROR_HALTED &&
	       status != PB_ERROR_DEP_FAILED && status != PB_ERROR_DEADLOCK && status != PB_ERROR_ENGINE_DEAD;
}

/** Sends the events of a failure. A lost context has its own: its later submissions are cancelled until the host clears it. */
static void send_events(struct pb_firmware *firmware, const struct pb_core_queue *queue,
			const struct pb_core_submission *submission)
{
	struct pb_event event; /* but for what pb_core_event() writes itself */

	event.type = event_type(submission->status);
	event.queue = pb_core_table_handle(firmware, queue);
	event.fence_id = submission->fence_id;
	event.error = submission->status;
	event.index = submission->index;
	event.detail = submission->detail;
	pb_core_event(firmware, queue->channel, &event);
	if (!is_own_failure(submission->status) || submission->context >= PB_LIMIT_CONTEXTS)
		return;
	event.type = PB_EVENT_CONTEXT_LOST;
	event.detail = PB_HANDLE(submission->context, firmware->contexts.at[submission->context] >> 16);
	pb_core_event(firmware, queue->channel, &event);
}

static PB_CORE_COLD void report_failure(struct pb_firmware *firmware, struct pb_core_queue *queue,
					const struct pb_core_submission *submission)
{
	pb_core_mark_costly(&firmware->marks);
	/* The flag of the record would not do: a put index that broke its rule is an error too, but of no submission. */
	pb_core_fence_failed_at(queue, pb_core_wide(submission->timeline_low, submission->timeline_high));
	pb_core_fence_error(queue, submission->status, submission->fence_id, submission->index);
	send_events(firmware, queue, submission);
	pb_core_staged_report_halt(firmware, submission);
}

void pb_core_complete_drain(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	if (queue->in_flight == 0)
		pb_core_wait_drain(firmware, queue);
}

/** Advances the queue's timeline and its fence record. */
static inline void publish(struct pb_core_queue *queue, const struct pb_core_submission *submission,
			   uint32_t status)
{
	const uint32_t completed = queue->completed + 1u;
	const uint32_t low = submission->timeline_low;
	const uint32_t high = submission->timeline_high;

	pb_core_ring_complete(queue, completed, pb_core_wide(low, high));
	pb_core_fence_complete(queue, completed, low, high, submission->fence_id, status);
}

/**
 * Completes a submission that failed, that had patches, or whose queue closes, faulted, is awaited, or has a stop
 * request.
 */
static PB_CORE_COLD void complete_special(struct pb_firmware *firmware, struct pb_core_node *node,
					  const struct pb_core_submission *submission)
{
	struct pb_core_queue *queue = submission->queue;

	PB_CORE_TRACE_QUEUE(firmware, COMPLETE, queue, submission->fence_id,
			    PB_TRACE_DONE(pb_core_queue_node(queue), submission->status));
	if (pb_core_table_is_closing(queue)) {
		/* The host has given the queue's page up: nothing is written to it. */
		pb_core_staged_report_halt(firmware, submission);
		pb_core_complete_drain(firmware, queue);
		return;
	}
	if (submission->patches != 0)
		pb_core_staged_count_patches(firmware, submission);
	if (submission->status != PB_ERROR_OK)
		report_failure(firmware, queue, submission);
	else
		pb_core_telemetry_latency(&node->telemetry, PB_LATENCY_FENCE,
					  pb_core_clock(firmware) - submission->fed);
	publish(queue, submission, submission->status);
	pb_core_interrupt_complete(firmware, queue->channel);
	pb_core_wait_wake(firmware, queue);
	if (pb_core_queue_is_stopping(queue))
		pb_core_mark_stops(&firmware->marks, node->bit);
}

/** Retires the first submission in the engine's ring from all counts, and completes it by complete_special(). */
static PB_CORE_COLD void retire_special(struct pb_firmware *firmware, struct pb_core_node *node,
					const struct pb_core_submission *submission)
{
	struct pb_core_queue *queue = submission->queue;

	(void)pb_core_in_flight_retire(&node->flight);
	pb_core_in_flight_leave(&node->flight, queue);
	pb_core_ring_release(queue, &firmware->channels[queue->channel].usage);
	complete_special(firmware, node, submission);
	node->retirement.bytes += submission->engine.bytes;
}

/** Updates the firmware's own records of a completed submission. Called behind the host's interrupt, which it must not delay. */
static PB_CORE_INLINE void count(struct pb_firmware *firmware, struct pb_core_node *node,
				 const struct pb_core_submission *submission)
{
	struct pb_core_queue *queue = submission->queue;

	(void)pb_core_in_flight_retire(&node->flight);
	pb_core_in_flight_leave(&node->flight, queue);
	pb_core_ring_release(queue, &firmware->channels[queue->channel].usage);
	pb_core_ring_complete(queue, queue->completed + 1u,
			      pb_core_wide(submission->timeline_low, submission->timeline_high));
	PB_CORE_TRACE_HOT(firmware, COMPLETE, queue, submission->fence_id,
			  PB_TRACE_DONE(pb_core_queue_node(queue), PB_ERROR_OK));
	pb_core_telemetry_latency(&node->telemetry, PB_LATENCY_FENCE,
				  pb_core_clock(firmware) - submission->fed);
	node->retirement.bytes += submission->engine.bytes;
}

static PB_CORE_INLINE void complete(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_core_submission *submission = pb_core_in_flight_head(&node->flight);
	const struct pb_core_queue *queue;

	PB_CORE_KEEP(submission);
	queue = submission->queue;
	PB_CORE_KEEP(queue);
	if (pb_core_queue_is_special(queue) || (submission->status | submission->patches) != 0) {
		retire_special(firmware, node, submission);
		return;
	}
	pb_core_fence_complete(queue, queue->completed + 1u, submission->timeline_low,
			       submission->timeline_high, submission->fence_id, PB_ERROR_OK);
	if (firmware->moderations != 0)
		pb_core_interrupt_complete(firmware, queue->channel);
	else
		pb_core_interrupt_raise(firmware, queue->channel);
	count(firmware, node, submission);
}

void pb_core_complete_first(struct pb_firmware *firmware, struct pb_core_node *node)
{
	complete(firmware, node);
}

PB_CORE_STEP void pb_core_complete_next(struct pb_firmware *firmware, struct pb_core_node *node)
{
	complete(firmware, node);
}

PB_CORE_COLD void pb_core_complete_to(struct pb_firmware *firmware, struct pb_core_node *node,
				      uint32_t sequence)
{
	while (node->flight.retired != sequence)
		pb_core_complete_next(firmware, node);
}

/** If the submission's queue has the timeslice, its priority's starvation count is cleared. */
static inline void serve(struct pb_core_node *node, const struct pb_core_submission *submission)
{
	if (submission->queue == node->slice.current)
		pb_core_ready_served(&node->ready, pb_core_queue_priority(submission->queue));
}

/*
 * All elapsed time is the ring head's: what completed behind it in the same
 * poll took no longer than a poll, or its own interrupt would have come in
 * between. Time in which the engine had nothing to run, as the firmware was
 * still busy with the head, was kept from others like time in which it ran.
 */
static PB_CORE_STEP void charge_until(struct pb_core_node *node, const struct pb_core_submission *head,
				      uint32_t time, uint32_t clock)
{
	struct pb_core_retirement *retirement = &node->retirement;
	const uint32_t elapsed = retirement->uncharged ? 0 : clock - retirement->charged_until;
	const uint32_t run = time - retirement->time;

	retirement->time = time;
	retirement->charged_until = clock;
	retirement->uncharged = false;
	serve(node, head);
	node->schedule.policy->charge(node, head, run > elapsed ? run : elapsed);
}

void pb_core_charge(struct pb_firmware *firmware, struct pb_core_node *node,
		    const struct pb_core_submission *head, uint32_t time)
{
	charge_until(node, head, time, pb_core_clock(firmware));
}

PB_CORE_COLD void pb_core_charge_stop(struct pb_firmware *firmware, struct pb_core_node *node,
				      const struct pb_core_submission *head,
				      const struct pb_core_submission *asker, uint32_t time)
{
	const struct pb_core_retirement *retirement = &node->retirement;
	const uint32_t elapsed =
		retirement->uncharged ? 0 : pb_core_clock(firmware) - retirement->charged_until;
	const uint32_t run = time - retirement->time;

	if (asker->queue->channel != head->queue->channel) {
		serve(node, asker);
		node->schedule.policy->charge(node, asker, elapsed > run ? elapsed - run : 0);
		pb_core_charge_pause(&node->retirement);
	}
	pb_core_charge(firmware, node, head, time);
}

/** Whether another queue may want the engine time that the ring head has used. */
static inline bool is_contended(struct pb_core_node *node, const struct pb_core_submission *head)
{
	const struct pb_core_queue *queue = head->queue;

	return pb_core_ready_any(&node->ready) || queue != node->slice.current ||
	       queue != pb_core_in_flight_at(&node->flight, node->flight.fed)->queue;
}

/**
 * Charges the ring head for the engine time since the last charge. If no other queue wants the engine, nothing is charged for
 * that time, now or later.
 */
static inline void charge_if_contended(struct pb_firmware *firmware, struct pb_core_node *node,
				       const struct pb_core_submission *head, uint32_t time)
{
	if (is_contended(node, head)) {
		charge_until(node, head, time, pb_core_clock(firmware));
	} else {
		node->retirement.uncharged = true;
		node->retirement.time = time;
	}
}

PB_CORE_COLD void pb_core_charge_alone(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t time)
{
	const struct pb_core_submission *head = pb_core_in_flight_head(&node->flight);

	if (head->queue != node->slice.current || head->protected ||
	    !pb_core_fair_is_alone(node, head->queue))
		return;
	charge_if_contended(firmware, node, head, time);
}

void pb_core_charge_report(struct pb_firmware *firmware, struct pb_core_node *node,
			   const struct pb_core_submission *head, uint32_t time)
{
	charge_if_contended(firmware, node, head, time);
	pb_core_mark_node(&firmware->marks, node->bit);
	if (!pb_core_in_flight_is_empty(&node->flight))
		return;
	node->retirement.idles++;
	node->retirement.idle_since = pb_core_clock(firmware);
}

/** Has time pass uncharged that channels were charged for which held jobs, as the node's queue waited for one. */
static PB_CORE_COLD void excuse(struct pb_core_node *node, uint32_t clock)
{
	const uint32_t uncharged = clock - node->retirement.charged_until;
	const uint32_t excused = node->asks.excused;

	node->retirement.charged_until += excused < uncharged ? excused : uncharged;
}

/**
 * Charges time in which the engine had nothing to run for a submission; other channels are not charged for it. Its priority
 * goes on starving: the submission is not at the engine yet, and higher priorities may have it unsubmitted.
 */
static PB_CORE_COLD void charge_starved(struct pb_core_node *node,
					const struct pb_core_submission *submission, uint32_t starved,
					uint32_t clock)
{
	node->schedule.policy->charge(node, submission, starved);
	node->retirement.charged_until = clock;
	node->retirement.uncharged = false;
}

PB_CORE_COLD void pb_core_charge_prepared(struct pb_firmware *firmware, struct pb_core_node *node,
					  const struct pb_core_submission *submission)
{
	const uint32_t clock = pb_core_clock(firmware);
	const uint32_t starved =
		pb_core_staged_count_starved(&node->staged, node->retirement.idle_since, clock);

	if (!node->retirement.uncharged)
		excuse(node, clock);
	else if (pb_core_ready_any(&node->ready))
		charge_starved(node, submission, starved, clock);
}

PB_CORE_COLD void pb_core_charge_unsubmitted(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const uint32_t clock = pb_core_clock(firmware);
	uint32_t starved;

	if (node->staged.kind != PB_CORE_STAGED_JOB || !pb_core_in_flight_is_empty(&node->flight))
		return;
	starved = pb_core_staged_count_starved(&node->staged, node->retirement.idle_since, clock);
	/* The time for which its queue waited for the job is its own, too, unless others were charged for it. */
	if (!node->retirement.uncharged) {
		excuse(node, clock);
		starved = pb_core_charge_gap(&node->retirement, clock);
	}
	charge_starved(node, pb_core_in_flight_next(&node->flight), starved, clock);
}

uint32_t pb_core_charge_gap(struct pb_core_retirement *retirement, uint32_t clock)
{
	const uint32_t idle = clock - retirement->idle_since;
	const uint32_t since = clock - retirement->charged_until;

	retirement->charged_until = clock;
	retirement->uncharged = true;
	return idle < since ? idle : since;
}

void pb_core_charge_pause(struct pb_core_retirement *retirement)
{
	retirement->uncharged = true;
}

void pb_core_complete_restart(struct pb_core_retirement *retirement, uint32_t completed)
{
	retirement->before_reset += completed;
}
