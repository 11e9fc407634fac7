/* SPDX-License-Identifier: MIT */
#include "firmware/command/stop.h"

#include "firmware/assert.h"
#include "firmware/instance.h"
#include "firmware/queue/schedule_add.h"

void pb_core_stop_init(struct pb_core_queue *queue)
{
	queue->stop = 0;
}

/** The request that is under way for a queue; of a request and the RESET that forces it, the former. @return NULL: none */
static struct pb_core_stop *find(struct pb_firmware *firmware, const struct pb_core_queue *queue)
{
	struct pb_core_stop *found = NULL;

	for (uint32_t i = 0; i < PB_LIMIT_STOPS; i++) {
		struct pb_core_stop *stop = &firmware->stops.at[i];

		if (stop->kind != PB_CORE_STOP_NONE && stop->queue == queue &&
		    (found == NULL || found->kind == PB_CORE_STOP_RESET))
			found = stop;
	}
	return found;
}

static struct pb_core_stop *find_reset(struct pb_firmware *firmware, const struct pb_core_queue *queue)
{
	for (uint32_t i = 0; i < PB_LIMIT_STOPS; i++) {
		struct pb_core_stop *stop = &firmware->stops.at[i];

		if (stop->kind == PB_CORE_STOP_RESET && stop->queue == queue)
			return stop;
	}
	return NULL;
}

/** The queue's state, of its flags: the two upper ones, as a number, are 0, 2 or 3. */
static inline enum pb_core_stopping_state state_of(const struct pb_core_queue *queue)
{
	const uint32_t stop = queue->stop;

	PB_STATIC_ASSERT(PB_CORE_QUEUE_STOPPING == 0x80u && PB_CORE_QUEUE_DRAINING == 0x40u &&
				 PB_CORE_QUEUE_SUSPENDED == 1u,
			 "flags of pb_core_queue.stop");
	PB_STATIC_ASSERT(PB_CORE_STOPPING_RECALLS == 1 && PB_CORE_STOPPING_DRAINS == 2 &&
				 PB_CORE_STOPPING_SUSPENDED_DRAINS == PB_CORE_STOPPING_SUSPENDED + 2,
			 "states that stop follow the one that does not");
	return (enum pb_core_stopping_state)(((stop >> 6) + 1u) / 2u +
					     (stop & PB_CORE_QUEUE_SUSPENDED) * PB_CORE_STOPPING_SUSPENDED);
}

/* Of the machine: what begins a stop is refused if one is under way, and only then. */
bool pb_core_stop_may_begin(struct pb_firmware *firmware, const struct pb_core_stop *asked)
{
	return !pb_core_queue_is_stopping(asked->queue) ||
	       (asked->kind == PB_CORE_STOP_RESET && find_reset(firmware, asked->queue) == NULL);
}

/** A free slot for a request. Pre: the channel's quota was claimed, so that there is one. */
static struct pb_core_stop *claim(struct pb_firmware *firmware)
{
	struct pb_core_stop *stop = firmware->stops.at;

	while (stop->kind != PB_CORE_STOP_NONE)
		stop++;
	return stop;
}

static void release(struct pb_firmware *firmware, struct pb_core_stop *stop)
{
	stop->kind = PB_CORE_STOP_NONE;
	pb_core_quota_release(firmware, stop->queue->channel, PB_RESOURCE_STOPS, 1);
}

/** Moves the queue on. @return enum pb_core_stopping_action: what is to be done */
static uint32_t on_event(struct pb_core_queue *queue, enum pb_core_stopping_event event)
{
#define FLAGS(name, flags, meaning) (flags),
	static const uint8_t flags[] = {PB_CORE_STOPPING_STATES(FLAGS)};
#undef FLAGS
	const struct pb_core_step step = pb_core_stopping_next(state_of(queue), event);

	PB_ASSERT(step.action != PB_CORE_STOPPING_ACTION_IMPOSSIBLE);
	queue->stop = flags[step.state];
	return step.action;
}

enum pb_error pb_core_stop_resume(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	if (on_event(queue, PB_CORE_STOPPING_EVENT_RESUME) == PB_CORE_STOPPING_ACTION_REFUSE)
		return PB_ERROR_BUSY;
	PB_CORE_TRACE_QUEUE(firmware, RESUME, queue, 0, 0);
	pb_core_poll_again(firmware, queue);
	return PB_ERROR_OK;
}

