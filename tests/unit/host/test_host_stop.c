/* SPDX-License-Identifier: MIT */
/* Preemption, suspension and reset: what goes out, what comes back, and the books behind it. */
#include <string.h>

#include "tests/unit/fake_firmware.h"
#include "tests/unit/unit.h"

/* Five submissions of fences 70 to 74, of which so many complete. */
static void start(struct fake_bench *bench, uint32_t completed)
{
	fake_bench_start(bench);
	bench->fake.work_limit = completed;
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(fake_submit(bench, 70 + i), PB_ERROR_OK);
	assert_int_equal(pb_queue_wait(&bench->queue, completed, 1000, NULL), PB_ERROR_OK);
	bench->fake.work_limit = completed == 5 ? UINT32_MAX : 0;
}

static void expect(const struct pb_preempt *got, const struct pb_preempt *expected)
{
	assert_int_equal(got->count, expected->count);
	assert_int_equal(got->preemption_id, expected->preemption_id);
	assert_int_equal(got->fence_id, expected->fence_id);
	assert_int_equal(got->valid, expected->valid);
	assert_int_equal(got->completed, expected->completed);
	assert_int_equal(got->returned, expected->returned);
	assert_int_equal(got->started, expected->started);
}

static void preempt_takes_back_what_has_not_completed(void **state)
{
	(void)state;
	for (uint32_t completed = 0; completed <= 5; completed++)
		for (uint32_t inside = 0; inside <= 1; inside++) {
			const struct pb_preempt expected = {
				.count = 1,
				.preemption_id = 0xabcd,
				.fence_id = completed == 0 ? 0 : 69 + completed,
				.valid = completed != 0,
				.completed = 5,
				.returned = 5 - completed,
				.started = inside != 0 && completed != 5,
			};
			struct fake_bench bench;
			struct pb_preempt result;
			struct pb_preempt last;

			start(&bench, completed);
			assert_int_equal(pb_queue_preempt(&bench.queue, 0xabcd,
							  inside != 0 ? PB_STOP_INSIDE : 0, &result),
					 PB_ERROR_OK);
			expect(&result, &expected);
			assert_int_equal(bench.fake.last_command[0], PB_COMMAND_PREEMPT);
			assert_int_equal(bench.fake.last_command[2], PB_HANDLE(0, 1));
			assert_int_equal(bench.fake.last_command[3], 5);
			assert_int_equal(bench.fake.last_command[4], 0xabcd);
			assert_int_equal(bench.fake.last_command[5], inside);
			assert_int_equal(pb_queue_preempted(&bench.queue, &last), PB_ERROR_OK);
			expect(&last, &expected);
			/* The next value is the one behind what has been reached. */
			assert_int_equal(bench.queue.completed, 5);
			assert_true(bench.queue.timeline == completed);
			bench.fake.work_limit = UINT32_MAX;
			assert_int_equal(fake_submit(&bench, 99), PB_ERROR_OK);
			assert_int_equal(pb_queue_wait(&bench.queue, completed + 1, 1000, NULL), PB_ERROR_OK);
			assert_int_equal(fake_record(&bench)->timeline_low, completed + 1);
			fake_bench_stop(&bench);
		}
}

