/* SPDX-License-Identifier: MIT */
/* The walk over a run: order, replacement, errors and their place, and where a run can be split. */
#include <string.h>

#include "hal/gl/stream.h"
#include "tests/unit/unit.h"

#define BARRIER 36u | 1u << 16
#define COPY    17u | 13u << 16
#define BUFFERS 6u | 6u << 16
#define UNKNOWN 62u | 1u << 16

/** What the walk has called, in order: 'r' for a resource, 'c' for a command. */
static char calls[64];
static uint32_t stop_at; /**< resource at which the caller stops; 0: at none */
static uint32_t shown;   /**< what the last command held in its second word */

static void call(char what)
{
	calls[strlen(calls)] = what;
}

static bool replace(void *context, const struct pb_gl_use *use, uint32_t *value)
{
	(void)use;
	assert_ptr_equal(context, calls);
	call('r');
	if (*value == stop_at)
		return false;
	*value += 100;
	return true;
}

static enum pb_gl_status follow(void *context, const struct pb_gl_command *command)
{
	assert_ptr_equal(context, calls);
	call('c');
	shown = command->words[1];
	return command->words[1] == 0xbad ? PB_GL_STATUS_OBJECT : PB_GL_STATUS_OK;
}

static const struct pb_gl_walk_ops ops = {.resource = replace, .command = follow};

static enum pb_gl_status walk(uint32_t *words, uint32_t count, struct pb_gl_error *error)
{
	memset(calls, 0, sizeof(calls));
	memset(error, 0xff, sizeof(*error));
	return pb_gl_walk(words, count, &ops, calls, error);
}

static void a_run_is_walked_in_order(void **state)
{
	uint32_t words[] = {BARRIER, 5, BUFFERS, 0, 0, 1, 0, 0, 2, 0, COPY, 3,
			    0,       0, 0,       0, 4, 0, 0, 0, 0, 0, 0,    0};
	struct pb_gl_error error;

	(void)state;
	stop_at = 0;
	assert_int_equal(walk(words, 24, &error), PB_GL_STATUS_OK);
	assert_string_equal(calls, "crrccrrc");
	assert_int_equal(error.status, PB_GL_STATUS_OK);
	assert_int_equal(error.word, 0);
}

static void only_words_that_name_resources_are_replaced(void **state)
{
	uint32_t words[] = {BUFFERS, 7, 8, 1, 7, 8, 0, COPY, 3, 9, 9, 9, 9, 4, 9, 9, 9, 9, 9, 9, 9};
	const uint32_t after[] = {BUFFERS, 7, 8,   101, 7, 8, 0, COPY, 103, 9, 9,
				  9,       9, 104, 9,   9, 9, 9, 9,    9,   9};
	struct pb_gl_error error;

	(void)state;
	stop_at = 0;
	assert_int_equal(walk(words, 21, &error), PB_GL_STATUS_OK);
	assert_memory_equal(words, after, sizeof(words));
	/* A command is shown behind the replacement. */
	assert_int_equal(shown, 103);
}

static void an_unknown_command_is_named_with_its_place(void **state)
{
	uint32_t words[] = {BARRIER, 5, BARRIER, 5, UNKNOWN, 5, BARRIER, 5};
	struct pb_gl_error error;

	(void)state;
	assert_int_equal(walk(words, 8, &error), PB_GL_STATUS_UNKNOWN);
	assert_int_equal(error.status, PB_GL_STATUS_UNKNOWN);
	assert_int_equal(error.word, 4);
	assert_int_equal(pb_gl_number_of(error.header), 62);
	assert_string_equal(calls, "cc");
}

static void the_caller_can_stop_a_walk(void **state)
{
	uint32_t words[] = {BUFFERS, 0, 0, 1, 0, 0, 2, BARRIER, 5};
	uint32_t refused[] = {BARRIER, 5, BARRIER, 0xbad, BARRIER, 5};
	struct pb_gl_error error;

	(void)state;
	stop_at = 2;
	assert_int_equal(walk(words, 9, &error), PB_GL_STATUS_STOPPED);
	assert_string_equal(calls, "rr");
	assert_int_equal(error.word, 0);
	assert_int_equal(walk(refused, 6, &error), PB_GL_STATUS_OBJECT);
	assert_string_equal(calls, "cc");
	assert_int_equal(error.word, 2);
}

static void nothing_is_called_that_is_not_there(void **state)
{
	static const struct pb_gl_walk_ops none = {0};
	uint32_t words[] = {BUFFERS, 0, 0, 1, 0, 0, 2, BARRIER, 5};
	struct pb_gl_error error;

	(void)state;
	assert_int_equal(pb_gl_walk(words, 9, &none, NULL, &error), PB_GL_STATUS_OK);
	assert_int_equal(pb_gl_walk(words, 8, &none, NULL, &error), PB_GL_STATUS_TRUNCATED);
	assert_int_equal(error.word, 7);
	assert_int_equal(pb_gl_walk(words, 0, &none, NULL, &error), PB_GL_STATUS_OK);
}

static void a_command_that_is_longer_than_the_run_is_not_read(void **state)
{
	struct pb_gl_command command;
	/* The header claims 65,535 words that the array does not have: a sanitizer would see a read. */
	const uint32_t words[] = {12u | 0xffffu << 16};

	(void)state;
	assert_int_equal(pb_gl_read(words, 1, 0, &command), PB_GL_STATUS_TRUNCATED);
	assert_int_equal(pb_gl_read(words, 1, 1, &command), PB_GL_STATUS_TRUNCATED);
	assert_int_equal(pb_gl_read(words, 1, UINT32_MAX, &command), PB_GL_STATUS_TRUNCATED);
}

static void a_command_knows_its_place(void **state)
{
	const uint32_t words[] = {BARRIER, 5, 1u | 8u << 8 | 5u << 16, 7, 4, 0, 0, 0};
	struct pb_gl_command command;

	(void)state;
	assert_int_equal(pb_gl_read(words, 8, 2, &command), PB_GL_STATUS_OK);
	assert_ptr_equal(command.words, words + 2);
	assert_int_equal(command.word, 2);
	assert_int_equal(command.count, 6);
	assert_int_equal(command.number, PB_GL_CREATE_OBJECT);
	assert_int_equal(command.kind, PB_GL_KIND_SURFACE);
}

static void a_run_is_split_between_commands(void **state)
{
	const uint32_t words[] = {BARRIER, 5, BUFFERS, 0, 0, 1, 0, 0, 2, BARRIER};
	/* By the limit: 2 words, 7 words, and one that is cut off. */
	const uint32_t fits[] = {0, 0, 2, 2, 2, 2, 2, 2, 2, 9, 9, 9};

	(void)state;
	for (uint32_t limit = 0; limit < 12; limit++)
		assert_int_equal(pb_gl_fit(words, 10, limit), fits[limit]);
	assert_int_equal(pb_gl_fit(words, 10, UINT32_MAX), 9);
	assert_int_equal(pb_gl_fit(words, 0, 4096), 0);
}

UNIT_SUITE(test_gl_stream)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_walked_in_order),
		cmocka_unit_test(only_words_that_name_resources_are_replaced),
		cmocka_unit_test(an_unknown_command_is_named_with_its_place),
		cmocka_unit_test(the_caller_can_stop_a_walk),
		cmocka_unit_test(nothing_is_called_that_is_not_there),
		cmocka_unit_test(a_command_that_is_longer_than_the_run_is_not_read),
		cmocka_unit_test(a_command_knows_its_place),
		cmocka_unit_test(a_run_is_split_between_commands),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
