/* SPDX-License-Identifier: MIT */
#include "tests/sim/strategy.h"

#include <stdio.h>
#include <string.h>

/* The queues of a rival, by index. */
#define CHAIN_AT    4u
#define CHAIN_MAX   360u
#define FLIP_AT     370u
#define FLIP_PAIRS  20u
#define FAN_AT      412u
#define FAN_TARGETS 10u
#define FAN_MAX     28u
#define CHURN_AT    450u
#define CHURN_MAX   8u
#define REUSE_AT    460u
#define HOARD_AT    464u
#define CYCLE_AT    504u
#define IDLE_AT     508u
#define TRAIN_AT    512u
#define SHIELD_AT   516u
#define WRONG_AT    520u
#define CREDIT_AT   524u
#define LOW_AT      532u
#define LOW_LEVELS  3u
/** How often a rival acts for CREDIT before it uses what it has saved: for some 150 ms. */
#define CREDIT_ACTS 2800u
/** In most contests no client works on it, so that what happens there happens at once. */
#define QUIET_NODE (PB_CARD_NODES - 1u)

PB_STATIC_ASSERT(CHAIN_AT + CHAIN_MAX <= FLIP_AT && FAN_AT + FAN_TARGETS + FAN_MAX <= CHURN_AT &&
			 LOW_AT + LOW_LEVELS * PB_CARD_NODES <= PB_PLAYER_QUEUES,
		 "the strategies have queues of their own");

static bool is_open(const struct pb_rival *rival, uint32_t q)
{
	return rival->player.queues[q].open && !rival->player.queues[q].asked;
}

static uint32_t handle_of(const struct pb_rival *rival, uint32_t q)
{
	return rival->player.queues[q].handle;
}

/** Creates the queue if it does not exist. @return true: it is open */
static bool want_at(struct pb_rival *rival, uint32_t q, uint32_t node, uint32_t priority)
{
	if (is_open(rival, q))
		return true;
	(void)pb_player_create(&rival->player, q, node, priority);
	return false;
}

static bool want(struct pb_rival *rival, uint32_t q, uint32_t node)
{
	return want_at(rival, q, node, rival->priority);
}

static bool submit(struct pb_rival *rival, uint32_t q, enum pb_player_program program, uint32_t patches)
{
	return pb_player_submit(&rival->player, q,
				&(struct pb_player_submission){.program = program, .patches = patches});
}

/** Has queue q wait for a timeline value of queue `target`, `ahead` of its last submission. */
static bool submit_waiting(struct pb_rival *rival, uint32_t q, uint32_t target, uint64_t ahead)
{
	return pb_player_submit(&rival->player, q,
				&(struct pb_player_submission){
					.program = PB_PLAYER_EMPTY,
					.awaited = handle_of(rival, target),
					.awaited_time = rival->player.queues[target].timeline + ahead});
}

/** Fills the rings of all nodes. */
static void fill(struct pb_rival *rival, enum pb_player_program program, uint32_t patches)
{
	for (uint32_t n = 0; n < rival->nodes; n++) {
		while (want(rival, n, n) && submit(rival, n, program, patches))
			continue;
	}
}

/** Builds the chain from its end: each new queue waits for the one before, which waits in turn. */
static void extend_chain(struct pb_rival *rival, struct pb_random *random)
{
	const uint32_t last = CHAIN_AT + rival->chain - 1u;

	for (uint32_t more = 0; rival->linked < rival->chain && more < 4u; more++) {
		const uint32_t q = CHAIN_AT + rival->linked;

		if (!want(rival, q, QUIET_NODE) ||
		    (rival->linked != 0 && !submit_waiting(rival, q, q - 1u, 1)))
			return;
		rival->linked++;
	}
	/* More links come, on all nodes, and go. */
	for (uint32_t n = 0; n < rival->nodes && rival->linked == rival->chain; n++) {
		if (want(rival, last + 1u + n, n) && !submit_waiting(rival, last + 1u + n, last, 1) &&
		    pb_random_one_in(random, 4))
			(void)pb_player_destroy(&rival->player, last + 1u + n);
	}
}

