/* SPDX-License-Identifier: MIT */
/* HOST_REVOKE beside what else happens to its channel: an engine that dies, a close, queues that are gone, the next admin. */
#include <string.h>

#include "qemu/mcu/layout.h"
#include "tests/unit/card_queues.h"
#include "tests/unit/puppet_bench.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define PAGE         0x1000u

/* ---- on an engine that the test moves ---- */

#define WINDOW_BYTES 0x10000u
#define PIECE        0x4000u
/* Three pieces of the window, each granted by itself, and segments in them. */
#define HOST       4u
#define OTHER      5u
#define ADDRESS(n) (0x100000u * (n))

static struct pb_host_window window = {PUPPET_MEMORY_BYTES - WINDOW_BYTES, WINDOW_BYTES};

static struct pb_channel *admin(void)
{
	return &puppet_bench.admin;
}

static void create_at(struct pb_segment *segment, uint32_t id, uint32_t address, uint32_t bytes)
{
	const struct pb_segment_request request = {
		id, id * UINT64_C(0x1000000), id * UINT64_C(0x1000000), bytes, bytes, PB_SEGMENT_HOST};
	const struct pb_host_pages pages = {.address = address};

	assert_int_equal(pb_segment_create_host(segment, &puppet_bench.channel, &request, &pages),
			 PB_ERROR_OK);
}

/** Boots with a window behind card memory. Channel 1 has segment 0 in piece 0, and another one in piece 1. */
static void start_on_window(void **state, bool cannot_cut)
{
	struct pb_segment segment;

	assert_int_equal(puppet_start(state), 0);
	puppet_bench.config.memory_bytes = window.offset;
	puppet_bench.config.host = &window;
	puppet_bench.puppet.cannot_cut = cannot_cut;
	pb_firmware_init(puppet_bench.firmware, &puppet_bench.config);
	puppet_reset_done();
	assert_int_equal(pb_channel_attach(&puppet_bench.channel, &puppet_bench.link, 1000000), PB_ERROR_OK);
	puppet_join_admin();
	for (uint32_t n = 0; n < 3; n++)
		assert_int_equal(pb_host_grant(admin(), 1, ADDRESS(n), PIECE, n * PIECE), PB_ERROR_OK);
	create_at(&puppet_bench.system, PB_SEGMENT_SYSTEM, ADDRESS(0), PIECE);
	create_at(&segment, HOST, ADDRESS(1), PIECE);
	assert_int_equal(pb_context_create(&puppet_bench.channel, &puppet_bench.contexts[0]), PB_ERROR_OK);
	assert_int_equal(
		pb_queue_create(&puppet_bench.queue, &puppet_bench.channel, &puppet_bench.system, 0, 8),
		PB_ERROR_OK);
}

static void submit(void)
{
	const struct pb_descriptor descriptor = {
		.context = puppet_bench.contexts[0], .fence_id = 1, .dma_size = 4, .dma_end = 4};

	assert_int_equal(pb_queue_submit(&puppet_bench.queue, &descriptor), PB_ERROR_OK);
}

/** Begins a command of the admin, which is not answered at once. */
static uint32_t begin(uint32_t code, uint32_t address)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {1, PAGE, address};
	uint32_t results[PB_REPLY_RESULTS];
	uint32_t tag;

	assert_int_equal(pb_channel_begin(admin(), code, arguments, &tag), PB_ERROR_OK);
	assert_int_equal(pb_channel_finish(admin(), tag, results), PB_ERROR_TIMEOUT);
	return tag;
}

static enum pb_error finish(uint32_t tag)
{
	uint32_t results[PB_REPLY_RESULTS];

	return pb_channel_finish(admin(), tag, results);
}

/** The engine that runs the channel's submission dies. Its pages are revoked only if it was cut off from them. */
static void an_engine_that_may_reach_the_pages_fails_their_revocation(void **state)
{
	static const struct {
		const char *name;
		bool cannot_cut;
		uint32_t address;
		enum pb_error error;
		enum pb_error next; /* of a revocation behind it */
	} rows[] = {
		{"cut off", false, ADDRESS(1), PB_ERROR_OK, PB_ERROR_OK},
		{"not cut off", true, ADDRESS(1), PB_ERROR_ENGINE_DEAD, PB_ERROR_ENGINE_DEAD},
		{"cut off, and closed", false, ADDRESS(0), PB_ERROR_OK, PB_ERROR_BAD_ARGUMENT},
		{"not cut off, and closed", true, ADDRESS(0), PB_ERROR_ENGINE_DEAD, PB_ERROR_ENGINE_DEAD},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		uint32_t tag;

		start_on_window(state, rows[i].cannot_cut);
		submit();
		tag = begin(PB_COMMAND_HOST_REVOKE, rows[i].address);
		puppet_stall(4u * PUPPET_HANG_MS);
		card_equal(rows[i].name, puppet_bench.puppet.cuts, 1);
		card_equal(rows[i].name, finish(tag), rows[i].error);
		card_equal(rows[i].name, pb_host_revoke(admin(), 1, ADDRESS(2), PAGE), rows[i].next);
	}
}

