/* SPDX-License-Identifier: MIT */
/*
 * Schedules on a simulated card with GL engines that draw nothing: contexts with resources that are bound, evicted, moved
 * and destroyed by paging submissions, and used by submissions in which the firmware patches their pages. An urgent
 * context preempts the other one between two packets. The judge keeps what each resource contains, by rules of its own,
 * and compares each word that comes back.
 */
#include <stdlib.h>
#include <string.h>

#include "hal/engine.h"
#include "hal/engine/gl_packets.h"
#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "patchbay/format.h"
#include "patchbay/patchbay.h"
#include "patchbay/query.h"
#include "qemu/sim.h"
#include "tests/e2e/dma_builder.h"
#include "tests/unit/unit.h"

#ifndef SCHEDULES
#define SCHEDULES 40u
#endif
#define STEPS      120u
#define CONTEXTS   3u
#define RESOURCES  5u
#define SYSTEM     UINT64_C(0x10000000)
#define VIDEO_OS   UINT64_C(0x280000000)
#define VIDEO_GPU  UINT64_C(0x540000000)
#define VIDEO      1u
#define PATIENCE   2000000u
#define DATA_BYTES 64u
/* The channel's own formats: a page, and a page that is written. */
#define PAGE                   PB_FORMAT_OWN
#define PAGE_WRITE             (PB_FORMAT_OWN + 1u)
#define COMMAND(number, words) ((uint32_t)(words) << 16 | (uint32_t)(number))
#define COPY_REGION            17u
#define CLEAR_TEXTURE          47u

struct resource {
	uint32_t id; /* 0: it does not exist */
	bool bound;
	struct pb_memory place; /* its address; segment NULL: none */
	uint32_t content;       /* the judge's */
};

struct context {
	uint32_t handle;
	uint32_t owner;
	struct pb_queue queue;
	struct pb_dma dma;
	struct pb_memory data;
	bool busy;
	bool reads;        /* the submission in flight ends with a transfer into `data` */
	uint32_t expected; /* there */
	bool faults;       /* it must fault */
	uint32_t left;     /* page where a resource stood last; 0: none */
	struct resource resources[RESOURCES];
};

struct world {
	struct pb_sim *sim;
	struct pb_link *link;
	struct pb_channel channel;
	struct pb_segment system, video;
	struct pb_queue paging;
	struct pb_memory paging_buffer;
	struct context contexts[CONTEXTS];
	uint32_t seed;
	uint32_t next_id;
	uint32_t reads, faults, moves;
};

static uint32_t below(struct world *world, uint32_t limit)
{
	world->seed ^= world->seed << 13;
	world->seed ^= world->seed >> 17;
	world->seed ^= world->seed << 5;
	return world->seed % limit;
}

/* ---- set-up ---- */

static void set_formats(struct world *world)
{
	struct pb_patch_format format = {.source = PB_FORMAT_ADDRESS,
					 .bound = PB_FORMAT_INSIDE,
					 .flags = PB_FORMAT_FITS,
					 .align = 4,
					 .shift_right = 12,
					 .mask = PB_FORMAT_ONES};

	assert_int_equal(pb_format_set(&world->channel, PAGE, &format, NULL), PB_ERROR_OK);
	format.flags |= PB_FORMAT_WRITE;
	assert_int_equal(pb_format_set(&world->channel, PAGE_WRITE, &format, NULL), PB_ERROR_OK);
}

static void open_context(struct world *world, uint32_t index)
{
	static const uint32_t priorities[CONTEXTS] = {PB_PRIORITY_NORMAL, PB_PRIORITY_NORMAL,
						      PB_PRIORITY_REALTIME};
	const struct pb_queue_request request = {.node = 0, .entries = 16, .priority = priorities[index]};
	struct context *context = &world->contexts[index];

	assert_int_equal(pb_context_create(&world->channel, &context->handle), PB_ERROR_OK);
	context->owner = PB_ENGINE_OWNER(1, context->handle & 0xffffu);
	assert_int_equal(pb_queue_create_with(&context->queue, &world->channel, &world->system, &request),
			 PB_ERROR_OK);
	assert_int_equal(pb_dma_open(&context->dma, &context->queue, context->handle, &world->system,
				     &world->system, 4096, 32),
			 PB_ERROR_OK);
	assert_int_equal(pb_memory_allocate(&world->video, DATA_BYTES, PB_PAGE_BYTES, &context->data),
			 PB_ERROR_OK);
}

