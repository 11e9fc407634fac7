/* SPDX-License-Identifier: MIT */
/* Contexts, queues and submissions. */
#include <string.h>

#include "tests/unit/fake_firmware.h"
#include "tests/unit/unit.h"

/* ---- contexts and queues ---- */

static struct pb_reply answer;
static void tamper_reply(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment != FAKE_REPLY)
		return;
	fake->reply.results[0] = answer.results[0];
	fake->reply.error = answer.error;
}

static void context_commands(void **state)
{
	struct fake_bench bench;
	uint32_t context = 0;

	(void)state;
	fake_bench_start(&bench);
	assert_int_equal(pb_context_create(&bench.channel, &context), PB_ERROR_OK);
	assert_int_equal(context, 0x00090003);
	assert_int_equal(pb_context_clear(&bench.channel, context), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[0], PB_COMMAND_CONTEXT_CLEAR);
	assert_int_equal(bench.fake.last_command[2], 0x00090003);
	assert_int_equal(pb_context_destroy(&bench.channel, context), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[0], PB_COMMAND_CONTEXT_DESTROY);
	assert_int_equal(bench.fake.last_command[2], 0x00090003);
	assert_int_equal(pb_queue_clear(&bench.queue), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[0], PB_COMMAND_QUEUE_CLEAR);
	assert_int_equal(bench.fake.last_command[2], PB_HANDLE(0, 1));
	answer = (struct pb_reply){.results = {0x0000ffff}};
	bench.fake.tamper = tamper_reply;
	assert_int_equal(pb_context_create(&bench.channel, &context), PB_ERROR_PROTOCOL);
	assert_int_equal(context, 0x00090003);
	fake_bench_stop(&bench);
}

static void queue_create_names_its_page(void **state)
{
	struct fake_bench bench;
	struct pb_queue second;
	static const uint8_t empty[256 + 64 * 128];

	(void)state;
	fake_bench_start(&bench);
	memset(bench.fake.link.memory + FAKE_POOL_OFFSET + 256 + 8 * 128, 0xee, sizeof(empty));
	bench.fake.stalled = true;
	assert_int_equal(pb_queue_create(&second, &bench.channel, &bench.system, 1, 64), PB_ERROR_TIMEOUT);
	assert_memory_equal(second.memory.bytes_host, &empty, sizeof(empty));
	assert_int_equal(second.memory.offset, 256 + 8 * 128);
	assert_int_equal(second.memory.bytes, 256 + 64 * 128);
	bench.fake.stalled = false;
	assert_int_equal(pb_queue_create(&second, &bench.channel, &bench.system, 1, 4), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[0], PB_COMMAND_QUEUE_CREATE);
	assert_int_equal(bench.fake.last_command[2], 1);
	assert_int_equal(bench.fake.last_command[3], 4);
	/* The memory of the one that was given up stays taken: it may have come to be. */
	assert_int_equal(bench.fake.last_command[4], 0x40000000 + 2 * 256 + (8 + 64) * 128);
	assert_int_equal(bench.fake.last_command[5], 1);
	assert_int_equal(bench.fake.last_command[6], PB_PRIORITY_NORMAL);
	assert_int_equal(bench.fake.last_command[7], 0);
	fake_bench_stop(&bench);
}

static void queue_create_with_all_there_is(void **state)
{
	const struct pb_queue_request request = {
		.node = 3, .entries = 16, .priority = PB_PRIORITY_REALTIME, .quantum_us = 12345};
	const uint32_t expected[] = {PB_COMMAND_QUEUE_CREATE, 3,    16, 0x40000000 + 256 + 8 * 128, 1,
				     PB_PRIORITY_REALTIME,    12345};
	struct fake_bench bench;
	struct pb_queue queue;

	(void)state;
	fake_bench_start(&bench);
	assert_int_equal(pb_queue_create_with(&queue, &bench.channel, &bench.system, &request), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[0], expected[0]);
	assert_memory_equal(&bench.fake.last_command[2], &expected[1], sizeof(expected) - 4);
	assert_int_equal(queue.node, 3);
	assert_int_equal(queue.entries, 16);
	fake_bench_stop(&bench);
}

