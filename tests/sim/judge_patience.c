/* SPDX-License-Identifier: MIT */
/*
 * Bounded waiting, in virtual time: submissions that can run end, and commands are answered, within the time
 * that the contract gives the outstanding submissions.
 */
#include "tests/sim/hostile.h"
#include "tests/sim/judge.h"

/** Allowance for lost doorbells and interrupts, and for the firmware's own time, in microseconds. */
#define SLACK (10u * PB_TICK_MICROSECONDS)
/**
 * How many hanging submissions may precede another host's submission: more than the 32 of the starvation
 * count.
 */
#define HOSTILE_TURNS 40u

/** Longest time until one of the node's submissions ends. */
static uint64_t allowance(const struct pb_run *run, uint32_t node)
{
	const struct pb_node_view *view = &run->nodes[node];
	uint64_t sum = SLACK + 3u * (uint64_t)view->answer_us + view->hang_us;
	const uint32_t slow = view->slow > 1u ? view->slow : 1u;

	for (uint32_t h = 0; h < run->host_count; h++) {
		for (uint32_t q = 0; q < PB_QUEUES; q++) {
			const struct pb_queue_view *queue = &run->hosts[h].queues[q];

			if (queue->life == PB_QUEUE_ABSENT || queue->node != node)
				continue;
			for (uint32_t i = queue->completed; i != queue->put; i++)
				sum += (uint64_t)slow * (queue->ring[i % queue->entries].busy + 100u);
		}
	}
	return pb_hostile_present(run) ? HOSTILE_TURNS * sum : sum;
}

static bool is_stuck(const struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	if (queue->life != PB_QUEUE_OPEN || pb_outstanding(queue) == 0)
		return false;
	if (queue->hold == PB_HOLD_SUSPENDED || run->card == PB_HOLD_SUSPENDING ||
	    run->card == PB_HOLD_SUSPENDED || host->halted[queue->node])
		return false;
	return pb_judge_free_to_run(host, queue) && run->world.now - run->moved > allowance(run, queue->node);
}

static void check_questions(struct pb_run *run, struct pb_host *host)
{
	for (uint32_t i = 0; i < PB_LIMIT_CONTROL_ENTRIES; i++) {
		const struct pb_question *question = &host->client.questions[i];

		/* A drain may take as long as what the queue's submissions wait for. */
		if (question->code != 0 && question->code != PB_COMMAND_SUSPEND && run->card == PB_HOLD_NONE)
			pb_run_break(run, "channel %u: no answer to command %u about %u",
				     host->client.channel, question->code, question->object);
	}
}

/** Whether nothing has happened for longer than any answer may take. */
static bool is_too_quiet(const struct pb_run *run)
{
	uint64_t most = 0;

	for (uint32_t n = 0; n < PB_CARD_NODES; n++)
		most += allowance(run, n);
	return run->world.now - run->moved > most;
}

void pb_judge_patience(struct pb_run *run)
{
	const bool too_quiet = is_too_quiet(run);

	if (too_quiet && (run->card == PB_HOLD_SUSPENDING || run->card == PB_HOLD_RESUMING))
		pb_run_break(run, "the card is neither suspended nor resumed");
	for (uint32_t h = 0; h < run->host_count; h++) {
		struct pb_host *host = &run->hosts[h];

		if (!host->attached)
			continue;
		if (too_quiet)
			check_questions(run, host);
		for (uint32_t q = 0; q < PB_QUEUES; q++) {
			struct pb_queue_view *queue = &host->queues[q];

			if (is_stuck(run, host, queue))
				pb_run_break(run,
					     "channel %u queue %08x node %u: fence %08x has waited %llu us "
					     "and could run",
					     host->client.channel, queue->handle, queue->node,
					     pb_entry_at(queue, queue->completed)->fence_id,
					     (unsigned long long)(run->world.now - run->moved));
		}
	}
}
