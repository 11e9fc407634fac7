/* SPDX-License-Identifier: MIT */
/*
 * BuildPagingBuffer: converts the OS's operations to those of include/patchbay/paging.h. Where the buffer lies is known
 * only when it is submitted. The page list of a MAP_APERTURE packet stands in the buffer itself; its address is written
 * by pb_wddm_paging_fix(), which SubmitCommand calls with the private data that the calls wrote.
 */
#include "patchbay/paging.h"

#include <string.h>

#include "host/wddm/internal.h"

static bool in_segment(const struct pb_wddm_adapter *adapter, uint32_t id, uint64_t address, uint64_t bytes,
		       struct pb_paging_memory *memory)
{
	memory->pages = NULL;
	return id != PB_SEGMENT_SYSTEM &&
	       pb_wddm_gpu_address(adapter, id, address, bytes, &memory->gpu_address);
}

/**
 * Converts pages of system memory, named by frame numbers, to GPU addresses through segment 0.
 * @return false: a page does not lie in segment 0
 */
static bool in_system(const struct pb_wddm_adapter *adapter, const struct pb_mdl *mdl, uint32_t first,
		      uint64_t bytes, struct pb_paging_memory *memory)
{
	const struct pb_segment_request *system = &adapter->config.segments[PB_SEGMENT_SYSTEM]->request;
	const uint64_t pages = bytes / PB_PAGE_BYTES + (bytes % PB_PAGE_BYTES != 0);
	const uintptr_t *frames = (const uintptr_t *)(const void *)(mdl + 1) + first;

	if (pages > system->size / PB_PAGE_BYTES)
		return false;
	for (uint64_t i = 0; i < pages; i++) {
		if (frames[i] - system->os_base / PB_PAGE_BYTES >= system->size / PB_PAGE_BYTES)
			return false;
	}
	memory->pages = frames;
	memory->gpu_address = system->gpu_base - system->os_base;
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
	return in_system(adapter, from->pMdl, build->Transfer.MdlOffset, build->Transfer.TransferSize, to);
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
	const uint64_t pages = build->MapApertureSegment.NumberOfPages;

	return in_aperture(adapter, build->MapApertureSegment.SegmentId,
			   build->MapApertureSegment.OffsetInPages, pages, operation) &&
	       in_system(adapter, build->MapApertureSegment.pMdl, build->MapApertureSegment.MdlOffset,
			 pages * PB_PAGE_BYTES, &operation->source);
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
	switch ((enum pb_dxgk_operation)build->Operation) {
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
	case PB_DXGK_OPERATION_INIT_CONTEXT_RESOURCE:
		/* Caches and resources of contexts that this card does not have: 0 bytes, no packet. */
		operation->kind = PB_PAGING_DISCARD;
		return true;
	case PB_DXGK_OPERATION_SPECIAL_LOCK_TRANSFER:
		return false;
	}
	return false;
}

/* ---- private data ---- */

#define PAGING_MAGIC 0x47505042u /* "BPPG" */
/** Largest room that one call uses: a page list in it fits one MAP_APERTURE packet. */
#define PAGING_BYTES_MAX 0x100000u

/** Private data of one call that wrote packets. */
struct paging_record {
	uint32_t magic;    /* PAGING_MAGIC */
	uint32_t bytes;    /* size of the packets */
	uint32_t list;     /* offset of the page list whose address the packets end with; 0: none */
	uint32_t reserved; /* 0 */
};
PB_STATIC_ASSERT(sizeof(struct paging_record) <= PB_WDDM_PAGING_RECORD_BYTES, "room of a record");

/** Returns the offset of a page list: behind the header of its NOP, at a GPU address that is a multiple of 8. */
static uint32_t list_offset(uint32_t page_byte)
{
	return page_byte % sizeof(uint64_t) == 0 ? 2 * sizeof(uint32_t) : sizeof(uint32_t);
}

