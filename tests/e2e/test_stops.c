/* SPDX-License-Identifier: MIT */
/*
 * Submissions are recalled, stopped and reset, by their host and for higher priorities, on the image as it
 * ships.
 */
#include <string.h>

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"
#include "tests/e2e/e2e_long.h"

#define VALUE 0x50000000u
/* A value that no submission stores. */
#define MARK 0x4d41524bu

struct scene {
	struct e2e_card card;
	struct e2e_host host;
	struct pb_queue *queue;     /**< the host's on node 0 */
	struct e2e_long submission; /**< built for `queue` */
};

static void open_scene(struct scene *scene)
{
	e2e_card_start(&scene->card, 0);
	assert_true(e2e_host_open(&scene->host, scene->card.socket));
	e2e_target_set(&scene->host, 0, 0);
	e2e_target_set(&scene->host, 1, 0);
	scene->queue = &scene->host.queues[0];
	e2e_long_open(&scene->submission, &scene->host, scene->queue, 0, VALUE);
}

static void close_scene(struct scene *scene)
{
	/* After any stop request the host can still run submissions. */
	assert_true(e2e_host_round(&scene->host, 0x12340000u));
	assert_true(e2e_host_close(&scene->host));
	e2e_card_stop(&scene->card);
}

static uint32_t completed(struct pb_queue *queue)
{
	uint32_t count;

	assert_int_equal(pb_queue_completed(queue, &count), PB_ERROR_OK);
	return count;
}

/* FILL of the second target, on any queue. */
static void submit_fill(struct scene *scene, struct pb_queue *queue, uint32_t value, uint32_t fence_id)
{
	struct pb_dma *dma = &scene->host.builders[1];

	e2e_host_fill(&scene->host, 1, value);
	dma->queue = queue;
	assert_int_equal(pb_dma_submit(dma, fence_id), PB_ERROR_OK);
	dma->queue = &scene->host.queues[1];
}

static void wait_all(struct pb_queue *queue, struct pb_fence *fence)
{
	assert_int_equal(pb_queue_wait(queue, queue->timeline, E2E_PATIENCE_US, fence), PB_ERROR_OK);
}

/* Waits until the firmware has read all posted commands. */
static void settle(struct scene *scene)
{
	struct pb_channel_status status;

	assert_int_equal(pb_channel_query(&scene->host.channel, &status), PB_ERROR_OK);
}

static void expect_event(struct scene *scene, uint32_t type, uint32_t fence_id, uint32_t detail)
{
	struct pb_event event;

	assert_true(pb_channel_event(&scene->host.channel, &event));
	assert_int_equal(event.type, type);
	assert_int_equal(event.fence_id, fence_id);
	assert_int_equal(event.detail, detail);
}

static void expect_no_event(struct scene *scene)
{
	struct pb_event event;

	assert_false(pb_channel_event(&scene->host.channel, &event));
}

/* ---- preemption by the host ---- */

/* A submission that is submitted again resumes, or starts again: its first word shows which. */
static void inside(uint32_t options, uint32_t first_word)
{
	struct scene scene;
	struct pb_preempt result, record;
	struct pb_fence fence;
	uint32_t done;

	open_scene(&scene);
	e2e_long_submit(&scene.submission, 7, 0);
	e2e_long_await_start(&scene.submission);
	assert_int_equal(pb_queue_preempt(scene.queue, 0x99, PB_STOP_INSIDE, &result), PB_ERROR_OK);
	done = e2e_long_done(&scene.submission);
	assert_in_range(done, 1, E2E_LONG_WORDS - 1u);
	assert_int_equal(result.preemption_id, 0x99);
	assert_false(result.valid);
	assert_int_equal(result.completed, 1);
	assert_int_equal(result.returned, 1);
	assert_true(result.started);
	assert_int_equal(pb_queue_preempted(scene.queue, &record), PB_ERROR_OK);
	assert_memory_equal(&record, &result, sizeof(record));
	expect_event(&scene, PB_EVENT_PREEMPTED, 0, 0x99);
	/* Nothing of it runs any more, and other submissions do. */
	pb_shared_write32(e2e_long_word(&scene.submission, 0), MARK);
	submit_fill(&scene, scene.queue, VALUE, 8);
	wait_all(scene.queue, &fence);
	assert_int_equal(fence.fence_id, 8);
	assert_true(e2e_target_is(&scene.host, 1, VALUE));
	e2e_long_shorten(&scene.submission);
	e2e_long_submit(&scene.submission, 9, options);
	wait_all(scene.queue, &fence);
	assert_int_equal(fence.fence_id, 9);
	assert_int_equal(fence.errors, 0);
	assert_int_equal(pb_shared_read32(e2e_long_word(&scene.submission, 0)), first_word);
	pb_shared_write32(e2e_long_word(&scene.submission, 0), VALUE);
	assert_int_equal(e2e_long_done(&scene.submission), E2E_LONG_WORDS);
	assert_int_equal(pb_shared_read32(e2e_long_word(&scene.submission, E2E_LONG_WORDS)), 0);
	close_scene(&scene);
}

