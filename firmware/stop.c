/* SPDX-License-Identifier: MIT */
/*
 * PREEMPT, SUSPEND and RESET of a queue: from the request, over the engine's
 * stop if it has work of the queue, to the report when none is left there.
 */
#include "firmware/core.h"

/** What is under way for a queue; of a preemption and the reset that forces it, the preemption. @return NULL: nothing */
static struct pb_core_stop *find(struct pb_firmware *firmware, const struct pb_core_queue *queue)
{
	struct pb_core_stop *found = NULL;

	for (uint32_t i = 0; i < PB_LIMIT_STOPS; i++) {
		struct pb_core_stop *stop = &firmware->stops[i];

		if (stop->kind != PB_CORE_STOP_NONE && stop->queue == queue &&
		    (found == NULL || found->kind == PB_CORE_STOP_RESET))
			found = stop;
	}
	return found;
}

static struct pb_core_stop *find_reset(struct pb_firmware *firmware, const struct pb_core_queue *queue)
{
	for (uint32_t i = 0; i < PB_LIMIT_STOPS; i++) {
		if (firmware->stops[i].kind == PB_CORE_STOP_RESET && firmware->stops[i].queue == queue)
			return &firmware->stops[i];
	}
	return NULL;
}

static struct pb_core_step step_on(const struct pb_core_queue *queue, enum pb_core_stopping_event event)
{
	const uint32_t drains = (queue->flags & PB_CORE_QUEUE_DRAINING) != 0 ? 2u : 1u;
	const uint32_t state =
		((queue->flags & PB_CORE_QUEUE_SUSPENDED) != 0 ? PB_CORE_STOPPING_SUSPENDED : 0) +
		((queue->flags & PB_CORE_QUEUE_STOPPING) != 0 ? drains : 0);

	return pb_core_stopping_next((enum pb_core_stopping_state)state, event);
}

bool pb_core_stop_may_begin(struct pb_firmware *firmware, const struct pb_core_queue *queue,
			    const struct pb_core_stop *asked)
{
	const bool refused =
		step_on(queue, PB_CORE_STOPPING_EVENT_WITHDRAW).action == PB_CORE_STOPPING_ACTION_REFUSE;

	return !refused ||
	       (asked->kind == PB_CORE_STOP_RESET && find(firmware, queue)->kind == PB_CORE_STOP_PREEMPT &&
		find_reset(firmware, queue) == NULL);
}

static struct pb_core_stop *find_free(struct pb_firmware *firmware)
{
	for (uint32_t i = 0; i < PB_LIMIT_STOPS; i++) {
		if (firmware->stops[i].kind == PB_CORE_STOP_NONE)
			return &firmware->stops[i];
	}
	return NULL;
}

bool pb_core_stop_has_room(const struct pb_firmware *firmware, uint32_t channel)
{
	return firmware->channels[channel].stops == 0 ||
	       firmware->stops_free > PB_LIMIT_CHANNELS - firmware->channels_stopping;
}

static struct pb_core_stop *take(struct pb_firmware *firmware, uint32_t channel)
{
	firmware->stops_free--;
	if (firmware->channels[channel].stops++ == 0)
		firmware->channels_stopping++;
	return find_free(firmware);
}

static void give(struct pb_firmware *firmware, struct pb_core_stop *stop)
{
	stop->kind = PB_CORE_STOP_NONE;
	firmware->stops_free++;
	if (--firmware->channels[stop->queue->channel].stops == 0)
		firmware->channels_stopping--;
}

/** @return enum pb_core_stopping_action: what is to be done */
static uint32_t on_event(struct pb_core_queue *queue, enum pb_core_stopping_event event)
{
#define FLAGS(name, flags, meaning) (flags),
	static const uint8_t flags[] = {PB_CORE_STOPPING_STATES(FLAGS)};
#undef FLAGS
	const struct pb_core_step step = step_on(queue, event);

	PB_ASSERT(step.action != PB_CORE_STOPPING_ACTION_IMPOSSIBLE);
	queue->flags &=
		(uint8_t) ~(PB_CORE_QUEUE_SUSPENDED | PB_CORE_QUEUE_STOPPING | PB_CORE_QUEUE_DRAINING);
	queue->flags |= flags[step.state];
	return step.action;
}

enum pb_error pb_core_stop_resume(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	if (on_event(queue, PB_CORE_STOPPING_EVENT_RESUME) == PB_CORE_STOPPING_ACTION_REFUSE)
		return PB_ERROR_BUSY;
	PB_CORE_TRACE_QUEUE(firmware, RESUME, queue, 0, 0);
	pb_core_queue_go_on(firmware, queue);
	return PB_ERROR_OK;
}

