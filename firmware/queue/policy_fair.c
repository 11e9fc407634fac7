/* SPDX-License-Identifier: MIT */
/*
 * The fair policy. Priorities are strict, with starvation avoidance: after PB_LIMIT_STARVATION submissions of higher
 * priorities, one lower submission runs. Within a priority channels share by weight (deficit round robin: Shreedhar and
 * Varghese, 1995), and the queues of a channel take timeslices of their quantum of engine time. Queues with nothing to
 * admit are in no list.
 */
#include "firmware/queue/policy_fair.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"
#include "firmware/queue/policy.h"
#include "hal/bits.h"

/** The highest bit of a mask. */
/*@
  requires mask != 0;
  assigns \nothing;
  ensures \result < 32 && pb_core_has(mask, \result);
  ensures \forall integer bit; \result < bit < 32 ==> !pb_core_has(mask, bit);
*/
static uint32_t highest(uint32_t mask)
{
	return 31u - (uint32_t)__builtin_clz(mask);
}

PB_STATIC_ASSERT(PB_CHARGE_MICROSECONDS_MAX <= INT32_MAX / 2, "a deficit is charged from INT32_MIN / 2 on");

/**
 * A share of which no more is left, in microseconds, is used up. Engines are stopped at ticks: a submission that began a
 * little behind a tick would else run for one tick more than its share.
 */
#define SHARE_LEFT ((int32_t)PB_TICK_MICROSECONDS / 32)

/** Engine time that a channel gets in one round, in microseconds. */
static int32_t share(const struct pb_firmware *firmware, uint32_t channel)
{
	return (int32_t)(firmware->channels[channel].grants.weight * PB_QUANTUM_MICROSECONDS);
}

bool pb_core_fair_is_in_debt(const struct pb_firmware *firmware, const struct pb_core_node *node,
			     uint32_t priority, uint32_t channel)
{
	return node->fair.at[priority].deficit[channel] < -share(firmware, channel);
}

/** After a round in which no channel came out of debt: as many rounds at once as it takes the first one. */
static void forgive(const struct pb_firmware *firmware, struct pb_core_fair_level *level, uint32_t ready)
{
	int32_t rounds = INT32_MAX;

	for (uint32_t left = ready; left != 0; left &= left - 1u) {
		const uint32_t channel = pb_bits_lowest(left);
		const int32_t takes = -level->deficit[channel] / share(firmware, channel);

		rounds = takes < rounds ? takes : rounds;
	}
	for (uint32_t left = ready; left != 0; left &= left - 1u) {
		const uint32_t channel = pb_bits_lowest(left);

		level->deficit[channel] += rounds * share(firmware, channel);
	}
}

/** The channel to serve. @param ready channels of the priority; there is one */
static uint32_t channel_of(const struct pb_firmware *firmware, struct pb_core_fair_level *level,
			   uint32_t ready)
{
	uint32_t channel = level->serving;

	if ((ready >> channel & 1u) != 0 && level->deficit[channel] > SHARE_LEFT)
		return channel;
	for (uint32_t step = 1;; step++) {
		channel = pb_bits_next(ready, channel);
		/* Credit that a channel left unused, as all its queues began to wait, does not add up. */
		if (level->deficit[channel] > 0)
			level->deficit[channel] = 0;
		level->deficit[channel] += share(firmware, channel);
		if (level->deficit[channel] > 0)
			break;
		if (step == PB_LIMIT_CHANNELS)
			forgive(firmware, level, ready);
	}
	level->serving = (uint8_t)channel;
	return channel;
}

/** Whether a priority has starved, and higher priorities have had their time since it was last served for that. */
/*@
  requires \valid_read(ready) && \valid_read(fair);
  assigns \nothing;
  ensures \result <==> ready->starvation == PB_LIMIT_STARVATION && fair->repay_us == 0;
*/
static bool is_due(const struct pb_core_ready_level *ready, const struct pb_core_fair_level *fair)
{
	return ready->starvation == PB_LIMIT_STARVATION && fair->repay_us == 0;
}

