/* SPDX-License-Identifier: MIT */
/*
 * What QUERY returns, compared with what the host knows. The command runs at some time between two checks, so
 * that counters lie between their old and new values.
 */
#include "tests/sim/judge.h"

#define CHECK(holds, what)                                                                                   \
	do {                                                                                                 \
		if (!(holds))                                                                                \
			pb_run_break(run, "channel %u: QUERY of %u, %08x: " what " is %u",                   \
				     host->client.channel, question->arguments[0], question->arguments[1],   \
				     results[word]);                                                         \
	} while (0)

/** Whether the reason can be true of the queue. */
static bool may_be(const struct pb_run *run, const struct pb_host *host, const struct pb_queue_view *queue,
		   uint32_t why)
{
	const bool held = run->card != PB_HOLD_NONE || queue->was_held || queue->hold != PB_HOLD_NONE;

	switch (why) {
	case PB_WHY_EMPTY:
	case PB_WHY_RUNNING:
	case PB_WHY_PREPARING:
	case PB_WHY_READY:
	case PB_WHY_WAITING:
	case PB_WHY_NODE_BUSY:
	case PB_WHY_WAITS_FOR_JOB:
		return true;
	case PB_WHY_SUSPENDED:
	case PB_WHY_PREEMPTED:
		return held;
	case PB_WHY_HALTED:
		return host->halted[queue->node] || host->paging;
	case PB_WHY_NODE_DEAD:
		return run->nodes[queue->node].may_die;
	case PB_WHY_CARD_SUSPENDED:
		return run->card != PB_HOLD_NONE || run->totals.suspensions != 0;
	default:
		return false;
	}
}

static void check_queue(struct pb_run *run, struct pb_host *host, const struct pb_question *question,
			const uint32_t *results)
{
	const struct pb_queue_view *queue = &host->queues[question->object];
	uint32_t word = 0;

	CHECK(may_be(run, host, queue, results[0]), "why");
	if (results[0] == PB_WHY_EMPTY)
		CHECK(results[4] == results[6], "why");
	word = 4;
	CHECK(queue->put - results[4] <= queue->put - queue->seen, "put");
	word = 6;
	CHECK(results[6] - queue->seen <= queue->completed - queue->seen, "completed");
	word = 5;
	CHECK(results[5] - results[6] <= queue->entries, "admitted");
	word = 10;
	CHECK(results[10] == 0 || queue->was_held || queue->hold != PB_HOLD_NONE, "suspended");
	word = 11;
	CHECK(results[11] == queue->node, "node");
	word = 12;
	CHECK(results[12] == queue->priority, "priority");
}

static void check_node(struct pb_run *run, const struct pb_host *host, const struct pb_question *question,
		       const uint32_t *results)
{
	const struct pb_node_view *node = &run->nodes[question->arguments[1]];
	uint32_t word = 0;

	CHECK(results[0] <= PB_NODE_STATE_DEAD && (results[0] != PB_NODE_STATE_DEAD || node->may_die),
	      "state");
	word = 1;
	CHECK(results[1] == node->mode, "mode");
	word = 2;
	CHECK(results[2] == node->depth, "depth");
	word = 3;
	CHECK(results[3] <= node->depth, "in flight");
}

static void check_context(struct pb_run *run, const struct pb_host *host, const struct pb_question *question,
			  const uint32_t *results)
{
	const struct pb_context_view *context = &host->contexts[question->object];
	uint32_t word = 0;

	CHECK(results[0] <= 1u, "lost");
	CHECK(results[0] == 0 || context->maybe_lost || context->maybe_step != 0, "lost");
	CHECK(results[0] == 1u || !context->sure_lost || context->sure_step > question->step, "lost");
}

static void check_channel(struct pb_run *run, const struct pb_host *host, const struct pb_question *question,
			  const uint32_t *results)
{
	const struct pb_grant *grant = &run->grants[host->client.channel];
	uint32_t word = 0, queues = 0, unsure = 0;

	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		queues += host->queues[q].life == PB_QUEUE_OPEN;
		unsure += host->queues[q].life == PB_QUEUE_CREATING ||
			  host->queues[q].life == PB_QUEUE_DESTROYING ||
			  host->queues[q].gone_step >= question->step;
	}
	CHECK(results[0] == grant->privileges, "privileges");
	word = 1;
	CHECK(results[1] == grant->weight, "weight");
	word = 2;
	CHECK(results[2] == grant->cap, "cap");
	word = 3;
	CHECK(results[3] <= PB_QUEUES && results[3] + unsure >= queues && results[3] <= queues + unsure,
	      "queues");
	word = 4;
	CHECK(results[4] == PB_CONTEXTS, "contexts");
	word = 7;
	CHECK(host->dropped - results[7] <= host->dropped, "events dropped");
}

void pb_judge_query(struct pb_run *run, struct pb_host *host, const struct pb_question *question,
		    const struct pb_reply *reply)
{
	uint32_t results[PB_REPLY_RESULTS];

	for (uint32_t i = 0; i < PB_REPLY_RESULTS; i++)
		results[i] = reply->results[i];
	run->totals.queries++;
	if (run->mutation.kind == PB_MUTATION_QUERY && question->arguments[0] == PB_QUERY_QUEUE) {
		results[6] += 1u + host->queues[question->object].entries;
		run->mutation.done = true;
	}
	if (question->arguments[0] == PB_QUERY_QUEUE)
		check_queue(run, host, question, results);
	else if (question->arguments[0] == PB_QUERY_NODE)
		check_node(run, host, question, results);
	else if (question->arguments[0] == PB_QUERY_CONTEXT)
		check_context(run, host, question, results);
	else
		check_channel(run, host, question, results);
}
