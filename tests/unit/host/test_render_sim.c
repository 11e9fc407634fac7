/* SPDX-License-Identifier: MIT */
/* Rendered buffers on the simulated card: memory is afterwards as the commands say. */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "patchbay/compact.h"
#include "tests/unit/host/render_bench.h"
#include "tests/unit/host/render_world.h"

#define BUFFERS  60u
#define COMMANDS 40u
#define NODE_3D  0u

/* Where compact lists stand in segment 0. */
#define WORDS_PLACE (CARD_PATCHES + 0x20000u)
#define WORDS_ROOM  4096u

static void random_commands(struct world *world)
{
	world->count = 0;
	for (uint32_t i = 0; i < COMMANDS; i++)
		world_add_random(world);
}

static void page_out_some(struct world *world)
{
	for (uint32_t n = 1; n < WORLD_LIST; n++)
		world->paged_out[n] = world_random(world, 2) == 0;
}

/* Entries of the patch list that Render left, as words behind `used`. @return words in all then */
static uint32_t compact_part(const struct world *world, uint32_t first, uint32_t count, uint32_t used)
{
	static struct pb_patch_location list[1024];
	uint32_t *words = (uint32_t *)(void *)card_bytes(&world->card, 0, WORDS_PLACE);
	uint32_t more, taken;

	memcpy(list, card_bytes(&world->card, 0, CARD_PATCHES), sizeof(list));
	assert_int_equal(
		pb_compact_encode(&list[first], count, words + used, WORDS_ROOM - used, &more, &taken),
		PB_ERROR_OK);
	return used + more;
}

/* Lets a descriptor name the compact list of this many words. */
static void use_compact(struct pb_descriptor *descriptor, uint32_t words)
{
	descriptor->patch_encoding = PB_PATCH_ENCODING_COMPACT;
	descriptor->patch_address_low = (uint32_t)CARD_SYSTEM_OS + WORDS_PLACE;
	descriptor->patch_count = words;
	descriptor->patch_length = words;
}

/* Patched by the firmware, whatever was known before, from a list in this encoding. */
static void patched(enum pb_patch_encoding encoding)
{
	static struct world world;

	world_start(&world);
	for (uint32_t i = 0; i < BUFFERS; i++) {
		struct pb_descriptor descriptor;

		random_commands(&world);
		world_scramble(&world);
		page_out_some(&world);
		world_model_run(&world);
		world_arguments(&world);
		render_expect("patched", pb_render(&world.arguments), PB_RENDER_SUCCESS);
		world_page_in(&world);
		descriptor = world_descriptor(&world);
		if (encoding == PB_PATCH_ENCODING_COMPACT)
			use_compact(&descriptor, compact_part(&world, 0, descriptor.patch_count, 0));
		assert_int_equal(world_execute(&world, i % 2, &descriptor), PB_ERROR_OK);
		world_compare(&world, "patched");
	}
	world_stop(&world);
}

static void rendered_lists_are_patched(void **state)
{
	(void)state;
	patched(PB_PATCH_ENCODING_WDDM);
}

static void rendered_compact_lists_are_patched(void **state)
{
	(void)state;
	patched(PB_PATCH_ENCODING_COMPACT);
}

/* All addresses known: runs as it is, with nothing patched. */
static void known_addresses_run_without_a_patch(void **state)
{
	static struct world world;

	(void)state;
	world_start(&world);
	for (uint32_t i = 0; i < BUFFERS; i++) {
		struct pb_descriptor descriptor;

		random_commands(&world);
		world_scramble(&world);
		world_model_run(&world);
		world_arguments(&world);
		render_expect("as it is", pb_render(&world.arguments), PB_RENDER_SUCCESS);
		assert_int_equal(world.arguments.output.record.unresolved_count, 0);
		descriptor = world_descriptor(&world);
		descriptor.patch_length = 0;
		assert_int_equal(world_execute(&world, i % 2, &descriptor), PB_ERROR_OK);
		world_compare(&world, "as it is");
	}
	world_stop(&world);
}

