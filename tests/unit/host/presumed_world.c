/* SPDX-License-Identifier: MIT */
#include "tests/unit/host/presumed_world.h"

#include <string.h>

#define APERTURE    4u
#define APERTURE_OS UINT64_C(0x7000000000)
#define LIST_STRIDE 0x1000u
#define RECORDS     0x270000u
#define GROUPED     0x260000u
#define IDLE_BUFFER PRESUMED_BUFFERS
#define TIMEOUT_US  1000000u

uint8_t *presumed_backing(const struct presumed_world *world, uint32_t number)
{
	return card_bytes(&world->card, 0, PRESUMED_BACKINGS + number * PRESUMED_BYTES);
}

/* ---- starting ---- */

static void add_allocation(struct presumed_world *world, uint32_t number)
{
	static const uint32_t segments[][PB_RESIDENCY_PREFERRED] = {{1, 2}, {2, 1}, {APERTURE, 2}, {2}};
	struct pb_residency_request request = {
		.bytes = PRESUMED_BYTES - 0x100 * number,
		.alignment = 256,
		.backing = CARD_SYSTEM_GPU + PRESUMED_BACKINGS + number * PRESUMED_BYTES,
	};
	uint32_t handle;

	memcpy(request.segments, segments[number % 4], sizeof(request.segments));
	for (uint32_t i = 0; i < PRESUMED_BYTES; i++)
		presumed_backing(world, number)[i] = (uint8_t)(number + i * 7u);
	assert_int_equal(pb_residency_add(&world->manager, &request, &handle), PB_ERROR_OK);
	assert_int_equal(handle, number + 1);
}

void presumed_start_manager(struct presumed_world *world)
{
	struct pb_residency_setup setup = {
		.segments = world->segments,
		.segment_count = 3,
		.allocations = world->array,
		.allocation_count = PRESUMED_COUNT,
		.queues = {&world->card.queues[0]},
		.paging = &world->paging,
		.timeout_us = TIMEOUT_US,
	};
	const struct pb_segment_request request = {APERTURE, APERTURE_OS, APERTURE_OS,
						   0x10000,  0,           PB_SEGMENT_APERTURE};
	struct card *card = &world->card;

	assert_int_equal(pb_segment_create(&world->aperture, &card->channel, &request), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&world->paging, &card->channel, &card->segments[0], 1, 8),
			 PB_ERROR_OK);
	assert_int_equal(pb_memory_allocate(&card->segments[0], 4096, 4096, &setup.buffer), PB_ERROR_OK);
	world->segments[0] = (struct pb_residency_segment){1, 0, CARD_VIDEO_OS, CARD_VIDEO_GPU, 0xc000, NULL};
	world->segments[1] = (struct pb_residency_segment){2, 0, CARD_EDGE_OS, CARD_EDGE_GPU, 0x18000, NULL};
	world->segments[2] = (struct pb_residency_segment){
		APERTURE, PB_SEGMENT_APERTURE, APERTURE_OS, APERTURE_OS, 0x8000, NULL};
	assert_int_equal(pb_residency_start(&world->manager, &setup), PB_ERROR_OK);
	for (uint32_t i = 0; i < PRESUMED_COUNT; i++)
		add_allocation(world, i);
}

void presumed_start(struct presumed_world *world, bool records)
{
	memset(world, 0, sizeof(*world));
	world->records = records;
	card_start(&world->card);
	presumed_start_manager(world);
}

/* ---- buffers ---- */

static bool find_size(void *context, uint32_t handle, struct pb_render_allocation *allocation)
{
	const bool found = pb_residency_find(context, handle, allocation);

	allocation->segment = 0;
	return found;
}

struct pb_render_output presumed_output(const struct presumed_world *world, uint32_t slot)
{
	const struct card *card = &world->card;

