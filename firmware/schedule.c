/* SPDX-License-Identifier: MIT */
/*
 * Step 2: whose turn it is. A queue has its turn for a quantum of engine time,
 * then the next of its channel has; a channel has its turn until its weight's
 * worth is used up (deficit round robin: Shreedhar and Varghese, 1995), then
 * the next of its level has. Levels are strict, but for one submission after
 * PB_LIMIT_BYPASSES of more urgent ones. Queues without work are in no list.
 */
#include "firmware/core.h"
#include "hal/bits.h"

/*@
  // Whether a bit of a mask is set.
  predicate has(integer mask, integer bit) = ((mask >> bit) & 1) == 1;
  // Every level that is ready is a level.
  predicate has_levels(struct pb_core_node *node) =
    \forall integer level; PB_PRIORITIES <= level < 32 ==> !has(node->levels, level);
*/
/*@
  requires mask != 0;
  assigns \nothing;
  ensures \result < 32 && has(mask, \result);
  ensures \forall integer bit; \result < bit < 32 ==> !has(mask, bit);
*/
static uint32_t highest(uint32_t mask)
{
	return 31u - (uint32_t)__builtin_clz(mask);
}

/** Works out which of a level's channels are ready: those that have queues listed and are not held. */
static void update(struct pb_core_node *node, uint32_t level)
{
	node->level[level].ready = (uint16_t)(node->level[level].listed & ~node->held);
	if (node->level[level].ready != 0) {
		node->levels |= 1u << level;
		return;
	}
	node->levels &= ~(1u << level);
	node->level[level].bypassed = 0;
}

static void append(struct pb_firmware *firmware, struct pb_core_node *node, struct pb_core_queue *queue)
{
	const uint32_t level = pb_core_queue_level(queue);
	struct pb_core_flow *flow = &node->level[level].flows[queue->channel];
	const uint16_t index = pb_core_queue_index(firmware, queue);

	pb_core_queue_set_place(queue, PB_CORE_PLACE_LISTED);
	queue->next = PB_CORE_NO_QUEUE;
	queue->prev = flow->tail;
	if (flow->head == PB_CORE_NO_QUEUE)
		flow->head = index;
	else
		firmware->queues[flow->tail].next = index;
	flow->tail = index;
	node->level[level].listed |= (uint16_t)(1u << queue->channel);
	update(node, level);
}

static void prepend(struct pb_firmware *firmware, struct pb_core_node *node, struct pb_core_queue *queue)
{
	const uint32_t level = pb_core_queue_level(queue);
	struct pb_core_flow *flow = &node->level[level].flows[queue->channel];
	const uint16_t index = pb_core_queue_index(firmware, queue);

	pb_core_queue_set_place(queue, PB_CORE_PLACE_LISTED);
	queue->next = flow->head;
	queue->prev = PB_CORE_NO_QUEUE;
	if (flow->head == PB_CORE_NO_QUEUE)
		flow->tail = index;
	else
		firmware->queues[flow->head].prev = index;
	flow->head = index;
	node->level[level].listed |= (uint16_t)(1u << queue->channel);
	update(node, level);
}

static void unlink_listed(struct pb_firmware *firmware, struct pb_core_node *node,
			  struct pb_core_queue *queue)
{
	const uint32_t level = pb_core_queue_level(queue);
	struct pb_core_flow *flow = &node->level[level].flows[queue->channel];

	if (queue->prev == PB_CORE_NO_QUEUE)
		flow->head = queue->next;
	else
		firmware->queues[queue->prev].next = queue->next;
	if (queue->next == PB_CORE_NO_QUEUE)
		flow->tail = queue->prev;
	else
		firmware->queues[queue->next].prev = queue->prev;
	pb_core_queue_set_place(queue, PB_CORE_PLACE_NONE);
	if (flow->head != PB_CORE_NO_QUEUE)
		return;
	node->level[level].listed &= (uint16_t) ~(1u << queue->channel);
	update(node, level);
}

void pb_core_schedule_append(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	append(firmware, &firmware->nodes[queue->node], queue);
	PB_CORE_TRACE_QUEUE(firmware, SUBMIT, queue, queue->put, queue->completed);
}

