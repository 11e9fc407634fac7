/* SPDX-License-Identifier: MIT */
/*
 * Patch and SubmitCommand: one submission in two calls. Patch has the lists. It may be called several times, or for a
 * buffer that is never submitted. SubmitCommand has no lists and may be called without Patch. Therefore Patch copies the
 * lists to memory that the firmware can read and records their key, and SubmitCommand finds them by that key.
 */
#include "host/wddm/internal.h"

#define SUBMIT_FLAGS 0xffu

/* ---- Patch ---- */

static bool slot_is(const struct pb_wddm_slot *slot, const struct pb_wddm_slot *key)
{
	return slot->context == key->context && slot->address == key->address && slot->start == key->start &&
	       slot->end == key->end && slot->fence_id == key->fence_id;
}

/** Finds the patched lists of a submission; NULL: there are none. */
static struct pb_wddm_slot *find_patched(struct pb_wddm_node *node, const struct pb_wddm_slot *key)
{
	for (uint32_t s = 0; s < PB_WDDM_SLOTS; s++) {
		struct pb_wddm_slot *slot = &node->slots[s];

		if (slot->state == PB_WDDM_SLOT_PATCHED && slot_is(slot, key))
			return slot;
	}
	return NULL;
}

/**
 * Returns a slot for new lists. If PB_WDDM_PATCHED_MAX slots hold lists that were not submitted, the oldest of them is
 * reused, so that such lists cannot accumulate. Else a slot is free, because a node holds PB_WDDM_PACKETS at most.
 */
static struct pb_wddm_slot *claim_slot(struct pb_wddm_node *node)
{
	struct pb_wddm_slot *oldest = node->slots;
	struct pb_wddm_slot *free_slot = node->slots;
	uint32_t patched = 0;

	for (uint32_t s = 0; s < PB_WDDM_SLOTS; s++) {
		struct pb_wddm_slot *slot = &node->slots[s];

		if (slot->state == PB_WDDM_SLOT_FREE)
			free_slot = slot;
		if (slot->state != PB_WDDM_SLOT_PATCHED)
			continue;
		if (patched++ == 0 || node->patches - slot->age > node->patches - oldest->age)
			oldest = slot;
	}
	return patched >= PB_WDDM_PATCHED_MAX ? oldest : free_slot;
}

/**
 * Converts an entry to the firmware's form. An allocation with a handle but without a segment belongs to another part
 * of the buffer, or is an error. It gets an address of the trap segment: an engine that uses it faults, instead of
 * using a stale address.
 */
static struct pb_allocation convert(const struct pb_wddm_adapter *adapter,
				    const struct pb_dxgk_allocationlist *entry)
{
	const struct pb_wddm_allocation *object = entry->hDeviceSpecificAllocation;
	struct pb_allocation allocation = {
		.address_low = (uint32_t)entry->PhysicalAddress,
		.address_high = (uint32_t)(entry->PhysicalAddress >> 32),
		.flags = entry->Value & (PB_DXGK_ALLOCATION_WRITE | PB_DXGK_ALLOCATION_SEGMENT_MASK),
	};

	if (object == NULL)
		return (struct pb_allocation){.size_low = 1, .flags = PB_ALLOCATION_UNBIND};
	allocation.size_low = (uint32_t)object->size;
	allocation.size_high = (uint32_t)(object->size >> 32);
	if (pb_wddm_segment(entry) != 0)
		return allocation;
	allocation.address_low = (uint32_t)adapter->trap.request.os_base;
	allocation.address_high = (uint32_t)(adapter->trap.request.os_base >> 32);
	allocation.flags |= PB_WDDM_TRAP_SEGMENT << PB_ALLOCATION_SEGMENT_SHIFT;
	return allocation;
}

static uint8_t *slot_lists(const struct pb_wddm_adapter *adapter, const struct pb_wddm_node *node,
			   const struct pb_wddm_slot *slot)
{
	return node->lists.bytes_host + (uint32_t)(slot - node->slots) * pb_wddm_slot_bytes(adapter);
}

/** Copies all allocations, because entries name them by index, and the patch entries of the submitted range. */
static void keep_lists(const struct pb_wddm_adapter *adapter, const struct pb_wddm_node *node,
		       const struct pb_wddm_slot *slot, const struct pb_dxgkarg_patch *patch)
{
	struct pb_allocation *allocations = (void *)slot_lists(adapter, node, slot);
	struct pb_patch_location *locations = (void *)(allocations + adapter->config.allocations);

	for (uint32_t i = 0; i < slot->allocation_count; i++) {
		const struct pb_allocation allocation = convert(adapter, &patch->pAllocationList[i]);

		pb_shared_copy_out(&allocations[i], &allocation, sizeof(allocation));
	}
	pb_shared_copy_out(locations, patch->pPatchLocationList + patch->PatchLocationListSubmissionStart,
			   slot->patch_count * (uint32_t)sizeof(*locations));
}

static bool lists_are_bad(const struct pb_wddm_config *config, const struct pb_dxgkarg_patch *patch)
{
	return patch->AllocationListSize > config->allocations ||
	       patch->PatchLocationListSubmissionLength > config->patches ||
	       patch->PatchLocationListSubmissionStart > patch->PatchLocationListSize ||
	       patch->PatchLocationListSubmissionLength >
		       patch->PatchLocationListSize - patch->PatchLocationListSubmissionStart;
}

