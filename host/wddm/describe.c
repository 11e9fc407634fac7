/* SPDX-License-Identifier: MIT */
/*
 * QueryAdapterInfo, the creation of contexts and allocations, CollectDbgInfo: the card in the OS's structs. Fields that
 * the OS's version does not have are not written.
 */
#include <string.h>

#include "host/wddm/internal.h"
#include "patchbay/render.h"
#include "patchbay/trace.h"

/** DMA buffers of a context: contiguous memory, so that larger ones are hard to get. */
#define DMA_BUFFER_BYTES 0x10000u
/** One paging buffer, and private data for as many calls as fit it. */
#define PAGING_BUFFER_BYTES  0x10000u
#define PAGING_PRIVATE_BYTES (256u * PB_WDDM_PAGING_RECORD_BYTES)
/** AllocationListSize of a GDI context, whatever the driver prefers. */
#define GDI_ALLOCATIONS 256u
#define PRIORITY_NORMAL 0x78000000u

/** Bytes of DXGK_DRIVERCAPS by version: host/wddm/ddi_layout_adapter.def. */
static uint32_t driver_caps_bytes(uint32_t version)
{
	if (version < PB_DXGKDDI_WIN7)
		return (uint32_t)offsetof(struct pb_dxgk_drivercaps, WDDMVersion);
	if (version < PB_DXGKDDI_WIN8)
		return (uint32_t)offsetof(struct pb_dxgk_drivercaps, PreemptionCaps);
	/* WDDM 1.3 begins in the padding of its predecessor. */
	return version < PB_DXGKDDI_WDDM1_3 ? (uint32_t)offsetof(struct pb_dxgk_drivercaps, MaxOverlayPlanes)
					    : (uint32_t)sizeof(struct pb_dxgk_drivercaps);
}

static uint32_t wddm_version(uint32_t version)
{
	if (version >= PB_DXGKDDI_WDDM1_3)
		return 0x1300u;
	return version >= PB_DXGKDDI_WIN8 ? 0x1200u : 0x1000u;
}

static bool is_aperture(const struct pb_segment *segment)
{
	return segment->request.kind == PB_SEGMENT_APERTURE;
}

/** Whether a number has a place in the OS's SIZE_T, which has 32 bits on 32-bit Windows. */
static bool fits(uint64_t value)
{
	return (size_t)value == value;
}

/** Returns the number of segments 1 to n; 0: their ids have a gap, or SIZE_T does not hold the size of one. */
static uint32_t segment_count(const struct pb_wddm_config *config)
{
	uint32_t count = 0;

	while (count + 1 < PB_WDDM_TRAP_SEGMENT && config->segments[count + 1] != NULL) {
		count++;
		if (!fits(config->segments[count]->request.size))
			return 0;
	}
	for (uint32_t id = count + 1; id < PB_WDDM_TRAP_SEGMENT; id++) {
		if (config->segments[id] != NULL)
			return 0;
	}
	return count;
}

static size_t aperture_bytes(const struct pb_wddm_config *config)
{
	uint64_t bytes = 0;

	for (uint32_t id = 1; id < PB_WDDM_TRAP_SEGMENT; id++) {
		if (config->segments[id] != NULL && is_aperture(config->segments[id]))
			bytes += config->segments[id]->request.size;
	}
	return fits(bytes) ? (size_t)bytes : SIZE_MAX;
}

/* ---- QueryAdapterInfo ---- */

/** What Present and RenderKm refuse. Vista has one of the bits; the others are reserved there. */
static uint32_t presentation_caps(uint32_t version)
{
	if (version < PB_DXGKDDI_WIN7)
		return PB_DXGK_PRESENT_NO_OVERLAP;
	return PB_DXGK_PRESENT_NO_OVERLAP | PB_DXGK_PRESENT_NO_SAME_BITMAP | PB_DXGK_PRESENT_NO_OVERLAPPED |
	       PB_DXGK_PRESENT_NO_OVERLAPPED_BIT_BLT;
}

