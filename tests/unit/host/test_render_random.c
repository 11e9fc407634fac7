/* SPDX-License-Identifier: MIT */
/*
 * Random command buffers, most of them spoilt, through outputs of random size.
 * Every input and output is a piece of memory of its own, exactly as long as
 * Render is told. What Render accepts, the firmware and the engine have to
 * accept, too. The seed is fixed: a failure comes again.
 */
#include <stdlib.h>
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/host/render_bench.h"
#include "tests/unit/host/render_world.h"

#define CALLS         20000u
#define LOCATIONS_MAX 64u
#define ROWS_MAX      256u

static struct world world;
static uint32_t executed; /* without a fault */
static uint32_t compared;

struct call {
	bool kernel;
	bool list_spoilt;
	struct pb_render_user_allocation list[WORLD_LIST];
	struct pb_patch_location locations[LOCATIONS_MAX];
	uint32_t location_count;
	uint32_t length; /* of the command buffer in bytes */
	struct pb_render_arguments arguments;
	struct pb_render_output before; /* where the outputs begin */
};

static uint32_t below(uint32_t bound)
{
	return world_random(&world, bound);
}

static uint32_t interesting(void)
{
	static const uint32_t values[] = {0,
					  1,
					  3,
					  4,
					  5,
					  6,
					  0x7fffffff,
					  0x80000000,
					  0xfffffffc,
					  0xffffffff,
					  WORLD_BYTES,
					  WORLD_BYTES - 4,
					  WORLD_BYTES + 4,
					  4096,
					  0x01000005,
					  0x02000006,
					  0x03000009,
					  0x12000004,
					  0x20000004,
					  0x21000002,
					  0x30000001,
					  0x31000001,
					  0x32000002,
					  0x04000001,
					  0x00ffffff};

	return values[below(sizeof(values) / sizeof(values[0]))];
}

/* ---- the input ---- */

static void add_draw(void)
{
	const uint32_t words[] = {0x10000006, 3, 4 * below(64), 1 + below(8), 1 + below(8), 32 + 4 * below(8),
				  0x11000006, 1, 4 * below(64), 1 + below(8), 1 + below(8), 32 + 4 * below(8),
				  0x12000004, 4, 4 * below(64), 3 * below(9)};

	memcpy(&world.words[world.count], words, sizeof(words));
	world.count += sizeof(words) / 4;
}

static void make_commands(void)
{
	const uint32_t commands = below(10);

	world.count = 0;
	for (uint32_t i = 0; i < commands; i++) {
		if (below(5) == 0)
			add_draw();
		else
			world_add_random(&world);
	}
}

/* Words of an address, by opcode: 0 ends the row. Bit 7: it is written to. */
#define TO 0x80u
static const uint8_t addresses[256][3] = {
	[0x01] = {1 | TO}, [0x02] = {1, 3 | TO}, [0x03] = {1, 4 | TO}, [0x10] = {1 | TO},
	[0x11] = {1},      [0x12] = {1},         [0x20] = {1},
};
static const uint8_t lengths[256] = {
	[0x01] = 5, [0x02] = 6, [0x03] = 9, [0x10] = 6, [0x11] = 6,
	[0x12] = 4, [0x20] = 4, [0x30] = 1, [0x31] = 1, [0x32] = 2,
};

/* A patch list as a user would write it, with some addresses left out. */
static void make_locations(struct call *call)
{
	call->location_count = 0;
	for (uint32_t at = 0; at < world.count; at += world.words[at] & 0xffffff) {
		const uint8_t *place = addresses[world.words[at] >> 24];

		for (; *place != 0 && call->location_count < LOCATIONS_MAX; place++) {
			const uint32_t word = at + (*place & 0x7fu);

			if (below(4) == 0)
				continue;
			call->locations[call->location_count++] = (struct pb_patch_location){
				.allocation_index = world.words[word],
				.slot = below(1u << 24),
				.driver_id = (*place & TO) != 0 ? 3 : 1,
				.allocation_offset = world.words[word + 1],
				.patch_offset = 4 * word,
				.split_offset = below(4 * word + 1),
			};
		}
	}
}

static void spoil_word(uint32_t *word)
{
	switch (below(3)) {
	case 0:
		*word ^= 1u << below(32);
		break;
	case 1:
		*word = interesting();
		break;
	default:
		*word += below(9) - 4;
		break;
	}
}

static void spoil(struct call *call)
{
	switch (below(8)) {
	case 0:
		call->length = below(call->length + 1);
		break;
	case 1:
		spoil_word((uint32_t *)(void *)call->list + below(2 * WORLD_LIST));
		call->list_spoilt = true;
		break;
	case 2:
		if (call->location_count != 0)
			spoil_word((uint32_t *)(void *)call->locations + below(6 * call->location_count));
		break;
	default:
		if (world.count != 0)
			spoil_word(&world.words[below(world.count)]);
		break;
	}
}

