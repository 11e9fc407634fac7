/* SPDX-License-Identifier: MIT */
#include "firmware/engine/node.h"

#include "firmware/assert.h"
#include "firmware/compiler.h"
#include "firmware/instance.h"

void pb_core_node_init(struct pb_core_node *node, const struct pb_engine *engine, uint32_t clock)
{
	node->engine = engine;
	node->run = engine->run;
	node->context = engine->context;
	node->machine.state = PB_NODE_STATE_RESETTING;
	pb_core_node_extend(&node->machine, clock, true);
	node->machine.depth = PB_DEFAULT_IN_FLIGHT;
	node->machine.hang_limit = PB_HANG_MICROSECONDS;
	node->machine.answer_limit = PB_ANSWER_MICROSECONDS;
	engine->recover->reset(engine->context);
}

void pb_core_node_configure(struct pb_core_machine *machine, uint32_t depth, uint32_t hang, uint32_t answer)
{
	machine->depth = depth != 0 ? depth : machine->depth;
	machine->hang_limit = hang != 0 ? hang : machine->hang_limit;
	machine->answer_limit = answer != 0 ? answer : machine->answer_limit;
}

/** Whether a submission is lost with the guilty one: of the same context, or behind a paging buffer of its channel. */
static bool is_lost_with(const struct pb_core_submission *submission, const struct pb_core_submission *guilty)
{
	if (guilty->context == PB_CORE_CONTEXT_PAGING)
		return submission->queue->channel == guilty->queue->channel;
	return submission->context == guilty->context;
}

/** Cancels what is in flight behind the guilty submission and lost with it. */
static void cancel_behind(struct pb_core_node *node, const struct pb_core_submission *guilty)
{
	const enum pb_error error =
		guilty->context == PB_CORE_CONTEXT_PAGING ? PB_ERROR_HALTED : PB_ERROR_CONTEXT_LOST;

	for (uint32_t sequence = node->flight.retired + 2u; sequence != node->flight.fed + 1u; sequence++) {
		struct pb_core_submission *submission = pb_core_in_flight_at(&node->flight, sequence);

		if (submission->status == PB_ERROR_OK && is_lost_with(submission, guilty))
			pb_core_submission_fail(submission, error, PB_INDEX_NONE, 0);
	}
}

void pb_core_node_blame(struct pb_firmware *firmware, struct pb_core_node *node, enum pb_error error,
			uint32_t detail)
{
	struct pb_core_submission *guilty = pb_core_in_flight_head(&node->flight);

	if (pb_core_in_flight_is_empty(&node->flight) || guilty->status != PB_ERROR_OK)
		return;
	node->machine.faults++;
	pb_core_submission_fail(guilty, error, PB_INDEX_NONE, detail);
	PB_CORE_TRACE_QUEUE(firmware, BLAME, guilty->queue, guilty->fence_id, error);
	pb_core_context_lose(&firmware->contexts, guilty);
	cancel_behind(node, guilty);
	if (guilty->context == PB_CORE_CONTEXT_PAGING)
		pb_core_staged_halt(firmware, node, guilty);
}

void pb_core_node_extend(struct pb_core_machine *machine, uint32_t clock, bool first)
{
	machine->asked = clock;
	if (first)
		machine->asked_first = clock;
}

/** Channels with something in flight, as a mask. */
static uint32_t channels_in_flight(struct pb_core_node *node)
{
	uint32_t channels = 0;

	for (uint32_t sequence = node->flight.retired + 1u; sequence != node->flight.fed + 1u; sequence++)
		channels |= 1u << pb_core_in_flight_at(&node->flight, sequence)->queue->channel;
	return channels;
}

bool pb_core_node_reaches(const struct pb_firmware *firmware, uint32_t channel)
{
	uint32_t reaches = 0;

	for (uint32_t n = 0; n < firmware->config->node_count; n++)
		reaches |= firmware->nodes[n].machine.reaches;
	return (reaches >> channel & 1u) != 0;
}