/** Pairs of queues: one waits for the other, which reaches the value at once. */
static void flip(struct pb_rival *rival, struct pb_random *random)
{
	for (uint32_t q = FLIP_AT; q < FLIP_AT + 2u * FLIP_PAIRS; q += 2u) {
		/* They take turns, so that one of them begins or ends all the time. */
		if (pb_random_one_in(random, 2))
			continue;
		if (!want(rival, q, QUIET_NODE) || !want(rival, q + 1u, QUIET_NODE))
			return;
		if (pb_player_outstanding(&rival->player, q + 1u) < 2u)
			(void)submit_waiting(rival, q + 1u, q, 1);
		else
			(void)submit(rival, q, PB_PLAYER_EMPTY, 0);
	}
}

/** Many queues wait for a few, which are all signalled at the same time. */
static void fan(struct pb_rival *rival, struct pb_random *random)
{
	bool all = true;

	for (uint32_t i = 0; i < FAN_TARGETS; i++)
		all = want(rival, FAN_AT + i, QUIET_NODE) && all;
	for (uint32_t i = 0; i < FAN_MAX; i++) {
		const uint32_t q = FAN_AT + FAN_TARGETS + i;

		if (all && want(rival, q, i % rival->nodes) && pb_player_outstanding(&rival->player, q) < 2u)
			(void)submit_waiting(rival, q, FAN_AT + i % FAN_TARGETS,
					     1u + pb_random_below(random, 2));
	}
	for (uint32_t i = 0; i < FAN_TARGETS && all; i++)
		(void)submit(rival, FAN_AT + i, PB_PLAYER_EMPTY, 0);
}

static void churn(struct pb_rival *rival, struct pb_random *random)
{
	const uint32_t q = CHURN_AT + pb_random_below(random, CHURN_MAX);

	if (!want(rival, q, pb_random_below(random, rival->nodes)))
		return;
	if (is_open(rival, CHAIN_AT + rival->chain - 1u) && pb_random_one_in(random, 2))
		(void)submit_waiting(rival, q, CHAIN_AT + rival->chain - 1u, 1);
	else
		(void)submit(rival, q, pb_random_one_in(random, 2) ? PB_PLAYER_WORK : PB_PLAYER_BRIEF,
			     pb_random_below(random, rival->patches + 1u));
	if (pb_random_one_in(random, 2))
		(void)pb_player_destroy(&rival->player, q);
}

/** Wakes a queue and destroys it as it wakes. The queue that is created next gets its slot. */
static void reuse(struct pb_rival *rival, struct pb_random *random)
{
	const bool target = want(rival, REUSE_AT, QUIET_NODE);
	const bool waiter = want(rival, REUSE_AT + 1u, pb_random_below(random, rival->nodes));

	if (!target || !waiter)
		return;
	if (pb_player_outstanding(&rival->player, REUSE_AT + 1u) == 0) {
		(void)submit_waiting(rival, REUSE_AT + 1u, REUSE_AT, 1);
		rival->awaited = rival->player.queues[REUSE_AT].timeline + 1u;
		return;
	}
	if (rival->player.queues[REUSE_AT].timeline < rival->awaited)
		(void)submit(rival, REUSE_AT, PB_PLAYER_EMPTY, 0);
	else if (pb_random_one_in(random, 2))
		(void)pb_player_destroy(&rival->player, REUSE_AT + pb_random_below(random, 2));
}

