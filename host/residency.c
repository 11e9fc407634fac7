/* SPDX-License-Identifier: MIT */
/* Allocations: where they lie, who gives way, and the paging buffers that move them. */
#include "patchbay/residency.h"

#include <string.h>

#include "host/internal.h"
#include "host/residency_internal.h"

/* ---- the arrays ---- */

struct pb_residency_allocation *pb_residency_at(const struct pb_residency *manager, uint32_t handle)
{
	struct pb_residency_allocation *allocation;

	if (handle == 0 || handle > manager->setup.allocation_count)
		return NULL;
	allocation = &manager->setup.allocations[handle - 1];
	return allocation->request.bytes != 0 ? allocation : NULL;
}

/** Makes a record the first free one. */
static void put_free(struct pb_residency *manager, struct pb_residency_allocation *allocation)
{
	*allocation = (struct pb_residency_allocation){.newer = manager->free};
	manager->free = allocation;
}

static const struct pb_residency_segment *segment_of(const struct pb_residency *manager, uint32_t id)
{
	for (uint32_t i = 0; i < manager->setup.segment_count; i++) {
		if (manager->setup.segments[i].id == id)
			return &manager->setup.segments[i];
	}
	return NULL;
}

static uint64_t gpu_address(const struct pb_residency_allocation *allocation)
{
	return allocation->segment->gpu_base + allocation->offset;
}

/* ---- paging buffers ---- */

/** Makes the whole paging buffer available. */
static void reset_room(struct pb_residency *manager)
{
	const struct pb_memory *memory = &manager->setup.buffer;

	manager->room = (struct pb_paging_buffer){
		.dma_buffer = (uint32_t *)(void *)memory->bytes_host,
		.gpu_address = memory->segment->request.gpu_base + memory->offset,
		.dma_size = memory->bytes / sizeof(uint32_t) * sizeof(uint32_t),
	};
}

/* Waits for the fence, so that the next submission on any node finds the memory in its new state. */
enum pb_error pb_residency_flush(struct pb_residency *manager)
{
	const struct pb_memory *memory = &manager->setup.buffer;
	const uint32_t bytes = (uint32_t)((const uint8_t *)manager->room.dma_buffer - memory->bytes_host);
	const struct pb_descriptor descriptor = {
		.flags = PB_FLAG_PAGING,
		.fence_id = manager->paging_fence,
		.dma_address_low = (uint32_t)memory->os_address,
		.dma_address_high = (uint32_t)(memory->os_address >> 32),
		.dma_segment = PB_SEGMENT_SYSTEM,
		.dma_size = memory->bytes,
		.dma_end = bytes,
	};
	struct pb_fence fence;
	enum pb_error error;

	if (bytes == 0)
		return PB_ERROR_OK;
	error = pb_queue_submit(manager->setup.paging, &descriptor);
	if (error == PB_ERROR_OK)
		error = pb_queue_wait(manager->setup.paging, manager->setup.paging->timeline,
				      manager->setup.timeout_us, &fence);
	if (error != PB_ERROR_OK)
		return error;
	manager->paging_fence++;
	manager->figures.paging_submissions++;
	reset_room(manager);
	return (enum pb_error)fence.status;
}

/** Appends an operation to the paging buffer; submits the buffer whenever it is full. */
static enum pb_error build(struct pb_residency *manager, struct pb_paging_operation operation)
{
	/* The requests were checked: pb_paging_build() cannot find the operation invalid. */
	while (pb_paging_build(&operation, &manager->room) == PB_RENDER_INSUFFICIENT_DMA_BUFFER) {
		const enum pb_error error = pb_residency_flush(manager);

		if (error != PB_ERROR_OK)
			return error;
	}
	return PB_ERROR_OK;
}

/* ---- allocations whose contents are with the engine ---- */

/** Which packets of struct pb_residency_bindings. */
enum binding { BIND, UNBIND, FORGET };

/** Appends the packets once. Pre: the record is in use. */
static enum pb_render_status put_binding(struct pb_residency *manager,
					 const struct pb_residency_bindings *bindings,
					 const struct pb_residency_allocation *allocation, enum binding kind)
{
	const uint32_t handle = (uint32_t)(allocation - manager->setup.allocations) + 1;

	switch (kind) {
	case BIND:
		return bindings->bind(bindings->context, handle, gpu_address(allocation), &manager->room);
	case UNBIND:
		return bindings->unbind(bindings->context, handle, &manager->room);
	case FORGET:
	default:
		return bindings->forget(bindings->context, handle, &manager->room);
	}
}

/** Appends the packets; submits the paging buffer first if it has no room. */
static enum pb_error bind(struct pb_residency *manager, const struct pb_residency_bindings *bindings,
			  struct pb_residency_allocation *allocation, enum binding kind)
{
	enum pb_render_status status = put_binding(manager, bindings, allocation, kind);
	enum pb_error error = PB_ERROR_OK;

