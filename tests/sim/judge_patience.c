/* SPDX-License-Identifier: MIT */
/*
 * Bounded waiting, in virtual time: submissions that can run end, commands are answered, and the card is suspended and
 * resumed, each within a time of its own. It follows from the limits of the schedule's nodes and from what was submitted
 * to them; what others complete meanwhile restarts nothing.
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
/** Faults after which an engine is noticed only by its limits. */
#define LADDER_RATES (PB_RATE_BAD | PB_RATE_HANG | PB_RATE_STOPS | PB_RATE_DEAF | PB_RATE_DEAD)
#define LINE_RATES                                                                                           \
	(PB_RATE_INTERRUPT_LOST | PB_RATE_INTERRUPT_LATE | PB_RATE_DOORBELL_LOST | PB_RATE_DOORBELL_LATE)

static uint64_t ladder_of(const struct pb_node_view *view)
{
	return 3u * (uint64_t)view->answer_us + view->hang_us;
}

/** What one submission may take, with a reset of the engine, and an interrupt that gets lost. */
static uint64_t cost_of(const struct pb_run *run, uint32_t node, uint32_t busy)
{
	const struct pb_node_view *view = &run->nodes[node];
	const uint32_t slow = view->slow > 1u ? view->slow : 1u;

	return (uint64_t)slow * (busy + 100u) + ((run->rates & LADDER_RATES) != 0 ? ladder_of(view) : 0) +
	       ((run->rates & LINE_RATES) != 0 ? 2u * PB_TICK_MICROSECONDS : 0);
}

void pb_judge_note_work(struct pb_run *run, uint32_t node, uint32_t busy)
{
	run->nodes[node].work_us += cost_of(run, node, busy);
}

/** What all that is outstanding on a node may take. */
static uint64_t outstanding_on(const struct pb_run *run, uint32_t node)
{
	uint64_t sum = SLACK + ladder_of(&run->nodes[node]);

	for (uint32_t h = 0; h < run->host_count; h++) {
		for (uint32_t q = 0; q < PB_QUEUES; q++) {
			const struct pb_queue_view *queue = &run->hosts[h].queues[q];

			if (queue->life == PB_QUEUE_ABSENT || queue->node != node)
				continue;
			for (uint32_t i = queue->completed; i != queue->put; i++)
				sum += cost_of(run, node, queue->ring[i % queue->entries].busy);
		}
	}
	return sum;
}

static uint64_t work_of_all(const struct pb_run *run)
{
	uint64_t sum = 0;

	for (uint32_t n = 0; n < PB_CARD_NODES; n++)
		sum += run->nodes[n].work_us;
	return sum;
}

static uint64_t outstanding_on_all(const struct pb_run *run)
{
	uint64_t sum = 0;

	for (uint32_t n = 0; n < PB_CARD_NODES; n++)
		sum += outstanding_on(run, n);
	return sum;
}

/** Whether a delay goes on that began before. Else it begins now, and the caller sets what is allowed. */
static bool goes_on(const struct pb_run *run, struct pb_delay *delay, uint32_t what)
{
	if (delay->on && delay->what == what)
		return true;
	*delay = (struct pb_delay){.on = true, .what = what, .since = run->world.now};
	return false;
}

static bool is_too_long(const struct pb_run *run, const struct pb_delay *delay, uint64_t work)
{
	const uint64_t allowed = delay->allowed_us + (work - delay->work_us);

	return run->world.now - delay->since > (pb_hostile_present(run) ? HOSTILE_TURNS * allowed : allowed);
}

static bool can_run(const struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	if (queue->life != PB_QUEUE_OPEN || pb_outstanding(queue) == 0)
		return false;
	if (queue->hold == PB_HOLD_SUSPENDED || run->card == PB_HOLD_SUSPENDING ||
	    run->card == PB_HOLD_SUSPENDED || host->halted[queue->node] ||
	    host->revocation == PB_REVOCATION_ASKED)
		return false;
	return pb_judge_free_to_run(host, queue);
}

