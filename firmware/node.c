/* SPDX-License-Identifier: MIT */
/*
 * What the firmware asks of a node's engine, and what it does with the answer:
 * the actions of the machine in machine.h, and the clock that drives it.
 */
#include "firmware/core.h"

void pb_core_node_init(struct pb_core_node *node, const struct pb_engine *engine)
{
	uint32_t progress;

	node->engine = engine;
	node->depth = PB_DEFAULT_IN_FLIGHT;
	node->hang_limit = PB_HANG_MICROSECONDS;
	node->answer_limit = PB_ANSWER_MICROSECONDS;
	for (uint32_t level = 0; level < PB_PRIORITIES; level++) {
		for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++) {
			node->level[level].flows[channel].head = PB_CORE_NO_QUEUE;
			node->level[level].flows[channel].tail = PB_CORE_NO_QUEUE;
		}
	}
	engine->ops->reset(engine->context);
	/* A boot does not stop its watch. */
	node->busy_before = engine->ops->stopwatch(engine->context, &progress);
}

/** Whether work goes down with the guilty: it is of the same context, or behind a paging buffer of the same channel. */
static bool goes_down(const struct pb_core_work *work, const struct pb_core_work *guilty)
{
	if (guilty->context == PB_CORE_CONTEXT_PAGING)
		return work->queue->channel == guilty->queue->channel;
	return work->context == guilty->context;
}

/** Some of the work behind the guilty is cancelled; what was in flight before it is not. */
static void cancel_behind(struct pb_core_node *node, const struct pb_core_work *guilty)
{
	const enum pb_error error =
		guilty->context == PB_CORE_CONTEXT_PAGING ? PB_ERROR_HALTED : PB_ERROR_CONTEXT_LOST;

	for (uint32_t sequence = node->retired + 2u; sequence != node->fed + 1u; sequence++) {
		struct pb_core_work *work = pb_core_work_at(node, sequence);

		if (work->status == PB_ERROR_OK && goes_down(work, guilty))
			pb_core_work_fail(work, error, PB_INDEX_NONE, 0);
	}
}

void pb_core_node_blame(struct pb_firmware *firmware, struct pb_core_node *node, enum pb_error error,
			uint32_t detail)
{
	struct pb_core_work *guilty = pb_core_work_at(node, node->retired + 1u);

	if (node->retired == node->fed || guilty->status != PB_ERROR_OK)
		return;
	node->faults++;
	pb_core_work_fail(guilty, error, PB_INDEX_NONE, detail);
	PB_CORE_TRACE_QUEUE(firmware, BLAME, guilty->queue, guilty->fence_id, error);
	pb_core_context_lose(firmware, guilty);
	cancel_behind(node, guilty);
	if (guilty->context == PB_CORE_CONTEXT_PAGING)
		pb_core_halt(firmware, node, guilty);
}

static void note_asked(struct pb_firmware *firmware, struct pb_core_node *node)
{
	node->asked = pb_shared_read32(firmware->clock);
	node->asked_first = node->asked;
}

/** Its channel hears of it; what the node has fails one by one in pb_core_node_fail_next. */
static __attribute__((noinline)) void die(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const uint32_t n = (uint32_t)(node - firmware->nodes);
	const struct pb_event event = {.type = PB_EVENT_NODE_DEAD,
				       .error = PB_ERROR_ENGINE_DEAD,
				       .index = PB_INDEX_NONE,
				       .detail = n};

	for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++)
		pb_core_event(firmware, channel, &event);
	pb_core_note(firmware, PB_CRASH_NOTE_NODE_DEAD, n, 0);
	firmware->awake |= 1u << n;
}

static void act(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t action)
{
	const struct pb_engine *engine = node->engine;

	if (action == PB_CORE_NODE_ACTION_STOP) {
		node->stops++;
		engine->ops->stop(engine->context, node->inside);
	} else if (action == PB_CORE_NODE_ACTION_RESET) {
		node->resets++;
		pb_core_waypoint(firmware, PB_WAYPOINT_RESET);
		pb_core_note(firmware, PB_CRASH_NOTE_ENGINE_RESET, (uint32_t)(node - firmware->nodes), 0);
		engine->ops->reset(engine->context);
	} else if (action == PB_CORE_NODE_ACTION_CYCLE) {
		pb_core_note(firmware, PB_CRASH_NOTE_ENGINE_CYCLE, (uint32_t)(node - firmware->nodes), 0);
		engine->ops->power_cycle(engine->context);
	} else if (action == PB_CORE_NODE_ACTION_REBUILD) {
		pb_core_waypoint(firmware, PB_WAYPOINT_STOP);
		pb_core_withdraw(firmware, node);
	} else if (action == PB_CORE_NODE_ACTION_DIE) {
		die(firmware, node);
	}
}