/** Whether a protected submission is in flight, or staged. It is charged, and others repay it, when it is gone. */
/*@
  requires \valid_read(flight);
  assigns \nothing;
*/
static PB_CORE_COLD bool has_protected(struct pb_core_in_flight *flight, bool staged)
{
	const uint32_t end = flight->fed + 1u + (staged ? 1u : 0u);

	/*@ loop assigns sequence; */
	for (uint32_t sequence = flight->retired + 1u; sequence != end; sequence++) {
		if (pb_core_in_flight_at(flight, sequence)->protected)
			return true;
	}
	return false;
}

/** The priority to serve: the highest that is ready, or one that has starved, unless another one's submission is protected now. */
/*@
  requires \valid(ready) && \valid_read(fair) && \valid(slice) && \separated(ready, fair, slice) && \valid_read(flight);
  requires pb_core_ready_sound(ready) && ready->priorities != 0;
  assigns ready->at[0 .. PB_PRIORITIES - 1].starvation, slice->protect;
  ensures ready: \result < PB_PRIORITIES && pb_core_has(ready->priorities, \result);
  // It is the highest, unless it has starved and repaid.
  ensures strict: (\forall integer bit; \result < bit < 32 ==> !pb_core_has(ready->priorities, bit)) ||
    (\old(ready->at[\result].starvation) == PB_LIMIT_STARVATION && fair->at[\result].repay_us == 0);
  ensures due: (\exists integer bit; \result < bit < 32 && pb_core_has(ready->priorities, bit)) ==>
    slice->protect && ready->at[\result].starvation == 0;
*/
static uint32_t priority_of(struct pb_core_ready *ready, const struct pb_core_fair *fair,
			    struct pb_core_timeslice *slice, struct pb_core_in_flight *flight, bool staged)
{
	const uint32_t top = highest(ready->priorities);

	/*@ assert bits: \forall integer bit; 0 <= bit < 32 && pb_core_has((1 << top) - 1, bit) ==> bit < top; */
	/*@ ghost uint32_t lower = (1u << top) - 1u; */
	/*@ assert lower: lower == (1 << top) - 1; */
	/*@ assert lower_bits: \forall integer bit; 0 <= bit < 32 && pb_core_has(lower, bit) ==> bit < top; */
	/*@
	  loop invariant below: \forall integer bit; 0 <= bit < 32 && pb_core_has(left, bit) ==> bit < top;
	  loop invariant ready: \forall integer bit; 0 <= bit < 32 && pb_core_has(left, bit) ==>
	    pb_core_has(ready->priorities, bit);
	  loop assigns left;
	  loop variant left;
	*/
	for (uint32_t left = ready->priorities & ((1u << top) - 1u); left != 0; left &= left - 1u) {
		const uint32_t priority = pb_bits_lowest(left);

		/*@ assert less: (left & (left - 1)) < left; */
		/*@ ghost uint32_t less = left - 1u; */
		/*@ assert fewer: \forall integer bit; 0 <= bit < 32 && pb_core_has(left & less, bit) ==> pb_core_has(left, bit); */
		/*@ assert less_than: less == left - 1; */
		/*@ assert priority: pb_core_has(left, priority) && priority < top && pb_core_has(ready->priorities, priority); */
		if (!is_due(&ready->at[priority], &fair->at[priority]) || has_protected(flight, staged))
			continue;
		pb_core_ready_served(ready, priority);
		pb_core_timeslice_protect(slice);
		return priority;
	}
	pb_core_ready_starve_below(ready, top);
	return top;
}

/** Begins the timeslice of the queue to serve. Pre: one is ready. */
static struct pb_core_queue *pick(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const uint32_t priority = priority_of(&node->ready, &node->fair, &node->slice, &node->flight,
					      node->staged.kind != PB_CORE_STAGED_NONE);
	const uint32_t channel =
		channel_of(firmware, &node->fair.at[priority], node->ready.at[priority].ready);

	return pb_core_timeslice_pick(firmware, node, priority, channel);
}

/** Whether other channels of the queue's priority wait, and its own has used up its share. */
static PB_CORE_INLINE bool is_share_used(const struct pb_core_node *node, const struct pb_core_queue *queue)
{
	const uint32_t priority = pb_core_queue_priority(queue);
	const uint32_t others = node->ready.at[priority].ready & ~(1u << queue->channel);

	return others != 0 && node->fair.at[priority].deficit[queue->channel] <= SHARE_LEFT;
}