/** How many submissions before the cutoff have not completed. */
/*@
  requires \valid_read(queue);
  assigns \nothing;
  ensures \result <= queue->mask + 1;
  ensures (uint32_t)(cutoff - queue->completed) <= queue->mask + 1 ==>
    (uint32_t)(queue->completed + \result) == cutoff;
  ensures (uint32_t)(cutoff - queue->completed) > queue->mask + 1 ==> \result == 0;
*/
static uint32_t before_cutoff(const struct pb_core_queue *queue, uint32_t cutoff)
{
	const uint32_t count = cutoff - queue->completed;

	return count > queue->mask + 1u ? 0 : count; /* or it completed beyond the cutoff */
}

/** What has not completed before the cutoff is given back. @return how many */
static uint32_t return_rest(struct pb_core_queue *queue, uint32_t cutoff)
{
	const uint32_t returned = before_cutoff(queue, cutoff);

	if (returned == 0)
		return 0;
	if (queue->put - cutoff > queue->mask + 1u)
		queue->put = cutoff; /* more was returned than had been looked at */
	queue->patched = 0;
	pb_core_record_returned(queue, cutoff);
	return returned;
}

static void report_preempted(struct pb_firmware *firmware, const struct pb_core_stop *stop,
			     const struct pb_core_outcome *outcome)
{
	const struct pb_event event = {
		.type = PB_EVENT_PREEMPTED,
		.queue = pb_core_queue_handle(firmware, stop->queue),
		.fence_id = outcome->words[0],
		.index = PB_INDEX_NONE,
		.detail = stop->preemption_id,
	};

	pb_core_record_preempted(stop->queue, stop, outcome);
	pb_core_event(firmware, stop->queue->channel, &event);
}

static void give_back(struct pb_core_queue *queue, const struct pb_core_stop *stop,
		      struct pb_core_outcome *outcome)
{
	const bool started = (queue->flags & PB_CORE_QUEUE_STARTED) != 0;
	uint32_t valid;

	outcome->words[0] = pb_core_record_last(queue, &valid);
	outcome->words[1] = valid;
	outcome->words[3] = return_rest(queue, stop->cutoff);
	outcome->words[2] = queue->completed;
	outcome->words[4] = started && outcome->words[3] != 0 ? 1u : 0;
	if (outcome->words[3] != 0)
		queue->flags &= (uint8_t)~PB_CORE_QUEUE_STARTED;
}

/** None of the queue's work is left at the engine, nor on its way there. */
static void finish(struct pb_firmware *firmware, struct pb_core_stop *stop, struct pb_core_outcome *outcome)
{
	struct pb_core_queue *queue = stop->queue;
	const uint32_t action =
		on_event(queue, stop->kind == PB_CORE_STOP_SUSPEND ? PB_CORE_STOPPING_EVENT_STAY
								   : PB_CORE_STOPPING_EVENT_RETURN);

	if (action == PB_CORE_STOPPING_ACTION_HOLD) {
		queue->patched = 0; /* its host may move what the patches name */
		pb_core_schedule_remove(firmware, queue);
		pb_core_wait_leave(firmware, queue);
	} else {
		give_back(queue, stop, outcome);
		PB_CORE_TRACE_QUEUE(firmware, RETURN, queue, outcome->words[3], queue->completed);
	}
	if (stop->kind == PB_CORE_STOP_RESET && stop->aborted)
		outcome->words[0] = stop->fence_id;
	if (stop->kind == PB_CORE_STOP_PREEMPT)
		report_preempted(firmware, stop, outcome);
	give(firmware, stop);
	if (find(firmware, queue) != NULL) {
		(void)on_event(queue, PB_CORE_STOPPING_EVENT_WITHDRAW); /* the reset that forced it goes on */
		return;
	}
	pb_core_queue_go_on(firmware, queue);
}

/** So many more from the ring's head may complete; what is admitted already does anyway. */
static void let_through(struct pb_firmware *firmware, struct pb_core_queue *queue, uint32_t count)
{
	queue->put = queue->completed + (count > queue->busy ? count : queue->busy);
	if (!pb_core_queue_has_more(queue)) {
		pb_core_schedule_remove(firmware, queue); /* what is behind the cutoff stays where it is */
		pb_core_wait_leave(firmware, queue);
	} else if (pb_core_queue_place(queue) == PB_CORE_PLACE_NONE) {
		pb_core_schedule_add(firmware, queue);
	} else {
		firmware->awake |= 1u
				   << queue->node; /* it may have its turn, and hear of this work only now */
	}
}

/** Work that was stopped inside, maybe for another reason, ends before its host may move it or take it back. */
static bool let_first_end(struct pb_firmware *firmware, struct pb_core_queue *queue,
			  const struct pb_core_stop *stop)
{
	if ((queue->flags & (PB_CORE_QUEUE_STARTED | PB_CORE_QUEUE_DRAINING)) != PB_CORE_QUEUE_STARTED ||
	    stop->kind == PB_CORE_STOP_RESET || (stop->kind == PB_CORE_STOP_PREEMPT && stop->inside))
		return false;
	(void)on_event(queue, PB_CORE_STOPPING_EVENT_BEGUN);
	let_through(firmware, queue, 1);
	return true;
}

