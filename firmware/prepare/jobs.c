/* SPDX-License-Identifier: MIT */
#include "firmware/prepare/jobs.h"

#include "firmware/assert.h"
#include "firmware/compiler.h"
#include "firmware/instance.h"
#include "hal/bits.h"

/** The rank of a priority that has starved: above all others. */
#define RANK_STARVED PB_PRIORITIES
/** Most microseconds that one claim of a job is charged: a clock that leaps costs no more. */
#define CHARGE_MAX 0x1000000u
/** An account further ahead of the last claim than this is one that the count has overtaken. */
#define AHEAD_MAX 0x10000000u

void pb_core_jobs_boot(struct pb_core_jobs *jobs)
{
	jobs->free = (1u << PB_LIMIT_JOBS) - 1u;
}

struct pb_core_job *pb_core_jobs_find(struct pb_firmware *firmware)
{
	PB_ASSERT(firmware->jobs.free != 0);
	return &firmware->job[pb_bits_lowest(firmware->jobs.free)];
}

/** A channel begins to ask: one that has not held jobs lately has no credit for that. */
static PB_CORE_STEP void update_account(struct pb_core_jobs *jobs, uint32_t channel)
{
	if (jobs->account[channel] - jobs->time > AHEAD_MAX)
		jobs->account[channel] = jobs->time;
}

/** Charges a channel for the time since a job was granted or claimed. @return microseconds */
static PB_CORE_STEP uint32_t charge(struct pb_firmware *firmware, uint32_t channel, uint32_t since)
{
	const uint32_t elapsed = pb_core_clock(firmware) - since;
	const uint32_t charged = elapsed < CHARGE_MAX ? elapsed : CHARGE_MAX;

	/* 1 more, so that channels take turns also where the clock stands still. */
	firmware->jobs.account[channel] += charged / firmware->channels[channel].grants.weight + 1u;
	return charged;
}

/** A protected submission makes its priority repay a multiple of its time; other submissions repay it to their own and lower ones. */
static void repay(struct pb_core_jobs *jobs, uint32_t priority, bool protected, uint32_t microseconds)
{
	if (protected) {
		jobs->repay_us[priority] = microseconds * PB_REPAY_TIMES;
		return;
	}
	for (uint32_t i = 0; i <= priority; i++)
		jobs->repay_us[i] -= microseconds < jobs->repay_us[i] ? microseconds : jobs->repay_us[i];
}

static void starve(struct pb_core_jobs *jobs, uint32_t priority)
{
	if (jobs->starvation[priority] < PB_LIMIT_STARVATION)
		jobs->starvation[priority]++;
}

/** The queue that waits on a node, or was granted a job. @return NULL: none, or it has lost the timeslice */
static const struct pb_core_queue *queue_of(const struct pb_core_node *node)
{
	const struct pb_core_queue *queue = node->asks.queue;

	return queue == node->slice.current && queue != NULL && pb_core_ring_has_more(queue) ? queue : NULL;
}

/** The rank of a queue that waits: its priority may have starved, of jobs or on its node. */
static PB_CORE_STEP uint8_t rank_of(const struct pb_core_jobs *jobs, const struct pb_core_node *node,
				    const struct pb_core_queue *queue)
{
	const uint32_t priority = pb_core_queue_priority(queue);
	const bool starved = node->slice.protect || jobs->starvation[priority] == PB_LIMIT_STARVATION;

	return (uint8_t)(starved && jobs->repay_us[priority] == 0 ? RANK_STARVED : priority);
}

/** Whether the node's grant still holds: its queue has not kept the job waiting for too long. */
static bool is_granted(const struct pb_firmware *firmware, const struct pb_core_node *node)
{
	return node->asks.granted && queue_of(node) != NULL &&
	       pb_core_clock(firmware) - node->asks.since <= PB_GRANT_MICROSECONDS;
}

/** Free jobs that are not kept for a grant of this rank or above. */
static uint32_t count_free(const struct pb_firmware *firmware, uint32_t rank)
{
	uint32_t count = 0;

	for (uint32_t left = firmware->jobs.free; left != 0; left &= left - 1u)
		count++;
	for (uint32_t n = 0; n < firmware->config->node_count; n++) {
		const struct pb_core_node *node = &firmware->nodes[n];

		if (count != 0 && node->asks.rank >= rank && is_granted(firmware, node))
			count--;
	}
	return count;
}

