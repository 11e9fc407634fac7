/* SPDX-License-Identifier: MIT */
#include "tests/sim/host.h"
#include "tests/sim/hostile.h"
#include "tests/sim/judge.h"

/** Stop requests that each channel is guaranteed: one of 16 for 9 channels, one of 8 for 7. */
#define STOPS_GUARANTEED 1u

/** A value that no reply can confirm: a submission of the queue may still lose a context. */
static bool may_lose(const struct pb_run *run, struct pb_host *host, uint32_t context)
{
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		struct pb_queue_view *queue = &host->queues[q];

		if (queue->life == PB_QUEUE_ABSENT)
			continue;
		for (uint32_t i = queue->completed; i != queue->put; i++) {
			const struct pb_entry *entry = pb_entry_at(queue, i);
			const bool guilty = entry->kind == PB_KIND_BAD || entry->kind == PB_KIND_FAULT ||
					    entry->kind == PB_KIND_HANG;

			if (entry->context == context && !entry->paging &&
			    (guilty || queue->hold == PB_HOLD_RESETTING ||
			     run->world.nodes[queue->node].deaf != 0))
				return true;
		}
	}
	return false;
}

static void context_cleared(const struct pb_run *run, struct pb_host *host, uint32_t context)
{
	struct pb_context_view *view = &host->contexts[context];
	/* A later submission may have failed in the same pass, as it does at once on a dead node. */
	const bool lost_now = view->maybe_lost && view->maybe_step == run->step;

	view->maybe_step = run->step;
	view->clear_step = run->step;
	view->maybe_lost = lost_now || may_lose(run, host, context);
}

static void queue_cleared(const struct pb_run *run, struct pb_queue_view *queue)
{
	const struct pb_fence_record *record = &queue->page->fence;

	/* A later submission may have failed in the same pass. */
	queue->first.error = record->error;
	queue->first.fence_id = record->error_fence_id;
	queue->first.index = record->error_index;
	queue->worst_step = run->step;
	if (record->error != PB_ERROR_OK)
		queue->worst_step = UINT64_MAX;
}

static void queue_gone(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	pb_judge_waits_keep(host);
	for (; queue->completed != queue->put; queue->completed++) {
		struct pb_entry *entry = pb_entry_at(queue, queue->completed);

		if (entry->kind >= PB_KIND_BAD)
			host->contexts[entry->context].maybe_lost = true;
		pb_judge_note_waits(run, queue, entry);
		pb_judge_cancelled(run, host, entry);
	}
	for (uint32_t i = 0; i < queue->back_count; i++)
		host->slots[queue->back[i].slot].used = false;
	queue->back_count = 0;
	queue->life = PB_QUEUE_ABSENT;
	queue->gone_step = run->step;
}

static void check_stopped(struct pb_run *run, const struct pb_host *host, const struct pb_queue_view *queue,
			  const char *what, uint32_t completed, uint32_t returned)
{
	if (queue->completed - queue->cutoff > PB_RING_MAX)
		pb_run_break(run, "channel %u queue %08x: %s, and only %u of %u have ended",
			     host->client.channel, queue->handle, what, queue->completed, queue->cutoff);
	if (completed - queue->cutoff > queue->completed - queue->cutoff || returned != queue->returned)
		pb_run_break(
			run,
			"channel %u queue %08x: %s has completed %u, returned %u; it is %u, %u, cutoff %u",
			host->client.channel, queue->handle, what, completed, returned, queue->completed,
			queue->returned, queue->cutoff);
}

void pb_judge_preempted(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue, uint32_t id)
{
	const struct pb_preempt_record record = queue->page->preempt;

	if (record.sequence % 2u != 0 || record.count != queue->reports + 1u || record.preemption_id != id ||
	    record.epoch != host->client.epoch)
		pb_run_break(run, "channel %u queue %08x: preempt record %u of id %08x, not %u of %08x",
			     host->client.channel, queue->handle, record.count, record.preemption_id,
			     queue->reports + 1u, id);
	check_stopped(run, host, queue, "the preempt record", record.completed, record.returned);
	if (record.completed == queue->completed && (record.valid != (queue->valid ? 1u : 0u) ||
						     (queue->valid && record.fence_id != queue->last_fence)))
		pb_run_break(run, "channel %u queue %08x: preempted behind fence %08x, not %08x",
			     host->client.channel, queue->handle, record.fence_id, queue->last_fence);
	if (record.started > 1u || (record.started == 1u && record.returned == 0))
		pb_run_break(run, "channel %u queue %08x: started %u, returned %u", host->client.channel,
			     queue->handle, record.started, record.returned);
	queue->reports++;
	queue->may_resume = record.started == 1u && queue->put == queue->completed;
	run->totals.preemptions++;
}