static void open_world(struct world *world, uint32_t seed)
{
	const struct pb_segment_request system = {PB_SEGMENT_SYSTEM, SYSTEM, SYSTEM, 0x40000, 0x40000, 0};
	const struct pb_segment_request video = {VIDEO, VIDEO_OS, VIDEO_GPU, 0x20000, 0x20000, 0};

	memset(world, 0, sizeof(*world));
	world->seed = seed * 2654435761u + 1u;
	world->sim = pb_sim_create_gl();
	assert_non_null(world->sim);
	assert_int_equal(pb_link_open_sim(world->sim, 1, &world->link), PB_ERROR_OK);
	assert_int_equal(pb_channel_attach(&world->channel, world->link, PATIENCE), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&world->system, &world->channel, &system), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&world->video, &world->channel, &video), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&world->paging, &world->channel, &world->system, 0, 16),
			 PB_ERROR_OK);
	assert_int_equal(pb_memory_allocate(&world->system, 4096, PB_PAGE_BYTES, &world->paging_buffer),
			 PB_ERROR_OK);
	set_formats(world);
	for (uint32_t c = 0; c < CONTEXTS; c++)
		open_context(world, c);
}

static void close_world(struct world *world)
{
	assert_int_equal(pb_channel_detach(&world->channel), PB_ERROR_OK);
	world->link->ops->close(world->link);
	pb_sim_destroy(world->sim);
}

/* ---- paging ---- */

static void page(struct world *world, const uint32_t *words, uint32_t count)
{
	const struct pb_memory *buffer = &world->paging_buffer;
	const struct pb_descriptor descriptor = {.flags = PB_FLAG_PAGING,
						 .fence_id = 1,
						 .dma_address_low = (uint32_t)buffer->os_address,
						 .dma_address_high = (uint32_t)(buffer->os_address >> 32),
						 .dma_segment = PB_SEGMENT_SYSTEM,
						 .dma_size = buffer->bytes,
						 .dma_end = 4u * count};
	struct pb_fence fence;

	memcpy(buffer->bytes_host, words, 4u * count);
	assert_int_equal(pb_queue_submit(&world->paging, &descriptor), PB_ERROR_OK);
	assert_int_equal(pb_queue_wait(&world->paging, world->paging.timeline, PATIENCE, &fence),
			 PB_ERROR_OK);
	assert_int_equal(fence.status, PB_ERROR_OK);
}

/* Gives a resource another address; its old one is free then. */
static void bind(struct world *world, const struct context *context, struct resource *resource)
{
	struct pb_memory old = resource->place;
	uint32_t words[PB_PACKET_GL_BIND_WORDS] = {PB_PACKET(PB_PACKET_GL_BIND, PB_PACKET_GL_BIND_WORDS),
						   context->owner, resource->id};

	if (pb_memory_allocate(&world->video, PB_PAGE_BYTES * (1u + resource->id % 3u), PB_PAGE_BYTES,
			       &resource->place) != PB_ERROR_OK) {
		resource->place = old;
		return;
	}
	words[PB_GL_BIND_PAGE] = (uint32_t)((VIDEO_GPU + resource->place.offset) / PB_PAGE_BYTES);
	words[PB_GL_BIND_PAGES] = 1u + resource->id % 3u;
	words[PB_GL_BIND_TEMPLATE] = resource->id;
	page(world, words, PB_PACKET_GL_BIND_WORDS);
	if (resource->bound)
		pb_memory_free(&old);
	resource->bound = true;
	world->moves++;
}

static void unbind(struct world *world, struct context *context, struct resource *resource, bool destroy)
{
	const uint32_t words[PB_PACKET_GL_UNBIND_WORDS] = {
		PB_PACKET(PB_PACKET_GL_UNBIND, PB_PACKET_GL_UNBIND_WORDS), context->owner, resource->id,
		destroy ? PB_GL_UNBIND_DESTROY : 0};

	page(world, words, PB_PACKET_GL_UNBIND_WORDS);
	if (resource->bound) {
		context->left = (uint32_t)((VIDEO_GPU + resource->place.offset) / PB_PAGE_BYTES);
		pb_memory_free(&resource->place);
	}
	resource->bound = false;
	if (destroy)
		*resource = (struct resource){.id = 0};
}

/* ---- submissions ---- */