/** Queues that wait for each other behind a submission that runs: the one that closes the cycle fails, and wakes more. */
static void cycle(struct pb_rival *rival, struct pb_random *random)
{
	bool all = true;

	for (uint32_t i = 0; i < 3u; i++)
		all = want(rival, CYCLE_AT + i, QUIET_NODE) && all;
	if (!all)
		return;
	if (rival->cycle == 0)
		(void)submit(rival, CYCLE_AT, pb_random_one_in(random, 2) ? PB_PLAYER_WORK : PB_PLAYER_BRIEF,
			     0);
	if (rival->cycle == 1u)
		(void)submit_waiting(rival, CYCLE_AT, CYCLE_AT + 1u, 100);
	if (rival->cycle == 2u && pb_random_one_in(random, 12))
		(void)submit_waiting(rival, CYCLE_AT + 1u, CYCLE_AT, 50);
	else if (rival->cycle == 2u)
		return;
	if (rival->cycle == 3u)
		(void)submit_waiting(rival, CYCLE_AT + 2u, CYCLE_AT, 60);
	rival->cycle++;
	for (uint32_t i = 0; i < 3u && rival->cycle > 60u; i++)
		(void)pb_player_destroy(&rival->player, CYCLE_AT + i);
	if (rival->cycle > 60u)
		rival->cycle = 0;
}

/** A random queue of the first ones, which is open. @return NULL: none */
static const struct pb_player_queue *any_queue(const struct pb_rival *rival, struct pb_random *random)
{
	const uint32_t q = pb_random_below(random, pb_random_one_in(random, 2) ? 4u : PB_PLAYER_QUEUES);

	return is_open(rival, q) ? &rival->player.queues[q] : NULL;
}

static void kick(struct pb_rival *rival, struct pb_random *random)
{
	struct pb_client *client = &rival->player.client;

	for (uint32_t i = 0; i < 32u; i++) {
		const struct pb_player_queue *queue = any_queue(rival, random);

		if (client->kick_put - pb_shared_read32(&client->entry->kick_get) >=
		    PB_LIMIT_KICK_ENTRIES - 1u)
			break;
		if (queue != NULL)
			pb_client_kick(client, queue->handle);
	}
	pb_world_doorbell(client->world, client->channel);
}

/** Stops the engine inside whatever it runs, for a queue that has nothing to return. */
static void preempt_idle(struct pb_rival *rival)
{
	for (uint32_t n = 0; n < rival->nodes; n++) {
		if (want(rival, IDLE_AT + n, n) &&
		    !pb_client_asks(&rival->player.client, PB_COMMAND_PREEMPT, IDLE_AT + n))
			(void)pb_client_post(
				&rival->player.client, PB_COMMAND_PREEMPT, IDLE_AT + n,
				(uint32_t[]){handle_of(rival, IDLE_AT + n), 0, 7, PB_STOP_INSIDE}, 4);
	}
}

static void stop(struct pb_rival *rival, struct pb_random *random)
{
	static const uint32_t codes[] = {PB_COMMAND_PREEMPT, PB_COMMAND_PREEMPT, PB_COMMAND_SUSPEND,
					 PB_COMMAND_RESUME,  PB_COMMAND_RESUME,  PB_COMMAND_RESET};

	for (uint32_t i = 0; i < 4u; i++) {
		const uint32_t code = codes[pb_random_below(random, 6)];
		const struct pb_player_queue *queue = any_queue(rival, random);
		const uint32_t flags = pb_random_below(random, 4);

		if (queue == NULL)
			continue;
		if (code == PB_COMMAND_RESET)
			(void)pb_client_post(&rival->player.client, code, PB_PLAYER_QUEUES - 1u,
					     (uint32_t[]){queue->node, queue->handle, queue->put}, 3);
		else
			(void)pb_client_post(&rival->player.client, code, PB_PLAYER_QUEUES - 1u,
					     (uint32_t[]){queue->handle, queue->put,
							  code == PB_COMMAND_SUSPEND ? flags : 7u, flags},
					     4);
	}
}

