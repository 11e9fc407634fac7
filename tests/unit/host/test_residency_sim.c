/* SPDX-License-Identifier: MIT */
/*
 * The manager on the simulated card: random work of two queues on four times
 * as many allocations as video memory holds. All free memory is poison, so
 * that a transfer or a patch that is missing shows.
 */
#include <string.h>

#include "patchbay/residency.h"
#include "tests/unit/card_fixture.h"

#define COUNT       48u
#define BYTES_MAX   0x7000u
#define SLOTS       3u /* DMA buffers of each queue */
#define COMMANDS    12u
#define WORKS       900u
#define APERTURE    4u
#define APERTURE_OS UINT64_C(0x7000000000)
#define BACKINGS    0x280000u
#define STRIDE      0x8000u
#define TIMEOUT_US  1000000u

struct world {
	struct card card;
	struct pb_segment aperture;
	struct pb_queue paging;
	struct pb_residency_segment segments[3];
	struct pb_residency_allocation array[COUNT];
	struct pb_residency manager;
	uint32_t seed;
	uint32_t bytes[COUNT];
	uint32_t model[COUNT][BYTES_MAX / 4];
	uint64_t timelines[2][SLOTS]; /* of the last work in each DMA buffer */
	uint32_t next[2];
	uint32_t words[8 * COMMANDS];
	uint32_t count;
	uint64_t staging[1024];
	uint32_t shadow[0x18000 / 4];
};

static uint32_t chance(struct world *world, uint32_t bound)
{
	world->seed ^= world->seed << 13;
	world->seed ^= world->seed >> 17;
	world->seed ^= world->seed << 5;
	return world->seed % bound;
}

static uint32_t *backing(const struct world *world, uint32_t number)
{
	return (uint32_t *)(void *)card_bytes(&world->card, 0, BACKINGS + number * STRIDE);
}

/* ---- making ---- */

static void add_allocation(struct world *world, uint32_t number)
{
	static const uint32_t segments[][PB_RESIDENCY_PREFERRED] = {{1, 2},        {2, 1}, {1}, {2},
								    {APERTURE, 2}, {2, 1}, {2}, {APERTURE}};
	struct pb_residency_request request = {
		.bytes = 0x2000 + 4 * chance(world, (BYTES_MAX - 0x2000) / 4),
		.alignment = 4u << chance(world, 11),
		.backing = CARD_SYSTEM_GPU + BACKINGS + number * STRIDE,
	};
	uint32_t handle;

	memcpy(request.segments, segments[number % 8], sizeof(request.segments));
	world->bytes[number] = (uint32_t)request.bytes;
	for (uint32_t i = 0; i < request.bytes / 4; i++)
		world->model[number][i] = chance(world, UINT32_MAX);
	memcpy(backing(world, number), world->model[number], world->bytes[number]);
	assert_int_equal(pb_residency_add(&world->manager, &request, &handle), PB_ERROR_OK);
	assert_int_equal(handle, number + 1);
}

static void start(struct world *world, uint32_t seed)
{
	const struct pb_segment_request request = {APERTURE, APERTURE_OS, APERTURE_OS,
						   0x10000,  0,           PB_SEGMENT_APERTURE};
	struct card *card = &world->card;
	struct pb_residency_setup setup = {
		.segments = world->segments,
		.segment_count = 3,
		.allocations = world->array,
		.allocation_count = COUNT,
		.queues = {&card->queues[0], &card->queues[1]},
		.paging = &world->paging,
		.timeout_us = TIMEOUT_US,
	};

	memset(world, 0, sizeof(*world));
	world->seed = seed;
	card_start(card);
	assert_int_equal(pb_segment_create(&world->aperture, &card->channel, &request), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&world->paging, &card->channel, &card->segments[0], 1, 8),
			 PB_ERROR_OK);
	assert_int_equal(pb_memory_allocate(&card->segments[0], 4096, 4096, &setup.buffer), PB_ERROR_OK);
	world->segments[0] =
		(struct pb_residency_segment){1, 0, CARD_VIDEO_OS, CARD_VIDEO_GPU, 0x10000, NULL};
	/* Across 4 GiB for the engine. */
	world->segments[1] = (struct pb_residency_segment){2, 0, CARD_EDGE_OS, CARD_EDGE_GPU, 0x18000, NULL};
	world->segments[2] = (struct pb_residency_segment){
		APERTURE, PB_SEGMENT_APERTURE, APERTURE_OS, APERTURE_OS, 0x10000, NULL};
	assert_int_equal(pb_residency_start(&world->manager, &setup), PB_ERROR_OK);
	for (uint32_t s = 0; s < 2; s++)
		for (uint32_t i = 0; i < world->segments[s].bytes / 4; i++)
			((uint32_t *)(void *)card_bytes(card, s + 1, 0))[i] = PB_ENGINE_POISON;
	for (uint32_t i = 0; i < COUNT; i++)
		add_allocation(world, i);
}