uint32_t pb_wddm_patch(struct pb_wddm_adapter *adapter, const struct pb_dxgkarg_patch *patch)
{
	const struct pb_wddm_context *context = patch->hContext;
	struct pb_wddm_slot key = {
		.state = PB_WDDM_SLOT_PATCHED,
		.context = context,
		.address = patch->DmaBufferPhysicalAddress,
		.start = patch->DmaBufferSubmissionStartOffset,
		.end = patch->DmaBufferSubmissionEndOffset,
		.fence_id = patch->SubmissionFenceId,
		.allocation_count = patch->AllocationListSize,
		.patch_count = patch->PatchLocationListSubmissionLength,
	};
	struct pb_wddm_node *node;
	struct pb_wddm_slot *slot;

	/* The addresses in a paging buffer are final when it is built: nothing to patch. */
	if ((patch->Flags & PB_FLAG_PAGING) != 0 || context == NULL)
		return PB_STATUS_SUCCESS;
	node = &adapter->nodes[context->node];
	slot = find_patched(node, &key);
	if (slot == NULL)
		slot = claim_slot(node);
	key.age = node->patches++;
	key.refused = lists_are_bad(&adapter->config, patch);
	*slot = key;
	if (!key.refused && key.patch_count != 0)
		keep_lists(adapter, node, slot, patch);
	return PB_STATUS_SUCCESS;
}

/* ---- SubmitCommand ---- */

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

static void add_lists(const struct pb_wddm_adapter *adapter, const struct pb_wddm_node *node,
		      const struct pb_wddm_slot *slot, struct pb_descriptor *descriptor)
{
	const uint32_t offset = (uint32_t)(slot - node->slots) * pb_wddm_slot_bytes(adapter);
	const uint64_t allocations = node->lists.os_address + offset;
	const uint64_t patches =
		allocations + adapter->config.allocations * (uint64_t)sizeof(struct pb_allocation);

	descriptor->allocation_count = slot->allocation_count;
	descriptor->allocation_address_low = (uint32_t)allocations;
	descriptor->allocation_address_high = (uint32_t)(allocations >> 32);
	descriptor->patch_count = slot->patch_count;
	descriptor->patch_length = slot->patch_count;
	descriptor->patch_address_low = (uint32_t)patches;
	descriptor->patch_address_high = (uint32_t)(patches >> 32);
}

/** Claims the lists that Patch kept for a submission; NULL: Patch was not called. */
static struct pb_wddm_slot *claim_lists(struct pb_wddm_node *node,
					const struct pb_dxgkarg_submitcommand *submit)
{
	const struct pb_wddm_slot key = {
		.context = submit->hContext,
		.address = submit->DmaBufferPhysicalAddress,
		.start = submit->DmaBufferSubmissionStartOffset,
		.end = submit->DmaBufferSubmissionEndOffset,
		.fence_id = submit->SubmissionFenceId,
	};
	struct pb_wddm_slot *slot = find_patched(node, &key);

	if (slot != NULL)
		slot->state = PB_WDDM_SLOT_SUBMITTED;
	return slot;
}

static enum pb_error submit_to(struct pb_wddm_adapter *adapter, uint32_t n,
			       const struct pb_dxgkarg_submitcommand *submit)
{
	const bool paging = (submit->Flags & PB_FLAG_PAGING) != 0;
	/* A paging buffer belongs to the OS, not to a context. */
	struct pb_wddm_context *context = paging ? NULL : submit->hContext;
	struct pb_descriptor descriptor = describe(submit);
	struct pb_wddm_node *node;
	struct pb_wddm_slot *slot;

	if (n >= adapter->config.node_count || adapter->stopped)
		return PB_ERROR_BAD_ARGUMENT;
	node = &adapter->nodes[n];
	if (node->submitted - node->reported >= adapter->config.queue_entries)
		return PB_ERROR_NO_SPACE;
	slot = context != NULL ? claim_lists(node, submit) : NULL;
	if (slot != NULL && slot->refused)
		context->lost = true;
	if (context != NULL && context->lost)
		descriptor.dma_end = descriptor.dma_start; /* an empty range: nothing of a lost device runs */
	else if (slot != NULL)
		add_lists(adapter, node, slot, &descriptor);
	if (node->submitted == 0)
		node->current_fence = submit->SubmissionFenceId - 1u;
	node->submitted_fence = submit->SubmissionFenceId;
	*pb_wddm_packet(adapter, node, node->submitted++) = (struct pb_wddm_packet){
		.fence_id = submit->SubmissionFenceId,
		.timeline = node->queue.timeline + 1u,
		.context = context,
		.slot = slot,
		.paging = paging,
	};
	return pb_queue_submit(&node->queue, &descriptor);
}

uint32_t pb_wddm_submit_command(struct pb_wddm_adapter *adapter,
				const struct pb_dxgkarg_submitcommand *submit)
{
	const struct pb_wddm_context *context = submit->hContext;

	if (adapter->error == PB_ERROR_OK)
		adapter->error =
			submit_to(adapter, context != NULL ? context->node : submit->NodeOrdinal, submit);
	return PB_STATUS_SUCCESS;
}
