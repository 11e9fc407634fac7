/* SPDX-License-Identifier: MIT */
#include "tests/sim/judge.h"

#include "tests/sim/host.h"
#include "tests/sim/host_memory.h"
#include "tests/sim/inside.h"
#include "tests/sim/submission.h"
#include "tests/sim/supervisor.h"

/* ---- events ---- */

static struct pb_queue_view *find_queue(struct pb_host *host, uint32_t handle)
{
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		if (host->queues[q].handle == handle && host->queues[q].life >= PB_QUEUE_OPEN)
			return &host->queues[q];
	}
	return NULL;
}

static void note_failure(struct pb_run *run, struct pb_host *host, const struct pb_event *event)
{
	struct pb_queue_view *queue = find_queue(host, event->queue);

	if (queue == NULL || queue->reported_count == PB_RING_MAX)
		pb_run_break(run, "channel %u: an event for queue %08x, which has no such submission",
			     host->client.channel, event->queue);
	queue->reported[queue->reported_count++] =
		(struct pb_reported){event->fence_id, event->error, event->index};
}

static void note_node_dead(struct pb_run *run, uint32_t node)
{
	if (node >= PB_CARD_NODES || !run->nodes[node].may_die)
		pb_run_break(run, "node %u was reported dead for no reason", node);
	if (!run->nodes[node].dead)
		run->nodes[node].dead_step = run->step;
	run->nodes[node].dead = true;
}

static void read_event(struct pb_run *run, struct pb_host *host, const struct pb_event *event,
		       bool preempted[PB_QUEUES])
{
	struct pb_queue_view *queue = find_queue(host, event->queue);

	if (event->number != host->events++ || event->epoch != host->client.epoch)
		pb_run_break(run, "channel %u: event %u of epoch %u instead of %u of epoch %u",
			     host->client.channel, event->number, event->epoch, host->events - 1u,
			     host->client.epoch);
	switch (event->type) {
	case PB_EVENT_SUBMISSION_FAILED:
	case PB_EVENT_ENGINE_FAULT:
	case PB_EVENT_ENGINE_HANG:
		note_failure(run, host, event);
		break;
	case PB_EVENT_HALTED:
		host->halted[event->detail % PB_CARD_NODES] = true;
		break;
	case PB_EVENT_PREEMPTED:
		if (queue == NULL || queue->hold != PB_HOLD_PREEMPTING || queue->stop_id != event->detail)
			pb_run_break(run, "channel %u queue %08x: a preemption %08x without a request",
				     host->client.channel, event->queue, event->detail);
		preempted[queue - host->queues] = true;
		break;
	case PB_EVENT_NODE_DEAD:
		note_node_dead(run, event->detail);
		break;
	case PB_EVENT_CONTEXT_LOST:
		break;
	case PB_EVENT_QUEUE_FAULT:
		/*
		 * A kick may be read after the command that destroys its queue, because they come through two
		 * rings.
		 */
		if (event->error == PB_ERROR_BAD_HANDLE && (queue == NULL || queue->life != PB_QUEUE_OPEN))
			break;
		pb_run_break(run, "channel %u queue %08x: faulted with error %u", host->client.channel,
			     event->queue, event->error);
	default:
		pb_run_break(run, "channel %u: an event of type %u, queue %08x", host->client.channel,
			     event->type, event->queue);
	}
}

/* ---- fence records ---- */

/** The status of a completion: OK, unless an event reported an error. */
static struct pb_reported status_of(struct pb_queue_view *queue, const struct pb_entry *entry)
{
	struct pb_reported reported = queue->reported[0];

	if (queue->reported_count == 0 || reported.fence_id != entry->fence_id)
		return (struct pb_reported){entry->fence_id, PB_ERROR_OK, PB_INDEX_NONE};
	queue->reported_count--;
	for (uint32_t i = 0; i < queue->reported_count; i++)
		queue->reported[i] = queue->reported[i + 1u];
	return reported;
}