/* What is submitted behind the cutoff keeps its values, and those behind them are the next. */
static void work_behind_the_cutoff_keeps_its_timeline(void **state)
{
	struct fake_bench bench;
	struct pb_preempt result;
	struct pb_preempt last;

	(void)state;
	start(&bench, 2);
	bench.fake.defer = true;
	assert_int_equal(pb_queue_preempted(&bench.queue, &last), PB_ERROR_OK);
	assert_int_equal(last.count, 0);
	assert_int_equal(pb_queue_preempt_finish(&bench.queue, &result), PB_ERROR_BAD_ARGUMENT);
	assert_int_equal(pb_queue_preempt_begin(&bench.queue, 9, 0), PB_ERROR_OK);
	assert_int_equal(pb_queue_preempt_begin(&bench.queue, 10, 0), PB_ERROR_BUSY);
	assert_int_equal(fake_submit(&bench, 80), PB_ERROR_OK);
	assert_int_equal(fake_submit(&bench, 81), PB_ERROR_OK);
	assert_int_equal(pb_queue_preempt_finish(&bench.queue, &result), PB_ERROR_TIMEOUT);
	/* The report is there before the reply. */
	bench.fake.work_limit = 1;
	fake_serve(&bench.fake);
	assert_int_equal(pb_queue_preempted(&bench.queue, &last), PB_ERROR_OK);
	assert_int_equal(last.count, 1);
	assert_int_equal(last.preemption_id, 9);
	assert_int_equal(last.completed, 5);
	assert_int_equal(last.returned, 3);
	assert_int_equal(bench.queue.completed, 6);
	assert_int_equal(pb_queue_preempt_finish(&bench.queue, &result), PB_ERROR_TIMEOUT);
	fake_answer(&bench.fake, 0);
	assert_int_equal(pb_queue_preempt_finish(&bench.queue, &result), PB_ERROR_OK);
	expect(&result, &last);
	assert_int_equal(result.fence_id, 71);
	assert_true(bench.queue.timeline == 7);
	assert_int_equal(fake_submit(&bench, 82), PB_ERROR_OK);
	assert_true(bench.queue.timeline == 8);
	fake_bench_stop(&bench);
}

static void preemptions_are_counted(void **state)
{
	struct fake_bench bench;
	struct pb_preempt last;

	(void)state;
	start(&bench, 0);
	for (uint32_t i = 1; i <= 6; i++) {
		/* The record may be looked at, or not. */
		assert_int_equal(pb_queue_preempt(&bench.queue, 100 + i, 0, NULL), PB_ERROR_OK);
		if (i % 2 == 0)
			assert_int_equal(pb_queue_preempted(&bench.queue, &last), PB_ERROR_OK);
		assert_int_equal(fake_submit(&bench, i), PB_ERROR_OK);
	}
	assert_int_equal(last.count, 6);
	assert_int_equal(last.preemption_id, 106);
	assert_int_equal(last.returned, 1);
	assert_true(bench.queue.timeline == 1);
	fake_bench_stop(&bench);
}

/* A slow reply leaves the preemption under way. */
static void preempt_may_take_longer_than_a_command(void **state)
{
	struct fake_bench bench;
	struct pb_preempt result;

	(void)state;
	start(&bench, 1);
	bench.fake.defer = true;
	assert_int_equal(pb_queue_preempt(&bench.queue, 3, 0, &result), PB_ERROR_TIMEOUT);
	assert_int_equal(pb_queue_preempt(&bench.queue, 4, 0, &result), PB_ERROR_BUSY);
	fake_answer(&bench.fake, 0);
	assert_int_equal(pb_queue_preempt_finish(&bench.queue, &result), PB_ERROR_OK);
	assert_int_equal(result.preemption_id, 3);
	assert_int_equal(result.returned, 4);
	fake_bench_stop(&bench);
}

static void refusal_leaves_the_books_alone(void **state)
{
	struct fake_bench bench;
	struct pb_preempt last;

	(void)state;
	start(&bench, 1);
	bench.queue.handle = PB_HANDLE(0, 2);
	assert_int_equal(pb_queue_preempt(&bench.queue, 3, 0, NULL), PB_ERROR_BAD_HANDLE);
	assert_int_equal(pb_queue_reset(&bench.queue, NULL), PB_ERROR_BAD_HANDLE);
	assert_true(bench.queue.timeline == 5);
	bench.queue.handle = PB_HANDLE(0, 1);
	assert_int_equal(pb_queue_preempt(&bench.queue, 4, 0, NULL), PB_ERROR_OK);
	assert_int_equal(pb_queue_preempted(&bench.queue, &last), PB_ERROR_OK);
	assert_int_equal(last.count, 1);
	assert_int_equal(last.preemption_id, 4);
	fake_bench_stop(&bench);
}

/* ---- reports that cannot be ---- */

