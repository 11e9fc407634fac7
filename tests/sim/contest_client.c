/* SPDX-License-Identifier: MIT */
#include "tests/sim/contest_client.h"

#include <stdio.h>

#include "patchbay/abi/errors.h"

/* The queues of a judged client: one with the client's work on each node, then these. */
#define WAITING_QUEUE 4u
#define SIGNAL_QUEUE  5u
#define URGENT_QUEUE  6u
#define CLOSING_QUEUE 7u
/** A wake, a reply or a preemption takes the MCU at most so long, in microseconds, whatever others do. */
#define ANSWER_US 12000u
/** Of the engine's time, in permille, that clients may lose to the MCU. */
#define LOSS 100u
/** Entries of the patch lists of its work. */
#define PATCHES 4u

/** Of the engine's time, in permille, that lower priorities may take: a sixteenth. */
#define BELOW 63u

/** The node of the queues of the highest priority, which take engine time from all others: no share is judged there. */
static uint32_t urgent_node(const struct pb_contest_terms *terms)
{
	return terms->nodes - 1u;
}

/* ---- bounds ---- */

uint32_t pb_contest_ladder(const struct pb_contest_terms *terms)
{
	/* Without progress, until the next tick; then the engine's answers to stop, reset and power. */
	return terms->hang_us + PB_TICK_MICROSECONDS + 3u * (terms->hang_us + PB_TICK_MICROSECONDS);
}

/** The MCU patches an entry in a microsecond, half of the time. */
static uint32_t longest_list(const struct pb_contest_terms *terms)
{
	return 2u * terms->patches;
}

/** Time of a protected submission: a quantum, which ends at the next tick, between two packets. */
static uint32_t turn_of(const struct pb_contest_terms *terms)
{
	return PB_QUANTUM_MICROSECONDS + PB_TICK_MICROSECONDS + terms->packet_us;
}

static bool plays(const struct pb_contest_terms *terms, uint32_t strategies)
{
	uint32_t all = 0;

	for (uint32_t r = 0; r < terms->rivals; r++)
		all |= terms->strategies[r];
	return (all & strategies) != 0;
}

/** What is fed before a submission ends, or is stopped when its channel's share is used up: at a tick, between two packets. */
static uint32_t longest_ahead(const struct pb_contest_terms *terms)
{
	const uint32_t share = 2u * PB_QUANTUM_MICROSECONDS + PB_TICK_MICROSECONDS + terms->packet_us;

	return plays(terms, PB_STRATEGIES_LONG) && share > terms->work_us ? share : terms->work_us;
}

/**
 * How long a node is kept for one submission of a higher priority: by its work, or as its list is prepared beside one on
 * each other node.
 */
static uint32_t longest_kept(const struct pb_contest_terms *terms)
{
	const uint32_t lists = plays(terms, PB_STRATEGY_LISTS) ? terms->nodes * longest_list(terms) : 0;

	return terms->work_us > lists ? terms->work_us : lists;
}

/** Whether a wait may be for the node. */
static bool is_for(const struct pb_contest_terms *terms, uint32_t wait, uint32_t node)
{
	if (wait == PB_CONTEST_WAKE || wait == PB_CONTEST_URGENT)
		return node == urgent_node(terms);
	if (wait == PB_CONTEST_PREEMPT)
		return node == 0;
	return wait == PB_CONTEST_CLOSE || wait == PB_CONTEST_PROGRESS + node;
}

/** With one hang, or the reset of an engine, under way as the wait begins. Each that begins in it prolongs it: pb_contest_client_hang(). */
static uint32_t bound_of(const struct pb_contest_terms *terms, uint32_t wait)
{
	const uint32_t hang =
		plays(terms, PB_STRATEGY_HANGS | PB_STRATEGY_STOPS) ? pb_contest_ladder(terms) : 0;

	switch (wait) {
	case PB_CONTEST_REPLY:
		return ANSWER_US;
	case PB_CONTEST_WAKE:
	case PB_CONTEST_URGENT:
		/* A submission of a lower priority that has starved is not stopped before its turn is over. */
		return ANSWER_US + turn_of(terms) + terms->packet_us + hang;
	case PB_CONTEST_PREEMPT:
		/* The engine ends its packet, or is reset. */
		return ANSWER_US + terms->packet_us + hang;
	case PB_CONTEST_CLOSE:
		/* What was fed before it ends first: its own submission, and those in front. */
		return ANSWER_US + terms->work_us + 2u * longest_ahead(terms) + hang;
	default:
		/*
		 * Starvation avoidance: after 32 submissions of higher priorities, a quantum, which ends at the next tick
		 * between two packets. It is repaid 16 times before the next.
		 */
		return 32u * longest_kept(terms) + 17u * turn_of(terms) + longest_list(terms) + ANSWER_US +
		       hang;
	}
}