/** The status where events found no room: the fence record has the last error and the number of failures. */
static struct pb_reported recorded_status(struct pb_queue_view *queue, const struct pb_entry *entry,
					  const struct pb_fence_record *record)
{
	struct pb_reported reported = {entry->fence_id, PB_ERROR_OK, PB_INDEX_NONE};

	if (record->errors == queue->errors)
		return reported;
	if (queue->completed + 1u != record->completed) {
		queue->unsure = true;
		return reported;
	}
	reported.error = record->status;
	/* A QUEUE_CLEAR may have followed the completion in the same pass. */
	reported.index = queue->first.error == PB_ERROR_OK && record->error == reported.error &&
					 record->error_fence_id == entry->fence_id
				 ? record->error_index
				 : PB_INDEX_UNKNOWN;
	return reported;
}

static uint64_t wide(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

static void check_last(struct pb_run *run, const struct pb_host *host, const struct pb_queue_view *queue,
		       const struct pb_fence_record *record, uint32_t status)
{
	if (record->valid != 1u || record->fence_id != queue->last_fence || record->status != status ||
	    wide(record->timeline_low, record->timeline_high) != queue->reached)
		pb_run_break(run,
			     "channel %u queue %08x: the record has fence %08x status %u, not fence %08x "
			     "status %u",
			     host->client.channel, queue->handle, record->fence_id, record->status,
			     queue->last_fence, status);
}

/** The reply to RESET of the queue, if it has come and is not read yet. @return NULL: none */
static const struct pb_reply *reset_reply(const struct pb_host *host, const struct pb_queue_view *queue)
{
	const struct pb_client *client = &host->client;
	const struct pb_reply *ring =
		(const struct pb_reply *)(const void *)(client->world->memory + client->reply_offset);

	for (uint32_t i = client->reply_get; i != pb_shared_read32(&client->entry->reply_put); i++) {
		const struct pb_reply *reply = &ring[i % PB_LIMIT_CONTROL_ENTRIES];

		for (uint32_t k = 0; k < PB_LIMIT_CONTROL_ENTRIES; k++) {
			const struct pb_question *question = &client->questions[k];

			if (question->code == PB_COMMAND_RESET && question->tag == reply->tag &&
			    question->arguments[1] == queue->handle)
				return reply;
		}
	}
	return NULL;
}

/**
 * Whether the stop request in progress has returned the entry. Later entries may have ended since, on a dead
 * node at once.
 */
static bool was_returned(const struct pb_host *host, const struct pb_queue_view *queue, uint32_t index)
{
	const struct pb_preempt_record *record = &queue->page->preempt;
	const struct pb_reply *reply = queue->hold == PB_HOLD_RESETTING ? reset_reply(host, queue) : NULL;

	if (reply != NULL)
		return index - (reply->results[2] - reply->results[3]) < reply->results[3];
	return queue->hold == PB_HOLD_PREEMPTING && record->count != 0 && record->sequence % 2u == 0 &&
	       record->preemption_id == queue->stop_id &&
	       index - (record->completed - record->returned) < record->returned;
}

/**
 * All entries before `completed` have ended. Those up to the record's timeline value are complete, the rest
 * returned.
 */
static void read_completions(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
			     const struct pb_fence_record *record)
{
	const uint64_t reached = wide(record->timeline_low, record->timeline_high);
	uint32_t status = PB_ERROR_OK;
	bool any = false;

	queue->unsure = false;
	while (queue->completed != record->completed) {
		struct pb_entry *entry = pb_entry_at(queue, queue->completed);

		if (record->valid == 1u && entry->timeline <= reached &&
		    !was_returned(host, queue, queue->completed)) {
			const struct pb_reported reported = host->dropped != 0 && queue->reported_count == 0
								    ? recorded_status(queue, entry, record)
								    : status_of(queue, entry);

			if (run->card == PB_HOLD_SUSPENDED)
				pb_run_break(run,
					     "channel %u queue %08x: completes a submission while the card "
					     "is suspended",
					     host->client.channel, queue->handle);
			status = reported.error;
			any = true;
			if (queue->unsure)
				pb_judge_completed_unreported(run, host, queue, entry, record);
			else
				pb_judge_completed(run, host, queue, entry, reported.error, reported.index);
		} else {
			pb_judge_returned(run, host, queue, entry);
		}
		pb_judge_note_waits(run, queue, entry);
		queue->completed++;
	}
	if (any)
		check_last(run, host, queue, record, queue->unsure ? record->status : status);
}

static void check_errors(struct pb_run *run, const struct pb_host *host, const struct pb_queue_view *queue,
			 const struct pb_fence_record *record)
{
	const struct pb_first_error *first = &queue->first;

	if (record->errors != queue->errors)
		pb_run_break(run, "channel %u queue %08x: %u errors instead of %u", host->client.channel,
			     queue->handle, record->errors, queue->errors);
	if (pb_client_asks(&host->client, PB_COMMAND_QUEUE_CLEAR, (uint32_t)(queue - host->queues)))
		return;
	if (record->error != first->error ||
	    (first->error != PB_ERROR_OK &&
	     (record->error_fence_id != first->fence_id || record->error_index != first->index)))
		pb_run_break(run, "channel %u queue %08x: first error %u of fence %08x instead of %u of %08x",
			     host->client.channel, queue->handle, record->error, record->error_fence_id,
			     first->error, first->fence_id);
}

static void check_record(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	const struct pb_fence_record record = queue->page->fence;

	if (run->lenient && record.sequence % 2u != 0)
		return; /* no component reads the put index then */
	if (queue->life == PB_QUEUE_OPEN && pb_shared_read32(&queue->page->put) != queue->put)
		pb_run_break(run, "channel %u queue %08x: its put is not what its host wrote",
			     host->client.channel, queue->handle);
	if (record.sequence % 2u != 0 || record.epoch != host->client.epoch)
		pb_run_break(run, "channel %u queue %08x: sequence %u, epoch %u", host->client.channel,
			     queue->handle, record.sequence, record.epoch);
	if (record.completed - queue->completed > queue->put - queue->completed)
		pb_run_break(run, "channel %u queue %08x: completed goes from %u to %u, put is %u",
			     host->client.channel, queue->handle, queue->completed, record.completed,
			     queue->put);
	if (queue->hold == PB_HOLD_SUSPENDED && record.completed != queue->completed)
		pb_run_break(run, "channel %u queue %08x: completes a submission while it is suspended",
			     host->client.channel, queue->handle);
	if (record.completed != queue->completed)
		read_completions(run, host, queue, &record);
	if (run->lenient)
		return; /* an event precedes its completion, and so does the record's error count */
	if (queue->reported_count != 0 && queue->life == PB_QUEUE_OPEN)
		pb_run_break(run, "channel %u queue %08x: error %u of fence %08x without a completion",
			     host->client.channel, queue->handle, queue->reported[0].error,
			     queue->reported[0].fence_id);
	if (queue->life == PB_QUEUE_OPEN)
		check_errors(run, host, queue, &record);
}

/** Notes what may be lost, halted or reset at this step, for the verdicts on later ends. */
static void note_possible(struct pb_run *run, struct pb_host *host)
{
	for (uint32_t c = 0; c < PB_CONTEXTS; c++) {
		if (host->contexts[c].maybe_lost)
			host->contexts[c].maybe_step = run->step;
	}
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		if (host->halted[n])
			host->halted_step[n] = run->step;
		if (run->world.nodes[n].deaf != 0)
			run->nodes[n].trouble_step = run->nodes[n].deaf_step = run->step;
	}
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		struct pb_queue_view *queue = &host->queues[q];

		if (queue->life < PB_QUEUE_OPEN)
			continue;
		if (queue->hold == PB_HOLD_RESETTING)
			run->nodes[queue->node].trouble_step = queue->reset_step = run->step;
		/* An engine that ignores commands counts as hung, and its submission as guilty. */
		for (uint32_t i = queue->completed; i != queue->put; i++) {
			const struct pb_entry *entry = pb_entry_at(queue, i);

			if (run->world.nodes[queue->node].deaf != 0 || pb_submission_is_doomed(host, entry) ||
			    pb_host_memory_ends(run, host, queue->node))
				host->contexts[entry->context].maybe_lost = true;
		}
	}
}

