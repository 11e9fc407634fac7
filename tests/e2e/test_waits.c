/* SPDX-License-Identifier: MIT */
/* Queues that wait for each other, what the command reports of them, and events that no host reads in time. */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"

#define VALUE 0x60000000u
/* Entries of an event ring. */
#define EVENTS 64u

struct scene {
	struct e2e_card card;
	struct e2e_host host;
	struct pb_queue *first;  /**< node 0 */
	struct pb_queue *second; /**< node 1 */
	struct pb_memory waits[E2E_NODES];
};

static void open_scene(struct scene *scene)
{
	e2e_card_start(&scene->card, 0);
	assert_true(e2e_host_open(&scene->host, scene->card.socket));
	scene->first = &scene->host.queues[0];
	scene->second = &scene->host.queues[1];
	for (uint32_t i = 0; i < E2E_NODES; i++) {
		assert_int_equal(pb_memory_allocate(&scene->host.system, PB_LINE_BYTES, PB_LINE_BYTES,
						    &scene->waits[i]),
				 PB_ERROR_OK);
		e2e_target_set(&scene->host, i, 0);
	}
}

static void close_scene(struct scene *scene)
{
	assert_true(e2e_host_close(&scene->host));
	e2e_card_stop(&scene->card);
}

/* Submits the node's prepared buffer, which waits for a value of a queue; without a queue for nothing. */
static void submit(struct scene *scene, uint32_t node, uint32_t fence_id, const struct pb_queue *queue,
		   uint64_t value)
{
	struct pb_dma *dma = &scene->host.builders[node];

	dma->wait_count = queue != NULL ? 1u : 0;
	dma->waits = &scene->waits[node];
	if (queue != NULL)
		pb_wait_on((struct pb_wait *)(void *)scene->waits[node].bytes_host, queue, value);
	assert_int_equal(pb_dma_submit(dma, fence_id), PB_ERROR_OK);
}

static void fill(struct scene *scene, uint32_t node, uint32_t fence_id, const struct pb_queue *queue,
		 uint64_t value)
{
	e2e_host_fill(&scene->host, node, VALUE);
	submit(scene, node, fence_id, queue, value);
}

static void expect_status(struct pb_queue *queue, uint32_t fence_id, enum pb_error status)
{
	struct pb_fence fence;

	assert_int_equal(pb_queue_wait(queue, queue->timeline, E2E_PATIENCE_US, &fence), PB_ERROR_OK);
	assert_int_equal(fence.fence_id, fence_id);
	assert_int_equal(fence.status, status);
}

static void await_why(struct pb_queue *queue, enum pb_why why)
{
	const uint64_t start = e2e_now();
	struct pb_queue_state state;

	do {
		assert_int_equal(pb_queue_query(queue, &state), PB_ERROR_OK);
	} while (state.why != why && e2e_patience(start));
	assert_int_equal(state.why, why);
	assert_int_equal(state.completed, 0);
}

/* ---- waits ---- */

/* A submission on the copy node reads what the 3D node has stored, although it was submitted first. */
static void a_waiter_runs_after_its_signal(void **state)
{
	struct scene scene;
	struct pb_dma *copy;

	(void)state;
	open_scene(&scene);
	copy = &scene.host.builders[1];
	pb_dma_begin(copy);
	pb_dma_packet(copy, PB_PACKET_COPY, PB_PACKET_COPY_WORDS);
	pb_dma_address(copy, &scene.host.targets[0], 0, false);
	pb_dma_address(copy, &scene.host.targets[1], 0, true);
	pb_dma_word(copy, E2E_TARGET_BYTES);
	submit(&scene, 1, 1, scene.first, 1);
	await_why(scene.second, PB_WHY_WAITING);
	fill(&scene, 0, 2, NULL, 0);
	expect_status(scene.second, 1, PB_ERROR_OK);
	assert_true(e2e_target_is(&scene.host, 0, VALUE));
	assert_true(e2e_target_is(&scene.host, 1, VALUE));
	close_scene(&scene);
}

/* A waiter fails if its signaller fails or its queue is destroyed. The waiter's context is not lost. */
static void a_waiter_fails_with_its_signaller(void **state)
{
	struct scene scene;
	bool lost;

	(void)state;
	for (uint32_t goes = 0; goes < 2; goes++) {
		open_scene(&scene);
		fill(&scene, 1, 1, scene.first, 1);
		await_why(scene.second, PB_WHY_WAITING);
		scene.host.builders[0].context ^= 0xff; /* a context of no channel */
		if (goes != 0)
			assert_int_equal(pb_queue_destroy(scene.first), PB_ERROR_OK);
		else
			fill(&scene, 0, 2, NULL, 0);
		expect_status(scene.second, 1, PB_ERROR_DEP_FAILED);
		if (goes == 0)
			expect_status(scene.first, 2, PB_ERROR_BAD_CONTEXT);
		assert_true(e2e_target_is(&scene.host, 1, 0));
		assert_int_equal(pb_context_query(&scene.host.channel, scene.host.context, &lost),
				 PB_ERROR_OK);
		assert_false(lost);
		fill(&scene, 1, 3, NULL, 0);
		expect_status(scene.second, 3, PB_ERROR_OK);
		assert_true(e2e_target_is(&scene.host, 1, VALUE));
		close_scene(&scene);
	}
}

