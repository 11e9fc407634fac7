/* SPDX-License-Identifier: MIT */
/*
 * Virgl streams: any commands with any words. The walk reads no word outside of the run, calls back for words of the
 * command it is at, and gives the same calls if the run is split where pb_gl_fit() says. The account reaches only
 * resources that a word has named before, and that pb_gl_account_each() names.
 *
 * Aims at: hal/gl/commands.c hal/gl/stream.c hal/gl/objects.c hal/gl/bindings.c hal/gl/account.c
 */
#include <stdlib.h>
#include <string.h>

#include "hal/gl/account.h"
#include "tests/fuzz/fuzz.h"

#define WORDS_MAX    1024u
#define RESOURCES    256u
#define SUB_CONTEXTS 3u
#define OBJECTS      64u

/** A context that follows a run, and what it was told. */
struct follower {
	struct pb_gl_account account;
	struct pb_gl_sub_context sub_contexts[SUB_CONTEXTS];
	struct pb_gl_object objects[OBJECTS];
	bool named[RESOURCES];  /**< by a word, so far */
	bool listed[RESOURCES]; /**< by pb_gl_account_each() in front of the present command */
	uint32_t sum;           /**< of all calls, in their order */
	const uint32_t *words;  /**< the run, or the part of it that is walked */
	uint32_t count;         /**< words there */
};

static struct follower whole;
static struct follower parts;

/** Resources are numbers below RESOURCES; larger ones are folded, 0 stays 0. */
static uint32_t folded(uint32_t value)
{
	return value == 0 ? 0 : 1u + (value - 1u) % (RESOURCES - 1u);
}

static void add(struct follower *follower, uint32_t value)
{
	follower->sum = follower->sum * 16777619u ^ value;
}

static bool on_resource(void *context, const struct pb_gl_use *use, uint32_t *value)
{
	struct follower *follower = context;

	FUZZ_CHECK(value == follower->words + use->word && use->word < follower->count);
	FUZZ_CHECK(use->word > use->command &&
		   use->word - use->command <= pb_gl_length_of(follower->words[use->command]));
	FUZZ_CHECK(*value != 0 && use->access < 16u);
	*value = folded(*value);
	follower->named[*value] = true;
	add(follower, *value * 16u + use->access);
	return true;
}

static bool on_reach(void *context, uint32_t resource, uint32_t access)
{
	struct follower *follower = context;

	FUZZ_CHECK(resource != 0 && resource < RESOURCES && follower->named[resource] &&
		   follower->listed[resource]);
	FUZZ_CHECK((access & ((uint32_t)PB_GL_READ | (uint32_t)PB_GL_WRITE)) != 0);
	add(follower, resource * 16u + access);
	return true;
}

static bool on_each(void *context, uint32_t resource, uint32_t access)
{
	struct follower *follower = context;

	FUZZ_CHECK(resource != 0 && resource < RESOURCES && follower->named[resource] && access == 0);
	follower->listed[resource] = true;
	return true;
}

static enum pb_gl_status on_command(void *context, const struct pb_gl_command *command)
{
	struct follower *follower = context;

	FUZZ_CHECK(command->words == follower->words + command->word);
	FUZZ_CHECK(command->count <= follower->count - command->word);
	memset(follower->listed, 0, sizeof(follower->listed));
	FUZZ_CHECK(pb_gl_account_each(&follower->account, on_each, follower));
	add(follower, command->number);
	return pb_gl_account_follow(&follower->account, command, on_reach, follower);
}

static const struct pb_gl_walk_ops ops = {.resource = on_resource, .command = on_command};

static void start(struct follower *follower)
{
	memset(follower, 0, sizeof(*follower));
	follower->account =
		(struct pb_gl_account){.sub_contexts = follower->sub_contexts,
				       .sub_context_count = SUB_CONTEXTS,
				       .objects = {.records = follower->objects, .count = OBJECTS}};
	pb_gl_account_start(&follower->account);
}

/** Walks words in a block of their own, exactly as long as they are. */
static enum pb_gl_status walk(struct follower *follower, const uint32_t *words, uint32_t count,
			      struct pb_gl_error *error)
{
	uint32_t *block = malloc(count != 0 ? count * sizeof(uint32_t) : 1u);
	enum pb_gl_status status;

	if (!block)
		abort();
	memcpy(block, words, count * sizeof(uint32_t));
	follower->words = block;
	follower->count = count;
	status = pb_gl_walk(block, count, &ops, follower, error);
	FUZZ_CHECK(status == error->status && (uint32_t)status < PB_GL_STATUS_COUNT);
	FUZZ_CHECK(status == PB_GL_STATUS_OK || (error->word < count && error->header == words[error->word]));
	free(block);
	return status;
}

/** A length that the command may have, or one beside it. */
static uint32_t length_of(struct fuzz_input *input, uint32_t header)
{
	const struct pb_gl_operation *operation = pb_gl_operation_of(header);
	const uint32_t more = fuzz_byte(input);
	uint32_t length = more % 64u;

	if (more < 192u) {
		const uint32_t step = operation->step != 0 ? operation->step : 1u;

		length = operation->length_min;
		if (operation->length_max > length)
			length += more % 8u * step;
	}
	return more >= 250u ? 0xffffu : length;
}

static uint32_t make_run(struct fuzz_input *input, uint32_t words[WORDS_MAX])
{
	uint32_t count = 0;

	while (fuzz_more(input) && count < WORDS_MAX) {
		uint32_t header = fuzz_below(input, 64);
		uint32_t length;

		if (header >= PB_GL_CREATE_OBJECT && header <= PB_GL_DESTROY_OBJECT)
			header |= fuzz_below(input, 13) << 8;
		length = length_of(input, header);
		words[count++] = header | length << 16;
		for (; length != 0 && count < WORDS_MAX && fuzz_more(input); length--) {
			const uint32_t byte = fuzz_byte(input);

			words[count++] = byte == 255u ? fuzz_word(input) : byte % 64u;
		}
	}
	return count;
}

void fuzz_one(struct fuzz_input *input)
{
	static uint32_t words[WORDS_MAX];
	const uint32_t limit = 1u + fuzz_byte(input);
	const uint32_t count = make_run(input, words);
	struct pb_gl_error error;
	enum pb_gl_status status;
	uint32_t at = 0;

	start(&whole);
	start(&parts);
	status = walk(&whole, words, count, &error);
	while (at < count) {
		struct pb_gl_error part_error;
		uint32_t part = pb_gl_fit(words + at, count - at, limit);

		FUZZ_CHECK(part <= limit && part <= count - at);
		/* A command longer than the limit goes alone, or is cut off. */
		if (part == 0)
			part = pb_gl_fit(words + at, count - at, pb_gl_length_of(words[at]) + 1u);
		if (part == 0)
			part = count - at;
		if (walk(&parts, words + at, part, &part_error) != PB_GL_STATUS_OK) {
			FUZZ_CHECK(part_error.status == status && part_error.word + at == error.word);
			break;
		}
		at += part;
	}
	FUZZ_CHECK(status != PB_GL_STATUS_OK || at == count);
	FUZZ_CHECK(whole.sum == parts.sum);
}
