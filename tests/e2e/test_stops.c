/* SPDX-License-Identifier: MIT */
/* Work is taken back, stopped and reset, by its host and for more urgent work, on the image as it ships. */
#include <string.h>

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"
#include "tests/e2e/e2e_long.h"

#define VALUE 0x50000000u
/* Nothing that work stores. */
#define MARK 0x4d41524bu

struct scene {
	struct e2e_card card;
	struct e2e_host host;
	struct pb_queue *queue; /**< the host's on node 0 */
	struct e2e_long work;   /**< for it */
};

static void open_scene(struct scene *scene)
{
	e2e_card_start(&scene->card, 0);
	assert_true(e2e_host_open(&scene->host, scene->card.socket));
	e2e_target_set(&scene->host, 0, 0);
	e2e_target_set(&scene->host, 1, 0);
	scene->queue = &scene->host.queues[0];
	e2e_long_open(&scene->work, &scene->host, scene->queue, 0, VALUE);
}

static void close_scene(struct scene *scene)
{
	/* Whatever was done to it, it works. */
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
	struct pb_dma *dma = &scene->host.work[1];

	e2e_host_fill(&scene->host, 1, value);
	dma->queue = queue;
	assert_int_equal(pb_dma_submit(dma, fence_id), PB_ERROR_OK);
	dma->queue = &scene->host.queues[1];
}

static void wait_all(struct pb_queue *queue, struct pb_fence *fence)
{
	assert_int_equal(pb_queue_wait(queue, queue->timeline, E2E_PATIENCE_US, fence), PB_ERROR_OK);
}

/* The firmware has taken all commands that were begun. */
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

/* What is submitted again goes on where it was, or begins anew: the word it began with tells. */
static void inside(uint32_t options, uint32_t first_word)
{
	struct scene scene;
	struct pb_preempt result, record;
	struct pb_fence fence;
	uint32_t done;

	open_scene(&scene);
	e2e_long_submit(&scene.work, 7, 0);
	e2e_long_await_start(&scene.work);
	assert_int_equal(pb_queue_preempt(scene.queue, 0x99, PB_STOP_INSIDE, &result), PB_ERROR_OK);
	done = e2e_long_done(&scene.work);
	assert_in_range(done, 1, E2E_LONG_WORDS - 1u);
	assert_int_equal(result.preemption_id, 0x99);
	assert_false(result.valid);
	assert_int_equal(result.completed, 1);
	assert_int_equal(result.returned, 1);
	assert_true(result.started);
	assert_int_equal(pb_queue_preempted(scene.queue, &record), PB_ERROR_OK);
	assert_memory_equal(&record, &result, sizeof(record));
	expect_event(&scene, PB_EVENT_PREEMPTED, 0, 0x99);
	/* Nothing of it runs any more, and others do. */
	pb_shared_write32(e2e_long_word(&scene.work, 0), MARK);
	submit_fill(&scene, scene.queue, VALUE, 8);
	wait_all(scene.queue, &fence);
	assert_int_equal(fence.fence_id, 8);
	assert_true(e2e_target_is(&scene.host, 1, VALUE));
	e2e_long_shorten(&scene.work);
	e2e_long_submit(&scene.work, 9, options);
	wait_all(scene.queue, &fence);
	assert_int_equal(fence.fence_id, 9);
	assert_int_equal(fence.errors, 0);
	assert_int_equal(pb_shared_read32(e2e_long_word(&scene.work, 0)), first_word);
	pb_shared_write32(e2e_long_word(&scene.work, 0), VALUE);
	assert_int_equal(e2e_long_done(&scene.work), E2E_LONG_WORDS);
	assert_int_equal(pb_shared_read32(e2e_long_word(&scene.work, E2E_LONG_WORDS)), 0);
	close_scene(&scene);
}

static void test_preempted_inside_goes_on(void **state)
{
	(void)state;
	inside(PB_OPTION_RESUME, MARK);
}

static void test_preempted_inside_begins_anew(void **state)
{
	(void)state;
	inside(0, VALUE);
}

/* The one that runs is completed first, the two behind it come back. */
static void test_preempted_at_a_boundary(void **state)
{
	const uint64_t start = e2e_now();
	struct pb_preempt result;
	struct pb_fence fence;
	struct scene scene;
	enum pb_error error;

	(void)state;
	open_scene(&scene);
	e2e_long_submit(&scene.work, 7, 0);
	submit_fill(&scene, scene.queue, VALUE, 8);
	submit_fill(&scene, scene.queue, VALUE, 9);
	e2e_long_await_start(&scene.work);
	assert_int_equal(pb_queue_preempt_begin(scene.queue, 5, 0), PB_ERROR_OK);
	settle(&scene);
	assert_int_equal(pb_queue_preempt_finish(scene.queue, &result), PB_ERROR_TIMEOUT);
	e2e_long_shorten(&scene.work);
	while ((error = pb_queue_preempt_finish(scene.queue, &result)) == PB_ERROR_TIMEOUT)
		assert_true(e2e_patience(start));
	assert_int_equal(error, PB_ERROR_OK);
	assert_int_equal(result.completed, 3);
	assert_int_equal(result.returned, 2);
	assert_false(result.started);
	assert_true(result.valid);
	assert_int_equal(result.fence_id, 7);
	assert_int_equal(e2e_long_done(&scene.work), E2E_LONG_WORDS);
	assert_true(e2e_target_is(&scene.host, 1, 0));
	expect_event(&scene, PB_EVENT_PREEMPTED, 7, 5);
	submit_fill(&scene, scene.queue, VALUE, 10);
	wait_all(scene.queue, &fence);
	assert_int_equal(fence.timeline, 2); /* values of returned work are given again */
	assert_true(e2e_target_is(&scene.host, 1, VALUE));
	close_scene(&scene);
}