/** While the channel is being closed its pages go anyway, and the reply to the close is the admin's. */
static void a_channel_that_is_being_closed_is_busy(void **state)
{
	uint32_t tag;

	start_on_window(state, false);
	submit();
	tag = begin(PB_COMMAND_CHANNEL_CLOSE, 0);
	assert_int_equal(pb_host_revoke(admin(), 1, ADDRESS(1), PAGE), PB_ERROR_BUSY);
	puppet_finish(1);
	assert_int_equal(finish(tag), PB_ERROR_OK);
	assert_int_equal(pb_host_revoke(admin(), 1, ADDRESS(1), PAGE), PB_ERROR_BAD_ARGUMENT);
}

/** What the command names is checked first: also while another revocation waits. */
static void only_a_clients_pages_are_revoked(void **state)
{
	static const uint32_t channels[] = {PB_CHANNEL_ADMIN, PB_LIMIT_CHANNELS, UINT32_MAX};

	for (uint32_t waits = 0; waits < 2; waits++) {
		start_on_window(state, false);
		submit();
		if (waits != 0)
			(void)begin(PB_COMMAND_HOST_REVOKE, ADDRESS(1));
		for (uint32_t i = 0; i < COUNT(channels); i++)
			assert_int_equal(pb_host_revoke(admin(), channels[i], ADDRESS(2), PAGE),
					 PB_ERROR_BAD_ARGUMENT);
	}
}

/** The pages of segment 0: its channel is closed if it has queues there, and goes on if it has none. */
static void a_channel_without_queues_goes_on_without_segment_0(void **state)
{
	(void)state;
	for (uint32_t queues = 0; queues < 2; queues++) {
		const uint32_t *const ranges = puppet_bench.puppet.ranges[1];
		struct pb_segment other;

		start_on_window(state, false);
		/* A later segment of the same pages is lost with segment 0. */
		create_at(&other, OTHER, ADDRESS(0), PIECE);
		if (queues == 0)
			assert_int_equal(pb_queue_destroy(&puppet_bench.queue), PB_ERROR_OK);
		assert_int_equal(ranges[PB_SEGMENT_SYSTEM], PIECE);
		assert_int_equal(ranges[OTHER], PIECE);
		assert_int_equal(pb_host_revoke(admin(), 1, ADDRESS(0), PAGE), PB_ERROR_OK);
		assert_int_equal(ranges[PB_SEGMENT_SYSTEM], 0);
		assert_int_equal(ranges[OTHER], 0);
		assert_int_equal(pb_channel_check(&puppet_bench.channel, NULL),
				 queues != 0 ? PB_ERROR_DETACHED : PB_ERROR_OK);
		if (queues != 0)
			continue;
		/* What else it has is left, and goes by itself. */
		assert_int_equal(ranges[HOST], PIECE);
		assert_int_equal(pb_host_revoke(admin(), 1, ADDRESS(1), PAGE), PB_ERROR_OK);
		assert_int_equal(ranges[HOST], 0);
		assert_int_equal(pb_channel_check(&puppet_bench.channel, NULL), PB_ERROR_OK);
		assert_int_not_equal(pb_queue_create(&puppet_bench.queue, &puppet_bench.channel,
						     &puppet_bench.system, 0, 8),
				     PB_ERROR_OK);
	}
}

/* ---- on the card ---- */

#define HOST_OS      UINT64_C(0x60000000)
#define HOST_GPU     UINT64_C(0x300000000)
#define HOST_ADDRESS UINT64_C(0x200000000)
#define HOST_OFFSET  (CARD_HOST_BYTES - PAGE)

/** Grants a page to channel 1 and makes a segment of it. */
static void grant_page(struct card *card, struct pb_channel *admin_channel, uint32_t id)
{
	const struct pb_segment_request request = {id, HOST_OS, HOST_GPU, PAGE, PAGE, PB_SEGMENT_HOST};
	const struct pb_host_pages pages = {.address = HOST_ADDRESS};
	struct pb_segment segment;

	assert_int_equal(pb_host_grant(admin_channel, 1, HOST_ADDRESS, PAGE, HOST_OFFSET), PB_ERROR_OK);
	assert_int_equal(pb_segment_create_host(&segment, &card->channel, &request, &pages), PB_ERROR_OK);
}

/**
 * A buffer with a cookie that lay in revoked pages. These come back at the same place, in another segment at the same
 * addresses, with an unpatched buffer: it is patched.
 */