static void preempt_replied(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
			    const struct pb_reply *reply)
{
	const struct pb_preempt_record *record = &queue->page->preempt;

	/* The record has the result also for a host that reads no events. */
	if (host->client.unread && record->count == queue->reports + 1u)
		pb_judge_preempted(run, host, queue, queue->stop_id);
	if (record->count != queue->reports || reply->results[0] != record->fence_id ||
	    reply->results[1] != record->valid || reply->results[2] != record->completed ||
	    reply->results[3] != record->returned || reply->results[4] != record->started)
		pb_run_break(run, "channel %u queue %08x: the reply to PREEMPT is not the record",
			     host->client.channel, queue->handle);
	queue->hold = PB_HOLD_NONE;
}

static void reset_replied(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
			  const struct pb_reply *reply)
{
	check_stopped(run, host, queue, "RESET", reply->results[2], reply->results[3]);
	queue->reset_step = run->step;
	run->nodes[queue->node].trouble_step = run->step;
	queue->hold = PB_HOLD_NONE;
	run->totals.resets++;
}

static void suspended(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
		      const struct pb_question *question)
{
	const bool drained = (question->arguments[2] & PB_STOP_RECALL) == 0;

	if (drained && queue->completed - queue->cutoff > PB_RING_MAX)
		pb_run_break(run, "channel %u queue %08x: suspended, and only %u of %u have ended",
			     host->client.channel, queue->handle, queue->completed, queue->cutoff);
	queue->hold = PB_HOLD_SUSPENDED;
	for (uint32_t i = queue->completed; i != queue->put; i++)
		pb_judge_settle(host, pb_entry_at(queue, i));
	run->totals.suspensions++;
}

static void segment_created(struct pb_run *run, struct pb_host *host, uint32_t segment, uint32_t offset)
{
	host->memory[segment] = run->world.memory + offset;
	if (!host->moving)
		return;
	pb_host_mark_segment(host, segment);
	host->moving = false;
	host->revocation = PB_REVOCATION_NONE;
	run->totals.moves++;
}

/** What a hostile host has taken is free only when its channel is closed, which takes time after the command. */
static bool hostile_holds(const struct pb_run *run)
{
	return pb_hostile_present(run) || (run->closing >> run->hostile.client.channel & 1u) != 0;
}

/** Whether a queue was refused because its node is dead. */
static bool is_dead_node(const struct pb_run *run, const struct pb_reply *reply,
			 const struct pb_question *question)
{
	return reply->code == PB_COMMAND_QUEUE_CREATE && reply->error == PB_ERROR_ENGINE_DEAD &&
	       run->nodes[question->arguments[0]].may_die;
}

static bool is_stop(uint32_t code)
{
	return code == PB_COMMAND_PREEMPT || code == PB_COMMAND_SUSPEND || code == PB_COMMAND_RESET;
}

/**
 * Whether a stop may be refused: its host has as many others in progress as each channel is guaranteed. What was in
 * progress when the firmware refused is answered behind the refusal, so it is still open here.
 */
static bool has_stops(const struct pb_host *host)
{
	uint32_t stops = 0;

	for (uint32_t i = 0; i < PB_LIMIT_CONTROL_ENTRIES; i++) {
		const struct pb_question *question = &host->client.questions[i];

		if (is_stop(question->code) &&
		    (question->code != PB_COMMAND_RESET || question->arguments[1] != 0))
			stops++;
	}
	return stops >= STOPS_GUARANTEED;
}

