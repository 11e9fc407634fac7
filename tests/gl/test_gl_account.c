/* SPDX-License-Identifier: MIT */
/* Objects and sub-contexts: created, bound, destroyed while bound, and what is an error. */
#include "tests/gl/gl_bench.h"
#include "tests/unit/unit.h"

#define DRAW          C(8, 0, 0, 3, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0)
#define SURFACE(h, r) C(1, 8, (h), (r), 0, 0, 0)
#define VIEW(h, r)    C(1, 6, (h), (r), 0, 0, 0, 0)
#define DESTROY(h)    C(3, 0, (h))
#define COLOR(h)      C(5, 0, 1, 0, (h))
#define SET_SUB(n)    C(28, 0, (n))
#define CREATE_SUB(n) C(29, 0, (n))
#define END_SUB(n)    C(30, 0, (n))

static int start(void **state)
{
	(void)state;
	bench_start();
	return 0;
}

static void what_is_destroyed_while_bound_is_still_drawn_to(void **state)
{
	(void)state;
	bench_expect("", SURFACE(1, 11));
	bench_expect("", VIEW(2, 12));
	bench_expect("", COLOR(1));
	bench_expect("", C(10, 0, 1, 0, 2));
	bench_expect("", DESTROY(1));
	bench_expect("", DESTROY(2));
	bench_expect("rw11 r12", DRAW);
	assert_string_equal(bench_named(), "11 12");
	bench_expect("", C(5, 0, 0, 0));
	assert_string_equal(bench_named(), "12");
}

static void what_is_not_bound_is_named_while_it_exists(void **state)
{
	(void)state;
	bench_expect("", SURFACE(1, 11));
	bench_expect("", C(1, 9, 2, 0, 0, 12));
	bench_expect("", DRAW);
	assert_string_equal(bench_named(), "11 12");
	bench_expect("", DESTROY(1));
	assert_string_equal(bench_named(), "12");
	bench_expect("", DESTROY(1));
	bench_expect("", DESTROY(2));
	assert_string_equal(bench_named(), "");
}

static void a_handle_can_be_used_again(void **state)
{
	(void)state;
	bench_expect("", SURFACE(1, 11));
	bench_expect("", COLOR(1));
	bench_expect("", SURFACE(1, 12));
	bench_expect("rw11", DRAW);
	bench_expect("", COLOR(1));
	bench_expect("rw12", DRAW);
	/* As another kind. */
	bench_expect("", VIEW(1, 13));
	assert_int_equal(bench_follow(COLOR(1)), PB_GL_STATUS_KIND);
	assert_int_equal(bench_account.objects.used, 1);
}

/* Which objects a command must name. 1 is a surface, 2 a view, 3 a query, 4 a blend state, 9 does not exist. */
static const struct {
	const char *name;
	enum pb_gl_status status;
	uint32_t words[6];
	uint32_t length;
} rows[] = {
	{"bind a blend state", PB_GL_STATUS_OK, {2u | 1u << 8, 4}, 1},
	{"bind no blend state", PB_GL_STATUS_OK, {2u | 1u << 8, 0}, 1},
	{"bind a surface as blend state", PB_GL_STATUS_KIND, {2u | 1u << 8, 1}, 1},
	{"bind what does not exist", PB_GL_STATUS_OBJECT, {2u | 1u << 8, 9}, 1},
	{"draw to a view", PB_GL_STATUS_KIND, {5, 1, 0, 2}, 3},
	{"draw to what does not exist", PB_GL_STATUS_OBJECT, {5, 1, 0, 9}, 3},
	{"depth in a view", PB_GL_STATUS_KIND, {5, 0, 2}, 2},
	{"depth in what does not exist", PB_GL_STATUS_OBJECT, {5, 0, 9}, 2},
	{"sample a surface", PB_GL_STATUS_KIND, {10, 0, 0, 1}, 3},
	{"sample what does not exist", PB_GL_STATUS_OBJECT, {10, 0, 0, 9}, 3},
	{"stream out to a surface", PB_GL_STATUS_KIND, {25, 0, 1}, 2},
	{"stream out to what does not exist", PB_GL_STATUS_OBJECT, {25, 0, 9}, 2},
	{"begin a query", PB_GL_STATUS_OK, {19, 3}, 1},
	{"begin a surface", PB_GL_STATUS_KIND, {19, 1}, 1},
	{"begin what does not exist", PB_GL_STATUS_OBJECT, {19, 9}, 1},
	{"begin no query", PB_GL_STATUS_OBJECT, {19, 0}, 1},
	{"end a surface", PB_GL_STATUS_KIND, {20, 1}, 1},
	{"end what does not exist", PB_GL_STATUS_OBJECT, {20, 9}, 1},
	{"result of what does not exist", PB_GL_STATUS_OK, {21, 9, 0}, 2},
	{"condition of what does not exist", PB_GL_STATUS_OK, {26, 9, 0, 0}, 3},
	{"shader that does not exist", PB_GL_STATUS_OK, {31, 9, 0}, 2},
	{"sampler state that does not exist", PB_GL_STATUS_OK, {18, 0, 0, 9}, 3},
	{"sub-context that does not exist", PB_GL_STATUS_SUB_CONTEXT, {28, 9}, 1},
	{"end of a sub-context that does not exist", PB_GL_STATUS_OK, {30, 9}, 1},
	{"end of sub-context 0", PB_GL_STATUS_OK, {30, 0}, 1},
};