static void no_buffer_of_revoked_pages_is_known_to_be_patched(void **state)
{
	static const struct {
		bool revokes;
		uint32_t patches; /* in all */
	} rows[] = {{false, 1}, {true, 2}};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_descriptor descriptor;
		struct pb_channel channel;
		struct pb_fence fence;
		struct card card;
		uint8_t *page;

		card_start_host(&card);
		card_join(&card, &channel, PB_CHANNEL_ADMIN);
		page = card.link->memory + PB_CARD_MEMORY_BYTES + HOST_OFFSET;
		grant_page(&card, &channel, HOST);
		descriptor = card_mark(&card, 0, 0x51);
		memcpy(page, card_dma(&card, 0), descriptor.dma_end);
		descriptor.dma_segment = HOST;
		descriptor.dma_address_low = (uint32_t)HOST_OS;
		descriptor.cookie = 0xc001;
		assert_int_equal(card_execute(&card, 0, &descriptor).patches, 1);
		if (rows[i].revokes) {
			assert_int_equal(pb_host_revoke(&channel, 1, HOST_ADDRESS, PAGE), PB_ERROR_OK);
			grant_page(&card, &channel, OTHER);
			memcpy(page, card_dma(&card, 0), descriptor.dma_end);
			descriptor.dma_segment = OTHER;
		}
		memset(card_bytes(&card, 1, 0), 0, 4);
		fence = card_execute(&card, 0, &descriptor);
		assert_int_equal(fence.status, PB_ERROR_OK);
		assert_int_equal(fence.patches, rows[i].patches);
		assert_int_equal(card_word(&card, 1, 0), 0x51);
		card_leave(&channel);
		card_stop(&card);
	}
}

/** A buffer of a client's own: one BUSY packet. */
static void submit_busy(const struct card *card, struct card_client *client, uint32_t microseconds)
{
	struct pb_descriptor descriptor = card_busy(card, 0, microseconds);

	memcpy(card->link->memory + client->segments[0].memory_offset + CARD_DMA, card_dma(card, 0),
	       descriptor.dma_end);
	descriptor.context = client->context;
	assert_int_equal(pb_queue_submit(&client->queue, &descriptor), PB_ERROR_OK);
}

/** The admin has left while its revocation waits. The next one gets the reply to its own command only. */
static void the_next_admin_gets_no_reply_to_a_revocation(void **state)
{
	const uint32_t revoke[PB_COMMAND_ARGUMENTS] = {1, PAGE, (uint32_t)HOST_ADDRESS,
						       (uint32_t)(HOST_ADDRESS >> 32)};
	const uint32_t close[PB_COMMAND_ARGUMENTS] = {2};
	uint32_t results[PB_REPLY_RESULTS];
	static struct card_client other;
	struct pb_descriptor descriptor;
	struct pb_channel channel;
	struct card card;
	uint32_t tag;

	(void)state;
	card_start_host(&card);
	card_join(&card, &channel, PB_CHANNEL_ADMIN);
	card_join_host_client(&card, &other, 2);
	grant_page(&card, &channel, HOST);
	submit_busy(&card, &other, 90000);
	card_run(&card, 1000);
	descriptor = card_busy(&card, 1, 40000);
	card_submit(&card, 1, &descriptor);
	card_run(&card, 1000);
	assert_int_equal(pb_channel_begin(&channel, PB_COMMAND_HOST_REVOKE, revoke, &tag), PB_ERROR_OK);
	card_run(&card, 1000);
	assert_int_equal(pb_channel_detach(&channel), PB_ERROR_OK);
	assert_int_equal(pb_channel_attach(&channel, channel.link, 1000000), PB_ERROR_OK);
	assert_int_equal(pb_host_revoke(&channel, 2, 0, PAGE), PB_ERROR_BUSY);
	assert_int_equal(pb_channel_begin(&channel, PB_COMMAND_CHANNEL_CLOSE, close, &tag), PB_ERROR_OK);
	/* The revocation has ended, and the other client's submission runs. */
	card_wait(&card, 1, 1);
	card_run(&card, 20000);
	assert_int_equal(pb_host_revoke(&channel, 3, 0, PAGE), PB_ERROR_OK);
	assert_int_equal(pb_channel_finish(&channel, tag, results), PB_ERROR_TIMEOUT);
	card_run(&card, 60000);
	assert_int_equal(pb_channel_finish(&channel, tag, results), PB_ERROR_OK);
	card_leave(&channel);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_revocation)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_engine_that_may_reach_the_pages_fails_their_revocation),
		cmocka_unit_test(a_channel_that_is_being_closed_is_busy),
		cmocka_unit_test(only_a_clients_pages_are_revoked),
		cmocka_unit_test(a_channel_without_queues_goes_on_without_segment_0),
		cmocka_unit_test(no_buffer_of_revoked_pages_is_known_to_be_patched),
		cmocka_unit_test(the_next_admin_gets_no_reply_to_a_revocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