void pb_core_schedule_return(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	struct pb_core_node *node = &firmware->nodes[queue->node];

	firmware->awake |= 1u << queue->node;
	/* It may have begun to wait for what is behind that work, or even for that work. */
	pb_core_wait_leave(firmware, queue);
	if (pb_core_queue_place(queue) != PB_CORE_PLACE_NONE)
		return;
	if (queue == node->expired)
		append(firmware, node, queue);
	else
		prepend(firmware, node, queue);
}

void pb_core_schedule_remove(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	struct pb_core_node *node = &firmware->nodes[queue->node];

	if (pb_core_queue_place(queue) == PB_CORE_PLACE_LISTED) {
		unlink_listed(firmware, node, queue);
	} else if (pb_core_queue_place(queue) == PB_CORE_PLACE_CURRENT) {
		node->current = NULL;
		node->guard = false;
		pb_core_queue_set_place(queue, PB_CORE_PLACE_NONE);
	}
}

void pb_core_schedule_hold(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_queue *current = node->current;

	node->held = node->halted | firmware->closing | (firmware->suspended ? UINT32_MAX : 0);
	if (current != NULL && (node->held >> current->channel & 1u) != 0) {
		pb_core_schedule_remove(firmware, current);
		if (pb_core_queue_has_more(current))
			prepend(firmware, node, current);
	}
	for (uint32_t level = 0; level < PB_PRIORITIES; level++) {
		if (node->level[level].listed != 0)
			update(node, level);
	}
	firmware->awake |= node->bit;
}

static int32_t share(const struct pb_firmware *firmware, uint32_t channel)
{
	return (int32_t)(firmware->channels[channel].weight * PB_QUANTUM_MICROSECONDS);
}

/** After a round in which nobody came out of debt: as many rounds at once as it takes the first one. */
static void forgive(const struct pb_firmware *firmware, struct pb_core_level *level)
{
	int32_t rounds = INT32_MAX;

	for (uint32_t left = level->ready; left != 0; left &= left - 1u) {
		const uint32_t channel = pb_bits_lowest(left);
		const int32_t takes = -level->flows[channel].deficit / share(firmware, channel);

		rounds = takes < rounds ? takes : rounds;
	}
	for (uint32_t left = level->ready; left != 0; left &= left - 1u) {
		const uint32_t channel = pb_bits_lowest(left);

		level->flows[channel].deficit += rounds * share(firmware, channel);
	}
}

/** The channel whose turn it is now. */
static uint32_t turn_of(const struct pb_firmware *firmware, struct pb_core_level *level)
{
	const uint32_t ready = level->ready;
	uint32_t channel = level->turn;

	if ((ready >> channel & 1u) != 0 && level->flows[channel].deficit > 0)
		return channel;
	for (uint32_t step = 1;; step++) {
		const uint32_t behind = ready & ~((2u << channel) - 1u);

		channel = pb_bits_lowest(behind != 0 ? behind : ready);
		level->flows[channel].deficit += share(firmware, channel);
		if (level->flows[channel].deficit > 0)
			break;
		if (step == PB_LIMIT_CHANNELS)
			forgive(firmware, level);
	}
	level->turn = (uint8_t)channel;
	return channel;
}

/** Levels below the one that is served were passed by once more. */
/*@
  requires \valid(node) && has_levels(node) && level < PB_PRIORITIES;
  assigns node->level[0 .. PB_PRIORITIES - 1].bypassed;
  ensures above: \forall integer i; level <= i < PB_PRIORITIES ==>
    node->level[i].bypassed == \old(node->level[i].bypassed);
*/
static void count_bypasses(struct pb_core_node *node, uint32_t level)
{
	/*@ assert bits: \forall integer bit; 0 <= bit < 32 && has((1 << level) - 1, bit) ==> bit < level; */
	/*@ ghost uint32_t lower = (1u << level) - 1u; */
	/*@ assert lower: lower == (1 << level) - 1; */
	/*@ assert lower_bits: \forall integer bit; 0 <= bit < 32 && has(lower, bit) ==> bit < level; */
	/*@
	  loop invariant below: \forall integer bit; 0 <= bit < 32 && has(left, bit) ==> bit < level;
	  loop invariant above: \forall integer i; level <= i < PB_PRIORITIES ==>
	    node->level[i].bypassed == \at(node->level[i].bypassed, Pre);
	  loop assigns left, node->level[0 .. PB_PRIORITIES - 1].bypassed;
	  loop variant left;
	*/
	for (uint32_t left = node->levels & ((1u << level) - 1u); left != 0; left &= left - 1u) {
		/*@ assert less: (left & (left - 1)) < left; */
		/*@ ghost uint32_t less = left - 1u; */
		/*@ assert fewer: \forall integer bit; 0 <= bit < 32 && has(left & less, bit) ==> has(left, bit); */
		/*@ assert less_than: less == left - 1; */
		struct pb_core_level *below = &node->level[pb_bits_lowest(left)];

		if (below->bypassed < PB_LIMIT_BYPASSES)
			below->bypassed++;
	}
}