/* ---- work: FILL and COPY, in the commands and in the model ---- */

/* Queues share video memory, but no allocations: nothing orders one after the other. */
static uint32_t any_of(struct world *world, uint32_t queue)
{
	return 2 * chance(world, COUNT / 2) + queue;
}

static void add_fill(struct world *world, uint32_t queue)
{
	const uint32_t to = any_of(world, queue);
	const uint32_t place = 4 * chance(world, world->bytes[to] / 4);
	const uint32_t bytes = 4 * chance(world, (world->bytes[to] - place) / 4 + 1);
	const uint32_t value = chance(world, UINT32_MAX);
	const uint32_t words[] = {0x01000005, to + 1, place, bytes, value};

	for (uint32_t i = 0; i < bytes / 4; i++)
		world->model[to][place / 4 + i] = value;
	memcpy(&world->words[world->count], words, sizeof(words));
	world->count += 5;
}

static void add_copy(struct world *world, uint32_t queue)
{
	const uint32_t from = any_of(world, queue), to = any_of(world, queue);
	const uint32_t least = world->bytes[from] < world->bytes[to] ? world->bytes[from] : world->bytes[to];
	const uint32_t bytes = 4 * chance(world, least / 4);
	const uint32_t source = 4 * chance(world, (world->bytes[from] - bytes) / 4);
	const uint32_t place = 4 * chance(world, (world->bytes[to] - bytes) / 4);
	const uint32_t words[] = {0x02000006, from + 1, source, to + 1, place, bytes};

	memmove(&world->model[to][place / 4], &world->model[from][source / 4], bytes);
	memcpy(&world->words[world->count], words, sizeof(words));
	world->count += 6;
}

static bool find_size(void *context, uint32_t handle, struct pb_render_allocation *allocation)
{
	const bool found = pb_residency_find(context, handle, allocation);

	allocation->segment = 0;
	return found;
}

static struct pb_render_output output_of(const struct world *world, uint32_t slot)
{
	const struct card *card = &world->card;

	return (struct pb_render_output){
		.dma_buffer = card_dma(card, slot),
		.dma_size = CARD_DMA_STRIDE,
		.private_data = (uint32_t *)(void *)card_bytes(card, 0, 0x270000 + 64 * slot),
		.private_data_size = 64,
		.allocations = (void *)card_bytes(card, 0, CARD_ALLOCATIONS + 0x1000 * slot),
		.allocations_size = COUNT + 1,
		.locations = (void *)card_bytes(card, 0, CARD_PATCHES + 0x1000 * slot),
		.locations_size = 64,
	};
}

static struct pb_residency_submission render(struct world *world, uint32_t queue, uint32_t slot)
{
	struct pb_render_user_allocation list[COUNT + 1] = {{0, 0}};
	/* Sometimes with addresses that are right now, and may not be when it runs. */
	const struct pb_render_device device = {.find = chance(world, 2) == 0 ? find_size : pb_residency_find,
						.context = &world->manager,
						.node = queue == 0 ? 1 : 2};
	struct pb_render_arguments arguments = {
		.device = &device,
		.staging = world->staging,
		.staging_size = sizeof(world->staging),
		.command = world->words,
		.command_length = 4 * world->count,
		.user_allocations = list,
		.user_allocation_count = COUNT + 1,
		.output = output_of(world, slot),
	};
	struct pb_residency_submission work = {.allocations = arguments.output.allocations,
					       .locations = arguments.output.locations};

	for (uint32_t i = 1; i <= COUNT; i++)
		list[i] = (struct pb_render_user_allocation){i, PB_RENDER_USER_WRITE};
	assert_int_equal(pb_render(&arguments), PB_RENDER_SUCCESS);
	work.descriptor = card_descriptor(&world->card, slot, CARD_DMA_STRIDE, 0, 0);
	work.descriptor.allocation_address_low += 0x1000 * slot;
	work.descriptor.patch_address_low += 0x1000 * slot;
	pb_render_describe(&arguments.output.record, &work.descriptor);
	work.descriptor.private_end = 0;
	return work;
}

