/* SPDX-License-Identifier: MIT */
/* What the video memory manager is made of: segments, allocations with their pages, DMA buffers. */
#include <stdlib.h>

#include "host/tool/wddm_memory.h"

/* ---- pages of system memory ---- */

/** Distance between the pages of an allocation that follow each other: they are never neighbours. */
#define PAGE_STRIDE 7u

static bool fail(struct pb_vidmm *manager, const char *what)
{
	return pb_os_fail(manager->os, "memory manager: %s", what);
}

static uint64_t *frames_of(const struct pb_vidmm_allocation *allocation)
{
	return (uint64_t *)(void *)(allocation->mdl + 1);
}

/** Takes the next page, each once: the pages of one residue after the other. @return its frame number */
static uint64_t take_page(struct pb_vidmm *manager)
{
	const uint32_t count = manager->pages.bytes / PB_PAGE_BYTES;
	const uint32_t row = (count + PAGE_STRIDE - 1) / PAGE_STRIDE;
	uint32_t page;

	do {
		page = manager->pages_taken % row * PAGE_STRIDE + manager->pages_taken / row;
		manager->pages_taken++;
	} while (page >= count);
	return manager->pages.os_address / PB_PAGE_BYTES + page;
}

uint8_t *pb_vidmm_byte(const struct pb_vidmm *manager, const struct pb_vidmm_allocation *allocation,
		       uint64_t offset)
{
	const struct pb_segment *system = manager->system;
	uint64_t address;

	if (allocation->segment != NULL && !allocation->segment->aperture) {
		const struct pb_segment *home = manager->os->adapter.config.segments[allocation->segment->id];

		return system->channel->link->memory + home->memory_offset +
		       (allocation->address - home->request.os_base) + offset;
	}
	address = frames_of(allocation)[offset / PB_PAGE_BYTES] * PB_PAGE_BYTES + offset % PB_PAGE_BYTES;
	if (system->host_memory != NULL)
		return system->host_memory + (address - system->request.os_base);
	return system->channel->link->memory + system->memory_offset + (address - system->request.os_base);
}

/* ---- allocations and buffers ---- */

static bool make_mdl(struct pb_vidmm *manager, struct pb_vidmm_allocation *allocation)
{
	const uint64_t pages = allocation->bytes / PB_PAGE_BYTES;

	if (pages > manager->pages.bytes / PB_PAGE_BYTES - manager->pages_given)
		return fail(manager, "too little system memory");
	manager->pages_given += (uint32_t)pages;
	allocation->mdl = calloc(1, sizeof(*allocation->mdl) + (size_t)pages * sizeof(uint64_t));
	if (allocation->mdl == NULL)
		return fail(manager, "out of memory");
	allocation->mdl->ByteCount = (uint32_t)allocation->bytes;
	for (uint64_t i = 0; i < pages; i++)
		frames_of(allocation)[i] = take_page(manager);
	return true;
}

/** Calls CreateAllocation and OpenAllocation. */
static bool call_create(struct pb_vidmm *manager, struct pb_vidmm_allocation *allocation, uint64_t bytes)
{
	struct pb_wddm_allocation_data data = {.magic = PB_WDDM_ALLOCATION_MAGIC, .size = bytes};
	struct pb_dxgk_allocationinfo info = {.pPrivateDriverData = &data,
					      .PrivateDriverDataSize = sizeof(data)};
	struct pb_dxgkarg_createallocation create = {.NumAllocations = 1, .pAllocationInfo = &info};
	struct pb_wddm_allocation *const object = &allocation->object;

	if (pb_wddm_create_allocation(&manager->os->adapter, &create, &object) != PB_STATUS_SUCCESS)
		return fail(manager, "CreateAllocation failed");
	allocation->bytes = info.Size;
	for (uint32_t i = 0; i < PB_VIDMM_PREFERRED; i++) {
		if (allocation->preferred[i] != 0 &&
		    (info.SupportedWriteSegmentSet >> (allocation->preferred[i] - 1) & 1u) == 0)
			return fail(manager, "the miniport does not support a segment");
	}
	return true;
}