static bool is_quantum_used(const struct pb_core_queue *queue, uint32_t used)
{
	return used >= queue->quantum * PB_CORE_QUANTUM_UNIT;
}

/** Whether other queues of the queue's channel and priority wait. */
static bool has_peers(const struct pb_core_node *node, const struct pb_core_queue *queue)
{
	return pb_core_ready_lists(&node->ready, pb_core_queue_priority(queue), queue->channel);
}

/** Whether a queue's timeslice is over when it has used so many microseconds: other queues of its priority wait. */
static bool is_over(const struct pb_core_node *node, const struct pb_core_queue *queue, uint32_t used)
{
	return is_share_used(node, queue) || (has_peers(node, queue) && is_quantum_used(queue, used));
}

/** Whether the queue that has the timeslice keeps it beside others that are ready. */
static bool keeps_timeslice(struct pb_core_node *node, const struct pb_core_queue *queue)
{
	const uint32_t priority = pb_core_queue_priority(queue);
	const uint32_t below = node->ready.priorities & ((1u << priority) - 1u);

	if (node->slice.protect)
		return true;
	if (pb_core_ready_above(&node->ready, priority) || is_over(node, queue, node->slice.used))
		return false;
	for (uint32_t left = below; left != 0; left &= left - 1u) {
		const uint32_t lower = pb_bits_lowest(left);

		if (is_due(&node->ready.at[lower], &node->fair.at[lower]))
			return has_protected(&node->flight, node->staged.kind != PB_CORE_STAGED_NONE);
	}
	return true;
}

/** Ends a timeslice: its queue goes to the end of its list, or to the front if only a higher priority goes first. */
static void end_timeslice(struct pb_firmware *firmware, struct pb_core_node *node,
			  struct pb_core_queue *queue)
{
	const uint32_t priority = pb_core_queue_priority(queue);
	int32_t *deficit = &node->fair.at[priority].deficit[queue->channel];
	const bool over = is_over(node, queue, node->slice.used);

	pb_core_timeslice_remove(firmware, node, queue);
	if (!pb_core_ring_has_more(queue)) {
		/* An idle flow keeps no credit. */
		if (!pb_core_ready_lists(&node->ready, priority, queue->channel) && *deficit > 0)
			*deficit = 0;
	} else if (over) {
		pb_core_ready_append(firmware->table.queues, &node->ready, queue);
	} else {
		pb_core_ready_prepend(firmware->table.queues, &node->ready, queue);
	}
}

/**
 * Whether the queue that has the timeslice keeps it, and its next submission starves no priority: no other one
 * is ready, and nothing of the timeslice or of its channel's share is used up.
 */
static inline bool keeps_undisputed(const struct pb_core_node *node, const struct pb_core_queue *queue)
{
	return (node->ready.priorities & ~(1u << pb_core_queue_priority(queue))) == 0 &&
	       !is_quantum_used(queue, node->slice.used) && !is_share_used(node, queue);
}

/** The queue to serve, where the timeslice may be over. */
static PB_CORE_STEP struct pb_core_queue *choose(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_queue *queue = node->slice.current;

	if (queue != NULL && pb_core_ring_has_more(queue) && keeps_timeslice(node, queue)) {
		/* A submission that waits for a job was counted before. */
		if (queue != node->asks.queue)
			pb_core_ready_starve_below(&node->ready, pb_core_queue_priority(queue));
		return queue;
	}
	if (!pb_core_ready_any(&node->ready))
		return NULL; /* the queue keeps its timeslice until another one is ready */
	if (queue != NULL)
		end_timeslice(firmware, node, queue);
	return pick(firmware, node);
}

static struct pb_core_queue *next(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_queue *queue = node->slice.current;

	if (queue != NULL && pb_core_ring_has_more(queue) && keeps_undisputed(node, queue))
		return queue;
	return choose(firmware, node);
}

/** Channels of a priority that use the node: in its lists, by its timeslice, or in flight. */
static PB_CORE_COLD uint32_t channels_at(struct pb_core_node *node, uint32_t priority)
{
	const struct pb_core_queue *current = node->slice.current;
	uint32_t channels = node->ready.at[priority].ready | node->flight.channels[priority];

	if (current != NULL && pb_core_queue_priority(current) == priority && pb_core_ring_has_more(current))
		channels |= 1u << current->channel;
	return channels;
}

