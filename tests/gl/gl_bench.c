/* SPDX-License-Identifier: MIT */
#include "tests/gl/gl_bench.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

#define RESOURCES 64u

static struct pb_gl_sub_context sub_contexts[BENCH_SUB_CONTEXTS];
static struct pb_gl_object objects[BENCH_OBJECTS];
static uint32_t words_of[PB_GL_COMMAND_WORDS];
static char reached[1024];
static bool named[RESOURCES];
static uint32_t reaches;

struct pb_gl_account bench_account;
uint32_t bench_allowed;

void bench_start(void)
{
	memset(sub_contexts, 0xa5, sizeof(sub_contexts));
	memset(objects, 0xa5, sizeof(objects));
	bench_account = (struct pb_gl_account){.sub_contexts = sub_contexts,
					       .sub_context_count = BENCH_SUB_CONTEXTS,
					       .objects = {.records = objects, .count = BENCH_OBJECTS}};
	pb_gl_account_start(&bench_account);
	bench_allowed = 0;
}

static bool note(void *context, uint32_t resource, uint32_t access)
{
	const size_t length = strlen(reached);

	(void)context;
	reaches++;
	assert_true(resource != 0 && resource < RESOURCES && length + 16u < sizeof(reached));
	assert_true((access & (PB_GL_READ | PB_GL_WRITE)) != 0);
	(void)snprintf(reached + length, sizeof(reached) - length, "%s%s%s%s%u", length != 0 ? " " : "",
		       access & PB_GL_READ ? "r" : "", access & PB_GL_WRITE ? "w" : "",
		       access & PB_GL_BACKING_WRITE ? "b" : "", resource);
	return bench_allowed == 0 || reaches < bench_allowed;
}

enum pb_gl_status bench_follow(const uint32_t *words, uint32_t length)
{
	struct pb_gl_command command;
	enum pb_gl_status status;

	memcpy(words_of, words, (length + 1u) * sizeof(uint32_t));
	words_of[0] |= length << 16;
	status = pb_gl_read(words_of, length + 1u, 0, &command);
	assert_int_equal(status, PB_GL_STATUS_OK);
	reached[0] = 0;
	reaches = 0;
	return pb_gl_account_follow(&bench_account, &command, note, NULL);
}

void bench_expect(const char *expected, const uint32_t *words, uint32_t length)
{
	assert_int_equal(bench_follow(words, length), PB_GL_STATUS_OK);
	assert_string_equal(reached, expected);
}

static bool name_one(void *context, uint32_t resource, uint32_t access)
{
	(void)context;
	assert_true(resource != 0 && resource < RESOURCES);
	assert_int_equal(access, 0);
	named[resource] = true;
	return true;
}

const char *bench_named(void)
{
	memset(named, 0, sizeof(named));
	assert_true(pb_gl_account_each(&bench_account, name_one, NULL));
	reached[0] = 0;
	for (uint32_t n = 0; n < RESOURCES; n++) {
		const size_t length = strlen(reached);

		if (named[n])
			(void)snprintf(reached + length, sizeof(reached) - length, "%s%u",
				       length != 0 ? " " : "", n);
	}
	return reached;
}