static void a_submission_preempted_inside_resumes(void **state)
{
	(void)state;
	inside(PB_OPTION_RESUME, MARK);
}

static void a_submission_preempted_inside_starts_again_without_resume(void **state)
{
	(void)state;
	inside(0, VALUE);
}

/* The running submission is completed first. The two behind it are returned. */
static void a_preemption_at_a_boundary_completes_the_running_submission(void **state)
{
	const uint64_t start = e2e_now();
	struct pb_preempt result;
	struct pb_fence fence;
	struct scene scene;
	enum pb_error error;

	(void)state;
	open_scene(&scene);
	e2e_long_submit(&scene.submission, 7, 0);
	submit_fill(&scene, scene.queue, VALUE, 8);
	submit_fill(&scene, scene.queue, VALUE, 9);
	e2e_long_await_start(&scene.submission);
	assert_int_equal(pb_queue_preempt_begin(scene.queue, 5, 0), PB_ERROR_OK);
	settle(&scene);
	assert_int_equal(pb_queue_preempt_finish(scene.queue, &result), PB_ERROR_TIMEOUT);
	e2e_long_shorten(&scene.submission);
	while ((error = pb_queue_preempt_finish(scene.queue, &result)) == PB_ERROR_TIMEOUT)
		assert_true(e2e_patience(start));
	assert_int_equal(error, PB_ERROR_OK);
	assert_int_equal(result.completed, 3);
	assert_int_equal(result.returned, 2);
	assert_false(result.started);
	assert_true(result.valid);
	assert_int_equal(result.fence_id, 7);
	assert_int_equal(e2e_long_done(&scene.submission), E2E_LONG_WORDS);
	assert_true(e2e_target_is(&scene.host, 1, 0));
	expect_event(&scene, PB_EVENT_PREEMPTED, 7, 5);
	submit_fill(&scene, scene.queue, VALUE, 10);
	wait_all(scene.queue, &fence);
	assert_int_equal(fence.timeline, 2); /* timeline values of returned submissions are used again */
	assert_true(e2e_target_is(&scene.host, 1, VALUE));
	close_scene(&scene);
}

static void an_idle_queue_is_preempted_at_once(void **state)
{
	struct pb_preempt result;
	struct scene scene;

	(void)state;
	open_scene(&scene);
	assert_int_equal(pb_queue_preempt(scene.queue, 1, PB_STOP_INSIDE, &result), PB_ERROR_OK);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.completed | result.returned, 0);
	assert_false(result.valid || result.started);
	close_scene(&scene);
}

/* ---- submissions of higher priority ---- */

static void a_higher_priority_preempts_and_the_lower_resumes(void **state)
{
	const struct pb_queue_request request = {.entries = 4, .priority = PB_PRIORITY_HIGH};
	struct pb_queue urgent;
	struct pb_fence fence;
	struct scene scene;

	(void)state;
	open_scene(&scene);
	memset(&urgent, 0, sizeof(urgent));
	assert_int_equal(pb_queue_create_with(&urgent, &scene.host.channel, &scene.host.system, &request),
			 PB_ERROR_OK);
	e2e_long_submit(&scene.submission, 7, 0);
	e2e_long_await_start(&scene.submission);
	for (uint32_t i = 1; i <= 3; i++) {
		submit_fill(&scene, &urgent, VALUE + i, i);
		wait_all(&urgent, &fence);
		assert_int_equal(fence.fence_id, i);
		assert_int_equal(fence.status, PB_ERROR_OK);
		assert_true(e2e_target_is(&scene.host, 1, VALUE + i));
		assert_int_equal(completed(scene.queue), 0);
	}
	pb_shared_write32(e2e_long_word(&scene.submission, 0), MARK);
	e2e_long_shorten(&scene.submission);
	wait_all(scene.queue, &fence);
	assert_int_equal(fence.errors, 0);
	/* The firmware resumed it by itself. */
	assert_int_equal(pb_shared_read32(e2e_long_word(&scene.submission, 0)), MARK);
	pb_shared_write32(e2e_long_word(&scene.submission, 0), VALUE);
	assert_int_equal(e2e_long_done(&scene.submission), E2E_LONG_WORDS);
	expect_no_event(&scene);
	assert_int_equal(pb_queue_destroy(&urgent), PB_ERROR_OK);
	close_scene(&scene);
}