static void wait_names_a_queue_and_a_value(void **state)
{
	struct fake_bench bench;
	struct pb_wait waits[2];
	const uint32_t expected[] = {PB_HANDLE(0, 1), 0, 0x89abcdef, 0x01234567};

	(void)state;
	fake_bench_start(&bench);
	memset(waits, 0xee, sizeof(waits));
	pb_wait_on(&waits[0], &bench.queue, 0x0123456789abcdef);
	assert_memory_equal(&waits[0], expected, 16);
	assert_int_equal(waits[1].reserved, 0xeeeeeeee);
	fake_bench_stop(&bench);
}

static void queue_create_refuses(void **state)
{
	static const struct {
		uint32_t entries;
		enum pb_error expected;
	} cases[] = {
		{0, PB_ERROR_BAD_ARGUMENT},
		{2, PB_ERROR_BAD_ARGUMENT},
		{4, PB_ERROR_OK},
		{12, PB_ERROR_BAD_ARGUMENT},
		{64, PB_ERROR_OK},
		{65, PB_ERROR_BAD_ARGUMENT},
		{128, PB_ERROR_BAD_ARGUMENT},
		{0x80000000, PB_ERROR_BAD_ARGUMENT},
	};
	struct fake_bench bench;
	struct pb_queue queue;

	(void)state;
	fake_bench_start(&bench);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(pb_queue_create(&queue, &bench.channel, &bench.system, 0, cases[i].entries),
				 cases[i].expected);
		if (cases[i].expected == PB_ERROR_OK)
			assert_int_equal(pb_queue_destroy(&queue), PB_ERROR_OK);
		assert_int_equal(bench.system.extent_count, 1);
	}
	bench.system.request.id = 1;
	assert_int_equal(pb_queue_create(&queue, &bench.channel, &bench.system, 0, 8), PB_ERROR_BAD_ARGUMENT);
	bench.system.request.id = 0;
	/* A capability is foreign: it must not size memory that is not there. */
	bench.channel.card.capabilities[PB_CAPABILITY_RING_ENTRIES_MAX] = UINT32_MAX;
	assert_int_equal(pb_queue_create(&queue, &bench.channel, &bench.system, 0, 0x80000000),
			 PB_ERROR_NO_SPACE);
	assert_int_equal(pb_queue_create(&queue, &bench.channel, &bench.system, 0, 512), PB_ERROR_NO_SPACE);
	bench.channel.attached = false;
	assert_int_equal(pb_queue_create(&queue, &bench.channel, &bench.system, 0, 8), PB_ERROR_DETACHED);
	fake_bench_stop(&bench);
}