struct pb_vidmm_allocation *pb_vidmm_create(struct pb_vidmm *manager, uint64_t bytes, uint32_t first,
					    uint32_t second)
{
	struct pb_vidmm_allocation *allocation = &manager->allocations[manager->allocation_count];

	if (manager->allocation_count == PB_VIDMM_ALLOCATIONS) {
		(void)fail(manager, "too many allocations");
		return NULL;
	}
	*allocation = (struct pb_vidmm_allocation){.preferred = {first, second}};
	/* Whole pages are transferred, so whole pages are discarded: the miniport's object has their size. */
	bytes = (bytes + PB_PAGE_BYTES - 1) / PB_PAGE_BYTES * PB_PAGE_BYTES;
	manager->allocation_count++;
	return call_create(manager, allocation, bytes) && make_mdl(manager, allocation) ? allocation : NULL;
}

bool pb_vidmm_buffer_make(struct pb_vidmm *manager, struct pb_vidmm_buffer *buffer, uint32_t allocations,
			  uint32_t patches)
{
	*buffer = (struct pb_vidmm_buffer){.private_size = (uint32_t)pb_wddm_private_bytes(
						   manager->os->adapter.config.allocations, patches),
					   .location_room = patches,
					   .allocation_room = allocations};
	buffer->private_data = malloc(buffer->private_size);
	buffer->named = calloc(allocations, sizeof(struct pb_vidmm_allocation *));
	buffer->list = calloc(allocations, sizeof(*buffer->list));
	buffer->rendered = calloc(allocations, sizeof(*buffer->rendered));
	buffer->locations = calloc(patches, sizeof(*buffer->locations));
	if (buffer->private_data == NULL || buffer->named == NULL || buffer->list == NULL ||
	    buffer->rendered == NULL || buffer->locations == NULL)
		return fail(manager, "out of memory");
	return pb_memory_allocate(manager->system, PB_PAGE_BYTES, PB_PAGE_BYTES, &buffer->memory) ==
		       PB_ERROR_OK ||
	       fail(manager, "too little system memory for a DMA buffer");
}

void pb_vidmm_buffer_free(struct pb_vidmm_buffer *buffer)
{
	free(buffer->private_data);
	free(buffer->named);
	free(buffer->list);
	free(buffer->rendered);
	free(buffer->locations);
}

/* ---- start and stop ---- */

/** Asks the miniport for its segments, in two calls: how many, and which. */
static bool query_segments(struct pb_vidmm *manager, struct pb_dxgk_querysegmentout3 *out)
{
	struct pb_dxgk_segmentdescriptor3 descriptors[PB_VIDMM_SEGMENTS];
	const struct pb_dxgkarg_queryadapterinfo query = {
		.Type = PB_DXGK_QUERY_QUERYSEGMENT3, .pOutputData = out, .OutputDataSize = sizeof(*out)};

	if (pb_wddm_query_adapter_info(&manager->os->adapter, &query) != PB_STATUS_SUCCESS ||
	    out->NbSegment > PB_VIDMM_SEGMENTS)
		return fail(manager, "QueryAdapterInfo: no usable segments");
	out->pSegmentDescriptor = descriptors;
	if (pb_wddm_query_adapter_info(&manager->os->adapter, &query) != PB_STATUS_SUCCESS)
		return fail(manager, "QueryAdapterInfo: no segments");
	manager->segment_count = out->NbSegment;
	for (uint32_t i = 0; i < out->NbSegment; i++) {
		manager->segments[i] = (struct pb_vidmm_segment){
			.id = i + 1,
			.aperture = (descriptors[i].Flags & PB_DXGK_SEGMENT_APERTURE) != 0,
			.base = descriptors[i].BaseAddress,
			.bytes = descriptors[i].Size,
			.rover = descriptors[i].BaseAddress,
		};
	}
	return true;
}

bool pb_vidmm_start(struct pb_vidmm *manager, struct pb_os *os, uint32_t paging_node, uint32_t system_bytes)
{
	struct pb_dxgk_querysegmentout3 out = {.NbSegment = 0};

	*manager = (struct pb_vidmm){.os = os,
				     .system = os->adapter.config.segments[PB_SEGMENT_SYSTEM],
				     .paging_node = paging_node};
	os->client = pb_vidmm_client(manager);
	if (!query_segments(manager, &out) ||
	    !pb_vidmm_paging_start(manager, out.PagingBufferSize, out.PagingBufferPrivateDataSize))
		return false;
	return pb_memory_allocate(manager->system, system_bytes, PB_PAGE_BYTES, &manager->pages) ==
		       PB_ERROR_OK ||
	       fail(manager, "too little system memory");
}

void pb_vidmm_stop(struct pb_vidmm *manager)
{
	if (manager->os == NULL)
		return;
	for (uint32_t i = 0; i < manager->allocation_count; i++)
		free(manager->allocations[i].mdl);
	pb_vidmm_paging_stop(manager);
}
