/* SPDX-License-Identifier: MIT */
/* Questions to the firmware, settings, and finding out what lost events said. */
#include <string.h>

#include "tests/unit/fake_firmware.h"
#include "tests/unit/unit.h"

static struct pb_reply answer;
static void tamper_reply(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_REPLY)
		fake->reply = (struct pb_reply){.code = fake->reply.code,
						.tag = fake->reply.tag,
						.error = answer.error,
						.results = {0}};
	if (moment == FAKE_REPLY)
		memcpy(fake->reply.results, answer.results, sizeof(answer.results));
}

static void queue_tells_its_state(void **state)
{
	struct fake_bench bench;
	struct pb_queue_state got;

	(void)state;
	fake_bench_start(&bench);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(fake_submit(&bench, i), PB_ERROR_OK);
	answer = (struct pb_reply){.results = {PB_WHY_WAITING, PB_HANDLE(2, 3), 0x89, 0x12, 6, 5, 4, 0x77, 1,
					       1, 0, 3, PB_PRIORITY_HIGH}};
	bench.fake.tamper = tamper_reply;
	assert_int_equal(pb_queue_query(&bench.queue, &got), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[0], PB_COMMAND_QUERY);
	assert_int_equal(bench.fake.last_command[2], PB_QUERY_QUEUE);
	assert_int_equal(bench.fake.last_command[3], PB_HANDLE(0, 1));
	assert_int_equal(bench.fake.last_command[4], 0);
	assert_int_equal(got.why, PB_WHY_WAITING);
	assert_int_equal(got.waits_for_queue, PB_HANDLE(2, 3));
	assert_true(got.waits_for_value == 0x1200000089);
	assert_int_equal(got.put, 6);
	assert_int_equal(got.admitted, 5);
	assert_int_equal(got.completed, 4);
	assert_true(got.timeline == 0x100000077);
	assert_true(got.failed);
	assert_false(got.suspended);
	assert_int_equal(got.node, 3);
	assert_int_equal(got.priority, PB_PRIORITY_HIGH);
	fake_bench_stop(&bench);
}

/* 6 submitted, 2 seen to complete. */
static void indices_of_a_state_are_not_trusted(void **state)
{
	static const struct {
		uint32_t put;
		uint32_t admitted;
		uint32_t completed;
		enum pb_error of_queue;
		enum pb_error of_handle;
	} cases[] = {
		{6, 4, 2, PB_ERROR_OK, PB_ERROR_OK},
		{2, 2, 2, PB_ERROR_OK, PB_ERROR_OK},
		{6, 6, 6, PB_ERROR_OK, PB_ERROR_OK},
		{7, 4, 2, PB_ERROR_PROTOCOL, PB_ERROR_OK},
		{6, 4, 1, PB_ERROR_PROTOCOL, PB_ERROR_OK},
		{6, 7, 2, PB_ERROR_PROTOCOL, PB_ERROR_PROTOCOL},
		{6, 2, 3, PB_ERROR_PROTOCOL, PB_ERROR_PROTOCOL},
		{3, 4, 4, PB_ERROR_PROTOCOL, PB_ERROR_OK},
		{0x80000006, 4, 2, PB_ERROR_PROTOCOL, PB_ERROR_OK},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_bench bench;
		struct pb_queue_state got;

		print_message("%#x %u %u\n", cases[i].put, cases[i].admitted, cases[i].completed);
		fake_bench_start(&bench);
		bench.fake.work_limit = 2;
		for (uint32_t k = 0; k < 6; k++)
			assert_int_equal(fake_submit(&bench, k), PB_ERROR_OK);
		assert_int_equal(pb_queue_wait(&bench.queue, 2, 1000, NULL), PB_ERROR_OK);
		answer = (struct pb_reply){
			.results = {[4] = cases[i].put, [5] = cases[i].admitted, [6] = cases[i].completed}};
		bench.fake.tamper = tamper_reply;
		assert_int_equal(pb_queue_query(&bench.queue, &got), cases[i].of_queue);
		assert_int_equal(pb_handle_query(&bench.channel, 0, bench.queue.handle, &got),
				 cases[i].of_handle);
		fake_bench_stop(&bench);
	}
}

static void question_about_another_channel(void **state)
{
	struct fake_bench bench;
	struct pb_queue_state got;

	(void)state;
	fake_bench_start(&bench);
	answer = (struct pb_reply){.error = PB_ERROR_NO_PERMISSION};
	bench.fake.tamper = tamper_reply;
	assert_int_equal(pb_handle_query(&bench.channel, 5, PB_HANDLE(7, 0), &got), PB_ERROR_NO_PERMISSION);
	assert_int_equal(bench.fake.last_command[2], PB_QUERY_QUEUE);
	assert_int_equal(bench.fake.last_command[3], 7);
	assert_int_equal(bench.fake.last_command[4], 5);
	assert_int_equal(pb_queue_query(&bench.queue, &got), PB_ERROR_NO_PERMISSION);
	fake_bench_stop(&bench);
}

