/* SPDX-License-Identifier: MIT */
/*
 * A channel may do what it likes: each of the others has nine tenths, at
 * least, of its share by weight of the time that goes by. What the hostile one
 * wastes, also by faults, hangs and resets of the engine, is its own share.
 */
#include <inttypes.h>
#include <string.h>

#include "tests/unit/firmware/queue/shares_bench.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define WARM_UP_US   300000u

static struct shares shares;

/** Percent of a client's share by weight that it had. */
static uint32_t percent_of_share(uint32_t client)
{
	const uint64_t share = (uint64_t)RUN_US * shares_weight(client) / shares_weights();

	return (uint32_t)(shares_time(&shares, client) * 100u / share);
}

static void no_channel_is_hostile(void **state)
{
	(void)state;
	shares_start(&shares);
	shares_run(&shares, NULL, WARM_UP_US);
	shares_run(&shares, NULL, RUN_US);
	for (uint32_t c = 0; c < SHARES_CLIENTS; c++)
		assert_in_range(percent_of_share(c), 95, 105);
	shares_stop(&shares);
}

/** A level above its cap is not to be had. */
static void no_more_urgent_than_others(void **state)
{
	const struct card_queue_request request = {.place = SHARES_QUEUES, .level = PB_PRIORITY_HIGH};
	struct shares_client *hostile = &shares.clients[SHARES_HOSTILE];

	(void)state;
	shares_start(&shares);
	assert_int_equal(card_queue_open(&shares.hostile[0], &hostile->channel, &hostile->system, &request),
			 PB_ERROR_NO_PERMISSION);
	shares_stop(&shares);
}

/* ---- what it does ---- */

#define BUSY(us) PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS), (us)

static void flood(const uint32_t *words, uint32_t count)
{
	const struct pb_descriptor work = shares_hostile_work(&shares, 0, words, count);

	if (shares.steps % 8u == 0)
		shares_hostile_flood(&shares, &work);
}

static void flood_with_nothing(struct shares *s)
{
	static const uint32_t words[] = {0};

	(void)s;
	flood(words, 0);
}

static void flood_with_tiny(struct shares *s)
{
	static const uint32_t words[] = {BUSY(1)};

	(void)s;
	flood(words, 2);
}

static void flood_with_long(struct shares *s)
{
	static const uint32_t words[] = {BUSY(40000)};

	(void)s;
	flood(words, 2);
}

/** Buffers that last for long, and can be stopped inside. */
static void flood_with_many(struct shares *s)
{
	static const uint32_t words[] = {BUSY(50000), BUSY(50000), BUSY(50000), BUSY(50000),
					 BUSY(50000), BUSY(50000), BUSY(50000), BUSY(50000)};

	(void)s;
	flood(words, COUNT(words));
}

static void clear_context(void)
{
	shares_hostile_ask(&shares, PB_COMMAND_CONTEXT_CLEAR, shares.clients[SHARES_HOSTILE].context, 0, 0,
			   0);
}

static void hang(struct shares *s)
{
	static const uint32_t words[] = {PB_PACKET(PB_PACKET_HANG, PB_PACKET_HANG_WORDS)};

	(void)s;
	clear_context();
	flood(words, 1);
}

static void fault(struct shares *s)
{
	static const uint32_t words[] = {PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS)};

	(void)s;
	clear_context();
	flood(words, 1);
}

/** Work of a lost context, that is cancelled: one event for each, which it does not read. */
static void flood_with_failing(struct shares *s)
{
	static const uint32_t words[] = {PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS)};

	(void)s;
	flood(words, 1);
}

static struct pb_descriptor long_list(uint32_t entries)
{
	static const uint32_t words[] = {PB_PACKET(PB_PACKET_NOP, 3), 0, 0};
	struct pb_descriptor work = shares_hostile_work(&shares, 0, words, 3);

	work.allocation_count = 1;
	work.allocation_address_low = (uint32_t)CARD_SYSTEM_OS + 0x1000u;
	work.patch_address_low = (uint32_t)CARD_SYSTEM_OS + SHARES_LIST;
	work.patch_count = entries;
	work.patch_length = entries;
	return work;
}

