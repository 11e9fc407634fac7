/* SPDX-License-Identifier: MIT */
/* What a draw, a clear and a dispatch reach through each kind of binding. Numbers of commands are those of the stream. */
#include "tests/gl/gl_bench.h"
#include "tests/unit/unit.h"

#define DRAW            C(8, 0, 0, 3, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0)
#define DRAW_INDEXED    C(8, 0, 0, 3, 4, 1, 1, 0, 0, 0, 0, 0, 0, 0)
#define DRAW_COUNTED(n) C(8, 0, 0, 3, 4, 0, 1, 0, 0, 0, 0, 0, 0, (n))
#define CLEAR(buffers)  C(7, 0, (buffers), 0, 0, 0, 0, 0, 0, 0)
#define DISPATCH        C(37, 0, 1, 1, 1, 1, 1, 1, 0, 0)
#define SURFACE(h, r)   C(1, 8, (h), (r), 0, 0, 0)
#define VIEW(h, r)      C(1, 6, (h), (r), 0, 0, 0, 0)
#define TARGET(h, r)    C(1, 10, (h), (r), 0, 64)

static int start(void **state)
{
	(void)state;
	bench_start();
	return 0;
}

static void a_fresh_context_reaches_nothing(void **state)
{
	(void)state;
	bench_expect("", DRAW_INDEXED);
	bench_expect("", CLEAR(0xffffffff));
	bench_expect("", DISPATCH);
	assert_string_equal(bench_named(), "");
}

static void surfaces_of_the_framebuffer(void **state)
{
	(void)state;
	bench_expect("", SURFACE(1, 11));
	bench_expect("", C(1, 11, 2, 12, 0, 0, 0, 4));
	bench_expect("", SURFACE(3, 13));
	bench_expect("", DRAW);
	bench_expect("", C(5, 0, 3, 3, 1, 0, 2));
	bench_expect("rw11 rw12 rw13", DRAW);
	bench_expect("", DRAW);
	pb_gl_account_begin(&bench_account);
	/* A dispatch draws nothing. */
	bench_expect("", DISPATCH);
	bench_expect("rw11 rw12 rw13", DRAW);
	/* Fewer colors, no depth. */
	bench_expect("", C(5, 0, 1, 0, 2));
	bench_expect("rw12", DRAW);
	bench_expect("", C(5, 0, 0, 0));
	bench_expect("", DRAW);
}

static void a_clear_reaches_what_it_clears(void **state)
{
	(void)state;
	bench_expect("", SURFACE(1, 11));
	bench_expect("", SURFACE(2, 12));
	bench_expect("", SURFACE(3, 13));
	bench_expect("", C(5, 0, 2, 3, 1, 2));
	bench_expect("rw13", CLEAR(1));
	pb_gl_account_begin(&bench_account);
	bench_expect("rw13", CLEAR(2));
	bench_expect("", CLEAR(3));
	bench_expect("rw11", CLEAR(4));
	bench_expect("rw12", CLEAR(0xffffffff));
	pb_gl_account_begin(&bench_account);
	bench_expect("rw12", CLEAR(8));
	bench_expect("", CLEAR(0x10));
	bench_expect("rw11 rw13", DRAW);
}

static void vertex_and_index_buffers(void **state)
{
	(void)state;
	bench_expect("", C(6, 0, 16, 0, 21, 16, 0, 0, 16, 0, 22));
	bench_expect("r21 r22", DRAW);
	bench_expect("", C(11, 0, 23, 2, 0));
	bench_expect("", DRAW);
	bench_expect("r23", DRAW_INDEXED);
	bench_expect("", DRAW_INDEXED);
	/* The list replaces all buffers; the same one again is a new binding. */
	bench_expect("", C(6, 0, 16, 0, 22));
	bench_expect("r22", DRAW_INDEXED);
	bench_expect("", C(11, 0, 0));
	pb_gl_account_begin(&bench_account);
	bench_expect("r22", DRAW_INDEXED);
	bench_expect("", (const uint32_t[]){6}, 0);
	pb_gl_account_begin(&bench_account);
	bench_expect("", DRAW_INDEXED);
}

static void slots_of_each_stage(void **state)
{
	(void)state;
	for (uint32_t stage = 0; stage < 6; stage++) {
		bench_start();
		bench_expect("", C(27, 0, stage, 31, 0, 64, 31));
		bench_expect("", C(34, 0, stage, 31, 0, 64, 32));
		bench_expect("", C(35, 0, stage, 28, 1, 1, 0, 0, 33, 1, 2, 0, 0, 34, 1, 3, 0, 0, 35, 1, 0, 0,
				   0, 36));
		bench_expect("", VIEW(1, 30));
		bench_expect("", C(10, 0, stage, 31, 1));
		bench_expect("", C(40, 0, 31, 0, 64, 37));
		if (stage == 5) {
			bench_expect("rw37 r30 r31 rw32 rw35 rw36 r33 w34", DISPATCH);
			bench_expect("", DRAW);
		} else {
			bench_expect("rw37 r30 r31 rw32 rw35 rw36 r33 w34", DRAW);
			bench_expect("", DISPATCH);
		}
		/* Taken away again. */
		bench_expect("", C(27, 0, stage, 31, 0, 0, 0));
		bench_expect("", C(34, 0, stage, 31, 0, 0, 0));
		bench_expect("", C(35, 0, stage, 28, 1, 1, 0, 0, 0, 1, 2, 0, 0, 0, 1, 3, 0, 0, 0));
		bench_expect("", C(10, 0, stage, 31, 0));
		bench_expect("", C(40, 0, 31, 0, 0, 0));
		pb_gl_account_begin(&bench_account);
		bench_expect(stage == 5 ? "" : "rw36", DRAW);
		bench_expect(stage == 5 ? "rw36" : "", DISPATCH);
	}
}