/* The context's renderer is lost: its resources are gone, and it begins anew. */
static void begin_anew(struct world *world, struct context *context)
{
	const uint32_t words[PB_PACKET_GL_END_WORDS] = {PB_PACKET(PB_PACKET_GL_END, PB_PACKET_GL_END_WORDS),
							context->owner};

	page(world, words, PB_PACKET_GL_END_WORDS);
	for (uint32_t i = 0; i < RESOURCES; i++) {
		if (context->resources[i].bound)
			pb_memory_free(&context->resources[i].place);
		context->resources[i] = (struct resource){.id = 0};
	}
	assert_int_equal(pb_context_clear(&world->channel, context->handle), PB_ERROR_OK);
	world->faults++;
}

/* The judge: a submission is complete as it must be, and what it read is what its resource contains. */
static void settle(struct world *world, struct context *context)
{
	const uint32_t *data = (const uint32_t *)(const void *)context->data.bytes_host;
	struct pb_fence fence;

	if (!context->busy)
		return;
	context->busy = false;
	assert_int_equal(pb_dma_wait(&context->dma, PATIENCE, &fence),
			 context->faults ? PB_ERROR_ENGINE_FAULT : PB_ERROR_OK);
	if (context->faults) {
		begin_anew(world, context);
		return;
	}
	for (uint32_t i = 0; i < DATA_BYTES / 4u && context->reads; i++)
		assert_int_equal(pb_shared_read32(&data[i]), context->expected);
	world->reads += context->reads;
}

static struct resource *any(struct world *world, struct context *context)
{
	return &context->resources[below(world, RESOURCES)];
}

static void add_transfer(struct context *context, const struct resource *resource, bool to_resource)
{
	struct pb_dma *dma = &context->dma;

	pb_dma_packet(dma, PB_PACKET_GL_TRANSFER, PB_PACKET_GL_TRANSFER_WORDS);
	pb_dma_word(dma, to_resource ? PB_GL_TRANSFER_TO_RESOURCE : 0);
	pb_dma_address(dma, &context->data, 0, !to_resource);
	pb_dma_word(dma, DATA_BYTES);
	pb_dma_patch(dma, &resource->place, to_resource ? PAGE_WRITE : PAGE, to_resource);
	for (uint32_t i = PB_GL_TRANSFER_LEVEL; i < PB_PACKET_GL_TRANSFER_WORDS; i++)
		pb_dma_word(dma, 0);
}

static void add_clear(struct world *world, struct context *context, struct resource *resource)
{
	struct pb_dma *dma = &context->dma;
	const uint32_t value = below(world, 1u << 30);

	pb_dma_packet(dma, PB_PACKET_GL, 14);
	pb_dma_word(dma, COMMAND(CLEAR_TEXTURE, 12));
	pb_dma_patch(dma, &resource->place, PAGE_WRITE, true);
	for (uint32_t i = 2; i < 9; i++)
		pb_dma_word(dma, i > 4 ? 1 : 0);
	pb_dma_word(dma, value);
	for (uint32_t i = 10; i < 13; i++)
		pb_dma_word(dma, 0);
	resource->content = value;
}

static void add_copy(struct context *context, struct resource *to, const struct resource *from)
{
	struct pb_dma *dma = &context->dma;

	pb_dma_packet(dma, PB_PACKET_GL, 15);
	pb_dma_word(dma, COMMAND(COPY_REGION, 13));
	pb_dma_patch(dma, &to->place, PAGE_WRITE, true);
	for (uint32_t i = 2; i < 6; i++)
		pb_dma_word(dma, 0);
	pb_dma_patch(dma, &from->place, PAGE, false);
	for (uint32_t i = 7; i < 14; i++)
		pb_dma_word(dma, i > 10 ? 1 : 0);
	to->content = from->content;
}

/* Whether a resource of the context stands at the page where one stood last. */
static bool is_taken(const struct context *context)
{
	for (uint32_t i = 0; i < RESOURCES; i++) {
		const struct resource *resource = &context->resources[i];

		if (resource->bound && (VIDEO_GPU + resource->place.offset) / PB_PAGE_BYTES == context->left)
			return true;
	}
	return false;
}

/* A command that names a page of memory where no resource of the context stands, or none any more. */
static void add_wrong(struct context *context)
{
	pb_dma_packet(&context->dma, PB_PACKET_GL, 14);
	pb_dma_word(&context->dma, COMMAND(CLEAR_TEXTURE, 12));
	if (context->left != 0 && !is_taken(context))
		pb_dma_word(&context->dma, context->left);
	else
		pb_dma_patch(&context->dma, &context->data, PAGE_WRITE, true);
	for (uint32_t i = 2; i < 13; i++)
		pb_dma_word(&context->dma, i > 4 ? 1 : 0);
}