/* The submission that closes the cycle fails, and so does the other one, which waited for it. */
static void a_cycle_of_waits_fails(void **state)
{
	struct scene scene;

	(void)state;
	open_scene(&scene);
	fill(&scene, 1, 1, scene.first, 1);
	await_why(scene.second, PB_WHY_WAITING);
	fill(&scene, 0, 2, scene.second, 1);
	expect_status(scene.first, 2, PB_ERROR_DEADLOCK);
	expect_status(scene.second, 1, PB_ERROR_DEP_FAILED);
	assert_true(e2e_target_is(&scene.host, 0, 0) && e2e_target_is(&scene.host, 1, 0));
	close_scene(&scene);
}

/* ---- why ---- */

static void check_why(struct scene *scene, const char *meaning, const char *name, bool waits)
{
	static struct e2e_output output;
	char handle[16], expected[256];
	cJSON *object;

	(void)snprintf(handle, sizeof(handle), "0x%08x", (unsigned)scene->second->handle);
	(void)snprintf(expected, sizeof(expected), "Queue 1:1 (node 1, priority NORMAL) does not run: %s",
		       meaning);
	e2e_patchbay(&output, "why", handle, "--card", scene->card.socket);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	assert_memory_equal(output.out, expected, strlen(expected));
	e2e_patchbay(&output, "why", "1:1", "--json", "--card", scene->card.socket);
	assert_int_equal(output.code, 0);
	object = cJSON_Parse(output.out);
	assert_non_null(object);
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "why")), name);
	assert_int_equal(cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(object, "waits_for")), waits);
	cJSON_Delete(object);
}

static void why_names_the_reason(void **state)
{
	static const char meaning[] =
		"its next submission waits for another queue (1:0 to reach 5); 1 submitted, ";
	struct scene scene;

	(void)state;
	open_scene(&scene);
	check_why(&scene, "nothing is submitted; 0 submitted, 0 admitted, 0 completed, timeline 0.\n",
		  "EMPTY", false);
	fill(&scene, 1, 1, scene.first, 5);
	await_why(scene.second, PB_WHY_WAITING);
	check_why(&scene, meaning, "WAITING", true);
	assert_int_equal(pb_queue_suspend(scene.second, PB_STOP_RECALL), PB_ERROR_OK);
	check_why(&scene, "it is suspended; 1 submitted, 0 admitted, 0 completed, timeline 0.\n", "SUSPENDED",
		  false);
	close_scene(&scene);
}

/* ---- events and interrupts ---- */

/* More events than the ring has room for: the ring, the drop counter and the records are checked. */
static void an_event_overflow_loses_no_state(void **state)
{
	const struct pb_descriptor bad = {.context = 0x7f};
	struct pb_queue_resync now;
	struct pb_event event;
	struct scene scene;
	uint32_t events = 0;

	(void)state;
	open_scene(&scene);
	for (uint32_t i = 0; i < EVENTS + 36u; i++) {
		struct pb_descriptor descriptor = bad;

		descriptor.fence_id = i;
		assert_int_equal(pb_queue_submit(scene.first, &descriptor), PB_ERROR_OK);
		expect_status(scene.first, i, PB_ERROR_BAD_CONTEXT);
	}
	while (pb_channel_event(&scene.host.channel, &event)) {
		assert_int_equal(event.type, PB_EVENT_SUBMISSION_FAILED);
		assert_int_equal(event.fence_id, events);
		assert_int_equal(event.number, events);
		events++;
	}
	assert_int_equal(events, EVENTS);
	assert_int_equal(pb_channel_dropped(&scene.host.channel), 36);
	assert_int_equal(pb_channel_dropped(&scene.host.channel), 0);
	assert_int_equal(pb_queue_resync(scene.first, &now), PB_ERROR_OK);
	assert_int_equal(now.fence.errors, EVENTS + 36u);
	assert_int_equal(now.fence.error, PB_ERROR_BAD_CONTEXT);
	assert_int_equal(now.fence.error_fence_id, 0);
	assert_int_equal(now.preempt.count, 0);
	assert_int_equal(now.state.why, PB_WHY_EMPTY);
	close_scene(&scene);
}

/* Moderated completions arrive: when enough are there, or with the tick. */
static void moderated_completions_arrive(void **state)
{
	static const struct {
		uint32_t count;
		uint32_t microseconds;
	} cases[] = {{4, 1000000}, {100, 2000}, {1, 0}, {0, 0}};
	struct scene scene;

	(void)state;
	open_scene(&scene);
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
			pb_channel_moderate(&scene.host.channel, cases[i].count, cases[i].microseconds),
			PB_ERROR_OK);
		for (uint32_t n = 0; n < 4; n++) {
			const struct pb_descriptor nothing = {.context = scene.host.context, .fence_id = n};

			assert_int_equal(pb_queue_submit(scene.first, &nothing), PB_ERROR_OK);
		}
		expect_status(scene.first, 3, PB_ERROR_OK);
	}
	close_scene(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(a_waiter_runs_after_its_signal),   e2e_test(a_waiter_fails_with_its_signaller),
		e2e_test(a_cycle_of_waits_fails),           e2e_test(why_names_the_reason),
		e2e_test(an_event_overflow_loses_no_state), e2e_test(moderated_completions_arrive),
	};

	return e2e_run_tests(tests);
}
