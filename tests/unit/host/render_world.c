/* SPDX-License-Identifier: MIT */
#include "tests/unit/host/render_world.h"

#include <string.h>

#include "patchbay/abi/boot.h"

#define PRIVATE_PLACE 0x280000u
#define MOVE          0x8000u
#define OLD_PATTERN   0x0d0d0d0du

/* Byte offset of an allocation in its segment; 5 lies across 4 GiB for the engine. */
static const struct {
	uint32_t segment;
	uint32_t offset;
} places[WORLD_LIST] = {{0, 0}, {1, 0x100}, {1, 0x2000}, {2, 0x3000}, {2, 0x4000}, {2, 0xfc00}};

static uint64_t os_base(uint32_t segment)
{
	return segment == 1 ? CARD_VIDEO_OS : CARD_EDGE_OS;
}

static uint64_t gpu_base(uint32_t segment)
{
	return segment == 1 ? CARD_VIDEO_GPU : CARD_EDGE_GPU;
}

static uint32_t place(const struct world *world, uint32_t number)
{
	return places[number].offset + world->shift;
}

static bool find(void *context, uint32_t handle, struct pb_render_allocation *allocation)
{
	const struct world *world = context;

	if (handle >= WORLD_LIST)
		return false;
	*allocation = (struct pb_render_allocation){
		.size = WORLD_BYTES,
		.os_address = os_base(places[handle].segment) + place(world, handle),
		.gpu_address = gpu_base(places[handle].segment) + place(world, handle),
		.segment = world->paged_out[handle] ? 0 : places[handle].segment,
	};
	return true;
}

void world_start(struct world *world)
{
	memset(world, 0, sizeof(*world));
	card_start(&world->card);
	world->seed = 0x2545f491;
	world->device = (struct pb_render_device){.find = find, .context = world, .node = PB_NODE_3D};
	for (uint32_t i = 1; i < WORLD_LIST; i++)
		world->list[i] = (struct pb_render_user_allocation){i, i == 4 ? 0 : PB_RENDER_USER_WRITE};
}

void world_stop(struct world *world)
{
	card_stop(&world->card);
}

uint32_t world_random(struct world *world, uint32_t bound)
{
	world->seed ^= world->seed << 13;
	world->seed ^= world->seed >> 17;
	world->seed ^= world->seed << 5;
	return world->seed % bound;
}

uint32_t *world_memory(const struct world *world, uint32_t number)
{
	return (uint32_t *)(void *)card_bytes(&world->card, places[number].segment, place(world, number));
}

void world_scramble(struct world *world)
{
	for (uint32_t n = 1; n < WORLD_LIST; n++) {
		for (uint32_t i = 0; i < WORLD_BYTES / 4; i++)
			world->model[n][i] = world_random(world, UINT32_MAX);
		memcpy(world_memory(world, n), world->model[n], WORLD_BYTES);
	}
}

void world_move(struct world *world)
{
	for (uint32_t n = 1; n < WORLD_LIST; n++) {
		uint32_t *memory = world_memory(world, n);

		for (uint32_t i = 0; i < WORLD_BYTES / 4; i++)
			memory[i] = OLD_PATTERN;
	}
	world->shift += MOVE;
	for (uint32_t n = 1; n < WORLD_LIST; n++)
		memcpy(world_memory(world, n), world->model[n], WORLD_BYTES);
}

void world_compare(const struct world *world, const char *row)
{
	for (uint32_t n = 1; n < WORLD_LIST; n++) {
		const uint32_t *memory = world_memory(world, n);

		for (uint32_t i = 0; i < WORLD_BYTES / 4; i++) {
			if (memory[i] != world->model[n][i])
				fail_msg("%s: word %u of allocation %u is 0x%x, not 0x%x", row, i, n,
					 memory[i], world->model[n][i]);
			if (world->shift != 0 && *(memory + i - MOVE / 4) != OLD_PATTERN)
				fail_msg("%s: word %u was written where allocation %u had been", row, i, n);
		}
	}
}

/* ---- commands ---- */

static void word(struct world *world, uint32_t value)
{
	assert_true(world->count < WORLD_WORDS);
	world->words[world->count++] = value;
}

static uint32_t to_write(struct world *world)
{
	static const uint32_t writable[] = {1, 2, 3, 5};

	return writable[world_random(world, 4)];
}