/* 2 of 5 had completed and been seen when the preemption was asked; 2 more came afterwards. */
static const struct {
	uint32_t completed;
	uint32_t returned;
	uint32_t started;
	enum pb_error expected;
} reports[] = {
	{5, 3, 1, PB_ERROR_OK},
	{5, 0, 0, PB_ERROR_OK},
	{5, 2, 0, PB_ERROR_OK},
	{5, 4, 0, PB_ERROR_PROTOCOL},
	{5, 0xffffffff, 0, PB_ERROR_PROTOCOL},
	{5, 0, 1, PB_ERROR_PROTOCOL},
	{4, 2, 0, PB_ERROR_PROTOCOL},
	{6, 0, 0, PB_ERROR_OK},
	{6, 3, 0, PB_ERROR_PROTOCOL},
	{7, 0, 0, PB_ERROR_OK},
	{8, 0, 0, PB_ERROR_PROTOCOL},
	{1, 0, 0, PB_ERROR_PROTOCOL},
	{0x80000005, 0, 0, PB_ERROR_PROTOCOL},
};

static void begin_with_two_behind(struct fake_bench *bench)
{
	start(bench, 2);
	bench->fake.defer = true;
	assert_int_equal(pb_queue_preempt_begin(&bench->queue, 9, PB_STOP_INSIDE), PB_ERROR_OK);
	assert_int_equal(fake_submit(bench, 80), PB_ERROR_OK);
	assert_int_equal(fake_submit(bench, 81), PB_ERROR_OK);
	bench->fake.work_limit = UINT32_MAX;
	fake_serve(&bench->fake);
	assert_int_equal(fake_record(bench)->completed, 7);
}

static void replies_of_preempt_are_not_trusted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		struct fake_bench bench;

		print_message("%u %u %u\n", reports[i].completed, reports[i].returned, reports[i].started);
		begin_with_two_behind(&bench);
		bench.fake.deferred[0].results[2] = reports[i].completed;
		bench.fake.deferred[0].results[3] = reports[i].returned;
		bench.fake.deferred[0].results[4] = reports[i].started;
		fake_answer(&bench.fake, 0);
		assert_int_equal(pb_queue_preempt_finish(&bench.queue, NULL), reports[i].expected);
		fake_bench_stop(&bench);
	}
}

static void records_of_preempt_are_not_trusted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		struct fake_bench bench;
		struct pb_preempt_record *record;
		struct pb_preempt last;

		begin_with_two_behind(&bench);
		record = &fake_page(&bench.fake, 0)->preempt;
		record->completed = reports[i].completed;
		record->returned = reports[i].returned;
		record->started = reports[i].started;
		assert_int_equal(pb_queue_preempted(&bench.queue, &last), reports[i].expected);
		fake_bench_stop(&bench);
	}
}

static void rest_of_the_record_is_not_trusted(void **state)
{
	static const struct {
		size_t offset;
		uint32_t value;
		enum pb_error expected;
	} cases[] = {
		{offsetof(struct pb_preempt_record, count), 1, PB_ERROR_OK},
		{offsetof(struct pb_preempt_record, count), 0, PB_ERROR_OK},
		{offsetof(struct pb_preempt_record, count), 2, PB_ERROR_PROTOCOL},
		{offsetof(struct pb_preempt_record, preemption_id), 8, PB_ERROR_PROTOCOL},
		{offsetof(struct pb_preempt_record, epoch), 7, PB_ERROR_PROTOCOL},
		{offsetof(struct pb_preempt_record, sequence), 1, PB_ERROR_PROTOCOL},
		{offsetof(struct pb_preempt_record, fence_id), 1, PB_ERROR_OK},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_bench bench;
		struct pb_preempt last;

		begin_with_two_behind(&bench);
		((uint32_t *)(void *)&fake_page(&bench.fake, 0)->preempt)[cases[i].offset / 4] =
			cases[i].value;
		assert_int_equal(pb_queue_preempted(&bench.queue, &last), cases[i].expected);
		fake_bench_stop(&bench);
	}
}

static void record_that_was_not_requested(void **state)
{
	struct fake_bench bench;
	struct pb_preempt last;

	(void)state;
	start(&bench, 2);
	fake_page(&bench.fake, 0)->preempt.count = 1;
	assert_int_equal(pb_queue_preempted(&bench.queue, &last), PB_ERROR_PROTOCOL);
	bench.channel.attached = false;
	assert_int_equal(pb_queue_preempted(&bench.queue, &last), PB_ERROR_DETACHED);
	fake_bench_stop(&bench);
}