static void check_queue(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	if (!can_run(run, host, queue)) {
		queue->delay.on = false;
		return;
	}
	if (!goes_on(run, &queue->delay, queue->completed)) {
		queue->delay.allowed_us = outstanding_on(run, queue->node);
		queue->delay.work_us = run->nodes[queue->node].work_us;
	}
	if (is_too_long(run, &queue->delay, run->nodes[queue->node].work_us))
		pb_run_break(run,
			     "channel %u queue %08x node %u: fence %08x has waited %llu us and could run",
			     host->client.channel, queue->handle, queue->node,
			     pb_entry_at(queue, queue->completed)->fence_id,
			     (unsigned long long)(run->world.now - queue->delay.since));
}

/** Whether the command ends with submissions, or with an answer of an engine. */
static bool stops_something(uint32_t code)
{
	return code == PB_COMMAND_PREEMPT || code == PB_COMMAND_RESET || code == PB_COMMAND_QUEUE_DESTROY;
}

/** A drain may take as long as what the queue's submissions wait for. */
static void check_question(struct pb_run *run, struct pb_host *host, uint32_t i)
{
	const struct pb_question *question = &host->client.questions[i];
	struct pb_delay *delay = &host->delays[i];
	const bool stops = stops_something(question->code);
	const uint64_t work = work_of_all(run);

	if (question->code == 0 || question->code == PB_COMMAND_SUSPEND || run->card != PB_HOLD_NONE) {
		delay->on = false;
		return;
	}
	if (!goes_on(run, delay, question->tag)) {
		delay->allowed_us = stops ? outstanding_on_all(run) : SLACK;
		delay->work_us = work;
	}
	if (is_too_long(run, delay, stops ? work : delay->work_us))
		pb_run_break(run, "channel %u: command %u about %u has waited %llu us for its answer",
			     host->client.channel, question->code, question->object,
			     (unsigned long long)(run->world.now - delay->since));
}

static void check_card(struct pb_run *run)
{
	if (run->card != PB_HOLD_SUSPENDING && run->card != PB_HOLD_RESUMING) {
		run->card_delay.on = false;
		return;
	}
	if (!goes_on(run, &run->card_delay, run->card)) {
		run->card_delay.allowed_us = outstanding_on_all(run);
		run->card_delay.work_us = work_of_all(run);
	}
	if (is_too_long(run, &run->card_delay, work_of_all(run)))
		pb_run_break(run, "the card has waited %llu us, and is neither suspended nor resumed",
			     (unsigned long long)(run->world.now - run->card_delay.since));
}

/** A revocation ends with what was in flight; its channel is held until then. */
static void check_revocation(struct pb_run *run)
{
	uint32_t channel = 0;

	for (uint32_t h = 0; h < run->host_count; h++) {
		if (run->hosts[h].revocation == PB_REVOCATION_ASKED)
			channel = run->hosts[h].client.channel;
	}
	if (channel == 0) {
		run->revocation_delay.on = false;
		return;
	}
	if (!goes_on(run, &run->revocation_delay, channel)) {
		run->revocation_delay.allowed_us = outstanding_on_all(run);
		run->revocation_delay.work_us = work_of_all(run);
	}
	if (is_too_long(run, &run->revocation_delay, work_of_all(run)))
		pb_run_break(run, "channel %u: the revocation of its pages has waited %llu us", channel,
			     (unsigned long long)(run->world.now - run->revocation_delay.since));
}

void pb_judge_patience(struct pb_run *run)
{
	check_card(run);
	check_revocation(run);
	for (uint32_t h = 0; h < run->host_count; h++) {
		struct pb_host *host = &run->hosts[h];

		if (!host->attached)
			continue;
		for (uint32_t i = 0; i < PB_LIMIT_CONTROL_ENTRIES; i++)
			check_question(run, host, i);
		for (uint32_t q = 0; q < PB_QUEUES; q++)
			check_queue(run, host, &host->queues[q]);
	}
}