/* ---- suspension ---- */

static void suspend(struct scene *scene, uint32_t flags)
{
	const uint64_t start = e2e_now();
	enum pb_error error;
	uint32_t tag;

	assert_int_equal(pb_queue_suspend_begin(scene->queue, flags, &tag), PB_ERROR_OK);
	settle(scene);
	assert_int_equal(pb_channel_finish(&scene->host.channel, tag, NULL), PB_ERROR_TIMEOUT);
	e2e_long_shorten(&scene->submission);
	while ((error = pb_channel_finish(&scene->host.channel, tag, NULL)) == PB_ERROR_TIMEOUT)
		assert_true(e2e_patience(start));
	assert_int_equal(error, PB_ERROR_OK);
}

/* Submissions that have not begun complete before the suspension, or stay in the ring until the resume. */
static void suspended(uint32_t flags, uint32_t before)
{
	struct pb_queue_state queue;
	struct pb_fence fence;
	struct scene scene;

	open_scene(&scene);
	e2e_long_submit(&scene.submission, 7, 0);
	submit_fill(&scene, scene.queue, VALUE, 8);
	e2e_long_await_start(&scene.submission);
	suspend(&scene, flags);
	assert_int_equal(completed(scene.queue), before);
	submit_fill(&scene, scene.queue, VALUE, 9);
	assert_int_equal(pb_queue_query(scene.queue, &queue), PB_ERROR_OK);
	assert_int_equal(queue.why, PB_WHY_SUSPENDED);
	assert_true(queue.suspended);
	assert_int_equal(queue.admitted, before);
	/* Other queues run. */
	submit_fill(&scene, &scene.host.queues[1], VALUE + 1u, 1);
	wait_all(&scene.host.queues[1], &fence);
	assert_int_equal(completed(scene.queue), before);
	assert_int_equal(pb_queue_resume(scene.queue), PB_ERROR_OK);
	wait_all(scene.queue, &fence);
	assert_int_equal(fence.completed, 3);
	assert_int_equal(fence.fence_id, 9);
	assert_int_equal(fence.errors, 0);
	expect_no_event(&scene);
	close_scene(&scene);
}

static void a_queue_is_suspended_when_drained(void **state)
{
	(void)state;
	suspended(0, 2);
}

static void a_suspension_recalls_submissions(void **state)
{
	(void)state;
	suspended(PB_STOP_RECALL, 1);
}

/* ---- resets and hangs ---- */

static void clear(struct scene *scene, struct pb_queue *queue)
{
	bool lost;

	assert_int_equal(pb_context_query(&scene->host.channel, scene->host.context, &lost), PB_ERROR_OK);
	assert_true(lost);
	assert_int_equal(pb_context_clear(&scene->host.channel, scene->host.context), PB_ERROR_OK);
	assert_int_equal(pb_queue_clear(queue), PB_ERROR_OK);
}