/* The fence record comes first: it must be as far as the report, and no timeline may be made up. */
static void fence_record_must_agree(void **state)
{
	static const struct {
		uint32_t completed;
		uint32_t timeline;
		enum pb_error expected;
	} cases[] = {
		{7, 7, PB_ERROR_OK}, {7, 8, PB_ERROR_PROTOCOL},
		{6, 8, PB_ERROR_OK}, /* not looked at while work is outstanding */
		{5, 5, PB_ERROR_OK}, {4, 2, PB_ERROR_PROTOCOL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_bench bench;

		begin_with_two_behind(&bench);
		fake_answer(&bench.fake, 0);
		bench.fake.stalled = true;
		fake_record(&bench)->completed = cases[i].completed;
		fake_record(&bench)->timeline_low = cases[i].timeline;
		/* The report is of completed 5, returned 3. */
		assert_int_equal(pb_queue_preempt_finish(&bench.queue, NULL), cases[i].expected);
		fake_bench_stop(&bench);
	}
}

/* ---- suspension and reset ---- */

static void suspend_and_resume(void **state)
{
	struct fake_bench bench;
	uint32_t tag;

	(void)state;
	start(&bench, 1);
	bench.fake.work_limit = UINT32_MAX;
	assert_int_equal(pb_queue_suspend(&bench.queue, PB_STOP_RECALL | PB_STOP_INSIDE), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[0], PB_COMMAND_SUSPEND);
	assert_int_equal(bench.fake.last_command[2], PB_HANDLE(0, 1));
	assert_int_equal(bench.fake.last_command[3], 5);
	assert_int_equal(bench.fake.last_command[4], 3);
	assert_int_equal(pb_queue_wait(&bench.queue, 2, 10000, NULL), PB_ERROR_TIMEOUT);
	assert_int_equal(fake_submit(&bench, 90), PB_ERROR_OK);
	assert_int_equal(pb_queue_resume(&bench.queue), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[0], PB_COMMAND_RESUME);
	assert_int_equal(bench.fake.last_command[2], PB_HANDLE(0, 1));
	assert_int_equal(pb_queue_wait(&bench.queue, 6, 10000, NULL), PB_ERROR_OK);
	/* Drained, without waiting for it. */
	assert_int_equal(fake_submit(&bench, 91), PB_ERROR_OK);
	assert_int_equal(pb_queue_suspend_begin(&bench.queue, 0, &tag), PB_ERROR_OK);
	assert_int_equal(pb_channel_finish(&bench.channel, tag, NULL), PB_ERROR_TIMEOUT);
	fake_serve(&bench.fake);
	assert_int_equal(bench.fake.last_command[3], 7);
	assert_int_equal(bench.fake.last_command[4], 0);
	assert_int_equal(pb_channel_finish(&bench.channel, tag, NULL), PB_ERROR_OK);
	assert_int_equal(fake_record(&bench)->completed, 7);
	fake_bench_stop(&bench);
}

static void card_is_queue_0(void **state)
{
	struct fake_bench bench;
	const uint32_t suspend[] = {0, 0, PB_STOP_RECALL, 0};
	const uint32_t resume[] = {0, 0, 0, 0};

	(void)state;
	fake_bench_start(&bench);
	assert_int_equal(pb_card_suspend(&bench.channel, PB_STOP_RECALL), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[0], PB_COMMAND_SUSPEND);
	assert_memory_equal(&bench.fake.last_command[2], suspend, sizeof(suspend));
	assert_int_equal(pb_card_resume(&bench.channel), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[0], PB_COMMAND_RESUME);
	assert_memory_equal(&bench.fake.last_command[2], resume, sizeof(resume));
	fake_bench_stop(&bench);
}

static void reset_aborts_one_and_returns_the_rest(void **state)
{
	const struct pb_preempt expected = {.fence_id = 72, .valid = true, .completed = 5, .returned = 2};
	struct fake_bench bench;
	struct pb_preempt result;
	struct pb_fence fence;

	(void)state;
	start(&bench, 2);
	assert_int_equal(pb_queue_reset(&bench.queue, &result), PB_ERROR_OK);
	expect(&result, &expected);
	assert_int_equal(bench.fake.last_command[0], PB_COMMAND_RESET);
	assert_int_equal(bench.fake.last_command[2], 1); /* the bench's node */
	assert_int_equal(bench.fake.last_command[3], PB_HANDLE(0, 1));
	assert_int_equal(bench.fake.last_command[4], 5);
	assert_int_equal(pb_queue_fence(&bench.queue, &fence), PB_ERROR_OK);
	assert_int_equal(fence.error, PB_ERROR_ENGINE_HANG);
	assert_true(bench.queue.timeline == 3);
	assert_int_equal(pb_node_release(&bench.channel, 2), PB_ERROR_OK);
	assert_int_equal(bench.fake.last_command[2], 2);
	assert_int_equal(bench.fake.last_command[3], 0);
	fake_bench_stop(&bench);
}

static struct pb_reply answer;
static void tamper_reply(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_REPLY)
		memcpy(fake->reply.results, answer.results, sizeof(answer.results));
}

