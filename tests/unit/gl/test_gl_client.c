/* SPDX-License-Identifier: MIT */
/*
 * A client on a simulated card whose renderers draw nothing: what a program reads is what it has written, whatever was
 * transferred before it asked, and how many submissions that takes. A resource holds one word there: each texel is it.
 */
#include <stdlib.h>
#include <string.h>

#include "host/gl/client.h"
#include "patchbay/format.h"
#include "patchbay/patchbay.h"
#include "qemu/sim.h"
#include "tests/unit/unit.h"

#define PATIENCE      2000000u
#define RESOURCES     256u
#define SYSTEM        UINT64_C(0x10000000)
#define SYSTEM_BYTES  0x180000u
#define PAGES         UINT64_C(0x40000000)
#define PAGES_BYTES   0x200000u
#define STAGING       UINT64_C(0xc0000000)
#define SLOTS         3u
#define STAGING_BYTES (SLOTS * PB_GL_STAGING_BYTES_MIN)
#define PAGE_BYTES    4096u
#define TEXTURE_2D    2u
#define FORMAT        1u /* four bytes a texel */
#define SIDE          16u
#define TEXELS        (SIDE * SIDE)
#define CLEAR_TEXTURE (12u << 16 | 47u)
#define CLEAR_WORDS   13u
#define CLEAR_COLOR   9u
/* Handles of the program. */
enum { A = 1, B = 2, FENCE = 100, OTHERS = 200 };
/* More than a client keeps when they are dropped. */
#define DROPPED 100u

struct world {
	struct pb_sim *sim;
	struct pb_link *link;
	struct pb_channel channel;
	struct pb_segment system, pages, staging;
	struct pb_queue queue, paging;
	struct pb_gl_client_setup setup;
	struct pb_gl_client client;
	uint32_t values[B + 1]; /* of A and B, as the program has set them */
	uint32_t next;          /* value */
	uint32_t memory[TEXELS];
};

static void open_segments(struct world *world)
{
	const struct pb_segment_request system = {
		.id = PB_SEGMENT_SYSTEM, SYSTEM, SYSTEM, SYSTEM_BYTES, SYSTEM_BYTES, 0};
	const struct pb_segment_request pages = {1, PAGES, PAGES, PAGES_BYTES, PAGES_BYTES, 0};
	const struct pb_segment_request staging = {2, STAGING, STAGING, STAGING_BYTES, STAGING_BYTES, 0};
	struct pb_gl_client_setup *setup = &world->setup;

	assert_int_equal(pb_segment_create(&world->system, &world->channel, &system), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&world->pages, &world->channel, &pages), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&world->staging, &world->channel, &staging), PB_ERROR_OK);
	setup->slot_count = SLOTS;
	setup->segments[PB_GL_SEGMENT_RESOURCES] = (struct pb_residency_segment){
		.id = 1, .os_base = PAGES, .gpu_base = PAGES, .bytes = PAGES_BYTES};
	setup->segments[PB_GL_SEGMENT_STAGING] = (struct pb_residency_segment){
		.id = 2, .os_base = STAGING, .gpu_base = STAGING, .bytes = STAGING_BYTES};
	setup->staging = world->link->memory + world->staging.memory_offset;
	for (uint32_t i = 0; i < SLOTS; i++)
		assert_int_equal(
			pb_memory_allocate(&world->system, PB_GL_SLOT_BYTES, PAGE_BYTES, &setup->slots[i]),
			PB_ERROR_OK);
	assert_int_equal(pb_memory_allocate(&world->system, PAGE_BYTES, PAGE_BYTES, &setup->buffer),
			 PB_ERROR_OK);
}

static void *array(size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);

	assert_non_null(memory);
	return memory;
}

static void allocate(struct pb_gl_client_setup *setup)
{
	setup->timeout_us = PATIENCE;
	setup->resource_count = RESOURCES;
	setup->resources = array(RESOURCES, sizeof(*setup->resources));
	setup->chains = array(RESOURCES, sizeof(*setup->chains));
	setup->ids = array(RESOURCES + 1u, sizeof(*setup->ids));
	setup->allocations = array(RESOURCES + 1u, sizeof(*setup->allocations));
	setup->objects = array(PB_GL_OBJECTS, sizeof(*setup->objects));
	setup->sub_contexts = array(PB_GL_SUB_CONTEXTS, sizeof(*setup->sub_contexts));
	for (uint32_t i = 0; i < SLOTS; i++)
		setup->slot_ids[i] = array(PB_GL_ALLOCATIONS, sizeof(*setup->slot_ids[i]));
}