static bool fail(struct pb_contest *contest, uint32_t c, const char *what, uint32_t node, uint64_t figure,
		 uint64_t bound)
{
	snprintf(contest->what, sizeof(contest->what), "client %u of %u, node %u: %s: %llu us, at most %llu",
		 c, contest->terms.clients, node, what, (unsigned long long)figure,
		 (unsigned long long)bound);
	return false;
}

static bool fail_wait(struct pb_contest *contest, uint32_t c, uint32_t wait)
{
	static const char *const names[] = {"a wake",  "an urgent submission", "a reply", "a preemption",
					    "a close", "the next completion"};
	const struct pb_patience *patience = &contest->clients[c].waits[wait];

	return fail(contest, c, names[wait < PB_CONTEST_PROGRESS ? wait : PB_CONTEST_PROGRESS],
		    wait < PB_CONTEST_PROGRESS ? 0 : wait - PB_CONTEST_PROGRESS, patience->most,
		    patience->bound_us);
}

/* ---- accounts ---- */

static void begin(struct pb_contest *contest, uint32_t c, uint32_t wait)
{
	pb_patience_begin(&contest->clients[c].waits[wait], contest->world.now,
			  bound_of(&contest->terms, wait));
}

/** Ends a wait, and chooses when the next of its kind begins. @return false: too late */
static bool end(struct pb_contest *contest, uint32_t c, uint32_t wait)
{
	struct pb_contest_client *client = &contest->clients[c];

	client->next[wait] = contest->world.now + 500u + pb_random_below(&contest->random, 4000);
	return pb_patience_end(&client->waits[wait], contest->world.now) || fail_wait(contest, c, wait);
}

static bool is_due(const struct pb_contest *contest, uint32_t c, uint32_t wait)
{
	return !contest->clients[c].waits[wait].waiting &&
	       contest->world.now >= contest->clients[c].next[wait];
}

bool pb_contest_account(struct pb_contest *contest, uint32_t c, uint32_t node, uint32_t interval,
			uint32_t used)
{
	struct pb_contest_client *client = &contest->clients[c];
	const bool backlogged =
		pb_player_outstanding(&client->player, node) != 0 && !(client->stopping && node == 0);

	if (contest->terms.outranked || node == urgent_node(&contest->terms) ||
	    pb_share_add(&client->shares[node], interval, backlogged, true, used))
		return true;
	return fail(contest, c, "it lacks engine time", node, (uint64_t)client->shares[node].lack / 1000u,
		    client->shares[node].slack_us + client->shares[node].extra_us);
}

/**
 * How long the MCU may take until a submission with a list is at the engine, in microseconds: three passes (admission, its
 * allocations, its patches), in each of which every node has a slice of 1,000 instructions, 40 us at 25 MHz.
 */
static uint32_t longest_preparation(const struct pb_contest_terms *terms)
{
	return 3u * terms->nodes * 40u;
}

/**
 * What is due of the engine's time that a client's share gives it. A node prepares one submission at a time: while that takes
 * longer than the engine runs one, the engine waits for the MCU in each turn. Beside lists on every node, each submission
 * may also wait until the first of them gives its job back. Its channel pays for that with its turns, but even a client
 * that has all turns has one submission at the engine for each of these waits.
 */
static uint32_t due(const struct pb_contest_terms *terms, uint32_t share)
{
	const uint32_t prepared = longest_preparation(terms);
	const uint32_t fed = terms->work_us < prepared ? share * terms->work_us / prepared : share;
	const uint32_t beside_lists = 1000u * terms->work_us / (longest_list(terms) + prepared);

	if (terms->lengthy)
		return share;
	return plays(terms, PB_STRATEGY_LISTS) && beside_lists < fed ? beside_lists : fed;
}

static void open_shares(struct pb_contest *contest, uint32_t c)
{
	const struct pb_contest_terms *terms = &contest->terms;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < terms->clients; i++)
		sum += terms->weights[i];
	for (uint32_t r = 0; r < terms->rivals; r++)
		sum += terms->weights[terms->clients + r];
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		contest->clients[c].shares[n] = (struct pb_share){
			.permille = due(terms, (1000u - LOSS - (terms->above ? BELOW : 0)) *
						       terms->weights[c] / sum),
			/* A quantum ends at the next tick, between two packets. */
			.slack_us = 2u * terms->weights[c] * PB_QUANTUM_MICROSECONDS + terms->packet_us +
				    PB_TICK_MICROSECONDS + longest_list(terms),
		};
	}
}

