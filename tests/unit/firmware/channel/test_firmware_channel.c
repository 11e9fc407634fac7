/* SPDX-License-Identifier: MIT */
/* Channels: attach, detach and close, what they leave behind, and what they can see of each other. */
#include <string.h>

#include "tests/unit/card_queues.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
/* What one channel can have: of 4096 queues 227, and of 512 contexts 28, are kept for each other one. */
#define QUEUES   2280u
#define CONTEXTS 288u

/* ---- attach ---- */

/** Stores a request and lets the card answer it. */
static void request(struct card *card, uint32_t op)
{
	struct pb_channel_entry *entry = card->channel.entry;

	entry->attach_request = (entry->attach_done & ~PB_ATTACH_OP_MASK) + PB_ATTACH_COUNTER_ONE + op;
	pb_sim_doorbell(card->sim, 1);
	card_run(card, 20000); /* all queues of the card are looked through, some in each pass */
	assert_int_equal(entry->attach_done, entry->attach_request);
}

static const struct {
	const char *name;
	uint32_t op;
	uint32_t version;
	uint32_t incarnation; /* added to the firmware's */
	enum pb_error error;
	enum pb_channel_state state;
} attaches[] = {
	{"as it should be", PB_ATTACH_OP_ATTACH, PB_ABI_VERSION, 0, PB_ERROR_OK, PB_CHANNEL_OPEN},
	{"a later minor version", PB_ATTACH_OP_ATTACH, 0x0001ffff, 0, PB_ERROR_OK, PB_CHANNEL_OPEN},
	{"major version 2", PB_ATTACH_OP_ATTACH, 0x00020000, 0, PB_ERROR_BAD_VERSION, PB_CHANNEL_CLOSED},
	{"major version 0", PB_ATTACH_OP_ATTACH, 0x00000001, 0, PB_ERROR_BAD_VERSION, PB_CHANNEL_CLOSED},
	{"a later incarnation", PB_ATTACH_OP_ATTACH, PB_ABI_VERSION, 1, PB_ERROR_BAD_ARGUMENT,
	 PB_CHANNEL_CLOSED},
	{"an earlier incarnation", PB_ATTACH_OP_ATTACH, PB_ABI_VERSION, -1u, PB_ERROR_BAD_ARGUMENT,
	 PB_CHANNEL_CLOSED},
	{"no operation", 0, PB_ABI_VERSION, 0, PB_ERROR_BAD_ARGUMENT, PB_CHANNEL_CLOSED},
	{"operation 3", 3, PB_ABI_VERSION, 0, PB_ERROR_BAD_ARGUMENT, PB_CHANNEL_CLOSED},
	{"detach", PB_ATTACH_OP_DETACH, PB_ABI_VERSION, 0, PB_ERROR_OK, PB_CHANNEL_CLOSED},
	{"detach with another version", PB_ATTACH_OP_DETACH, 0x00020000, 5, PB_ERROR_OK, PB_CHANNEL_CLOSED},
};

/** Any answered request ends what was there before, also one that is refused. */
static void every_attach(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(attaches); i++) {
		const char *row = attaches[i].name;
		struct card card;
		struct pb_channel_entry *entry;
		uint32_t epoch;

		card_start(&card);
		entry = card.channel.entry;
		epoch = entry->epoch;
		entry->host_version = attaches[i].version;
		entry->incarnation = card.channel.card.incarnation + attaches[i].incarnation;
		entry->control_put = 0;
		entry->reply_get = 0;
		entry->kick_put = 0;
		entry->event_get = 0;
		request(&card, attaches[i].op);
		card_equal(row, entry->state, attaches[i].state);
		card_equal(row, entry->error, attaches[i].error);
		card_equal(row, pb_channel_check(&card.channel, NULL), PB_ERROR_DETACHED);
		/* Once for the close, and once for the attach. */
		card_equal(row, entry->epoch - epoch, attaches[i].state == PB_CHANNEL_OPEN ? 2 : 1);
		if (attaches[i].state == PB_CHANNEL_OPEN) {
			card_equal(row, entry->control_get, 0);
			card_equal(row, entry->reply_put, 0);
		}
		card_equal(row, pb_channel_attach(&card.channel, card.link, 1000000), PB_ERROR_OK);
		card_stop(&card);
	}
}

