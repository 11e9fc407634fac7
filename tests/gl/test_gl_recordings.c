/* SPDX-License-Identifier: MIT */
/*
 * Streams of real programs, recorded between Mesa and a vtest server (recordings/README.txt), and the words in which that
 * server looks for a resource, found by altering them one by one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/gl/account.h"
#include "tests/unit/unit.h"

#define RESOURCES 4096u

/* As `make.py expect` prints it, from the recordings, positions.tsv and an account of its own. */
static const struct row {
	const char *name;
	uint32_t runs;
	uint32_t commands;
	uint32_t uses;          /**< words that name resources */
	uint32_t sum;           /**< of their places and values, in order */
	uint32_t reached;       /**< resources that the commands of a run reach through state, of all runs */
	uint32_t reached_total; /**< sum of these, each times the number of its run */
} rows[] = {
	{"clear_texture.gl", 3, 143, 6, 0x1e8d282a, 0, 0},
	{"clip_planes.gl", 3, 181, 4, 0x0006c22e, 2, 5},
	{"conditional.gl", 4, 212, 44, 0xd4622d9b, 4, 16},
	{"copy_buffer.gl", 3, 141, 5, 0x00cfd1d7, 0, 0},
	{"dispatch_indirect.gl", 4, 58, 16, 0xd142cfd5, 4, 40},
	{"draw_indirect.gl", 3, 186, 8, 0x0b214ff9, 3, 9},
	{"feedback.gl", 3, 205, 16, 0x9460d25e, 3, 10},
	{"gears.gl", 4, 147, 39, 0xd54ee4d1, 6, 24},
	{"query_buffer.gl", 6, 202, 56, 0x9e3d68b0, 32, 792},
	{"storage_buffer.gl", 3, 204, 34, 0x96cc5363, 11, 83},
};

static struct {
	const char *name;
	struct row found;
	bool alive[RESOURCES];
	bool reached[RESOURCES]; /**< in the present run */
	struct pb_gl_account account;
	struct pb_gl_sub_context sub_contexts[PB_GL_SUB_CONTEXTS];
	struct pb_gl_object objects[1024];
} replay;

static bool on_resource(void *context, const struct pb_gl_use *use, uint32_t *value)
{
	(void)context;
	if (*value >= RESOURCES || !replay.alive[*value])
		fail_msg("%s: %s names resource %u, which has ended", replay.name,
			 pb_gl_command_name(use->number), *value);
	replay.found.uses++;
	replay.found.sum = replay.found.sum * 31u + use->word * 7u + *value;
	return true;
}

static bool on_reach(void *context, uint32_t resource, uint32_t access)
{
	(void)context;
	(void)access;
	if (resource >= RESOURCES || !replay.alive[resource])
		fail_msg("%s: resource %u is reached, and has ended", replay.name, resource);
	if (!replay.reached[resource]) {
		replay.found.reached++;
		replay.found.reached_total += resource * replay.found.runs;
	}
	replay.reached[resource] = true;
	return true;
}

static enum pb_gl_status on_command(void *context, const struct pb_gl_command *command)
{
	(void)context;
	replay.found.commands++;
	return pb_gl_account_follow(&replay.account, command, on_reach, NULL);
}

static uint32_t *load(const char *name, uint32_t *count)
{
	char path[512];
	FILE *file;
	long bytes;
	uint32_t *words;

	(void)snprintf(path, sizeof(path), "%s/%s", GL_RECORDINGS, name);
	file = fopen(path, "rb");
	if (!file)
		fail_msg("%s cannot be read", path);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	bytes = ftell(file);
	assert_true(bytes > 0 && bytes % 4 == 0);
	rewind(file);
	words = malloc((size_t)bytes);
	assert_non_null(words);
	assert_int_equal(fread(words, 1, (size_t)bytes, file), bytes);
	(void)fclose(file);
	*count = (uint32_t)bytes / 4u;
	return words;
}

static void submit(uint32_t *words, uint32_t count)
{
	static const struct pb_gl_walk_ops ops = {.resource = on_resource, .command = on_command};
	struct pb_gl_error error;

	replay.found.runs++;
	memset(replay.reached, 0, sizeof(replay.reached));
	pb_gl_account_begin(&replay.account);
	if (pb_gl_walk(words, count, &ops, NULL, &error) != PB_GL_STATUS_OK)
		fail_msg("%s: run %u, word %u: %s: %s", replay.name, replay.found.runs, error.word,
			 pb_gl_command_name(pb_gl_number_of(error.header)), pb_gl_status_text(error.status));
}

static void play(const char *name)
{
	uint32_t count;
	uint32_t *words = load(name, &count);

	memset(&replay, 0, sizeof(replay));
	replay.name = name;
	replay.account = (struct pb_gl_account){.sub_contexts = replay.sub_contexts,
						.sub_context_count = PB_GL_SUB_CONTEXTS,
						.objects = {.records = replay.objects, .count = 1024}};
	pb_gl_account_start(&replay.account);
	for (uint32_t at = 0; at < count; at += 2u + words[at + 1u]) {
		assert_true(at + 2u <= count && words[at + 1u] <= count - at - 2u);
		if (words[at] == 3) {
			submit(words + at + 2u, words[at + 1u]);
			continue;
		}
		assert_true(words[at + 2u] < RESOURCES);
		replay.alive[words[at + 2u]] = words[at] == 1;
	}
	free(words);
}

static void real_streams_are_walked_and_name_what_is_alive(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		play(rows[n].name);
		assert_int_equal(replay.found.runs, rows[n].runs);
		assert_int_equal(replay.found.commands, rows[n].commands);
		assert_int_equal(replay.found.uses, rows[n].uses);
		assert_int_equal(replay.found.sum, rows[n].sum);
		assert_int_equal(replay.found.reached, rows[n].reached);
		assert_int_equal(replay.found.reached_total, rows[n].reached_total);
	}
}

static bool names(uint32_t header, uint32_t length, uint32_t word)
{
	const struct pb_gl_operation *operation = pb_gl_operation_of(header);

	for (uint32_t n = 0; n < PB_GL_OPERANDS; n++) {
		const struct pb_gl_operand *operand = &operation->operands[n];

		if (operand->word == 0 || operand->word > length || word < operand->word)
			continue;
		if (operand->stride == 0 ? word == operand->word
					 : (word - operand->word) % operand->stride == 0)
			return true;
	}
	return false;
}

static void the_table_has_the_words_that_the_server_looks_up(void **state)
{
	FILE *file = fopen(GL_RECORDINGS "/positions.tsv", "r");
	char line[128];
	uint32_t count = 0;

	(void)state;
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	while (fgets(line, sizeof(line), file)) {
		uint32_t column[5]; /* number, kind, length, word, whether the server looks it up */
		char *at = line;

		for (uint32_t n = 0; n < 5; n++)
			column[n] = (uint32_t)strtoul(at, &at, 10);
		if (names(column[0] | column[1] << 8, column[2], column[3]) != (column[4] != 0))
			fail_msg("%s of %u words, word %u", pb_gl_command_name(column[0]), column[2],
				 column[3]);
		count++;
	}
	(void)fclose(file);
	assert_true(count > 400);
}

UNIT_SUITE(test_gl_recordings)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_streams_are_walked_and_name_what_is_alive),
		cmocka_unit_test(the_table_has_the_words_that_the_server_looks_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
