/* SPDX-License-Identifier: MIT */
/* Host pages that are revoked: a clean fault of the channel that had them, and nothing reaches them afterwards. */
#include <string.h>

#include "qemu/mcu/layout.h"
#include "tests/unit/card_queues.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define PAGE         0x1000u
#define MIB          0x100000u
#define SHARE        CARD_SYSTEM_BYTES
#define PATTERN      0xa5u

/* A segment of host memory beside the fixture's. Its pages are granted apart from segment 0, at the end of the window. */
#define HOST         4u
#define HOST_OS      UINT64_C(0x60000000)
#define HOST_GPU     UINT64_C(0x300000000)
#define HOST_BYTES   0x10000u
#define HOST_ADDRESS UINT64_C(0x200000000)
#define HOST_OFFSET  (CARD_HOST_BYTES - HOST_BYTES)

struct bench {
	struct card card;
	struct pb_channel admin;
};

static void start(struct bench *bench)
{
	const struct pb_segment_request request = {HOST,       HOST_OS,    HOST_GPU,
						   HOST_BYTES, HOST_BYTES, PB_SEGMENT_HOST};
	const struct pb_host_pages pages = {.address = HOST_ADDRESS};
	struct pb_segment segment;

	card_start_host(&bench->card);
	card_join(&bench->card, &bench->admin, PB_CHANNEL_ADMIN);
	assert_int_equal(pb_host_grant(&bench->admin, 1, HOST_ADDRESS, HOST_BYTES, HOST_OFFSET), PB_ERROR_OK);
	assert_int_equal(pb_segment_create_host(&segment, &bench->card.channel, &request, &pages),
			 PB_ERROR_OK);
}

static void stop(struct bench *bench)
{
	card_leave(&bench->admin);
	card_stop(&bench->card);
}

static uint8_t *pages_of(const struct bench *bench)
{
	return bench->card.link->memory + PB_CARD_MEMORY_BYTES + HOST_OFFSET;
}

/** What their next owner puts there stays there. */
static void expect_untouched(const struct bench *bench, const char *row, const uint8_t *bytes, uint32_t count)
{
	card_run(&bench->card, 300000);
	for (uint32_t i = 0; i < count; i++)
		card_equal(row, bytes[i], PATTERN);
}

/** A submission of the fixture's slot that waits for some time inside and then fills a word. */
static struct pb_descriptor fill_later(struct card *card, uint32_t slot, uint32_t microseconds,
				       uint64_t gpu_address)
{
	struct pb_descriptor descriptor = card_busy(card, slot, microseconds);

	card_fill(card_dma(card, slot) + descriptor.dma_end / 4u, gpu_address, 4, 0xbad);
	descriptor.dma_end += PB_PACKET_FILL_WORDS * 4u;
	descriptor.dma_size = PAGE;
	return descriptor;
}

static enum pb_error execute(struct card *card, const struct pb_descriptor *descriptor)
{
	const enum pb_error error = card_execute(card, 0, descriptor).status;

	if (error != PB_ERROR_OK)
		assert_int_equal(pb_context_clear(&card->channel, card->context), PB_ERROR_OK);
	return error;
}

static void revoked_pages_are_gone(void **state)
{
	struct pb_descriptor descriptor;
	struct pb_host_grant grant;
	struct bench bench;

	(void)state;
	start(&bench);
	assert_int_equal(pb_host_revoke(&bench.card.channel, 1, HOST_ADDRESS, HOST_BYTES),
			 PB_ERROR_NO_PERMISSION);
	assert_int_equal(pb_host_revoke(&bench.admin, 1, HOST_ADDRESS, HOST_BYTES), PB_ERROR_OK);
	memset(pages_of(&bench), PATTERN, HOST_BYTES);
	assert_int_equal(pb_host_grant_query(&bench.card.channel, 1, 0, &grant), PB_ERROR_OK);
	assert_int_equal(grant.count, 1);
	/* An engine faults on them, and no buffer may lie there. */
	descriptor = fill_later(&bench.card, 0, 1, HOST_GPU);
	assert_int_equal(execute(&bench.card, &descriptor), PB_ERROR_ENGINE_FAULT);
	descriptor = card_mark(&bench.card, 0, 0x11);
	descriptor.dma_segment = HOST;
	descriptor.dma_address_low = (uint32_t)HOST_OS;
	assert_int_equal(execute(&bench.card, &descriptor), PB_ERROR_BAD_BUFFER);
	/* What the channel has beside them works on, and its segment can be given back. */
	descriptor = card_mark(&bench.card, 0, 0x12);
	assert_int_equal(execute(&bench.card, &descriptor), PB_ERROR_OK);
	assert_int_equal(card_word(&bench.card, 1, 0), 0x12);
	assert_int_equal(card_command(&bench.card.channel, PB_COMMAND_SEGMENT_DESTROY, HOST, 0, 0, 0, 0),
			 PB_ERROR_OK);
	expect_untouched(&bench, "gone", pages_of(&bench), HOST_BYTES);
	stop(&bench);
}