	return (struct pb_render_output){
		.dma_buffer = card_dma(card, slot),
		.dma_size = CARD_DMA_STRIDE,
		.private_data = (uint32_t *)(void *)card_bytes(card, 0, RECORDS + 64 * slot),
		.private_data_size = 64,
		.allocations = (void *)card_bytes(card, 0, CARD_ALLOCATIONS + LIST_STRIDE * slot),
		.allocations_size = PRESUMED_COUNT + 1,
		.locations = (void *)card_bytes(card, 0, CARD_PATCHES + LIST_STRIDE * slot),
		.locations_size = 64,
	};
}

void presumed_begin_record(struct presumed_world *world, uint32_t slot)
{
	struct presumed_buffer *buffer = &world->buffers[slot];
	const uint32_t grouped = GROUPED + LIST_STRIDE * slot;

	pb_residency_patched_start(&buffer->patched, buffer->entries, PRESUMED_COUNT + 1);
	if (world->grouped_room != 0)
		pb_residency_patched_group(&buffer->patched, buffer->cursors,
					   (void *)card_bytes(&world->card, 0, grouped),
					   CARD_SYSTEM_OS + grouped, world->grouped_room);
}

void presumed_render(struct presumed_world *world, uint32_t slot, const struct presumed_commands *commands)
{
	struct presumed_buffer *buffer = &world->buffers[slot];
	struct pb_render_user_allocation list[PRESUMED_COUNT + 1] = {{0, 0}};
	const struct pb_render_device device = {.find = commands->located ? pb_residency_find : find_size,
						.context = &world->manager,
						.node = PB_NODE_COPY};
	struct pb_render_arguments arguments = {
		.device = &device,
		.staging = world->staging,
		.staging_size = sizeof(world->staging),
		.command = commands->words,
		.command_length = 4 * commands->count,
		.user_allocations = list,
		.user_allocation_count = PRESUMED_COUNT + 1,
		.output = presumed_output(world, slot),
	};

	for (uint32_t i = 1; i <= PRESUMED_COUNT; i++)
		list[i] = (struct pb_render_user_allocation){i, PB_RENDER_USER_WRITE};
	/* What a renderer's output does not reach is not compared. */
	memset(card_dma(&world->card, slot), 0, CARD_DMA_STRIDE);
	buffer->work = (struct pb_residency_submission){.allocations = arguments.output.allocations,
							.locations = arguments.output.locations};
	assert_int_equal(pb_render(&arguments), PB_RENDER_SUCCESS);
	buffer->work.descriptor = card_descriptor(&world->card, slot, CARD_DMA_STRIDE, 0, 0);
	buffer->work.descriptor.allocation_address_low += LIST_STRIDE * slot;
	buffer->work.descriptor.patch_address_low += LIST_STRIDE * slot;
	pb_render_describe(&arguments.output.record, &buffer->work.descriptor);
	buffer->work.descriptor.private_end = 0;
	if (!world->records)
		return;
	/* What lies behind the list is no presumption of anyone. */
	memset(buffer->work.allocations + PRESUMED_COUNT + 1, 0xa5,
	       (PRESUMED_COUNT + 1) * sizeof(struct pb_presumed));
	buffer->work.patched = &buffer->patched;
	presumed_begin_record(world, slot);
	if (commands->located)
		assert_int_equal(pb_residency_patched_rendered(&buffer->work), PB_ERROR_OK);
}

/* ---- submissions ---- */

struct pb_fence presumed_finish(struct presumed_world *world)
{
	struct pb_queue *queue = &world->card.queues[0];
	struct pb_fence fence;

	assert_int_equal(pb_queue_wait(queue, queue->timeline, TIMEOUT_US, &fence), PB_ERROR_OK);
	return fence;
}

/* Acknowledges an error, whatever it was. */
static void recover(struct presumed_world *world)
{
	assert_int_equal(pb_queue_clear(&world->card.queues[0]), PB_ERROR_OK);
	assert_int_equal(pb_context_clear(&world->card.channel, world->card.context), PB_ERROR_OK);
}

