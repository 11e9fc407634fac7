/* SPDX-License-Identifier: MIT */
/* A RESET of a GL engine ends the renderer of the context at its head: that process, and no other one. */
#define _GNU_SOURCE
#include <string.h>

#include "patchbay/query.h"
#include "patchbay/stop.h"
#include "tests/e2e/e2e_gl.h"

#define GREEN 0xff00ff00u
#define BLUE  0xff0000ffu
/* Pages of the video segment that nothing else uses. */
#define PAGE_A  8u
#define PAGE_B  9u
#define SURFACE 11u
/* So long its renderer has worked before its engine is reset. */
#define WORKED_US 20000u
#define LIMIT_US  100000u

/* Renderers in the order in which they were started. */
enum { ENDLESS, IDLE, OTHER, RENDERERS };

struct scene {
	struct e2e_card card;
	struct e2e_host hosts[2];
	struct e2e_gl contexts[RENDERERS]; /* of the first host, but for OTHER */
	pid_t pids[RENDERERS];
	struct pb_node_status before;
};

static bool possible;

static int setup(void **state)
{
	const int failed = e2e_setup(state);

	possible = failed == 0 && e2e_gl_possible();
	return failed;
}

static void open_context(struct scene *scene, uint32_t index, uint32_t page, const struct e2e_gl_shape *shape)
{
	struct e2e_gl *gl = &scene->contexts[index];

	e2e_gl_open(gl, &scene->hosts[index == OTHER]);
	assert_int_equal(e2e_gl_bind(gl, 1, page, shape), PB_ERROR_OK);
	assert_int_equal(e2e_gl_draw_to(gl, SURFACE, page), PB_ERROR_OK);
	assert_int_equal(e2e_gl_renderers(&scene->card, scene->pids, RENDERERS), index + 1u);
}

/* The endless draw has begun, and runs. */
static void await_work(struct scene *scene)
{
	const uint64_t start = e2e_now();
	struct pb_node_status after;

	do {
		assert_true(e2e_patience(start));
		assert_int_equal(pb_node_query(&scene->hosts[0].channel, 0, &after), PB_ERROR_OK);
		assert_int_equal(after.resets, scene->before.resets);
	} while (after.progress - scene->before.progress < WORKED_US);
	assert_int_equal(after.head, scene->contexts[ENDLESS].queue.handle);
}

/*
 * The endless one draws; the other host's submission waits behind it, on the same node. Both have the card's limits, which are
 * many times longer than this takes.
 */
static void open_scene(struct scene *scene)
{
	static const struct e2e_gl_shape large = {2, 1, 2, 4096, 4096};
	struct e2e_gl *other = &scene->contexts[OTHER];

	memset(scene, 0, sizeof(*scene));
	e2e_gl_card_start(&scene->card, 0);
	assert_true(e2e_host_open(&scene->hosts[0], scene->card.socket));
	assert_true(e2e_host_open(&scene->hosts[1], scene->card.socket));
	open_context(scene, ENDLESS, PAGE_B, &large);
	open_context(scene, IDLE, PAGE_A, &e2e_gl_picture);
	assert_int_equal(e2e_gl_clear(&scene->contexts[IDLE], false, true, false), PB_ERROR_OK);
	open_context(scene, OTHER, PAGE_A, &e2e_gl_picture);
	assert_int_equal(pb_node_query(&scene->hosts[0].channel, 0, &scene->before), PB_ERROR_OK);
	e2e_gl_draw_without_end(&scene->contexts[ENDLESS]);
	await_work(scene);
	pb_dma_begin(&other->builder);
	e2e_gl_add_clear(other, false, false, true);
	assert_int_equal(pb_dma_submit(&other->builder, 5), PB_ERROR_OK);
}

static void check_picture(struct e2e_gl *gl, uint32_t pixel)
{
	assert_int_equal(e2e_gl_read(gl, PAGE_A), PB_ERROR_OK);
	assert_true(e2e_gl_is(gl, pixel));
}

/* The other two have the processes that they had, what they had drawn, and what they had submitted; and they go on. */
static void check_others(struct scene *scene)
{
	struct pb_node_status after;
	struct pb_fence fence;
	pid_t left[RENDERERS];

	assert_int_equal(pb_dma_wait(&scene->contexts[OTHER].builder, E2E_PATIENCE_US, &fence), PB_ERROR_OK);
	assert_int_equal(fence.fence_id, 5);
	assert_int_equal(fence.errors, 0);
	assert_int_equal(e2e_gl_renderers(&scene->card, left, RENDERERS), 2);
	assert_int_equal(left[0], scene->pids[IDLE]);
	assert_int_equal(left[1], scene->pids[OTHER]);
	assert_int_equal(pb_node_query(&scene->hosts[0].channel, 0, &after), PB_ERROR_OK);
	assert_int_equal(after.resets, scene->before.resets + 1u);
	check_picture(&scene->contexts[OTHER], BLUE);
	check_picture(&scene->contexts[IDLE], GREEN);
	assert_int_equal(e2e_gl_clear(&scene->contexts[IDLE], false, false, true), PB_ERROR_OK);
	check_picture(&scene->contexts[IDLE], BLUE);
}

/* What was lost stays lost, and starts no renderer. */
static void close_scene(struct scene *scene)
{
	struct pb_fence fence;
	pid_t left[RENDERERS];

	assert_int_equal(pb_dma_wait(&scene->contexts[ENDLESS].builder, E2E_PATIENCE_US, &fence),
			 PB_ERROR_ENGINE_HANG);
	assert_int_not_equal(e2e_gl_clear(&scene->contexts[ENDLESS], true, false, false), PB_ERROR_OK);
	assert_int_equal(e2e_gl_renderers(&scene->card, left, RENDERERS), 2);
	assert_true(e2e_host_close(&scene->hosts[0]) && e2e_host_close(&scene->hosts[1]));
	e2e_card_stop(&scene->card);
}

static void a_hosts_reset_ends_the_renderer_at_the_head(void **state)
{
	static struct scene scene;
	struct pb_preempt result;

	(void)state;
	if (!possible)
		skip();
	open_scene(&scene);
	assert_int_equal(pb_queue_reset(&scene.contexts[ENDLESS].queue, &result), PB_ERROR_OK);
	assert_int_equal(result.returned, 0);
	assert_int_equal(result.fence_id, 9);
	check_others(&scene);
	close_scene(&scene);
}

/* Without a host: the limit of the queue passes. */
static void the_firmwares_reset_ends_the_renderer_at_the_head(void **state)
{
	static struct scene scene;

	(void)state;
	if (!possible)
		skip();
	open_scene(&scene);
	pb_queue_set_limits(&scene.contexts[ENDLESS].queue, LIMIT_US, LIMIT_US);
	check_others(&scene);
	close_scene(&scene);
}

int main(void)
{
#define gl_test(function) cmocka_unit_test_setup_teardown(function, setup, e2e_teardown)
	const struct CMUnitTest tests[] = {
		gl_test(a_hosts_reset_ends_the_renderer_at_the_head),
		gl_test(the_firmwares_reset_ends_the_renderer_at_the_head),
	};

	return e2e_run_tests(tests);
}