static uint32_t driver_caps(const struct pb_wddm_config *config,
			    const struct pb_dxgkarg_queryadapterinfo *query)
{
	const struct pb_segment_request *system = &config->segments[PB_SEGMENT_SYSTEM]->request;
	const uint32_t bytes = driver_caps_bytes(config->interface_version);
	const bool win8 = config->interface_version >= PB_DXGKDDI_WIN8;
	struct pb_dxgk_drivercaps caps = {
		.HighestAcceptableAddress = system->os_base + system->size - 1,
		.MaxAllocationListSlotId = PB_RENDER_SLOT_VERTICES,
		.ApertureSegmentCommitLimit = aperture_bytes(config),
		.PresentationCaps = presentation_caps(config->interface_version),
		.FlipCaps = win8 ? PB_DXGK_FLIP_ON_VSYNC_MMIO : 0,
		.SchedulingCaps = PB_DXGK_SCHEDULE_MULTI_ENGINE | (win8 ? PB_DXGK_SCHEDULE_PREEMPTION : 0),
		.MemoryManagementCaps = {0, config->paging_node},
		.GpuEngineTopology = {config->node_count},
		.WDDMVersion = wddm_version(config->interface_version),
		.PreemptionCaps = {PB_DXGK_PREEMPT_AT_DMA_BUFFERS, PB_DXGK_PREEMPT_AT_DMA_BUFFERS},
		.SupportNonVGA = 1,
		.SupportPerEngineTDR = 1,
	};

	if (query->OutputDataSize < bytes)
		return PB_STATUS_BUFFER_TOO_SMALL;
	memcpy(query->pOutputData, &caps, bytes);
	return PB_STATUS_SUCCESS;
}

static struct pb_dxgk_segmentdescriptor3 describe_segment(const struct pb_wddm_config *config, uint32_t id)
{
	const struct pb_segment *segment = config->segments[id];
	const bool visible = !is_aperture(segment) && config->cpu_address != 0 &&
			     segment->request.backing_bytes == segment->request.size;

	return (struct pb_dxgk_segmentdescriptor3){
		.Flags = (is_aperture(segment) ? PB_DXGK_SEGMENT_APERTURE : 0) |
			 (visible ? PB_DXGK_SEGMENT_CPU_VISIBLE : 0),
		.BaseAddress = segment->request.os_base,
		.CpuTranslatedAddress = visible ? config->cpu_address + segment->memory_offset : 0,
		.Size = (size_t)segment->request.size,
		.CommitLimit = is_aperture(segment) ? (size_t)segment->request.size : 0,
	};
}

/** Answers QUERYSEGMENT and QUERYSEGMENT3: DXGK_QUERYSEGMENTOUT and -OUT3 differ in their elements' type alone. */
static uint32_t segments(const struct pb_wddm_config *config, const struct pb_dxgkarg_queryadapterinfo *query)
{
	struct pb_dxgk_querysegmentout3 *out = query->pOutputData;
	const uint32_t count = segment_count(config);

	if (count == 0)
		return PB_STATUS_INVALID_PARAMETER;
	if (query->OutputDataSize < sizeof(*out) ||
	    (out->pSegmentDescriptor != NULL && out->NbSegment < count))
		return PB_STATUS_BUFFER_TOO_SMALL;
	out->NbSegment = count;
	out->PagingBufferSegmentId = 0;
	out->PagingBufferSize = PAGING_BUFFER_BYTES;
	out->PagingBufferPrivateDataSize = PAGING_PRIVATE_BYTES;
	for (uint32_t i = 0; i < count && out->pSegmentDescriptor != NULL; i++) {
		const struct pb_dxgk_segmentdescriptor3 segment = describe_segment(config, i + 1);
		const struct pb_dxgk_segmentdescriptor old = {
			.BaseAddress = segment.BaseAddress,
			.CpuTranslatedAddress = segment.CpuTranslatedAddress,
			.Size = segment.Size,
			.CommitLimit = segment.CommitLimit,
			.Flags = segment.Flags,
		};

		if (query->Type == PB_DXGK_QUERY_QUERYSEGMENT3)
			out->pSegmentDescriptor[i] = segment;
		else
			((struct pb_dxgk_querysegmentout *)query->pOutputData)->pSegmentDescriptor[i] = old;
	}
	return PB_STATUS_SUCCESS;
}
PB_STATIC_ASSERT(offsetof(struct pb_dxgk_querysegmentout, pSegmentDescriptor) ==
				 offsetof(struct pb_dxgk_querysegmentout3, pSegmentDescriptor) &&
			 sizeof(struct pb_dxgk_querysegmentout) == sizeof(struct pb_dxgk_querysegmentout3),
		 "one answer serves both types");

uint32_t pb_wddm_query_adapter_info(const struct pb_wddm_adapter *adapter,
				    const struct pb_dxgkarg_queryadapterinfo *query)
{
	const struct pb_wddm_config *config = &adapter->config;

	if (query->Type == PB_DXGK_QUERY_DRIVERCAPS)
		return driver_caps(config, query);
	if (query->Type == PB_DXGK_QUERY_QUERYSEGMENT ||
	    (query->Type == PB_DXGK_QUERY_QUERYSEGMENT3 && config->interface_version >= PB_DXGKDDI_WIN8))
		return segments(config, query);
	return PB_STATUS_NOT_SUPPORTED;
}

/* ---- contexts ---- */