/** What of the grant is left, by the range that was revoked. */
static const struct {
	const char *name;
	uint64_t address;
	uint32_t bytes;
	enum pb_error error;
	struct {
		uint64_t address;
		uint32_t bytes;
		uint32_t offset;
	} left[2];
} cuts[] = {
	{"all", HOST_ADDRESS, HOST_BYTES, PB_ERROR_OK, {{0}}},
	{"more than all", HOST_ADDRESS - PAGE, HOST_BYTES + 2 * PAGE, PB_ERROR_OK, {{0}}},
	{"the first page",
	 HOST_ADDRESS,
	 PAGE,
	 PB_ERROR_OK,
	 {{HOST_ADDRESS + PAGE, HOST_BYTES - PAGE, HOST_OFFSET + PAGE}}},
	{"the last page",
	 HOST_ADDRESS + HOST_BYTES - PAGE,
	 PAGE,
	 PB_ERROR_OK,
	 {{HOST_ADDRESS, HOST_BYTES - PAGE, HOST_OFFSET}}},
	{"one in the middle",
	 HOST_ADDRESS + 3 * PAGE,
	 PAGE,
	 PB_ERROR_OK,
	 {{HOST_ADDRESS, 3 * PAGE, HOST_OFFSET},
	  {HOST_ADDRESS + 4 * PAGE, HOST_BYTES - 4 * PAGE, HOST_OFFSET + 4 * PAGE}}},
	{"nothing of it",
	 HOST_ADDRESS - PAGE,
	 PAGE,
	 PB_ERROR_BAD_ARGUMENT,
	 {{HOST_ADDRESS, HOST_BYTES, HOST_OFFSET}}},
	{"behind it",
	 HOST_ADDRESS + HOST_BYTES,
	 PAGE,
	 PB_ERROR_BAD_ARGUMENT,
	 {{HOST_ADDRESS, HOST_BYTES, HOST_OFFSET}}},
	{"no page", HOST_ADDRESS, 0, PB_ERROR_BAD_ARGUMENT, {{HOST_ADDRESS, HOST_BYTES, HOST_OFFSET}}},
	{"half a page",
	 HOST_ADDRESS,
	 PAGE / 2,
	 PB_ERROR_BAD_ARGUMENT,
	 {{HOST_ADDRESS, HOST_BYTES, HOST_OFFSET}}},
	{"wraps",
	 UINT64_MAX - 0xfff,
	 2 * PAGE,
	 PB_ERROR_BAD_ARGUMENT,
	 {{HOST_ADDRESS, HOST_BYTES, HOST_OFFSET}}},
};

static void a_grant_is_cut(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(cuts); i++) {
		uint32_t left = 0;
		struct pb_host_grant grant;
		struct bench bench;

		start(&bench);
		card_equal(cuts[i].name, pb_host_revoke(&bench.admin, 1, cuts[i].address, cuts[i].bytes),
			   cuts[i].error);
		while (left < COUNT(cuts[i].left) && cuts[i].left[left].bytes != 0)
			left++;
		/* The first grant is the channel's part of the window. */
		for (uint32_t n = 0; n < 3; n++) {
			bool found = n == left;

			assert_int_equal(pb_host_grant_query(&bench.admin, 1, n + 1, &grant), PB_ERROR_OK);
			card_equal(cuts[i].name, grant.count, 1 + left);
			for (uint32_t k = 0; n < left && k < left; k++)
				found = found ||
					(grant.address == cuts[i].left[k].address &&
					 grant.bytes == cuts[i].left[k].bytes &&
					 grant.offset == PB_CARD_MEMORY_BYTES + cuts[i].left[k].offset);
			card_equal(cuts[i].name, found || (n > left && grant.bytes == 0), true);
		}
		stop(&bench);
	}
}