static void report_preempted(struct pb_firmware *firmware, const struct pb_core_stop *stop,
			     const struct pb_core_outcome *outcome)
{
	const struct pb_event event = {
		.type = PB_EVENT_PREEMPTED,
		.queue = pb_core_table_handle(firmware, stop->queue),
		.fence_id = outcome->words[0],
		.index = PB_INDEX_NONE,
		.detail = stop->id,
	};

	pb_core_fence_preempted(stop->queue, stop->id, outcome);
	pb_core_event(firmware, stop->queue->channel, &event);
}

/** Returns to the host what has not completed before the cutoff. */
static void give_back(struct pb_core_queue *queue, uint32_t cutoff, struct pb_core_outcome *outcome)
{
	const bool started = pb_core_ring_is_started(queue);
	const uint32_t returned = pb_core_ring_before(queue, cutoff);
	uint32_t valid;

	outcome->words[0] = pb_core_fence_last(queue, &valid);
	outcome->words[1] = valid;
	outcome->words[3] = returned;
	if (returned != 0) {
		pb_core_ring_return(queue, cutoff);
		pb_core_fence_returned(queue);
	}
	outcome->words[2] = queue->completed;
	outcome->words[4] = started && returned != 0 ? 1u : 0;
}

/** Ends a request. Pre: none of the queue's submissions is at the engine or on its way there. */
static void finish(struct pb_firmware *firmware, struct pb_core_stop *stop, struct pb_core_outcome *outcome)
{
	struct pb_core_queue *queue = stop->queue;
	struct pb_core_node *node = pb_core_node_of(firmware, queue);
	const uint32_t action =
		on_event(queue, stop->kind == PB_CORE_STOP_SUSPEND ? PB_CORE_STOPPING_EVENT_STAY
								   : PB_CORE_STOPPING_EVENT_RETURN);

	pb_core_ring_unlimit(queue, stop->put);
	if (action == PB_CORE_STOPPING_ACTION_HOLD) {
		pb_core_ring_keep_started(queue); /* the host may move what the patches name */
		pb_core_timeslice_remove(firmware, node, queue);
		pb_core_wait_leave(firmware, queue);
	} else {
		give_back(queue, stop->cutoff, outcome);
		PB_CORE_TRACE_QUEUE(firmware, RETURN, queue, outcome->words[3], queue->completed);
	}
	if ((stop->flags & PB_CORE_STOP_ABORTED) != 0)
		outcome->words[0] = stop->id;
	if (stop->kind == PB_CORE_STOP_PREEMPT)
		report_preempted(firmware, stop, outcome);
	release(firmware, stop);
	if (find(firmware, queue) != NULL) {
		(void)on_event(queue, PB_CORE_STOPPING_EVENT_RECALL); /* the RESET that forced it goes on */
		return;
	}
	pb_core_poll_again(firmware, queue);
}

/**
 * Limits the queue to `count` more completions; what is admitted already completes anyway. A faulted queue admits
 * nothing beyond the put index that was accepted.
 */
static void let_through(struct pb_firmware *firmware, struct pb_core_queue *queue, uint32_t count)
{
	struct pb_core_node *node = pb_core_node_of(firmware, queue);
	const uint32_t accepted = queue->put - queue->completed;

	if (pb_core_queue_state(queue) == PB_CORE_QUEUE_FAULTED && count > accepted)
		count = accepted;
	pb_core_ring_limit(queue, count);
	if (!pb_core_ring_has_more(queue)) {
		/* What is behind the cutoff stays in the ring. */
		pb_core_timeslice_remove(firmware, node, queue);
		pb_core_wait_leave(firmware, queue);
	} else if (pb_core_queue_place(queue) == PB_CORE_PLACE_NONE) {
		pb_core_schedule_add(firmware, queue);
	} else {
		/* The queue may have the timeslice, and these descriptors may be new to it. */
		pb_core_mark_node(&firmware->marks, node->bit);
	}
}

/** Lets a submission that was stopped inside, maybe for another reason, end before its host may move it or get it back. */
static bool let_first_end(struct pb_firmware *firmware, struct pb_core_queue *queue,
			  struct pb_core_stop *stop)
{
	uint32_t limit;