/** Whether a level was passed by too often, and more urgent ones have had their time since that was so last. */
/*@
  requires \valid_read(level);
  assigns \nothing;
  ensures \result <==> level->bypassed == PB_LIMIT_BYPASSES && level->owed == 0;
*/
static bool is_due(const struct pb_core_level *level)
{
	return level->bypassed == PB_LIMIT_BYPASSES && level->owed == 0;
}

/** The level to serve: the highest, or one that was passed by too often. */
/*@
  requires \valid(node) && has_levels(node) && node->levels != 0;
  assigns node->level[0 .. PB_PRIORITIES - 1].bypassed, node->guard;
  ensures ready: \result < PB_PRIORITIES && has(node->levels, \result);
  // It is the highest, unless it was passed by as often as a level may be, and owes nothing.
  ensures turn: (\forall integer bit; \result < bit < 32 ==> !has(node->levels, bit)) ||
    (\old(node->level[\result].bypassed) == PB_LIMIT_BYPASSES && node->level[\result].owed == 0);
  ensures due: (\exists integer bit; \result < bit < 32 && has(node->levels, bit)) ==>
    node->guard && node->level[\result].bypassed == 0;
*/
static uint32_t level_of(struct pb_core_node *node)
{
	const uint32_t top = highest(node->levels);

	/*@ assert bits: \forall integer bit; 0 <= bit < 32 && has((1 << top) - 1, bit) ==> bit < top; */
	/*@ ghost uint32_t lower = (1u << top) - 1u; */
	/*@ assert lower: lower == (1 << top) - 1; */
	/*@ assert lower_bits: \forall integer bit; 0 <= bit < 32 && has(lower, bit) ==> bit < top; */
	/*@
	  loop invariant below: \forall integer bit; 0 <= bit < 32 && has(left, bit) ==> bit < top;
	  loop invariant ready: \forall integer bit; 0 <= bit < 32 && has(left, bit) ==> has(node->levels, bit);
	  loop assigns left;
	  loop variant left;
	*/
	for (uint32_t left = node->levels & ((1u << top) - 1u); left != 0; left &= left - 1u) {
		const uint32_t level = pb_bits_lowest(left);

		/*@ assert less: (left & (left - 1)) < left; */
		/*@ ghost uint32_t less = left - 1u; */
		/*@ assert fewer: \forall integer bit; 0 <= bit < 32 && has(left & less, bit) ==> has(left, bit); */
		/*@ assert less_than: less == left - 1; */
		/*@ assert level: has(left, level) && level < top && has(node->levels, level); */
		if (!is_due(&node->level[level]))
			continue;
		node->level[level].bypassed = 0;
		node->guard = true;
		return level;
	}
	count_bypasses(node, top);
	return top;
}

static struct pb_core_queue *pick(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const uint32_t level = level_of(node);
	const uint32_t channel = turn_of(firmware, &node->level[level]);
	struct pb_core_queue *queue = &firmware->queues[node->level[level].flows[channel].head];

	unlink_listed(firmware, node, queue);
	pb_core_schedule_begin_turn(node, queue);
	return queue;
}

bool pb_core_schedule_turn_over(const struct pb_core_node *node, const struct pb_core_queue *queue,
				uint32_t used)
{
	const struct pb_core_level *level = &node->level[pb_core_queue_level(queue)];
	const struct pb_core_flow *flow = &level->flows[queue->channel];

	if ((level->ready & ~(1u << queue->channel)) != 0 && flow->deficit <= 0)
		return true;
	return flow->head != PB_CORE_NO_QUEUE && used >= queue->quantum * PB_CORE_QUANTUM_UNIT;
}

