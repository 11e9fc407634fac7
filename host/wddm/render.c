/* SPDX-License-Identifier: MIT */
/* Render, RenderKm and Present: converts the kernel's lists for include/patchbay/render.h. */
#include "patchbay/render.h"

#include <string.h>

#include "host/wddm/internal.h"

/** Allocation list of a present: NULL, source, destination. */
#define PRESENT_ENTRIES     3u
#define PRESENT_SOURCE      1u
#define PRESENT_DESTINATION 2u

/** The kernel's allocation list. A handle for Render is an index of this list plus 1. */
struct list {
	const struct pb_wddm_adapter *adapter;
	const struct pb_dxgk_allocationlist *entries;
};

static bool find(void *context, uint32_t handle, struct pb_render_allocation *allocation)
{
	const struct list *list = context;
	const struct pb_dxgk_allocationlist *entry = &list->entries[handle - 1];
	const struct pb_wddm_allocation *object = entry->hDeviceSpecificAllocation;

	*allocation = (struct pb_render_allocation){.size = object->size,
						    .os_address = entry->PhysicalAddress,
						    .segment = pb_wddm_segment(entry)};
	/* An address that is unknown, or in no segment, is left to the firmware. */
	if (!pb_wddm_gpu_address(list->adapter, allocation->segment, entry->PhysicalAddress, 1,
				 &allocation->gpu_address))
		allocation->segment = 0;
	return true;
}

static struct pb_render_device device_of(const struct pb_wddm_context *context, struct list *list)
{
	const uint32_t kinds = context->adapter->config.channel->card.capabilities[PB_CAPABILITY_NODE_KINDS];

	return (struct pb_render_device){
		.find = find, .context = list, .node = kinds >> 4u * context->node & 0xfu};
}

static uint32_t at_most(uint32_t value, uint32_t limit)
{
	return value < limit ? value : limit;
}

/** Describes the outputs, limited to what Patch and SubmitCommand have room for. */
static struct pb_render_output output_of(const struct pb_wddm_adapter *adapter, void *dma_buffer,
					 uint32_t dma_size, void *private_data, uint32_t private_data_size,
					 struct pb_patch_location *locations, uint32_t locations_size)
{
	const uint32_t dma_max = adapter->config.channel->card.capabilities[PB_CAPABILITY_BUFFER_BYTES_MAX];
	const uint32_t room = pb_wddm_patch_room(&adapter->config, private_data_size);

	return (struct pb_render_output){
		.dma_buffer = dma_buffer,
		.dma_size = at_most(dma_size, dma_max),
		.private_data = private_data,
		.private_data_size = room != 0 ? private_data_size : 0,
		.locations = locations,
		.locations_size = at_most(locations_size, room),
	};
}

/**
 * Prepares the private data of a buffer that was built.
 * @param locations the first patch location written
 * @return the byte behind it; unchanged if none was built
 */
static void *end_private(const struct list *list, void *private_data, uint32_t size,
			 const struct pb_patch_location *locations, const struct pb_render_output *output)
{
	const struct pb_wddm_config *config = &list->adapter->config;
	uint8_t *block = (uint8_t *)output->private_data;
	void *end;

	if ((void *)output->private_data == private_data)
		return private_data;
	end = pb_wddm_block_start(block, config->allocations, pb_wddm_patch_room(config, size));
	pb_wddm_presume(list->adapter, block, list->entries, locations,
			(uint32_t)(output->locations - locations));
	return end;
}

void *pb_wddm_private_start(const struct pb_wddm_adapter *adapter, void *private_data, uint32_t size)
{
	const struct pb_render_record record = {.magic = PB_RENDER_MAGIC, .version = PB_RENDER_VERSION};
	const uint32_t room = pb_wddm_patch_room(&adapter->config, size);

	if (room == 0)
		return NULL;
	memcpy(private_data, &record, sizeof(record));
	return pb_wddm_block_start((uint8_t *)private_data + sizeof(record), adapter->config.allocations,
				   room);
}

/** Returns 1 + the index of the first NULL entry of the allocation list; 0: there is none. */
static uint32_t null_entry(const struct pb_dxgkarg_render *render)
{
	for (uint32_t i = 0; i < render->AllocationListSize; i++) {
		if (render->pAllocationList[i].hDeviceSpecificAllocation == NULL)
			return i + 1;
	}
	return 0;
}

