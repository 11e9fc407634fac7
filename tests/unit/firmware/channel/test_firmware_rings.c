/* SPDX-License-Identifier: MIT */
/* Ring indices that break their rule, rings that run full, doorbells that get lost. */
#include <string.h>

#include "tests/unit/card_fixture.h"

#define COUNT(array)    ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define CONTROL_ENTRIES 16u
#define KICK_ENTRIES    256u
#define EVENT_ENTRIES   64u

static void ring_doorbell(struct card *card)
{
	pb_sim_doorbell(card->sim, 1);
}

/** Kicks without the library's checks. */
static void kick(struct card *card, uint32_t handle)
{
	struct pb_channel *channel = &card->channel;
	uint32_t *ring = (uint32_t *)(void *)(card->link->memory + channel->kick_offset);

	ring[channel->kick_put % KICK_ENTRIES] = handle;
	channel->entry->kick_put = ++channel->kick_put;
	ring_doorbell(card);
}

static struct pb_queue_page *page_of(const struct pb_queue *queue)
{
	return (struct pb_queue_page *)(void *)queue->memory.bytes_host;
}

/** Whether the fixture's queue of a node takes work. */
static void expect_works(struct card *card, const char *row, uint32_t node)
{
	struct pb_descriptor descriptor = card_mark(card, 5, 0x600d);

	memset(card_bytes(card, 1, 20), 0, 4);
	card_equal(row, card_execute(card, node, &descriptor).status, PB_ERROR_OK);
	card_equal(row, card_word(card, 1, 20), 0x600d);
}

/* ---- put of a queue ---- */

static const struct {
	const char *name;
	uint32_t put; /* where 3 have been written and completed */
} bad_puts[] = {
	{"back by one", 2},           {"back to the start", 0},
	{"back by a ring", 3u - 16u}, {"one past the ring", 3 + 17},
	{"two rings", 3 + 32},        {"half of all numbers ahead", 3 + 0x80000000},
	{"far back", 0x80000000},
};

static void bad_put_stops_one_queue(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(bad_puts); i++) {
		const char *row = bad_puts[i].name;
		struct card card;
		struct pb_descriptor descriptor;
		struct pb_fence fence;
		struct pb_queue second;

		card_start(&card);
		assert_int_equal(pb_queue_create(&second, &card.channel, &card.segments[0], 0, 4),
				 PB_ERROR_OK);
		for (uint32_t n = 0; n < 3; n++)
			expect_works(&card, row, 0);
		page_of(&card.queues[0])->put = bad_puts[i].put;
		kick(&card, card.queues[0].handle);
		card_run(&card, 6000);
		fence = card_wait(&card, 0, 3);
		card_equal(row, fence.status, PB_ERROR_OK);
		card_equal(row, fence.error, PB_ERROR_RING_FAULT);
		card_equal(row, fence.error_index, PB_INDEX_NONE);
		card_equal(row, fence.errors, 1);
		card_expect_event(&card.channel, row,
				  &(struct pb_event){.type = PB_EVENT_QUEUE_FAULT,
						     .queue = card.queues[0].handle,
						     .error = PB_ERROR_RING_FAULT,
						     .index = PB_INDEX_NONE});
		/* It takes nothing any more, be its put right again or not; others do. */
		page_of(&card.queues[0])->put = 4;
		kick(&card, card.queues[0].handle);
		card_run(&card, 6000);
		card_wait(&card, 0, 3);
		card_expect_no_event(&card.channel, row);
		expect_works(&card, row, 1);
		descriptor = card_mark(&card, 6, 6);
		assert_int_equal(pb_queue_submit(&second, &descriptor), PB_ERROR_OK);
		card_equal(row, card_wait_queue(&card, &second, 1).status, PB_ERROR_OK);
		assert_int_equal(pb_queue_destroy(&card.queues[0]), PB_ERROR_OK);
		card_stop(&card);
	}
}

/** The room is counted from what has completed; what was taken before the fault still completes. */
static void bad_put_with_work_in_flight(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	descriptor = card_descriptor(&card, 0, 8, 0, 0);
	card_dma(&card, 0)[0] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
	card_dma(&card, 0)[1] = 3000;
	for (uint32_t n = 0; n < 5; n++) {
		descriptor.fence_id = n;
		card_submit(&card, 0, &descriptor);
	}
	card_run(&card, 1000);
	card_wait(&card, 0, 0);
	page_of(&card.queues[0])->put = 17;
	kick(&card, card.queues[0].handle);
	fence = card_wait(&card, 0, 5);
	assert_int_equal(fence.fence_id, 4);
	assert_int_equal(fence.status, PB_ERROR_OK);
	assert_int_equal(fence.error, PB_ERROR_RING_FAULT);
	card_stop(&card);
}