/* A poisoned buffer that is not patched does no harm: it faults, and writes nothing. */
static void a_poisoned_buffer_faults_and_writes_nothing(void **state)
{
	static const uint32_t fill[] = {0x01000005, 1, 0, 64, 1};
	static struct world world;
	struct pb_descriptor descriptor;

	(void)state;
	world_start(&world);
	world_scramble(&world);
	memcpy(world.words, fill, sizeof(fill));
	world.count = 5;
	world.paged_out[1] = true;
	world_arguments(&world);
	render_expect("poison", pb_render(&world.arguments), PB_RENDER_SUCCESS);
	descriptor = world_descriptor(&world);
	descriptor.patch_length = 0;
	assert_int_equal(world_execute(&world, NODE_3D, &descriptor), PB_ERROR_ENGINE_FAULT);
	world_compare(&world, "poison");
	world_stop(&world);
}

/* Not paged in before the submission: the firmware says so. */
static void allocations_that_are_not_resident_are_refused(void **state)
{
	static const uint32_t fill[] = {0x01000005, 1, 0, 64, 1};
	static struct world world;
	struct pb_descriptor descriptor;

	(void)state;
	world_start(&world);
	memcpy(world.words, fill, sizeof(fill));
	world.count = 5;
	world.paged_out[2] = true;
	world_arguments(&world);
	render_expect("not resident", pb_render(&world.arguments), PB_RENDER_SUCCESS);
	descriptor = world_descriptor(&world);
	assert_int_equal(world_execute(&world, NODE_3D, &descriptor), PB_ERROR_NOT_RESIDENT);
	world_stop(&world);
}

/* Pre-patched, then everything moves: the patch list names every address. */
static void everything_may_move_after_rendering(void **state)
{
	static struct world world;

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		struct pb_descriptor descriptor;

		world_start(&world);
		world.seed += i;
		random_commands(&world);
		world_scramble(&world);
		world_arguments(&world);
		render_expect("moved", pb_render(&world.arguments), PB_RENDER_SUCCESS);
		world_move(&world);
		world_model_run(&world);
		world_page_in(&world);
		descriptor = world_descriptor(&world);
		assert_int_equal(world_execute(&world, NODE_3D, &descriptor), PB_ERROR_OK);
		world_compare(&world, "moved");
		world_stop(&world);
	}
}

/* Tiny outputs, each pass submitted by itself. */
static void each_pass_is_a_submission(void **state)
{
	static struct world world;
	uint32_t passes = 0;

	(void)state;
	world_start(&world);
	for (uint32_t i = 0; i < BUFFERS / 3; i++) {
		enum pb_render_status status;

		random_commands(&world);
		world_scramble(&world);
		page_out_some(&world);
		world_model_run(&world);
		world_arguments(&world);
		do {
			struct pb_descriptor descriptor;

			world_outputs(&world, 64 + world_random(&world, 120), 3 + world_random(&world, 6));
			status = pb_render(&world.arguments);
			world_page_in(&world);
			descriptor = world_descriptor(&world);
			assert_int_equal(world_execute(&world, NODE_3D, &descriptor), PB_ERROR_OK);
			passes++;
		} while (status == PB_RENDER_INSUFFICIENT_DMA_BUFFER);
		render_expect("passes", status, PB_RENDER_SUCCESS);
		world_compare(&world, "passes");
	}
	assert_true(passes > BUFFERS);
	world_stop(&world);
}

/* ---- triangles: two of them make a square whose pixels are the texels ---- */

#define SIDE 8u

static void put_square(struct world *world)
{
	const int32_t p = (int32_t)SIDE * 16;
	const int32_t t = (int32_t)SIDE * 256;
	const struct pb_vertex vertices[6] = {{0, 0, 0, 0}, {p, 0, t, 0}, {0, p, 0, t},
					      {p, 0, t, 0}, {p, p, t, t}, {0, p, 0, t}};

	memcpy(&world->model[4][8], vertices, sizeof(vertices));
	memcpy(world_memory(world, 4) + 8, vertices, sizeof(vertices));
}

