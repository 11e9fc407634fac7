/* SPDX-License-Identifier: MIT */
/* SubmitCommand: copies the lists that Patch has kept to memory of the card, and submits. */
#include "host/wddm/internal.h"
#include "patchbay/render.h"

#define SUBMIT_FLAGS 0xffu

static struct pb_descriptor describe(const struct pb_dxgkarg_submitcommand *submit)
{
	const struct pb_wddm_context *context = submit->hContext;
	const bool paging = (submit->Flags & PB_FLAG_PAGING) != 0;

	/* The firmware neither needs nor reaches the private data. */
	return (struct pb_descriptor){
		.flags = submit->Flags & SUBMIT_FLAGS,
		.context = paging || context == NULL ? PB_HANDLE_NONE : context->handle,
		.fence_id = submit->SubmissionFenceId,
		.dma_address_low = (uint32_t)submit->DmaBufferPhysicalAddress,
		.dma_address_high = (uint32_t)(submit->DmaBufferPhysicalAddress >> 32),
		.dma_segment = submit->DmaBufferSegmentId,
		.dma_size = submit->DmaBufferSize,
		.dma_start = submit->DmaBufferSubmissionStartOffset,
		.dma_end = submit->DmaBufferSubmissionEndOffset,
		.engine_ordinal = submit->EngineOrdinal,
	};
}

/** Copies the lists to the card, to the place of the node's next submission, and names them in the descriptor. */
static void add_lists(const struct pb_wddm_adapter *adapter, const struct pb_wddm_node *node,
		      const struct pb_wddm_lists *lists, struct pb_descriptor *descriptor)
{
	const uint32_t slot = node->submitted & (adapter->config.queue_entries - 1);
	const uint32_t offset = slot * pb_wddm_list_bytes(adapter);
	const uint64_t allocations = node->lists.os_address + offset;
	const uint32_t allocation_bytes =
		adapter->config.allocations * (uint32_t)sizeof(struct pb_allocation);
	const uint64_t patches = allocations + allocation_bytes;
	uint8_t *to = node->lists.bytes_host + offset;

	pb_shared_copy_out(to, lists->allocations,
			   lists->allocation_count * (uint32_t)sizeof(struct pb_allocation));
	pb_shared_copy_out(to + allocation_bytes, lists->patches,
			   lists->patch_count * (uint32_t)sizeof(struct pb_patch_location));
	descriptor->allocation_count = lists->allocation_count;
	descriptor->allocation_address_low = (uint32_t)allocations;
	descriptor->allocation_address_high = (uint32_t)(allocations >> 32);
	descriptor->patch_count = lists->patch_count;
	descriptor->patch_length = lists->patch_count;
	descriptor->patch_address_low = (uint32_t)patches;
	descriptor->patch_address_high = (uint32_t)(patches >> 32);
}

/** Adds the lists of an ordinary submission. @return false: it must not run */
static bool prepare(const struct pb_wddm_adapter *adapter, const struct pb_wddm_node *node,
		    const struct pb_dxgkarg_submitcommand *submit, struct pb_descriptor *descriptor)
{
	struct pb_wddm_lists lists = {.patch_count = 0};
	const bool sound = submit->DmaBufferSubmissionStartOffset == submit->DmaBufferSubmissionEndOffset ||
			   pb_wddm_take_lists(submit, &lists);

	if (sound && lists.patch_count != 0)
		add_lists(adapter, node, &lists, descriptor);
	return sound;
}

/** Completes a paging buffer. @return false: the private data is not of these bytes */
static bool prepare_paging(const struct pb_wddm_adapter *adapter,
			   const struct pb_dxgkarg_submitcommand *submit)
{
	const uint32_t start = submit->DmaBufferSubmissionStartOffset;
	const uint32_t bytes = submit->DmaBufferSubmissionEndOffset - start;
	const uint32_t first = submit->DmaBufferPrivateDataSubmissionStartOffset;
	const uint32_t behind = submit->DmaBufferPrivateDataSubmissionEndOffset;
	const struct pb_segment *system = adapter->config.segments[PB_SEGMENT_SYSTEM];
	const uint64_t offset = submit->DmaBufferPhysicalAddress + start - system->request.os_base;

	if (bytes == 0)
		return true;
	/* The mapping that BuildPagingBuffer wrote through may have ended: the library's own mapping of segment 0 is used. */
	return submit->pDmaBufferPrivateData != NULL && first <= behind &&
	       behind <= submit->DmaBufferPrivateDataSize &&
	       submit->DmaBufferSegmentId == PB_SEGMENT_SYSTEM && offset % sizeof(uint32_t) == 0 &&
	       bytes <= system->request.backing_bytes && offset <= system->request.backing_bytes - bytes &&
	       pb_wddm_paging_fix(pb_segment_byte(system, (uint32_t)offset),
				  system->request.gpu_base + offset, bytes,
				  (const uint8_t *)submit->pDmaBufferPrivateData + first, behind - first);
}

