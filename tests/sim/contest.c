/* SPDX-License-Identifier: MIT */
#include "tests/sim/contest.h"

#include <stdio.h>
#include <stdlib.h>

#include "hal/engine/registers.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/errors.h"
#include "tests/sim/contest_client.h"

#define MEMORY_BYTES 0x600000u
#define QUEUES       2048u
/** Steps in which the card comes up, and in which what was asked before the contest ends. */
#define SETTLE_STEPS 3000u
/** Longest stretch for the engines alone, in microseconds: what an interrupt may come late by. */
#define GRAIN 20u

/* ---- time ---- */

static const struct pb_engine_slot *slot_of(const struct pb_world *world, uint32_t node, uint32_t sequence)
{
	return (const struct pb_engine_slot *)(const void *)(world->memory + PB_CARD_RINGS_OFFSET +
							     node * PB_CARD_RING_STRIDE) +
	       (sequence - 1u) % PB_ENGINE_SLOTS;
}

/** Number of the submission that the engine runs. 0: none. */
static uint32_t running(struct pb_world *world, uint32_t node)
{
	const struct pb_engine_registers *registers = pb_world_registers(world, node);
	const uint32_t sequence = pb_shared_read32(&registers->sequence) + 1u;

	return pb_shared_read32(&registers->tail) >= sequence ? sequence : 0;
}

/** A hang that begins costs everybody on the node the same, once. */
static void note_hang(struct pb_contest *contest, uint32_t node, uint32_t sequence)
{
	const bool hangs =
		sequence != 0 &&
		pb_shared_read32(&slot_of(&contest->world, node, sequence)->bytes) == pb_player_hang_bytes();

	if (hangs && contest->hung[node] != sequence) {
		for (uint32_t c = 0; c < contest->terms.clients; c++)
			pb_contest_client_hang(contest, c, node);
	}
	contest->hung[node] = hangs ? sequence : 0;
}

/** The channel of the rival that has the queues below the clients'. */
static uint32_t low_owner(const struct pb_contest_terms *terms)
{
	return terms->clients + terms->rivals;
}

/**
 * What lower priorities may have beside a client with submissions: a sixteenth, for each of their turns is repaid fifteen
 * times; beside that the one that begins a window, and the one that ends it. A turn is a quantum, which ends at the next
 * tick, between two packets.
 */
static bool account_low(struct pb_contest *contest, uint32_t node, uint32_t interval, uint32_t used)
{
	struct pb_share *low = &contest->low[node];
	const bool backlogged =
		contest->terms.above && pb_player_outstanding(&contest->clients[0].player, node) != 0;

	contest->low_time[node] += interval;
	*low = (struct pb_share){
		.permille = 1000,
		.slack_us = 2u * (PB_QUANTUM_MICROSECONDS + PB_TICK_MICROSECONDS + contest->terms.packet_us),
		.lack = low->lack,
		.most = low->most};
	if (pb_share_add(low, used, backlogged, true, contest->low_time[node] / 16u)) {
		contest->low_time[node] %= 16u;
		return true;
	}
	snprintf(contest->what, sizeof(contest->what),
		 "node %u: lower priorities have %llu us more than a sixteenth, at most %llu", node,
		 (unsigned long long)low->lack / 1000u, (unsigned long long)low->slack_us);
	return false;
}

/** Gives the engines time, and each client's accounts what its submissions had of it. */
static bool run_engines(struct pb_contest *contest, uint32_t microseconds)
{
	struct pb_world *world = &contest->world;
	const uint32_t interval = microseconds + world->spent_us;
	uint32_t *owner = contest->owner, before[PB_CARD_NODES];
	bool held = true;

	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		const uint32_t sequence = running(world, n);

		/* An engine that stops ends the packet of the submission that it has run. */
		if (sequence != 0)
			owner[n] = pb_shared_read32(&slot_of(world, n, sequence)->owner) & 0xffu;
		before[n] = pb_shared_read32(&pb_world_registers(world, n)->time);
		note_hang(contest, n, sequence);
	}
	(void)pb_world_engines(world, microseconds);
	for (uint32_t n = 0; n < contest->terms.nodes && held; n++) {
		const uint32_t used = pb_shared_read32(&pb_world_registers(world, n)->time) - before[n];

		held = account_low(contest, n, interval, owner[n] == low_owner(&contest->terms) ? used : 0);
		for (uint32_t c = 0; c < contest->terms.clients && held; c++)
			held = pb_contest_account(contest, c, n, interval, owner[n] == 1u + c ? used : 0);
	}
	return held;
}

/** Runs the MCU as long as it is awake, and the engines beside it, for so many microseconds or a pass longer. */
static bool run_card(struct pb_contest *contest, uint32_t microseconds)
{
	struct pb_world *world = &contest->world;
	const uint64_t end = world->now + microseconds;
	bool held = true;

	while (held && world->now < end) {
		uint32_t left = 0;

		if (pb_world_awake(world)) {
			/* Hosts act when the step is over, and engines and the tick have their lines by then. */
			world->line_at = 1u + (uint32_t)(end - world->now) * 1000u / PB_WORLD_ACCESS_NS;
			pb_world_pass(world);
			world->line_at = 0;
		} else {
			left = end - world->now < GRAIN ? (uint32_t)(end - world->now) : GRAIN;
			pb_world_advance(world, left);
		}
		held = run_engines(contest, left);
	}
	return held;
}

