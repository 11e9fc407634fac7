/* SPDX-License-Identifier: MIT */
/*
 * What only the admin may do: set nodes to host order, and suspend the whole card. The test attaches as the
 * admin instead of the card's supervisor, which then does nothing.
 */
#include <string.h>

#include "hal/shared.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"
#include "tests/e2e/e2e_long.h"

#define VALUE 0x70000000u
/* The 3D node on which the host has no queue. */
#define FREE_NODE 2u

/* A second channel over a client's memory. Nothing rings its doorbell: the tick finds its requests. */
struct admin {
	struct pb_link link;
	struct pb_link *under;
	struct pb_channel channel;
};

static struct pb_link *under(struct pb_link *link)
{
	return ((struct admin *)(void *)link)->under;
}

static void no_doorbell(struct pb_link *link)
{
	(void)link;
}

static enum pb_error wait_a_little(struct pb_link *link, uint64_t timeout_us)
{
	return under(link)->ops->wait(under(link), timeout_us < 1000u ? timeout_us : 1000u);
}

static uint64_t now(struct pb_link *link)
{
	return under(link)->ops->now(under(link));
}

static void stay_open(struct pb_link *link)
{
	(void)link;
}

static const struct pb_link_ops admin_ops = {
	.doorbell = no_doorbell, .wait = wait_a_little, .now = now, .close = stay_open};

struct scene {
	struct e2e_card card;
	struct e2e_host host;
	struct admin admin;
	struct e2e_long submission;
};

static void open_scene(struct scene *scene)
{
	e2e_card_start(&scene->card, 0);
	assert_true(e2e_host_open(&scene->host, scene->card.socket));
	scene->admin.under = scene->host.link;
	scene->admin.link = (struct pb_link){.ops = &admin_ops,
					     .memory = scene->host.link->memory,
					     .memory_bytes = scene->host.link->memory_bytes,
					     .channel = PB_CHANNEL_ADMIN};
	assert_int_equal(pb_channel_attach(&scene->admin.channel, &scene->admin.link, E2E_PATIENCE_US),
			 PB_ERROR_OK);
	for (uint32_t i = 0; i < E2E_NODES; i++)
		e2e_target_set(&scene->host, i, 0);
}

static void close_scene(struct scene *scene)
{
	assert_true(e2e_host_round(&scene->host, VALUE));
	assert_true(e2e_host_close(&scene->host));
	e2e_card_stop(&scene->card);
}

static void submit_fill(struct scene *scene, struct pb_queue *queue, uint32_t fence_id)
{
	struct pb_dma *dma = &scene->host.builders[1];

	e2e_host_fill(&scene->host, 1, VALUE);
	dma->queue = queue;
	assert_int_equal(pb_dma_submit(dma, fence_id), PB_ERROR_OK);
	dma->queue = &scene->host.queues[1];
}

/* A client without the admin's privilege is refused. */
static void only_the_admin_sets_nodes_and_suspends_the_card(void **state)
{
	const struct pb_node_request request = {.mode = PB_NODE_HOST_ORDERED};
	struct scene scene;

	(void)state;
	open_scene(&scene);
	assert_int_equal(pb_node_set(&scene.host.channel, FREE_NODE, &request), PB_ERROR_NO_PERMISSION);
	assert_int_equal(pb_card_suspend(&scene.host.channel, 0), PB_ERROR_NO_PERMISSION);
	assert_int_equal(pb_card_resume(&scene.host.channel), PB_ERROR_NO_PERMISSION);
	close_scene(&scene);
}

