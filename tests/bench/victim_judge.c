/* SPDX-License-Identifier: MIT */
/*
 * What an attack costs the victims. The first victim always has more submissions outstanding than the firmware takes ahead;
 * of each window, its engine time is compared with an eighth of the window. The second victim has the same work, and
 * measures wakes, replies and preemptions.
 */
#include "patchbay/abi/errors.h"
#include "tests/bench/bench.h"
#include "tests/bench/victim.h"

#define ATTACKERS   (PB_VICTIM_CLIENTS - 2u)
#define BOOT_PASSES 3000u
/** A submission of a victim, and a packet in it, in microseconds; and entries of its patch list. */
#define WORK_US   4000u
#define PACKET_US 50u
#define PATCHES   4u
/** How long an attack lasts, in microseconds: one window until it is in full swing, then those that count. */
#define LASTS_US (4u * PB_VICTIM_WINDOW_US)
/** Shortest pause between two measurements of a kind, in microseconds; three times as long between preemptions. */
#define PAUSE_US 1500u
#define SAMPLES  (LASTS_US / PB_VICTIM_SAMPLE_US + 1u)

/* The queues of the second victim beside those of its work. */
#define WAITING_QUEUE 64u
#define SIGNAL_QUEUE  65u
/** Where these lie. Their priority is higher than that of the attackers. */
#define WAKE_NODE (PB_CARD_NODES - 1u)
/** The queue of its work on a node, and entries of the ring: many more than the firmware takes ahead. */
#define WORK_QUEUE(n) (16u * (n))
#define ENTRIES       8u

/** One kind of time that is measured. */
struct latency {
	bool waiting;
	uint64_t since;
	uint64_t next; /**< when the next one is due */
	uint32_t most, count;
};

static struct pb_player victim, second, admin;
static struct pb_rival attackers[ATTACKERS];
static struct pb_random random;
static const struct pb_victim_attack *attack;
static uint32_t turn; /**< the attacker that acts next */
static struct latency wake, reply, preempt;
static uint64_t awaited; /**< timeline value that the waiting queue waits for; 0: it does not */
static uint64_t samples[PB_VICTIM_NODES][SAMPLES];
static uint32_t sampled;
static uint64_t began; /**< when the attack began */

static uint64_t now(void)
{
	return pb_victim_world.now;
}

/* ---- latencies ---- */

static bool is_due(const struct latency *latency)
{
	return !latency->waiting && now() >= latency->next;
}

static void begin(struct latency *latency)
{
	if (!latency->waiting)
		latency->since = now();
	latency->waiting = true;
}

static void note(struct latency *latency)
{
	const uint32_t took = (uint32_t)(now() - latency->since);

	if (latency->waiting && took > latency->most)
		latency->most = took;
}

static void end(struct latency *latency, uint32_t pause)
{
	note(latency);
	latency->count++;
	latency->waiting = false;
	latency->next = now() + pause + pb_random_below(&random, pause);
}

/** Its waiting queue waits for a value of the other one; later that is signalled. A wake takes from there to the waiter's end. */
static void measure_wake(void)
{
	const struct pb_player_queue *signal = &second.queues[SIGNAL_QUEUE];

	if (awaited == 0) {
		const struct pb_player_submission waits = {.awaited = signal->handle,
							   .awaited_time = signal->timeline + 1u};

		if (is_due(&wake) && signal->open && pb_player_submit(&second, WAITING_QUEUE, &waits)) {
			awaited = waits.awaited_time;
			wake.next = now() + pb_random_below(&random, 3000);
		}
		return;
	}
	if (signal->timeline < awaited && is_due(&wake))
		(void)pb_player_submit(&second, SIGNAL_QUEUE,
				       &(struct pb_player_submission){.program = PB_PLAYER_EMPTY});
	if (pb_player_reached(&second, SIGNAL_QUEUE) >= awaited)
		begin(&wake);
	if (pb_player_outstanding(&second, WAITING_QUEUE) != 0)
		return;
	awaited = 0;
	end(&wake, PAUSE_US);
}