static void add_rectangle(struct world *world)
{
	const uint32_t row = 4 * world_random(world, 17);
	const uint32_t rows = world_random(world, 9);
	const uint32_t pitches[2] = {row + 4 * world_random(world, 8), 4 * world_random(world, 32)};

	word(world, 0x03000009);
	for (uint32_t side = 0; side < 2; side++) {
		const uint32_t bytes = rows == 0 || row == 0 ? 4 : pitches[side] * (rows - 1) + row;

		word(world, side == 0 ? 1 + world_random(world, WORLD_LIST - 1) : to_write(world));
		word(world, 4 * world_random(world, (WORLD_BYTES - bytes) / 4 + 1));
		word(world, pitches[side]);
	}
	word(world, row);
	word(world, rows);
}

void world_add_random(struct world *world)
{
	const uint32_t bytes = 4 * world_random(world, 65);
	const uint32_t room = (WORLD_BYTES - 260) / 4;

	switch (world_random(world, 7)) {
	case 0:
		word(world, 0x00000002);
		word(world, 0x30000001);
		break;
	case 1:
	case 2:
		word(world, 0x01000005);
		word(world, to_write(world));
		word(world, 4 * world_random(world, room));
		word(world, bytes);
		word(world, world_random(world, UINT32_MAX));
		break;
	case 3:
	case 4:
		word(world, 0x02000006);
		word(world, 1 + world_random(world, WORLD_LIST - 1));
		word(world, 4 * world_random(world, room));
		word(world, to_write(world));
		word(world, 4 * world_random(world, room));
		word(world, bytes);
		break;
	default:
		add_rectangle(world);
		break;
	}
}

static void model_copy(struct world *world, const uint32_t *source, const uint32_t *destination,
		       uint32_t source_skip, uint32_t destination_skip, uint32_t bytes)
{
	memmove((uint8_t *)world->model[destination[0]] + destination[1] + destination_skip,
		(const uint8_t *)world->model[source[0]] + source[1] + source_skip, bytes);
}

static void model_command(struct world *world, const uint32_t *words)
{
	switch (words[0] >> 24) {
	case 1:
		for (uint32_t i = 0; i < words[3] / 4; i++)
			world->model[words[1]][words[2] / 4 + i] = words[4];
		break;
	case 2:
		model_copy(world, &words[1], &words[3], 0, 0, words[5]);
		break;
	case 3:
		for (uint32_t row = 0; row < words[8]; row++)
			model_copy(world, &words[1], &words[4], row * words[3], row * words[6], words[7]);
		break;
	default:
		assert_int_equal(words[0] >> 24, 0);
	}
}

void world_model_run(struct world *world)
{
	for (uint32_t at = 0; at < world->count; at += world->words[at] & 0xffffff)
		model_command(world, &world->words[at]);
}

/* ---- calls and submissions ---- */

void world_outputs(struct world *world, uint32_t dma_size, uint32_t locations_size)
{
	const struct card *card = &world->card;

	world->arguments.output = (struct pb_render_output){
		.dma_buffer = card_dma(card, 0),
		.dma_size = dma_size,
		.private_data = (uint32_t *)(void *)card_bytes(card, 0, PRIVATE_PLACE),
		.private_data_size = sizeof(struct pb_render_record),
		.allocations = (struct pb_allocation *)(void *)card_bytes(card, 0, CARD_ALLOCATIONS),
		.allocations_size = WORLD_LIST,
		.locations = (struct pb_patch_location *)(void *)card_bytes(card, 0, CARD_PATCHES),
		.locations_size = locations_size,
	};
}

void world_arguments(struct world *world)
{
	world->arguments = (struct pb_render_arguments){
		.device = &world->device,
		.staging = world->staging,
		.staging_size = sizeof(world->staging),
		.command = world->words,
		.command_length = world->count * 4,
		.user_allocations = world->list,
		.user_allocation_count = WORLD_LIST,
	};
	world_outputs(world, 4 * CARD_DMA_STRIDE, 1024);
}

void world_page_in(const struct world *world)
{
	for (uint32_t n = 1; n < WORLD_LIST; n++) {
		const uint32_t write = world->list[n].flags != 0 ? PB_ALLOCATION_WRITE : 0;

		card_allocation(&world->card, n, os_base(places[n].segment) + place(world, n), WORLD_BYTES,
				CARD_SEGMENT(places[n].segment) | write);
	}
}

struct pb_descriptor world_descriptor(const struct world *world)
{
	struct pb_descriptor descriptor = card_descriptor(&world->card, 0, 4 * CARD_DMA_STRIDE, 0, 0);

	descriptor.private_address_low = (uint32_t)CARD_SYSTEM_OS + PRIVATE_PLACE;
	descriptor.private_size = sizeof(struct pb_render_record);
	pb_render_describe(&world->arguments.output.record, &descriptor);
	return descriptor;
}

enum pb_error world_execute(struct world *world, uint32_t node, const struct pb_descriptor *descriptor)
{
	return (enum pb_error)card_execute(&world->card, node, descriptor).status;
}