/** The second half of a grant's pages is revoked; a segment keeps its backing only if all of it is left. */
static void a_segment_is_backed_as_a_whole(void **state)
{
	struct pb_descriptor descriptor;
	struct bench bench;

	(void)state;
	start(&bench);
	assert_int_equal(pb_host_revoke(&bench.admin, 1, HOST_ADDRESS + HOST_BYTES / 2, PAGE), PB_ERROR_OK);
	descriptor = fill_later(&bench.card, 0, 1, HOST_GPU);
	assert_int_equal(execute(&bench.card, &descriptor), PB_ERROR_ENGINE_FAULT);
	/* Its host makes another one of what is left. */
	assert_int_equal(card_command(&bench.card.channel, PB_COMMAND_SEGMENT_DESTROY, HOST, 0, 0, 0, 0),
			 PB_ERROR_OK);
	{
		const struct pb_segment_request request = {HOST,       HOST_OFFSET, HOST_GPU,
							   HOST_BYTES, PAGE,        PB_SEGMENT_HOST};
		struct pb_host_pages pages = {.address = HOST_ADDRESS + HOST_BYTES / 2};
		struct pb_segment segment;

		assert_int_equal(pb_segment_create_host(&segment, &bench.card.channel, &request, &pages),
				 PB_ERROR_NO_PERMISSION);
		pages.address -= PAGE;
		assert_int_equal(pb_segment_create_host(&segment, &bench.card.channel, &request, &pages),
				 PB_ERROR_OK);
	}
	descriptor = fill_later(&bench.card, 0, 1, HOST_GPU);
	assert_int_equal(execute(&bench.card, &descriptor), PB_ERROR_OK);
	stop(&bench);
}

/* ---- under work in flight ---- */

/** Begins a revocation of the bench's pages. */
static uint32_t begin(struct bench *bench)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {1, HOST_BYTES, (uint32_t)HOST_ADDRESS,
							  (uint32_t)(HOST_ADDRESS >> 32)};
	uint32_t tag;

	assert_int_equal(pb_channel_begin(&bench->admin, PB_COMMAND_HOST_REVOKE, arguments, &tag),
			 PB_ERROR_OK);
	return tag;
}

static enum pb_error finish(struct bench *bench, uint32_t tag)
{
	uint32_t results[PB_REPLY_RESULTS];
	enum pb_error error;

	for (uint32_t i = 0; i < 1000; i++) {
		error = pb_channel_finish(&bench->admin, tag, results);
		if (error != PB_ERROR_TIMEOUT)
			return error;
		card_run(&bench->card, 1000);
	}
	return PB_ERROR_TIMEOUT;
}

static bool is_answered(struct bench *bench, uint32_t tag, enum pb_error *error)
{
	uint32_t results[PB_REPLY_RESULTS];

	*error = pb_channel_finish(&bench->admin, tag, results);
	return *error != PB_ERROR_TIMEOUT;
}

/** The running submission keeps them until it ends; the reply waits. Those behind it fault. */
static void the_reply_waits_for_what_runs(void **state)
{
	struct pb_descriptor descriptors[3];
	struct bench bench;
	enum pb_error error;
	uint32_t tag;

	(void)state;
	start(&bench);
	for (uint32_t i = 0; i < 3; i++) {
		descriptors[i] = fill_later(&bench.card, i, 40000, HOST_GPU + 4 * i);
		descriptors[i].fence_id = i + 1;
		card_submit(&bench.card, 0, &descriptors[i]);
	}
	card_run(&bench.card, 5000);
	tag = begin(&bench);
	card_run(&bench.card, 20000);
	assert_false(is_answered(&bench, tag, &error));
	/* One at a time. */
	assert_int_equal(pb_host_revoke(&bench.admin, 2, 0, PAGE), PB_ERROR_BUSY);
	assert_int_equal(finish(&bench, tag), PB_ERROR_OK);
	memset(pages_of(&bench), PATTERN, HOST_BYTES);
	assert_int_equal(card_wait(&bench.card, 0, 3).errors, 2);
	expect_untouched(&bench, "runs", pages_of(&bench), HOST_BYTES);
	/* The channel goes on. */
	assert_int_equal(pb_context_clear(&bench.card.channel, bench.card.context), PB_ERROR_OK);
	descriptors[0] = card_mark(&bench.card, 0, 0x21);
	assert_int_equal(execute(&bench.card, &descriptors[0]), PB_ERROR_OK);
	assert_int_equal(pb_host_revoke(&bench.admin, 2, 0, PAGE), PB_ERROR_OK);
	stop(&bench);
}