/** Whether a refusal is valid: the node is dead, the host has its stops, or a hostile host has taken all that there is. */
static bool may_be_refused(const struct pb_run *run, const struct pb_host *host, const struct pb_reply *reply,
			   const struct pb_question *question)
{
	if (is_dead_node(run, reply, question))
		return true;
	if (reply->error == PB_ERROR_NO_SPACE && is_stop(reply->code))
		return has_stops(host);
	return reply->error == PB_ERROR_NO_SPACE &&
	       (reply->code == PB_COMMAND_SEGMENT_CREATE || reply->code == PB_COMMAND_CONTEXT_CREATE ||
		reply->code == PB_COMMAND_QUEUE_CREATE) &&
	       hostile_holds(run);
}

/** The host goes on without a queue. Without anything else it cannot go on, and detaches. */
static void refused(struct pb_run *run, struct pb_host *host, const struct pb_reply *reply,
		    const struct pb_question *question)
{
	pb_run_log(run, "channel %u: command %u is refused with %u", host->client.channel, reply->code,
		   reply->error);
	if (reply->code == PB_COMMAND_QUEUE_CREATE)
		host->queues[question->object % PB_QUEUES].life = PB_QUEUE_ABSENT;
	else if (is_stop(reply->code))
		host->queues[question->object % PB_QUEUES].hold = PB_HOLD_NONE;
	else
		host->refused = true;
}

static void read_reply(struct pb_run *run, struct pb_host *host, const struct pb_reply *reply,
		       const struct pb_question *question)
{
	struct pb_queue_view *queue = &host->queues[question->object % PB_QUEUES];

	switch (reply->code) {
	case PB_COMMAND_SEGMENT_CREATE:
		segment_created(run, host, question->object, reply->results[0]);
		break;
	case PB_COMMAND_CONTEXT_CREATE:
		host->contexts[question->object].handle = reply->results[0];
		break;
	case PB_COMMAND_CONTEXT_CLEAR:
		context_cleared(run, host, question->object);
		break;
	case PB_COMMAND_QUEUE_CREATE:
		queue->handle = reply->results[0];
		queue->life = PB_QUEUE_OPEN;
		break;
	case PB_COMMAND_QUEUE_CLEAR:
		queue_cleared(run, queue);
		break;
	case PB_COMMAND_QUEUE_DESTROY:
		queue_gone(run, host, queue);
		break;
	case PB_COMMAND_PREEMPT:
		preempt_replied(run, host, queue, reply);
		break;
	case PB_COMMAND_SUSPEND:
		suspended(run, host, queue, question);
		break;
	case PB_COMMAND_RESUME:
		queue->hold = PB_HOLD_NONE;
		break;
	case PB_COMMAND_QUERY:
		pb_judge_query(run, host, question, reply);
		break;
	case PB_COMMAND_MODERATE:
		host->moderate_count = question->arguments[0];
		host->moderate_us = question->arguments[1];
		host->unreported = 0;
		break;
	case PB_COMMAND_RESET:
		if (question->arguments[1] != 0)
			reset_replied(run, host, queue, reply);
		else
			host->halted[question->arguments[0]] = false;
		break;
	default:
		break;
	}
}

bool pb_judge_replies(struct pb_run *run, struct pb_host *host)
{
	struct pb_question question;
	struct pb_reply reply;
	bool any = false;

	while (pb_client_reply(&host->client, &reply, &question)) {
		any = true;
		if (question.code == 0 || question.code != reply.code)
			pb_run_break(run, "channel %u: a reply to command %u without a request",
				     host->client.channel, reply.code);
		pb_run_log(run, "channel %u: reply to command %u about %u", host->client.channel, reply.code,
			   question.object);
		if (reply.code == PB_COMMAND_QUEUE_CREATE && question.object == PB_QUEUES) {
			if (reply.error != PB_ERROR_NO_SPACE && !is_dead_node(run, &reply, &question))
				pb_run_break(run, "channel %u: a second queue of a node in host order: %u",
					     host->client.channel, reply.error);
			continue;
		}
		if (may_be_refused(run, host, &reply, &question)) {
			refused(run, host, &reply, &question);
			continue;
		}
		if (reply.error != PB_ERROR_OK)
			pb_run_break(run, "channel %u: command %u about %u fails with %u",
				     host->client.channel, reply.code, question.object, reply.error);
		read_reply(run, host, &reply, &question);
	}
	return any;
}
