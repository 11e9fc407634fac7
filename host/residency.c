/* SPDX-License-Identifier: MIT */
/* Placement of allocations, and the paging buffers that move them. */
#include "patchbay/residency.h"

#include <string.h>

#include "host/internal.h"
#include "host/residency_internal.h"

#define SEGMENT_ID_MAX 31u

/* ---- the arrays ---- */

struct pb_residency_allocation *pb_residency_at(const struct pb_residency *manager, uint32_t handle)
{
	struct pb_residency_allocation *allocation;

	if (handle == 0 || handle > manager->setup.allocation_count)
		return NULL;
	allocation = &manager->setup.allocations[handle - 1];
	return allocation->request.bytes != 0 ? allocation : NULL;
}

static const struct pb_residency_segment *segment_of(const struct pb_residency *manager, uint32_t id)
{
	for (uint32_t i = 0; i < manager->setup.segment_count; i++) {
		if (manager->setup.segments[i].id == id)
			return &manager->setup.segments[i];
	}
	return NULL;
}

static bool is_aperture(const struct pb_residency_segment *segment)
{
	return segment->kind == PB_SEGMENT_APERTURE;
}

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
	return (value + alignment - 1) & ~(alignment - 1);
}

/** Returns the bytes that an allocation occupies in a segment: whole pages in an aperture. */
static uint64_t extent(const struct pb_residency_segment *segment, const struct pb_residency_request *request)
{
	return is_aperture(segment) ? align_up(request->bytes, PB_PAGE_BYTES) : request->bytes;
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

/** Transfers an allocation to its segment, or maps it. Pre: its place in the segment is free. */
static enum pb_error page_in(struct pb_residency *manager, struct pb_residency_allocation *allocation)
{
	const bool map = is_aperture(allocation->segment);

	manager->figures.page_ins++;
	if (!map)
		manager->figures.bytes_in += allocation->request.bytes;
	return build(manager, (struct pb_paging_operation){
				      .kind = map ? PB_PAGING_MAP_APERTURE : PB_PAGING_TRANSFER,
				      .source = {.gpu_address = allocation->request.backing},
				      .destination = {.gpu_address = gpu_address(allocation)},
				      .bytes = extent(allocation->segment, &allocation->request),
			      });
}

/**
 * Pages an allocation out. Pre: no submission in flight uses it. @param keep transfer changed contents to the backing
 * store
 */
static enum pb_error evict(struct pb_residency *manager, struct pb_residency_allocation *allocation,
			   bool keep)
{
	const bool unmap = is_aperture(allocation->segment);
	struct pb_paging_operation operation = {
		.kind = PB_PAGING_TRANSFER,
		.source = {.gpu_address = gpu_address(allocation)},
		.destination = {.gpu_address = allocation->request.backing},
		.bytes = extent(allocation->segment, &allocation->request),
	};
	enum pb_error error = PB_ERROR_OK;

	if (keep && allocation->changed && !unmap) {
		error = build(manager, operation);
		manager->figures.bytes_out += operation.bytes;
	}
	operation.kind = unmap ? PB_PAGING_UNMAP_APERTURE : PB_PAGING_DISCARD;
	operation.destination = operation.source;
	if (error == PB_ERROR_OK)
		error = build(manager, operation);
	allocation->segment = NULL;
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

static bool is_held(const struct pb_residency *manager, const struct pb_residency_allocation *allocation)
{
	return allocation->used > manager->held;
}

/**
 * Returns an allocation that overlaps [offset, offset + bytes), or NULL. @param held_only ignore allocations that may
 * be evicted
 */
static const struct pb_residency_allocation *overlap(const struct pb_residency *manager,
						     const struct pb_residency_segment *segment,
						     uint64_t offset, uint64_t bytes, bool held_only)
{
	for (uint32_t i = 0; i < manager->setup.allocation_count; i++) {
		const struct pb_residency_allocation *other = &manager->setup.allocations[i];

		if (other->segment == segment && (!held_only || is_held(manager, other)) &&
		    other->offset < offset + bytes &&
		    offset < other->offset + extent(segment, &other->request))
			return other;
	}
	return NULL;
}

/**
 * Finds the first range with room for an allocation.
 * @param held_only treat allocations that may be evicted as free room
 * @return false: there is no such range
 */
static bool find_room(const struct pb_residency *manager, const struct pb_residency_segment *segment,
		      const struct pb_residency_request *request, bool held_only, uint64_t *offset)
{
	const uint64_t alignment = is_aperture(segment) && request->alignment < PB_PAGE_BYTES
					   ? PB_PAGE_BYTES
					   : request->alignment;
	const uint64_t bytes = extent(segment, request);
	const struct pb_residency_allocation *other;

	*offset = 0;
	do {
		*offset = align_up(segment->gpu_base + *offset, alignment) - segment->gpu_base;
		if (*offset > segment->bytes || bytes > segment->bytes - *offset)
			return false;
		other = overlap(manager, segment, *offset, bytes, held_only);
		if (other != NULL)
			*offset = other->offset + extent(segment, &other->request);
	} while (other != NULL);
	return true;
}

/** Returns the allocation to evict: the least recently used one that is idle, else the least recently used one. */
static struct pb_residency_allocation *victim_of(const struct pb_residency *manager,
						 const struct pb_residency_segment *segment,
						 const uint64_t timelines[PB_RESIDENCY_QUEUES])
{
	struct pb_residency_allocation *victim = NULL;

	for (uint32_t i = 0; i < manager->setup.allocation_count; i++) {
		struct pb_residency_allocation *other = &manager->setup.allocations[i];
		const bool busy = in_flight(other, timelines);

		if (other->segment != segment || is_held(manager, other))
			continue;
		if (victim == NULL || (in_flight(victim, timelines) && !busy) ||
		    (in_flight(victim, timelines) == busy && other->used < victim->used))
			victim = other;
	}
	return victim;
}

/** Evicts allocations until there is room. Pre: find_room() with held_only found some. */
static enum pb_error make_room(struct pb_residency *manager, const struct pb_residency_segment *segment,
			       const struct pb_residency_request *request, uint64_t *offset)
{
	while (!find_room(manager, segment, request, false, offset)) {
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

			if (find_room(manager, segment, request, pass == 1, &offset))
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
		allocation->segment = segment;
		error = page_in(manager, allocation);
		if (error != PB_ERROR_OK)
			return error;
	}
	allocation->used = ++manager->clock;
	return PB_ERROR_OK;
}

void pb_residency_release(struct pb_residency *manager)
{
	manager->held = manager->clock;
}

enum pb_error pb_residency_empty(struct pb_residency *manager)
{
	enum pb_error error = PB_ERROR_OK;

	for (uint32_t i = 0; error == PB_ERROR_OK && i < manager->setup.allocation_count; i++) {
		struct pb_residency_allocation *allocation = &manager->setup.allocations[i];

		if (allocation->segment == NULL)
			continue;
		error = await_idle(manager, allocation);
		if (error == PB_ERROR_OK)
			error = evict(manager, allocation, true);
	}
	return error;
}

/* ---- public functions ---- */

static bool segment_is_valid(const struct pb_residency *manager, const struct pb_residency_segment *segment)
{
	return segment->id != 0 && segment->id <= SEGMENT_ID_MAX &&
	       segment_of(manager, segment->id) == segment &&
	       (segment->kind == PB_SEGMENT_LINEAR || segment->kind == PB_SEGMENT_APERTURE) &&
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
	reset_room(manager);
	return PB_ERROR_OK;
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

		if (segment == NULL || (is_aperture(segment) && request->backing % PB_PAGE_BYTES != 0))
			return false;
		*fits = *fits || request->bytes <= segment->bytes;
	}
	return true;
}

enum pb_error pb_residency_add(struct pb_residency *manager, const struct pb_residency_request *request,
			       uint32_t *handle)
{
	bool fits;

	if (!request_is_valid(manager, request, &fits))
		return PB_ERROR_BAD_ARGUMENT;
	*handle = 1;
	while (pb_residency_at(manager, *handle) != NULL)
		++*handle;
	if (!fits || *handle > manager->setup.allocation_count)
		return PB_ERROR_NO_SPACE;
	manager->setup.allocations[*handle - 1] = (struct pb_residency_allocation){.request = *request};
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

enum pb_error pb_residency_remove(struct pb_residency *manager, uint32_t handle)
{
	struct pb_residency_allocation *allocation = pb_residency_at(manager, handle);
	enum pb_error error;

	if (allocation == NULL)
		return PB_ERROR_BAD_HANDLE;
	error = pb_residency_page_out(manager, handle, false);
	if (error == PB_ERROR_OK)
		*allocation = (struct pb_residency_allocation){0};
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