void presumed_submit(struct presumed_world *world, uint32_t slot)
{
	assert_int_equal(pb_residency_submit(&world->manager, 0, &world->buffers[slot].work), PB_ERROR_OK);
}

void presumed_submit_well(struct presumed_world *world, uint32_t slot)
{
	presumed_submit(world, slot);
	assert_int_equal(presumed_finish(world).error, PB_ERROR_OK);
}

/* Lists an allocation without WriteOperation that the buffer writes to: the locations before that one are carried out. */
void presumed_submit_badly(struct presumed_world *world, uint32_t slot, uint32_t bad)
{
	struct pb_residency_submission *work = &world->buffers[slot].work;
	uint32_t at = bad % work->descriptor.patch_count;
	struct pb_allocation *listed;

	while (work->locations[at].driver_id != PB_PATCH_FORMAT_ADDRESS64_WRITE)
		at = (at + 1) % work->descriptor.patch_count;
	listed = &work->allocations[work->locations[at].allocation_index];
	listed->flags &= ~PB_ALLOCATION_WRITE;
	presumed_submit(world, slot);
	assert_int_equal(presumed_finish(world).error, PB_ERROR_PATCH_WRITE);
	listed->flags |= PB_ALLOCATION_WRITE;
	recover(world);
}

void presumed_submit_unknown_context(struct presumed_world *world, uint32_t slot)
{
	struct pb_residency_submission *work = &world->buffers[slot].work;
	const uint32_t context = work->descriptor.context;

	work->descriptor.context = PB_HANDLE(9, 9);
	presumed_submit(world, slot);
	assert_int_equal(presumed_finish(world).error, PB_ERROR_BAD_CONTEXT);
	work->descriptor.context = context;
	assert_int_equal(pb_queue_clear(&world->card.queues[0]), PB_ERROR_OK);
}

void presumed_submit_idle(struct presumed_world *world, const uint32_t *words, uint32_t count)
{
	const struct pb_descriptor descriptor = card_descriptor(&world->card, IDLE_BUFFER, 4 * count, 0, 0);

	memcpy(card_dma(&world->card, IDLE_BUFFER), words, 4 * count);
	card_submit(&world->card, 0, &descriptor);
}

/*
 * Submits behind a buffer that keeps the engine busy. After some steps of the card, a preemption returns the submission,
 * or a reset aborts or returns it: its patches may have been carried out, in part, or not.
 */
void presumed_submit_and_lose(struct presumed_world *world, uint32_t slot, uint32_t steps, bool reset)
{
	static const uint32_t busy[] = {PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS), 3000};
	static const uint32_t hang[] = {PB_PACKET(PB_PACKET_HANG, 1), 0};
	static const uint32_t nop[] = {PB_PACKET(PB_PACKET_NOP, 1)};
	struct pb_queue *queue = &world->card.queues[0];
	struct pb_preempt result;
	uint64_t timeline;

	presumed_submit_idle(world, reset ? hang : busy, 2);
	presumed_submit(world, slot);
	timeline = queue->timeline;
	while (steps-- != 0)
		pb_sim_step(world->card.sim);
	if (reset)
		assert_int_equal(pb_queue_reset(queue, &result), PB_ERROR_OK);
	else
		assert_int_equal(pb_queue_preempt(queue, 7, 0, &result), PB_ERROR_OK);
	if (reset)
		recover(world);
	/* The manager waits for these values before it moves an allocation. */
	while (queue->timeline < timeline)
		presumed_submit_idle(world, nop, 1);
	assert_int_equal(presumed_finish(world).error, PB_ERROR_OK);
}

void presumed_move(struct presumed_world *world, uint32_t number, bool anew)
{
	if (!anew) {
		assert_int_equal(pb_residency_page_out(&world->manager, number + 1, true), PB_ERROR_OK);
		return;
	}
	assert_int_equal(pb_residency_remove(&world->manager, number + 1), PB_ERROR_OK);
	add_allocation(world, number);
}
