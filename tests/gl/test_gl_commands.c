/* SPDX-License-Identifier: MIT */
/*
 * Every command: its length, one word less, one word more, cut off, and which of its words name resources. Numbers and
 * words are written as numbers on purpose.
 */
#include <stdbool.h>
#include <string.h>

#include "hal/gl/stream.h"
#include "tests/unit/unit.h"

#define USES 3u

#define OK        PB_GL_STATUS_OK
#define LENGTH    PB_GL_STATUS_LENGTH
#define REFUSED   PB_GL_STATUS_REFUSED
#define TRUNCATED PB_GL_STATUS_TRUNCATED
#define RESOURCE  PB_GL_STATUS_RESOURCE

/* Access, as numbers: 1 reads, 2 writes, 4 reads the client's memory, 8 writes it. */
struct row {
	const char *name;
	uint32_t number;
	uint32_t kind;
	uint32_t length;        /**< words of the payload */
	enum pb_gl_status less; /**< with one word less */
	enum pb_gl_status more; /**< with one word more */
	struct {
		uint32_t word; /**< 0: no more uses */
		uint32_t value;
	} set[4]; /**< words that are not 0 */
	struct {
		uint32_t word; /**< 0: no more uses */
		uint32_t access;
		bool needed; /**< 0 in its place is an error */
	} uses[USES];        /**< each holds resource 0x1000 + word */
};