/** @param bad the last entry names no allocation */
static void write_list(bool bad)
{
	const struct shares_client *client = &shares.clients[SHARES_HOSTILE];
	struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS64,
					  .patch_offset = long_list(0).dma_start + 4u};

	for (uint32_t i = 0; i < SHARES_LIST_ENTRIES; i++) {
		if (bad && i + 1u == SHARES_LIST_ENTRIES)
			patch.allocation_index = 1;
		memcpy(client->channel.link->memory + client->system.memory_offset + SHARES_LIST +
			       i * sizeof(patch),
		       &patch, sizeof(patch));
	}
}

static void long_lists(struct shares *s)
{
	const struct pb_descriptor work = long_list(SHARES_LIST_ENTRIES);

	if (s->steps == 0)
		write_list(false);
	if (s->steps % 8u == 0)
		shares_hostile_flood(s, &work);
}

static void bad_long_lists(struct shares *s)
{
	const struct pb_descriptor work = long_list(SHARES_LIST_ENTRIES);

	if (s->steps == 0)
		write_list(true);
	clear_context();
	if (s->steps % 8u == 0)
		shares_hostile_flood(s, &work);
}

/** Each list is wanted back again and again before it is done. */
static void long_lists_recalled(struct shares *s)
{
	const struct pb_queue *queue = &s->hostile[s->steps / 64u % s->hostile_queues];

	if (s->steps % 64u == 0)
		shares_hostile_ask(s, PB_COMMAND_PREEMPT, queue->handle, queue->put, s->steps,
				   PB_STOP_INSIDE);
	long_lists(s);
}

/** Empty submissions behind those of others, wanted back at once. */
static void preempt_behind_others(struct shares *s)
{
	const struct pb_descriptor work = shares_hostile_work(s, 0, NULL, 0);

	shares_hostile_flood(s, &work);
	for (uint32_t i = 0; i < s->hostile_queues; i++)
		shares_hostile_ask(s, PB_COMMAND_PREEMPT, s->hostile[i].handle, s->hostile[i].put, s->steps,
				   PB_STOP_INSIDE);
}

/** As many kicks as the ring takes, most of them of no queue, a rescan, and the doorbell, all the time. */
static void kick(struct shares *s)
{
	struct pb_channel *channel = &s->clients[SHARES_HOSTILE].channel;
	struct pb_channel_entry *entry = channel->entry;
	uint32_t *kicks = (uint32_t *)(void *)(channel->link->memory + channel->kick_offset);

	while (channel->kick_put - entry->kick_get < channel->kick_entries) {
		const uint32_t i = channel->kick_put++;

		kicks[i % channel->kick_entries] =
			i % 8u == 0 ? s->hostile[i / 8u % s->hostile_queues].handle : i * 0x9e3779b9u;
	}
	entry->kick_put = channel->kick_put;
	entry->rescan = ++channel->rescan;
	channel->link->ops->doorbell(channel->link);
	flood_with_tiny(s);
}

static void ask(struct shares *s)
{
	shares_hostile_ask(s, PB_COMMAND_PING, 0, 0, 0, 0);
	flood_with_tiny(s);
}

/** Each of these stops the engine, if it runs work of the queue. */
static void stop_again(struct shares *s)
{
	static const uint32_t words[] = {BUSY(400), BUSY(400), BUSY(400), BUSY(400)};
	const struct pb_queue *queue = &s->hostile[s->steps / 3u % s->hostile_queues];

	clear_context();
	if (s->steps % 3u == 0)
		shares_hostile_ask(s, PB_COMMAND_PREEMPT, queue->handle, queue->put, s->steps,
				   PB_STOP_INSIDE);
	else if (s->steps % 3u == 1u)
		shares_hostile_ask(s, PB_COMMAND_SUSPEND, queue->handle, queue->put, PB_STOP_RECALL, 0);
	else
		shares_hostile_ask(s, PB_COMMAND_RESUME, queue->handle, 0, 0, 0);
	flood(words, COUNT(words));
}

static void reset_again(struct shares *s)
{
	static const uint32_t words[] = {BUSY(2000)};
	const struct pb_queue *queue = &s->hostile[s->steps / 2u % s->hostile_queues];

	clear_context();
	shares_hostile_ask(s, PB_COMMAND_RESET, 0, queue->handle, queue->put, 0);
	flood(words, COUNT(words));
}

