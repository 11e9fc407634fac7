/* SPDX-License-Identifier: MIT */
/* Steps on the simulated card: virtual time, the order of completions, interrupts, video memory. */
#include <string.h>

#include "hal/engine_model/model.h"
#include "tests/unit/firmware/scenario/scenario.h"
#include "tests/unit/firmware/scenario/scenario_world.h"

#define PATIENCE_US 2000000u

static void note_completions(struct scenario_queue *queue, char letter)
{
	uint32_t completed;

	assert_int_equal(pb_queue_completed(&queue->queue, &completed), PB_ERROR_OK);
	world.order_lost |= (uint32_t)(completed - queue->seen > 1u) << (letter - 'A');
	for (; queue->seen != completed; queue->seen++)
		world.order[world.order_count++ % SCENARIO_ORDER] = letter;
}

void scenario_card_step(void)
{
	pb_sim_step(world.card.sim);
	for (uint32_t i = 0; i < SCENARIO_QUEUES; i++) {
		struct scenario_queue *queue = &world.queues[i];

		if (queue->client != NULL && queue->client->channel != NULL)
			note_completions(queue, (char)('A' + i));
		if (!queue->full)
			continue;
		do
			queue->last.fence_id = queue->queue.put + 1u;
		while (scenario_submit(queue, &queue->last) == PB_ERROR_OK);
	}
}

void scenario_card_run(uint64_t microseconds)
{
	const uint64_t end = pb_sim_now(world.card.sim) + microseconds;

	while (pb_sim_now(world.card.sim) < end)
		scenario_card_step();
}

static void run(void)
{
	scenario_card_run(scenario_number());
}

static void timer(void)
{
	world.timer = pb_sim_now(world.card.sim);
}

/** LOW HIGH: microseconds since the timer was started. */
static void took(void)
{
	const uint64_t time = pb_sim_now(world.card.sim) - world.timer;
	const uint32_t low = scenario_number(), high = scenario_number();

	if (time < low || time > high)
		scenario_equal("time", time, time < low ? low : high);
}

/* ---- order and shares ---- */

/** The queue of the next completion, of those that matter. Runs until there is one. */
static char next_completion(uint32_t *at, const char *of)
{
	const uint64_t end = pb_sim_now(world.card.sim) + PATIENCE_US;

	for (;; scenario_card_step()) {
		while (*at < world.order_count) {
			const char letter = world.order[(*at)++];

			if (of != NULL && strchr(of, letter) == NULL)
				continue;
			assert_int_equal(world.order_lost >> (letter - 'A') & 1u, 0);
			return letter;
		}
		if (pb_sim_now(world.card.sim) > end)
			scenario_fail("nothing completes", "");
	}
}

/** Completions from the boot on, A*4 B.., in this order; of=BC: of these queues. */
static void order(void)
{
	const char *of = scenario_option("of");
	uint32_t at = 0;

	do {
		const char *word = scenario_next();

		for (uint64_t n = word[1] == '*' ? scenario_value(word + 2) : 1; n != 0; n--) {
			const char letter = next_completion(&at, of);

			if (letter != word[0])
				scenario_fail("this completed instead: ", (char[]){letter, '\0'});
		}
	} while (scenario_more());
}

/** AB TOTAL AHEAD: of so many completions, neither queue is ever ahead of the other by more than that. */
static void balance(void)
{
	const char *both = scenario_next();
	const uint32_t total = scenario_number(), most = scenario_number();
	uint32_t ahead = most, at = 0;

	for (uint32_t n = 0; n < total; n++) {
		ahead += next_completion(&at, both) == both[0] ? 1u : UINT32_MAX;
		if (ahead > 2u * most)
			scenario_fail("one of them is too far ahead: ", both);
	}
	scenario_equal("ahead at the end", ahead, most);
}

/** Engine time of the completed submissions of B or of B..D, each of which is a BUSY packet. */
static uint64_t time_of(const char *word)
{
	uint64_t time = 0;

	for (char letter = word[0]; letter <= (word[1] == '.' ? word[3] : word[0]); letter++) {
		const struct scenario_queue *queue = scenario_queue(letter);
		const struct pb_segment *system = &queue->client->segments[0];
		const uint32_t offset = queue->last.dma_address_low - (uint32_t)CARD_SYSTEM_OS + 4u;

		time += (uint64_t)queue->seen *
			*(uint32_t *)(void *)(world.card.link->memory + system->memory_offset + offset);
	}
	return time;
}