/** Checks that the node has room. Pre: the caller holds the adapter's lock. */
static enum pb_error check_room(const struct pb_wddm_adapter *adapter, uint32_t n)
{
	const struct pb_wddm_node *node = &adapter->nodes[n % PB_WDDM_NODES];

	if (n >= adapter->config.node_count || adapter->stopped || adapter->asleep)
		return PB_ERROR_BAD_ARGUMENT;
	if (node->submitted - node->reported >= adapter->config.queue_entries)
		return PB_ERROR_NO_SPACE;
	return PB_ERROR_OK;
}

/**
 * Adds what a submission needs. The adapter's lock is not held: the place of the next submission's lists is
 * SubmitCommand's. @param sound out: it may run
 */
static enum pb_error complete(const struct pb_wddm_adapter *adapter, const struct pb_wddm_node *node,
			      const struct pb_dxgkarg_submitcommand *submit, struct pb_descriptor *descriptor,
			      bool *sound)
{
	*sound = true;
	if ((submit->Flags & PB_FLAG_PAGING) != 0)
		return prepare_paging(adapter, submit) ? PB_ERROR_OK : PB_ERROR_BAD_ARGUMENT;
	if (submit->hContext != NULL)
		*sound = prepare(adapter, node, submit, descriptor);
	return PB_ERROR_OK;
}

/** Submits, and notes the submission. Pre: the caller holds the adapter's lock; there is room. */
static enum pb_error commit(struct pb_wddm_adapter *adapter, struct pb_wddm_node *node,
			    const struct pb_dxgkarg_submitcommand *submit, struct pb_descriptor *descriptor,
			    bool sound)
{
	const bool paging = (submit->Flags & PB_FLAG_PAGING) != 0;
	/* A paging buffer belongs to the OS, not to a context. */
	struct pb_wddm_context *context = paging ? NULL : submit->hContext;

	if (context != NULL && !sound)
		context->lost = true;
	if (context != NULL && context->lost) {
		/* An empty range: nothing of a lost device runs. */
		descriptor->dma_end = descriptor->dma_start;
		descriptor->allocation_count = descriptor->patch_count = descriptor->patch_length = 0;
	}
	if (node->submitted == 0)
		pb_wddm_put(&node->current_fence, submit->SubmissionFenceId - 1u);
	pb_wddm_put(&node->submitted_fence, submit->SubmissionFenceId);
	*pb_wddm_packet(adapter, node, node->submitted) = (struct pb_wddm_packet){
		.fence_id = submit->SubmissionFenceId,
		.timeline = node->queue.timeline + 1u,
		.context = context,
		.paging = paging,
	};
	pb_wddm_put(&node->submitted, node->submitted + 1u);
	return pb_queue_submit(&node->queue, descriptor);
}

/** Submits, unless the adapter has ended. */
static void submit_to(struct pb_wddm_adapter *adapter, uint32_t n,
		      const struct pb_dxgkarg_submitcommand *submit)
{
	struct pb_wddm_node *node = &adapter->nodes[n % PB_WDDM_NODES];
	struct pb_descriptor descriptor = describe(submit);
	enum pb_error error;
	bool sound;

	pb_wddm_lock(adapter);
	error = adapter->error != PB_ERROR_OK ? adapter->error : check_room(adapter, n);
	pb_wddm_unlock(adapter);
	if (error == PB_ERROR_OK)
		error = complete(adapter, node, submit, &descriptor, &sound);
	pb_wddm_lock(adapter);
	if (error == PB_ERROR_OK && adapter->error == PB_ERROR_OK)
		error = commit(adapter, node, submit, &descriptor, sound);
	pb_wddm_end(adapter, error);
	pb_wddm_unlock(adapter);
}

/** Returns the node of a submission. Before Windows 8 the argument has none. */
static uint32_t node_of(const struct pb_wddm_adapter *adapter, const struct pb_dxgkarg_submitcommand *submit)
{
	const struct pb_wddm_context *context = submit->hContext;

	if (context != NULL)
		return context->node;
	return adapter->config.interface_version >= PB_DXGKDDI_WIN8 ? submit->NodeOrdinal
								    : adapter->config.paging_node;
}

uint32_t pb_wddm_submit_command(struct pb_wddm_adapter *adapter,
				const struct pb_dxgkarg_submitcommand *submit)
{
	submit_to(adapter, node_of(adapter, submit), submit);
	return PB_STATUS_SUCCESS;
}