/** Queues come and go, with work in their rings. */
static void create_and_destroy(struct shares *s)
{
	static const uint32_t words[] = {BUSY(300)};
	const uint32_t i = s->steps / 2u % s->hostile_queues;
	const uint64_t address = s->hostile[i].memory.os_address;

	/* Where the next handle stands is known: the last queue that went is the first to come. */
	if (s->steps % 2u == 0) {
		shares_hostile_ask(s, PB_COMMAND_QUEUE_DESTROY, s->hostile[i].handle, 0, 0, 0);
	} else {
		s->hostile[i].handle += 0x10000u;
		s->hostile[i].put = 0;
		memset(s->hostile[i].memory.bytes_host, 0, sizeof(struct pb_queue_page));
		shares_hostile_ask(s, PB_COMMAND_QUEUE_CREATE, 0, CARD_QUEUE_ENTRIES, (uint32_t)address,
				   (uint32_t)(address >> 32));
	}
	flood(words, COUNT(words));
}

struct hostility {
	const char *name;
	shares_act act;
	uint32_t queues;
	uint32_t level;
	bool all_nodes;
	uint32_t answered; /* commands, at least */
};

static const struct hostility hostilities[] = {
	{"empty submissions of many queues", flood_with_nothing, 300, PB_PRIORITY_NORMAL, false, 0},
	{"tiny submissions of many queues", flood_with_tiny, 300, PB_PRIORITY_NORMAL, false, 0},
	{"tiny submissions of all nodes", flood_with_tiny, 300, PB_PRIORITY_NORMAL, true, 0},
	{"long packets of many queues", flood_with_long, 300, PB_PRIORITY_NORMAL, false, 0},
	{"long buffers of many queues", flood_with_many, 300, PB_PRIORITY_NORMAL, false, 0},
	{"long packets in the background", flood_with_long, 300, PB_PRIORITY_LOW, false, 0},
	{"long buffers in the background", flood_with_many, 300, PB_PRIORITY_IDLE, false, 0},
	{"events that no host reads", flood_with_failing, 300, PB_PRIORITY_NORMAL, false, 0},
	{"kicks and rescans", kick, 100, PB_PRIORITY_NORMAL, false, 0},
	{"commands", ask, 100, PB_PRIORITY_NORMAL, false, 100},
	{"hangs", hang, 100, PB_PRIORITY_NORMAL, false, 100},
	{"hangs in the background", hang, 100, PB_PRIORITY_LOW, false, 100},
	{"faults", fault, 100, PB_PRIORITY_NORMAL, false, 100},
	{"long lists", long_lists, 100, PB_PRIORITY_NORMAL, false, 0},
	{"long lists on all nodes", long_lists, 100, PB_PRIORITY_NORMAL, true, 0},
	{"bad long lists", bad_long_lists, 100, PB_PRIORITY_NORMAL, false, 100},
	{"bad long lists on all nodes", bad_long_lists, 100, PB_PRIORITY_NORMAL, true, 100},
	{"long lists recalled", long_lists_recalled, 2, PB_PRIORITY_NORMAL, false, 100},
	{"preemptions behind others", preempt_behind_others, 4, PB_PRIORITY_NORMAL, false, 100},
	{"preemptions behind others from below", preempt_behind_others, 4, PB_PRIORITY_LOW, false, 100},
	{"preemptions and suspensions", stop_again, 50, PB_PRIORITY_NORMAL, false, 100},
	{"resets", reset_again, 50, PB_PRIORITY_NORMAL, false, 100},
	{"queues that come and go", create_and_destroy, 100, PB_PRIORITY_NORMAL, false, 100},
};

static void one_is_hostile(void **state)
{
	uint32_t bad = 0;

	(void)state;
	for (uint32_t i = 0; i < COUNT(hostilities); i++) {
		const struct hostility *hostility = &hostilities[i];
		uint32_t least = UINT32_MAX;

		shares_start(&shares);
		shares_hostile_queues(&shares, hostility->queues, hostility->level, hostility->all_nodes);
		shares_run(&shares, hostility->act, WARM_UP_US);
		shares_run(&shares, hostility->act, RUN_US);
		for (uint32_t c = 0; c < SHARES_HOSTILE; c++) {
			const uint32_t percent = percent_of_share(c);

			least = percent < least ? percent : least;
		}
		print_message("%s: %" PRIu32 " %% of the share, at least; %" PRIu32 " commands\n",
			      hostility->name, least, shares.answered);
		bad += least < 90u || shares.answered < hostility->answered;
		shares_stop(&shares);
	}
	assert_int_equal(bad, 0);
}

UNIT_SUITE(test_firmware_shares)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_channel_is_hostile),
		cmocka_unit_test(no_more_urgent_than_others),
		cmocka_unit_test(one_is_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