/** Whether no other channel has queues ready, or submissions in flight, at the queue's priority. */
static inline bool uses_alone(const struct pb_core_node *node, const struct pb_core_queue *queue)
{
	const uint32_t priority = pb_core_queue_priority(queue);

	return ((node->ready.at[priority].ready | node->flight.channels[priority]) &
		~(1u << queue->channel)) == 0;
}

bool pb_core_fair_is_alone(struct pb_core_node *node, const struct pb_core_queue *queue)
{
	if (!uses_alone(node, queue))
		return false;
	return queue == node->slice.current ||
	       (channels_at(node, pb_core_queue_priority(queue)) & ~(1u << queue->channel)) == 0;
}

static void repay(struct pb_core_node *node, const struct pb_core_submission *submission,
		  uint32_t microseconds)
{
	const uint32_t priority = pb_core_queue_priority(submission->queue);

	if (submission->protected) {
		pb_core_repay_protected(node, priority, microseconds);
		return;
	}
	pb_core_repay(node, priority, microseconds);
}

/** As charge(), for every submission. */
static PB_CORE_STEP void charge_any(struct pb_core_node *node, const struct pb_core_submission *submission,
				    uint32_t elapsed)
{
	const uint32_t microseconds =
		elapsed < PB_CHARGE_MICROSECONDS_MAX ? elapsed : PB_CHARGE_MICROSECONDS_MAX;
	const struct pb_core_queue *queue = submission->queue;
	const uint32_t priority = pb_core_queue_priority(queue);
	struct pb_core_fair_level *level = &node->fair.at[priority];
	int32_t *deficit = &level->deficit[queue->channel];

	if (queue == node->slice.current)
		pb_core_timeslice_charge(&node->slice, microseconds);
	repay(node, submission, microseconds);
	/* A channel that is alone at its priority takes nothing from others. */
	if (!pb_core_fair_is_alone(node, queue) && *deficit > INT32_MIN / 2) {
		*deficit -= (int32_t)microseconds;
		level->charged |= (uint16_t)(1u << queue->channel);
	}
}

/** Fewer microseconds than this are no leap of the clock. A power of two. */
#define SHORT_CHARGE 0x2000000u
PB_STATIC_ASSERT(SHORT_CHARGE <= PB_CHARGE_MICROSECONDS_MAX, "a charge that is no leap is not cut");

/** @param elapsed microseconds; more than PB_CHARGE_MICROSECONDS_MAX counts as a leap of the clock, and as so many */
static void charge(struct pb_core_node *node, const struct pb_core_submission *submission, uint32_t elapsed)
{
	const struct pb_core_queue *queue = submission->queue;

	/* Nothing but the timeslice is charged if the channel is alone, and no priority repays anything. */
	if (queue == node->slice.current &&
	    (elapsed / SHORT_CHARGE | node->fair.repays | submission->protected) == 0 &&
	    uses_alone(node, queue))
		pb_core_timeslice_charge(&node->slice, elapsed);
	else
		charge_any(node, submission, elapsed);
}

/** Whether this submission, or one of its queue behind it, has failed: it stays in flight then (engine/recall.c). */
static bool is_followed_by_failed(struct pb_core_in_flight *flight, uint32_t sequence)
{
	const struct pb_core_queue *queue = pb_core_in_flight_at(flight, sequence)->queue;

	for (; sequence != flight->fed + 1u; sequence++) {
		const struct pb_core_submission *submission = pb_core_in_flight_at(flight, sequence);

		if (submission->queue == queue && submission->status != PB_ERROR_OK)
			return true;
	}
	return false;
}

/** Whether a submission of a lower priority is in flight that can make room for `staged`. */
static PB_CORE_COLD bool is_outranked(struct pb_core_node *node, const struct pb_core_submission *staged)
{
	const uint32_t priority = pb_core_queue_priority(staged->queue);
	bool lower = false;

	for (uint32_t sequence = node->flight.retired + 1u; sequence != node->flight.fed + 1u; sequence++) {
		const struct pb_core_submission *submission = pb_core_in_flight_at(&node->flight, sequence);

		if (submission->protected)
			return false;
		lower = lower || (pb_core_queue_priority(submission->queue) < priority &&
				  !is_followed_by_failed(&node->flight, sequence));
	}
	return lower;
}