/* Texture 1 at 64 into target 2 at 128, then 3 at 0 into the same; a FILL of another in between. */
static const uint32_t draws[] = {
	0x10000006, 2, 128,  SIDE, SIDE,       48, /* */
	0x11000006, 1, 64,   SIDE, SIDE,       32, /* */
	0x12000004, 4, 32,   6,                    /* */
	0x01000005, 5, 0,    64,   0x12345678,     /* */
	0x10000006, 3, 512,  SIDE, SIDE,       32, /* */
	0x12000004, 4, 32,   6,                    /* */
	0x11000006, 2, 128,  SIDE, SIDE,       48, /* */
	0x10000006, 1, 1024, SIDE, SIDE,       64, /* */
	0x12000004, 4, 32,   6,
};

static void model_square(struct world *world, uint32_t from, uint32_t from_place, uint32_t from_pitch,
			 uint32_t to, uint32_t to_place, uint32_t to_pitch)
{
	for (uint32_t y = 0; y < SIDE; y++)
		memcpy(&world->model[to][(to_place + y * to_pitch) / 4],
		       &world->model[from][(from_place + y * from_pitch) / 4], 4 * SIDE);
}

static void start_draws(struct world *world)
{
	world_start(world);
	world_scramble(world);
	put_square(world);
	memcpy(world->words, draws, sizeof(draws));
	world->count = sizeof(draws) / 4;
	model_square(world, 1, 64, 32, 2, 128, 48);
	model_square(world, 1, 64, 32, 3, 512, 32);
	model_square(world, 2, 128, 48, 1, 1024, 64);
	for (uint32_t i = 0; i < 16; i++)
		world->model[5][i] = 0x12345678;
	world_arguments(world);
}

static void test_draws(void **state)
{
	static struct world world;
	struct pb_descriptor descriptor;

	(void)state;
	start_draws(&world);
	world.paged_out[2] = true;
	render_expect("draws", pb_render(&world.arguments), PB_RENDER_SUCCESS);
	world_page_in(&world);
	descriptor = world_descriptor(&world);
	assert_int_equal(world_execute(&world, NODE_3D, &descriptor), PB_ERROR_OK);
	world_compare(&world, "draws");
	world_stop(&world);
}

/*
 * Each part between two SplitOffsets as a submission of its own: none needs
 * what an earlier one has set. A compact list is encoded part by part.
 */
static void split(enum pb_patch_encoding encoding)
{
	static struct world world;
	struct pb_patch_location locations[16];
	struct pb_descriptor whole;
	uint32_t first = 0;
	uint32_t parts = 0;
	uint32_t words = 0;

	start_draws(&world);
	render_expect("split", pb_render(&world.arguments), PB_RENDER_SUCCESS);
	memcpy(locations, card_bytes(&world.card, 0, CARD_PATCHES), sizeof(locations));
	whole = world_descriptor(&world);
	assert_int_equal(whole.patch_count, 10);
	while (first != whole.patch_count) {
		struct pb_descriptor part = whole;
		uint32_t next = first;

		while (next != whole.patch_count &&
		       locations[next].split_offset == locations[first].split_offset)
			next++;
		part.dma_start = locations[first].split_offset;
		part.dma_end = next == whole.patch_count ? whole.dma_end : locations[next].split_offset;
		part.patch_start = first;
		part.patch_length = next - first;
		if (encoding == PB_PATCH_ENCODING_COMPACT) {
			const uint32_t start = words;

			words = compact_part(&world, first, next - first, start);
			use_compact(&part, words);
			part.patch_start = start;
			part.patch_length = words - start;
		}
		assert_int_equal(world_execute(&world, NODE_3D, &part), PB_ERROR_OK);
		first = next;
		parts++;
	}
	assert_int_equal(parts, 4);
	world_compare(&world, "split");
	world_stop(&world);
}

static void buffers_may_be_split(void **state)
{
	(void)state;
	split(PB_PATCH_ENCODING_WDDM);
}

static void buffers_with_compact_lists_may_be_split(void **state)
{
	(void)state;
	split(PB_PATCH_ENCODING_COMPACT);
}