static void refused_queue_gives_its_memory_back(void **state)
{
	static const struct {
		uint32_t handle;
		uint32_t error;
		enum pb_error expected;
		uint32_t extents;
	} cases[] = {
		{PB_HANDLE(1, 2), PB_ERROR_OK, PB_ERROR_OK, 2},
		{PB_HANDLE(1, 2), PB_ERROR_BAD_ARGUMENT, PB_ERROR_BAD_ARGUMENT, 1},
		{PB_HANDLE(1, 0), PB_ERROR_OK, PB_ERROR_PROTOCOL, 2},
		{PB_HANDLE(1, 2), 77, PB_ERROR_PROTOCOL, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_bench bench;
		struct pb_queue queue;

		fake_bench_start(&bench);
		answer = (struct pb_reply){.error = cases[i].error, .results = {cases[i].handle}};
		bench.fake.tamper = tamper_reply;
		assert_int_equal(pb_queue_create(&queue, &bench.channel, &bench.system, 0, 8),
				 cases[i].expected);
		assert_int_equal(bench.system.extent_count, cases[i].extents);
		fake_bench_stop(&bench);
	}
}

static void destroy_frees_when_the_firmware_lets_go(void **state)
{
	struct fake_bench bench;

	(void)state;
	fake_bench_start(&bench);
	bench.fake.stalled = true;
	assert_int_equal(pb_queue_destroy(&bench.queue), PB_ERROR_TIMEOUT);
	assert_int_equal(bench.system.extent_count, 1);
	bench.fake.stalled = false;
	bench.fake.queues[1] = bench.fake.queues[0]; /* the late command takes the first */
	bench.queue.handle = PB_HANDLE(1, 1);
	assert_int_equal(pb_queue_destroy(&bench.queue), PB_ERROR_OK);
	assert_int_equal(bench.system.extent_count, 0);
	fake_bench_stop(&bench);
}

/* ---- submit ---- */

static void submission_is_written_as_given(void **state)
{
	struct fake_bench bench;
	uint32_t words[32];
	struct pb_descriptor work;
	struct pb_queue_page *page;

	(void)state;
	fake_bench_start(&bench);
	page = fake_page(&bench.fake, 0);
	for (uint32_t i = 0; i < 32; i++)
		words[i] = 0x1000 + i;
	words[5] = 0;
	memcpy(&work, words, sizeof(work));
	assert_int_equal(pb_queue_submit(&bench.queue, &work), PB_ERROR_OK);
	assert_int_equal(page->put, 1);
	words[31] = 0; /* the firmware's */
	assert_memory_equal(page + 1, words, 128);
	assert_int_equal(fake_entry(&bench.fake)->kick_put, 1);
	assert_int_equal(*fake_word(&bench.fake, FAKE_KICK_OFFSET), PB_HANDLE(0, 1));
	assert_int_equal(fake_entry(&bench.fake)->rescan, 0);
	fake_bench_stop(&bench);
}

static void timeline_is_filled_in_where_none_is_given(void **state)
{
	static const uint64_t given[] = {0, 0, 0xffffffff, 0, 0x500000000, 0, 7, 0};
	static const uint64_t expected[] = {1,           2,           0xffffffff, 0x100000000,
					    0x500000000, 0x500000001, 7,          0x500000002};
	struct fake_bench bench;
	const struct pb_descriptor *ring;

	(void)state;
	fake_bench_start(&bench);
	ring = (const struct pb_descriptor *)(const void *)(fake_page(&bench.fake, 0) + 1);
	for (uint32_t i = 0; i < 8; i++) {
		const struct pb_descriptor work = {.timeline_low = (uint32_t)given[i],
						   .timeline_high = (uint32_t)(given[i] >> 32)};

		assert_int_equal(pb_queue_submit(&bench.queue, &work), PB_ERROR_OK);
		assert_int_equal(ring[i].timeline_low, (uint32_t)expected[i]);
		assert_int_equal(ring[i].timeline_high, (uint32_t)(expected[i] >> 32));
	}
	assert_true(bench.queue.timeline == 0x500000002);
	fake_bench_stop(&bench);
}

static void full_ring_and_full_kick_ring(void **state)
{
	struct fake_bench bench;
	struct pb_fence fence;

	(void)state;
	fake_bench_start(&bench);
	bench.fake.work_limit = 0;
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(fake_submit(&bench, i), PB_ERROR_OK);
		assert_int_equal(fake_entry(&bench.fake)->kick_put, i < FAKE_KICK_ENTRIES ? i + 1 : 4);
		assert_int_equal(fake_entry(&bench.fake)->rescan, i < FAKE_KICK_ENTRIES ? 0 : i - 3);
		assert_int_equal(bench.fake.doorbells, 3 + i + 1); /* attach and two commands before */
	}
	assert_int_equal(fake_submit(&bench, 8), PB_ERROR_NO_SPACE);
	assert_int_equal(fake_page(&bench.fake, 0)->put, 8);
	assert_int_equal(bench.fake.doorbells, 11);
	bench.fake.work_limit = UINT32_MAX;
	assert_int_equal(pb_queue_wait(&bench.queue, 8, 1000, &fence), PB_ERROR_OK);
	assert_int_equal(fence.completed, 8);
	assert_int_equal(fake_submit(&bench, 9), PB_ERROR_OK);
	assert_int_equal(fake_entry(&bench.fake)->kick_put, 5);
	fake_bench_stop(&bench);
}

