/* SPDX-License-Identifier: MIT */
/* Lists of a batch: which resources it lists, which words it names, where it may be split. */
#include <string.h>

#include "hal/engine/packets.h"
#include "hal/gl/stream.h"
#include "host/gl/batch.h"
#include "tests/unit/unit.h"

#define RESOURCES   32u
#define OBJECTS     256u
#define WORDS       (PB_GL_BATCH_WORDS_MIN + 1000u)
#define ALLOCATIONS 64u
#define LOCATIONS   64u
#define UNIT_BYTES  (12u * 4096u)

struct bench {
	struct pb_gl_resource records[RESOURCES];
	uint32_t chains[RESOURCES];
	struct pb_gl_resources resources;
	struct pb_gl_object objects[OBJECTS];
	struct pb_gl_sub_context sub_contexts[2];
	struct pb_gl_account account;
	struct pb_gl_batch_context context;
	uint32_t words[WORDS];
	struct pb_allocation allocations[ALLOCATIONS];
	uint32_t ids[ALLOCATIONS];
	struct pb_patch_location locations[LOCATIONS];
	struct pb_gl_batch batch;
};

static void begin(struct bench *bench, uint32_t number)
{
	const struct pb_gl_batch_memory memory = {
		.words = bench->words,
		.word_count = WORDS,
		.allocations = bench->allocations,
		.allocation_count = ALLOCATIONS,
		.ids = bench->ids,
		.locations = bench->locations,
		.location_count = LOCATIONS,
		.unit_bytes = UNIT_BYTES,
	};

	pb_gl_batch_start(&bench->batch, &memory, number);
}

/* Resources 1 to 8, with as many pages, and residency handles 11 to 18. */
static struct bench *start(void)
{
	static struct bench bench;

	memset(&bench, 0, sizeof(bench));
	bench.resources = (struct pb_gl_resources){
		.records = bench.records, .count = RESOURCES, .chains = bench.chains};
	pb_gl_resources_start(&bench.resources);
	for (uint32_t i = 1; i <= 8; i++) {
		const uint32_t words[PB_GL_TEMPLATE_WORDS] = {0};
		struct pb_gl_resource *resource = pb_gl_resources_add(&bench.resources, 100 + i, words);

		assert_int_equal(resource->id, i);
		resource->residency = 10 + i;
		resource->bytes = i * 4096;
	}
	bench.account = (struct pb_gl_account){.sub_contexts = bench.sub_contexts,
					       .sub_context_count = 2,
					       .objects = {.records = bench.objects, .count = OBJECTS}};
	pb_gl_account_start(&bench.account);
	bench.context = (struct pb_gl_batch_context){&bench.resources, &bench.account};
	begin(&bench, 1);
	return &bench;
}

/* A command of at most 8 words whose named resources are at `uses`. */
static enum pb_gl_batch_result put(struct bench *bench, const uint32_t *words, uint32_t count,
				   const struct pb_gl_batch_use *uses, uint32_t use_count)
{
	struct pb_gl_command command;
	enum pb_gl_status status = pb_gl_read(words, count, 0, &command);

	assert_int_equal(status, PB_GL_STATUS_OK);
	return pb_gl_batch_command(&bench->batch, &bench->context, &command, uses, use_count, &status);
}

#define HEADER(number, kind, length) ((uint32_t)(number) | (uint32_t)(kind) << 8 | (uint32_t)(length) << 16)

/* SET_UNIFORM_BUFFER of a stage: slot 3, this resource. */
static void bind_uniforms(struct bench *bench, uint32_t stage, uint32_t id)
{
	const uint32_t words[] = {HEADER(PB_GL_SET_UNIFORM_BUFFER, 0, 5), stage, 3, 0, 64, id};
	const struct pb_gl_batch_use use = {5, PB_GL_READ};

	assert_int_equal(put(bench, words, 6, &use, 1), PB_GL_BATCH_OK);
}

static void draw(struct bench *bench)
{
	const uint32_t words[13] = {HEADER(PB_GL_DRAW_VBO, 0, 12), 0, 3, 4};

	assert_int_equal(put(bench, words, 13, NULL, 0), PB_GL_BATCH_OK);
}

static void expect_location(const struct bench *bench, uint32_t number, uint32_t id, uint32_t format,
			    uint32_t word, uint32_t unit)
{
	const struct pb_patch_location *location = &bench->locations[number];

	assert_int_equal(bench->ids[location->allocation_index], id);
	assert_int_equal(location->driver_id, format);
	assert_int_equal(location->patch_offset, word * 4);
	assert_int_equal(location->split_offset, unit * 4);
	assert_int_equal(location->slot | location->allocation_offset, 0);
}

