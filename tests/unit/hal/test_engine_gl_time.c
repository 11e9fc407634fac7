/* SPDX-License-Identifier: MIT */
/* Time, stops and resets of a GL engine: renderers take theirs on the card's clock. */
#include <stdlib.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/hal/gl_bench.h"
#include "tests/unit/unit.h"

#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))

/* Steps of an engine whose renderer takes its time, on the card's clock. */
static bool step(struct gl_bench *gl, uint32_t microseconds)
{
	gl->clock += microseconds;
	return pb_engine_model_step(gl->bench.model, 200);
}

static void time_is_the_cards_clock_while_a_renderer_works(void **state)
{
	struct gl_bench gl;
	uint32_t time, progress;

	(void)state;
	gl_bench_start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 2));
	gl.null.delay = 5;
	STORE(&gl.bench, BENCH_BUFFER, GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	bench_feed(&gl.bench, OWNER(0), BENCH_GPU + BENCH_BUFFER, 56);
	assert_true(step(&gl, 0));
	time = gl.bench.registers->time;
	for (uint32_t i = 0; i < 4; i++) {
		progress = gl.bench.registers->progress;
		assert_true(pb_engine_gl_waits(gl.node));
		assert_true(step(&gl, 700));
		assert_int_equal(gl.bench.registers->time, time + 700 * (i + 1));
		/* The null renderer uses one microsecond in each poll. */
		assert_int_equal(gl.bench.registers->progress, progress + 1);
		assert_int_equal(gl.bench.registers->sequence, gl.bench.fed - 1);
	}
	while (step(&gl, 700))
		continue;
	gl_bench_done(&gl);
	assert_false(pb_engine_gl_waits(gl.node));
	gl_bench_stop(&gl);
}

/* STOP inside a buffer: between two packets, behind the renderer's answer; the rest runs later. */
static void a_stop_waits_for_the_packet_and_no_longer(void **state)
{
	static const uint32_t words[] = {GL(13), CLEAR_TEXTURE(PAGE(4), 1), GL(13),
					 CLEAR_TEXTURE(PAGE(6), 2)};
	struct gl_bench gl;
	struct pb_engine_progress progress;

	(void)state;
	gl_bench_start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 1), BIND(OWNER(0), 2, PAGE(6), 1));
	gl.null.delay = 3;
	bench_store(&gl.bench, BENCH_BUFFER, words, ARRAY(words));
	bench_feed(&gl.bench, OWNER(0), BENCH_GPU + BENCH_BUFFER, sizeof(words));
	step(&gl, 0);
	bench_ask(&gl.bench, PB_ENGINE_COMMAND_STOP_INSIDE);
	step(&gl, 100);
	assert_int_not_equal(gl.bench.registers->command_done, gl.bench.registers->command);
	for (uint32_t i = 0; i < 4; i++)
		step(&gl, 100);
	bench_expect_stop(&gl.bench, 1, 2);
	progress = gl.bench.registers->save;
	assert_int_equal(progress.offset, 56);
	gl_bench_expect(&gl, OWNER(0), PAGE(4), 1);
	gl_bench_expect(&gl, OWNER(0), PAGE(6), 0);
	bench_store(&gl.bench, BENCH_BUFFER, words, ARRAY(words));
	bench_resume(&gl.bench, &progress);
	bench_feed(&gl.bench, OWNER(0), BENCH_GPU + BENCH_BUFFER, sizeof(words));
	bench_run(&gl.bench);
	gl_bench_expect(&gl, OWNER(0), PAGE(6), 2);
	gl_bench_stop(&gl);
}

static void a_reset_ends_the_renderer_that_works(void **state)
{
	struct gl_bench gl;

	(void)state;
	gl_bench_start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 1), BIND(OWNER(1), 1, PAGE(4), 1));
	RUN(&gl, OWNER(1), GL(13), CLEAR_TEXTURE(PAGE(4), 8));
	gl.null.delay = UINT32_MAX;
	STORE(&gl.bench, BENCH_BUFFER, GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	bench_feed(&gl.bench, OWNER(0), BENCH_GPU + BENCH_BUFFER, 56);
	step(&gl, 0);
	step(&gl, 1000);
	bench_reset(&gl.bench);
	assert_false(pb_engine_gl_waits(gl.node));
	gl.null.delay = 0;
	gl_bench_expect(&gl, OWNER(1), PAGE(4), 8);
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_RENDERER, PACKET_AT);
	gl_bench_stop(&gl);
}

/* What a renderer has used that does not answer. */
static uint32_t used_so_far;

static enum pb_engine_gl_answer poll_silent(void *context, uint32_t renderer, uint32_t *used)
{
	(void)context;
	(void)renderer;
	*used = used_so_far;
	return PB_ENGINE_GL_WORKS;
}