uint32_t pb_wddm_create_context(struct pb_wddm_adapter *adapter, struct pb_wddm_context *context,
				struct pb_dxgkarg_createcontext *create, void *staging, uint32_t staging_size)
{
	const struct pb_wddm_config *config = &adapter->config;
	const uint32_t dma_max = config->channel->card.capabilities[PB_CAPABILITY_BUFFER_BYTES_MAX];
	const bool gdi = (create->Flags & PB_DXGK_CONTEXT_GDI) != 0;
	struct pb_dxgk_contextinfo *info = &create->ContextInfo;
	enum pb_error error;

	if (create->NodeOrdinal >= config->node_count || create->EngineAffinity > 1 ||
	    (gdi && config->allocations < GDI_ALLOCATIONS))
		return PB_STATUS_INVALID_PARAMETER;
	error = pb_wddm_context_create(adapter, context, create->NodeOrdinal, staging, staging_size);
	if (error != PB_ERROR_OK)
		return error == PB_ERROR_NO_SPACE ? pb_render_ntstatus(PB_RENDER_NO_MEMORY)
						  : PB_STATUS_UNSUCCESSFUL;
	create->hContext = context;
	info->DmaBufferSize = dma_max < DMA_BUFFER_BYTES ? dma_max : DMA_BUFFER_BYTES;
	info->DmaBufferSegmentSet = 0;
	info->DmaBufferPrivateDataSize =
		(uint32_t)pb_wddm_private_bytes(config->allocations, config->patches);
	info->AllocationListSize = gdi ? GDI_ALLOCATIONS : config->allocations;
	info->PatchLocationListSize = config->patches;
	if (config->interface_version >= PB_DXGKDDI_WIN7)
		info->Reserved = 0;
	return PB_STATUS_SUCCESS;
}

/* ---- allocations ---- */

/** Segments that an allocation may be in: all. */
static uint32_t segment_set(const struct pb_wddm_config *config)
{
	uint32_t set = 0;

	for (uint32_t id = 1; id < PB_WDDM_TRAP_SEGMENT; id++) {
		if (config->segments[id] != NULL)
			set |= 1u << (id - 1);
	}
	return set;
}

/** Returns the first segment with memory; 0: there is none. */
static uint32_t home_segment(const struct pb_wddm_config *config)
{
	for (uint32_t id = 1; id < PB_WDDM_TRAP_SEGMENT; id++) {
		if (config->segments[id] != NULL && !is_aperture(config->segments[id]))
			return id;
	}
	return 0;
}

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + PB_PAGE_BYTES - 1) / PB_PAGE_BYTES * PB_PAGE_BYTES;
}

/** Reads the private data once. @return false: it is no struct pb_wddm_allocation_data */
static bool read_data(const struct pb_dxgk_allocationinfo *info, struct pb_wddm_allocation_data *data)
{
	if (info->pPrivateDriverData == NULL || info->PrivateDriverDataSize != sizeof(*data))
		return false;
	memcpy(data, info->pPrivateDriverData, sizeof(*data));
	return data->magic == PB_WDDM_ALLOCATION_MAGIC && data->flags == 0 && data->size != 0 &&
	       data->size <= PB_WDDM_ALLOCATION_BYTES_MAX && fits(whole_pages(data->size)) &&
	       (uint64_t)data->pitch * data->height <= data->size;
}

static void create_one(const struct pb_wddm_config *config, const struct pb_wddm_allocation_data *data,
		       struct pb_dxgk_allocationinfo *info, struct pb_wddm_allocation *object)
{
	*object = (struct pb_wddm_allocation){
		.size = data->size,
		.pitch = data->pitch,
		.width = data->width,
		.height = data->height,
		.format = data->format,
	};
	info->Alignment = PB_PAGE_BYTES;
	info->Size = (size_t)whole_pages(data->size);
	info->PitchAlignedSize = 0;
	info->HintedBank = 0;
	info->PreferredSegment = home_segment(config);
	info->SupportedReadSegmentSet = segment_set(config);
	info->SupportedWriteSegmentSet = segment_set(config);
	info->EvictionSegmentSet = 0;
	info->MaximumRenamingListLength = 0;
	info->hAllocation = object;
	info->Flags = config->cpu_address != 0 ? PB_DXGK_ALLOCATION_CPU_VISIBLE : 0;
	info->pAllocationUsageHint = NULL;
	info->AllocationPriority = PRIORITY_NORMAL;
}

uint32_t pb_wddm_create_allocation(const struct pb_wddm_adapter *adapter,
				   struct pb_dxgkarg_createallocation *create,
				   struct pb_wddm_allocation *const *objects)
{
	struct pb_wddm_allocation_data data;