/** Whether the queue that has its turn goes on with it, beside others. */
static bool goes_on(const struct pb_core_node *node, const struct pb_core_queue *queue)
{
	const uint32_t level = pb_core_queue_level(queue);
	const uint32_t below = node->levels & ((1u << level) - 1u);

	if (node->guard)
		return true;
	if (node->levels >> level > 1u || pb_core_schedule_turn_over(node, queue, node->used))
		return false;
	for (uint32_t left = below; left != 0; left &= left - 1u) {
		if (is_due(&node->level[pb_bits_lowest(left)]))
			return false;
	}
	return true;
}

/** Its turn ends; it comes last, or first again if only a more urgent one goes before it. */
static void end_turn(struct pb_firmware *firmware, struct pb_core_node *node, struct pb_core_queue *queue)
{
	struct pb_core_flow *flow = &node->level[pb_core_queue_level(queue)].flows[queue->channel];
	const bool over = pb_core_schedule_turn_over(node, queue, node->used);

	pb_core_schedule_remove(firmware, queue);
	if (!pb_core_queue_has_more(queue)) {
		/* Who has nothing to do saves nothing up. */
		if (flow->head == PB_CORE_NO_QUEUE && flow->deficit > 0)
			flow->deficit = 0;
	} else if (over) {
		append(firmware, node, queue);
	} else {
		prepend(firmware, node, queue);
	}
}

static __attribute__((noinline)) struct pb_core_queue *choose(struct pb_firmware *firmware,
							      struct pb_core_node *node)
{
	struct pb_core_queue *queue = node->current;

	if (queue != NULL && pb_core_queue_has_more(queue) && goes_on(node, queue)) {
		count_bypasses(node, pb_core_queue_level(queue));
		return queue;
	}
	if (node->levels == 0)
		return NULL; /* it keeps its turn, until another queue has work */
	if (queue != NULL)
		end_turn(firmware, node, queue);
	return node->levels != 0 ? pick(firmware, node) : NULL;
}

struct pb_core_queue *pb_core_schedule_take(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_queue *queue = node->current;

	if (queue != NULL && node->levels == 0 && pb_core_queue_has_more(queue))
		return queue;
	return choose(firmware, node);
}

/** Channels of a level that have work on the node: in its lists, in its turn, or fed. */
static uint32_t channels_at(struct pb_core_node *node, uint32_t level)
{
	const struct pb_core_queue *current = node->current;
	uint32_t channels = node->level[level].ready;

	if (current != NULL && pb_core_queue_level(current) == level && pb_core_queue_has_more(current))
		channels |= 1u << current->channel;
	for (uint32_t sequence = node->retired + 1u; sequence != node->fed + 1u; sequence++) {
		const struct pb_core_queue *queue = pb_core_work_at(node, sequence)->queue;

		if (pb_core_queue_level(queue) == level)
			channels |= 1u << queue->channel;
	}
	return channels;
}

/** Work that went before more urgent levels owes them a multiple of its time; theirs pays off what others owe. */
static void settle(struct pb_core_node *node, const struct pb_core_work *work, uint32_t microseconds)
{
	const uint32_t level = pb_core_queue_level(work->queue);
	const uint32_t most = (UINT32_MAX - node->level[level].owed) / PB_BYPASS_TIMES;

	if (work->guarded)
		node->level[level].owed += (microseconds < most ? microseconds : most) * PB_BYPASS_TIMES;
	for (uint32_t below = 0; below < level; below++) {
		uint32_t *owed = &node->level[below].owed;

		*owed -= microseconds < *owed ? microseconds : *owed;
	}
}

void pb_core_schedule_charge(struct pb_core_node *node, const struct pb_core_work *work,
			     uint32_t microseconds)
{
	const struct pb_core_queue *queue = work->queue;
	const uint32_t level = pb_core_queue_level(queue);
	struct pb_core_flow *flow = &node->level[level].flows[queue->channel];

	if (queue == node->current)
		node->used += microseconds;
	settle(node, work, microseconds);
	/* Who is alone at its level owes nothing to anybody. */
	if ((channels_at(node, level) & ~(1u << queue->channel)) != 0 && flow->deficit > INT32_MIN / 2)
		flow->deficit -= (int32_t)microseconds;
}