static void closed_channel_is_not_served(void **state)
{
	struct card card;
	const struct pb_channel_entry *entry;

	(void)state;
	card_attach(&card);
	entry = card.channel.entry;
	assert_int_equal(pb_channel_detach(&card.channel), PB_ERROR_OK);
	card.channel.entry->control_put = 5;
	card.channel.entry->kick_put = 1000;
	card.channel.entry->rescan = 3;
	pb_sim_doorbell(card.sim, 1);
	card_run(&card, 20000);
	assert_int_equal(entry->state, PB_CHANNEL_CLOSED);
	assert_int_equal(entry->error, PB_ERROR_OK);
	assert_int_equal(entry->control_get, 0);
	assert_int_equal(entry->kick_get, 0);
	assert_int_equal(pb_channel_attach(&card.channel, card.link, 1000000), PB_ERROR_OK);
	card_stop(&card);
}

/** A client that died while it attached is closed for good, whether the firmware had seen its request or not. */
static void no_host_attaches_behind_a_close(void **state)
{
	(void)state;
	for (uint32_t open = 0; open < 2; open++) {
		struct pb_channel_entry *entry;
		struct pb_channel admin;
		struct card card;

		card_attach(&card);
		card_join(&card, &admin, PB_CHANNEL_ADMIN);
		entry = card.channel.entry;
		if (open == 0)
			assert_int_equal(pb_channel_detach(&card.channel), PB_ERROR_OK);
		/* No doorbell announces the request. */
		entry->attach_request = ((entry->attach_done & ~PB_ATTACH_OP_MASK) + PB_ATTACH_COUNTER_ONE) |
					PB_ATTACH_OP_ATTACH;
		assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_CLOSE, 1, 0, 0, 0, 0), PB_ERROR_OK);
		assert_int_equal(entry->state, PB_CHANNEL_CLOSED);
		assert_int_equal(entry->attach_done, entry->attach_request);
		card_run(&card, 20000);
		assert_int_equal(entry->state, PB_CHANNEL_CLOSED);
		assert_int_equal(pb_channel_attach(&card.channel, card.link, 1000000), PB_ERROR_OK);
		card_leave(&admin);
		card_stop(&card);
	}
}

/* ---- limits, and what an attach gives back ---- */

/** Each queue stores its number with a context of its own, some queues at a time. */
static void use_queues(struct card *card, struct pb_queue *queues, uint32_t first, const uint32_t *contexts)
{
	for (uint32_t i = 0; i < CARD_QUEUE_BUFFERS; i++) {
		struct pb_descriptor descriptor = card_mark(card, i, 0x1000 + first + i);

		descriptor.context = contexts[(first + i) % CONTEXTS];
		card_queue_submit(&queues[first + i], &descriptor);
	}
	for (uint32_t i = 0; i < CARD_QUEUE_BUFFERS; i++) {
		assert_int_equal(card_wait_queue(card, &queues[first + i], 1).status, PB_ERROR_OK);
		assert_int_equal(card_word(card, 1, 4 * i), 0x1000 + first + i);
	}
}

/** Makes all queues and contexts that the card has, and uses each. */
static void fill_card(struct card *card, struct pb_queue queues[QUEUES])
{
	uint32_t contexts[CONTEXTS], extra;
	struct pb_queue queue;

	card_make_segments(&card->channel, card->segments);
	for (uint32_t i = 0; i < CONTEXTS; i++)
		assert_int_equal(pb_context_create(&card->channel, &contexts[i]), PB_ERROR_OK);
	assert_int_equal(pb_context_create(&card->channel, &extra), PB_ERROR_NO_SPACE);
	for (uint32_t i = 0; i < QUEUES; i++)
		card_queue_make(&queues[i], card,
				&(struct card_queue_request){.place = i, .node = i % 2, .level = i / 2 % 3});
	assert_int_equal(card_queue_open(&queue, &card->channel, &card->segments[0],
					 &(struct card_queue_request){.place = QUEUES}),
			 PB_ERROR_NO_SPACE);
	for (uint32_t i = 0; i + CARD_QUEUE_BUFFERS <= QUEUES; i += CARD_QUEUE_BUFFERS)
		use_queues(card, queues, i, contexts);
}

static void attach_gives_everything_back(void **state)
{
	static struct pb_queue queues[QUEUES];
	struct card card;
	uint32_t first = 0;

	(void)state;
	card_attach(&card);
	for (uint32_t round = 0; round < 3; round++) {
		fill_card(&card, queues);
		/* A handle of an earlier round is not the object that has its slot now. */
		if (round != 0) {
			const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {first};

			assert_int_not_equal(queues[0].handle, first);
			assert_int_equal(
				pb_channel_command(&card.channel, PB_COMMAND_QUEUE_CLEAR, arguments, NULL),
				PB_ERROR_BAD_HANDLE);
		}
		first = queues[0].handle;
		assert_int_equal(card_queue_close(&queues[7]), PB_ERROR_OK);
		card_queue_make(&queues[7], &card, &(struct card_queue_request){.place = 7, .node = 1});
		assert_int_equal(pb_channel_attach(&card.channel, card.link, 1000000), PB_ERROR_OK);
	}
	card_stop(&card);
}