/** A client that keeps its engine busy, or hangs it, holds up the admin no longer than a hang. */
static void no_client_delays_the_reply(void **state)
{
	(void)state;
	for (uint32_t hangs = 0; hangs < 2; hangs++) {
		struct pb_descriptor descriptor;
		struct bench bench;
		uint32_t context, tag;
		uint64_t begun;

		start(&bench);
		assert_int_equal(pb_context_create(&bench.card.channel, &context), PB_ERROR_OK);
		/* More than enough to keep something in flight for ever, if the channel were not held. */
		descriptor = fill_later(&bench.card, 0, 20000, CARD_VIDEO_GPU);
		descriptor.context = context;
		for (uint32_t i = 0; i < 14; i++)
			card_submit(&bench.card, 0, &descriptor);
		descriptor = fill_later(&bench.card, 1, hangs != 0 ? 10000000u : 500000u, HOST_GPU);
		pb_queue_set_limits(&bench.card.queues[1], 100000000, 0);
		card_submit(&bench.card, 1, &descriptor);
		card_run(&bench.card, 3000);
		begun = pb_sim_now(bench.card.sim);
		tag = begin(&bench);
		assert_int_equal(finish(&bench, tag), PB_ERROR_OK);
		/* A hang, the reset, and a few ticks. */
		assert_in_range(pb_sim_now(bench.card.sim) - begun, 0, 150000);
		memset(pages_of(&bench), PATTERN, HOST_BYTES);
		card_wait(&bench.card, 0, 14);
		card_wait(&bench.card, 1, 1);
		expect_untouched(&bench, "busy", pages_of(&bench), HOST_BYTES);
		stop(&bench);
	}
}

/** Buffer and lists that are being patched when their pages go. */
static void nothing_is_patched_in_revoked_pages(void **state)
{
	(void)state;
	for (uint32_t steps = 0; steps < 40; steps++) {
		struct pb_descriptor descriptor;
		struct bench bench;
		uint32_t tag;

		start(&bench);
		descriptor = card_mark(&bench.card, 0, 0x31);
		for (uint32_t i = 0; i < 64; i++) {
			const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
								.patch_offset = 4 + 8 * i};

			card_patch(&bench.card, i, &patch);
		}
		descriptor.dma_segment = HOST;
		descriptor.dma_address_low = (uint32_t)HOST_OS;
		descriptor.dma_end = PAGE;
		descriptor.patch_count = 64;
		descriptor.patch_length = 64;
		card_submit(&bench.card, 0, &descriptor);
		for (uint32_t i = 0; i < steps; i++)
			pb_sim_step(bench.card.sim);
		tag = begin(&bench);
		assert_int_equal(finish(&bench, tag), PB_ERROR_OK);
		memset(pages_of(&bench), PATTERN, HOST_BYTES);
		assert_int_not_equal(card_wait(&bench.card, 0, 1).status, PB_ERROR_OK);
		expect_untouched(&bench, "patched", pages_of(&bench), HOST_BYTES);
		stop(&bench);
	}
}

/** The pages of queues: without them the firmware cannot report anything. */
static void a_channel_without_its_queue_pages_is_closed(void **state)
{
	(void)state;
	for (uint32_t busy = 0; busy < 2; busy++) {
		struct pb_descriptor descriptor;
		struct pb_host_grant grant;
		struct bench bench;
		uint8_t *system;

		start(&bench);
		system = card_bytes(&bench.card, 0, 0);
		descriptor = fill_later(&bench.card, 0, 20000, CARD_SYSTEM_GPU + MIB);
		if (busy != 0)
			card_submit(&bench.card, 0, &descriptor);
		card_run(&bench.card, 2000);
		assert_int_equal(pb_host_revoke(&bench.admin, 1, PAGE, PAGE), PB_ERROR_OK);
		memset(system, PATTERN, SHARE);
		assert_int_equal(pb_channel_check(&bench.card.channel, NULL), PB_ERROR_DETACHED);
		pb_sim_doorbell(bench.card.sim, 1);
		expect_untouched(&bench, "closed", system, SHARE);
		/* The next client has no grants but new ones. */
		assert_int_equal(pb_channel_attach(&bench.card.channel, bench.card.link, 1000000),
				 PB_ERROR_OK);
		assert_int_equal(pb_host_grant_query(&bench.card.channel, 1, 0, &grant), PB_ERROR_OK);
		assert_int_equal(grant.count, 0);
		stop(&bench);
	}
}

