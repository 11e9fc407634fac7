/* SPDX-License-Identifier: MIT */
/* BuildPagingBuffer: converts the OS's operations to those of include/patchbay/paging.h. */
#include "patchbay/paging.h"

#include "host/wddm/internal.h"

/** Converts an OS address to a GPU address. @return false: the segment does not exist or does not hold the range */
static bool in_segment(const struct pb_wddm_adapter *adapter, uint32_t id, uint64_t address, uint64_t bytes,
		       struct pb_paging_memory *memory)
{
	const struct pb_segment *segment =
		id <= PB_WDDM_TRAP_SEGMENT && id != PB_SEGMENT_SYSTEM ? adapter->config.segments[id] : NULL;

	/* An address below the base wraps to a value above any size. */
	if (segment == NULL || bytes > segment->request.size ||
	    address - segment->request.os_base > segment->request.size - bytes)
		return false;
	memory->pages = NULL;
	memory->gpu_address = segment->request.gpu_base + (address - segment->request.os_base);
	return true;
}

/** Converts one side of a transfer. TransferOffset counts bytes in a segment, MdlOffset pages of a page list. */
static bool side(const struct pb_wddm_adapter *adapter, const struct pb_dxgkarg_buildpagingbuffer *build,
		 const struct pb_dxgk_location *from, struct pb_paging_memory *to)
{
	if (from->SegmentId != 0)
		return in_segment(adapter, from->SegmentId,
				  from->SegmentAddress + build->Transfer.TransferOffset,
				  build->Transfer.TransferSize, to);
	to->pages = from->pMdl->pages + build->Transfer.MdlOffset;
	return true;
}

static bool transfer(const struct pb_wddm_adapter *adapter, const struct pb_dxgkarg_buildpagingbuffer *build,
		     struct pb_paging_operation *operation)
{
	operation->bytes = build->Transfer.TransferSize;
	if (operation->bytes == 0)
		return true; /* lost in a reset: source and destination may be invalid */
	return side(adapter, build, &build->Transfer.Source, &operation->source) &&
	       side(adapter, build, &build->Transfer.Destination, &operation->destination);
}

static bool fill(const struct pb_wddm_adapter *adapter, const struct pb_dxgkarg_buildpagingbuffer *build,
		 struct pb_paging_operation *operation)
{
	operation->bytes = build->Fill.FillSize;
	operation->value = build->Fill.FillPattern;
	return in_segment(adapter, build->Fill.Destination.SegmentId, build->Fill.Destination.SegmentAddress,
			  build->Fill.FillSize, &operation->destination);
}

static bool discard(const struct pb_wddm_adapter *adapter, const struct pb_dxgkarg_buildpagingbuffer *build,
		    struct pb_paging_operation *operation)
{
	const struct pb_wddm_allocation *object = build->DiscardContent.hAllocation;

	/* Engines discard whole words. */
	operation->bytes = object != NULL ? object->size / sizeof(uint32_t) * sizeof(uint32_t) : 0;
	return in_segment(adapter, build->DiscardContent.SegmentId, build->DiscardContent.SegmentAddress,
			  operation->bytes, &operation->destination);
}

/** Converts a range of pages of an aperture. @return false: it does not exist */
static bool in_aperture(const struct pb_wddm_adapter *adapter, uint32_t id, uint64_t first, uint64_t pages,
			struct pb_paging_operation *operation)
{
	const struct pb_segment *segment =
		id < PB_WDDM_TRAP_SEGMENT && id != PB_SEGMENT_SYSTEM ? adapter->config.segments[id] : NULL;

	if (segment == NULL || first > UINT32_MAX || pages > UINT32_MAX)
		return false;
	operation->bytes = pages * PB_PAGE_BYTES;
	return in_segment(adapter, id, segment->request.os_base + first * PB_PAGE_BYTES, operation->bytes,
			  &operation->destination);
}

static bool map(const struct pb_wddm_adapter *adapter, const struct pb_dxgkarg_buildpagingbuffer *build,
		struct pb_paging_operation *operation)
{
	operation->source.pages = build->MapApertureSegment.pMdl->pages + build->MapApertureSegment.MdlOffset;
	return in_aperture(adapter, build->MapApertureSegment.SegmentId,
			   build->MapApertureSegment.OffsetInPages, build->MapApertureSegment.NumberOfPages,
			   operation);
}

static bool unmap(const struct pb_wddm_adapter *adapter, const struct pb_dxgkarg_buildpagingbuffer *build,
		  struct pb_paging_operation *operation)
{
	return in_aperture(adapter, build->UnmapApertureSegment.SegmentId,
			   build->UnmapApertureSegment.OffsetInPages,
			   build->UnmapApertureSegment.NumberOfPages, operation);
}

/** Converts an operation; the numbers of both enumerations agree. @return false: the card cannot do it */
static bool convert(const struct pb_wddm_adapter *adapter, const struct pb_dxgkarg_buildpagingbuffer *build,
		    struct pb_paging_operation *operation)
{
	*operation = (struct pb_paging_operation){.kind = (enum pb_paging_kind)build->Operation,
						  .multipass_offset = build->MultipassOffset};
	switch (build->Operation) {
	case PB_DXGK_OPERATION_TRANSFER:
		return transfer(adapter, build, operation);
	case PB_DXGK_OPERATION_FILL:
		return fill(adapter, build, operation);
	case PB_DXGK_OPERATION_DISCARD_CONTENT:
		return discard(adapter, build, operation);
	case PB_DXGK_OPERATION_MAP_APERTURE_SEGMENT:
		return map(adapter, build, operation);
	case PB_DXGK_OPERATION_UNMAP_APERTURE_SEGMENT:
		return unmap(adapter, build, operation);
	case PB_DXGK_OPERATION_READ_PHYSICAL:
	case PB_DXGK_OPERATION_WRITE_PHYSICAL:
		/* They flush caches that this card does not have: 0 bytes, no packet. */
		operation->kind = PB_PAGING_DISCARD;
		return true;
	case PB_DXGK_OPERATION_SPECIAL_LOCK_TRANSFER:
		return false;
	}
	return false;
}

static uint64_t engine_address(const struct pb_wddm_adapter *adapter, const uint32_t *dma_buffer)
{
	const struct pb_segment *system = adapter->config.segments[PB_SEGMENT_SYSTEM];
	const uint8_t *start = system->channel->link->memory + system->memory_offset;

	return system->request.gpu_base + (uintptr_t)dma_buffer - (uintptr_t)start;
}

uint32_t pb_wddm_build_paging_buffer(struct pb_wddm_adapter *adapter,
				     struct pb_dxgkarg_buildpagingbuffer *build)
{
	struct pb_paging_buffer buffer = {
		.dma_buffer = build->pDmaBuffer,
		.gpu_address = engine_address(adapter, build->pDmaBuffer),
		.dma_size = build->DmaSize / (uint32_t)sizeof(uint32_t) * (uint32_t)sizeof(uint32_t),
	};
	struct pb_paging_operation operation;
	enum pb_render_status status = PB_RENDER_INVALID_PARAMETER;

	if (convert(adapter, build, &operation))
		status = pb_paging_build(&operation, &buffer);
	if (status == PB_RENDER_INVALID_PARAMETER) {
		if (adapter->error == PB_ERROR_OK)
			adapter->error = PB_ERROR_BAD_ARGUMENT;
		return PB_STATUS_SUCCESS;
	}
	build->pDmaBuffer = buffer.dma_buffer;
	build->MultipassOffset = operation.multipass_offset;
	return pb_render_ntstatus(status);
}