/* The fake says 100 times the kind of question, and the number of the result. */
static void node_context_and_channel_tell_theirs(void **state)
{
	static const struct pb_node_status node = {200, 201, 202, 203, 204, 205,
						   206, 207, 208, 209, 210, 211};
	static const struct pb_channel_status channel = {400, 401, 402, 403, 404, 405, 406, 407};
	struct fake_bench bench;
	struct pb_node_status node_now;
	struct pb_channel_status channel_now;
	bool lost = false;

	(void)state;
	fake_bench_start(&bench);
	assert_int_equal(pb_node_query(&bench.channel, 3, &node_now), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[2], PB_QUERY_NODE);
	assert_int_equal(bench.fake.last_command[3], 3);
	assert_memory_equal(&node_now, &node, sizeof(node));
	assert_int_equal(pb_channel_query(&bench.channel, &channel_now), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[2], PB_QUERY_CHANNEL);
	assert_int_equal(bench.fake.last_command[3], FAKE_CHANNEL);
	assert_memory_equal(&channel_now, &channel, sizeof(channel));
	assert_int_equal(pb_context_query(&bench.channel, PB_HANDLE(3, 9), &lost), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[2], PB_QUERY_CONTEXT);
	assert_int_equal(bench.fake.last_command[3], PB_HANDLE(3, 9));
	assert_true(lost);
	answer = (struct pb_reply){0};
	bench.fake.tamper = tamper_reply;
	assert_int_equal(pb_context_query(&bench.channel, PB_HANDLE(3, 9), &lost), PB_ERROR_OK);
	assert_false(lost);
	answer.error = PB_ERROR_BAD_HANDLE;
	lost = true;
	assert_int_equal(pb_context_query(&bench.channel, 1, &lost), PB_ERROR_BAD_HANDLE);
	assert_int_equal(pb_node_query(&bench.channel, 9, &node_now), PB_ERROR_BAD_HANDLE);
	assert_int_equal(pb_channel_query(&bench.channel, &channel_now), PB_ERROR_BAD_HANDLE);
	assert_true(lost);
	fake_bench_stop(&bench);
}

static void settings_go_out(void **state)
{
	const struct pb_node_request request = {
		.mode = PB_NODE_HOST_ORDERED, .depth = 3, .hang_us = 5000, .answer_us = 700};
	const uint32_t node[] = {2, 1, 3, 5000, 700, 0};
	const uint32_t moderate[] = {16, 250, 0};
	struct fake_bench bench;

	(void)state;
	fake_bench_start(&bench);
	assert_int_equal(pb_node_set(&bench.channel, 2, &request), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[0], PB_COMMAND_NODE_SET);
	assert_memory_equal(&bench.fake.last_command[2], node, sizeof(node));
	assert_int_equal(pb_channel_moderate(&bench.channel, 16, 250), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[0], PB_COMMAND_MODERATE);
	assert_memory_equal(&bench.fake.last_command[2], moderate, sizeof(moderate));
	fake_bench_stop(&bench);
}

/* ---- lost events ---- */

static void lost_events_are_counted_once(void **state)
{
	struct fake_bench bench;
	struct pb_channel *channel = &bench.channel;

	(void)state;
	fake_start(&bench.fake);
	fake_entry(&bench.fake)->events_dropped = 0xfffffffe; /* before this attach */
	fake_open(&bench.fake, channel, &bench.system);
	assert_int_equal(pb_channel_dropped(channel), 0);
	fake_entry(&bench.fake)->events_dropped = 3;
	assert_int_equal(pb_channel_dropped(channel), 5);
	assert_int_equal(pb_channel_dropped(channel), 0);
	fake_entry(&bench.fake)->events_dropped = 4;
	channel->attached = false;
	assert_int_equal(pb_channel_dropped(channel), 0);
	channel->attached = true;
	assert_int_equal(pb_channel_dropped(channel), 1);
	fake_bench_stop(&bench);
}

static void resync_tells_what_events_would_have(void **state)
{
	struct pb_queue_resync now;
	struct fake_bench bench;

	(void)state;
	fake_bench_start(&bench);
	bench.fake.work_limit = 2;
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(fake_submit(&bench, 70 + i), PB_ERROR_OK);
	assert_int_equal(pb_queue_reset(&bench.queue, NULL), PB_ERROR_OK);
	assert_int_equal(fake_submit(&bench, 80), PB_ERROR_OK);
	assert_int_equal(pb_queue_preempt(&bench.queue, 31, 0, NULL), PB_ERROR_OK);
	assert_int_equal(pb_queue_suspend(&bench.queue, PB_STOP_RECALL), PB_ERROR_OK);
	assert_int_equal(pb_queue_resync(&bench.queue, &now), PB_ERROR_OK);
	assert_int_equal(now.fence.error, PB_ERROR_ENGINE_HANG);
	assert_int_equal(now.preempt.count, 1);
	assert_int_equal(now.preempt.preemption_id, 31);
	assert_int_equal(now.state.why, PB_WHY_SUSPENDED);
	assert_int_equal(now.state.put, 6);
	assert_int_equal(now.state.completed, 6);
	fake_page(&bench.fake, 0)->preempt.count = 9;
	assert_int_equal(pb_queue_resync(&bench.queue, &now), PB_ERROR_PROTOCOL);
	fake_page(&bench.fake, 0)->preempt.count = 1;
	fake_record(&bench)->completed = 9;
	answer = (struct pb_reply){.results = {[4] = 6, [5] = 6, [6] = 6}};
	bench.fake.tamper = tamper_reply;
	assert_int_equal(pb_queue_resync(&bench.queue, &now), PB_ERROR_PROTOCOL);
	answer.error = PB_ERROR_BAD_HANDLE;
	assert_int_equal(pb_queue_resync(&bench.queue, &now), PB_ERROR_BAD_HANDLE);
	fake_bench_stop(&bench);
}

UNIT_SUITE(test_host_query)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queue_tells_its_state),
		cmocka_unit_test(indices_of_a_state_are_not_trusted),
		cmocka_unit_test(question_about_another_channel),
		cmocka_unit_test(node_context_and_channel_tell_theirs),
		cmocka_unit_test(settings_go_out),
		cmocka_unit_test(lost_events_are_counted_once),
		cmocka_unit_test(resync_tells_what_events_would_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