/** A step before the contest: nothing is judged. */
static void settle(struct pb_world *world)
{
	if (pb_world_awake(world))
		pb_world_pass(world);
	else
		pb_world_advance(world, GRAIN);
	(void)pb_world_engines(world, pb_world_awake(world) ? 0 : GRAIN);
}

/* ---- terms ---- */

static void choose_terms(struct pb_contest *contest)
{
	struct pb_random *random = &contest->random;
	struct pb_contest_terms *terms = &contest->terms;

	*terms = (struct pb_contest_terms){
		.nodes = 2u + pb_random_below(random, PB_CARD_NODES - 1u),
		.clients = 1u + pb_random_below(random, PB_CONTEST_CLIENTS),
		.rivals = 1u + pb_random_below(random, PB_CONTEST_RIVALS),
		.milliseconds = 200u + pb_random_below(random, 200),
		.packet_us = 50u + pb_random_below(random, 1500),
		.patches = 100u + pb_random_below(random, PB_PLAYER_PATCHES - 100u),
		.hang_us = 6000u + pb_random_below(random, 6000),
		.outranked = pb_random_one_in(random, 4),
		.quiet = pb_random_one_in(random, 2),
	};
	terms->above = !terms->outranked && pb_random_one_in(random, 5);
	terms->lone = pb_random_one_in(random, 3);
	terms->lengthy = !terms->outranked && pb_random_one_in(random, 4);
	terms->stop_us = terms->lengthy ? 10000u + pb_random_below(random, 10000) : 0;
	terms->work_us = 200u + pb_random_below(random, terms->outranked ? 300 : 3000);
	if (terms->outranked) {
		/* What is due to a low priority takes longer to come. */
		terms->clients = 1;
		terms->milliseconds += 300u;
		/* A list counts as one submission of a higher priority, however long its preparation takes. */
		terms->patches = 100u + terms->patches % 300u;
	}
	if (terms->above)
		terms->milliseconds += 300u;
	if (terms->packet_us > terms->work_us)
		terms->packet_us = terms->work_us;
	for (uint32_t i = 0; i < PB_CONTEST_CLIENTS + PB_CONTEST_RIVALS; i++)
		terms->weights[i] = pb_random_one_in(random, 4) ? 2u : 1u;
	for (uint32_t r = 0; r < PB_CONTEST_RIVALS; r++) {
		/* One strategy, some, or most of them at the same time. */
		const uint32_t how = pb_random_below(random, 3);
		uint32_t mask = 1u << pb_random_below(random, PB_STRATEGY_COUNT);

		if (how != 0)
			mask |= (uint32_t)pb_random_next(random) & (uint32_t)pb_random_next(random);
		if (how == 2u)
			mask |= (uint32_t)pb_random_next(random);
		mask &= (1u << PB_STRATEGY_COUNT) - 1u;
		/* Half of the hangs are left out: the bounds are shorter without them. */
		if (pb_random_one_in(random, 2))
			mask &= ~(uint32_t)PB_STRATEGY_HANGS;
		/* Starvation avoidance counts submissions of higher priorities, however long. */
		if (terms->outranked)
			mask &= ~PB_STRATEGIES_LONG;
		mask &= ~(uint32_t)PB_STRATEGY_LOW;
		if (terms->above && r + 1u == terms->rivals)
			mask = PB_STRATEGY_LOW;
		terms->strategies[r] = mask & ~contest->without;
	}
}

static bool admin_command(struct pb_contest *contest, uint32_t code, const uint32_t *arguments,
			  uint32_t count)
{
	struct pb_client *client = &contest->admin.client;
	struct pb_question question;
	struct pb_reply reply;

	(void)pb_client_post(client, code, 0, arguments, count);
	for (uint32_t i = 0; i < SETTLE_STEPS; i++) {
		settle(&contest->world);
		if (pb_client_reply(client, &reply, &question))
			return reply.error == PB_ERROR_OK;
	}
	return false;
}

static uint32_t weight_of(const struct pb_contest *contest, uint32_t i)
{
	const bool unfair = contest->fault == PB_CONTEST_UNFAIR && i >= contest->terms.clients;

	return contest->terms.weights[i] * (unfair ? 10u : 1u);
}