static void test_draws_in_passes(void **state)
{
	static struct world world;
	enum pb_render_status status;
	uint32_t passes = 0;

	(void)state;
	start_draws(&world);
	do {
		struct pb_descriptor descriptor;

		world_outputs(&world, PB_RENDER_DMA_BYTES_MIN, PB_RENDER_PATCHES_MIN);
		status = pb_render(&world.arguments);
		descriptor = world_descriptor(&world);
		assert_int_equal(world_execute(&world, NODE_3D, &descriptor), PB_ERROR_OK);
		passes++;
	} while (status == PB_RENDER_INSUFFICIENT_DMA_BUFFER);
	render_expect("draws", status, PB_RENDER_SUCCESS);
	assert_int_equal(passes, 4);
	world_compare(&world, "draws in passes");
	world_stop(&world);
}

/* ---- the kernel's own, and present ---- */

/* A buffer of packets in allocation 1, by its GPU addresses: it fills the start of allocation 2. */
static void test_indirect(void **state)
{
	static const uint32_t indirect[] = {0x32000002, 20, 0x20000004, 1, 16, 20};
	static struct world world;
	struct pb_descriptor descriptor;
	uint32_t packet[5];

	(void)state;
	world_start(&world);
	world_scramble(&world);
	card_fill(packet, CARD_VIDEO_GPU + 0x2000, 8, 0xabcdef01);
	memcpy(&world.model[1][4], packet, sizeof(packet));
	memcpy(world_memory(&world, 1) + 4, packet, sizeof(packet));
	world.model[2][0] = world.model[2][1] = 0xabcdef01;
	memcpy(world.words, indirect, sizeof(indirect));
	world.count = 6;
	world_arguments(&world);
	render_expect("user", pb_render(&world.arguments), PB_RENDER_PRIVILEGED_INSTRUCTION);
	render_expect("kernel", pb_render_km(&world.arguments), PB_RENDER_SUCCESS);
	descriptor = world_descriptor(&world);
	assert_int_equal(world_execute(&world, NODE_3D, &descriptor), PB_ERROR_OK);
	world_compare(&world, "indirect");
	world_stop(&world);
}

static void test_present(void **state)
{
	static struct world world;
	struct pb_render_present present;
	struct pb_descriptor descriptor;

	(void)state;
	world_start(&world);
	world_scramble(&world);
	world_arguments(&world);
	world.paged_out[5] = true;
	present = (struct pb_render_present){
		.device = &world.device,
		.source = {.handle = 4, .pitch = 64, .left = 3, .top = 2},
		.destination = {.handle = 5, .pitch = 128, .left = 20, .top = 1},
		.width = 11,
		.height = 7,
		.output = world.arguments.output,
	};
	render_expect("present", pb_render_present(&present), PB_RENDER_SUCCESS);
	world.arguments.output = present.output;
	for (uint32_t y = 0; y < 7; y++)
		memcpy(&world.model[5][(1 + y) * 32 + 20], &world.model[4][(2 + y) * 16 + 3], 44);
	card_allocation(&world.card, 2, CARD_EDGE_OS + 0xfc00, WORLD_BYTES,
			CARD_SEGMENT(2) | PB_ALLOCATION_WRITE);
	descriptor = world_descriptor(&world);
	assert_int_equal(descriptor.flags, PB_FLAG_PRESENT);
	assert_int_equal(descriptor.allocation_count, 3);
	assert_int_equal(world_execute(&world, 1, &descriptor), PB_ERROR_OK);
	world_compare(&world, "present");
	world_stop(&world);
}

UNIT_SUITE(test_render_sim)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rendered_compact_lists_are_patched),
		cmocka_unit_test(buffers_with_compact_lists_may_be_split),
		cmocka_unit_test(rendered_lists_are_patched),
		cmocka_unit_test(known_addresses_run_without_a_patch),
		cmocka_unit_test(a_poisoned_buffer_faults_and_writes_nothing),
		cmocka_unit_test(allocations_that_are_not_resident_are_refused),
		cmocka_unit_test(everything_may_move_after_rendering),
		cmocka_unit_test(each_pass_is_a_submission),
		cmocka_unit_test(test_draws),
		cmocka_unit_test(buffers_may_be_split),
		cmocka_unit_test(test_draws_in_passes),
		cmocka_unit_test(test_indirect),
		cmocka_unit_test(test_present),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
