/* SPDX-License-Identifier: MIT */
/* Random patch lists, some of them with faults, against the oracle. The seed is fixed: a failure comes again. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/patch_oracle.h"

#define LISTS           5000u
#define ALLOCATIONS_MAX 40u
#define PATCHES_MAX     160u

struct world {
	uint32_t seed;
	struct pb_allocation allocations[ALLOCATIONS_MAX];
	struct pb_patch_location patches[PATCHES_MAX];
	struct oracle_list list;
};

static uint32_t below(struct world *world, uint32_t bound)
{
	return oracle_random(&world->seed) % bound;
}

static uint64_t random_64(struct world *world)
{
	const uint64_t high = oracle_random(&world->seed);

	return high << 32 | oracle_random(&world->seed);
}

/** Anywhere inside a segment: its own limits, and those of 32 bits, are met more often than by chance. */
static struct pb_allocation random_allocation(struct world *world)
{
	static const struct {
		uint64_t base;
		uint64_t size;
	} segments[4] = {
		{0, 0},
		{CARD_VIDEO_OS, CARD_VIDEO_BYTES},
		{CARD_EDGE_OS, CARD_EDGE_BYTES},
		{0, CARD_WIDE_BYTES},
	};
	const uint32_t id = 1 + below(world, 3);
	uint64_t offset = random_64(world) % segments[id].size;
	uint64_t size;

	if (below(world, 8) == 0)
		return oracle_allocation(random_64(world), random_64(world), PB_ALLOCATION_UNBIND);
	if (id == 3 && below(world, 2) == 0)
		offset %= UINT64_C(0x100000000);
	if (below(world, 8) == 0)
		offset = 0;
	size = segments[id].size - offset;
	if (below(world, 4) != 0)
		size = 1 + random_64(world) % size;
	if (below(world, 4) == 0 && size > 64)
		size = 1 + size % 64;
	return oracle_allocation(segments[id].base + offset, size,
				 CARD_SEGMENT(id) | (below(world, 4) != 0 ? PB_ALLOCATION_WRITE : 0));
}

static uint32_t random_offset(struct world *world, const struct pb_allocation *allocation)
{
	const uint64_t size = (uint64_t)allocation->size_high << 32 | allocation->size_low;

	if (size == 0 || below(world, 8) == 0)
		return oracle_random(&world->seed);
	if (below(world, 4) == 0)
		return (uint32_t)(size - 1);
	return (uint32_t)(random_64(world) % size);
}

static struct pb_patch_location random_patch(struct world *world, uint32_t format)
{
	const struct oracle_list *list = &world->list;
	struct pb_patch_location patch = {
		.allocation_index = below(world, list->allocation_count),
		.slot = oracle_random(&world->seed) >> 8,
		.driver_id = format,
		.patch_offset = list->dma_start + below(world, (list->dma_end - list->dma_start) / 4u) * 4u,
		.split_offset = oracle_random(&world->seed),
	};

	patch.allocation_offset = random_offset(world, &world->allocations[patch.allocation_index]);
	return patch;
}

/** An entry that obeys every rule: tried until one does. Any buffer has room for a 32-bit sum. */
static struct pb_patch_location good_patch(struct world *world, uint32_t format)
{
	struct pb_patch_location patch;

	for (uint32_t tries = 0; tries < 20; tries++) {
		patch = random_patch(world, format);
		if (oracle_errors(&world->list, &patch) == 0)
			return patch;
	}
	return random_patch(world, PB_PATCH_FORMAT_SUM32);
}

/** Breaks one word, or none if it happens to stay legal. */
static void spoil(struct world *world, struct pb_patch_location *patch)
{
	switch (below(world, 8)) {
	case 0:
		patch->slot |= 0x01000000u << below(world, 8);
		break;
	case 1:
		patch->driver_id = below(world, 2) == 0 ? oracle_random(&world->seed) : below(world, 8);
		break;
	case 2:
		patch->allocation_index =
			world->list.allocation_count + below(world, 4) * below(world, 0x40000000);
		break;
	case 3:
		patch->patch_offset += 1 + below(world, 3);
		break;
	case 4:
		patch->patch_offset = below(world, 2) == 0 ? oracle_random(&world->seed)
							   : world->list.dma_end - below(world, 3) * 4u;
		break;
	case 5:
		patch->driver_id = PB_PATCH_FORMAT_ADDRESS32_WRITE + below(world, 2);
		break;
	case 6:
		patch->allocation_index = below(world, world->list.allocation_count);
		break;
	default:
		patch->allocation_offset = oracle_random(&world->seed);
		break;
	}
}

static void random_list(struct world *world)
{
	struct oracle_list *list = &world->list;
	uint32_t format = 0;

	*list = (struct oracle_list){
		.allocations = world->allocations,
		.patches = world->patches,
		.allocation_count = 1 + below(world, ALLOCATIONS_MAX),
		.patch_count = 1 + below(world, PATCHES_MAX),
		.dma_start = below(world, ORACLE_BUFFER_BYTES / 4u - 16u) * 4u,
	};
	list->dma_end =
		list->dma_start + 8u + below(world, (ORACLE_BUFFER_BYTES - list->dma_start - 4u) / 4u) * 4u;
	list->patch_start = below(world, 3) == 0 ? below(world, list->patch_count) : 0;
	list->patch_length = list->patch_count - list->patch_start;
	if (below(world, 3) == 0)
		list->patch_length = below(world, list->patch_length + 1u);
	for (uint32_t i = 0; i < list->allocation_count; i++)
		world->allocations[i] = random_allocation(world);
	for (uint32_t i = 0; i < list->patch_count; i++) {
		if (below(world, 8) == 0)
			format = below(world, PB_PATCH_FORMAT_COUNT);
		world->patches[i] = good_patch(world, format);
	}
	if (below(world, 2) == 0)
		spoil(world, &world->patches[below(world, list->patch_count)]);
}

static void random_lists(void **state)
{
	static struct world world;
	uint32_t results[PB_ERROR_PATCH_VALUE + 1u] = {0};
	struct card card;
	char row[32];

	(void)state;
	world.seed = 20240229;
	card_start(&card);
	for (uint32_t i = 0; i < LISTS; i++) {
		enum pb_error error;

		snprintf(row, sizeof(row), "list %u", i);
		random_list(&world);
		error = oracle_check(&card, row, &world.list, 1 + i);
		results[error]++;
	}
	card_stop(&card);
	/* Lists that all fail, or never do in one way, would test little. */
	assert_true(results[PB_ERROR_OK] > LISTS / 2);
	for (uint32_t error = PB_ERROR_PATCH_RESERVED; error <= PB_ERROR_PATCH_VALUE; error++)
		card_equal(pb_error_name(error), results[error] >= 5, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
