/* SPDX-License-Identifier: MIT */
/*
 * What is settled behind completions, while lines are pending at once again: ends of stop requests, drained queues and
 * drained channels. None waits for those that others have again and again.
 */
#include "firmware/limits.h"
#include "tests/unit/card_queues.h"
#include "tests/unit/stepped.h"

/** Queues whose stops the other host asks for, over and over: more than it may have under way. */
#define STOPPED 10u
/** Pairs of queues, of which one waits for the other. */
#define PAIRS 150u
/** Wait lists of the other host, in its segment 0: where the fixture has those of the card's channel. */
#define WAITS 0x210000u
/**
 * Passes within which something is settled: of a command that waits for a channel's turn, and for as many turns of
 * infrequent work as there are other channels with something to settle.
 */
#define SETTLE_WAIT 60u
#define PASSES      4000u

static struct card card;
static struct card_client other;
static struct pb_queue queues[2u * PAIRS];
static uint32_t hoarder; /* the other host's channel: before or behind that of the card's host in rotation */
static bool flood;

/* Each check of the lines finds that of both clients. */
uint32_t pb_stepped_read32(const uint32_t *address)
{
	const uint8_t *at = (const uint8_t *)address;
	const uint8_t *memory = card.sim != NULL ? pb_sim_memory(card.sim) : NULL;

	if (flood && (at < memory || at >= memory + pb_sim_memory_bytes(card.sim))) {
		pb_sim_doorbell(card.sim, 1);
		pb_sim_doorbell(card.sim, hoarder);
	}
	return *address;
}

void pb_stepped_write32(uint32_t *address, uint32_t value)
{
	*address = value;
}

uint8_t pb_stepped_read8(const uint8_t *address)
{
	return *address;
}

void pb_stepped_write8(uint8_t *address, uint8_t value)
{
	*address = value;
}

static void start(uint32_t count, uint32_t node)
{
	card_start(&card);
	card_join_client(&card, &other, hoarder);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(
			card_queue_open(&queues[i], &other.channel, &other.segments[0],
					&(struct card_queue_request){.place = i, .node = node, .level = 2}),
			PB_ERROR_OK);
}

static void end(void)
{
	flood = false;
	card_leave(&other.channel);
	card_stop(&card);
}

/** The other host asks for something of some of its queues, as far as its command ring has room. @return the next queue */
static uint32_t ask(uint32_t code, uint32_t first, uint32_t count)
{
	const struct pb_channel *channel = &other.channel;
	struct pb_channel_entry *entry = channel->entry;
	struct pb_command *commands = (void *)(card.link->memory + channel->control_offset);

	for (; count != 0 && entry->control_put - entry->control_get < channel->control_entries; count--)
		commands[entry->control_put++ % channel->control_entries] =
			(struct pb_command){.code = code, .arguments = {queues[first++].handle}};
	entry->reply_get = entry->reply_put;
	entry->event_get = entry->event_put;
	return first;
}

static void pass(void)
{
	flood = true;
	pb_sim_doorbell(card.sim, 1);
	pb_sim_doorbell(card.sim, hoarder);
	pb_sim_step(card.sim);
	flood = false;
}

/** Destroys a queue whose submission is at the engine: it has drained when that completes. @return the command's tag */
static uint32_t destroy_busy(struct pb_queue *queue, uint32_t microseconds)
{
	const struct pb_descriptor descriptor = card_busy(&card, 0, microseconds);
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0};
	uint32_t tag;

	card_queue_make(queue, &card, &(struct card_queue_request){.place = 0, .level = 2});
	card_queue_submit(queue, &descriptor);
	card_run(&card, 100);
	arguments[0] = queue->handle;
	assert_int_equal(pb_channel_begin(&card.channel, PB_COMMAND_QUEUE_DESTROY, arguments, &tag),
			 PB_ERROR_OK);
	return tag;
}

/** Another host asks for stops of queues that have nothing: each has ended when the next one is asked for. */
static void a_queue_is_freed_beside_stops_without_end(void **state)
{
	const uint32_t microseconds = 1000;

	(void)state;
	for (hoarder = 0; hoarder <= 2u; hoarder += 2u) {
		struct pb_queue mine;
		uint32_t tag, next = 0, passes = 0;

		start(STOPPED, 3);
		tag = destroy_busy(&mine, microseconds);
		for (; pb_channel_finish(&card.channel, tag, NULL) == PB_ERROR_TIMEOUT && passes < PASSES;
		     passes++) {
			for (uint32_t i = 0; i < 8u; i++)
				next = ask(PB_COMMAND_PREEMPT, next % STOPPED, 1);
			pass();
		}
		assert_in_range(passes, 1, microseconds / 10u + SETTLE_WAIT);
		end();
	}
}

