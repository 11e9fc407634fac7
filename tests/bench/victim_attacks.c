/* SPDX-License-Identifier: MIT */
/*
 * The attacks: words that any ordinary host may write. Most are strategies of the contests; four are written out here.
 * An attacker has as much work as a victim besides, unless its attack is about that work.
 */
#include "tests/bench/victim.h"

/* Queues of an attacker that no strategy uses which is combined with an attack below. */
#define BRIEF_AT      100u
#define BRIEF_QUEUES  16u /* on each node */
#define SUSPENDED_AT  100u
#define SUSPENDED     8u
#define NEVER_AT      120u
#define SEGMENT_BYTES 0x40000u
#define SEGMENT_FIRST 2u
#define SEGMENTS      8u

static const struct pb_player_submission nothing = {.program = PB_PLAYER_EMPTY};
static const struct pb_player_submission brief = {.program = PB_PLAYER_BRIEF};

/** Creates the queue if it does not exist. @return true: it is open */
static bool want(struct pb_rival *rival, uint32_t q, uint32_t node)
{
	if (rival->player.queues[q].open && !rival->player.queues[q].asked)
		return true;
	(void)pb_player_create(&rival->player, q, node, PB_PRIORITY_NORMAL);
	return false;
}

/** The queues of its work have the longest quantum. */
static void lengthen_quanta(struct pb_rival *rival, struct pb_random *random)
{
	(void)random;
	for (uint32_t n = 0; n < rival->nodes; n++)
		(void)pb_player_create_with(
			&rival->player, n,
			&(struct pb_player_wish){.node = n,
						 .priority = PB_PRIORITY_NORMAL,
						 .entries = PB_PLAYER_ENTRIES,
						 .quantum_us = PB_QUANTUM_MICROSECONDS_MAX});
}

/** Submissions that run for one short packet, in many queues. */
static void submit_brief(struct pb_rival *rival, struct pb_random *random)
{
	(void)random;
	for (uint32_t i = 0; i < BRIEF_QUEUES * rival->nodes; i++) {
		while (want(rival, BRIEF_AT + i, i % rival->nodes) &&
		       pb_player_submit(&rival->player, BRIEF_AT + i, &brief))
			continue;
	}
}

/** Suspends queues, with draining, that wait for a value that never comes. */
static void suspend_waiting(struct pb_rival *rival, struct pb_random *random)
{
	const struct pb_player_queue *never = &rival->player.queues[NEVER_AT];

	(void)random;
	if (!want(rival, NEVER_AT, 0))
		return;
	for (uint32_t q = SUSPENDED_AT; q < SUSPENDED_AT + SUSPENDED; q++) {
		const struct pb_player_queue *queue = &rival->player.queues[q];
		const uint32_t arguments[] = {queue->handle, queue->put + 1u, 0};
		struct pb_player_submission waits = nothing;

		waits.awaited = never->handle;
		waits.awaited_time = 1u;
		if (want(rival, q, q % rival->nodes) && pb_player_outstanding(&rival->player, q) == 0 &&
		    pb_player_submit(&rival->player, q, &waits))
			(void)pb_client_post(&rival->player.client, PB_COMMAND_SUSPEND, q, arguments, 3);
	}
}

/** Segments that come and go: what they had is cleared. */
static void renew_segments(struct pb_rival *rival, struct pb_random *random)
{
	const uint32_t id = SEGMENT_FIRST + pb_random_below(random, SEGMENTS);
	const uint32_t base = id * 0x1000000u;
	const uint32_t arguments[] = {id, PB_SEGMENT_LINEAR, base, 0, base, 0, SEGMENT_BYTES,
				      0,  SEGMENT_BYTES};
	const uint32_t code =
		pb_random_one_in(random, 2) ? PB_COMMAND_SEGMENT_CREATE : PB_COMMAND_SEGMENT_DESTROY;

	if (pb_client_open_questions(&rival->player.client) < PB_LIMIT_CONTROL_ENTRIES / 2u)
		(void)pb_client_post(&rival->player.client, code, 0, arguments, 9);
}

#define WORK PB_STRATEGY_WORK
#define LONG PB_STRATEGY_LONG
/** All strategies but those that keep the attacker itself from the engine, or cost the engine time that is the culprit's. */
#define MANY                                                                                                 \
	(WORK | PB_STRATEGY_CHAIN | PB_STRATEGY_FLIPS | PB_STRATEGY_FANOUT | PB_STRATEGY_CHURN |             \
	 PB_STRATEGY_REUSE | PB_STRATEGY_CYCLES | PB_STRATEGY_KICKS | PB_STRATEGY_IDLE |                     \
	 PB_STRATEGY_QUERIES | PB_STRATEGY_HOARD | PB_STRATEGY_TRAIN | PB_STRATEGY_SHIELD |                  \
	 PB_STRATEGY_WRONG)

const struct pb_victim_attack pb_victim_attacks[] = {
	{"work", WORK, NULL},
	{"long", LONG, NULL},
	{"quanta", LONG, lengthen_quanta},
	{"train", PB_STRATEGY_TRAIN, NULL},
	{"brief", 0, submit_brief},
	{"lists", WORK | PB_STRATEGY_LISTS, NULL},
	{"chain", WORK | PB_STRATEGY_CHAIN, NULL},
	{"flips", WORK | PB_STRATEGY_FLIPS, NULL},
	{"fanout", WORK | PB_STRATEGY_FANOUT, NULL},
	{"churn", WORK | PB_STRATEGY_CHURN, NULL},
	{"reuse", WORK | PB_STRATEGY_REUSE, NULL},
	{"cycles", WORK | PB_STRATEGY_CYCLES, NULL},
	{"kicks", WORK | PB_STRATEGY_KICKS, NULL},
	{"stops", WORK | PB_STRATEGY_STOPS, NULL},
	{"idle", WORK | PB_STRATEGY_IDLE, NULL},
	{"queries", WORK | PB_STRATEGY_QUERIES, NULL},
	{"hoard", WORK | PB_STRATEGY_HOARD, NULL},
	{"shield", PB_STRATEGY_SHIELD, NULL},
	{"wrong", PB_STRATEGY_WRONG, NULL},
	{"credit", PB_STRATEGY_CREDIT, NULL},
	{"low", WORK | PB_STRATEGY_LOW, NULL},
	{"suspends", WORK, suspend_waiting},
	{"segments", WORK, renew_segments},
	{"many", MANY, NULL},
};
const uint32_t pb_victim_attack_count = sizeof(pb_victim_attacks) / sizeof(pb_victim_attacks[0]);