/* One queue, first in, first out, and a host that preempts its own queue. */
static void a_host_ordered_node_leaves_preemption_to_the_host(void **state)
{
	const struct pb_node_request ordered = {.mode = PB_NODE_HOST_ORDERED};
	const struct pb_node_request scheduled = {.mode = PB_NODE_SCHEDULED};
	struct pb_preempt result;
	struct pb_node_status node;
	struct pb_queue queue, second;
	struct pb_fence fence;
	struct scene scene;

	(void)state;
	open_scene(&scene);
	assert_int_equal(pb_node_set(&scene.admin.channel, 0, &ordered), PB_ERROR_BUSY);
	assert_int_equal(pb_node_set(&scene.admin.channel, FREE_NODE, &ordered), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&queue, &scene.host.channel, &scene.host.system, FREE_NODE, 4),
			 PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&second, &scene.host.channel, &scene.host.system, FREE_NODE, 4),
			 PB_ERROR_NO_SPACE);
	e2e_long_open(&scene.submission, &scene.host, &queue, 0, VALUE);
	e2e_long_submit(&scene.submission, 5, 0);
	e2e_long_await_start(&scene.submission);
	submit_fill(&scene, &queue, 3);
	assert_int_equal(pb_queue_preempt(&queue, 1, PB_STOP_INSIDE, &result), PB_ERROR_OK);
	assert_int_equal(result.returned, 2);
	assert_true(result.started);
	/* A later submission, for example of a paging buffer, runs before the returned ones, with a lower id. */
	submit_fill(&scene, &queue, 1);
	e2e_long_shorten(&scene.submission);
	e2e_long_submit(&scene.submission, 5, PB_OPTION_RESUME);
	assert_int_equal(pb_queue_wait(&queue, queue.timeline, E2E_PATIENCE_US, &fence), PB_ERROR_OK);
	assert_int_equal(fence.fence_id, 5);
	assert_int_equal(fence.errors, 0);
	assert_int_equal(e2e_long_done(&scene.submission), E2E_LONG_WORDS);
	assert_true(e2e_target_is(&scene.host, 1, VALUE));
	assert_int_equal(pb_node_query(&scene.host.channel, FREE_NODE, &node), PB_ERROR_OK);
	assert_int_equal(node.mode, PB_NODE_HOST_ORDERED);
	assert_int_equal(node.stops, 1); /* one stop of the host, none of the firmware */
	assert_int_equal(pb_node_set(&scene.admin.channel, FREE_NODE, &scheduled), PB_ERROR_BUSY);
	assert_int_equal(pb_queue_destroy(&queue), PB_ERROR_OK);
	assert_int_equal(pb_node_set(&scene.admin.channel, FREE_NODE, &scheduled), PB_ERROR_OK);
	close_scene(&scene);
}

/* Nothing runs while the card is suspended. Afterwards the submission that was stopped inside resumes. */
static void nothing_runs_on_a_suspended_card(void **state)
{
	struct pb_queue_state queue;
	struct pb_fence fence;
	struct scene scene;
	uint32_t done;

	(void)state;
	open_scene(&scene);
	e2e_long_open(&scene.submission, &scene.host, &scene.host.queues[0], 0, VALUE);
	e2e_long_submit(&scene.submission, 1, 0);
	e2e_long_await_start(&scene.submission);
	assert_int_equal(pb_card_suspend(&scene.admin.channel, PB_STOP_INSIDE | PB_STOP_RECALL), PB_ERROR_OK);
	done = e2e_long_done(&scene.submission);
	assert_in_range(done, 1, E2E_LONG_WORDS - 1u);
	e2e_long_shorten(&scene.submission);
	submit_fill(&scene, &scene.host.queues[1], 2);
	for (uint32_t n = 0; n < E2E_NODES; n++) {
		assert_int_equal(pb_queue_query(&scene.host.queues[n], &queue), PB_ERROR_OK);
		assert_int_equal(queue.why, PB_WHY_CARD_SUSPENDED);
		assert_int_equal(queue.completed, 0);
	}
	assert_int_equal(e2e_long_done(&scene.submission), done);
	assert_true(e2e_target_is(&scene.host, 1, 0));
	assert_int_equal(pb_card_resume(&scene.admin.channel), PB_ERROR_OK);
	for (uint32_t n = 0; n < E2E_NODES; n++) {
		assert_int_equal(pb_queue_wait(&scene.host.queues[n], 1, E2E_PATIENCE_US, &fence),
				 PB_ERROR_OK);
		assert_int_equal(fence.status, PB_ERROR_OK);
	}
	assert_int_equal(e2e_long_done(&scene.submission), E2E_LONG_WORDS);
	assert_true(e2e_target_is(&scene.host, 1, VALUE));
	close_scene(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(only_the_admin_sets_nodes_and_suspends_the_card),
		e2e_test(a_host_ordered_node_leaves_preemption_to_the_host),
		e2e_test(nothing_runs_on_a_suspended_card),
	};

	return e2e_run_tests(tests);
}