static void measure_commands(void)
{
	const struct pb_player_queue *queue = &second.queues[0];
	const uint32_t question[] = {PB_QUERY_QUEUE, queue->handle, 0};
	const uint32_t stop[] = {queue->handle, queue->put, 1, PB_STOP_INSIDE};

	if (is_due(&reply) && queue->open && pb_client_post(&second.client, PB_COMMAND_QUERY, 0, question, 3))
		begin(&reply);
	if (is_due(&preempt) && pb_player_outstanding(&second, 0) != 0 &&
	    pb_client_post(&second.client, PB_COMMAND_PREEMPT, 0, stop, 4))
		begin(&preempt);
}

static void replied(void *context, const struct pb_question *question, const struct pb_reply *answer)
{
	(void)context;
	pb_bench_require(answer->error == PB_ERROR_OK, "a victim's command");
	if (question->code == PB_COMMAND_QUERY)
		end(&reply, PAUSE_US);
	if (question->code == PB_COMMAND_PREEMPT)
		end(&preempt, 3u * PAUSE_US);
}

/* ---- what the hosts do ---- */

/** Keeps the rings of its work full. @param first the first node */
static void work(struct pb_player *player, uint32_t first)
{
	const struct pb_player_submission submission = {.program = PB_PLAYER_WORK, .patches = PATCHES};

	for (uint32_t n = first; n < PB_VICTIM_NODES; n++) {
		while (pb_player_submit(player, WORK_QUEUE(n), &submission))
			continue;
	}
}

static void sample(void)
{
	if (sampled == SAMPLES || now() - began < (uint64_t)sampled * PB_VICTIM_SAMPLE_US)
		return;
	for (uint32_t n = 0; n < PB_VICTIM_NODES; n++)
		samples[n][sampled] = pb_victim_engine_time(n, victim.client.channel);
	sampled++;
}

/** Both victims look after their work; one attacker after the other attacks. */
static void act(void)
{
	struct pb_rival *rival = &attackers[turn];

	turn = (turn + 1u) % ATTACKERS;
	if (attack->act != NULL)
		attack->act(rival, &random);
	pb_strategy_act(rival, &random);
	pb_player_read(&victim, replied, NULL);
	pb_player_read(&second, replied, NULL);
	work(&victim, 0);
	measure_wake();
	measure_commands();
	work(&second, preempt.waiting ? 1u : 0u);
	sample();
}

/* ---- an attack ---- */

/** The admin lets the second victim have queues of a higher priority: what wakes takes no engine time from others. */
static void grant(uint32_t channel)
{
	const uint32_t arguments[] = {channel, 0, 1, PB_PRIORITY_REALTIME};
	struct pb_question question;
	struct pb_reply answer;

	pb_client_init(&admin.client, &pb_victim_world, PB_CHANNEL_ADMIN);
	pb_client_ask(&admin.client, PB_ATTACH_OP_ATTACH);
	for (uint32_t i = 0; i < BOOT_PASSES && !pb_client_answered(&admin.client); i++)
		pb_victim_settle(&pb_victim_world);
	(void)pb_client_post(&admin.client, PB_COMMAND_CHANNEL_GRANT, 0, arguments, 4);
	for (uint32_t i = 0; i < BOOT_PASSES; i++) {
		pb_victim_settle(&pb_victim_world);
		if (!pb_client_reply(&admin.client, &answer, &question))
			continue;
		pb_bench_require(answer.error == PB_ERROR_OK, "the grant");
		return;
	}
	pb_bench_require(false, "the admin has no reply");
}

static void join(struct pb_player *player, uint32_t channel, uint32_t work_us, uint32_t packet_us,
		 uint32_t strategies)
{
	pb_bench_require(
		pb_player_join(player, &pb_victim_world, channel, work_us, packet_us, pb_victim_settle),
		"a client joins");
	/* Each rescan is a search of the whole table: it is a weapon, and only of those who attack with it. */
	player->client.patient = (strategies & PB_STRATEGY_KICKS) == 0;
}