	for (uint32_t i = 0; i < create->NumAllocations; i++) {
		if (!read_data(&create->pAllocationInfo[i], &data))
			return PB_STATUS_INVALID_PARAMETER;
	}
	/* The OS has copied the data of the process: it does not change between the two passes. */
	for (uint32_t i = 0; i < create->NumAllocations; i++) {
		if (read_data(&create->pAllocationInfo[i], &data))
			create_one(&adapter->config, &data, &create->pAllocationInfo[i], objects[i]);
	}
	return PB_STATUS_SUCCESS;
}

uint32_t pb_wddm_open_allocation(const struct pb_dxgkarg_openallocation *open,
				 struct pb_wddm_allocation *const *objects)
{
	for (uint32_t i = 0; i < open->NumAllocations; i++)
		open->pOpenAllocation[i].hDeviceSpecificAllocation = objects[i];
	return PB_STATUS_SUCCESS;
}

uint32_t pb_wddm_describe_allocation(struct pb_dxgkarg_describeallocation *describe)
{
	const struct pb_wddm_allocation *object = describe->hAllocation;

	describe->Width = object->width;
	describe->Height = object->height;
	describe->Format = object->format;
	memset(describe->MultisampleMethod, 0, sizeof(describe->MultisampleMethod));
	memset(describe->RefreshRate, 0, sizeof(describe->RefreshRate));
	describe->PrivateDriverFormatAttribute = 0;
	return PB_STATUS_SUCCESS;
}

/* ---- debug report ---- */

/** Records of the trace that are read at once. */
#define TRACE_CHUNK 16u

/** Moves the records of a list towards its start, so that new ones fit behind them: the oldest are dropped. */
static uint32_t append(struct pb_trace_record *list, uint32_t count, uint32_t room,
		       const struct pb_trace_record *chunk, uint32_t added)
{
	const uint32_t dropped = count + added > room ? count + added - room : 0;

	memmove(list, list + dropped, (count - dropped) * sizeof(*list));
	memcpy(list + (count - dropped), chunk, added * sizeof(*list));
	return count - dropped + added;
}

/** Copies the newest records of the firmware's trace, as many as there is room for. @return their number */
static uint32_t copy_trace(const struct pb_link *link, struct pb_trace_record *list, uint32_t room)
{
	struct pb_trace_record chunk[TRACE_CHUNK];
	struct pb_trace trace;
	uint32_t most = room < TRACE_CHUNK ? room : TRACE_CHUNK;
	uint32_t count = 0;
	uint32_t added = 1;

	if (room == 0 || pb_trace_open(&trace, link) != PB_ERROR_OK)
		return 0;
	/* The firmware goes on writing: no more than the whole ring is read. */
	for (uint32_t read = 0; added != 0 && read < trace.entries; read += most) {
		added = pb_trace_read(&trace, chunk, most);
		count = append(list, count, room, chunk, added);
	}
	return count;
}

/** Returns how many records of the trace fit behind the report. */
static uint32_t trace_room(const struct pb_dxgkarg_collectdbginfo *collect)
{
	size_t room = 0;

	if (collect->BufferSize > sizeof(struct pb_wddm_debug) &&
	    (uintptr_t)collect->pBuffer % sizeof(uint32_t) == 0)
		room = (collect->BufferSize - sizeof(struct pb_wddm_debug)) / sizeof(struct pb_trace_record);
	return room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
}

uint32_t pb_wddm_collect_dbg_info(const struct pb_wddm_adapter *adapter,
				  const struct pb_dxgkarg_collectdbginfo *collect)
{
	struct pb_wddm_debug debug = {
		.magic = PB_WDDM_DEBUG_MAGIC,
		.bytes = sizeof(debug),
		.reason = collect->Reason,
		.error = pb_wddm_get(&adapter->error),
		.dropped = pb_wddm_get(&adapter->events_dropped),
	};
	const size_t bytes = collect->BufferSize < sizeof(debug) ? collect->BufferSize : sizeof(debug);

	for (uint32_t n = 0; n < adapter->config.node_count; n++) {
		const struct pb_wddm_node *node = &adapter->nodes[n];

		debug.nodes[n] = (struct pb_wddm_debug_node){
			.submitted = pb_wddm_get(&node->submitted),
			.reported = pb_wddm_get(&node->reported),
			.current_fence = pb_wddm_get(&node->current_fence),
			.submitted_fence = pb_wddm_get(&node->submitted_fence),
		};
	}
	/* A record that cannot be read is reported as 0. */
	(void)pb_crash_read(adapter->config.channel->link, &debug.crash);
	memset(collect->pBuffer, 0, collect->BufferSize);
	debug.records = copy_trace(adapter->config.channel->link,
				   (void *)((uint8_t *)collect->pBuffer + bytes), trace_room(collect));
	memcpy(collect->pBuffer, &debug, bytes);
	return PB_STATUS_SUCCESS;
}