	allocation->bound = true;
	if (status == PB_RENDER_INSUFFICIENT_DMA_BUFFER) {
		error = pb_residency_flush(manager);
		if (error == PB_ERROR_OK)
			status = put_binding(manager, bindings, allocation, kind);
	}
	if (error == PB_ERROR_OK && status != PB_RENDER_SUCCESS)
		error = PB_ERROR_BAD_ARGUMENT;
	return error;
}

/** Transfers an allocation to its segment, maps it, or binds it. Pre: its place in the segment is free. */
static enum pb_error page_in(struct pb_residency *manager, struct pb_residency_allocation *allocation)
{
	const bool map = pb_residency_is_aperture(allocation->segment);

	manager->figures.page_ins++;
	if (allocation->segment->bindings != NULL)
		return bind(manager, allocation->segment->bindings, allocation, BIND);
	if (!map)
		manager->figures.bytes_in += allocation->request.bytes;
	return build(manager, (struct pb_paging_operation){
				      .kind = map ? PB_PAGING_MAP_APERTURE : PB_PAGING_TRANSFER,
				      .source = {.gpu_address = allocation->request.backing},
				      .destination = {.gpu_address = gpu_address(allocation)},
				      .bytes = pb_residency_extent(allocation->segment, &allocation->request),
			      });
}

/** Transfers an allocation to its backing store if `keep` and it has changed, or unmaps it; then its segment is not its own. */
static enum pb_error page_away(struct pb_residency *manager, const struct pb_residency_allocation *allocation,
			       bool keep)
{
	const bool unmap = pb_residency_is_aperture(allocation->segment);
	struct pb_paging_operation operation = {
		.kind = PB_PAGING_TRANSFER,
		.source = {.gpu_address = gpu_address(allocation)},
		.destination = {.gpu_address = allocation->request.backing},
		.bytes = pb_residency_extent(allocation->segment, &allocation->request),
	};
	enum pb_error error = PB_ERROR_OK;

	if (keep && allocation->changed && !unmap) {
		error = build(manager, operation);
		manager->figures.bytes_out += operation.bytes;
	}
	operation.kind = unmap ? PB_PAGING_UNMAP_APERTURE : PB_PAGING_DISCARD;
	operation.destination = operation.source;
	return error == PB_ERROR_OK ? build(manager, operation) : error;
}

/**
 * Pages an allocation out. Pre: no submission in flight uses it. @param keep transfer changed contents to the backing
 * store
 */
static enum pb_error evict(struct pb_residency *manager, struct pb_residency_allocation *allocation,
			   bool keep)
{
	const struct pb_residency_bindings *bindings = allocation->segment->bindings;
	const enum pb_error error = bindings != NULL ? bind(manager, bindings, allocation, UNBIND)
						     : page_away(manager, allocation, keep);

	pb_residency_room_remove(manager, allocation);
	allocation->changed = false;
	manager->figures.evictions++;
	return error;
}

/* ---- submissions in flight ---- */

enum pb_error pb_residency_await(struct pb_residency *manager, uint32_t queue, uint64_t timeline)
{
	manager->figures.waits++;
	return pb_queue_wait(manager->setup.queues[queue], timeline, manager->setup.timeout_us, NULL);
}

/** Reads the timeline values that the queues have reached. */
static enum pb_error read_timelines(const struct pb_residency *manager,
				    uint64_t timelines[PB_RESIDENCY_QUEUES])
{
	for (uint32_t i = 0; i < PB_RESIDENCY_QUEUES; i++) {
		struct pb_fence fence = {.timeline = 0};
		enum pb_error error = PB_ERROR_OK;

		if (manager->setup.queues[i] != NULL)
			error = pb_queue_fence(manager->setup.queues[i], &fence);
		if (error != PB_ERROR_OK)
			return error;
		timelines[i] = fence.timeline;
	}
	return PB_ERROR_OK;
}

static bool in_flight(const struct pb_residency_allocation *allocation,
		      const uint64_t timelines[PB_RESIDENCY_QUEUES])
{
	bool busy = false;

	for (uint32_t i = 0; i < PB_RESIDENCY_QUEUES; i++)
		busy = busy || allocation->busy[i] > timelines[i];
	return busy;
}

static enum pb_error await_idle(struct pb_residency *manager,
				const struct pb_residency_allocation *allocation)
{
	uint64_t timelines[PB_RESIDENCY_QUEUES];
	enum pb_error error = read_timelines(manager, timelines);

	for (uint32_t i = 0; error == PB_ERROR_OK && i < PB_RESIDENCY_QUEUES; i++) {
		if (allocation->busy[i] > timelines[i])
			error = pb_residency_await(manager, i, allocation->busy[i]);
	}
	return error;
}