static void query(struct pb_rival *rival, struct pb_random *random)
{
	struct pb_client *client = &rival->player.client;

	while (pb_client_open_questions(client) < PB_LIMIT_CONTROL_ENTRIES - 2u) {
		const struct pb_player_queue *queue = any_queue(rival, random);

		if (pb_random_one_in(random, 8))
			(void)pb_client_post(client, PB_COMMAND_CONTEXT_CLEAR, 0, &rival->player.context, 1);
		else
			(void)pb_client_post(
				client, PB_COMMAND_QUERY, 0,
				(uint32_t[]){PB_QUERY_QUEUE, queue != NULL ? queue->handle : 0, 0}, 3);
	}
}

static void hoard(struct pb_rival *rival, struct pb_random *random)
{
	for (uint32_t i = 0; i < 4u; i++)
		(void)want(rival, HOARD_AT + pb_random_below(random, CYCLE_AT - HOARD_AT),
			   pb_random_below(random, rival->nodes));
	if (pb_random_one_in(random, 4))
		(void)pb_client_post(&rival->player.client, PB_COMMAND_CONTEXT_CREATE, 0, NULL, 0);
}

/** The firmware takes three submissions ahead, so that the ring is empty then. */
static void train(struct pb_rival *rival)
{
	for (uint32_t n = 0; n < rival->nodes; n++) {
		const uint32_t q = TRAIN_AT + n;

		if (!want(rival, q, n) || pb_player_outstanding(&rival->player, q) != 0)
			continue;
		for (uint32_t i = 0; i < 3u; i++)
			(void)submit(rival, q, PB_PLAYER_LONG, 0);
	}
}

static void shield(struct pb_rival *rival)
{
	for (uint32_t n = 0; n < rival->nodes; n++) {
		const uint32_t q = SHIELD_AT + n;

		while (want(rival, q, n) && submit(rival, q, PB_PLAYER_LONG, 0))
			continue;
		if (is_open(rival, q) && !pb_client_asks(&rival->player.client, PB_COMMAND_PREEMPT, q))
			(void)pb_client_post(
				&rival->player.client, PB_COMMAND_PREEMPT, q,
				(uint32_t[]){handle_of(rival, q), rival->player.queues[q].put, 9, 0}, 4);
	}
}

static void submit_wrong(struct pb_rival *rival)
{
	for (uint32_t n = 0; n < rival->nodes; n++) {
		const uint32_t q = WRONG_AT + n;

		if (!want(rival, q, n) || pb_player_outstanding(&rival->player, q) != 0)
			continue;
		(void)submit(rival, q, PB_PLAYER_LONG, 0);
		(void)pb_player_submit(
			&rival->player, q,
			&(struct pb_player_submission){.program = PB_PLAYER_BRIEF, .wrong = true});
	}
}

/**
 * Is served and waits again, so that it might save what it does not use; later it uses that. What it waits for is on the last
 * node, where in most contests no client works: elsewhere the channel has nothing while it waits.
 */
static void save_credit(struct pb_rival *rival)
{
	const bool saves = rival->saved < CREDIT_ACTS;
	const uint32_t last = rival->nodes - 1u;

	rival->saved += saves;
	for (uint32_t n = 0; n < last; n++) {
		const uint32_t q = CREDIT_AT + 2u * n;
		const bool waits = want(rival, q, n);
		const bool all = want(rival, q + 1u, last) && waits;
		const uint32_t outstanding = pb_player_outstanding(&rival->player, q);

		/* One of two waits is over at a time: served for a moment, the queue waits again and is never empty. */
		if (all && saves && outstanding < 2u)
			(void)submit_waiting(rival, q, q + 1u, 1u + outstanding);
		else if (all && rival->player.queues[q + 1u].timeline == pb_player_reached(&rival->player, q))
			(void)submit(rival, q + 1u, PB_PLAYER_EMPTY, 0);
		while (all && !saves && submit(rival, q, PB_PLAYER_LONG, 0))
			continue;
	}
}

