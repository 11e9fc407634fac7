/* SPDX-License-Identifier: MIT */
/* The paging buffers of the video memory manager. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#include "host/tool/wddm_memory.h"
#include "patchbay/names.h"

static bool fail(struct pb_vidmm *manager, const char *what)
{
	return pb_os_fail(manager->os, "paging: %s", what);
}

/**
 * Maps the memory that segment 0 is a part of a second time. An old size of 0 makes mremap() do that, for memory that is
 * shared; other memory has no second mapping. @return where that memory begins for the host
 */
static uint8_t *map_again(const struct pb_segment *system, struct pb_vidmm_paging *paging)
{
	const struct pb_link *link = system->channel->link;
	uint8_t *memory = system->host_memory != NULL ? system->host_memory : link->memory;

	paging->alias_bytes =
		system->host_memory != NULL ? system->request.backing_bytes : link->memory_bytes;
	paging->alias = mremap(memory, 0, paging->alias_bytes, MREMAP_MAYMOVE);
	if (paging->alias == MAP_FAILED)
		paging->alias = NULL;
	return memory;
}

bool pb_vidmm_paging_start(struct pb_vidmm *manager, uint32_t bytes, uint32_t private_bytes)
{
	struct pb_vidmm_paging *paging = &manager->paging;
	const uint8_t *memory;
	const enum pb_error error =
		pb_memory_allocate(manager->system, bytes, PB_PAGE_BYTES, &paging->memory);

	if (error != PB_ERROR_OK)
		return pb_os_fail(manager->os, "a paging buffer of %u bytes: %s", (unsigned)bytes,
				  pb_error_meaning(error));
	paging->private_data = malloc(private_bytes);
	if (paging->private_data == NULL)
		return fail(manager, "out of memory");
	paging->private_size = private_bytes;
	memory = map_again(manager->system, paging);
	paging->mapping = paging->memory.bytes_host;
	if (paging->alias != NULL)
		paging->mapping = (uint8_t *)paging->alias + (paging->memory.bytes_host - memory);
	return true;
}

void pb_vidmm_paging_stop(struct pb_vidmm *manager)
{
	struct pb_vidmm_paging *paging = &manager->paging;

	if (paging->alias != NULL)
		(void)munmap(paging->alias, paging->alias_bytes);
	free(paging->private_data);
}

/** Steps until the paging buffer has left. Meanwhile the manager prepares no packet: the buffer is in use. */
static bool await(struct pb_vidmm *manager)
{
	const bool preparing = manager->os->preparing;

	manager->os->preparing = true;
	while (manager->paging.running && pb_os_step(manager->os))
		continue;
	manager->os->preparing = preparing;
	manager->paging.used = manager->paging.private_used = 0;
	return !manager->os->failed;
}

bool pb_vidmm_flush(struct pb_vidmm *manager)
{
	struct pb_vidmm_paging *paging = &manager->paging;
	struct pb_os_packet *packet = &paging->packet;

	if (paging->used == 0)
		return true;
	packet->node = manager->paging_node;
	packet->flags = PB_FLAG_PAGING;
	packet->has_fence = false;
	/* The documents have both: the scheduler may call Patch for a paging buffer, without lists, or leave it out. */
	packet->patch = manager->figures.paging % 2u == 0;
	packet->built_behind = manager->os->record.count;
	packet->arguments = (struct pb_dxgkarg_patch){
		.DmaBufferSegmentId = PB_SEGMENT_SYSTEM,
		.DmaBufferPhysicalAddress = paging->memory.os_address,
		.pDmaBuffer = paging->mapping,
		.DmaBufferSize = paging->memory.bytes,
		.DmaBufferSubmissionEndOffset = paging->used,
		.pDmaBufferPrivateData = paging->private_data,
		.DmaBufferPrivateDataSize = paging->private_size,
		.DmaBufferPrivateDataSubmissionEndOffset = paging->private_used,
		.Flags = PB_FLAG_PAGING,
	};
	paging->running = true;
	pb_os_enqueue(manager->os, packet);
	manager->figures.paging++;
	return await(manager);
}