/* ---- room in segments ---- */

/**
 * Returns the allocation to evict: the least recently used one that is idle, else the least recently used one. Passes
 * over those that submissions in flight use. NULL: all are held.
 */
static struct pb_residency_allocation *victim_of(const struct pb_residency *manager,
						 const struct pb_residency_segment *segment,
						 const uint64_t timelines[PB_RESIDENCY_QUEUES])
{
	struct pb_residency_allocation *const oldest = pb_residency_room_oldest(manager, segment);

	for (struct pb_residency_allocation *other = oldest;
	     other != NULL && !pb_residency_is_held(manager, other); other = other->newer) {
		if (!in_flight(other, timelines))
			return other;
	}
	return oldest;
}

/** Evicts allocations until there is room. Pre: pb_residency_room_find() with held_only found some. */
static enum pb_error make_room(struct pb_residency *manager, const struct pb_residency_segment *segment,
			       const struct pb_residency_request *request, uint64_t *offset)
{
	while (!pb_residency_room_find(manager, segment, request, false, offset)) {
		uint64_t timelines[PB_RESIDENCY_QUEUES];
		struct pb_residency_allocation *victim;
		enum pb_error error = read_timelines(manager, timelines);

		if (error != PB_ERROR_OK)
			return error;
		victim = victim_of(manager, segment, timelines);
		error = await_idle(manager, victim);
		if (error == PB_ERROR_OK)
			error = evict(manager, victim, true);
		if (error != PB_ERROR_OK)
			return error;
	}
	return PB_ERROR_OK;
}

/** Returns the first preferred segment with free room, else the first one in which evictions can make room. */
static const struct pb_residency_segment *choose_segment(const struct pb_residency *manager,
							 const struct pb_residency_request *request)
{
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < PB_RESIDENCY_PREFERRED && request->segments[i] != 0; i++) {
			const struct pb_residency_segment *segment =
				segment_of(manager, request->segments[i]);
			uint64_t offset;

			if (pb_residency_room_find(manager, segment, request, pass == 1, &offset))
				return segment;
		}
	}
	return NULL;
}

enum pb_error pb_residency_hold(struct pb_residency *manager, struct pb_residency_allocation *allocation)
{
	const struct pb_residency_segment *segment = allocation->segment;
	enum pb_error error;

	if (segment == NULL) {
		segment = choose_segment(manager, &allocation->request);
		if (segment == NULL)
			return PB_ERROR_NO_SPACE;
		error = make_room(manager, segment, &allocation->request, &allocation->offset);
		if (error != PB_ERROR_OK)
			return error;
		pb_residency_room_place(manager, allocation, segment);
		error = page_in(manager, allocation);
		if (error != PB_ERROR_OK)
			return error;
	}
	pb_residency_room_hold(manager, allocation);
	return PB_ERROR_OK;
}

enum pb_error pb_residency_empty(struct pb_residency *manager)
{
	enum pb_error error = PB_ERROR_OK;

	for (uint32_t i = 0; error == PB_ERROR_OK && i < manager->setup.segment_count; i++) {
		struct pb_residency_allocation *allocation =
			pb_residency_room_oldest(manager, &manager->setup.segments[i]);

		while (error == PB_ERROR_OK && allocation != NULL) {
			struct pb_residency_allocation *const newer = allocation->newer;

			error = await_idle(manager, allocation);
			if (error == PB_ERROR_OK)
				error = evict(manager, allocation, true);
			allocation = newer;
		}
	}
	return error;
}

/* ---- public functions ---- */

static bool segment_is_valid(const struct pb_residency *manager, const struct pb_residency_segment *segment)
{
	return segment->id != 0 && segment->id <= PB_RESIDENCY_SEGMENTS &&
	       segment_of(manager, segment->id) == segment &&
	       (segment->kind == PB_SEGMENT_LINEAR ||
		(segment->kind == PB_SEGMENT_APERTURE && segment->bindings == NULL) ||
		(segment->kind == PB_SEGMENT_OUTER && segment->bindings != NULL)) &&
	       (segment->os_base | segment->gpu_base | segment->bytes) % PB_PAGE_BYTES == 0 &&
	       segment->gpu_base <= UINT64_MAX - segment->bytes &&
	       segment->os_base <= UINT64_MAX - segment->bytes;
}

enum pb_error pb_residency_start(struct pb_residency *manager, const struct pb_residency_setup *setup)
{
	const struct pb_memory *buffer = &setup->buffer;