/** Divides the context's staging memory: Render's unused allocation list, the handles, Render's own staging memory. */
static uint32_t stage(const struct pb_wddm_context *context, const struct pb_dxgkarg_render *render,
		      struct pb_render_arguments *arguments)
{
	const uint32_t count = render->AllocationListSize;
	const uint64_t taken = pb_wddm_staging_bytes(0, count, 0) - pb_render_staging_bytes(0, count, 0);
	struct pb_allocation *unused = context->staging;
	struct pb_render_user_allocation *handles = (void *)(unused + count);

	if (count > context->adapter->config.allocations)
		return pb_render_ntstatus(PB_RENDER_INVALID_PARAMETER);
	if (taken > context->staging_size)
		return pb_render_ntstatus(PB_RENDER_NO_MEMORY);
	for (uint32_t i = 0; i < count; i++) {
		const struct pb_dxgk_allocationlist *entry = &render->pAllocationList[i];

		handles[i] = (struct pb_render_user_allocation){
			.handle = entry->hDeviceSpecificAllocation != NULL ? i + 1 : 0,
			.flags = (entry->Value & PB_DXGK_ALLOCATION_WRITE) != 0 ? PB_RENDER_USER_WRITE : 0,
		};
	}
	arguments->output.allocations = unused;
	arguments->output.allocations_size = count;
	arguments->output.unbind = null_entry(render);
	arguments->user_allocations = handles;
	arguments->user_allocation_count = count;
	arguments->staging = handles + count;
	arguments->staging_size = context->staging_size - (uint32_t)taken;
	return PB_STATUS_SUCCESS;
}

static enum pb_render_status translate_user(struct pb_render_arguments *arguments,
					    const struct pb_dxgkarg_render *render)
{
	(void)render;
	return pb_render(arguments);
}

static uint32_t render_with(struct pb_wddm_context *context, struct pb_dxgkarg_render *render,
			    enum pb_render_status (*translate)(struct pb_render_arguments *,
							       const struct pb_dxgkarg_render *))
{
	struct list list = {.adapter = context->adapter, .entries = render->pAllocationList};
	const struct pb_render_device device = device_of(context, &list);
	struct pb_render_arguments arguments = {
		.device = &device,
		.command = render->pCommand,
		.command_length = render->CommandLength,
		.user_locations = render->pPatchLocationListIn,
		.user_location_count = render->PatchLocationListInSize,
		.output = output_of(context->adapter, render->pDmaBuffer, render->DmaSize,
				    render->pDmaBufferPrivateData, render->DmaBufferPrivateDataSize,
				    render->pPatchLocationListOut, render->PatchLocationListOutSize),
		.multipass_offset = render->MultipassOffset,
	};
	uint32_t status;

	if (pb_wddm_is_lost(context))
		return PB_STATUS_GPU_EXCEPTION_ON_DEVICE;
	status = stage(context, render, &arguments);
	if (status != PB_STATUS_SUCCESS)
		return status;
	status = pb_render_ntstatus(translate(&arguments, render));
	render->pDmaBuffer = arguments.output.dma_buffer;
	render->pDmaBufferPrivateData =
		end_private(&list, render->pDmaBufferPrivateData, render->DmaBufferPrivateDataSize,
			    render->pPatchLocationListOut, &arguments.output);
	render->pPatchLocationListOut = arguments.output.locations;
	render->MultipassOffset = arguments.multipass_offset;
	return status;
}

uint32_t pb_wddm_render(struct pb_wddm_context *context, struct pb_dxgkarg_render *render)
{
	return render_with(context, render, translate_user);
}

uint32_t pb_wddm_render_km(struct pb_wddm_context *context, struct pb_dxgkarg_render *render)
{
	return render_with(context, render, pb_wddm_translate_gdi);
}

/* ---- present ---- */

static const struct pb_wddm_allocation *object_of(const struct pb_dxgkarg_present *present, uint32_t index)
{
	return present->pAllocationList[index].hDeviceSpecificAllocation;
}

