/* SPDX-License-Identifier: MIT */
/*
 * Random lives of buffers that come again, on two cards: one is told cookies,
 * or what the patches presume, in lists of either kind that can be skipped; the
 * other neither, so that it always patches. An honest host does the same on
 * both; the bytes must be the same after every submission.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/patch_random.h"

#define ROUNDS      4000u
#define LIVES       4u
#define BUFFERS     24u /* more than the firmware can know */
#define ENTRIES     60u
#define ENTRY_BYTES 32u /* of the buffer: entry i patches there only */
#define ALLOCATIONS 30u
#define PLACEMENTS  2u /* few, so that buffers come back to one of them */
#define BYTES       (ENTRIES * ENTRY_BYTES)
#define LIST_STRIDE 0x800u

/** What the host knows of a buffer. */
struct buffer {
	uint32_t cookie;
	uint32_t placement;
	uint32_t
		presumed; /**< the placement that all its patches were carried out with; NONE: there is no such */
};
#define NONE PLACEMENTS

static struct random_world world;
static struct card cards[2]; /* the first is told cookies */
static struct buffer buffers[BUFFERS];
static struct pb_allocation placements[PLACEMENTS][ALLOCATIONS];
static struct pb_patch_location patches[BUFFERS][ENTRIES];
static uint32_t cookies; /* given so far */
static uint64_t skipped, patched, kept;

static uint32_t list_offset(uint32_t b)
{
	return CARD_PATCHES + b * LIST_STRIDE;
}

/** The host writes the buffer and its list anew. All entries are good wherever the allocations are. */
static void write_buffer(uint32_t b)
{
	uint8_t *lists[] = {card_bytes(&cards[0], 0, list_offset(b)),
			    card_bytes(&cards[1], 0, list_offset(b))};

	for (uint32_t word = 0; word < BYTES / 4u; word++)
		card_dma(&cards[0], b)[word] = card_dma(&cards[1], b)[word] = oracle_random(&world.seed);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		struct pb_patch_location patch;
		bool good;

		do {
			good = true;
			patch = random_entry(&world, random_format(&world));
			patch.patch_offset = i * ENTRY_BYTES;
			for (uint32_t p = 0; p < PLACEMENTS; p++) {
				world.list.allocations = placements[p];
				good = good && oracle_entry(&world.list, &patch, 1) == PB_ERROR_OK;
			}
		} while (!good || (patch.driver_id == PB_PATCH_FORMAT_FENCE_ID && b % 4u != 0));
		if (!format_uses_allocation(oracle_format(&world.list, patch.driver_id)))
			patch.allocation_index = UINT32_MAX;
		patches[b][i] = patch;
		for (uint32_t c = 0; c < 2; c++)
			memcpy(lists[c] + i * sizeof(patch), &patch, sizeof(patch));
	}
	buffers[b].cookie = ++cookies;
	buffers[b].presumed = NONE;
}

/** Has a submission of all of a buffer presume the placement that it was patched with, in a list of one kind or the other. */
static void presume(struct pb_descriptor *descriptor, uint32_t b)
{
	struct pb_presumed presumed[ALLOCATIONS] = {{0}};
	uint32_t words[ENTRIES * 5u];

	for (uint32_t a = 0; a < ALLOCATIONS && buffers[b].presumed != NONE; a++)
		presumed[a] = oracle_presumed(&placements[buffers[b].presumed][a]);
	memcpy(card_bytes(&cards[0], 0, CARD_ALLOCATIONS + (uint32_t)sizeof(placements[0])), presumed,
	       sizeof(presumed));
	descriptor->patch_encoding = PB_PATCH_PRESUMED;
	if (random_once_in(&world, 2))
		return;
	world.list.patches = patches[b];
	descriptor->patch_encoding |= PB_PATCH_ENCODING_GROUPED;
	descriptor->patch_count = descriptor->patch_length = oracle_grouped(&world.list, ENTRIES, 1, words);
	descriptor->patch_address_low = (uint32_t)CARD_SYSTEM_OS + list_offset(BUFFERS);
	memcpy(card_bytes(&cards[0], 0, list_offset(BUFFERS)), words, sizeof(words));
}

static void set_own_formats(void)
{
	struct oracle_formats set = {0};

	for (uint32_t c = 0; c < 2; c++) {
		for (uint32_t i = 0; i < RANDOM_FORMATS; i++)
			oracle_own(&cards[c], &set, PB_FORMAT_OWN + i, &world.own.format[i]);
	}
}