void pb_contest_client_open(struct pb_contest *contest, uint32_t c)
{
	struct pb_contest_client *client = &contest->clients[c];
	struct pb_player *player = &client->player;
	const uint32_t nodes = contest->terms.nodes;
	const uint32_t level = contest->terms.above ? PB_PRIORITY_HIGH : PB_PRIORITY_NORMAL;

	open_shares(contest, c);
	for (uint32_t n = 0; n < nodes; n++)
		(void)pb_player_create(player, n, n, level);
	for (uint32_t q = WAITING_QUEUE; q <= URGENT_QUEUE; q++)
		(void)pb_player_create(player, q, urgent_node(&contest->terms), PB_PRIORITY_REALTIME);
	for (uint32_t wait = 0; wait < PB_CONTEST_WAITS; wait++)
		client->next[wait] = contest->world.now + pb_random_below(&contest->random, 20000);
}

/* ---- what it does ---- */

/** Keeps its work queues full, but for the one that is being preempted. */
static bool work(struct pb_contest *contest, uint32_t c)
{
	struct pb_contest_client *client = &contest->clients[c];
	const struct pb_player_submission submission = {
		.program = contest->terms.lengthy ? PB_PLAYER_LONG : PB_PLAYER_WORK, .patches = PATCHES};
	const uint32_t nodes = contest->terms.nodes - contest->terms.quiet;
	bool held = true;

	for (uint32_t n = 0; n < nodes && held; n++) {
		const uint32_t wait = PB_CONTEST_PROGRESS + n;
		const uint64_t reached = pb_player_reached(&client->player, n);

		if (client->stopping && n == 0) {
			client->waits[wait].waiting = false;
			continue;
		}
		if (reached != client->ends[n])
			held = end(contest, c, wait);
		client->ends[n] = reached;
		while (pb_player_submit(&client->player, n, &submission))
			continue;
		if (contest->terms.outranked)
			begin(contest, c, wait);
	}
	return held;
}

/** Its waiting queue waits for a value of the other one; later that is signalled. The wake is timed from there. */
static bool wake(struct pb_contest *contest, uint32_t c)
{
	struct pb_contest_client *client = &contest->clients[c];
	struct pb_player *player = &client->player;

	if (contest->terms.lone)
		return true;
	if (client->awaited == 0 && is_due(contest, c, PB_CONTEST_WAKE)) {
		const struct pb_player_submission waits = {
			.awaited = player->queues[SIGNAL_QUEUE].handle,
			.awaited_time = player->queues[SIGNAL_QUEUE].timeline + 1u};

		if (player->queues[SIGNAL_QUEUE].open && pb_player_submit(player, WAITING_QUEUE, &waits)) {
			client->awaited = waits.awaited_time;
			client->next[PB_CONTEST_WAKE] =
				contest->world.now + pb_random_below(&contest->random, 3000);
		}
		return true;
	}
	if (client->awaited == 0)
		return true;
	if (player->queues[SIGNAL_QUEUE].timeline < client->awaited && is_due(contest, c, PB_CONTEST_WAKE))
		(void)pb_player_submit(player, SIGNAL_QUEUE, &(struct pb_player_submission){.awaited = 0});
	if (pb_player_reached(player, SIGNAL_QUEUE) >= client->awaited)
		begin(contest, c, PB_CONTEST_WAKE);
	if (pb_player_outstanding(player, WAITING_QUEUE) != 0)
		return true;
	client->awaited = 0;
	return end(contest, c, PB_CONTEST_WAKE);
}

static bool submit_urgent(struct pb_contest *contest, uint32_t c)
{
	struct pb_contest_client *client = &contest->clients[c];
	const struct pb_player_submission submission = {.program = PB_PLAYER_BRIEF, .patches = PATCHES};

	if (client->waits[PB_CONTEST_URGENT].waiting &&
	    pb_player_outstanding(&client->player, URGENT_QUEUE) == 0)
		return end(contest, c, PB_CONTEST_URGENT);
	if (is_due(contest, c, PB_CONTEST_URGENT) &&
	    pb_player_submit(&client->player, URGENT_QUEUE, &submission))
		begin(contest, c, PB_CONTEST_URGENT);
	return true;
}