static void fill_below(struct pb_rival *rival)
{
	for (uint32_t i = 0; i < LOW_LEVELS * rival->nodes; i++) {
		const uint32_t q = LOW_AT + i;

		while (want_at(rival, q, i % rival->nodes, PB_PRIORITY_IDLE + i / rival->nodes) &&
		       submit(rival, q, PB_PLAYER_LONG, 0))
			continue;
	}
}

static void hang(struct pb_rival *rival, struct pb_random *random)
{
	const uint32_t n = pb_random_below(random, rival->nodes);

	if (pb_random_one_in(random, 400) && want(rival, n, n))
		(void)submit(rival, n, PB_PLAYER_HANG, 0);
	/* It goes on, for the context is cleared. */
	if (pb_random_one_in(random, 16))
		(void)pb_client_post(&rival->player.client, PB_COMMAND_CONTEXT_CLEAR, 0,
				     &rival->player.context, 1);
}

/** PB_STRATEGIES_LONG */
static void act_long(struct pb_rival *rival)
{
	const uint32_t all = rival->strategies;

	if ((all & PB_STRATEGY_LONG) != 0)
		fill(rival, PB_PLAYER_LONG, 0);
	if ((all & PB_STRATEGY_TRAIN) != 0)
		train(rival);
	if ((all & PB_STRATEGY_SHIELD) != 0)
		shield(rival);
	if ((all & PB_STRATEGY_WRONG) != 0)
		submit_wrong(rival);
	if ((all & PB_STRATEGY_CREDIT) != 0)
		save_credit(rival);
	if ((all & PB_STRATEGY_LOW) != 0)
		fill_below(rival);
}

void pb_strategy_act(struct pb_rival *rival, struct pb_random *random)
{
	const uint32_t all = rival->strategies;

	pb_player_read(&rival->player, NULL, NULL);
	if ((all & PB_STRATEGY_HANGS) != 0)
		hang(rival, random);
	if ((all & PB_STRATEGY_LISTS) != 0)
		fill(rival, PB_PLAYER_BRIEF, rival->patches);
	if ((all & PB_STRATEGY_WORK) != 0)
		fill(rival, PB_PLAYER_WORK, 4);
	act_long(rival);
	if ((all & PB_STRATEGY_CHAIN) != 0)
		extend_chain(rival, random);
	if ((all & PB_STRATEGY_FLIPS) != 0)
		flip(rival, random);
	if ((all & PB_STRATEGY_FANOUT) != 0)
		fan(rival, random);
	if ((all & PB_STRATEGY_CHURN) != 0)
		churn(rival, random);
	if ((all & PB_STRATEGY_REUSE) != 0)
		reuse(rival, random);
	if ((all & PB_STRATEGY_CYCLES) != 0)
		cycle(rival, random);
	if ((all & PB_STRATEGY_KICKS) != 0)
		kick(rival, random);
	if ((all & PB_STRATEGY_STOPS) != 0)
		stop(rival, random);
	if ((all & PB_STRATEGY_IDLE) != 0)
		preempt_idle(rival);
	if ((all & PB_STRATEGY_QUERIES) != 0)
		query(rival, random);
	if ((all & PB_STRATEGY_HOARD) != 0)
		hoard(rival, random);
}

#define NAME(name, text, meaning) [PB_STRATEGY_BIT_##name] = text,
static const char *const names[PB_STRATEGY_COUNT] = {PB_STRATEGIES(NAME)};
#undef NAME

bool pb_strategy_find(const char *name, uint32_t *bit)
{
	for (uint32_t i = 0; i < PB_STRATEGY_COUNT; i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		*bit = 1u << i;
		return true;
	}
	return false;
}

void pb_strategy_print(uint32_t strategies, char *text, size_t bytes)
{
	text[0] = '\0';
	for (uint32_t i = 0; i < PB_STRATEGY_COUNT; i++) {
		const size_t used = strlen(text);

		if ((strategies >> i & 1u) != 0)
			snprintf(text + used, bytes - used, "%s%s", used == 0 ? "" : ",", names[i]);
	}
}