static struct world *open_world(void)
{
	struct world *world = array(1, sizeof(*world));
	struct pb_gl_client_setup *setup = &world->setup;

	world->sim = pb_sim_create_gl();
	assert_non_null(world->sim);
	assert_int_equal(pb_link_open_sim(world->sim, 1, &world->link), PB_ERROR_OK);
	assert_int_equal(pb_channel_attach(&world->channel, world->link, PATIENCE), PB_ERROR_OK);
	open_segments(world);
	allocate(setup);
	assert_int_equal(pb_queue_create(&world->queue, &world->channel, &world->system, 0, 16), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&world->paging, &world->channel, &world->system, 0, 16),
			 PB_ERROR_OK);
	assert_int_equal(pb_context_create(&world->channel, &setup->context), PB_ERROR_OK);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(
			pb_format_set(&world->channel, PB_GL_FORMAT_PAGE + i, &pb_gl_formats[i], NULL),
			PB_ERROR_OK);
	setup->queue = &world->queue;
	setup->paging = &world->paging;
	assert_true(pb_gl_client_start(&world->client, setup));
	return world;
}

static void close_world(struct world *world)
{
	struct pb_gl_client_setup *setup = &world->setup;

	assert_true(pb_gl_client_end(&world->client));
	assert_int_equal(pb_channel_detach(&world->channel), PB_ERROR_OK);
	world->link->ops->close(world->link);
	pb_sim_destroy(world->sim);
	free(setup->resources);
	free(setup->chains);
	free(setup->ids);
	free(setup->allocations);
	free(setup->objects);
	free(setup->sub_contexts);
	for (uint32_t i = 0; i < SLOTS; i++)
		free(setup->slot_ids[i]);
	free(world);
}

/* ---- what a program does ---- */

static void create(struct world *world, uint32_t handle)
{
	const uint32_t words[PB_GL_TEMPLATE_WORDS] = {TEXTURE_2D, FORMAT, 2, SIDE, SIDE, 1, 1, 0, 0, 0};

	assert_non_null(pb_gl_client_create(&world->client, handle, words));
}

static void clear_to(struct world *world, uint32_t handle, uint32_t value)
{
	uint32_t words[CLEAR_WORDS] = {CLEAR_TEXTURE, handle, 0, 0, 0, 1, 1, 1, 1, value};

	assert_true(pb_gl_client_submit(&world->client, words, CLEAR_WORDS));
}

static void clear(struct world *world, uint32_t handle)
{
	world->values[handle] = ++world->next;
	clear_to(world, handle, world->next);
}

static void wait_for_fence(struct world *world)
{
	const struct pb_gl_resource *fence;
	bool busy = true;

	create(world, FENCE);
	fence = pb_gl_resources_find(&world->client.resources, FENCE);
	assert_true(pb_gl_client_busy(&world->client, fence, true, &busy));
	assert_false(busy);
	assert_true(pb_gl_client_drop(&world->client, FENCE));
}

static void transfer(struct world *world, uint32_t handle, uint32_t rows, bool to_resource)
{
	struct pb_gl_resource *resource = pb_gl_resources_find(&world->client.resources, handle);
	const struct pb_gl_transfer_request request = {.template_words = resource->template_words,
						       .box = {0, 0, 0, SIDE, rows, 1},
						       .available = sizeof(world->memory)};

	for (uint32_t i = 0; to_resource && i < TEXELS; i++)
		world->memory[i] = world->values[handle];
	assert_true(pb_gl_client_transfer(&world->client, resource, &request, to_resource,
					  (uint8_t *)world->memory));
}

static void get(struct world *world, uint32_t handle, uint32_t rows)
{
	memset(world->memory, 0x5a, sizeof(world->memory));
	transfer(world, handle, rows, false);
	for (uint32_t i = 0; i < TEXELS; i++)
		assert_int_equal(world->memory[i], i < rows * SIDE ? world->values[handle] : 0x5a5a5a5au);
}