/* A renderer that never answers a paging packet costs its owner, not the queue that pages. One that makes progress is waited for. */
static void paging_waits_for_a_renderer_so_long(void **state)
{
	struct pb_engine_gl_renderers renderers = pb_gl_null_renderers;
	struct gl_bench gl;

	(void)state;
	gl_bench_start(&gl);
	renderers.poll = poll_silent;
	gl.gl->config.renderers = &renderers;
	STORE(&gl.bench, BENCH_BUFFER, BIND(OWNER(0), 1, PAGE(4), 1));
	bench_feed(&gl.bench, BENCH_PAGING, BENCH_GPU + BENCH_BUFFER, 60);
	assert_true(step(&gl, 0));
	for (uint32_t i = 0; i < 3; i++) {
		used_so_far++;
		assert_true(step(&gl, PB_ENGINE_GL_PATIENCE_US));
	}
	assert_true(step(&gl, PB_ENGINE_GL_PATIENCE_US));
	while (step(&gl, 1))
		continue;
	gl_bench_done(&gl);
	gl.gl->config.renderers = &pb_gl_null_renderers;
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_RENDERER, PACKET_AT);
	gl_bench_stop(&gl);
}

/* Progress of one packet ends with PB_ENGINE_GL_PROGRESS_US of processor time; time goes on. */
static enum pb_engine_gl_answer poll_busy(void *context, uint32_t renderer, uint32_t *used)
{
	(void)renderer;
	*used = *((const struct pb_gl_null *)context)->clock;
	return PB_ENGINE_GL_WORKS;
}

static void a_packet_without_end_makes_progress_for_so_long(void **state)
{
	struct pb_engine_gl_renderers renderers = pb_gl_null_renderers;
	struct gl_bench gl;
	uint32_t progress, time;

	(void)state;
	gl_bench_start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 1));
	renderers.poll = poll_busy;
	gl.gl->config.renderers = &renderers;
	STORE(&gl.bench, BENCH_BUFFER, GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	bench_feed(&gl.bench, OWNER(0), BENCH_GPU + BENCH_BUFFER, 56);
	step(&gl, 0);
	step(&gl, 0);
	progress = gl.bench.registers->progress;
	time = gl.bench.registers->time;
	for (uint32_t i = 0; i < 30; i++)
		step(&gl, 100000);
	assert_int_equal(gl.bench.registers->progress - progress, PB_ENGINE_GL_PROGRESS_US);
	assert_int_equal(gl.bench.registers->time - time, 3000000);
	gl.gl->config.renderers = &pb_gl_null_renderers;
	gl_bench_stop(&gl);
}

/* Two nodes, one owner: the second waits. */
static void one_node_at_a_time_is_in_a_renderer(void **state)
{
	struct pb_engine_gl_node *node;
	struct gl_bench gl;
	struct bench other;
	uint32_t progress;

	(void)state;
	gl_bench_start(&gl);
	bench_start_other(&other, &gl.bench, PB_NODE_3D);
	gl_bench_start_node(&gl, &other, &node, BENCH_OTHER_NODE, PB_NODE_3D);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 1));
	gl.null.delay = 4;
	STORE(&gl.bench, BENCH_BUFFER, GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	bench_feed(&gl.bench, OWNER(0), BENCH_GPU + BENCH_BUFFER, 56);
	bench_feed(&other, OWNER(0), BENCH_GPU + BENCH_BUFFER, 56);
	step(&gl, 0);
	for (uint32_t i = 0; i < 10; i++)
		assert_true(pb_engine_model_step(other.model, 200));
	assert_int_equal(other.registers->sequence, 0);
	/* What the renderer does is progress of both. */
	progress = other.registers->progress;
	for (uint32_t i = 1; i < 4; i++) {
		assert_true(step(&gl, 10));
		assert_true(pb_engine_model_step(other.model, 200));
		assert_int_equal(other.registers->progress, progress + i);
	}
	while (step(&gl, 10))
		continue;
	gl_bench_done(&gl);
	while (pb_engine_model_step(other.model, 200))
		continue;
	bench_expect_done(&other);
	bench_stop_other(&other);
	free(node);
	gl_bench_stop(&gl);
}

UNIT_SUITE(test_engine_gl_time)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_the_cards_clock_while_a_renderer_works),
		cmocka_unit_test(a_stop_waits_for_the_packet_and_no_longer),
		cmocka_unit_test(a_reset_ends_the_renderer_that_works),
		cmocka_unit_test(paging_waits_for_a_renderer_so_long),
		cmocka_unit_test(a_packet_without_end_makes_progress_for_so_long),
		cmocka_unit_test(one_node_at_a_time_is_in_a_renderer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