/** Gives the engine up and cuts it off from memory: every channel gets an event, and what the node has fails one by one in pb_core_retire_dead(). */
static PB_CORE_COLD void die(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const uint32_t n = (uint32_t)(node - firmware->nodes);
	const struct pb_event event = {.type = PB_EVENT_NODE_DEAD,
				       .error = PB_ERROR_ENGINE_DEAD,
				       .index = PB_INDEX_NONE,
				       .detail = n};

	if (!node->engine->recover->cut_off(node->engine->context))
		/* At boot it is not known what the engine runs. */
		node->machine.reaches = firmware->boot.booting ? UINT32_MAX : channels_in_flight(node);
	/* While the card boots, no channel is open. */
	for (uint32_t channel = 0; !firmware->boot.booting && channel < PB_LIMIT_CHANNELS; channel++)
		pb_core_event(firmware, channel, &event);
	pb_core_note(firmware, PB_CRASH_NOTE_NODE_DEAD, n, 0);
	pb_core_mark_node(&firmware->marks, node->bit);
}

static PB_CORE_INLINE void act(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t action)
{
	const struct pb_engine *engine = node->engine;
	const uint32_t n = (uint32_t)(node - firmware->nodes);

	if (action == PB_CORE_NODE_ACTION_STOP) {
		pb_core_engine_stop(engine, node->machine.inside);
		node->machine.stops++;
	} else if (action == PB_CORE_NODE_ACTION_RESET) {
		node->machine.resets++;
		pb_core_waypoint(firmware, PB_WAYPOINT_RESET);
		pb_core_note(firmware, PB_CRASH_NOTE_ENGINE_RESET, n, 0);
		engine->recover->reset(engine->context);
	} else if (action == PB_CORE_NODE_ACTION_CYCLE) {
		pb_core_note(firmware, PB_CRASH_NOTE_ENGINE_CYCLE, n, 0);
		engine->recover->power_cycle(engine->context);
	} else if (action == PB_CORE_NODE_ACTION_REBUILD) {
		pb_core_waypoint(firmware, PB_WAYPOINT_STOP);
		pb_core_recall(firmware, node);
	} else if (action == PB_CORE_NODE_ACTION_DIE) {
		die(firmware, node);
	}
}

static PB_CORE_COLD void on_event(struct pb_firmware *firmware, struct pb_core_node *node,
				  enum pb_core_node_event event)
{
	const struct pb_core_step step = pb_core_node_next(node->machine.state, event);

	PB_ASSERT(step.action != PB_CORE_NODE_ACTION_IMPOSSIBLE);
	if (step.state != node->machine.state)
		pb_core_node_extend(&node->machine, pb_core_clock(firmware), true);
	node->machine.state = step.state;
	act(firmware, node, step.action);
	PB_CORE_TRACE(firmware, NODE, node - firmware->nodes, step.state, event);
}

PB_CORE_STEP void pb_core_node_stopping(struct pb_firmware *firmware, struct pb_core_node *node,
					enum pb_core_stop_reason reason, bool inside)
{
	/* Constants: the compiler reads the table of the machine. */
	const struct pb_core_step step = pb_core_node_next(PB_NODE_STATE_RUNNING, PB_CORE_NODE_EVENT_RECALL);

	PB_ASSERT(step.state == PB_NODE_STATE_STOPPING && step.action == PB_CORE_NODE_ACTION_STOP);
	node->machine.stops++;
	node->machine.reason = (uint8_t)reason;
	node->machine.inside = inside;
	node->machine.state = step.state;
	pb_core_node_extend(&node->machine, pb_core_clock(firmware), true);
	PB_CORE_TRACE(firmware, NODE, node - firmware->nodes, step.state, PB_CORE_NODE_EVENT_RECALL);
}

void pb_core_node_recall(struct pb_firmware *firmware, struct pb_core_node *node,
			 enum pb_core_stop_reason reason, bool inside)
{
	if (pb_core_node_is_running(&node->machine)) {
		pb_core_engine_stop(node->engine, inside);
		pb_core_node_stopping(firmware, node, reason, inside);
		return;
	}
	/* A stop to switch recalls what a host wants back, too. */
	if (reason == PB_CORE_STOP_TO_SWITCH)
		node->machine.reason = (uint8_t)reason;
	on_event(firmware, node, PB_CORE_NODE_EVENT_RECALL);
}

