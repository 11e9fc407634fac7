/* SPDX-License-Identifier: MIT */
/*
 * A host that moves an allocation under the firmware's hands, behind the digest that is taken of the list of a buffer
 * with a cookie: docs/design.md, "Buffers that are submitted again".
 */
#include "tests/unit/card_fixture.h"
#include "tests/unit/stepped.h"

#define COOKIE           0xc00c1eu
#define ALLOCATIONS      80u /* more than two slices */
#define PATCHES          300u
#define ALLOCATION_BYTES ((uint32_t)sizeof(struct pb_allocation))

/** A word that turns into another one as soon as it has been read; NULL: none. */
static uint32_t *turns;
static uint32_t turns_to;

static void turn(uint32_t *word, uint32_t to)
{
	turns = word;
	turns_to = to;
}

uint32_t pb_stepped_read32(const uint32_t *address)
{
	const uint32_t value = *address;

	if (address == turns)
		*turns = turns_to;
	return value;
}

void pb_stepped_write32(uint32_t *address, uint32_t value)
{
	*address = value;
}

uint8_t pb_stepped_read8(const uint8_t *address)
{
	return *address;
}

void pb_stepped_write8(uint8_t *address, uint8_t value)
{
	*address = value;
}

/** Patch i writes the address of allocation i % ALLOCATIONS, and i. */
static void write_lists(const struct card *card)
{
	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		card_allocation(card, i, CARD_VIDEO_OS + i * 0x1000u, 0x1000,
				CARD_SEGMENT(1) | PB_ALLOCATION_WRITE);
	for (uint32_t i = 0; i < PATCHES; i++) {
		const struct pb_patch_location patch = {
			.allocation_index = i % ALLOCATIONS,
			.driver_id = PB_PATCH_FORMAT_ADDRESS64,
			.allocation_offset = i,
			.patch_offset = i * 8u,
		};

		card_patch(card, i, &patch);
	}
}

/**
 * An allocation that moves between the reads of its digest and of resolving it, which an honest host's does not: what is
 * written is the address that was resolved, and where the digest's comes back nothing is written.
 */
static void moved_behind_its_digest(void **state)
{
	/* Offsets in the segment, whose OS address has a low word of 0. */
	const uint32_t a = ALLOCATIONS - 1u, here = 0x100000u, there = 0x200000u;
	static const struct {
		const char *name;
		uint32_t listed, turns_to, expected, patches;
	} rows[] = {
		{"moves there behind the digest", 0, 1, 1, PATCHES},
		{"listed as the digest had it", 0, 0, 1, 0},
		{"listed there", 1, 1, 1, PATCHES},
		{"listed as at first", 0, 0, 0, PATCHES},
	};
	struct card card;
	struct pb_descriptor descriptor;
	uint64_t before = 0;

	(void)state;
	card_start(&card);
	write_lists(&card);
	descriptor = card_descriptor(&card, 0, PATCHES * 8u, ALLOCATIONS, PATCHES);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	descriptor.cookie = COOKIE;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pb_fence fence;

		card_allocation(&card, a, CARD_VIDEO_OS + (rows[i].listed != 0 ? there : here), 0x1000,
				CARD_SEGMENT(1) | PB_ALLOCATION_WRITE);
		turn((uint32_t *)(void *)card_bytes(&card, 0, CARD_ALLOCATIONS + a * ALLOCATION_BYTES),
		     rows[i].turns_to != 0 ? there : here);
		fence = card_execute(&card, 0, &descriptor);
		turn(NULL, 0);
		card_equal(rows[i].name, fence.status, PB_ERROR_OK);
		card_equal(rows[i].name, fence.patches - before, rows[i].patches);
		card_equal(rows[i].name, card_dma(&card, 0)[2 * a],
			   (uint32_t)CARD_VIDEO_GPU + (rows[i].expected != 0 ? there : here) + a);
		before = fence.patches;
	}
	card_stop(&card);
}

UNIT_SUITE(test_firmware_digest)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moved_behind_its_digest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