/* ---- close with work ---- */

/** A client whose work hangs is closed by the admin: all it had is there for the next one. */
static void hanging_client_is_reclaimed(void **state)
{
	static struct pb_queue queues[QUEUES];
	struct card card;
	struct pb_channel admin;
	struct pb_descriptor descriptor;
	const uint32_t victim[PB_COMMAND_ARGUMENTS] = {1};
	uint64_t start;

	(void)state;
	card_start(&card);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	for (uint32_t node = 0; node < 2; node++) {
		for (uint32_t i = 0; i < 4; i++) {
			card_dma(&card, i)[0] = PB_PACKET(PB_PACKET_HANG, PB_PACKET_HANG_WORDS);
			descriptor = card_descriptor(&card, i, 4, 0, 0);
			card_submit(&card, node, &descriptor);
		}
	}
	card_run(&card, 1000);
	start = pb_sim_now(card.sim);
	assert_int_equal(pb_channel_command(&admin, PB_COMMAND_CHANNEL_CLOSE, victim, NULL), PB_ERROR_OK);
	/* One hang is waited for; what is behind it in the ring is the same context's and is not run. */
	assert_in_range(pb_sim_now(card.sim) - start, 0, 150000);
	assert_int_equal(card.channel.entry->state, PB_CHANNEL_CLOSED);
	card_leave(&admin);
	assert_int_equal(pb_channel_attach(&card.channel, card.link, 1000000), PB_ERROR_OK);
	fill_card(&card, queues);
	card_stop(&card);
}

/** A submission that makes progress for an hour keeps neither its channel's slots, nor the node from other channels. */
static void busy_client_is_reclaimed(void **state)
{
	struct card card;
	struct pb_channel admin;
	struct pb_descriptor descriptor;
	const uint32_t victim[PB_COMMAND_ARGUMENTS] = {1};
	struct pb_fence fence;
	uint32_t second;
	uint64_t start;

	(void)state;
	card_start(&card);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	assert_int_equal(pb_context_create(&card.channel, &second), PB_ERROR_OK);
	card_dma(&card, 0)[0] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
	card_dma(&card, 0)[1] = 0xffffffff;
	descriptor = card_descriptor(&card, 0, 8, 0, 0);
	for (uint32_t node = 0; node < 2; node++) {
		/* Of two contexts, so that the second is fed again when the first is reset. */
		descriptor.context = card.context;
		card_submit(&card, node, &descriptor);
		descriptor.context = second;
		card_submit(&card, node, &descriptor);
	}
	/* While the channel is open, work may take as long as it likes. */
	card_run(&card, 300000);
	assert_int_equal(pb_queue_fence(&card.queues[0], &fence), PB_ERROR_OK);
	assert_int_equal(fence.completed, 0);
	start = pb_sim_now(card.sim);
	assert_int_equal(pb_channel_command(&admin, PB_COMMAND_CHANNEL_CLOSE, victim, NULL), PB_ERROR_OK);
	assert_in_range(pb_sim_now(card.sim) - start, 190000, 230000);
	assert_int_equal(card.channel.entry->state, PB_CHANNEL_CLOSED);
	card_leave(&admin);
	assert_int_equal(pb_channel_attach(&card.channel, card.link, 1000000), PB_ERROR_OK);
	card_stop(&card);
}

/** The client comes back while its old work still runs: the answer waits until that is gone. */
static void attach_waits_for_old_work(void **state)
{
	static struct pb_queue queues[QUEUES];
	struct card card;
	struct pb_descriptor descriptor;
	uint64_t start;

	(void)state;
	card_start(&card);
	card_dma(&card, 0)[0] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
	card_dma(&card, 0)[1] = 40000;
	descriptor = card_descriptor(&card, 0, 8, 0, 0);
	card_submit(&card, 0, &descriptor);
	card_submit(&card, 1, &descriptor);
	card_run(&card, 1000);
	start = pb_sim_now(card.sim);
	assert_int_equal(pb_channel_attach(&card.channel, card.link, 1000000), PB_ERROR_OK);
	assert_in_range(pb_sim_now(card.sim) - start, 38000, 50000);
	fill_card(&card, queues);
	card_stop(&card);
}

/* ---- two channels ---- */