/* ---- a call ---- */

static void *exactly(const void *from, uint32_t bytes)
{
	void *memory = malloc(bytes == 0 ? 1 : bytes);

	assert_non_null(memory);
	if (from != NULL)
		memcpy(memory, from, bytes);
	return memory;
}

static uint32_t capacity(uint32_t enough)
{
	return below(3) == 0 ? below(enough + 1) : enough;
}

static void make_outputs(struct pb_render_output *output)
{
	output->dma_size = capacity(1024);
	output->private_data_size = below(16) == 0 ? below(40) : 36;
	output->allocations_size = below(16) == 0 ? below(WORLD_LIST) : WORLD_LIST;
	output->locations_size = capacity(LOCATIONS_MAX);
	output->dma_buffer = exactly(NULL, output->dma_size);
	output->private_data = exactly(NULL, output->private_data_size);
	output->allocations =
		exactly(NULL, output->allocations_size * (uint32_t)sizeof(struct pb_allocation));
	output->locations =
		exactly(NULL, output->locations_size * (uint32_t)sizeof(struct pb_patch_location));
}

static void make_call(struct call *call)
{
	struct pb_render_arguments *arguments = &call->arguments;
	uint32_t spoils;

	memset(call, 0, sizeof(*call));
	call->kernel = below(4) == 0;
	memcpy(call->list, world.list, sizeof(call->list));
	make_commands();
	if (below(2) == 0)
		make_locations(call);
	call->length = 4 * world.count;
	for (spoils = below(4); spoils != 0; spoils--)
		spoil(call);
	for (uint32_t n = 1; n < WORLD_LIST; n++)
		world.paged_out[n] = below(4) == 0;
	*arguments = (struct pb_render_arguments){
		.device = &world.device,
		.command = exactly(world.words, call->length),
		.command_length = call->length,
		.user_allocations = exactly(call->list, sizeof(call->list)),
		.user_allocation_count = WORLD_LIST,
		.user_locations = exactly(call->locations, call->location_count * 24),
		.user_location_count = call->location_count,
		.multipass_offset = below(6) == 0 ? below(call->length + 5) : 0,
	};
	arguments->staging_size = (uint32_t)pb_render_staging_bytes(
		call->kernel ? 0 : call->length, WORLD_LIST, call->kernel ? 0 : call->location_count);
	if (below(32) == 0)
		arguments->staging_size = below(arguments->staging_size + 1);
	arguments->staging = exactly(NULL, arguments->staging_size);
	make_outputs(&arguments->output);
	call->before = arguments->output;
}

static void free_call(struct call *call)
{
	/* The inputs are ours, so that taking const away is, too. */
	free((void *)(uintptr_t)call->arguments.command);
	free((void *)(uintptr_t)call->arguments.user_allocations);
	free((void *)(uintptr_t)call->arguments.user_locations);
	free(call->arguments.staging);
	free(call->before.dma_buffer);
	free(call->before.private_data);
	free(call->before.allocations);
	free(call->before.locations);
}

/* ---- what came out ---- */

static void check_location(const struct call *call, const struct pb_patch_location *location,
			   uint32_t patch_offset, bool write)
{
	const struct pb_render_user_allocation *user = &call->list[location->allocation_index % WORLD_LIST];

	assert_true(location->allocation_index < WORLD_LIST);
	assert_true(location->slot < PB_RENDER_SLOTS);
	assert_int_equal(location->driver_id, write ? 3 : 1);
	assert_true(location->allocation_offset < WORLD_BYTES);
	assert_int_equal(location->patch_offset, patch_offset);
	assert_true(location->split_offset < patch_offset);
	assert_true(user->handle != 0 && (!write || user->flags == PB_RENDER_USER_WRITE));
}

/** Packets of known length, and exactly one location for each address, in order. */
static void check_output(const struct call *call)
{
	const struct pb_render_record *record = &call->arguments.output.record;
	const uint32_t *words = call->before.dma_buffer;
	uint32_t location = 0;
	uint32_t at = 0;

	assert_true(record->dma_bytes <= call->before.dma_size);
	assert_true(record->patch_count <= call->before.locations_size);
	assert_ptr_equal(call->arguments.output.dma_buffer, words + record->dma_bytes / 4);
	assert_ptr_equal(call->arguments.output.locations, call->before.locations + record->patch_count);
	assert_ptr_equal(call->arguments.output.allocations, call->before.allocations + WORLD_LIST);
	assert_ptr_equal(call->arguments.output.private_data, call->before.private_data + 9);
	while (at < record->dma_bytes / 4) {
		const uint32_t opcode = words[at] >> 24;

		assert_true(lengths[opcode] != 0 && lengths[opcode] == (words[at] & 0xffffff));
		assert_true(call->kernel || opcode < 0x20);
		for (const uint8_t *place = addresses[opcode]; *place != 0; place++) {
			assert_true(location < record->patch_count);
			check_location(call, &call->before.locations[location++], 4 * (at + (*place & 0x7fu)),
				       (*place & TO) != 0);
		}
		at += lengths[opcode];
	}
	assert_int_equal(at, record->dma_bytes / 4);
	assert_int_equal(location, record->patch_count);
}