/* clang-format off */
static const struct row rows[] = {
	{"no operation", 0, 0, 0, OK, OK, {{0}}, {{0}}},
	{"no operation, long", 0, 0, 65535, OK, OK, {{0}}, {{0}}},
	{"create blend state", 1, 1, 11, LENGTH, LENGTH, {{1, 7}}, {{0}}},
	{"create rasterizer state", 1, 2, 9, LENGTH, LENGTH, {{1, 7}}, {{0}}},
	{"create depth state", 1, 3, 5, LENGTH, LENGTH, {{1, 7}}, {{0}}},
	{"create shader", 1, 4, 5, LENGTH, OK, {{1, 7}}, {{0}}},
	{"create vertex elements, none", 1, 5, 1, LENGTH, LENGTH, {{1, 7}}, {{0}}},
	{"create vertex elements, 32", 1, 5, 129, LENGTH, LENGTH, {{1, 7}, {4, 31}}, {{0}}},
	{"create sampler view", 1, 6, 6, LENGTH, LENGTH, {{1, 7}}, {{2, 0, true}}},
	{"create sampler state", 1, 7, 9, LENGTH, LENGTH, {{1, 7}}, {{0}}},
	{"create surface", 1, 8, 5, LENGTH, LENGTH, {{1, 7}}, {{2, 0, true}}},
	{"create query", 1, 9, 4, LENGTH, LENGTH, {{1, 7}}, {{4, 0, true}}},
	{"create stream-out target", 1, 10, 4, LENGTH, LENGTH, {{1, 7}}, {{2, 0, true}}},
	{"create surface with samples", 1, 11, 6, LENGTH, LENGTH, {{1, 7}}, {{2, 0, true}}},
	{"bind blend state", 2, 1, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"bind rasterizer state", 2, 2, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"bind depth state", 2, 3, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"bind vertex elements", 2, 5, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"destroy an object", 3, 8, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set viewports, one", 4, 0, 7, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set viewports, 16", 4, 0, 97, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set framebuffer, no color", 5, 0, 2, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set framebuffer, 8 colors", 5, 0, 10, LENGTH, LENGTH, {{1, 8}}, {{0}}},
	{"set vertex buffers, none", 6, 0, 0, OK, LENGTH, {{0}}, {{0}}},
	{"set vertex buffers, two", 6, 0, 6, LENGTH, LENGTH, {{0}}, {{3, 0, false}, {6, 0, false}}},
	{"set vertex buffers, 32", 6, 0, 96, LENGTH, LENGTH, {{0}}, {{3, 0, false}, {96, 0, false}}},
	{"clear", 7, 0, 8, LENGTH, LENGTH, {{0}}, {{0}}},
	{"draw", 8, 0, 12, LENGTH, LENGTH, {{0}}, {{0}}},
	{"draw patches", 8, 0, 14, LENGTH, LENGTH, {{0}}, {{0}}},
	{"draw indirect", 8, 0, 20, LENGTH, LENGTH, {{0}}, {{15, 1, false}, {20, 1, false}}},
	{"write inline", 9, 0, 12, LENGTH, OK, {{0}}, {{1, 2, true}}},
	{"set sampler views, none", 10, 0, 2, LENGTH, OK, {{0}}, {{0}}},
	{"set sampler views, 32", 10, 0, 34, OK, LENGTH, {{1, 5}}, {{0}}},
	{"set index buffer, or none", 11, 0, 1, LENGTH, LENGTH, {{0}}, {{1, 0, false}}},
	{"set index buffer", 11, 0, 3, LENGTH, LENGTH, {{2, 4}}, {{1, 0, false}}},
	{"set constants, none", 12, 0, 2, LENGTH, OK, {{0}}, {{0}}},
	{"set constants, many", 12, 0, 16386, OK, OK, {{1, 5}}, {{0}}},
	{"set stencil reference", 13, 0, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set blend color", 14, 0, 4, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set scissors, one", 15, 0, 3, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set scissors, 16", 15, 0, 33, LENGTH, LENGTH, {{0}}, {{0}}},
	{"blit", 16, 0, 21, LENGTH, LENGTH, {{0}}, {{4, 2, true}, {13, 1, true}}},
	{"copy region", 17, 0, 13, LENGTH, LENGTH, {{0}}, {{1, 2, true}, {6, 1, true}}},
	{"bind sampler states, none", 18, 0, 2, LENGTH, OK, {{0}}, {{0}}},
	{"bind sampler states, 32", 18, 0, 34, OK, LENGTH, {{1, 5}}, {{0}}},
	{"begin query", 19, 0, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"end query", 20, 0, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"get query result", 21, 0, 2, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set polygon stipple", 22, 0, 32, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set clip planes", 23, 0, 32, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set sample mask", 24, 0, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set stream-out targets, none", 25, 0, 1, LENGTH, OK, {{0}}, {{0}}},
	{"set stream-out targets, 16", 25, 0, 17, OK, LENGTH, {{0}}, {{0}}},
	{"set render condition", 26, 0, 3, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set uniform buffer", 27, 0, 5, LENGTH, LENGTH, {{1, 5}, {2, 31}}, {{5, 0, false}}},
	{"set sub-context", 28, 0, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"create sub-context", 29, 0, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"destroy sub-context", 30, 0, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"bind shader", 31, 0, 2, LENGTH, LENGTH, {{2, 5}}, {{0}}},
	{"set tessellation levels", 32, 0, 6, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set samples at least", 33, 0, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set shader buffers, none", 34, 0, 2, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set shader buffers, two", 34, 0, 8, LENGTH, LENGTH, {{1, 4}, {2, 30}}, {{5, 0, false}, {8, 0, false}}},
	{"set shader buffers, 32", 34, 0, 98, LENGTH, LENGTH, {{0}}, {{5, 0, false}, {98, 0, false}}},
	{"set shader images, none", 35, 0, 2, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set shader images, two", 35, 0, 12, LENGTH, LENGTH, {{1, 4}, {2, 30}}, {{7, 0, false}, {12, 0, false}}},
	{"set shader images, 32", 35, 0, 162, LENGTH, LENGTH, {{0}}, {{7, 0, false}, {162, 0, false}}},
	{"memory barrier", 36, 0, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"dispatch", 37, 0, 8, LENGTH, LENGTH, {{0}}, {{7, 1, false}}},
	{"set framebuffer without surfaces", 38, 0, 2, LENGTH, LENGTH, {{0}}, {{0}}},
	{"texture barrier", 39, 0, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set atomic buffers, none", 40, 0, 1, LENGTH, LENGTH, {{0}}, {{0}}},
	{"set atomic buffers, two", 40, 0, 7, LENGTH, LENGTH, {{1, 30}}, {{4, 0, false}, {7, 0, false}}},
	{"set atomic buffers, 32", 40, 0, 97, LENGTH, LENGTH, {{0}}, {{4, 0, false}, {97, 0, false}}},
	{"set debug flags", 41, 0, 2, LENGTH, OK, {{0}}, {{0}}},
	{"query result to a buffer", 42, 0, 6, LENGTH, LENGTH, {{0}}, {{2, 2, true}}},
	{"transfer to the resource", 43, 0, 13, LENGTH, OK, {{13, 1}}, {{1, 2 | 4, true}}},
	{"transfer from the resource", 43, 0, 13, LENGTH, OK, {{13, 2}}, {{1, 1 | 8, true}}},
	{"end of transfers", 44, 0, 0, OK, OK, {{0}}, {{0}}},
	{"end of transfers, padded", 44, 0, 1023, OK, OK, {{0}}, {{0}}},
	{"copy transfer to the resource", 45, 0, 14, LENGTH, LENGTH, {{14, 1}}, {{1, 2, true}, {12, 1 | 4, true}}},
	{"copy transfer from the resource", 45, 0, 14, LENGTH, LENGTH, {{14, 2}}, {{1, 1, true}, {12, 2 | 8, true}}},
	{"set tweaks", 46, 0, 2, LENGTH, OK, {{0}}, {{0}}},
	{"clear texture", 47, 0, 12, LENGTH, LENGTH, {{0}}, {{1, 2, true}}},
	{"memory information", 50, 0, 1, LENGTH, LENGTH, {{0}}, {{1, 2 | 8, true}}},
	{"string marker", 51, 0, 2, LENGTH, OK, {{1, 4}}, {{0}}},
	{"link shaders", 52, 0, 6, LENGTH, LENGTH, {{0}}, {{0}}},
};
/* clang-format on */

/* Commands that make resources, or decode video: refused at any length. */
static const uint32_t refused[] = {48, 49, 53, 54, 55, 56, 57, 58, 59, 60, 61};

/** One word more than the longest command. */
static uint32_t words[PB_GL_COMMAND_WORDS + 1u];

/** What the walk has reported. */
static struct {
	uint32_t count;
	struct pb_gl_use uses[40];
	uint32_t values[40];
} seen;

static bool note(void *context, const struct pb_gl_use *use, uint32_t *value)
{
	(void)context;
	assert_true(seen.count < 40u);
	seen.values[seen.count] = *value;
	seen.uses[seen.count++] = *use;
	return true;
}

static void build(const struct row *row, uint32_t length)
{
	memset(words, 0, sizeof(words));
	words[0] = row->number | row->kind << 8 | length << 16;
	for (uint32_t n = 0; n < 4 && row->set[n].word != 0; n++)
		words[row->set[n].word] = row->set[n].value;
	for (uint32_t n = 0; n < USES && row->uses[n].word != 0; n++)
		words[row->uses[n].word] = 0x1000u + row->uses[n].word;
}

static enum pb_gl_status walk(uint32_t count)
{
	static const struct pb_gl_walk_ops ops = {.resource = note};
	struct pb_gl_error error;

	seen.count = 0;
	return pb_gl_walk(words, count, &ops, NULL, &error);
}

static void each_command_has_its_length(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		const struct row *row = &rows[n];

		build(row, row->length);
		if (walk(row->length + 1u) != OK)
			fail_msg("%s: refused", row->name);
		if (row->length != 0 && walk(row->length) != TRUNCATED)
			fail_msg("%s: cut off, and accepted", row->name);
		if (row->length != 0) {
			build(row, row->length - 1u);
			if (walk(row->length) != row->less)
				fail_msg("%s: one word less", row->name);
		}
		if (row->length < 65535u) {
			build(row, row->length + 1u);
			if (walk(row->length + 2u) != row->more)
				fail_msg("%s: one word more", row->name);
		}
	}
}

static void the_words_that_name_resources_are_reported(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		const struct row *row = &rows[n];
		uint32_t uses = 0;

		build(row, row->length);
		assert_int_equal(walk(row->length + 1u), OK);
		for (; uses < USES && row->uses[uses].word != 0; uses++) {
			if (seen.count <= uses || seen.uses[uses].word != row->uses[uses].word ||
			    seen.values[uses] != 0x1000u + row->uses[uses].word)
				fail_msg("%s: word %u is not reported", row->name, row->uses[uses].word);
			if (seen.uses[uses].access != row->uses[uses].access)
				fail_msg("%s: access %u of word %u", row->name, seen.uses[uses].access,
					 row->uses[uses].word);
			assert_int_equal(seen.uses[uses].number, row->number);
			assert_int_equal(seen.uses[uses].command, 0);
		}
		if (seen.count != uses)
			fail_msg("%s: %u words reported", row->name, seen.count);
	}
}

static void no_other_word_is_taken_for_a_resource(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		const struct row *row = &rows[n];

		/* All words are set: lists have as many resources as elements, all others as many as the row has. */
		for (uint32_t word = 1; word <= row->length; word++) {
			build(row, row->length);
			if (words[word] != 0 || walk(row->length + 1u) != OK)
				continue;
			const uint32_t before = seen.count;

			words[word] = 1;
			if (walk(row->length + 1u) != OK || seen.count == before)
				continue;
			const uint32_t stride = row->number == 35 ? 5 : 3;
			const bool list = row->number == 6 || row->number == 34 || row->number == 35 ||
					  row->number == 40;

			if (!list || (word - row->uses[0].word) % stride != 0)
				fail_msg("%s: word %u", row->name, word);
			if (row->length > 1000u)
				break;
		}
	}
}

static void what_must_name_a_resource_names_one(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++)
		for (uint32_t use = 0; use < USES && rows[n].uses[use].word != 0; use++) {
			const struct row *row = &rows[n];

			build(row, row->length);
			words[row->uses[use].word] = 0;
			if (walk(row->length + 1u) != (row->uses[use].needed ? RESOURCE : OK))
				fail_msg("%s: word %u is 0", row->name, row->uses[use].word);
		}
}

static void every_number_has_a_row(void **state)
{
	(void)state;
	for (uint32_t number = 0; number < 256; number++) {
		enum pb_gl_status expected = PB_GL_STATUS_UNKNOWN;

		for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++)
			if (rows[n].number == number)
				expected = OK;
		for (size_t n = 0; n < sizeof(refused) / sizeof(refused[0]); n++)
			if (refused[n] == number)
				expected = REFUSED;
		memset(words, 0, 64);
		words[0] = number;
		if (expected != OK)
			assert_int_equal(walk(1), expected);
		else
			assert_int_not_equal(walk(1), PB_GL_STATUS_UNKNOWN);
	}
}