/** Whether a blit's source can be copied to its destination: without scaling, and without an overlap. */
static bool source_is_good(const struct pb_dxgkarg_present *present)
{
	const struct pb_wddm_allocation *from = object_of(present, PRESENT_SOURCE);

	return from != NULL && pb_wddm_rect_valid(&present->SrcRect) &&
	       pb_wddm_rects_match(&present->SrcRect, &present->DstRect) &&
	       (from != object_of(present, PRESENT_DESTINATION) ||
		!pb_wddm_rects_overlap(&present->SrcRect, &present->DstRect));
}

/** Finds the rectangle that this call writes. @return false: the present is not supported */
static bool part_of(const struct pb_dxgkarg_present *present, struct pb_rect *part)
{
	const bool fill = present->Flags == PB_DXGK_PRESENT_COLOR_FILL;

	if ((!fill && present->Flags != PB_DXGK_PRESENT_BLT) || !pb_wddm_rect_valid(&present->DstRect) ||
	    object_of(present, PRESENT_DESTINATION) == NULL || (!fill && !source_is_good(present)))
		return false;
	*part = present->DstRect;
	if (present->SubRectCnt == 0)
		return present->MultipassOffset == 0;
	if (present->MultipassOffset >= present->SubRectCnt || present->pDstSubRects == NULL)
		return false;
	*part = present->pDstSubRects[present->MultipassOffset];
	return pb_wddm_rect_inside(part, &present->DstRect);
}

static struct pb_render_surface surface(const struct pb_dxgkarg_present *present, uint32_t index,
					int32_t left, int32_t top)
{
	return (struct pb_render_surface){
		.handle = index + 1,
		.pitch = object_of(present, index)->pitch,
		.left = (uint32_t)left,
		.top = (uint32_t)top,
	};
}

static uint32_t blit(struct pb_wddm_context *context, struct pb_dxgkarg_present *present,
		     const struct pb_rect *part)
{
	struct list list = {.adapter = context->adapter, .entries = present->pAllocationList};
	const struct pb_render_device device = device_of(context, &list);
	struct pb_allocation unused[PRESENT_ENTRIES];
	struct pb_render_present blit = {
		.device = &device,
		.fill = present->Flags == PB_DXGK_PRESENT_COLOR_FILL,
		.color = present->Color,
		.destination = surface(present, PRESENT_DESTINATION, part->left, part->top),
		.width = (uint32_t)(part->right - part->left),
		.height = (uint32_t)(part->bottom - part->top),
		.output = output_of(context->adapter, present->pDmaBuffer, present->DmaSize,
				    present->pDmaBufferPrivateData, present->DmaBufferPrivateDataSize,
				    present->pPatchLocationListOut, present->PatchLocationListOutSize),
	};
	uint32_t status;

	if (!blit.fill)
		blit.source = surface(present, PRESENT_SOURCE,
				      present->SrcRect.left + (part->left - present->DstRect.left),
				      present->SrcRect.top + (part->top - present->DstRect.top));
	blit.output.allocations = unused;
	blit.output.allocations_size = PRESENT_ENTRIES;
	status = pb_render_ntstatus(pb_render_present(&blit));
	present->pDmaBuffer = blit.output.dma_buffer;
	present->pDmaBufferPrivateData =
		end_private(&list, present->pDmaBufferPrivateData, present->DmaBufferPrivateDataSize,
			    present->pPatchLocationListOut, &blit.output);
	present->pPatchLocationListOut = blit.output.locations;
	return status;
}

uint32_t pb_wddm_present(struct pb_wddm_context *context, struct pb_dxgkarg_present *present)
{
	struct pb_rect part;
	uint32_t status;

	if (pb_wddm_is_lost(context))
		return PB_STATUS_GPU_EXCEPTION_ON_DEVICE;
	if (present->pDmaBuffer == NULL || !part_of(present, &part))
		return pb_render_ntstatus(PB_RENDER_INVALID_PARAMETER);
	status = blit(context, present, &part);
	if (status == PB_STATUS_SUCCESS && present->SubRectCnt != 0 &&
	    ++present->MultipassOffset != present->SubRectCnt)
		return PB_STATUS_INSUFFICIENT_DMA_BUFFER;
	return status;
}