/** Whether what was asked has come to its end. */
static bool is_done(const struct pb_core_queue *queue)
{
	return queue->busy == 0 &&
	       ((queue->flags & PB_CORE_QUEUE_DRAINING) == 0 || !pb_core_queue_has_more(queue));
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
	pb_core_control_reply(firmware, channel, code, tag, PB_ERROR_OK, &outcome);
}

void pb_core_stop_progress(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	struct pb_core_stop *stop;
	struct pb_core_stop *reset;

	if (!is_done(queue))
		return;
	/* A preemption that a reset has forced was asked first. */
	reset = find_reset(firmware, queue);
	stop = find(firmware, queue);
	PB_ASSERT(stop != NULL);
	if (reset == NULL && let_first_end(firmware, queue, stop))
		return;
	answer(firmware, stop);
	if (reset != NULL && reset != stop)
		answer(firmware, reset);
}

void pb_core_stop_settle(struct pb_firmware *firmware, const struct pb_core_node *node)
{
	for (uint32_t i = 0; i < PB_LIMIT_STOPS; i++) {
		struct pb_core_stop *stop = &firmware->stops[i];

		if (stop->kind != PB_CORE_STOP_NONE && &firmware->nodes[stop->queue->node] == node)
			pb_core_stop_progress(firmware, stop->queue);
	}
}

void pb_core_stop_abandon(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	if (on_event(queue, PB_CORE_STOPPING_EVENT_CLOSE) != PB_CORE_STOPPING_ACTION_FORGET)
		return;
	for (struct pb_core_stop *stop = find(firmware, queue); stop != NULL; stop = find(firmware, queue)) {
		const uint32_t code = codes[stop->kind];

		give(firmware, stop);
		/* Its room in the reply ring is kept until it is answered. */
		pb_core_control_reply(firmware, queue->channel, code, stop->tag, PB_ERROR_CANCELLED, NULL);
	}
}

static void leave_lists(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	struct pb_core_node *node = &firmware->nodes[queue->node];

	pb_core_schedule_remove(firmware, queue);
	pb_core_wait_leave(firmware, queue);
	if (pb_core_next_is(node, queue) && pb_core_work_at(node, node->fed + 1u)->status == PB_ERROR_OK)
		pb_core_drop_next(firmware, node);
}

/** Takes the queue's work from the engine: by a reset if that is asked for and it runs some, else by a stop. */
static void take_from_engine(struct pb_firmware *firmware, struct pb_core_node *node,
			     struct pb_core_stop *stop, bool inside)
{
	const uint32_t place = pb_core_first_in_flight(node, stop->queue);
	const struct pb_core_work *head = pb_core_work_at(node, node->retired + 1u);

	if (place == 0)
		return;
	if (stop->kind != PB_CORE_STOP_RESET || place != 1u || head->status != PB_ERROR_OK) {
		pb_core_node_withdraw(firmware, node, PB_CORE_STOP_FOR_HOST, inside);
		return;
	}
	pb_core_node_blame(firmware, node, PB_ERROR_ENGINE_HANG, 0);
	stop->fence_id = head->fence_id;
	stop->aborted = true;
	pb_core_node_reset(firmware, node);
}

bool pb_core_stop_begin(struct pb_firmware *firmware, const struct pb_core_stop *asked, uint32_t flags,
			struct pb_core_outcome *outcome)
{
	struct pb_core_queue *queue = asked->queue;
	struct pb_core_node *node = &firmware->nodes[queue->node];
	struct pb_core_stop *stop = take(firmware, queue->channel);
	enum pb_core_stopping_event event = PB_CORE_STOPPING_EVENT_WITHDRAW;

	PB_ASSERT(stop != NULL);
	*stop = *asked;
	stop->inside = asked->kind == PB_CORE_STOP_PREEMPT && (flags & PB_STOP_INSIDE) != 0;
	if (asked->kind == PB_CORE_STOP_SUSPEND && (flags & PB_STOP_WITHDRAW) == 0)
		event = PB_CORE_STOPPING_EVENT_DRAIN;
	else if ((queue->flags & PB_CORE_QUEUE_STOPPING) != 0)
		event = PB_CORE_STOPPING_EVENT_FORCE;
	if (on_event(queue, event) == PB_CORE_STOPPING_ACTION_LET) {
		let_through(firmware, queue, before_cutoff(queue, asked->cutoff));
	} else {
		/* The engine first, so that it hears of it soon; unless it is to be reset: that looks at what is next. */
		if (asked->kind != PB_CORE_STOP_RESET)
			take_from_engine(firmware, node, stop, stop->inside);
		leave_lists(firmware, queue);
		if (asked->kind == PB_CORE_STOP_RESET)
			take_from_engine(firmware, node, stop, false);
		(void)let_first_end(firmware, queue, stop);
	}
	PB_CORE_TRACE_QUEUE(firmware, STOP, queue, asked->kind, asked->cutoff);
	if (!is_done(queue))
		return false;
	if (find(firmware, queue) != stop)
		answer(firmware, find(firmware, queue));
	finish(firmware, stop, outcome);
	return true;
}