/* The rescan word alone must bring the work in. */
static void rescan_is_enough(void **state)
{
	struct fake_bench bench;
	struct pb_channel_entry *entry;

	(void)state;
	fake_bench_start(&bench);
	entry = fake_entry(&bench.fake);
	bench.channel.kick_put = entry->kick_put = entry->kick_get = 0xfffffffe;
	bench.fake.work_limit = 0;
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(fake_submit(&bench, i), PB_ERROR_OK);
	assert_int_equal(entry->kick_put, 2);
	entry->kick_get = 2; /* the hints are lost */
	bench.fake.work_limit = UINT32_MAX;
	assert_int_equal(pb_queue_wait(&bench.queue, 5, 1000, NULL), PB_ERROR_OK);
	fake_bench_stop(&bench);
}

static void submit_trusts_no_index(void **state)
{
	static const struct {
		uint32_t kick_get;  /* 3 kicks were written, 2 taken */
		uint32_t completed; /* 3 were submitted, 2 completed and seen */
		enum pb_error expected;
	} cases[] = {
		{2, 2, PB_ERROR_OK},
		{3, 3, PB_ERROR_OK},
		{4, 2, PB_ERROR_PROTOCOL},
		{0x80000000, 2, PB_ERROR_PROTOCOL},
		{3u - 4, 2, PB_ERROR_OK},
		{3u - 5, 2, PB_ERROR_PROTOCOL},
		{2, 4, PB_ERROR_PROTOCOL},
		{2, 1, PB_ERROR_PROTOCOL},
		{2, 0xffffffff, PB_ERROR_PROTOCOL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_bench bench;

		print_message("kick_get %#x, completed %#x\n", cases[i].kick_get, cases[i].completed);
		fake_bench_start(&bench);
		bench.fake.work_limit = 2;
		for (uint32_t k = 0; k < 3; k++)
			assert_int_equal(fake_submit(&bench, k), PB_ERROR_OK);
		assert_int_equal(pb_queue_wait(&bench.queue, 2, 1000, NULL), PB_ERROR_OK);
		fake_entry(&bench.fake)->kick_get = cases[i].kick_get;
		fake_record(&bench)->completed = cases[i].completed;
		assert_int_equal(fake_submit(&bench, 3), cases[i].expected);
		assert_int_equal(fake_page(&bench.fake, 0)->put, cases[i].expected == PB_ERROR_OK ? 4 : 3);
		fake_bench_stop(&bench);
	}
}

static void indices_may_wrap(void **state)
{
	struct fake_bench bench;
	struct pb_fence fence;

	(void)state;
	fake_bench_start(&bench);
	fake_bench_age(&bench);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(fake_submit(&bench, 100 + i), PB_ERROR_OK);
	assert_int_equal(fake_submit(&bench, 108), PB_ERROR_NO_SPACE);
	assert_int_equal(pb_queue_wait(&bench.queue, 8, 1000, &fence), PB_ERROR_OK);
	assert_int_equal(fence.completed, 5);
	assert_int_equal(fence.fence_id, 107);
	fake_bench_stop(&bench);
}

UNIT_SUITE(test_host_queue)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(context_commands),
		cmocka_unit_test(queue_create_names_its_page),
		cmocka_unit_test(queue_create_with_all_there_is),
		cmocka_unit_test(wait_names_a_queue_and_a_value),
		cmocka_unit_test(queue_create_refuses),
		cmocka_unit_test(refused_queue_gives_its_memory_back),
		cmocka_unit_test(destroy_frees_when_the_firmware_lets_go),
		cmocka_unit_test(submission_is_written_as_given),
		cmocka_unit_test(timeline_is_filled_in_where_none_is_given),
		cmocka_unit_test(full_ring_and_full_kick_ring),
		cmocka_unit_test(rescan_is_enough),
		cmocka_unit_test(submit_trusts_no_index),
		cmocka_unit_test(indices_may_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