void pb_core_node_reset(struct pb_firmware *firmware, struct pb_core_node *node)
{
	if (pb_core_node_is_running(&node->machine))
		node->machine.reason = PB_CORE_STOP_FOR_HOST;
	on_event(firmware, node, PB_CORE_NODE_EVENT_RESET);
}

/** Charges what the engine did before it stopped, or inside the submission that it stopped in. */
static void charge_stopped(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_core_submission *head = pb_core_in_flight_head(&node->flight);
	const struct pb_core_submission *asker = pb_core_recall_first_wanted(node);
	uint32_t progress;
	const uint32_t time = node->engine->run->runtime(node->engine->context, &progress);

	if (node->machine.reason != PB_CORE_STOP_FOR_HOST || asker == NULL)
		asker = head;
	pb_core_charge_stop(firmware, node, head, asker, time);
}

/** Reads where the engine stopped: what is complete is retired, and progress is saved. @return false: what it reports is impossible */
static bool accept_stop(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_engine *engine = node->engine;
	struct pb_engine_stop stop;
	struct pb_core_submission *submission;

	engine->preempt->stopped(engine->context, &stop);
	if (!pb_core_in_flight_holds(&node->flight, stop.sequence))
		return false;
	if (!pb_core_in_flight_is_empty(&node->flight))
		charge_stopped(firmware, node);
	pb_core_complete_to(firmware, node, stop.sequence);
	if (stop.running == 0)
		return true;
	if (stop.running != node->flight.retired + 1u || pb_core_in_flight_is_empty(&node->flight))
		return false;
	submission = pb_core_in_flight_at(&node->flight, stop.running);
	submission->resumes = true;
	engine->preempt->save(engine->context, submission->queue->page->save);
	return true;
}

/**
 * Retires failed submissions at the head while the engine has nothing. They are fed empty, to complete in order; an
 * engine that answers a reset but does not complete even that would be reset for ever.
 */
static void retire_failed(struct pb_firmware *firmware, struct pb_core_node *node)
{
	while (node->machine.stuck && !pb_core_in_flight_is_empty(&node->flight) &&
	       pb_core_in_flight_head(&node->flight)->status != PB_ERROR_OK)
		pb_core_complete_to(firmware, node, node->flight.retired + 1u);
	node->machine.stuck = false;
}

void pb_core_node_answered(struct pb_firmware *firmware, struct pb_core_node *node,
			   enum pb_engine_state state)
{
	const bool stopping = node->machine.state == PB_NODE_STATE_STOPPING;

	/* An engine that cannot stop has completed all that it was fed. */
	node->machine.drained = stopping && node->engine->preempt == NULL;
	if (stopping && !node->machine.drained) {
		if (!accept_stop(firmware, node) || state == PB_ENGINE_FAULTED) {
			pb_core_node_fault(firmware, node, state);
			return;
		}
	}
	retire_failed(firmware, node);
	on_event(firmware, node, PB_CORE_NODE_EVENT_ANSWER);
	pb_core_progress_restart(&node->progress, pb_core_clock(firmware));
}

void pb_core_node_fault(struct pb_firmware *firmware, struct pb_core_node *node, enum pb_engine_state state)
{
	const struct pb_engine *engine = node->engine;
	struct pb_engine_fault fault = {0};

	if (state == PB_ENGINE_FAULTED)
		engine->recover->fault(engine->context, &fault);
	pb_core_node_blame(firmware, node, PB_ERROR_ENGINE_FAULT, fault.code);
	pb_core_node_reset(firmware, node);
}

void pb_core_node_timeout(struct pb_firmware *firmware, struct pb_core_node *node)
{
	if (node->machine.state == PB_NODE_STATE_STOPPING)
		pb_core_node_blame(firmware, node, PB_ERROR_ENGINE_HANG, 0);
	on_event(firmware, node, PB_CORE_NODE_EVENT_TIMEOUT);
}

void pb_core_node_hang(struct pb_firmware *firmware, struct pb_core_node *node)
{
	node->machine.stuck = pb_core_in_flight_head(&node->flight)->status != PB_ERROR_OK;
	pb_core_node_blame(firmware, node, PB_ERROR_ENGINE_HANG, 0);
	pb_core_node_reset(firmware, node);
}