	*manager = (struct pb_residency){.setup = *setup};
	if (buffer->segment == NULL || buffer->segment->request.id != PB_SEGMENT_SYSTEM ||
	    buffer->os_address % PB_PAGE_BYTES != 0 || buffer->bytes < PB_PAGING_BYTES_MIN)
		return PB_ERROR_BAD_ARGUMENT;
	for (uint32_t i = 0; i < setup->segment_count; i++) {
		if (!segment_is_valid(manager, &setup->segments[i]))
			return PB_ERROR_BAD_ARGUMENT;
	}
	memset(setup->allocations, 0, setup->allocation_count * sizeof(*setup->allocations));
	for (uint32_t i = setup->allocation_count; i != 0; i--)
		put_free(manager, &setup->allocations[i - 1]);
	reset_room(manager);
	return PB_ERROR_OK;
}

/** Returns the bindings of a request's first segment; NULL: it has none. */
static const struct pb_residency_bindings *bindings_of(const struct pb_residency *manager,
						       const struct pb_residency_request *request)
{
	const struct pb_residency_segment *segment = segment_of(manager, request->segments[0]);

	return segment != NULL ? segment->bindings : NULL;
}

/** Checks a request. @param fits out: one of its segments is large enough */
static bool request_is_valid(const struct pb_residency *manager, const struct pb_residency_request *request,
			     bool *fits)
{
	*fits = false;
	if (request->bytes == 0 || request->bytes % sizeof(uint32_t) != 0 ||
	    request->bytes > PB_RESIDENCY_BYTES_MAX || request->backing > UINT64_MAX - request->bytes ||
	    request->alignment < sizeof(uint32_t) || (request->alignment & (request->alignment - 1)) != 0 ||
	    request->backing % sizeof(uint32_t) != 0 || request->segments[0] == 0)
		return false;
	for (uint32_t i = 0; i < PB_RESIDENCY_PREFERRED && request->segments[i] != 0; i++) {
		const struct pb_residency_segment *segment = segment_of(manager, request->segments[i]);

		if (segment == NULL ||
		    (pb_residency_is_aperture(segment) && request->backing % PB_PAGE_BYTES != 0) ||
		    segment->bindings != bindings_of(manager, request))
			return false;
		*fits = *fits || request->bytes <= segment->bytes;
	}
	return true;
}

enum pb_error pb_residency_add(struct pb_residency *manager, const struct pb_residency_request *request,
			       uint32_t *handle)
{
	struct pb_residency_allocation *const allocation = manager->free;
	bool fits;

	if (!request_is_valid(manager, request, &fits))
		return PB_ERROR_BAD_ARGUMENT;
	if (!fits || allocation == NULL)
		return PB_ERROR_NO_SPACE;
	manager->free = allocation->newer;
	*allocation = (struct pb_residency_allocation){.request = *request};
	*handle = (uint32_t)(allocation - manager->setup.allocations) + 1;
	return PB_ERROR_OK;
}

enum pb_error pb_residency_page_out(struct pb_residency *manager, uint32_t handle, bool keep)
{
	struct pb_residency_allocation *allocation = pb_residency_at(manager, handle);
	enum pb_error error;

	if (allocation == NULL)
		return PB_ERROR_BAD_HANDLE;
	error = await_idle(manager, allocation);
	if (error == PB_ERROR_OK && allocation->segment != NULL)
		error = evict(manager, allocation, keep);
	return error == PB_ERROR_OK ? pb_residency_flush(manager) : error;
}

/** Waits until an allocation with bindings is idle, and appends the packets that end it. */
static enum pb_error forget(struct pb_residency *manager, const struct pb_residency_bindings *bindings,
			    struct pb_residency_allocation *allocation)
{
	enum pb_error error = await_idle(manager, allocation);

	if (error != PB_ERROR_OK)
		return error;
	if (allocation->segment != NULL) {
		pb_residency_room_remove(manager, allocation);
		manager->figures.evictions++;
	}
	return allocation->bound ? bind(manager, bindings, allocation, FORGET) : PB_ERROR_OK;
}

enum pb_error pb_residency_remove(struct pb_residency *manager, uint32_t handle)
{
	struct pb_residency_allocation *allocation = pb_residency_at(manager, handle);
	const struct pb_residency_bindings *bindings;
	enum pb_error error;

	if (allocation == NULL)
		return PB_ERROR_BAD_HANDLE;
	bindings = bindings_of(manager, &allocation->request);
	error = bindings != NULL ? forget(manager, bindings, allocation)
				 : pb_residency_page_out(manager, handle, false);
	if (error == PB_ERROR_OK)
		put_free(manager, allocation);
	return error;
}

bool pb_residency_find(void *manager, uint32_t handle, struct pb_render_allocation *allocation)
{
	const struct pb_residency_allocation *found = pb_residency_at(manager, handle);

	if (found == NULL)
		return false;
	*allocation = (struct pb_render_allocation){.size = found->request.bytes};
	if (found->segment != NULL) {
		allocation->os_address = found->segment->os_base + found->offset;
		allocation->gpu_address = gpu_address(found);
		allocation->segment = found->segment->id;
	}
	return true;
}