static void an_image_can_change_its_access(void **state)
{
	(void)state;
	bench_expect("", C(35, 0, 1, 0, 1, 1, 0, 0, 33));
	bench_expect("", C(35, 0, 1, 0, 1, 2, 0, 0, 33));
	bench_expect("w33", DRAW);
	bench_expect("", C(35, 0, 1, 0, 1, 3, 0, 0, 33));
	bench_expect("rw33", DRAW);
}

static void views_behind_the_list_are_free(void **state)
{
	(void)state;
	for (uint32_t handle = 1; handle <= 4; handle++)
		bench_expect("", VIEW(handle, 40 + handle));
	bench_expect("", C(10, 0, 1, 0, 1, 2, 3, 4));
	bench_expect("r41 r42 r43 r44", DRAW);
	/* Slot 1 anew: slot 0 stays, those behind it are free. */
	bench_expect("", C(10, 0, 1, 1, 4));
	pb_gl_account_begin(&bench_account);
	bench_expect("r41 r44", DRAW);
	/* No view, from slot 1 on. */
	bench_expect("", C(10, 0, 1, 1));
	pb_gl_account_begin(&bench_account);
	bench_expect("r41", DRAW);
}

static void stream_out_targets_are_written(void **state)
{
	(void)state;
	bench_expect("", TARGET(1, 51));
	bench_expect("", TARGET(2, 52));
	bench_expect("", C(25, 0, 0, 1, 2));
	bench_expect("w51 w52", DRAW);
	bench_expect("", C(25, 0, 0, 0, 2));
	bench_expect("w52", DRAW);
	bench_expect("", C(25, 0, 0));
	pb_gl_account_begin(&bench_account);
	bench_expect("", DRAW);
	/* As many vertices as a target has; the handle of another object, or of none, counts none. */
	bench_expect("r51", DRAW_COUNTED(1));
	bench_expect("", SURFACE(3, 53));
	bench_expect("", DRAW_COUNTED(3));
	bench_expect("", DRAW_COUNTED(99));
}

static void the_result_of_a_query_goes_where_it_was_created(void **state)
{
	(void)state;
	bench_expect("", C(1, 9, 1, 0, 0, 61));
	bench_expect("", C(19, 0, 1));
	bench_expect("", DRAW);
	bench_expect("", C(20, 0, 1));
	bench_expect("", C(26, 0, 1, 0, 0));
	bench_expect("wb61", C(21, 0, 1, 1));
	bench_expect("wb61", C(21, 0, 1, 0));
	/* The renderer ignores a handle that is no query's. */
	bench_expect("", C(21, 0, 2, 0));
	bench_expect("", SURFACE(3, 53));
	bench_expect("", C(21, 0, 3, 0));
}

static void the_caller_can_stop(void **state)
{
	(void)state;
	bench_expect("", C(6, 0, 16, 0, 21, 16, 0, 22));
	bench_allowed = 1;
	assert_int_equal(bench_follow(DRAW), PB_GL_STATUS_STOPPED);
	bench_start();
	bench_expect("", C(1, 9, 1, 0, 0, 61));
	bench_allowed = 1;
	assert_int_equal(bench_follow(C(21, 0, 1, 1)), PB_GL_STATUS_STOPPED);
	bench_start();
	bench_expect("", C(34, 0, 5, 0, 0, 64, 32));
	bench_allowed = 1;
	assert_int_equal(bench_follow(DISPATCH), PB_GL_STATUS_STOPPED);
}

UNIT_SUITE(test_gl_reach)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_fresh_context_reaches_nothing, start),
		cmocka_unit_test_setup(surfaces_of_the_framebuffer, start),
		cmocka_unit_test_setup(a_clear_reaches_what_it_clears, start),
		cmocka_unit_test_setup(vertex_and_index_buffers, start),
		cmocka_unit_test_setup(slots_of_each_stage, start),
		cmocka_unit_test_setup(an_image_can_change_its_access, start),
		cmocka_unit_test_setup(views_behind_the_list_are_free, start),
		cmocka_unit_test_setup(stream_out_targets_are_written, start),
		cmocka_unit_test_setup(the_result_of_a_query_goes_where_it_was_created, start),
		cmocka_unit_test_setup(the_caller_can_stop, start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