static void kinds_are_checked(void **state)
{
	(void)state;
	for (uint32_t kind = 0; kind < 256; kind++) {
		const bool bound = kind == 1 || kind == 2 || kind == 3 || kind == 5;

		memset(words, 0, 64);
		words[0] = 2u | kind << 8 | 1u << 16;
		assert_int_equal(walk(2), bound ? OK : PB_GL_STATUS_KIND);
		words[0] = 1u | kind << 8;
		assert_int_equal(walk(1), kind >= 1 && kind <= 11 ? LENGTH : PB_GL_STATUS_KIND);
		words[0] = 3u | kind << 8 | 1u << 16;
		assert_int_equal(walk(2), OK);
	}
}

static void names_are_those_of_the_numbers(void **state)
{
	(void)state;
	assert_string_equal(pb_gl_command_name(0), "NOP");
	assert_string_equal(pb_gl_command_name(8), "DRAW_VBO");
	assert_string_equal(pb_gl_command_name(47), "CLEAR_TEXTURE");
	assert_string_equal(pb_gl_command_name(61), "END_FRAME");
	assert_string_equal(pb_gl_command_name(62), "unknown");
	assert_string_equal(pb_gl_kind_name(8), "SURFACE");
	assert_string_equal(pb_gl_kind_name(12), "unknown");
	assert_string_equal(pb_gl_status_text(PB_GL_STATUS_UNKNOWN), "unknown command");
	assert_string_equal(pb_gl_status_text(PB_GL_STATUS_COUNT), "unknown");
}

UNIT_SUITE(test_gl_commands)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_command_has_its_length),
		cmocka_unit_test(the_words_that_name_resources_are_reported),
		cmocka_unit_test(no_other_word_is_taken_for_a_resource),
		cmocka_unit_test(what_must_name_a_resource_names_one),
		cmocka_unit_test(every_number_has_a_row),
		cmocka_unit_test(kinds_are_checked),
		cmocka_unit_test(names_are_those_of_the_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