static void full_ring_is_legal(void **state)
{
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t turn = 0; turn < 3; turn++) {
		for (uint32_t n = 0; n < 16; n++) {
			struct pb_descriptor descriptor = card_mark(&card, n, 100 * turn + n);

			card_submit(&card, 0, &descriptor);
		}
		assert_int_equal(card_wait(&card, 0, 16 * turn + 16).status, PB_ERROR_OK);
		for (uint32_t n = 0; n < 16; n++)
			assert_int_equal(card_word(&card, 1, 4 * n), 100 * turn + n);
	}
	card_expect_no_event(&card.channel, "full ring");
	card_stop(&card);
}

/* ---- indices of a channel ---- */

/** What makes the firmware look at the index. */
enum prod {
	RING,    /* a doorbell */
	COMMAND, /* a command: it looks for room for the reply */
	FAIL,    /* a submission that fails: it looks for room for the event */
};

#define FIELD(name) offsetof(struct pb_channel_entry, name)

static const struct {
	const char *name;
	uint32_t field;
	uint32_t step; /* added to the index: further back than where the firmware has seen it */
	enum prod prod;
} bad_indices[] = {
	{"kick_put past the ring", FIELD(kick_put), KICK_ENTRIES + 1, RING},
	{"kick_put far ahead", FIELD(kick_put), 0x80000000, RING},
	{"kick_put back", FIELD(kick_put), -1u, RING},
	{"control_put past the ring", FIELD(control_put), CONTROL_ENTRIES + 1, RING},
	{"control_put far ahead", FIELD(control_put), 0x80000000, RING},
	{"control_put back", FIELD(control_put), -1u, RING},
	{"reply_get ahead of the replies", FIELD(reply_get), 1, COMMAND},
	{"reply_get back", FIELD(reply_get), -2u, COMMAND},
	{"event_get ahead of the events", FIELD(event_get), 1, FAIL},
	{"event_get back", FIELD(event_get), -3u, FAIL},
};

static void prod_card(struct card *card, const char *row, enum prod prod)
{
	const uint32_t nothing[PB_COMMAND_ARGUMENTS] = {0};
	struct pb_descriptor descriptor = card_mark(card, 0, 0);

	ring_doorbell(card);
	if (prod == COMMAND)
		card_equal(row, pb_channel_command(&card->channel, PB_COMMAND_PING, nothing, NULL),
			   PB_ERROR_DETACHED);
	descriptor.options = 2;
	if (prod == FAIL)
		card_submit(card, 0, &descriptor);
	card_run(card, 6000);
}

/** A few of everything, so that no index is 0. */
static void use_channel(struct card *card)
{
	struct pb_descriptor descriptor = card_mark(card, 0, 0);
	struct pb_event event;

	expect_works(card, "before", 0);
	expect_works(card, "before", 1);
	descriptor.options = 2;
	for (uint32_t i = 0; i < 2; i++) {
		card_execute(card, 1, &descriptor);
		assert_true(pb_channel_event(&card->channel, &event));
		assert_true(pb_channel_event(&card->channel, &event));
		assert_int_equal(pb_context_clear(&card->channel, card->context), PB_ERROR_OK);
	}
}

static void bad_index_stops_the_channel(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(bad_indices); i++) {
		const char *row = bad_indices[i].name;
		struct card card;
		struct pb_channel neighbour;
		const uint32_t nothing[PB_COMMAND_ARGUMENTS] = {0};
		uint32_t *index;

		card_start(&card);
		card_join(&card, &neighbour, 2);
		use_channel(&card);
		index = (uint32_t *)(void *)((uint8_t *)card.channel.entry + bad_indices[i].field);
		*index += bad_indices[i].step;
		prod_card(&card, row, bad_indices[i].prod);
		card_equal(row, card.channel.entry->state, PB_CHANNEL_FAULTED);
		card_equal(row, card.channel.entry->error, PB_ERROR_RING_FAULT);
		card_equal(row, pb_channel_command(&neighbour, PB_COMMAND_PING, nothing, NULL), PB_ERROR_OK);

		card_equal(row, pb_channel_attach(&card.channel, card.link, 1000000), PB_ERROR_OK);
		card_make_segments(&card.channel, card.segments);
		assert_int_equal(pb_context_create(&card.channel, &card.context), PB_ERROR_OK);
		assert_int_equal(pb_queue_create(&card.queues[0], &card.channel, &card.segments[0], 0, 4),
				 PB_ERROR_OK);
		expect_works(&card, row, 0);
		card_leave(&neighbour);
		card_stop(&card);
	}
}

