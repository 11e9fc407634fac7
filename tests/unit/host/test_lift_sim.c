/* SPDX-License-Identifier: MIT */
/* Lifted addends on the simulated card: the firmware writes what the peers' kernels write, however often. */
#include <string.h>

#include "tests/unit/card_fixture.h"
#include "tests/unit/host/peer_kernels.h"

#define BYTES  32u
#define PLACE  8u
#define ROUNDS 40u
#define OBJECT (UINT64_C(1) << 20)

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8 | *seed << 24;
}

/* Puts the object somewhere into the segment of addresses only, where the OS's and the engine's are the same. */
static struct peer_target place_object(const struct card *card, const struct peer_kernel *kernel,
				       uint32_t *seed)
{
	const uint64_t steps = (kernel->address_limit - OBJECT) / kernel->address_align;
	const struct peer_target target = {
		.address = ((uint64_t)next_random(seed) << 8 ^ next_random(seed)) % (steps + 1) *
			   kernel->address_align,
		.size = OBJECT,
		.id = 0xa110c000u, /* as the fixture names allocation 0 */
	};

	card_allocation(card, 0, target.address, target.size, CARD_SEGMENT(3));
	return target;
}

static void random_commands(const struct peer_kernel *kernel, uint8_t *commands, uint32_t *seed)
{
	uint8_t *addend = commands + PLACE + (kernel->kind == PB_LIFT_VMWGFX_POINTER ? 4 : 0);
	const uint32_t limit = kernel->kind == PB_LIFT_RADEON_BASE ? OBJECT >> 8 : OBJECT;

	for (uint32_t i = 0; i < BYTES; i++)
		commands[i] = (uint8_t)next_random(seed);
	peer_put32(addend, next_random(seed) % limit);
	if (kernel->kind == PB_LIFT_RADEON_EVENT || kernel->kind == PB_LIFT_RADEON_SPLIT)
		addend[4] = 0;
}

static void check_kernel(struct card *card, const struct peer_kernel *kernel, uint32_t *seed)
{
	uint8_t *dma = (uint8_t *)card_dma(card, 0);
	struct pb_patch_location entries[PB_LIFT_ENTRIES_MAX];
	uint8_t original[BYTES], lifted[BYTES];
	uint32_t count;

	random_commands(kernel, original, seed);
	memcpy(lifted, original, BYTES);
	assert_int_equal(pb_lift(kernel->kind, 0, lifted, BYTES, PLACE, entries, &count), PB_ERROR_OK);
	for (uint32_t i = 0; i < count; i++)
		card_patch(card, i, &entries[i]);
	memcpy(dma, lifted, BYTES);
	/* Patched, patched again in place, moved and patched again. */
	for (uint32_t move = 0; move < 2; move++) {
		const struct peer_target target = place_object(card, kernel, seed);
		uint8_t expected[BYTES];

		memcpy(expected, original, BYTES);
		kernel->relocate(expected + PLACE, &target);
		for (uint32_t again = 0; again < 2; again++) {
			struct pb_descriptor descriptor = card_descriptor(card, 0, BYTES, 1, count);

			descriptor.flags = PB_FLAG_NULL_RENDERING;
			card_equal(kernel->name, card_execute(card, 0, &descriptor).status, PB_ERROR_OK);
			assert_memory_equal(dma, expected, BYTES);
		}
	}
}

static void test_peers(void **state)
{
	struct card card;
	uint32_t seed = 11;

	(void)state;
	card_start(&card);
	for (uint32_t k = 0; k < PEER_KERNELS; k++) {
		for (uint32_t round = 0; round < ROUNDS; round++)
			check_kernel(&card, &peer_kernels[k], &seed);
	}
	card_stop(&card);
}

/* An addend that leaves the object is refused, where the peers left that to other checks or to none. */
static void addends_that_leave_the_object_are_refused(void **state)
{
	struct card card;
	uint32_t fence = 0;

	(void)state;
	card_start(&card);
	for (uint32_t k = 0; k < PEER_KERNELS; k++) {
		const struct peer_kernel *kernel = &peer_kernels[k];
		const bool pointer = kernel->kind == PB_LIFT_VMWGFX_POINTER;
		uint8_t commands[BYTES] = {0};
		struct pb_patch_location entries[PB_LIFT_ENTRIES_MAX];
		struct pb_descriptor descriptor;
		uint32_t count;

		peer_put32(commands + PLACE + (pointer ? 4 : 0),
			   kernel->kind == PB_LIFT_RADEON_BASE ? OBJECT >> 8 : OBJECT);
		card_allocation(&card, 0, 0, OBJECT, CARD_SEGMENT(3));
		assert_int_equal(pb_lift(kernel->kind, 0, commands, BYTES, PLACE, entries, &count),
				 PB_ERROR_OK);
		for (uint32_t i = 0; i < count; i++)
			card_patch(&card, i, &entries[i]);
		descriptor = card_descriptor(&card, 0, BYTES, 1, count);
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		descriptor.fence_id = ++fence;
		card_equal(kernel->name, card_execute(&card, 0, &descriptor).status, PB_ERROR_PATCH_OFFSET);
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_stop(&card);
}

UNIT_SUITE(test_lift_sim)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_peers),
		cmocka_unit_test(addends_that_leave_the_object_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