/** Whether the queue of node a goes before that of node b: by rank, then by account, then by how long it waits. */
static bool is_before(const struct pb_core_jobs *jobs, const struct pb_core_asks *a,
		      const struct pb_core_asks *b)
{
	if (a->rank != b->rank)
		return a->rank > b->rank;
	if (jobs->account[a->channel] == jobs->account[b->channel])
		return (int32_t)(a->since - b->since) < 0;
	return (int32_t)(jobs->account[a->channel] - jobs->account[b->channel]) < 0;
}

/** The node whose queue is granted the next free job. @return NULL: no queue waits */
static struct pb_core_node *find_best(struct pb_firmware *firmware)
{
	struct pb_core_node *best = NULL;

	for (uint32_t n = 0; n < firmware->config->node_count; n++) {
		struct pb_core_node *node = &firmware->nodes[n];

		if (queue_of(node) == NULL || node->asks.granted)
			continue;
		if (best == NULL || is_before(&firmware->jobs, &node->asks, &best->asks))
			best = node;
	}
	return best;
}

/**
 * Charges a channel for a job that it has held also on another node whose engine had nothing to run, as a queue waited
 * there for a job: each job for its part. That queue's submission is excused as much.
 */
static void charge_wait(struct pb_firmware *firmware, struct pb_core_node *node,
			const struct pb_core_submission *submission, uint32_t held)
{
	const uint32_t clock = pb_core_clock(firmware);
	struct pb_core_asks *asks = &node->asks;
	uint32_t idle = clock - node->retirement.idle_since;

	if (!pb_core_in_flight_is_empty(&node->flight))
		return;
	if (idle > clock - asks->since)
		idle = clock - asks->since;
	idle = (idle < held ? idle : held) / PB_LIMIT_JOBS;
	node->schedule.policy->charge(node, submission, idle);
	asks->excused = (uint16_t)(asks->excused + idle < UINT16_MAX ? asks->excused + idle : UINT16_MAX);
}

/** As charge_wait(), for all nodes whose queue waits, as a job is released. */
static void charge_waits(struct pb_firmware *firmware, const struct pb_core_submission *submission,
			 uint32_t held)
{
	for (uint32_t n = 0; n < firmware->config->node_count; n++) {
		struct pb_core_node *node = &firmware->nodes[n];

		if (queue_of(node) != NULL && !node->asks.granted)
			charge_wait(firmware, node, submission, held);
	}
}

/** As charge_wait(), for all jobs that are still held, as a queue's wait ends. */
static void charge_holders(struct pb_firmware *firmware, struct pb_core_node *node)
{
	for (uint32_t n = 0; n < firmware->config->node_count; n++) {
		struct pb_core_node *holder = &firmware->nodes[n];

		if (holder->staged.kind == PB_CORE_STAGED_JOB)
			charge_wait(firmware, node, pb_core_in_flight_next(&holder->flight),
				    pb_core_clock(firmware) - holder->asks.since);
	}
}

/** Keeps a free job for the queue that waits on a node. A priority that has starved is protected. */
static void give(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_jobs *jobs = &firmware->jobs;

	charge_holders(firmware, node);
	node->asks.granted = true;
	node->asks.since = pb_core_clock(firmware);
	if (node->asks.rank == RANK_STARVED) {
		jobs->starvation[pb_core_queue_priority(node->asks.queue)] = 0;
		pb_core_timeslice_protect(&node->slice);
	}
	pb_core_mark_node(&firmware->marks, node->bit);
}

/** Ends a grant that was not used: its time is charged. */
static void end_grant(struct pb_firmware *firmware, struct pb_core_asks *asks)
{
	if (asks->granted)
		(void)charge(firmware, asks->channel, asks->since);
	asks->granted = false;
	asks->queue = NULL;
}