static void a_reset_loses_only_the_running_context(void **state)
{
	/* It gets no timeslice before. */
	const struct pb_queue_request request = {.entries = 4, .priority = PB_PRIORITY_LOW};
	struct pb_queue innocent;
	struct pb_preempt result;
	struct pb_fence fence;
	struct scene scene;
	uint32_t context;

	(void)state;
	open_scene(&scene);
	assert_int_equal(pb_queue_create_with(&innocent, &scene.host.channel, &scene.host.system, &request),
			 PB_ERROR_OK);
	assert_int_equal(pb_context_create(&scene.host.channel, &context), PB_ERROR_OK);
	e2e_long_submit(&scene.submission, 7, 0);
	scene.host.builders[1].context = context;
	submit_fill(&scene, scene.queue, VALUE, 8);
	e2e_long_await_start(&scene.submission);
	submit_fill(&scene, &innocent, VALUE, 1);
	assert_int_equal(pb_queue_reset(scene.queue, &result), PB_ERROR_OK);
	assert_true(result.valid);
	assert_int_equal(result.fence_id, 7);
	assert_int_equal(result.completed, 2);
	assert_int_equal(result.returned, 1);
	wait_all(&innocent, &fence);
	assert_int_equal(fence.status, PB_ERROR_OK);
	assert_true(e2e_target_is(&scene.host, 1, VALUE));
	assert_int_equal(pb_queue_fence(scene.queue, &fence), PB_ERROR_OK);
	assert_int_equal(fence.fence_id, 7);
	assert_int_equal(fence.error, PB_ERROR_ENGINE_HANG);
	assert_int_equal(fence.errors, 1);
	expect_event(&scene, PB_EVENT_ENGINE_HANG, 7, 0);
	expect_event(&scene, PB_EVENT_CONTEXT_LOST, 7, scene.host.context);
	expect_no_event(&scene);
	clear(&scene, scene.queue);
	scene.host.builders[1].context = scene.host.context;
	scene.host.builders[0].timeline = scene.queue->timeline;
	assert_int_equal(pb_queue_destroy(&innocent), PB_ERROR_OK);
	assert_true(e2e_host_close(&scene.host));
	e2e_card_stop(&scene.card);
}

/* A hung engine answers no stop request: it is reset, and only the guilty context is lost. */
static void hang(bool wanted)
{
	const struct pb_queue_request request = {.entries = 4, .priority = PB_PRIORITY_HIGH};
	struct pb_node_status before, after;
	struct pb_queue urgent;
	struct pb_fence fence;
	struct scene scene;
	uint32_t context;

	open_scene(&scene);
	assert_int_equal(pb_queue_create_with(&urgent, &scene.host.channel, &scene.host.system, &request),
			 PB_ERROR_OK);
	assert_int_equal(pb_context_create(&scene.host.channel, &context), PB_ERROR_OK);
	assert_int_equal(pb_node_query(&scene.host.channel, 0, &before), PB_ERROR_OK);
	e2e_host_fill(&scene.host, 0, VALUE);
	pb_dma_packet(&scene.host.builders[0], PB_PACKET_HANG, PB_PACKET_HANG_WORDS);
	assert_int_equal(pb_dma_submit(&scene.host.builders[0], 7), PB_ERROR_OK);
	if (wanted) {
		scene.host.builders[1].context = context;
		submit_fill(&scene, &urgent, VALUE, 1);
		wait_all(&urgent, &fence);
		assert_int_equal(fence.status, PB_ERROR_OK);
		assert_true(e2e_target_is(&scene.host, 1, VALUE));
		scene.host.builders[1].context = scene.host.context;
	}
	wait_all(scene.queue, &fence);
	assert_int_equal(fence.status, PB_ERROR_ENGINE_HANG);
	assert_true(e2e_target_is(&scene.host, 0, VALUE));
	expect_event(&scene, PB_EVENT_ENGINE_HANG, 7, 0);
	expect_event(&scene, PB_EVENT_CONTEXT_LOST, 7, scene.host.context);
	expect_no_event(&scene);
	assert_int_equal(pb_node_query(&scene.host.channel, 0, &after), PB_ERROR_OK);
	assert_int_equal(after.state, PB_NODE_STATE_RUNNING);
	assert_int_equal(after.resets - before.resets, 1);
	clear(&scene, scene.queue);
	assert_int_equal(pb_queue_destroy(&urgent), PB_ERROR_OK);
	assert_true(e2e_host_close(&scene.host));
	e2e_card_stop(&scene.card);
}

static void a_hang_resets_the_engine_and_blames_one_context(void **state)
{
	(void)state;
	hang(false);
}

static void a_preemption_of_a_hung_engine_resets_it(void **state)
{
	(void)state;
	hang(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(a_submission_preempted_inside_resumes),
		e2e_test(a_submission_preempted_inside_starts_again_without_resume),
		e2e_test(a_preemption_at_a_boundary_completes_the_running_submission),
		e2e_test(an_idle_queue_is_preempted_at_once),
		e2e_test(a_higher_priority_preempts_and_the_lower_resumes),
		e2e_test(a_queue_is_suspended_when_drained),
		e2e_test(a_suspension_recalls_submissions),
		e2e_test(a_reset_loses_only_the_running_context),
		e2e_test(a_hang_resets_the_engine_and_blames_one_context),
		e2e_test(a_preemption_of_a_hung_engine_resets_it),
	};

	return e2e_run_tests(tests);
}