/** Appends the record of one call that wrote packets, and advances the OS's two pointers. The sizes are inputs. */
static void record_call(struct pb_dxgkarg_buildpagingbuffer *build, const struct pb_paging_buffer *start,
			const struct pb_paging_buffer *end)
{
	const bool map = build->Operation == PB_DXGK_OPERATION_MAP_APERTURE_SEGMENT;
	const struct paging_record record = {
		.magic = PAGING_MAGIC,
		.bytes = start->dma_size - end->dma_size,
		.list = map ? list_offset((uint32_t)start->gpu_address) : 0,
	};

	if (record.bytes == 0)
		return;
	memcpy(build->pDmaBufferPrivateData, &record, sizeof(record));
	build->pDmaBufferPrivateData = (uint8_t *)build->pDmaBufferPrivateData + PB_WDDM_PAGING_RECORD_BYTES;
	build->pDmaBuffer = end->dma_buffer;
}

/** Returns whether a record can be of packets in that room: with a page list, those of a MAP_APERTURE. */
static bool record_is_sound(const struct paging_record *record, uint32_t room)
{
	return record->magic == PAGING_MAGIC && record->bytes <= room &&
	       record->bytes % sizeof(uint32_t) == 0 &&
	       (record->list == 0 || (record->bytes + sizeof(uint32_t) >= PB_PAGING_BYTES_MIN &&
				      record->list <= 2 * sizeof(uint32_t)));
}

bool pb_wddm_paging_fix(uint8_t *packets, uint64_t gpu_address, uint32_t bytes, const uint8_t *records,
			uint32_t size)
{
	uint32_t done = 0;

	for (; size >= PB_WDDM_PAGING_RECORD_BYTES; size -= PB_WDDM_PAGING_RECORD_BYTES) {
		struct paging_record record;

		memcpy(&record, records, sizeof(record));
		records += PB_WDDM_PAGING_RECORD_BYTES;
		if (!record_is_sound(&record, bytes - done))
			return false;
		if (record.list != 0) {
			const uint64_t list = gpu_address + done + record.list;
			uint32_t *operand = (uint32_t *)(void *)(packets + done + record.bytes) - 2;

			pb_shared_write32(operand, (uint32_t)list);
			pb_shared_write32(operand + 1, (uint32_t)(list >> 32));
		}
		done += record.bytes;
	}
	return done == bytes && size == 0;
}

/* ---- BuildPagingBuffer ---- */

static uint32_t room_of(const struct pb_dxgkarg_buildpagingbuffer *build)
{
	if (build->DmaBufferPrivateDataSize < PB_WDDM_PAGING_RECORD_BYTES)
		return 0;
	if (build->DmaSize > PAGING_BYTES_MAX)
		return PAGING_BYTES_MAX;
	return build->DmaSize / (uint32_t)sizeof(uint32_t) * (uint32_t)sizeof(uint32_t);
}

uint32_t pb_wddm_build_paging_buffer(struct pb_wddm_adapter *adapter,
				     struct pb_dxgkarg_buildpagingbuffer *build)
{
	/* A mapping keeps the place of a byte in its page: the alignment of the packets is known, their address is not. */
	const struct pb_paging_buffer start = {
		.dma_buffer = build->pDmaBuffer,
		.gpu_address = (uintptr_t)build->pDmaBuffer % PB_PAGE_BYTES,
		.dma_size = room_of(build),
	};
	struct pb_paging_buffer buffer = start;
	struct pb_paging_operation operation;
	enum pb_render_status status = PB_RENDER_INVALID_PARAMETER;

	if (convert(adapter, build, &operation))
		status = pb_paging_build(&operation, &buffer);
	if (status == PB_RENDER_INVALID_PARAMETER) {
		pb_wddm_lock(adapter);
		pb_wddm_end(adapter, PB_ERROR_BAD_ARGUMENT);
		pb_wddm_unlock(adapter);
		return PB_STATUS_SUCCESS;
	}
	record_call(build, &start, &buffer);
	build->MultipassOffset = operation.multipass_offset;
	return pb_render_ntstatus(status);
}
