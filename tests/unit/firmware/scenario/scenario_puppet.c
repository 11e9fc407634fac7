/* SPDX-License-Identifier: MIT */
/* Steps on the puppet: what the engine reports, what was asked of it, time, and words stored without a doorbell. */
#include <string.h>

#include "tests/unit/firmware/scenario/scenario.h"
#include "tests/unit/firmware/scenario/scenario_world.h"

#define TICK_US 5000u

static struct puppet *const puppet = &puppet_bench.puppet;

/* ---- the engine reports ---- */

/** Up to this one, or up to the last that it was fed. */
static void finish(void)
{
	puppet_finish(scenario_more() ? scenario_number() : puppet->count);
}

static void fault(void)
{
	puppet->state = PB_ENGINE_FAULTED;
	if (scenario_accept("late"))
		return;
	if (scenario_more())
		puppet->sequence = scenario_number();
	puppet_run(1u << PB_LINE_NODE(0));
}

static void answer(void)
{
	puppet_reset_done();
	if (!scenario_accept("late"))
		puppet_run(1u << PB_LINE_NODE(0));
}

static void stopped(void)
{
	const uint32_t sequence = scenario_number();

	puppet_stop_done(sequence, scenario_number());
}

/* ---- time and interrupts ---- */

/** Milliseconds with their ticks, in which the counters given go on; the engine's and the card's clock are two. */
static void pass_time(uint32_t engine_us, uint32_t card_us, uint32_t progress)
{
	for (uint32_t left = scenario_number(); left != 0; left -= TICK_US / 1000u) {
		puppet->time += engine_us;
		puppet->progress += progress;
		puppet_bench.clock += card_us;
		puppet_run(1u << PB_LINE_TICK);
	}
}

static void stall(void)
{
	pass_time(TICK_US, TICK_US, 0);
}

static void progress(void)
{
	pass_time(TICK_US, TICK_US, 1);
}

static void engine_time(void)
{
	pass_time(TICK_US, 0, 0);
}

static void card_time(void)
{
	pass_time(0, TICK_US, 0);
}

static uint32_t lines(void)
{
	uint32_t found = 0;

	while (scenario_more()) {
		const bool ring = scenario_accept("ring"), tick = !ring && scenario_accept("tick");

		if (!ring && !tick && !scenario_accept("node"))
			scenario_fail("no such line: ", scenario_next());
		found |= 1u << (ring ? PB_LINE_CHANNEL(1) : tick ? PB_LINE_TICK : PB_LINE_NODE(0));
	}
	return found;
}

static void irq(void)
{
	puppet_run(lines());
}

/** One pass of the main loop, which has more to do after it. */
static void pass(void)
{
	puppet_bench.host_lines.pending |= lines();
	assert_true(pb_firmware_pass(puppet_bench.firmware));
}

/* ---- what was asked of it ---- */

/** KEY=VALUE of what the engine was asked. */
static void engine(void)
{
	const struct {
		const char *key;
		uint32_t value;
	} counters[] = {
		{"resets", puppet->resets},
		{"stops", puppet->stops},
		{"inside", puppet->stopped_inside},
		{"cycles", puppet->cycles},
		{"restores", puppet->restores},
		{"fed", puppet->count},
		{"owner", puppet->count != 0 ? puppet->fed[puppet->count - 1u].owner : 0},
		{"bytes", puppet->count != 0 ? puppet->fed[puppet->count - 1u].bytes : 0},
	};

	if (!scenario_more())
		scenario_fail("nothing is compared", "");
	for (uint32_t i = 0; i < SCENARIO_COUNT(counters); i++)
		scenario_equal(counters[i].key, counters[i].value,
			       scenario_option_value(counters[i].key, counters[i].value));
}

/** All that it was fed since its last reset or stop, in order: A1, or - for what runs nothing. */
static void fed(void)
{
	uint32_t at = 0;

	for (; scenario_more(); at++) {
		const char *word = scenario_next();
		const struct pb_engine_submission *fed = &puppet->fed[at];
		const uint32_t serial = (fed->address_low - PUPPET_DMA) / 4u % SCENARIO_ORDER;

		if (at == puppet->count)
			scenario_fail("not fed: ", word);
		scenario_equal("sequence", puppet->sequences[at], at + 1u);
		scenario_equal("bytes", fed->bytes, word[0] == '-' ? 0 : 4u);
		if (word[0] == '-')
			continue;
		scenario_equal("queue", (uint64_t)world.serials[serial].queue, (uint64_t)word[0]);
		scenario_equal("submission", world.serials[serial].number, scenario_value(word + 1));
		scenario_equal("owner", fed->owner, PB_ENGINE_OWNER(1, world.serials[serial].context));
	}
	scenario_equal("fed", puppet->count, at);
}