static void open_queues(void)
{
	for (uint32_t n = 0; n < PB_VICTIM_NODES; n++) {
		const struct pb_player_wish wish = {
			.node = n, .priority = PB_PRIORITY_NORMAL, .entries = ENTRIES};

		(void)pb_player_create_with(&victim, WORK_QUEUE(n), &wish);
		(void)pb_player_create_with(&second, WORK_QUEUE(n), &wish);
	}
	(void)pb_player_create(&second, WAITING_QUEUE, WAKE_NODE, PB_PRIORITY_REALTIME);
	(void)pb_player_create(&second, SIGNAL_QUEUE, WAKE_NODE, PB_PRIORITY_REALTIME);
}

/** All clients join. Which channel is whose changes from attack to attack. */
static void begin_attack(uint32_t number)
{
	const uint32_t first = number % PB_VICTIM_CLIENTS;
	uint32_t channel[PB_VICTIM_CLIENTS];

	for (uint32_t c = 0; c < PB_VICTIM_CLIENTS; c++)
		channel[c] = 1u + (first + c) % PB_VICTIM_CLIENTS;
	attack = &pb_victim_attacks[number];
	random.state = number;
	turn = 0;
	awaited = 0;
	sampled = 0;
	wake = reply = preempt = (struct latency){.count = 0};
	pb_victim_boot();
	for (uint32_t i = 0; i < BOOT_PASSES; i++)
		pb_victim_settle(&pb_victim_world);
	/* Attackers stand on both sides of each victim. */
	grant(channel[4]);
	join(&victim, channel[0], WORK_US, PACKET_US, 0);
	join(&second, channel[4], WORK_US, PACKET_US, 0);
	for (uint32_t r = 0; r < ATTACKERS; r++) {
		attackers[r] = (struct pb_rival){.strategies = attack->strategies,
						 .nodes = PB_VICTIM_NODES,
						 .priority = PB_PRIORITY_NORMAL,
						 .patches = PB_PLAYER_PATCHES,
						 .chain = 300u};
		join(&attackers[r].player, channel[r < 3u ? r + 1u : r + 2u], WORK_US, PACKET_US,
		     attack->strategies);
	}
	open_queues();
	began = now();
}

/** Time of a window that queues of NORMAL have among themselves: the starvation rule gives lower ones one part in 17. */
static uint32_t usable_us(void)
{
	return (attack->strategies & PB_STRATEGY_LOW) != 0
		       ? PB_VICTIM_WINDOW_US / (PB_REPAY_TIMES + 1u) * PB_REPAY_TIMES
		       : PB_VICTIM_WINDOW_US;
}

/** Part of its fair share that the victim got in a window that begins with a sample, permille. */
static uint32_t share_in(uint32_t node, uint32_t from)
{
	const uint64_t got = samples[node][from + PB_VICTIM_WINDOW_SAMPLES] - samples[node][from];

	return (uint32_t)(got * 1000u * PB_VICTIM_CLIENTS / usable_us());
}

static void find_worst_window(struct pb_victim_result *result)
{
	pb_bench_require(sampled == SAMPLES, "the attack was not sampled to its end");
	result->share = result->anywhere = UINT32_MAX;
	for (uint32_t n = 0; n < PB_VICTIM_NODES; n++) {
		for (uint32_t from = PB_VICTIM_WINDOW_SAMPLES; from + PB_VICTIM_WINDOW_SAMPLES < SAMPLES;
		     from++) {
			const uint32_t share = share_in(n, from);

			if (share < result->anywhere)
				result->anywhere = share;
			if (from % PB_VICTIM_WINDOW_SAMPLES == 0 && share < result->share)
				result->share = share;
		}
	}
}

void pb_victim_judge(uint32_t number, struct pb_victim_result *result)
{
	begin_attack(number);
	pb_victim_run(began + LASTS_US + PB_VICTIM_SAMPLE_US / 2u, act);
	note(&wake);
	note(&reply);
	note(&preempt);
	find_worst_window(result);
	result->wake = wake.most;
	result->reply = reply.most;
	result->preempt = preempt.most;
	result->counts[0] = wake.count;
	result->counts[1] = reply.count;
	result->counts[2] = preempt.count;
}
