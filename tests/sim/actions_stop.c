/* SPDX-License-Identifier: MIT */
#include "tests/sim/actions.h"
#include "tests/sim/judge.h"
#include "tests/sim/submission.h"

/** Posts a command that stops the queue, and notes the cutoff. */
static bool ask(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue, uint32_t code,
		const uint32_t *arguments, uint32_t count, enum pb_hold hold)
{
	if (queue->life != PB_QUEUE_OPEN || pb_client_open_questions(&host->client) > 12u)
		return false;
	queue->hold = hold;
	queue->was_held = true;
	queue->cutoff = queue->put;
	queue->returned = 0;
	pb_judge_note_work(run, queue->node, 0);
	pb_run_log(run, "channel %u queue %08x: command %u, cutoff %u, last argument %x",
		   host->client.channel, queue->handle, code, queue->cutoff, arguments[count - 1u]);
	return pb_client_post(&host->client, code, (uint32_t)(queue - host->queues), arguments, count);
}

void pb_act_preempt(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	const uint32_t id = (uint32_t)pb_random_next(&run->random);
	const uint32_t flags = pb_random_one_in(&run->random, 2) ? PB_STOP_INSIDE : 0;

	/* Returned submissions must fit beside those that were returned before. */
	if (queue->hold != PB_HOLD_NONE || queue->back_count != 0)
		return;
	if (ask(run, host, queue, PB_COMMAND_PREEMPT, (uint32_t[]){queue->handle, queue->put, id, flags}, 4,
		PB_HOLD_PREEMPTING))
		queue->stop_id = id;
}

void pb_act_suspend(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	const uint32_t flags = pb_random_below(&run->random, 4);

	if (queue->hold == PB_HOLD_NONE)
		ask(run, host, queue, PB_COMMAND_SUSPEND, (uint32_t[]){queue->handle, queue->put, flags}, 3,
		    PB_HOLD_SUSPENDING);
}

/** Moves the buffers of some submissions that have not begun. */
static void move_some(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	struct pb_descriptor *ring = (struct pb_descriptor *)(void *)(queue->page + 1);

	for (uint32_t i = queue->completed; i != queue->put; i++) {
		struct pb_entry *entry = pb_entry_at(queue, i);
		struct pb_mark *mark = &host->marks[entry->mark];

		mark->settled = false;
		/* Only the ring head can have begun. */
		if (i != queue->completed && entry->kind == PB_KIND_PLAIN && !entry->resumed &&
		    host->mark_count + 96u < PB_MARKS && pb_random_one_in(&run->random, 3))
			pb_submission_move(run, host, entry, &ring[i % queue->entries]);
	}
}

void pb_act_resume(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	if (queue->hold != PB_HOLD_SUSPENDED || pb_client_open_questions(&host->client) > 12u)
		return;
	move_some(run, host, queue);
	ask(run, host, queue, PB_COMMAND_RESUME, &queue->handle, 1, PB_HOLD_RESUMING);
}

void pb_act_reset(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	if (queue->hold != PB_HOLD_NONE || queue->back_count != 0)
		return;
	if (!ask(run, host, queue, PB_COMMAND_RESET, (uint32_t[]){queue->node, queue->handle, queue->put}, 3,
		 PB_HOLD_RESETTING))
		return;
	for (uint32_t c = 0; c < PB_CONTEXTS; c++)
		host->contexts[c].maybe_lost = true;
}

void pb_act_release(struct pb_run *run, struct pb_host *host, uint32_t node)
{
	(void)run;
	if (host->halted[node] && !pb_client_asks(&host->client, PB_COMMAND_RESET, PB_QUEUES + node) &&
	    pb_client_open_questions(&host->client) < 12u)
		pb_client_post(&host->client, PB_COMMAND_RESET, PB_QUEUES + node, &node, 1);
}

void pb_act_suspend_card(struct pb_run *run)
{
	const uint32_t flags = pb_random_below(&run->random, 4);

	if (run->card != PB_HOLD_NONE || pb_client_open_questions(&run->admin) > 8u)
		return;
	run->card = PB_HOLD_SUSPENDING;
	pb_run_log(run, "the card is to be suspended, flags %x", flags);
	pb_client_post(&run->admin, PB_COMMAND_SUSPEND, 0, (uint32_t[]){0, 0, flags}, 3);
}

/** The submissions that a detached host has left may begin until its channel is closed. */
static void allow_begin(struct pb_host *host, struct pb_queue_view *queue)
{
	for (uint32_t i = queue->completed; i != queue->put; i++)
		host->marks[pb_entry_at(queue, i)->mark].settled = false;
}

void pb_act_resume_card(struct pb_run *run)
{
	if (run->card != PB_HOLD_SUSPENDED)
		return;
	run->card = PB_HOLD_RESUMING;
	for (uint32_t h = 0; h < run->host_count; h++) {
		struct pb_host *host = &run->hosts[h];

		for (uint32_t q = 0; (host->attached || host->detaching) && q < PB_QUEUES; q++) {
			struct pb_queue_view *queue = &host->queues[q];

			if (queue->life < PB_QUEUE_OPEN)
				continue;
			if (!host->attached)
				allow_begin(host, queue);
			else if (queue->hold != PB_HOLD_SUSPENDED)
				move_some(run, host, queue);
		}
	}
	pb_run_log(run, "the card resumes");
	pb_client_post(&run->admin, PB_COMMAND_RESUME, 0, (uint32_t[]){0}, 1);
}