/** A segment that is being created has the pages only if they are granted at its end. */
static void a_segment_in_progress_loses_its_pages(void **state)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {6,
							  PB_SEGMENT_HOST,
							  0,
							  0,
							  0,
							  6,
							  HOST_BYTES,
							  0,
							  HOST_BYTES,
							  (uint32_t)HOST_ADDRESS,
							  (uint32_t)(HOST_ADDRESS >> 32)};
	uint32_t refused = 0;

	(void)state;
	for (uint32_t steps = 0; steps < 12; steps++) {
		uint32_t results[PB_REPLY_RESULTS];
		struct pb_descriptor descriptor;
		struct bench bench;
		enum pb_error error;
		uint32_t create, tag;

		start(&bench);
		assert_int_equal(
			pb_channel_begin(&bench.card.channel, PB_COMMAND_SEGMENT_CREATE, arguments, &create),
			PB_ERROR_OK);
		for (uint32_t i = 0; i < steps; i++)
			pb_sim_step(bench.card.sim);
		tag = begin(&bench);
		assert_int_equal(finish(&bench, tag), PB_ERROR_OK);
		card_run(&bench.card, 10000);
		error = pb_channel_finish(&bench.card.channel, create, results);
		assert_true(error == PB_ERROR_OK || error == PB_ERROR_NO_PERMISSION);
		refused += error != PB_ERROR_OK;
		memset(pages_of(&bench), PATTERN, HOST_BYTES);
		descriptor = fill_later(&bench.card, 0, 1, UINT64_C(0x600000000));
		assert_int_equal(execute(&bench.card, &descriptor), PB_ERROR_ENGINE_FAULT);
		expect_untouched(&bench, "created", pages_of(&bench), HOST_BYTES);
		stop(&bench);
	}
	assert_in_range(refused, 1, 11);
}

/** An admin that dies in the middle: the pages stay revoked, and the channel runs again. */
static void the_admin_dies(void **state)
{
	struct pb_descriptor descriptor;
	struct bench bench;
	uint32_t replies;

	(void)state;
	start(&bench);
	descriptor = fill_later(&bench.card, 0, 90000, HOST_GPU);
	card_submit(&bench.card, 0, &descriptor);
	card_run(&bench.card, 5000);
	(void)begin(&bench);
	card_run(&bench.card, 5000);
	assert_int_equal(pb_channel_detach(&bench.admin), PB_ERROR_OK);
	assert_int_equal(pb_channel_attach(&bench.admin, bench.admin.link, 1000000), PB_ERROR_OK);
	/* The channel is held still, so that the next admin is there before a reply to the last one could be. */
	assert_int_equal(pb_host_revoke(&bench.admin, 2, 0, PAGE), PB_ERROR_BUSY);
	replies = bench.admin.entry->reply_put;
	card_run(&bench.card, 100000);
	assert_int_equal(bench.admin.entry->reply_put, replies);
	card_wait(&bench.card, 0, 1);
	descriptor = fill_later(&bench.card, 0, 1, HOST_GPU);
	assert_int_equal(execute(&bench.card, &descriptor), PB_ERROR_ENGINE_FAULT);
	descriptor = card_mark(&bench.card, 0, 0x41);
	assert_int_equal(execute(&bench.card, &descriptor), PB_ERROR_OK);
	assert_int_equal(pb_host_revoke(&bench.admin, 2, 0, PAGE), PB_ERROR_OK);
	stop(&bench);
}

UNIT_SUITE(test_firmware_host_revoke)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(revoked_pages_are_gone),
		cmocka_unit_test(a_grant_is_cut),
		cmocka_unit_test(a_segment_is_backed_as_a_whole),
		cmocka_unit_test(the_reply_waits_for_what_runs),
		cmocka_unit_test(no_client_delays_the_reply),
		cmocka_unit_test(nothing_is_patched_in_revoked_pages),
		cmocka_unit_test(a_channel_without_its_queue_pages_is_closed),
		cmocka_unit_test(a_segment_in_progress_loses_its_pages),
		cmocka_unit_test(the_admin_dies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
