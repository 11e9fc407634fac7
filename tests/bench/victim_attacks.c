/* SPDX-License-Identifier: MIT */
/*
 * The attacks: words that any ordinary host may write. Most are strategies of the contests; each attacker has as much work
 * as a victim besides. Those written out here would not fit a contest, whose submissions are shorter.
 */
#include "tests/bench/victim.h"

/* Queues of an attacker beyond those of its nodes. No strategy that an attack below is combined with uses them. */
#define OWN_AT     370u
#define SIGNAL_AT  380u
#define OWN_QUEUES 8u
#define BRIEF_AT 100u
#define BRIEF_QUEUES 16u
/** The longest quantum, in microseconds. */
#define QUANTUM_US PB_QUANTUM_MICROSECONDS_MAX
/** Time for which credit is saved, and then spent, in microseconds. */
#define CREDIT_US 200000u
#define SEGMENT_BYTES  0x40000u
#define SEGMENTS_FIRST 2u
#define SEGMENTS       8u

/** Creates the queue if it does not exist. @return true: it is open */
static bool want_with(struct pb_rival *rival, uint32_t q, uint32_t node, uint32_t priority)
{
	const struct pb_player_queue *queue = &rival->player.queues[q];

	if (queue->open && !queue->asked)
		return true;
	(void)pb_player_create(&rival->player, q, node, priority);
	return false;
}

static bool want(struct pb_rival *rival, uint32_t q, uint32_t node)
{
	return want_with(rival, q, node, PB_PRIORITY_NORMAL);
}

static void fill(struct pb_rival *rival, uint32_t q)
{
	while (pb_player_submit(&rival->player, q,
				&(struct pb_player_submission){.program = PB_PLAYER_WORK}))
		continue;
}

/** Has queue q wait for a timeline value of queue `target`, `ahead` of its last submission. */
static bool await(struct pb_rival *rival, uint32_t q, uint32_t target, uint64_t ahead)
{
	const struct pb_player_queue *awaited = &rival->player.queues[target];

	return pb_player_submit(&rival->player, q,
				&(struct pb_player_submission){.awaited = awaited->handle,
							       .awaited_time = awaited->timeline + ahead});
}

static void ask_queue(struct pb_rival *rival, uint32_t code, uint32_t q, uint32_t flags)
{
	const struct pb_player_queue *queue = &rival->player.queues[q];
	const uint32_t arguments[] = {queue->handle, queue->put,
				      code == PB_COMMAND_SUSPEND ? flags : 7u, flags};

	if (queue->open && !pb_client_asks(&rival->player.client, code, q))
		(void)pb_client_post(&rival->player.client, code, q, arguments, 4);
}

/** The queues of its work have the longest quantum. */
static void lengthen_quanta(struct pb_rival *rival, struct pb_random *random)
{
	(void)random;
	for (uint32_t n = 0; n < rival->nodes; n++)
		(void)pb_player_create_with(&rival->player, n,
					    &(struct pb_player_wish){.node = n,
								     .priority = PB_PRIORITY_NORMAL,
								     .entries = PB_PLAYER_ENTRIES,
								     .quantum_us = QUANTUM_US});
}

/** Submissions that run for one short packet, in many queues. */
static void submit_brief(struct pb_rival *rival, struct pb_random *random)
{
	(void)random;
	for (uint32_t i = 0; i < BRIEF_QUEUES * rival->nodes; i++) {
		const uint32_t q = BRIEF_AT + i;

		while (want(rival, q, i % rival->nodes) &&
		       pb_player_submit(&rival->player, q,
					&(struct pb_player_submission){.program = PB_PLAYER_BRIEF}))
			continue;
	}
}

/** Each long submission is followed by one that must fail: there is no such context. */
static void shield_by_failure(struct pb_rival *rival, struct pb_random *random)
{
	const uint32_t context = rival->player.context;

	(void)random;
	for (uint32_t n = 0; n < rival->nodes; n++) {
		while (want(rival, n, n) &&
		       pb_player_submit(&rival->player, n,
					&(struct pb_player_submission){.program = PB_PLAYER_WORK})) {
			rival->player.context = 0;
			(void)pb_player_submit(&rival->player, n,
					       &(struct pb_player_submission){.program = PB_PLAYER_BRIEF});
			rival->player.context = context;
		}
	}
}

/** Preempts and suspends what it runs, and lets it end first. */
static void stop_own(struct pb_rival *rival, struct pb_random *random)
{
	for (uint32_t n = 0; n < rival->nodes; n++) {
		if (pb_random_one_in(random, 2))
			ask_queue(rival, PB_COMMAND_PREEMPT, n, 0);
		else if (pb_random_one_in(random, 2))
			ask_queue(rival, PB_COMMAND_SUSPEND, n, PB_STOP_RECALL);
		else
			ask_queue(rival, PB_COMMAND_RESUME, n, 0);
	}
}