/* ---- words that the story sets ---- */

/** Of the engine, or of the channel entry of channel 1; of=2: of channel 2, which is closed. */
static uint32_t *variable(const char *name)
{
	struct pb_channel_entry *entry = puppet_bench.channel.entry + scenario_option_value("of", 1) - 1;
	const struct {
		const char *name;
		uint32_t *at;
	} variables[] = {
		{"sequence", &puppet->sequence},
		{"poll-takes", &puppet->poll_takes},
		{"clock", &puppet_bench.clock},
		{"kick_put", &entry->kick_put},
		{"rescan", &entry->rescan},
		{"control_put", &entry->control_put},
		{"attach_request", &entry->attach_request},
	};

	for (uint32_t i = 0; i < SCENARIO_COUNT(variables); i++) {
		if (strcmp(variables[i].name, name) == 0)
			return variables[i].at;
	}
	scenario_fail("no such word: ", name);
}

static void add(void)
{
	uint32_t *at = variable(scenario_next());

	*at += scenario_number();
}

static void no_doorbell(struct pb_link *link)
{
	(void)link;
}

static void silent(void)
{
	static struct pb_link_ops ops;

	ops = *puppet_bench.link.ops;
	ops.doorbell = no_doorbell;
	puppet_bench.link.ops = &ops;
}

static void kick(void)
{
	struct pb_channel *channel = &puppet_bench.channel;
	uint32_t *kicks = (uint32_t *)(void *)(puppet_memory + channel->kick_offset);

	kicks[channel->kick_put % channel->kick_entries] = scenario_number();
	channel->entry->kick_put = ++channel->kick_put;
}

static uint32_t *stored, slept;

static void store_late(void *context)
{
	(void)context;
	*stored += 1;
}

static void sleep_now(void *context)
{
	(void)context;
	slept++;
}

static void wake(void *context)
{
	(void)context;
}

/** Counts a word up without ringing while the firmware falls asleep: it sleeps so many times, 0 or 1. */
static void asleep(void)
{
	static struct pb_lines_ops ops;
	static uint32_t no_word;

	stored = scenario_accept("alone") ? &no_word : variable(scenario_next());
	slept = 0;
	ops = pb_host_lines_ops;
	ops.idle_enter = store_late;
	ops.idle_wait = sleep_now;
	ops.idle_leave = wake;
	puppet_bench.lines.ops = &ops;
	pb_firmware_idle(puppet_bench.firmware);
	puppet_bench.lines.ops = &pb_host_lines_ops;
	scenario_equal("asleep", slept, scenario_number());
}

/* ---- records ---- */

/** The record has changed, as a reader sees: its sequence only grows, and is even. */
static void grown(void)
{
	struct scenario_queue *queue = scenario_next_queue();
	const struct pb_queue_page *page = (const void *)queue->queue.memory.bytes_host;

	assert_int_equal(page->fence.sequence % 2, 0);
	assert_in_range(page->fence.sequence - queue->sequence, 2, 8);
	queue->sequence = page->fence.sequence;
}

static void waypoint(void)
{
	const struct pb_boot_block *boot = (const void *)(puppet_memory + PB_BOOT_OFFSET);

	scenario_equal("waypoint", boot->waypoint, scenario_named(pb_waypoint_name, scenario_next()));
}

static const struct scenario_verb verbs[] = {{"finish", finish},
					     {"fault", fault},
					     {"answer", answer},
					     {"stopped", stopped},
					     {"stall", stall},
					     {"progress", progress},
					     {"irq", irq},
					     {"pass", pass},
					     {"engine-time", engine_time},
					     {"card-time", card_time},
					     {"engine", engine},
					     {"fed", fed},
					     {"add", add},
					     {"silent", silent},
					     {"kick", kick},
					     {"asleep", asleep},
					     {"grown", grown},
					     {"waypoint", waypoint},
					     {NULL, NULL}};

/* ---- the bench ---- */

static void join(struct scenario_client *client, uint32_t number)
{
	assert_int_equal(number, PB_CHANNEL_ADMIN);
	puppet_join_admin();
	client->channel = &puppet_bench.admin;
}

static void start(void)
{
	struct scenario_client *client = &world.clients[1];

	puppet_start(NULL);
	client->channel = &puppet_bench.channel;
	client->segments = &puppet_bench.system;
	memcpy(client->contexts, puppet_bench.contexts, sizeof(puppet_bench.contexts));
	client->context_count = SCENARIO_COUNT(puppet_bench.contexts);
	world.queues[0].queue = puppet_bench.queue;
	world.queues[0].client = client;
}

static void stop(void)
{
}

void scenario_on_puppet(void **state)
{
	static const struct scenario_bench bench = {start, stop, join, verbs, false};

	scenario_run(*state, &bench);
}