/* A draw in a later batch reaches what an earlier one has bound; it is named behind its packet, once. */
static void state_is_reached_in_later_batches(void **state)
{
	struct bench *bench = start();

	(void)state;
	bind_uniforms(bench, 0, 5);
	draw(bench);
	pb_gl_batch_close(&bench->batch, &bench->context);
	/* 0 GL, 1 the binding, 7 the draw, 20 NOP with its word. */
	assert_int_equal(bench->words[0], PB_PACKET(PB_PACKET_GL, 20));
	assert_int_equal(bench->words[20], PB_PACKET(PB_PACKET_NOP, 2));
	assert_int_equal(bench->batch.words, 22);
	assert_int_equal(bench->batch.allocations, 1);
	assert_int_equal(bench->batch.locations, 2);
	expect_location(bench, 0, 5, PB_GL_FORMAT_PAGE, 6, 0);
	expect_location(bench, 1, 5, PB_GL_FORMAT_PAGE, 21, 0);
	assert_int_equal(bench->allocations[0].id, 15);
	assert_int_equal(bench->allocations[0].size_low, 5 * 4096);
	assert_false(pb_gl_resources_at(&bench->resources, 5)->written);
	begin(bench, 2);
	draw(bench);
	draw(bench);
	pb_gl_batch_close(&bench->batch, &bench->context);
	assert_int_equal(bench->words[0], PB_PACKET(PB_PACKET_GL, 27));
	assert_int_equal(bench->words[27], PB_PACKET(PB_PACKET_NOP, 2));
	assert_int_equal(bench->batch.locations, 1);
	expect_location(bench, 0, 5, PB_GL_FORMAT_PAGE, 28, 0);
	/* Unbound, it is reached no more. */
	begin(bench, 3);
	bind_uniforms(bench, 0, 6);
	draw(bench);
	pb_gl_batch_close(&bench->batch, &bench->context);
	assert_int_equal(bench->batch.allocations, 1);
	expect_location(bench, 1, 6, PB_GL_FORMAT_PAGE, 21, 0);
}

/* Each transfer is a unit of its own, and a GL packet behind it is another one. */
static void transfers_are_units(void **state)
{
	static const uint32_t box[6] = {0, 0, 0, 4, 1, 1};
	const struct pb_gl_batch_transfer to = {2, true, 0, box, 128, 5, 0x30000, 5, 5};
	const struct pb_gl_batch_transfer from = {3, false, 1, box, 256, 8, 0x30000, 8, 8};
	struct bench *bench = start();
	const uint32_t first = 1 + 6, second = first + PB_PACKET_GL_TRANSFER_WORDS;

	(void)state;
	bind_uniforms(bench, 0, 5);
	assert_int_equal(pb_gl_batch_transfer(&bench->batch, &bench->context, &to), PB_GL_BATCH_OK);
	assert_int_equal(pb_gl_batch_transfer(&bench->batch, &bench->context, &from), PB_GL_BATCH_OK);
	draw(bench);
	pb_gl_batch_close(&bench->batch, &bench->context);
	assert_int_equal(bench->words[0], PB_PACKET(PB_PACKET_GL, 7));
	assert_int_equal(bench->words[first], PB_PACKET(PB_PACKET_GL_TRANSFER, PB_PACKET_GL_TRANSFER_WORDS));
	assert_int_equal(bench->words[first + PB_GL_TRANSFER_FLAGS], PB_GL_TRANSFER_TO_RESOURCE);
	assert_int_equal(bench->words[first + PB_GL_TRANSFER_BYTES], 8);
	assert_int_equal(bench->words[second + PB_GL_TRANSFER_FLAGS], 0);
	assert_int_equal(bench->words[second + PB_GL_TRANSFER_LEVEL], 1);
	assert_int_equal(bench->locations[1].driver_id, PB_PATCH_FORMAT_ADDRESS64);
	assert_int_equal(bench->locations[1].allocation_offset, 128);
	assert_int_equal(bench->locations[1].patch_offset, 4 * (first + PB_GL_TRANSFER_ADDRESS));
	assert_int_equal(bench->allocations[bench->locations[1].allocation_index].id, PB_GL_STAGING_HANDLE);
	expect_location(bench, 2, 2, PB_GL_FORMAT_PAGE_WRITE, first + PB_GL_TRANSFER_PAGE, first);
	assert_int_equal(bench->locations[3].driver_id, PB_PATCH_FORMAT_ADDRESS64_WRITE);
	assert_int_equal(bench->locations[3].split_offset, 4 * second);
	expect_location(bench, 4, 3, PB_GL_FORMAT_PAGE, second + PB_GL_TRANSFER_PAGE, second);
	/* The staging memory is listed once, writable for the second one; so is what the first one writes. */
	assert_int_equal(bench->batch.allocations, 4);
	assert_int_equal(bench->allocations[bench->locations[1].allocation_index].flags, PB_ALLOCATION_WRITE);
	assert_int_equal(bench->allocations[bench->locations[2].allocation_index].flags, PB_ALLOCATION_WRITE);
	assert_int_equal(bench->allocations[bench->locations[4].allocation_index].flags, 0);
	for (uint32_t id = 1; id <= 8; id++)
		assert_int_equal(pb_gl_resources_at(&bench->resources, id)->written, id == 2);
	/* The draw's packet begins anew, so it names what it reaches again. */
	expect_location(bench, 5, 5, PB_GL_FORMAT_PAGE, second + PB_PACKET_GL_TRANSFER_WORDS + 15,
			second + PB_PACKET_GL_TRANSFER_WORDS);
}