static void on_event(struct pb_firmware *firmware, struct pb_core_node *node, enum pb_core_node_event event)
{
	const struct pb_core_step step = pb_core_node_next(node->state, event);

	PB_ASSERT(step.action != PB_CORE_NODE_ACTION_IMPOSSIBLE);
	if (step.state != node->state)
		note_asked(firmware, node);
	node->state = step.state;
	act(firmware, node, step.action);
	PB_CORE_TRACE(firmware, NODE, node - firmware->nodes, step.state, event);
}

void pb_core_node_withdraw(struct pb_firmware *firmware, struct pb_core_node *node,
			   enum pb_core_stop_reason reason, bool inside)
{
	if (node->state == PB_NODE_STATE_RUNNING) {
		node->reason = (uint8_t)reason;
		node->inside = inside;
	} else if (reason == PB_CORE_STOP_TO_SWITCH) {
		node->reason = (uint8_t)reason; /* it takes back all that a host wants back, too */
	}
	on_event(firmware, node, PB_CORE_NODE_EVENT_WITHDRAW);
}

void pb_core_node_reset(struct pb_firmware *firmware, struct pb_core_node *node)
{
	if (node->state == PB_NODE_STATE_RUNNING)
		node->reason = PB_CORE_STOP_FOR_HOST;
	on_event(firmware, node, PB_CORE_NODE_EVENT_RESET);
}

/** What was done before the engine stopped, or stopped inside, has used time, too. */
static void charge_stopped(struct pb_firmware *firmware, struct pb_core_node *node)
{
	uint32_t progress;

	pb_core_charge(firmware, node, pb_core_work_at(node, node->retired + 1u),
		       node->engine->ops->stopwatch(node->engine->context, &progress));
}

/** What the engine says about where it stopped. @return false: it makes no sense */
static bool take_stop(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_engine *engine = node->engine;
	struct pb_engine_stop stop;
	struct pb_core_work *work;

	engine->ops->stopped(engine->context, &stop);
	if (stop.sequence - node->retired > node->fed - node->retired)
		return false;
	if (node->fed != node->retired)
		charge_stopped(firmware, node);
	pb_core_retire_to(firmware, node, stop.sequence);
	if (stop.running == 0)
		return true;
	if (stop.running != node->retired + 1u || node->retired == node->fed)
		return false;
	work = pb_core_work_at(node, stop.running);
	work->resumes = true;
	engine->ops->save(engine->context, work->queue->page->save);
	return true;
}

/**
 * What failed is fed empty, to complete in its turn. An engine that answers a
 * reset but does not get even that done would be reset under it for ever: so
 * it completes here, while the engine has nothing.
 */
static void retire_failed(struct pb_firmware *firmware, struct pb_core_node *node)
{
	while (node->stuck && node->retired != node->fed &&
	       pb_core_work_at(node, node->retired + 1u)->status != PB_ERROR_OK)
		pb_core_retire_to(firmware, node, node->retired + 1u);
	node->stuck = false;
}

void pb_core_node_answered(struct pb_firmware *firmware, struct pb_core_node *node,
			   enum pb_engine_state state)
{
	if (node->state == PB_NODE_STATE_STOPPING) {
		if (!take_stop(firmware, node) || state == PB_ENGINE_FAULTED) {
			pb_core_node_fault(firmware, node, state);
			return;
		}
	}
	retire_failed(firmware, node);
	on_event(firmware, node, PB_CORE_NODE_EVENT_ANSWER);
	node->progress_time = pb_shared_read32(firmware->clock);
}

void pb_core_node_fault(struct pb_firmware *firmware, struct pb_core_node *node, enum pb_engine_state state)
{
	const struct pb_engine *engine = node->engine;
	struct pb_engine_fault fault = {0};

	if (state == PB_ENGINE_FAULTED)
		engine->ops->fault(engine->context, &fault);
	pb_core_node_blame(firmware, node, PB_ERROR_ENGINE_FAULT, fault.code);
	pb_core_node_reset(firmware, node);
}

/** Work of a closing channel has a hang's time left, however well it gets on: others want what it holds. */
static bool is_left_behind(const struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_core_work *work = pb_core_work_at(node, node->retired + 1u);

	return (firmware->closing >> work->queue->channel & 1u) != 0;
}