/* Any packets. @return what was written last; NULL: nothing */
static struct resource *add_any(struct world *world, struct context *context)
{
	struct resource *last = NULL;

	for (uint32_t packets = 2u + below(world, 10); packets != 0; packets--) {
		struct resource *to = any(world, context);
		const struct resource *from = any(world, context);

		if (!to->bound)
			continue;
		if (from->bound && from != to && below(world, 2) != 0)
			add_copy(context, to, from);
		else
			add_clear(world, context, to);
		last = to;
	}
	return last;
}

/* Packets that have another effect if the first one runs again behind the second. @return what that one writes */
static struct resource *add_once(struct world *world, struct context *context)
{
	struct resource *to = any(world, context);
	struct resource *from = any(world, context);

	if (!to->bound || !from->bound || to == from)
		return NULL;
	add_copy(context, to, from);
	for (uint32_t packets = 2u + below(world, 10); packets != 0; packets--)
		add_clear(world, context, from);
	return to;
}

static void submit(struct world *world, struct context *context)
{
	struct resource *last;

	settle(world, context);
	pb_dma_begin(&context->dma);
	last = below(world, 2) != 0 ? add_once(world, context) : add_any(world, context);
	context->faults = below(world, 25) == 0;
	context->reads = last != NULL;
	if (context->faults)
		add_wrong(context);
	if (last != NULL) {
		memset(context->data.bytes_host, 0xa5, DATA_BYTES);
		add_transfer(context, last, false);
		context->expected = last->content;
	}
	if (context->dma.bytes == 0)
		return;
	assert_int_equal(pb_dma_submit(&context->dma, 1), PB_ERROR_OK);
	context->busy = true;
}

/* A transfer to a resource, whose data is the judge's. */
static void upload(struct world *world, struct context *context)
{
	struct resource *resource = any(world, context);
	const uint32_t value = below(world, 1u << 30);

	settle(world, context);
	if (!resource->bound)
		return;
	for (uint32_t i = 0; i < DATA_BYTES; i += 4)
		memcpy(context->data.bytes_host + i, &value, 4);
	pb_dma_begin(&context->dma);
	add_transfer(context, resource, true);
	resource->content = value;
	assert_int_equal(pb_dma_submit(&context->dma, 1), PB_ERROR_OK);
	context->busy = true;
	context->reads = false;
	context->faults = false;
}

static void act(struct world *world)
{
	struct context *context = &world->contexts[below(world, CONTEXTS)];
	struct resource *resource = any(world, context);

	switch (below(world, 6)) {
	case 0:
	case 1:
		settle(world, context);
		resource = any(world, context);
		if (resource->id == 0)
			resource->id = ++world->next_id;
		bind(world, context, resource);
		break;
	case 2:
		settle(world, context);
		if (resource->id != 0)
			unbind(world, context, resource, below(world, 4) == 0);
		break;
	case 3:
		upload(world, context);
		break;
	default:
		submit(world, context);
		break;
	}
}

static void every_read_is_what_its_resource_contains(void **state)
{
	static struct world world;
	uint32_t reads = 0, faults = 0, moves = 0, stops = 0;
	struct pb_node_status node;

	(void)state;
	for (uint32_t seed = 1; seed <= SCHEDULES; seed++) {
		open_world(&world, seed);
		for (uint32_t step = 0; step < STEPS; step++) {
			pb_sim_gl_delay(world.sim, below(&world, 40));
			act(&world);
			for (uint32_t i = below(&world, 150); i != 0; i--)
				pb_sim_step(world.sim);
		}
		for (uint32_t c = 0; c < CONTEXTS; c++)
			settle(&world, &world.contexts[c]);
		assert_int_equal(pb_node_query(&world.channel, 0, &node), PB_ERROR_OK);
		stops += node.stops;
		reads += world.reads;
		faults += world.faults;
		moves += world.moves;
		close_world(&world);
	}
	/* So that nothing is shown by schedules in which nothing happens. */
	print_message("[ figures  ] %u reads, %u faults, %u bindings, %u stops\n", reads, faults, moves,
		      stops);
	assert_true(reads > 4 * SCHEDULES && faults > SCHEDULES / 2 && moves > 4 * SCHEDULES &&
		    stops > SCHEDULES / 4);
}

UNIT_SUITE(test_gl_sim)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_read_is_what_its_resource_contains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