/** Ends what does not hold any more, and grants the free jobs. */
static PB_CORE_COLD void grant(struct pb_firmware *firmware)
{
	struct pb_core_node *best;

	firmware->jobs.wanted = 0;
	for (uint32_t n = 0; n < firmware->config->node_count; n++) {
		struct pb_core_node *node = &firmware->nodes[n];

		if (node->asks.queue == NULL)
			continue;
		if (node->asks.granted ? !is_granted(firmware, node) : queue_of(node) == NULL) {
			/* The queue may ask again, or others that stood behind it may be admitted from. */
			end_grant(firmware, &node->asks);
			pb_core_mark_node(&firmware->marks, node->bit);
			continue;
		}
		firmware->jobs.wanted |= node->bit;
		if (!node->asks.granted)
			node->asks.rank = rank_of(&firmware->jobs, node, node->asks.queue);
	}
	while (count_free(firmware, 0) != 0) {
		best = find_best(firmware);
		if (best == NULL)
			return;
		give(firmware, best);
	}
}

/** Takes a job back from the lowest priority below this one, unless its submission is protected. */
static void revoke(struct pb_firmware *firmware, uint32_t priority)
{
	struct pb_core_node *lowest = NULL;

	for (uint32_t n = 0; n < firmware->config->node_count; n++) {
		struct pb_core_node *node = &firmware->nodes[n];
		const struct pb_core_submission *submission = pb_core_in_flight_next(&node->flight);

		if (node->staged.kind != PB_CORE_STAGED_JOB || node->asks.revoked || submission->protected ||
		    submission->status != PB_ERROR_OK ||
		    pb_core_queue_priority(submission->queue) >= priority)
			continue;
		priority = pb_core_queue_priority(submission->queue);
		lowest = node;
	}
	if (lowest == NULL)
		return;
	lowest->asks.revoked = true;
	starve(&firmware->jobs, priority);
	pb_core_mark_node(&firmware->marks, lowest->bit);
}

/** Has a queue wait. Pre: it has its node's timeslice. */
static void wait(struct pb_firmware *firmware, struct pb_core_node *node, struct pb_core_queue *queue)
{
	struct pb_core_asks *asks = &node->asks;
	const uint32_t priority = pb_core_queue_priority(queue);

	if (asks->queue != queue) {
		end_grant(firmware, asks);
		update_account(&firmware->jobs, queue->channel);
		asks->queue = queue;
		asks->channel = queue->channel;
		asks->since = pb_core_clock(firmware);
		asks->excused = 0;
		firmware->jobs.wanted |= node->bit;
		revoke(firmware, priority);
	}
	asks->granted = false;
	asks->rank = rank_of(&firmware->jobs, node, queue);
	if (!node->slice.protect || asks->rank == RANK_STARVED)
		return;
	/* Higher priorities need not wait with a queue that has yet to repay jobs. */
	pb_core_ready_retry(&node->ready, priority);
	pb_core_timeslice_remove(firmware, node, queue);
	pb_core_ready_prepend(firmware->table.queues, &node->ready, queue);
	pb_core_mark_node(&firmware->marks, node->bit);
}

PB_CORE_COLD bool pb_core_jobs_ask(struct pb_firmware *firmware, struct pb_core_node *node,
				   struct pb_core_queue *queue)
{
	const struct pb_core_jobs *jobs = &firmware->jobs;
	const bool granted = node->asks.granted && node->asks.queue == queue;

	if (jobs->free != 0 && (granted || count_free(firmware, pb_core_queue_priority(queue)) != 0))
		return true;
	if (pb_core_queue_place(queue) == PB_CORE_PLACE_CURRENT)
		wait(firmware, node, queue);
	return false;
}

/** Whether the next submission of a queue needs a job. The host may change the word that is read: it is read again. */
static bool needs_job(const struct pb_core_queue *queue)
{
	const struct pb_descriptor *ring = (const struct pb_descriptor *)(const void *)(queue->page + 1);

	return pb_shared_read32(&ring[pb_core_ring_next(queue) & queue->mask].patch_length) != 0 &&
	       !pb_core_ring_is_prepared(queue);
}