/** A queue of the other host has a submission that waits for another of its queues. */
static void make_waiting(uint32_t waiting, uint32_t target, uint32_t value)
{
	struct pb_wait *wait =
		(struct pb_wait *)(void *)(card.link->memory + other.segments[0].memory_offset + WAITS) +
		waiting;
	const struct pb_descriptor descriptor = {
		.context = other.context,
		.wait_address_low = (uint32_t)CARD_SYSTEM_OS + WAITS + waiting * (uint32_t)sizeof(*wait),
		.wait_count = 1,
	};

	*wait = (struct pb_wait){.queue = queues[target].handle, .timeline_low = value};
	card_queue_submit(&queues[waiting], &descriptor);
}

/** Each of the first queues has a submission that waits for one of the others. */
static void make_pairs(void)
{
	for (uint32_t i = 0; i < PAIRS; i++)
		make_waiting(i, PAIRS + i, 1);
	card_run(&card, 50000);
}

/** Passes until a reply, while another host destroys many queues that others wait for: they drain faster than they are freed. */
static uint32_t passes_beside_destruction(uint32_t tag, uint32_t *next)
{
	uint32_t passes = 0;

	for (; pb_channel_finish(&card.channel, tag, NULL) == PB_ERROR_TIMEOUT && passes < PASSES; passes++) {
		*next = ask(PB_COMMAND_QUEUE_DESTROY, *next, 2u * PAIRS - *next);
		pass();
	}
	return passes;
}

static void a_queue_is_freed_beside_many_that_another_host_destroys(void **state)
{
	const uint32_t microseconds = 1200;

	(void)state;
	for (hoarder = 0; hoarder <= 2u; hoarder += 2u) {
		uint32_t next = PAIRS;
		struct pb_queue mine;

		start(2u * PAIRS, 1);
		make_pairs();
		assert_in_range(passes_beside_destruction(destroy_busy(&mine, microseconds), &next), 1,
				microseconds / 10u + SETTLE_WAIT);
		end();
	}
}

static void a_stop_is_reported_beside_many_queues_that_another_host_destroys(void **state)
{
	(void)state;
	for (hoarder = 0; hoarder <= 2u; hoarder += 2u) {
		uint32_t preempt[PB_COMMAND_ARGUMENTS] = {0};
		uint32_t tag, next = PAIRS;

		start(2u * PAIRS, 1);
		make_pairs();
		for (uint32_t p = 0; p < 120u; p++) {
			next = ask(PB_COMMAND_QUEUE_DESTROY, next, 2u * PAIRS - next);
			pass();
		}
		preempt[0] = card.queues[0].handle;
		assert_int_equal(pb_channel_begin(&card.channel, PB_COMMAND_PREEMPT, preempt, &tag),
				 PB_ERROR_OK);
		assert_in_range(passes_beside_destruction(tag, &next), 1, SETTLE_WAIT);
		end();
	}
}

/** Another host's waiters are checked all the time: each completion of the queue that they wait for begins anew. */
static void a_stop_is_reported_beside_waiters_that_are_always_checked(void **state)
{
	const struct pb_descriptor nothing = {.context = CARD_CONTEXT};
	uint32_t preempt[PB_COMMAND_ARGUMENTS] = {0};
	uint32_t tag, passes = 0;

	(void)state;
	hoarder = 2;
	start(2u * PAIRS, 1);
	for (uint32_t i = 1; i < 2u * PAIRS; i++)
		make_waiting(i, 0, 100000);
	card_run(&card, 50000);
	preempt[0] = card.queues[0].handle;
	for (uint32_t p = 0; p < 200u; p++) {
		if (queues[0].put - card_queue_completed(&queues[0]) < 3u)
			card_queue_submit(&queues[0], &nothing);
		pass();
	}
	assert_int_equal(pb_channel_begin(&card.channel, PB_COMMAND_PREEMPT, preempt, &tag), PB_ERROR_OK);
	for (; pb_channel_finish(&card.channel, tag, NULL) == PB_ERROR_TIMEOUT && passes < PASSES; passes++) {
		if (queues[0].put - card_queue_completed(&queues[0]) < 3u)
			card_queue_submit(&queues[0], &nothing);
		pass();
	}
	assert_in_range(passes, 1, SETTLE_WAIT);
	end();
}

UNIT_SUITE(test_firmware_settle)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_is_freed_beside_stops_without_end),
		cmocka_unit_test(a_queue_is_freed_beside_many_that_another_host_destroys),
		cmocka_unit_test(a_stop_is_reported_beside_many_queues_that_another_host_destroys),
		cmocka_unit_test(a_stop_is_reported_beside_waiters_that_are_always_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