/** What the DMA buffer holds that makes a difference when it is run. */
struct contents {
	bool draws;
	bool long_copies; /* too long for a test */
};

static struct contents look_into(const struct call *call)
{
	const uint32_t *words = call->before.dma_buffer;
	struct contents contents = {false, false};

	for (uint32_t at = 0; at < call->arguments.output.record.dma_bytes / 4; at += words[at] & 0xffffff) {
		const uint32_t opcode = words[at] >> 24;

		contents.draws = contents.draws || opcode == 0x12;
		contents.long_copies = contents.long_copies || (opcode == 3 && words[at + 8] > ROWS_MAX);
	}
	return contents;
}

static void put_on_card(const struct call *call)
{
	const struct pb_render_record *record = &call->arguments.output.record;

	memcpy(card_dma(&world.card, 0), call->before.dma_buffer, record->dma_bytes);
	memcpy(card_bytes(&world.card, 0, CARD_ALLOCATIONS), call->before.allocations,
	       WORLD_LIST * sizeof(struct pb_allocation));
	memcpy(card_bytes(&world.card, 0, CARD_PATCHES), call->before.locations,
	       record->patch_count * sizeof(struct pb_patch_location));
	world.arguments.output.record = *record;
}

static void know_memory(void)
{
	for (uint32_t n = 1; n < WORLD_LIST; n++)
		memcpy(world.model[n], world_memory(&world, n), WORLD_BYTES);
}

/** Runs an accepted buffer of a user. What it draws may fault by the contents of its vertices, nothing else may. */
static void execute(const struct call *call, bool whole)
{
	const struct contents contents = look_into(call);
	struct pb_descriptor descriptor;
	enum pb_error error;

	if (contents.long_copies)
		return;
	put_on_card(call);
	know_memory();
	if (!call->list_spoilt)
		world_page_in(&world);
	descriptor = world_descriptor(&world);
	error = world_execute(&world, 0, &descriptor);
	if (error == PB_ERROR_OK) {
		executed++;
		if (whole && !contents.draws) {
			compared++;
			world_model_run(&world);
			world_compare(&world, "random");
		}
		return;
	}
	assert_true(contents.draws && error == PB_ERROR_ENGINE_FAULT);
	assert_int_equal(pb_context_clear(&world.card.channel, world.card.context), PB_ERROR_OK);
}

/** Whether the model can tell what the whole call means: commands for memory only, all of them, as they were made. */
static bool modelled(const struct call *call, enum pb_render_status status)
{
	if (status != PB_RENDER_SUCCESS || call->arguments.output.record.command_start != 0 ||
	    call->list_spoilt || call->length != 4 * world.count)
		return false;
	for (uint32_t at = 0; at < world.count; at += world.words[at] & 0xffffff) {
		if (world.words[at] >> 24 > 3)
			return false;
	}
	return true;
}

static void check_call(const struct call *call, enum pb_render_status status)
{
	const struct pb_render_output *output = &call->arguments.output;
	const bool accepted = status == PB_RENDER_SUCCESS ||
			      (status == PB_RENDER_INSUFFICIENT_DMA_BUFFER && output->record.magic != 0);
	bool resident = true;

	assert_true(status <= PB_RENDER_INVALID_HANDLE);
	if (!accepted) {
		assert_memory_equal(output, &call->before, sizeof(*output));
		return;
	}
	check_output(call);
	for (uint32_t n = 1; n < WORLD_LIST; n++)
		resident = resident && !world.paged_out[n];
	/* An allocation list that is not the world's cannot be paged in by it. */
	if (!call->kernel && (resident || !call->list_spoilt))
		execute(call, modelled(call, status));
}

static void random_calls_match_the_model(void **state)
{
	uint32_t counts[8] = {0};

	(void)state;
	world_start(&world);
	world_scramble(&world);
	for (uint32_t i = 0; i < CALLS; i++) {
		struct call call;
		enum pb_render_status status;

		make_call(&call);
		status = call.kernel ? pb_render_km(&call.arguments) : pb_render(&call.arguments);
		check_call(&call, status);
		counts[status]++;
		free_call(&call);
	}
	for (uint32_t status = 0; status < 8; status++) {
		print_message("%s: %u\n", pb_render_status_name((enum pb_render_status)status),
			      counts[status]);
		assert_true(counts[status] >= 50);
	}
	print_message("%u executed, %u compared\n", executed, compared);
	assert_true(executed >= CALLS / 10 && compared >= CALLS / 20);
	world_stop(&world);
}

UNIT_SUITE(test_render_random)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_calls_match_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