static void test_preempted_when_idle(void **state)
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

/* ---- more urgent work ---- */

static void test_more_urgent(void **state)
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
	e2e_long_submit(&scene.work, 7, 0);
	e2e_long_await_start(&scene.work);
	for (uint32_t i = 1; i <= 3; i++) {
		submit_fill(&scene, &urgent, VALUE + i, i);
		wait_all(&urgent, &fence);
		assert_int_equal(fence.fence_id, i);
		assert_int_equal(fence.status, PB_ERROR_OK);
		assert_true(e2e_target_is(&scene.host, 1, VALUE + i));
		assert_int_equal(completed(scene.queue), 0);
	}
	pb_shared_write32(e2e_long_word(&scene.work, 0), MARK);
	e2e_long_shorten(&scene.work);
	wait_all(scene.queue, &fence);
	assert_int_equal(fence.errors, 0);
	/* It went on where it was, by itself. */
	assert_int_equal(pb_shared_read32(e2e_long_word(&scene.work, 0)), MARK);
	pb_shared_write32(e2e_long_word(&scene.work, 0), VALUE);
	assert_int_equal(e2e_long_done(&scene.work), E2E_LONG_WORDS);
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
	e2e_long_shorten(&scene->work);
	while ((error = pb_channel_finish(&scene->host.channel, tag, NULL)) == PB_ERROR_TIMEOUT)
		assert_true(e2e_patience(start));
	assert_int_equal(error, PB_ERROR_OK);
}

/* What has not begun is completed before, or stays in the ring until later. */
static void suspended(uint32_t flags, uint32_t before)
{
	struct pb_queue_state queue;
	struct pb_fence fence;
	struct scene scene;

	open_scene(&scene);
	e2e_long_submit(&scene.work, 7, 0);
	submit_fill(&scene, scene.queue, VALUE, 8);
	e2e_long_await_start(&scene.work);
	suspend(&scene, flags);
	assert_int_equal(completed(scene.queue), before);
	submit_fill(&scene, scene.queue, VALUE, 9);
	assert_int_equal(pb_queue_query(scene.queue, &queue), PB_ERROR_OK);
	assert_int_equal(queue.why, PB_WHY_SUSPENDED);
	assert_true(queue.suspended);
	assert_int_equal(queue.admitted, before);
	/* Other queues work on. */
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

static void test_suspended_when_drained(void **state)
{
	(void)state;
	suspended(0, 2);
}

static void test_suspended_and_withdrawn(void **state)
{
	(void)state;
	suspended(PB_STOP_WITHDRAW, 1);
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

static void test_reset(void **state)
{
	/* It does not get its turn before. */
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
	e2e_long_submit(&scene.work, 7, 0);
	scene.host.work[1].context = context;
	submit_fill(&scene, scene.queue, VALUE, 8);
	e2e_long_await_start(&scene.work);
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
	scene.host.work[1].context = scene.host.context;
	scene.host.work[0].timeline = scene.queue->timeline;
	assert_int_equal(pb_queue_destroy(&innocent), PB_ERROR_OK);
	assert_true(e2e_host_close(&scene.host));
	e2e_card_stop(&scene.card);
}

/* An engine that hangs answers neither a stop nor anything else: it is reset, and only the guilty pays. */
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
	pb_dma_packet(&scene.host.work[0], PB_PACKET_HANG, PB_PACKET_HANG_WORDS);
	assert_int_equal(pb_dma_submit(&scene.host.work[0], 7), PB_ERROR_OK);
	if (wanted) {
		scene.host.work[1].context = context;
		submit_fill(&scene, &urgent, VALUE, 1);
		wait_all(&urgent, &fence);
		assert_int_equal(fence.status, PB_ERROR_OK);
		assert_true(e2e_target_is(&scene.host, 1, VALUE));
		scene.host.work[1].context = scene.host.context;
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

static void test_hang(void **state)
{
	(void)state;
	hang(false);
}

static void test_hang_when_wanted(void **state)
{
	(void)state;
	hang(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(test_preempted_inside_goes_on),
		e2e_test(test_preempted_inside_begins_anew),
		e2e_test(test_preempted_at_a_boundary),
		e2e_test(test_preempted_when_idle),
		e2e_test(test_more_urgent),
		e2e_test(test_suspended_when_drained),
		e2e_test(test_suspended_and_withdrawn),
		e2e_test(test_reset),
		e2e_test(test_hang),
		e2e_test(test_hang_when_wanted),
	};

	return e2e_run_tests(tests);
}