/** A channel that has just faulted is not served further in the same look at it. */
static void faulted_channel_gets_no_command(void **state)
{
	struct card card;
	uint32_t taken;

	(void)state;
	card_start(&card);
	taken = card.channel.entry->control_get;
	card.channel.entry->control_put++;
	card.channel.entry->kick_put += KICK_ENTRIES + 1;
	ring_doorbell(&card);
	card_run(&card, 6000);
	assert_int_equal(card.channel.entry->state, PB_CHANNEL_FAULTED);
	assert_int_equal(card.channel.entry->control_get, taken);
	card_stop(&card);
}

/* ---- kicks ---- */

static void stray_kicks(void **state)
{
	static const uint32_t handles[] = {
		PB_HANDLE_NONE,   PB_HANDLE(0, 2),    PB_HANDLE(2, 1),
		PB_HANDLE(64, 1), PB_HANDLE(4096, 1), 0xffffffff,
	};
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(handles); i++)
		kick(&card, handles[i]);
	card_run(&card, 1000);
	for (uint32_t i = 0; i < COUNT(handles); i++)
		card_expect_event(&card.channel, "stray",
				  &(struct pb_event){.type = PB_EVENT_QUEUE_FAULT,
						     .queue = handles[i],
						     .error = PB_ERROR_BAD_HANDLE,
						     .index = PB_INDEX_NONE});
	expect_works(&card, "after strays", 0);
	card_expect_no_event(&card.channel, "after strays");
	card_stop(&card);
}

static void kick_of_another_channels_queue(void **state)
{
	struct card card;
	struct pb_channel neighbour;

	(void)state;
	card_start(&card);
	card_join(&card, &neighbour, 2);
	card_run(&card, 10000);
	*(uint32_t *)(void *)(card.link->memory + neighbour.kick_offset) = card.queues[0].handle;
	neighbour.entry->kick_put = 1;
	pb_sim_doorbell(card.sim, 2);
	card_run(&card, 1000);
	card_expect_event(&neighbour, "theirs",
			  &(struct pb_event){.type = PB_EVENT_QUEUE_FAULT,
					     .queue = card.queues[0].handle,
					     .error = PB_ERROR_BAD_HANDLE,
					     .index = PB_INDEX_NONE});
	card_expect_no_event(&card.channel, "theirs");
	card_leave(&neighbour);
	card_stop(&card);
}

static void kick_of_a_destroyed_queue(void **state)
{
	struct card card;
	uint32_t old;

	(void)state;
	card_start(&card);
	old = card.queues[0].handle;
	assert_int_equal(pb_queue_destroy(&card.queues[0]), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&card.queues[0], &card.channel, &card.segments[0], 0, 4),
			 PB_ERROR_OK);
	assert_int_equal(card.queues[0].handle, old + 0x10000);
	kick(&card, old);
	card_run(&card, 1000);
	card_expect_event(&card.channel, "old handle",
			  &(struct pb_event){.type = PB_EVENT_QUEUE_FAULT,
					     .queue = old,
					     .error = PB_ERROR_BAD_HANDLE,
					     .index = PB_INDEX_NONE});
	expect_works(&card, "new handle", 0);
	card_stop(&card);
}