	if ((queue->stop & PB_CORE_QUEUE_DRAINING) != 0 || !pb_core_ring_is_started(queue) ||
	    stop->kind == PB_CORE_STOP_RESET || (stop->flags & PB_CORE_STOP_INSIDE) != 0)
		return false;
	(void)on_event(queue, PB_CORE_STOPPING_EVENT_BEGUN);
	limit = pb_core_watchdog_stop_limit(firmware, queue);
	stop->ticks = (limit != 0 ? limit : PB_STOP_MICROSECONDS) / PB_TICK_MICROSECONDS;
	let_through(firmware, queue, 1);
	return true;
}

/** Whether what was asked has come to its end. */
static bool is_done(const struct pb_core_queue *queue)
{
	return queue->in_flight == 0 &&
	       ((queue->stop & PB_CORE_QUEUE_DRAINING) == 0 || !pb_core_ring_has_more(queue));
}

/** The command that asked for a stop, by its kind. */
static const uint32_t codes[] = {
	[PB_CORE_STOP_PREEMPT] = PB_COMMAND_PREEMPT,
	[PB_CORE_STOP_SUSPEND] = PB_COMMAND_SUSPEND,
	[PB_CORE_STOP_RESET] = PB_COMMAND_RESET,
};

static void answer(struct pb_firmware *firmware, struct pb_core_stop *stop)
{
	struct pb_core_outcome outcome = {{0}};
	const uint32_t channel = stop->queue->channel;
	const uint32_t code = codes[stop->kind];
	const uint32_t tag = stop->tag;

	finish(firmware, stop, &outcome);
	pb_core_reply_deferred(firmware, channel, code, tag, PB_ERROR_OK, &outcome);
}

/** Answers the first request of a queue that has come to its end. @return false: it must let a submission end before */
static bool settle(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	/* A PREEMPT or SUSPEND that a RESET has forced was asked first. */
	struct pb_core_stop *stop = find(firmware, queue);

	if (find_reset(firmware, queue) == NULL && let_first_end(firmware, queue, stop))
		return false;
	answer(firmware, stop);
	return true;
}

bool pb_core_stop_settle(struct pb_firmware *firmware, uint32_t nodes)
{
	struct pb_core_stops *stops = &firmware->stops;

	for (uint32_t i = 0; i < PB_LIMIT_STOPS; i++) {
		const struct pb_core_stop *stop;

		stops->last = (uint8_t)(stops->last + 1u) < PB_LIMIT_STOPS ? (uint8_t)(stops->last + 1u) : 0;
		stop = &stops->at[stops->last];
		if (stop->kind != PB_CORE_STOP_NONE && (nodes >> pb_core_queue_node(stop->queue) & 1u) != 0 &&
		    is_done(stop->queue) && settle(firmware, stop->queue))
			return true;
	}
	return false;
}

/** Counts a tick at which the engine ran the submission that a request lets end. */
static void count_tick(struct pb_firmware *firmware, struct pb_core_stop *stop)
{
	struct pb_core_node *node = pb_core_node_of(firmware, stop->queue);

	if (!pb_core_node_is_running(&node->machine) ||
	    pb_core_in_flight_first_of(&node->flight, stop->queue) != 1u)
		return;
	if (--stop->ticks == 0)
		pb_core_node_hang(firmware, node);
}

void pb_core_stop_tick(struct pb_firmware *firmware)
{
	for (uint32_t i = 0; i < PB_LIMIT_STOPS; i++) {
		struct pb_core_stop *stop = &firmware->stops.at[i];

		if (stop->kind != PB_CORE_STOP_NONE && stop->ticks != 0)
			count_tick(firmware, stop);
	}
}

void pb_core_stop_abandon(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	/* Most queues that close have none: the machine need not be asked. */
	if (!pb_core_queue_is_stopping(queue))
		return;
	(void)on_event(queue, PB_CORE_STOPPING_EVENT_CLOSE);
	for (struct pb_core_stop *stop = find(firmware, queue); stop != NULL; stop = find(firmware, queue)) {
		const uint32_t code = codes[stop->kind];

		release(firmware, stop);
		/* Its room in the reply ring is kept until it is answered. */
		pb_core_reply_deferred(firmware, queue->channel, code, stop->tag, PB_ERROR_CANCELLED, NULL);
	}
}