/** Calls BuildPagingBuffer, submitting the buffer whenever it is full. */
static bool build(struct pb_vidmm *manager, struct pb_dxgkarg_buildpagingbuffer operation)
{
	struct pb_vidmm_paging *paging = &manager->paging;
	struct pb_ddi_record *record = &manager->os->record;
	uint32_t status;

	do {
		const uint32_t node = manager->paging_node;
		size_t call;

		operation.pDmaBuffer = paging->mapping + paging->used;
		operation.DmaSize = paging->memory.bytes - paging->used;
		operation.pDmaBufferPrivateData = (uint8_t *)paging->private_data + paging->private_used;
		operation.DmaBufferPrivateDataSize = paging->private_size - paging->private_used;
		call = pb_ddi_began(record, PB_DDI_BUILD_PAGING_BUFFER, node);
		if (paging->used == 0)
			paging->packet.built = call;
		status = pb_ddi_ended(record, call,
				      pb_wddm_build_paging_buffer(&manager->os->adapter, &operation));
		paging->used = (uint32_t)((uint8_t *)operation.pDmaBuffer - paging->mapping);
		paging->private_used = (uint32_t)((uint8_t *)operation.pDmaBufferPrivateData -
						  (uint8_t *)paging->private_data);
		if (status != PB_STATUS_SUCCESS && status != PB_STATUS_INSUFFICIENT_DMA_BUFFER)
			return fail(manager, "BuildPagingBuffer failed");
		if (status != PB_STATUS_SUCCESS && paging->used == 0)
			return fail(manager, "BuildPagingBuffer needs more than an empty buffer");
		if (status != PB_STATUS_SUCCESS && !pb_vidmm_flush(manager))
			return false;
	} while (status != PB_STATUS_SUCCESS);
	return true;
}

static struct pb_dxgkarg_buildpagingbuffer transfer(const struct pb_vidmm_allocation *allocation, bool in)
{
	const struct pb_dxgk_location system = {.pMdl = allocation->mdl};
	const struct pb_dxgk_location segment = {.SegmentId = allocation->segment->id,
						 .SegmentAddress = allocation->address};

	return (struct pb_dxgkarg_buildpagingbuffer){
		.Operation = PB_DXGK_OPERATION_TRANSFER,
		.Transfer = {.hAllocation = (void *)(uintptr_t)&allocation->object,
			     .TransferSize = allocation->bytes,
			     .Source = in ? system : segment,
			     .Destination = in ? segment : system},
	};
}

static uint64_t page_of(const struct pb_vidmm_allocation *allocation)
{
	return (allocation->address - allocation->segment->base) / PB_PAGE_BYTES;
}

bool pb_vidmm_page_in(struct pb_vidmm *manager, struct pb_vidmm_allocation *allocation)
{
	manager->figures.page_ins++;
	if (!allocation->segment->aperture) {
		manager->figures.bytes += allocation->bytes;
		return build(manager, transfer(allocation, true));
	}
	return build(manager,
		     (struct pb_dxgkarg_buildpagingbuffer){
			     .Operation = PB_DXGK_OPERATION_MAP_APERTURE_SEGMENT,
			     .MapApertureSegment = {.hAllocation = &allocation->object,
						    .SegmentId = allocation->segment->id,
						    .OffsetInPages = page_of(allocation),
						    .NumberOfPages = allocation->bytes / PB_PAGE_BYTES,
						    .pMdl = allocation->mdl},
		     });
}

bool pb_vidmm_page_out(struct pb_vidmm *manager, struct pb_vidmm_allocation *allocation, bool keep)
{
	struct pb_dxgkarg_buildpagingbuffer operation = {
		.Operation = PB_DXGK_OPERATION_DISCARD_CONTENT,
		.DiscardContent = {.hAllocation = &allocation->object,
				   .SegmentId = allocation->segment->id,
				   .SegmentAddress = allocation->address},
	};

	manager->figures.evictions++;
	if (allocation->segment->aperture) {
		operation = (struct pb_dxgkarg_buildpagingbuffer){
			.Operation = PB_DXGK_OPERATION_UNMAP_APERTURE_SEGMENT,
			.UnmapApertureSegment = {.hAllocation = &allocation->object,
						 .SegmentId = allocation->segment->id,
						 .OffsetInPages = page_of(allocation),
						 .NumberOfPages = allocation->bytes / PB_PAGE_BYTES},
		};
	} else if (keep && allocation->changed) {
		manager->figures.bytes += allocation->bytes;
		if (!build(manager, transfer(allocation, false)))
			return false;
	}
	if (!build(manager, operation))
		return false;
	allocation->segment = NULL;
	allocation->changed = false;
	return true;
}