/** Posts a PING; all but the first client preempt their queue of node 0 and destroy queues, too. */
static void ask(struct pb_contest *contest, uint32_t c)
{
	struct pb_contest_client *client = &contest->clients[c];
	struct pb_player *player = &client->player;
	const struct pb_player_queue *queue = &player->queues[0];

	if (is_due(contest, c, PB_CONTEST_REPLY) &&
	    pb_client_post(&player->client, PB_COMMAND_PING, 0, NULL, 0))
		begin(contest, c, PB_CONTEST_REPLY);
	if (c == 0)
		return;
	if (is_due(contest, c, PB_CONTEST_PREEMPT) && pb_player_outstanding(player, 0) != 0 &&
	    pb_client_post(&player->client, PB_COMMAND_PREEMPT, 0,
			   (uint32_t[]){queue->handle, queue->put, 1, PB_STOP_INSIDE}, 4)) {
		client->stopping = true;
		begin(contest, c, PB_CONTEST_PREEMPT);
	}
	if (is_due(contest, c, PB_CONTEST_CLOSE)) {
		(void)pb_player_create(player, CLOSING_QUEUE,
				       pb_random_below(&contest->random, contest->terms.nodes),
				       PB_PRIORITY_NORMAL);
		(void)pb_player_submit(player, CLOSING_QUEUE,
				       &(struct pb_player_submission){.program = PB_PLAYER_WORK});
		if (pb_player_outstanding(player, CLOSING_QUEUE) != 0 &&
		    pb_player_destroy(player, CLOSING_QUEUE))
			begin(contest, c, PB_CONTEST_CLOSE);
	}
}

/** What replied() is called with. */
struct reading {
	struct pb_contest *contest;
	uint32_t c;
	bool held;
};

static void replied(void *context, const struct pb_question *question, const struct pb_reply *reply)
{
	struct reading *reading = context;
	struct pb_contest_client *client = &reading->contest->clients[reading->c];

	if (question->code == PB_COMMAND_PING)
		reading->held = end(reading->contest, reading->c, PB_CONTEST_REPLY) && reading->held;
	if (question->code == PB_COMMAND_QUEUE_DESTROY)
		reading->held = end(reading->contest, reading->c, PB_CONTEST_CLOSE) && reading->held;
	if (question->code == PB_COMMAND_PREEMPT) {
		client->stopping = false;
		reading->held = end(reading->contest, reading->c, PB_CONTEST_PREEMPT) && reading->held;
	}
	if (reply->error == PB_ERROR_OK ||
	    (question->code == PB_COMMAND_QUEUE_CREATE && question->object == CLOSING_QUEUE))
		return;
	reading->held = false;
	snprintf(reading->contest->what, sizeof(reading->contest->what),
		 "client %u: command %u fails with %u", reading->c, question->code, reply->error);
}

/** Nothing that a rival does makes its submissions fail. */
static bool check_failed(struct pb_contest *contest, uint32_t c)
{
	for (uint32_t q = 0; q < CLOSING_QUEUE; q++) {
		if (pb_player_failed(&contest->clients[c].player, q) == 0)
			continue;
		snprintf(contest->what, sizeof(contest->what), "client %u: a submission of queue %u fails", c,
			 q);
		return false;
	}
	return true;
}

bool pb_contest_client_act(struct pb_contest *contest, uint32_t c)
{
	struct pb_contest_client *client = &contest->clients[c];
	struct reading reading = {contest, c, true};

	pb_player_read(&client->player, replied, &reading);
	if (!reading.held || !check_failed(contest, c) || !wake(contest, c) || !submit_urgent(contest, c) ||
	    !work(contest, c))
		return false;
	ask(contest, c);
	for (uint32_t wait = 0; wait < PB_CONTEST_WAITS; wait++) {
		if (!pb_patience_check(&client->waits[wait], contest->world.now))
			return fail_wait(contest, c, wait);
	}
	return true;
}

void pb_contest_client_hang(struct pb_contest *contest, uint32_t c, uint32_t node)
{
	struct pb_contest_client *client = &contest->clients[c];
	const uint32_t ladder = pb_contest_ladder(&contest->terms);

	pb_share_reset(&client->shares[node], ladder);
	for (uint32_t wait = 0; wait < PB_CONTEST_WAITS; wait++) {
		if (is_for(&contest->terms, wait, node))
			pb_patience_extend(&client->waits[wait], ladder);
	}
}

static void note_worst(uint32_t *worst, uint64_t figure, uint64_t bound)
{
	const uint32_t permille = bound == 0 ? 0 : (uint32_t)(figure * 1000u / bound);

	*worst = permille > *worst ? permille : *worst;
}

void pb_contest_sum_up(struct pb_contest *contest)
{
	for (uint32_t c = 0; c < contest->terms.clients; c++) {
		struct pb_contest_client *client = &contest->clients[c];

		for (uint32_t n = 0; n < contest->terms.nodes; n++) {
			contest->completed += client->ends[n];
			note_worst(&contest->lack_worst, (uint64_t)client->shares[n].most / 1000u,
				   client->shares[n].slack_us);
		}
		for (uint32_t wait = 0; wait < PB_CONTEST_WAITS; wait++) {
			contest->waited += client->waits[wait].ended;
			note_worst(&contest->wait_worst[wait], client->waits[wait].most,
				   client->waits[wait].bound_us);
		}
	}
}