static void replies_of_reset_are_not_trusted(void **state)
{
	static const struct {
		uint32_t completed;
		uint32_t returned;
		uint32_t started;
		enum pb_error expected;
	} cases[] = {
		{5, 3, 0, PB_ERROR_OK},       {5, 0, 0, PB_ERROR_OK},       {5, 4, 0, PB_ERROR_PROTOCOL},
		{4, 2, 0, PB_ERROR_OK},       {4, 3, 0, PB_ERROR_PROTOCOL}, {6, 0, 0, PB_ERROR_PROTOCOL},
		{1, 0, 0, PB_ERROR_PROTOCOL}, {2, 0, 0, PB_ERROR_OK},       {5, 3, 1, PB_ERROR_OK},
		{5, 0, 1, PB_ERROR_PROTOCOL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_bench bench;
		struct pb_preempt result = {.started = cases[i].started == 0};

		start(&bench, 2);
		answer = (struct pb_reply){
			.results = {
				[2] = cases[i].completed, [3] = cases[i].returned, [4] = cases[i].started}};
		bench.fake.tamper = tamper_reply;
		assert_int_equal(pb_queue_reset(&bench.queue, &result), cases[i].expected);
		if (cases[i].expected == PB_ERROR_OK)
			assert_int_equal(result.started, cases[i].started != 0);
		fake_bench_stop(&bench);
	}
}

static void indices_may_wrap(void **state)
{
	struct fake_bench bench;
	struct pb_preempt result;

	(void)state;
	fake_bench_start(&bench);
	fake_bench_age(&bench);
	bench.fake.work_limit = 1;
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(fake_submit(&bench, 100 + i), PB_ERROR_OK);
	assert_int_equal(pb_queue_wait(&bench.queue, 1, 1000, NULL), PB_ERROR_OK);
	assert_int_equal(pb_queue_preempt(&bench.queue, 0, 0, &result), PB_ERROR_OK);
	assert_int_equal(result.completed, 5);
	assert_int_equal(result.returned, 7);
	assert_int_equal(result.fence_id, 100);
	assert_true(bench.queue.timeline == 1);
	fake_bench_stop(&bench);
}

UNIT_SUITE(test_host_stop)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(preempt_takes_back_what_has_not_completed),
		cmocka_unit_test(work_behind_the_cutoff_keeps_its_timeline),
		cmocka_unit_test(preemptions_are_counted),
		cmocka_unit_test(preempt_may_take_longer_than_a_command),
		cmocka_unit_test(refusal_leaves_the_books_alone),
		cmocka_unit_test(replies_of_preempt_are_not_trusted),
		cmocka_unit_test(records_of_preempt_are_not_trusted),
		cmocka_unit_test(rest_of_the_record_is_not_trusted),
		cmocka_unit_test(record_that_was_not_requested),
		cmocka_unit_test(fence_record_must_agree),
		cmocka_unit_test(suspend_and_resume),
		cmocka_unit_test(card_is_queue_0),
		cmocka_unit_test(reset_aborts_one_and_returns_the_rest),
		cmocka_unit_test(replies_of_reset_are_not_trusted),
		cmocka_unit_test(indices_may_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