static uint32_t *video_of(const struct card_client *client)
{
	return (uint32_t *)(void *)(client->channel.link->memory + client->segments[1].memory_offset);
}

/** The same addresses are other memory in another channel. */
static void channels_do_not_share_memory(void **state)
{
	struct card card;
	struct card_client other;
	struct pb_descriptor descriptor;
	uint32_t *words;

	(void)state;
	card_start(&card);
	card_join_client(&card, &other, 2);
	descriptor = card_mark(&card, 0, 0xaaaa);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 1, 0), 0xaaaa);
	assert_int_equal(video_of(&other)[0], 0);

	/* The neighbour's buffer is at the same address; it finds its own bytes there. */
	words = (uint32_t *)(void *)(other.channel.link->memory + other.segments[0].memory_offset + CARD_DMA);
	card_fill(words, CARD_VIDEO_GPU, 4, 0xbbbb);
	descriptor = card_descriptor(&card, 0, 20, 0, 0);
	descriptor.context = other.context;
	assert_int_equal(pb_queue_submit(&other.queue, &descriptor), PB_ERROR_OK);
	assert_int_equal(card_wait_queue(&card, &other.queue, 1).status, PB_ERROR_OK);
	assert_int_equal(video_of(&other)[0], 0xbbbb);
	assert_int_equal(card_word(&card, 1, 0), 0xaaaa);
	card_leave(&other.channel);
	card_stop(&card);
}

/** One channel's memory has no address in another. */
static void channel_cannot_reach_another(void **state)
{
	struct card card;
	struct card_client other;
	struct pb_descriptor descriptor;
	struct pb_segment apart;
	const struct pb_segment_request request_apart = {
		3, UINT64_C(1) << 44, UINT64_C(1) << 44, 0x1000, 0x1000, 0};

	(void)state;
	card_start(&card);
	card_join_client(&card, &other, 2);
	assert_int_equal(pb_segment_destroy(&other.segments[3]), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&apart, &other.channel, &request_apart), PB_ERROR_OK);
	card_fill(card_dma(&card, 0), UINT64_C(1) << 44, 4, 0xbad);
	descriptor = card_descriptor(&card, 0, 20, 0, 0);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_ENGINE_FAULT);
	assert_int_equal(other.channel.link->memory[apart.memory_offset], 0);
	/* Nor did the neighbour notice. */
	card_expect_no_event(&other.channel, "neighbour");
	descriptor.context = other.context;
	descriptor.dma_end = 0;
	assert_int_equal(pb_queue_submit(&other.queue, &descriptor), PB_ERROR_OK);
	assert_int_equal(card_wait_queue(&card, &other.queue, 1).status, PB_ERROR_OK);
	card_leave(&other.channel);
	card_stop(&card);
}

/** Channels of one node take turns, each until it has used a quantum of engine time. */
static void channels_take_turns(void **state)
{
	struct card card;
	struct card_client other;
	uint32_t mine = 0, theirs = 0;

	(void)state;
	card_start(&card);
	card_join_client(&card, &other, 2);
	for (uint32_t i = 0; i < 8; i++) {
		struct pb_descriptor descriptor = card_busy(&card, 0, 5000);
		uint32_t *words = (uint32_t *)(void *)(other.channel.link->memory +
						       other.segments[0].memory_offset + CARD_DMA);

		memcpy(words, card_dma(&card, 0), 8);
		card_submit(&card, 0, &descriptor);
		descriptor.context = other.context;
		card_queue_submit(&other.queue, &descriptor);
	}
	while (mine < 8 || theirs < 8) {
		struct pb_fence fence;

		pb_sim_step(card.sim);
		assert_int_equal(pb_queue_fence(&card.queues[0], &fence), PB_ERROR_OK);
		mine = fence.completed;
		assert_int_equal(pb_queue_fence(&other.queue, &fence), PB_ERROR_OK);
		theirs = fence.completed;
		/* One a turn, and what was fed or prepared when that was over: one may be ahead by three. */
		assert_in_range(mine + 3 - theirs, 0, 6);
	}
	card_leave(&other.channel);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_channel)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_attach),
		cmocka_unit_test(closed_channel_is_not_served),
		cmocka_unit_test(no_host_attaches_behind_a_close),
		cmocka_unit_test(attach_gives_everything_back),
		cmocka_unit_test(hanging_client_is_reclaimed),
		cmocka_unit_test(busy_client_is_reclaimed),
		cmocka_unit_test(attach_waits_for_old_work),
		cmocka_unit_test(channels_do_not_share_memory),
		cmocka_unit_test(channel_cannot_reach_another),
		cmocka_unit_test(channels_take_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