/** B..D=2 E=1: engine time is as these weights, within a tenth; of=US: and the engine was not idle. */
static void shares(void)
{
	uint64_t times[4], weights[4], total = 0, whole = 0;
	const uint32_t available = scenario_option_value("of", 0);
	uint32_t count = 0;

	for (; scenario_more(); count++) {
		const char *word = scenario_next();

		assert_true(count < SCENARIO_COUNT(times));
		times[count] = time_of(word);
		weights[count] = scenario_value(strchr(word, '=') + 1);
		total += times[count];
		whole += weights[count];
	}
	if (count < 2 || total == 0)
		scenario_fail("there is nothing to compare", "");
	if (available != 0)
		assert_in_range(total, available / 10u * 9u, available);
	for (uint32_t i = 0; i < count; i++)
		assert_in_range(times[i] * whole * 10u, total * weights[i] * 9u, total * weights[i] * 11u);
}

/* ---- interrupts, memory, defects ---- */

/** One step of the card, if that does not last until `end`. */
static void step_until(uint64_t end)
{
	if (pb_sim_now(world.card.sim) >= end)
		scenario_fail("what the step waits for does not happen", "");
	scenario_card_step();
}

/** yes, no, any: whether the channel was interrupted since it was asked last; wait: lets time go by until it is. */
static void interrupt(void)
{
	const uint32_t channel = (uint32_t)(world.client - world.clients);
	const uint64_t end = pb_sim_now(world.card.sim) + PATIENCE_US;
	const char *word = scenario_next();
	bool raised = pb_sim_interrupt_take(world.card.sim, channel);

	while (strcmp(word, "wait") == 0 && !raised) {
		step_until(end);
		raised = pb_sim_interrupt_take(world.card.sim, channel);
	}
	if (strcmp(word, "yes") == 0 || strcmp(word, "no") == 0)
		scenario_equal("interrupt", raised, word[0] == 'y');
	else if (strcmp(word, "any") != 0 && strcmp(word, "wait") != 0)
		scenario_fail("this is none of yes, no, any, wait: ", word);
}

/** The word of the number in the step, of the channel's video memory. */
static uint32_t *video_word(void)
{
	return (uint32_t *)(void *)(world.card.link->memory + world.client->segments[1].memory_offset +
				    4u * scenario_number());
}

static void word_is(void)
{
	const uint32_t *at = video_word();

	scenario_equal("word", *at, scenario_number());
}

static void until_word(void)
{
	const uint64_t end = pb_sim_now(world.card.sim) + PATIENCE_US;
	const uint32_t *at = video_word(), value = scenario_number();

	while (*at != value)
		step_until(end);
}

static void poke(void)
{
	uint32_t *at = video_word();

	*at = scenario_number();
}

/** The word behind the magic of the boot block, which a wait would take for its reserved word. */
static void forget_version(void)
{
	((struct pb_boot_block *)(void *)world.card.link->memory)->abi_version = 0;
}

static void stuck(void)
{
	const struct pb_engine_model_defects defects = {.stuck = scenario_number() != 0};

	pb_engine_model_set_defects(pb_sim_engine(world.card.sim, 0), &defects);
}

static const struct scenario_verb verbs[] = {{"run", run},
					     {"timer", timer},
					     {"took", took},
					     {"order", order},
					     {"balance", balance},
					     {"shares", shares},
					     {"interrupt", interrupt},
					     {"word", word_is},
					     {"until-word", until_word},
					     {"poke", poke},
					     {"forget-version", forget_version},
					     {"stuck", stuck},
					     {NULL, NULL}};

/* ---- the bench ---- */

static void join(struct scenario_client *client, uint32_t number)
{
	card_join(&world.card, &client->own, number);
	client->channel = &client->own;
	client->segments = client->own_segments;
	if (number != PB_CHANNEL_ADMIN)
		scenario_furnish(client);
}

static void start(void)
{
	card_attach(&world.card);
	world.clients[1].channel = &world.card.channel;
	world.clients[1].segments = world.card.segments;
	scenario_furnish(&world.clients[1]);
	strncpy(world.text, "queue A entries=16", sizeof(world.text) - 1);
	scenario_step();
}

static void stop(void)
{
	for (uint32_t i = 0; i < SCENARIO_CLIENTS; i++) {
		if (world.clients[i].channel == &world.clients[i].own)
			card_leave(&world.clients[i].own);
	}
	card_stop(&world.card);
}

void scenario_on_card(void **state)
{
	static const struct scenario_bench bench = {start, stop, join, verbs, true};

	scenario_run(*state, &bench);
}