/** Reads one event. @return true: there was one */
static bool read_events(struct pb_run *run, struct pb_host *host, bool preempted[PB_QUEUES])
{
	struct pb_event event;
	bool any = false;

	while (pb_client_event(&host->client, &event)) {
		read_event(run, host, &event, preempted);
		any = true;
	}
	host->dropped = pb_shared_read32(&host->client.entry->events_dropped);
	return any;
}

/** @return the number of entries that have ended */
static uint32_t check_records(struct pb_run *run, struct pb_host *host, bool *failed)
{
	uint32_t ended = 0;

	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		struct pb_queue_view *queue = &host->queues[q];
		const uint32_t completed = queue->completed, errors = queue->errors;

		if (queue->life < PB_QUEUE_OPEN)
			continue;
		queue->seen = completed;
		check_record(run, host, queue);
		ended += queue->completed - completed;
		*failed = *failed || queue->errors != errors;
	}
	return ended;
}

static void check_host(struct pb_run *run, struct pb_host *host)
{
	const uint32_t line = 1u << PB_LINE_CHANNEL(host->client.channel);
	bool preempted[PB_QUEUES] = {false}, failed = false, reported;
	uint32_t ended;

	host->interrupted = (run->world.host_lines.raised & line) != 0;
	run->world.host_lines.raised &= ~line;
	note_possible(run, host);
	reported = read_events(run, host, preempted);
	if (pb_shared_read32(&host->client.entry->state) != PB_CHANNEL_OPEN)
		pb_run_break(run, "channel %u: state %u", host->client.channel,
			     pb_shared_read32(&host->client.entry->state));
	ended = check_records(run, host, &failed);
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		if (preempted[q])
			pb_judge_preempted(run, host, &host->queues[q], host->queues[q].stop_id);
	}
	reported = pb_judge_replies(run, host) || reported;
	pb_judge_dropped(run, host, failed);
	if (!run->lenient)
		pb_judge_interrupts(run, host, ended, reported);
	note_possible(run, host);
}