static void start(uint32_t seed)
{
	world.seed = seed;
	world.reach = seed % RANDOM_REACHES;
	world.segment = world.flags = 0;
	random_formats(&world);
	/* Values that depend on the submission are never the same again; b % 4 == 0 has them in a built-in format. */
	for (uint32_t i = 0; i < RANDOM_FORMATS; i++) {
		if (world.own.format[i].source == PB_FORMAT_FENCE)
			world.own.format[i].source = PB_FORMAT_CONSTANT;
	}
	world.list = (struct oracle_list){
		.own = &world.own,
		.allocation_count = ALLOCATIONS,
		.dma_end = BYTES,
		.buffer_bytes = BYTES,
	};
	for (uint32_t a = 0; a < ALLOCATIONS; a++) {
		for (uint32_t p = 0; p < PLACEMENTS; p++) {
			do {
				placements[p][a] = random_allocation(&world);
			} while (((placements[p][a].flags ^ placements[0][a].flags) & PB_ALLOCATION_UNBIND) !=
				 0);
		}
	}
	memcpy(world.allocations, placements[0], sizeof(placements[0]));
	for (uint32_t c = 0; c < 2; c++)
		oracle_start(&cards[c]);
	set_own_formats();
	for (uint32_t b = 0; b < BUFFERS; b++)
		write_buffer(b);
}

/** One submission of all of a buffer, or of a part. @return patches that the card with cookies carried out */
static uint64_t submit(const char *row, uint32_t b, uint32_t first, uint32_t count, uint32_t cookie)
{
	const uint32_t node = random_below(&world, 2);
	const bool presumes = count == ENTRIES && random_once_in(&world, 2);
	uint64_t carried_out = 0;

	for (uint32_t c = 0; c < 2; c++) {
		struct card *card = &cards[c];
		const struct pb_fence before = card_wait(card, node, card->queues[node].put);
		struct pb_descriptor descriptor = card_descriptor(card, b, BYTES, ALLOCATIONS, ENTRIES);
		struct pb_fence after;

		memcpy(card_bytes(card, 0, CARD_ALLOCATIONS), placements[buffers[b].placement],
		       sizeof(placements[0]));
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		descriptor.fence_id = 0xfe000000u + card->queues[node].put;
		descriptor.dma_size = BYTES;
		descriptor.dma_start = first * ENTRY_BYTES;
		descriptor.dma_end = (first + count) * ENTRY_BYTES;
		descriptor.patch_address_low = (uint32_t)CARD_SYSTEM_OS + list_offset(b);
		descriptor.patch_start = first;
		descriptor.patch_length = count;
		descriptor.cookie = c == 0 ? cookie : 0;
		if (c == 0 && presumes)
			presume(&descriptor, b);
		after = card_execute(card, node, &descriptor);
		card_equal(row, after.status, PB_ERROR_OK);
		if (c == 0)
			carried_out = after.patches - before.patches;
		else
			card_equal(row, after.patches - before.patches, count);
	}
	card_equal(row, memcmp(card_dma(&cards[0], b), card_dma(&cards[1], b), BYTES), 0);
	card_equal(row, carried_out == 0 || carried_out == count || (presumes && carried_out < count), true);
	kept += carried_out != 0 && carried_out != count;
	buffers[b].presumed = count == ENTRIES ? buffers[b].placement : NONE;
	return carried_out;
}

static void one_round(const char *row)
{
	const uint32_t b = random_below(&world, random_once_in(&world, 3) ? BUFFERS : 6u);
	struct buffer *buffer = &buffers[b];

	if (random_once_in(&world, 10))
		write_buffer(b);
	if (random_once_in(&world, 100))
		set_own_formats();
	if (random_once_in(&world, 3))
		buffer->placement = random_below(&world, PLACEMENTS);
	if (random_once_in(&world, 4)) {
		/* A part of it, without a name or with one of its own. */
		const uint32_t first = random_below(&world, ENTRIES);

		submit(row, b, first, 1u + random_below(&world, ENTRIES - first),
		       random_once_in(&world, 2) ? 0 : 0x10000u + b);
	} else if (submit(row, b, 0, ENTRIES, buffer->cookie) == 0) {
		skipped++;
	} else {
		patched++;
	}
}

static void same_bytes_as_without(void **state)
{
	char row[48];

	(void)state;
	for (uint32_t life = 1; life <= LIVES; life++) {
		start(life * 2654435761u | 1u);
		for (uint32_t round = 0; round < ROUNDS / LIVES; round++) {
			snprintf(row, sizeof(row), "life %u, round %u", life, round);
			one_round(row);
		}
		card_stop(&cards[0]);
		card_stop(&cards[1]);
	}
	print_message("%u of %u were not patched again, %u in part\n", (uint32_t)skipped,
		      (uint32_t)(skipped + patched), (uint32_t)kept);
	assert_true(skipped > ROUNDS / 10u && patched > ROUNDS / 10u && kept > ROUNDS / 20u);
}

UNIT_SUITE(test_firmware_cookie_random)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bytes_as_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