static void rescan_when_the_kick_ring_is_full(void **state)
{
	struct card card;
	struct pb_queue third;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	assert_int_equal(pb_queue_create(&third, &card.channel, &card.segments[0], 1, 4), PB_ERROR_OK);
	for (uint32_t i = 0; i < KICK_ENTRIES; i++)
		kick(&card, card.queues[1].handle);
	descriptor = card_mark(&card, 0, 9);
	card_submit(&card, 0, &descriptor);
	assert_int_equal(pb_queue_submit(&third, &descriptor), PB_ERROR_OK);
	assert_int_equal(card.channel.entry->rescan, 2);
	assert_int_equal(card.channel.entry->kick_put - card.channel.entry->kick_get, KICK_ENTRIES);
	assert_int_equal(card_wait(&card, 0, 1).status, PB_ERROR_OK);
	assert_int_equal(card_wait_queue(&card, &third, 1).status, PB_ERROR_OK);
	card_run(&card, 4000); /* the kicks go in slices */
	assert_int_equal(card.channel.entry->kick_put, card.channel.entry->kick_get);
	expect_works(&card, "by a kick again", 0);
	assert_int_equal(card.channel.entry->rescan, 2);
	card_expect_no_event(&card.channel, "rescan");
	card_stop(&card);
}

/* ---- full rings towards the host ---- */

static void events_overflow(void **state)
{
	struct card card;
	struct pb_fence fence = {0};
	struct pb_event event;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < 70; i++) {
		struct pb_descriptor descriptor = card_mark(&card, 0, i);

		descriptor.options = i == 0 ? 2 : 0;
		fence = card_execute(&card, 0, &descriptor);
		assert_int_equal(fence.status, i == 0 ? PB_ERROR_BAD_OPTIONS : PB_ERROR_CONTEXT_LOST);
	}
	/* One for each, and one for the context; the records say what was dropped. */
	assert_int_equal(fence.errors, 70);
	assert_int_equal(fence.error, PB_ERROR_BAD_OPTIONS);
	assert_int_equal(fence.error_fence_id, 0);
	assert_int_equal(card.channel.entry->event_put, EVENT_ENTRIES);
	assert_int_equal(card.channel.entry->events_dropped, 71 - EVENT_ENTRIES);
	for (uint32_t i = 0; i < EVENT_ENTRIES; i++) {
		assert_true(pb_channel_event(&card.channel, &event));
		assert_int_equal(event.number, i);
		assert_int_equal(event.type, i == 1 ? PB_EVENT_CONTEXT_LOST : PB_EVENT_SUBMISSION_FAILED);
		assert_int_equal(event.fence_id, i == 0 ? 0 : i - 1);
	}
	card_expect_no_event(&card.channel, "read");
	kick(&card, PB_HANDLE_NONE);
	card_run(&card, 1000);
	assert_true(pb_channel_event(&card.channel, &event));
	assert_int_equal(event.number, 71);
	card_stop(&card);
}

/* ---- lost doorbells ---- */

static void ring_nothing(struct pb_link *link)
{
	(void)link;
}

static void lost_doorbell_is_found_by_the_tick(void **state)
{
	const uint32_t nothing[PB_COMMAND_ARGUMENTS] = {0};
	struct card card;
	struct pb_link_ops deaf;
	struct pb_descriptor descriptor;
	uint64_t start;

	(void)state;
	card_start(&card);
	deaf = *card.link->ops;
	deaf.doorbell = ring_nothing;
	card.link->ops = &deaf;
	for (uint32_t i = 0; i < 5; i++) {
		card_run(&card, 20000 + 1230 * i);
		descriptor = card_mark(&card, i, i);
		start = pb_sim_now(card.sim);
		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
		assert_in_range(pb_sim_now(card.sim) - start, 0, 5000 + 1000);
		start = pb_sim_now(card.sim);
		assert_int_equal(pb_channel_command(&card.channel, PB_COMMAND_PING, nothing, NULL),
				 PB_ERROR_OK);
		assert_in_range(pb_sim_now(card.sim) - start, 0, 5000 + 1000);
	}
	card_stop(&card);
}

UNIT_SUITE(test_firmware_rings)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_put_stops_one_queue),
		cmocka_unit_test(bad_put_with_work_in_flight),
		cmocka_unit_test(full_ring_is_legal),
		cmocka_unit_test(bad_index_stops_the_channel),
		cmocka_unit_test(faulted_channel_gets_no_command),
		cmocka_unit_test(stray_kicks),
		cmocka_unit_test(kick_of_another_channels_queue),
		cmocka_unit_test(kick_of_a_destroyed_queue),
		cmocka_unit_test(rescan_when_the_kick_ring_is_full),
		cmocka_unit_test(events_overflow),
		cmocka_unit_test(lost_doorbell_is_found_by_the_tick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