/** Whether a submission of another queue, of this priority or above, may go behind the first one in the ring. */
static bool rivals(const struct pb_core_queue *queue, const struct pb_core_submission *submission)
{
	return submission->queue != queue && !pb_core_table_is_closing(submission->queue) &&
	       pb_core_queue_priority(submission->queue) >= pb_core_queue_priority(queue);
}

/** Whether a rival of the queue stands behind the first submission in the ring, or is staged. */
static bool is_followed(struct pb_core_node *node, const struct pb_core_queue *queue,
			const struct pb_core_submission *staged)
{
	for (uint32_t sequence = node->flight.retired + 2u; sequence != node->flight.fed + 1u; sequence++) {
		if (rivals(queue, pb_core_in_flight_at(&node->flight, sequence)))
			return true;
	}
	return staged != NULL && rivals(queue, staged);
}

/** Channels of a priority for which the engine can stop: those that use the node, and that of a staged submission. */
static uint32_t waiting_at(struct pb_core_node *node, uint32_t priority,
			   const struct pb_core_submission *staged)
{
	uint32_t channels = channels_at(node, priority);

	if (staged != NULL && node->staged.kind == PB_CORE_STAGED_READY &&
	    pb_core_queue_priority(staged->queue) == priority)
		channels |= 1u << staged->queue->channel;
	return channels;
}

/**
 * Whether a queue that runs has used up its channel's share, and other channels of its
 * priority wait. What is not charged yet counts. @param uncharged microseconds
 */
static bool is_running_share_used(struct pb_core_node *node, const struct pb_core_queue *queue,
				  const struct pb_core_submission *staged, uint32_t uncharged)
{
	const uint32_t priority = pb_core_queue_priority(queue);
	const int32_t deficit = node->fair.at[priority].deficit[queue->channel];

	if (deficit > SHARE_LEFT && (uint32_t)(deficit - SHARE_LEFT) > uncharged)
		return false;
	return (waiting_at(node, priority, staged) & ~(1u << queue->channel)) != 0;
}

/** Whether a tick stops the engine. */
static PB_CORE_COLD bool should_stop(struct pb_core_node *node, const struct pb_core_submission *staged,
				     uint32_t used)
{
	const struct pb_core_submission *head = pb_core_in_flight_head(&node->flight);
	const struct pb_core_queue *queue = head->queue;
	uint32_t quantum_used = used;

	/* A stop has charged it for some of its quantum: that is what its priority is to repay now. */
	if (head->protected)
		quantum_used += node->fair.at[pb_core_queue_priority(queue)].repay_us / PB_REPAY_TIMES;
	/* A protected submission keeps the staged slot from a higher priority than what runs: that must not have to end. */
	if (staged != NULL && staged->protected &&
	    pb_core_ready_above(&node->ready, pb_core_queue_priority(queue)))
		return true;
	/* What costs most is asked last. */
	if (is_quantum_used(queue, quantum_used) &&
	    (has_peers(node, queue) || is_followed(node, queue, staged) || head->protected))
		return true;
	return is_running_share_used(node, queue, staged,
				     used - (queue == node->slice.current ? node->slice.used : 0));
}

static bool has_expired(const struct pb_core_node *node, const struct pb_core_queue *queue, uint32_t used)
{
	return is_quantum_used(queue, used) && has_peers(node, queue);
}

static bool should_preempt(struct pb_core_node *node, const struct pb_core_submission *staged, uint32_t used)
{
	return used == 0 ? is_outranked(node, staged) : should_stop(node, staged, used);
}

static bool may_recall(const struct pb_core_node *node, const struct pb_core_submission *submission)
{
	return !submission->protected || submission->queue == node->slice.expired;
}

const struct pb_core_policy pb_core_policy_fair = {.next = next,
						   .charge = charge,
						   .is_over = has_expired,
						   .should_preempt = should_preempt,
						   .may_recall = may_recall};
