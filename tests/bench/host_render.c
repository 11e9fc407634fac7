/* SPDX-License-Identifier: MIT */
/*
 * Render of the commands of a demo frame, with the patch list that a user-mode driver passes with them.
 */
#include "hal/engine/packets.h"
#include "host/tool/scene.h"
#include "patchbay/abi/boot.h"
#include "patchbay/render.h"
#include "tests/bench/host_bench.h"

/** The images of the scene by their own numbers, then the vertices. */
#define VERTICES    ((uint32_t)PB_SCENE_IMAGES)
#define ALLOCATIONS (VERTICES + 1u)
/** A FILL, a TARGET, and TEXTURE and DRAW for each batch: commands with one operand each. */
#define COMMANDS_MAX (2u + 2u * PB_SCENE_BATCHES_MAX)
#define WORDS_MAX    (COMMANDS_MAX * PB_PACKET_TARGET_WORDS)
/** A DRAW of the DMA buffer carries its target and texture. */
#define OUTPUT_LOCATIONS (3u * COMMANDS_MAX)
#define OUTPUT_BYTES     (COMMANDS_MAX * PB_RENDER_DMA_BYTES_MIN)

static struct {
	struct pb_scene scene;
	/* The user's. */
	uint32_t words[WORDS_MAX];
	uint32_t word_count;
	struct pb_patch_location user_locations[COMMANDS_MAX];
	uint32_t command_count;
	struct pb_render_user_allocation list[ALLOCATIONS];
	/* The driver's. */
	uint64_t staging[4096];
	uint32_t dma[OUTPUT_BYTES / sizeof(uint32_t)];
	struct pb_render_record record;
	struct pb_allocation allocations[ALLOCATIONS];
	struct pb_patch_location locations[OUTPUT_LOCATIONS];
} frame;

static bool is_drawn(uint32_t allocation)
{
	return allocation != VERTICES && pb_scene_images[allocation].source == PB_SCENE_DRAWN;
}

static uint32_t bytes_of(uint32_t allocation)
{
	return allocation == VERTICES
		       ? (uint32_t)sizeof(frame.scene.vertices)
		       : pb_scene_images[allocation].width * pb_scene_images[allocation].height * 4u;
}

/** All are resident, at separate addresses. */
static bool find(void *context, uint32_t handle, struct pb_render_allocation *allocation)
{
	(void)context;
	if (handle > ALLOCATIONS)
		return false;
	*allocation = (struct pb_render_allocation){
		.size = bytes_of(handle - 1u),
		.os_address = UINT64_C(0x800000000) + ((uint64_t)handle << 20),
		.gpu_address = UINT64_C(0x1f0000000) + ((uint64_t)handle << 20),
		.segment = 1,
	};
	return true;
}

static void add(uint32_t word)
{
	frame.words[frame.word_count++] = word;
}

/** Header and operand of a command, and the user's patch location for it. */
static void add_command(uint32_t opcode, uint32_t words, uint32_t allocation, uint32_t offset, bool write)
{
	add(PB_PACKET(opcode, words));
	frame.user_locations[frame.command_count++] = (struct pb_patch_location){
		.allocation_index = allocation,
		.driver_id = write ? PB_PATCH_FORMAT_ADDRESS64_WRITE : PB_PATCH_FORMAT_ADDRESS64,
		.allocation_offset = offset,
		.patch_offset = frame.word_count * (uint32_t)sizeof(uint32_t),
	};
	add(allocation);
	add(offset);
}

static void add_image(uint32_t opcode, enum pb_scene_image image)
{
	const struct pb_scene_image_info *info = &pb_scene_images[image];

	add_command(opcode, PB_PACKET_TARGET_WORDS, image, 0, opcode == PB_PACKET_TARGET);
	add(info->width);
	add(info->height);
	add(info->width * 4u);
}

/** The commands that user mode writes for a pass. */
static void write_commands(const struct pb_scene_pass *pass)
{
	add_command(PB_PACKET_FILL, PB_PACKET_FILL_WORDS, pass->target, 0, true);
	add(bytes_of(pass->target));
	add(pass->clear);
	add_image(PB_PACKET_TARGET, pass->target);
	for (uint32_t i = pass->first; i < pass->first + pass->count; i++) {
		const struct pb_scene_batch *batch = &frame.scene.batches[i];

		add_image(PB_PACKET_TEXTURE, batch->texture);
		add_command(PB_PACKET_DRAW, PB_PACKET_DRAW_WORDS, VERTICES,
			    batch->first * (uint32_t)sizeof(struct pb_vertex), false);
		add(batch->count);
	}
}

static void write_frame(void)
{
	pb_scene_make(&frame.scene, 0);
	write_commands(&frame.scene.passes[PB_SCENE_PASSES - 1u]);
	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		frame.list[i] = (struct pb_render_user_allocation){
			.handle = i + 1u, .flags = is_drawn(i) ? PB_RENDER_USER_WRITE : 0};
}

static struct pb_render_arguments arguments_of(const struct pb_render_device *device)
{
	return (struct pb_render_arguments){
		.device = device,
		.staging = frame.staging,
		.staging_size = sizeof(frame.staging),
		.command = frame.words,
		.command_length = frame.word_count * (uint32_t)sizeof(uint32_t),
		.user_allocations = frame.list,
		.user_allocation_count = ALLOCATIONS,
		.user_locations = frame.user_locations,
		.user_location_count = frame.command_count,
		.output = {.dma_buffer = frame.dma,
			   .dma_size = sizeof(frame.dma),
			   .private_data = (void *)&frame.record,
			   .private_data_size = sizeof(frame.record),
			   .allocations = frame.allocations,
			   .allocations_size = ALLOCATIONS,
			   .locations = frame.locations,
			   .locations_size = OUTPUT_LOCATIONS},
	};
}

uint32_t pb_host_bench_render(uint64_t *times, uint32_t repeats)
{
	const struct pb_render_device device = {.find = find, .node = PB_NODE_3D};
	uint32_t draws;

	write_frame();
	draws = (frame.command_count - 2u) / 2u;
	for (uint32_t i = 0; i < repeats; i++) {
		struct pb_render_arguments arguments = arguments_of(&device);
		const uint64_t start = pb_host_bench_now_ns();
		const enum pb_render_status status = pb_render(&arguments);

		times[i] = pb_host_bench_now_ns() - start;
		pb_host_bench_require(status == PB_RENDER_SUCCESS, pb_render_status_name(status));
		pb_host_bench_require(frame.record.patch_count == 1u + 3u * draws &&
					      frame.record.unresolved_count == 0,
				      "the DMA buffer is not that of the frame");
	}
	return frame.command_count;
}