void pb_judge_check(struct pb_run *run)
{
	for (uint32_t h = 0; h < run->host_count; h++) {
		if (run->hosts[h].attached)
			check_host(run, &run->hosts[h]);
		else if (run->hosts[h].detaching)
			pb_host_poll_detach(run, &run->hosts[h]);
	}
	pb_supervisor_poll(run);
	for (uint32_t n = 0; !run->lenient && n < PB_CARD_NODES; n++) {
		if (pb_inside_idle_slot(run->world.firmware, n))
			pb_run_break(run, "node %u: a free slot beside a submission that is ready", n);
	}
	for (uint32_t n = 0; !run->lenient && n < PB_CARD_NODES; n++) {
		if (!pb_inside_counts_in_flight(run->world.firmware, n))
			pb_run_break(run, "node %u: what is in flight is not what is counted", n);
	}
}

void pb_judge_marks(struct pb_run *run, struct pb_host *host)
{
	for (uint32_t m = 0; m < host->mark_count; m++) {
		const uint32_t *words = pb_submission_mark(host, m);

		if (!host->marks[m].settled || host->marks[m].gone)
			continue;
		for (uint32_t i = 0; i < 3u; i++) {
			if (pb_shared_read32(&words[i]) != host->marks[m].seen[i])
				pb_run_break(run,
					     "channel %u: mark %u word %u was stored after the submission "
					     "had ended",
					     host->client.channel, m, i);
		}
	}
}