/* A packet has at most PB_GL_RUN_WORDS_MAX words of commands, but for one that is longer alone. */
static void long_runs_are_divided_at_commands(void **state)
{
	static uint32_t inline_constants[16000];
	struct bench *bench = start();
	uint32_t packets = 0, longest = 0, at = 0;

	(void)state;
	inline_constants[0] = HEADER(PB_GL_SET_CONSTANT_BUFFER, 0, 15999);
	for (uint32_t i = 0; i < 700; i++)
		draw(bench);
	assert_int_equal(put(bench, inline_constants, 16000, NULL, 0), PB_GL_BATCH_OK);
	draw(bench);
	pb_gl_batch_close(&bench->batch, &bench->context);
	for (; at < bench->batch.words; at += PB_PACKET_WORDS(bench->words[at])) {
		const uint32_t words = PB_PACKET_WORDS(bench->words[at]) - 1;

		assert_int_equal(PB_PACKET_OPCODE(bench->words[at]), PB_PACKET_GL);
		assert_true(words <= PB_GL_RUN_WORDS_MAX || words == 16000);
		assert_true(words == 16000 || words % 13 == 0);
		longest = words > longest ? words : longest;
		packets++;
	}
	assert_int_equal(at, bench->batch.words);
	/* 315 draws fit: 700 take three packets. */
	assert_int_equal(packets, 5);
	assert_int_equal(longest, 16000);
}

/* Each packet has room in video memory: behind 12 pages of resources another one begins. */
static void packets_end_before_they_need_too_much(void **state)
{
	struct bench *bench = start();
	uint32_t units[4], count = 0;

	(void)state;
	/* 8 pages, and 8 again, which are the same; with 4 more there are 12, with 3 more 15. */
	bind_uniforms(bench, 0, 8);
	bind_uniforms(bench, 1, 8);
	bind_uniforms(bench, 2, 4);
	bind_uniforms(bench, 3, 3);
	bind_uniforms(bench, 4, 1);
	/* The draw reaches all of it: 16 pages behind the one it names. */
	draw(bench);
	draw(bench);
	pb_gl_batch_close(&bench->batch, &bench->context);
	for (uint32_t at = 0; at < bench->batch.words; at += PB_PACKET_WORDS(bench->words[at])) {
		if (PB_PACKET_OPCODE(bench->words[at]) == PB_PACKET_GL)
			units[count++] = PB_PACKET_WORDS(bench->words[at]);
	}
	assert_int_equal(count, 3);
	assert_int_equal(units[0], 1 + 4 * 6);
	assert_int_equal(units[1], 1 + 6 + 13);
	assert_int_equal(units[2], 1 + 13);
}

/* A batch that is full says so before the account has seen the command. */
static void a_full_batch_takes_nothing(void **state)
{
	static const uint32_t box[6] = {0, 0, 0, 4, 1, 1};
	const struct pb_gl_batch_transfer to = {2, true, 0, box, 0, 4, 0x30000, 4, 4};
	struct bench *bench = start();
	uint32_t count = 0, locations;
	const uint32_t words[] = {HEADER(PB_GL_SET_UNIFORM_BUFFER, 0, 5), 0, 3, 0, 64, 7};
	const struct pb_gl_batch_use use = {5, PB_GL_READ};

	(void)state;
	while (pb_gl_batch_transfer(&bench->batch, &bench->context, &to) == PB_GL_BATCH_OK)
		count++;
	assert_int_equal(count, LOCATIONS / 2);
	locations = bench->batch.locations;
	assert_int_equal(put(bench, words, 6, &use, 1), PB_GL_BATCH_FULL);
	assert_int_equal(bench->batch.locations, locations);
	begin(bench, 2);
	draw(bench);
	pb_gl_batch_close(&bench->batch, &bench->context);
	assert_int_equal(bench->batch.locations, 0);
}

UNIT_SUITE(test_gl_batch)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(state_is_reached_in_later_batches),
		cmocka_unit_test(transfers_are_units),
		cmocka_unit_test(long_runs_are_divided_at_commands),
		cmocka_unit_test(packets_end_before_they_need_too_much),
		cmocka_unit_test(a_full_batch_takes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