/** The first queue of the ready channels of a priority, in rotation, whose next submission needs no job. A channel deep in debt waits for its turn. */
static struct pb_core_queue *find_fill(struct pb_firmware *firmware, const struct pb_core_node *node,
				       uint32_t priority)
{
	const struct pb_core_ready_level *level = &node->ready.at[priority];

	for (uint32_t i = 1; i <= PB_LIMIT_CHANNELS; i++) {
		const uint32_t channel = (node->asks.filled + i) % PB_LIMIT_CHANNELS;
		struct pb_core_queue *queue;

		if (((uint32_t)level->ready >> channel & 1u) == 0 ||
		    pb_core_fair_is_in_debt(firmware, node, priority, channel))
			continue;
		queue = &firmware->table.queues[level->lists[channel].head];
		if (!needs_job(queue))
			return queue;
	}
	return NULL;
}

PB_CORE_COLD struct pb_core_queue *pb_core_jobs_fill(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_core_queue *waits = queue_of(node);
	const bool idle = pb_core_in_flight_is_empty(&node->flight);
	struct pb_core_queue *queue = NULL;
	uint32_t lowest;

	if (waits == NULL)
		return NULL;
	lowest = pb_core_queue_priority(waits) + (idle ? 0 : 1u);
	for (uint32_t priority = PB_PRIORITIES; priority-- > lowest && queue == NULL;)
		queue = find_fill(firmware, node, priority);
	if (queue == NULL)
		return NULL;
	node->asks.filled = queue->channel;
	pb_core_timeslice_remove(firmware, node, queue);
	return queue;
}

/** Counts a job that a priority gets against lower ones that wait for one. */
static void starve_below(struct pb_firmware *firmware, uint32_t priority)
{
	uint32_t waiting = 0;

	for (uint32_t n = 0; n < firmware->config->node_count; n++) {
		const struct pb_core_queue *queue = queue_of(&firmware->nodes[n]);

		if (queue != NULL)
			waiting |= 1u << pb_core_queue_priority(queue);
	}
	for (uint32_t left = waiting & ((1u << priority) - 1u); left != 0; left &= left - 1u)
		starve(&firmware->jobs, pb_bits_lowest(left));
}

PB_CORE_COLD void pb_core_jobs_claim(struct pb_firmware *firmware, struct pb_core_node *node,
				     const struct pb_core_job *job)
{
	struct pb_core_jobs *jobs = &firmware->jobs;
	const struct pb_core_queue *queue = pb_core_in_flight_next(&node->flight)->queue;

	jobs->free &= ~(1u << (job - firmware->job));
	if (!node->asks.granted || node->asks.queue != queue) {
		node->asks.since = pb_core_clock(firmware);
		node->asks.excused = 0;
	}
	node->asks.granted = false;
	node->asks.queue = NULL;
	update_account(jobs, queue->channel);
	jobs->time = jobs->account[queue->channel];
	if (jobs->wanted != 0)
		starve_below(firmware, pb_core_queue_priority(queue));
}

PB_CORE_COLD void pb_core_jobs_release(struct pb_firmware *firmware, struct pb_core_node *node,
				       const struct pb_core_job *job)
{
	struct pb_core_jobs *jobs = &firmware->jobs;
	const struct pb_core_submission *submission = pb_core_in_flight_next(&node->flight);
	const uint32_t priority = pb_core_queue_priority(submission->queue);
	uint32_t held;

	jobs->free |= 1u << (job - firmware->job);
	node->asks.revoked = false;
	held = charge(firmware, submission->queue->channel, node->asks.since);
	repay(jobs, priority, submission->protected, held);
	if (jobs->wanted != 0)
		charge_waits(firmware, submission, held);
	if (job->state == PB_CORE_JOB_READY)
		jobs->starvation[priority] = 0;
	if (jobs->wanted != 0)
		grant(firmware);
}

void pb_core_jobs_pass_on(struct pb_firmware *firmware, struct pb_core_node *node)
{
	if (!node->asks.granted)
		return;
	end_grant(firmware, &node->asks);
	grant(firmware);
}

void pb_core_jobs_tick(struct pb_firmware *firmware, const struct pb_core_node *node)
{
	if ((firmware->jobs.wanted & node->bit) != 0)
		grant(firmware);
}

bool pb_core_jobs_awaits(const struct pb_firmware *firmware, const struct pb_core_queue *queue)
{
	const struct pb_core_node *node = pb_core_node_of(firmware, queue);

	return queue_of(node) == queue && !node->asks.granted;
}