/** Takes the queue out of all lists, and unsubmits what is staged of it. */
static void leave_lists(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	struct pb_core_node *node = pb_core_node_of(firmware, queue);

	pb_core_timeslice_remove(firmware, node, queue);
	pb_core_wait_leave(firmware, queue);
	if (!pb_core_staged_is_of(node, queue) || !pb_core_staged_may_unsubmit(node))
		return;
	pb_core_charge_unsubmitted(firmware, node);
	pb_core_staged_unsubmit(firmware, node);
}

/**
 * Has the engine stop, so that the queue's submissions are recalled. It stops inside a submission also if that is to end
 * first: others may want the engine meanwhile. If the engine runs another channel's submission, the next tick stops it
 * (engine/watchdog.c).
 */
static inline void stop_engine(struct pb_firmware *firmware, const struct pb_core_queue *queue)
{
	struct pb_core_node *node = pb_core_node_of(firmware, queue);
	const struct pb_core_queue *first = pb_core_in_flight_head(&node->flight)->queue;

	if (pb_core_in_flight_is_empty(&node->flight))
		return;
	if (first == queue ||
	    (first->channel == queue->channel && pb_core_in_flight_first_of(&node->flight, queue) != 0))
		pb_core_node_recall(firmware, node, PB_CORE_STOP_FOR_HOST, true);
}

/** Of a RESET, has the queue's submissions recalled from the engine: by a reset if the engine runs one, else by a stop. */
static void recall_from_engine(struct pb_firmware *firmware, struct pb_core_stop *stop)
{
	struct pb_core_node *node = pb_core_node_of(firmware, stop->queue);
	const uint32_t position = pb_core_in_flight_first_of(&node->flight, stop->queue);
	const struct pb_core_submission *head = pb_core_in_flight_head(&node->flight);

	if (position == 0 || head->queue->channel != stop->queue->channel)
		return;
	if (position != 1u || head->status != PB_ERROR_OK) {
		pb_core_node_recall(firmware, node, PB_CORE_STOP_FOR_HOST, true);
		return;
	}
	pb_core_node_blame(firmware, node, PB_ERROR_ENGINE_HANG, 0);
	stop->id = head->fence_id;
	stop->flags = PB_CORE_STOP_ABORTED;
	pb_core_node_reset(firmware, node);
}

static enum pb_core_stopping_event event_of(const struct pb_core_stop *asked, uint32_t flags)
{
	if (asked->kind == PB_CORE_STOP_SUSPEND && (flags & PB_STOP_RECALL) == 0)
		return PB_CORE_STOPPING_EVENT_DRAIN;
	return pb_core_queue_is_stopping(asked->queue) ? PB_CORE_STOPPING_EVENT_FORCE
						       : PB_CORE_STOPPING_EVENT_RECALL;
}

void pb_core_stop_begin(struct pb_firmware *firmware, const struct pb_core_stop *asked, uint32_t flags)
{
	struct pb_core_queue *queue = asked->queue;
	const enum pb_core_stopping_event event = event_of(asked, flags);
	struct pb_core_stop *stop;

	/*
	 * The engine is asked before anything is written down, so that it stops soon; unless it is to be reset: a reset
	 * depends on what is staged.
	 */
	if (event == PB_CORE_STOPPING_EVENT_RECALL && asked->kind != PB_CORE_STOP_RESET)
		stop_engine(firmware, queue);
	stop = claim(firmware);
	*stop = *asked;
	stop->put = queue->put;
	if (asked->kind == PB_CORE_STOP_PREEMPT && (flags & PB_STOP_INSIDE) != 0)
		stop->flags = PB_CORE_STOP_INSIDE;
	if (on_event(queue, event) == PB_CORE_STOPPING_ACTION_LIMIT) {
		let_through(firmware, queue, pb_core_ring_before(queue, asked->cutoff));
	} else {
		leave_lists(firmware, queue);
		if (asked->kind == PB_CORE_STOP_RESET)
			recall_from_engine(firmware, stop);
		(void)let_first_end(firmware, queue, stop);
	}
	PB_CORE_TRACE_QUEUE(firmware, STOP, queue, asked->kind, asked->cutoff);
	if (is_done(queue))
		pb_core_mark_stops(&firmware->marks, pb_core_node_of(firmware, queue)->bit);
}