static void submit_some(struct world *world)
{
	const uint32_t queue = chance(world, 2);
	const uint32_t slot = world->next[queue]++ % SLOTS;
	struct pb_queue *ring = &world->card.queues[queue];
	struct pb_residency_submission work;

	assert_int_equal(pb_queue_wait(ring, world->timelines[queue][slot], TIMEOUT_US, NULL), PB_ERROR_OK);
	world->count = 0;
	for (uint32_t i = 1 + chance(world, COMMANDS); i != 0; i--) {
		if (chance(world, 3) == 0)
			add_fill(world, queue);
		else
			add_copy(world, queue);
	}
	work = render(world, queue, queue * SLOTS + slot);
	assert_int_equal(pb_residency_submit(&world->manager, queue, &work), PB_ERROR_OK);
	world->timelines[queue][slot] = ring->timeline;
}

/* The host's turn with one allocation. */
static void touch_one(struct world *world)
{
	const uint32_t number = chance(world, COUNT);
	const bool keep = chance(world, 2) == 0;

	if (chance(world, 4) == 0) {
		assert_int_equal(pb_residency_remove(&world->manager, number + 1), PB_ERROR_OK);
		add_allocation(world, number);
		return;
	}
	assert_int_equal(pb_residency_page_out(&world->manager, number + 1, keep), PB_ERROR_OK);
	if (keep)
		assert_memory_equal(backing(world, number), world->model[number], world->bytes[number]);
	for (uint32_t i = 0; i < world->bytes[number] / 4; i++)
		world->model[number][i] = chance(world, UINT32_MAX);
	memcpy(backing(world, number), world->model[number], world->bytes[number]);
}

/* ---- what should be in memory ---- */

static void expect_no_error(struct pb_queue *queue)
{
	struct pb_fence fence;

	assert_int_equal(pb_queue_wait(queue, queue->timeline, TIMEOUT_US, &fence), PB_ERROR_OK);
	assert_int_equal(fence.error, PB_ERROR_OK);
}

static void audit_segment(struct world *world, uint32_t id)
{
	const struct pb_residency_segment *segment = &world->segments[id - 1];
	const uint32_t *found = (const uint32_t *)(const void *)card_bytes(&world->card, id, 0);

	for (uint32_t i = 0; i < segment->bytes / 4; i++)
		world->shadow[i] = PB_ENGINE_POISON;
	for (uint32_t n = 0; n < COUNT; n++) {
		struct pb_render_allocation known;

		assert_true(pb_residency_find(&world->manager, n + 1, &known));
		if (known.segment == id)
			memcpy(&world->shadow[(known.os_address - segment->os_base) / 4], world->model[n],
			       world->bytes[n]);
	}
	assert_memory_equal(found, world->shadow, (size_t)segment->bytes);
}

static void audit(struct world *world)
{
	for (uint32_t i = 0; i < 2; i++)
		expect_no_error(&world->card.queues[i]);
	expect_no_error(&world->paging);
	audit_segment(world, 1);
	audit_segment(world, 2);
	for (uint32_t n = 0; n < COUNT; n++) {
		struct pb_render_allocation known;

		assert_true(pb_residency_find(&world->manager, n + 1, &known));
		if (known.segment == 0 || known.segment == APERTURE)
			assert_memory_equal(backing(world, n), world->model[n], world->bytes[n]);
	}
}

static void random_work_finds_its_memory(void **state)
{
	static const uint32_t seeds[] = {0x2545f491, 1, 0xdecafbad};
	static struct world world;

	(void)state;
	for (uint32_t s = 0; s < 3; s++) {
		const struct pb_residency_figures *figures = &world.manager.figures;
		uint64_t total = 0;

		start(&world, seeds[s]);
		for (uint32_t n = 0; n < COUNT; n++)
			total += world.bytes[n];
		assert_true(total > UINT64_C(4) * (0x10000 + 0x18000));
		for (uint32_t i = 0; i < WORKS / 3; i++) {
			submit_some(&world);
			if (chance(&world, 4) == 0)
				touch_one(&world);
			if (i % 16 == 15)
				audit(&world);
		}
		audit(&world);
		/* All of it happened, not once but often. */
		assert_true(figures->evictions > WORKS / 3);
		assert_true(figures->splits > WORKS / 10);
		assert_true(figures->waits > WORKS / 10);
		assert_true(figures->bytes_out > total);
		card_stop(&world.card);
	}
}

UNIT_SUITE(test_residency_sim)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_work_finds_its_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