/** Attaches the admin, and sets nodes and grants. The judged clients alone may use the highest priority. */
static bool prepare_card(struct pb_contest *contest)
{
	const struct pb_contest_terms *terms = &contest->terms;
	bool done = true;

	for (uint32_t i = 0; i < SETTLE_STEPS; i++)
		settle(&contest->world);
	pb_client_init(&contest->admin.client, &contest->world, PB_CHANNEL_ADMIN);
	pb_client_ask(&contest->admin.client, PB_ATTACH_OP_ATTACH);
	for (uint32_t i = 0; i < SETTLE_STEPS && !pb_client_answered(&contest->admin.client); i++)
		settle(&contest->world);
	for (uint32_t n = 0; n < PB_CARD_NODES; n++)
		done = done &&
		       admin_command(contest, PB_COMMAND_NODE_SET,
				     (uint32_t[]){n, PB_NODE_SCHEDULED, 0, terms->hang_us, terms->hang_us},
				     5);
	for (uint32_t i = 0; i < terms->clients + terms->rivals; i++)
		done = done && admin_command(contest, PB_COMMAND_CHANNEL_GRANT,
					     (uint32_t[]){1u + i, 0, weight_of(contest, i),
							  i < terms->clients ? PB_PRIORITY_REALTIME
									     : PB_PRIORITY_HIGH},
					     4);
	return done;
}

static bool join(struct pb_contest *contest)
{
	const struct pb_contest_terms *terms = &contest->terms;

	for (uint32_t c = 0; c < terms->clients; c++) {
		struct pb_contest_client *client = &contest->clients[c];

		*client = (struct pb_contest_client){.awaited = 0};
		if (!pb_player_join(&client->player, &contest->world, 1u + c, terms->work_us,
				    terms->packet_us, settle))
			return false;
		client->player.stop_us = terms->stop_us;
		pb_contest_client_open(contest, c);
	}
	for (uint32_t r = 0; r < terms->rivals; r++) {
		struct pb_rival *rival = &contest->rivals[r];

		*rival = (struct pb_rival){
			.strategies = terms->strategies[r],
			.nodes = terms->nodes,
			.priority = terms->outranked || terms->above ? PB_PRIORITY_HIGH : PB_PRIORITY_NORMAL,
			.patches = terms->patches,
			.chain = 8u + pb_random_below(&contest->random, 350),
		};
		if (!pb_player_join(&rival->player, &contest->world, 1u + terms->clients + r, terms->work_us,
				    terms->packet_us, settle))
			return false;
	}
	for (uint32_t i = 0; i < SETTLE_STEPS; i++)
		settle(&contest->world);
	return true;
}

/* ---- the contest ---- */

/** The order of each queue holds for rivals, too. */
static bool check_records(struct pb_contest *contest)
{
	bool held = true;

	for (uint32_t r = 0; r < contest->terms.rivals; r++)
		held = pb_player_check(&contest->rivals[r].player) && held;
	for (uint32_t c = 0; c < contest->terms.clients; c++)
		held = pb_player_check(&contest->clients[c].player) && held;
	if (!held)
		snprintf(contest->what, sizeof(contest->what), "a timeline goes back");
	return held;
}

static bool contend(struct pb_contest *contest)
{
	const uint64_t end = contest->world.now + contest->terms.milliseconds * 1000u;
	const uint64_t half = contest->world.now + contest->terms.milliseconds * 500u;

	while (contest->world.now < end) {
		if (contest->world.now > half) {
			contest->world.nodes[0].frozen = contest->fault == PB_CONTEST_FROZEN;
			contest->world.stopped = contest->fault == PB_CONTEST_STOPPED;
		}
		for (uint32_t r = 0; r < contest->terms.rivals; r++) {
			if (pb_random_below(&contest->random, 4) != 0)
				pb_strategy_act(&contest->rivals[r], &contest->random);
		}
		for (uint32_t c = 0; c < contest->terms.clients; c++) {
			if (!pb_contest_client_act(contest, c))
				return false;
		}
		if (!run_card(contest, 10u + pb_random_below(&contest->random, 60)))
			return false;
		if (pb_random_one_in(&contest->random, 16) && !check_records(contest))
			return false;
	}
	return true;
}

bool pb_contest_run(struct pb_contest *contest, uint64_t seed)
{
	bool held;

	contest->random.state = seed;
	contest->what[0] = '\0';
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		contest->hung[n] = 0;
		contest->owner[n] = 0;
		contest->low[n] = (struct pb_share){.permille = 0};
		contest->low_time[n] = 0;
	}
	choose_terms(contest);
	pb_world_boot(&contest->world, pb_random_next(&contest->random));
	if (!prepare_card(contest) || !join(contest)) {
		snprintf(contest->what, sizeof(contest->what), "the contest does not begin");
		return false;
	}
	held = contend(contest);
	pb_contest_sum_up(contest);
	return held;
}

void pb_contest_shrink(struct pb_contest *contest, uint64_t seed)
{
	for (uint32_t i = 0; i < PB_STRATEGY_COUNT; i++) {
		const uint32_t before = contest->without;

		contest->without |= 1u << i;
		if (pb_contest_run(contest, seed))
			contest->without = before;
	}
	(void)pb_contest_run(contest, seed);
}

struct pb_contest *pb_contest_create(void)
{
	struct pb_contest *contest = calloc(1, sizeof(*contest));

	if (contest != NULL && pb_world_create_sized(&contest->world, MEMORY_BYTES, QUEUES))
		return contest;
	free(contest);
	return NULL;
}

void pb_contest_destroy(struct pb_contest *contest)
{
	pb_world_destroy(&contest->world);
	free(contest);
}