/** Whether the engine got on since it was looked at last, or has nothing to get on with. */
static bool gets_on(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t clock)
{
	uint32_t progress = node->progress;

	if (node->fed != node->retired && node->retired == node->watched) {
		(void)node->engine->ops->stopwatch(node->engine->context, &progress);
		if (progress == node->progress || is_left_behind(firmware, node))
			return false;
	}
	node->watched = node->retired;
	node->progress = progress;
	node->progress_time = clock;
	return true;
}

static void check_answer(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t clock)
{
	/* A buffer, or a packet, that is to be run to its end takes its time, as long as it gets on. */
	if (node->state == PB_NODE_STATE_STOPPING && node->fed != node->retired &&
	    gets_on(firmware, node, clock) && clock - node->asked_first <= PB_STOP_MICROSECONDS)
		node->asked = clock;
	if (clock - node->asked <= node->answer_limit)
		return;
	if (node->state == PB_NODE_STATE_STOPPING)
		pb_core_node_blame(firmware, node, PB_ERROR_ENGINE_HANG, 0);
	on_event(firmware, node, PB_CORE_NODE_EVENT_TIMEOUT);
}

/** Whether work of another queue, of its level or above, stands behind the first in the ring, or is the next. */
static bool is_followed(struct pb_core_node *node, const struct pb_core_queue *queue)
{
	const uint32_t end = node->fed + (pb_core_has_next(node) ? 2u : 1u);

	for (uint32_t sequence = node->retired + 2u; sequence != end; sequence++) {
		const struct pb_core_queue *other = pb_core_work_at(node, sequence)->queue;

		if (other != queue && (other->flags & PB_CORE_QUEUE_CLOSING_IT) == 0 &&
		    pb_core_queue_level(other) >= pb_core_queue_level(queue))
			return true;
	}
	return false;
}

/** Stops the work of a queue that has used up its turn while others wait for theirs. @param time the engine's. @return true: it is asked */
static bool check_turn(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t time)
{
	const struct pb_core_work *head = pb_core_work_at(node, node->retired + 1u);
	struct pb_core_queue *queue = head->queue;
	uint32_t used = time - node->time;

	if (queue == node->current)
		used += node->used;
	if (used < queue->quantum * PB_CORE_QUANTUM_UNIT)
		return false;
	if (!pb_core_schedule_turn_over(node, queue, used) && !is_followed(node, queue) && !head->guarded)
		return false;
	if (queue == node->current)
		node->used = used;
	node->expired = queue;
	pb_core_node_withdraw(firmware, node, PB_CORE_STOP_TO_SWITCH, true);
	return true;
}

void pb_core_node_check(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_engine_report report;
	const enum pb_engine_state state = node->engine->ops->poll(node->engine->context, &report);
	uint32_t clock;

	/* An interrupt may have been lost. */
	if (state != PB_ENGINE_READY || node->state != PB_NODE_STATE_RUNNING ||
	    report.sequence != node->retired) {
		pb_core_retire(firmware, node);
		report.time = node->time;
	}
	if (node->state == PB_NODE_STATE_DEAD)
		return;
	/* Not before: what has just begun to be timed would have begun after now. */
	clock = pb_shared_read32(firmware->clock);
	if (node->state != PB_NODE_STATE_RUNNING) {
		check_answer(firmware, node, clock);
		return;
	}
	if (node->fed != node->retired && node->mode == PB_NODE_SCHEDULED &&
	    check_turn(firmware, node, report.time))
		return;
	if (!gets_on(firmware, node, clock) && clock - node->progress_time > node->hang_limit) {
		node->stuck = pb_core_work_at(node, node->retired + 1u)->status != PB_ERROR_OK;
		pb_core_node_blame(firmware, node, PB_ERROR_ENGINE_HANG, 0);
		pb_core_node_reset(firmware, node);
	}
}

bool pb_core_node_fail_next(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_work *work;

	if (node->retired == node->fed) {
		if (node->next != PB_CORE_NEXT_PREPARED)
			return false;
		node->fed++;
		node->next = PB_CORE_NEXT_NONE;
	}
	work = pb_core_work_at(node, node->retired + 1u);
	if (work->status == PB_ERROR_OK)
		pb_core_work_fail(work, PB_ERROR_ENGINE_DEAD, PB_INDEX_NONE, 0);
	pb_core_retire_to(firmware, node, node->retired + 1u);
	return true;
}