static void objects_and_kinds_are_checked(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		bench_start();
		bench_expect("", SURFACE(1, 11));
		bench_expect("", VIEW(2, 12));
		bench_expect("", C(1, 9, 3, 0, 0, 13));
		bench_expect("", C(1, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
		if (bench_follow(rows[n].words, rows[n].length) != rows[n].status)
			fail_msg("%s", rows[n].name);
	}
}

static void sub_contexts_have_their_own_objects_and_bindings(void **state)
{
	(void)state;
	bench_expect("", SURFACE(1, 11));
	bench_expect("", COLOR(1));
	bench_expect("", CREATE_SUB(7));
	/* The new one is current, and empty. */
	bench_expect("", DRAW);
	assert_int_equal(bench_follow(COLOR(1)), PB_GL_STATUS_OBJECT);
	bench_expect("", SURFACE(1, 12));
	bench_expect("", COLOR(1));
	bench_expect("rw12", DRAW);
	bench_expect("", SET_SUB(0));
	bench_expect("rw11", DRAW);
	bench_expect("", SET_SUB(7));
	bench_expect("", DRAW);
	pb_gl_account_begin(&bench_account);
	bench_expect("rw12", DRAW);
	/* One that exists is not created anew, and does not become current. */
	bench_expect("", CREATE_SUB(0));
	pb_gl_account_begin(&bench_account);
	bench_expect("rw12", DRAW);
}

static void a_sub_context_ends_with_its_objects(void **state)
{
	(void)state;
	bench_expect("", SURFACE(1, 11));
	bench_expect("", COLOR(1));
	bench_expect("", CREATE_SUB(7));
	bench_expect("", SURFACE(1, 12));
	bench_expect("", COLOR(1));
	bench_expect("", END_SUB(7));
	assert_string_equal(bench_named(), "11");
	/* Sub-context 0 is current then. */
	bench_expect("rw11", DRAW);
	assert_int_equal(bench_follow(SET_SUB(7)), PB_GL_STATUS_SUB_CONTEXT);
	/* It can be created once more, empty. */
	bench_expect("", CREATE_SUB(7));
	bench_expect("", DRAW);
	assert_int_equal(bench_follow(COLOR(1)), PB_GL_STATUS_OBJECT);
	/* Another one that ends leaves the current one as it is. */
	bench_expect("", CREATE_SUB(8));
	bench_expect("", END_SUB(7));
	bench_expect("", SURFACE(1, 13));
	bench_expect("", COLOR(1));
	bench_expect("rw13", DRAW);
}

static void too_much_is_an_error(void **state)
{
	uint32_t number = 1;

	(void)state;
	for (; number < BENCH_SUB_CONTEXTS; number++)
		bench_expect("", CREATE_SUB(number));
	assert_int_equal(bench_follow(CREATE_SUB(number)), PB_GL_STATUS_FULL);
	bench_start();
	for (number = 1; number <= BENCH_OBJECTS; number++)
		bench_expect("", VIEW(number, 1));
	assert_int_equal(bench_follow(VIEW(number, 1)), PB_GL_STATUS_FULL);
	bench_expect("", VIEW(1, 2));
}

static bool stop(void *context, uint32_t resource, uint32_t access)
{
	(void)resource;
	(void)access;
	(*(uint32_t *)context)++;
	return false;
}

static void a_visit_can_be_stopped(void **state)
{
	uint32_t visited = 0;

	(void)state;
	assert_true(pb_gl_account_each(&bench_account, stop, &visited));
	bench_expect("", VIEW(1, 11));
	bench_expect("", VIEW(2, 12));
	assert_false(pb_gl_account_each(&bench_account, stop, &visited));
	assert_int_equal(visited, 1);
	bench_expect("", C(27, 0, 5, 31, 0, 64, 13));
	assert_false(pb_gl_account_each(&bench_account, stop, &visited));
	assert_int_equal(visited, 2);
}

static void a_caller_need_not_ask(void **state)
{
	const uint32_t buffers[] = {6u | 3u << 16, 16, 0, 21};
	const uint32_t draw[13] = {8u | 12u << 16};
	struct pb_gl_command command;

	(void)state;
	assert_int_equal(pb_gl_read(buffers, 4, 0, &command), PB_GL_STATUS_OK);
	assert_int_equal(pb_gl_account_follow(&bench_account, &command, NULL, NULL), PB_GL_STATUS_OK);
	assert_int_equal(pb_gl_read(draw, 13, 0, &command), PB_GL_STATUS_OK);
	assert_int_equal(pb_gl_account_follow(&bench_account, &command, NULL, NULL), PB_GL_STATUS_OK);
	bench_expect("", DRAW);
}

UNIT_SUITE(test_gl_account)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_destroyed_while_bound_is_still_drawn_to, start),
		cmocka_unit_test_setup(what_is_not_bound_is_named_while_it_exists, start),
		cmocka_unit_test_setup(a_handle_can_be_used_again, start),
		cmocka_unit_test_setup(objects_and_kinds_are_checked, start),
		cmocka_unit_test_setup(sub_contexts_have_their_own_objects_and_bindings, start),
		cmocka_unit_test_setup(a_sub_context_ends_with_its_objects, start),
		cmocka_unit_test_setup(too_much_is_an_error, start),
		cmocka_unit_test_setup(a_visit_can_be_stopped, start),
		cmocka_unit_test_setup(a_caller_need_not_ask, start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