/** For a while its queues are served and wait again, round after round; then they are filled. */
static void save_credit(struct pb_rival *rival, struct pb_random *random)
{
	const bool saves = rival->player.client.world->now / CREDIT_US % 2u == 0;

	if (!want(rival, SIGNAL_AT, PB_CARD_NODES - 1u))
		return;
	if (pb_player_outstanding(&rival->player, SIGNAL_AT) == 0 && pb_random_one_in(random, 8))
		(void)pb_player_submit(&rival->player, SIGNAL_AT,
				       &(struct pb_player_submission){.program = PB_PLAYER_EMPTY});
	for (uint32_t n = 0; n < rival->nodes; n++) {
		if (!want(rival, n, n))
			continue;
		if (!saves)
			fill(rival, n);
		else if (pb_player_outstanding(&rival->player, n) < 2u)
			(void)await(rival, n, SIGNAL_AT, 1);
	}
}

/** Work at the two lower priorities too. */
static void starve_below(struct pb_rival *rival, struct pb_random *random)
{
	(void)random;
	for (uint32_t n = 0; n < rival->nodes; n++) {
		for (uint32_t priority = PB_PRIORITY_IDLE; priority < PB_PRIORITY_NORMAL; priority++) {
			const uint32_t q = OWN_AT + 2u * n + priority;

			if (want_with(rival, q, n, priority))
				fill(rival, q);
		}
	}
}

/** Suspends queues, with draining, that wait for ever. */
static void suspend_waiting(struct pb_rival *rival, struct pb_random *random)
{
	(void)random;
	if (!want(rival, SIGNAL_AT, 0))
		return;
	for (uint32_t q = OWN_AT; q < OWN_AT + OWN_QUEUES; q++) {
		if (!want(rival, q, q % rival->nodes))
			continue;
		if (pb_player_outstanding(&rival->player, q) == 0)
			(void)await(rival, q, SIGNAL_AT, 1);
		ask_queue(rival, PB_COMMAND_SUSPEND, q, 0);
	}
}

/** Segments that come and go: what they had is cleared. */
static void renew_segments(struct pb_rival *rival, struct pb_random *random)
{
	struct pb_client *client = &rival->player.client;
	const uint32_t id = SEGMENTS_FIRST + pb_random_below(random, SEGMENTS);
	const uint32_t base = id * 0x1000000u;
	const uint32_t arguments[] = {id, PB_SEGMENT_LINEAR, base, 0, base, 0, SEGMENT_BYTES, 0, SEGMENT_BYTES};

	if (pb_client_open_questions(client) >= PB_LIMIT_CONTROL_ENTRIES - 4u)
		return;
	(void)pb_client_post(client, pb_random_one_in(random, 2) ? PB_COMMAND_SEGMENT_CREATE
								   : PB_COMMAND_SEGMENT_DESTROY,
			     0, arguments, 9);
}

static void do_all(struct pb_rival *rival, struct pb_random *random)
{
	shield_by_failure(rival, random);
	stop_own(rival, random);
	renew_segments(rival, random);
}

#define WORK PB_STRATEGY_WORK
#define ALL  (((1u << PB_STRATEGY_COUNT) - 1u) & ~(uint32_t)PB_STRATEGY_HANGS)

const struct pb_victim_attack pb_victim_attacks[] = {
	{"work", WORK, 0, 0, false, NULL},
	{"trains", WORK, 20000, 50, false, NULL},
	{"quanta", WORK, 20000, 50, false, lengthen_quanta},
	{"brief", 0, 0, 0, false, submit_brief},
	{"lists", WORK | PB_STRATEGY_LISTS, 0, 0, false, NULL},
	{"chain", WORK | PB_STRATEGY_CHAIN, 0, 0, false, NULL},
	{"flips", WORK | PB_STRATEGY_FLIPS, 0, 0, false, NULL},
	{"fanout", WORK | PB_STRATEGY_FANOUT, 0, 0, false, NULL},
	{"churn", WORK | PB_STRATEGY_CHURN, 0, 0, false, NULL},
	{"reuse", WORK | PB_STRATEGY_REUSE, 0, 0, false, NULL},
	{"cycles", WORK | PB_STRATEGY_CYCLES, 0, 0, false, NULL},
	{"kicks", WORK | PB_STRATEGY_KICKS, 0, 0, false, NULL},
	{"stops", WORK | PB_STRATEGY_STOPS, 20000, 50, false, NULL},
	{"idle", WORK | PB_STRATEGY_IDLE, 0, 0, false, NULL},
	{"queries", WORK | PB_STRATEGY_QUERIES, 0, 0, false, NULL},
	{"hoard", WORK | PB_STRATEGY_HOARD, 0, 0, false, NULL},
	{"shield", WORK, 20000, 50, false, shield_by_failure},
	{"own_stops", WORK, 20000, 50, false, stop_own},
	{"credit", 0, 5000, 50, false, save_credit},
	{"below", WORK, 20000, 50, true, starve_below},
	{"suspends", WORK, 0, 0, false, suspend_waiting},
	{"segments", WORK, 0, 0, false, renew_segments},
	{"all", ALL, 20000, 50, false, do_all},
};
const uint32_t pb_victim_attack_count = sizeof(pb_victim_attacks) / sizeof(pb_victim_attacks[0]);