/* c, d: a command changes A, B. w: waits for all commands. g, h: reads A, B; q: half of A. p: writes A. x: A is new. */
static void step(struct world *world, char what)
{
	switch (what) {
	case 'c':
		clear(world, A);
		break;
	case 'd':
		clear(world, B);
		break;
	case 'w':
		wait_for_fence(world);
		break;
	case 'g':
		get(world, A, SIDE);
		break;
	case 'h':
		get(world, B, SIDE);
		break;
	case 'q':
		get(world, A, SIDE / 2u);
		break;
	case 'p':
		world->values[A] = ++world->next;
		transfer(world, A, SIDE, true);
		break;
	case 'x':
		assert_true(pb_gl_client_drop(&world->client, A));
		create(world, A);
		world->values[A] = 0;
		break;
	default:
		break;
	}
}

/* Programs, and what they take: submissions, and reads that were transferred before they were asked for. */
static const struct {
	const char *program;
	uint32_t submissions, ahead;
} cases[] = {
	/* A frame is drawn, waited for and shown: from the third one on, one submission. */
	{"cwg", 2, 0},
	{"cwg cwg", 4, 0},
	{"cwg cwg cwg", 5, 1},
	{"cwg cwg cwg cwg cwg cwg", 8, 4},
	/* Without a wait, or without a read behind the wait, nothing is expected. */
	{"cg cg cg cg", 4, 0},
	{"cw cw cw cw", 4, 0},
	/* What was expected was not asked for: not expected again, until it was asked for twice more. */
	{"cwg cwg cw cwg", 7, 0},
	{"cwg cwg cw cwg cwg cwg", 10, 1},
	/* A command behind the wait changes what is read, or something else. */
	{"cwg cwg cwcg", 6, 0},
	{"cwg cwg cwdg", 6, 0},
	/* So does a transfer. */
	{"cwg cwg cwpg", 6, 0},
	/* Another read does not, until its staging memory is used again. */
	{"cwg cwg cdwhg", 6, 1},
	{"cwg cwg cdwhhhhg", 10, 0},
	/* Another part, and another resource in its place. */
	{"cwg cwg cwq", 6, 0},
	{"cwg cwg cwxg", 6, 0},
	/* Another part each time, and two reads behind a wait: neither is expected. */
	{"cwg cwq cwg cwq", 8, 0},
	{"cdwgh cdwgh cdwgh", 9, 0},
	/* Read twice: once it was there. */
	{"cwg cwg cwgg", 6, 1},
};

static void reads_are_what_was_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *world = open_world();
		const struct pb_gl_client_figures *figures = &world->client.figures;

		create(world, A);
		create(world, B);
		for (const char *at = cases[i].program; *at != '\0'; at++)
			step(world, *at);
		if (figures->submissions != cases[i].submissions || figures->ahead != cases[i].ahead)
			fail_msg("%s: %u submissions, %u ahead", cases[i].program,
				 (unsigned)figures->submissions, (unsigned)figures->ahead);
		close_world(world);
	}
}

/* Its box may lie outside of the other one, which would be the program's fault, and its end. */
static void nothing_is_read_ahead_of_another_resource_with_the_same_id(void **state)
{
	struct world *world = open_world();
	const struct pb_gl_client_figures *figures = &world->client.figures;
	struct pb_gl_resources *table = &world->client.resources;
	uint32_t id, handle = OTHERS;
	uint64_t before;

	(void)state;
	create(world, A);
	create(world, B);
	id = pb_gl_resources_find(table, A)->id;
	for (const char *at = "cwgcwg"; *at != '\0'; at++)
		step(world, *at);
	assert_true(pb_gl_client_drop(&world->client, A));
	for (uint32_t i = 0; i < DROPPED; i++, handle++) {
		create(world, handle);
		clear_to(world, handle, 1);
		assert_true(pb_gl_client_drop(&world->client, handle));
		assert_true(pb_gl_client_wait(&world->client));
	}
	while (pb_gl_resources_at(table, id) == NULL)
		create(world, handle++);
	clear(world, B);
	before = figures->submissions;
	wait_for_fence(world);
	assert_int_equal(figures->submissions, before + 1u);
	assert_int_equal(figures->bytes_from, 2u * sizeof(world->memory));
	assert_int_equal(figures->ahead, 0);
	close_world(world);
}

UNIT_SUITE(test_gl_client)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_are_what_was_written),
		cmocka_unit_test(nothing_is_read_ahead_of_another_resource_with_the_same_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
