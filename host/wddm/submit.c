/* SPDX-License-Identifier: MIT */
/*
 * Patch and SubmitCommand: one submission in two calls. Patch has the lists. It may be called several times, or for a
 * buffer that is never submitted. SubmitCommand has no lists and may be called without Patch. Patch keeps the converted
 * lists in the DMA buffer's private data, which the OS hands to both; SubmitCommand copies them to memory of the card.
 *
 * Private data of a DMA buffer: Render's record, a head, the allocation list, the patch list. The head has room for the
 * lists of one range. Patch for another range replaces them, and the head remembers which ranges have lost theirs: these
 * must not run, because their bytes may be stale.
 */
#include <string.h>

#include "host/wddm/internal.h"
#include "patchbay/render.h"

#define SUBMIT_FLAGS 0xffu

/* ---- private data ---- */

#define BLOCK_MAGIC 0x4b425042u /* "BPBK" */

/** Head of the lists in a DMA buffer's private data. */
struct head {
	uint32_t magic;           /* BLOCK_MAGIC */
	uint32_t check;           /* of the other words */
	uint64_t context;         /* context of the lists, as an integer */
	uint32_t patched;         /* there are lists */
	uint32_t refused;         /* the lists break a limit */
	uint32_t start;           /* range of the lists: first byte */
	uint32_t end;             /* byte behind the last one */
	uint32_t replaced_start;  /* ranges whose lists were replaced lie from here, */
	uint32_t replaced_end;    /* to here; 0: there are none */
	uint32_t allocation_room; /* entries that there is room for */
	uint32_t patch_room;      /* entries that there is room for */
	uint32_t allocation_count;
	uint32_t patch_count;
};
PB_STATIC_ASSERT(sizeof(struct head) <= PB_WDDM_BLOCK_HEAD_BYTES, "room of the head");

/** The private data of one DMA buffer, as a call got it. */
struct block {
	uint8_t *bytes; /* the head; the lists follow */
	struct head head;
};

static uint32_t check_of(const struct head *head)
{
	struct head copy = *head;
	const unsigned char *bytes = (const unsigned char *)&copy;
	uint32_t sum = 0x811c9dc5u;

	copy.check = 0;
	for (uint32_t i = 0; i < sizeof(copy); i++)
		sum = (sum ^ bytes[i]) * 0x01000193u;
	return sum;
}

static void save(struct block *block)
{
	block->head.check = check_of(&block->head);
	memcpy(block->bytes, &block->head, sizeof(block->head));
}

void *pb_wddm_block_start(uint8_t *bytes, uint32_t allocation_room, uint32_t patch_room)
{
	struct block block = {.bytes = bytes};

	memset(&block.head, 0, sizeof(block.head));
	block.head.magic = BLOCK_MAGIC;
	block.head.allocation_room = allocation_room;
	block.head.patch_room = patch_room;
	save(&block);
	return bytes + pb_wddm_block_bytes(allocation_room, patch_room);
}

uint32_t pb_wddm_patch_room(const struct pb_wddm_config *config, uint32_t private_data_size)
{
	const uint64_t taken = pb_wddm_private_bytes(config->allocations, 0);
	uint64_t room = 0;

	if (private_data_size > taken)
		room = (private_data_size - taken) / sizeof(struct pb_patch_location);
	return room < config->patches ? (uint32_t)room : config->patches;
}

/**
 * Reads the head of a range of private data. @param size of all private data
 * @return false: Render and Patch cannot have left it like this
 */
static bool load(struct block *block, void *private_data, uint32_t size, uint32_t start, uint32_t end)
{
	const uint32_t record = (uint32_t)sizeof(struct pb_render_record);

	if (private_data == NULL || start > end || end > size ||
	    end - start < record + PB_WDDM_BLOCK_HEAD_BYTES)
		return false;
	block->bytes = (uint8_t *)private_data + start + record;
	memcpy(&block->head, block->bytes, sizeof(block->head));
	return block->head.magic == BLOCK_MAGIC && block->head.check == check_of(&block->head) &&
	       pb_wddm_block_bytes(block->head.allocation_room, block->head.patch_room) <=
		       end - start - record;
}

static uint8_t *allocations_of(const struct block *block)
{
	return block->bytes + PB_WDDM_BLOCK_HEAD_BYTES;
}

static uint8_t *patches_of(const struct block *block)
{
	return allocations_of(block) + block->head.allocation_room * sizeof(struct pb_allocation);
}

static bool overlap(uint32_t start, uint32_t end, uint32_t other_start, uint32_t other_end)
{
	return start < other_end && other_start < end;
}

/* ---- Patch ---- */

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
	allocation.flags |= object->attribute << PB_ALLOCATION_ATTRIBUTE_SHIFT & PB_ALLOCATION_ATTRIBUTE_MASK;
	if (pb_wddm_segment(entry) != 0)
		return allocation;
	allocation.address_low = (uint32_t)adapter->trap.request.os_base;
	allocation.address_high = (uint32_t)(adapter->trap.request.os_base >> 32);
	allocation.flags |= PB_WDDM_TRAP_SEGMENT << PB_ALLOCATION_SEGMENT_SHIFT;
	return allocation;
}

/**
 * Copies the patch entries of the submitted range, and converts the allocations that they name. The other allocations
 * may have stale addresses, absent segments or handles that are no longer valid: they are listed as unbound.
 */
static void keep_lists(const struct pb_wddm_adapter *adapter, const struct block *block,
		       const struct pb_dxgkarg_patch *patch)
{
	const struct pb_patch_location *locations =
		patch->pPatchLocationList + patch->PatchLocationListSubmissionStart;
	const struct pb_allocation unbound = {.size_low = 1, .flags = PB_ALLOCATION_UNBIND};

	for (uint32_t i = 0; i < block->head.allocation_count; i++)
		memcpy(allocations_of(block) + i * sizeof(unbound), &unbound, sizeof(unbound));
	for (uint32_t i = 0; i < block->head.patch_count; i++) {
		const uint32_t index = locations[i].allocation_index;
		struct pb_allocation allocation;

		if (index >= block->head.allocation_count)
			continue; /* the firmware refuses the entry */
		allocation = convert(adapter, &patch->pAllocationList[index]);
		memcpy(allocations_of(block) + index * sizeof(allocation), &allocation, sizeof(allocation));
	}
	memcpy(patches_of(block), locations, block->head.patch_count * sizeof(*locations));
}

static bool lists_are_bad(const struct pb_wddm_config *config, const struct head *head,
			  const struct pb_dxgkarg_patch *patch)
{
	return patch->AllocationListSize > config->allocations ||
	       patch->AllocationListSize > head->allocation_room ||
	       patch->PatchLocationListSubmissionLength > config->patches ||
	       patch->PatchLocationListSubmissionLength > head->patch_room ||
	       patch->PatchLocationListSubmissionStart > patch->PatchLocationListSize ||
	       patch->PatchLocationListSubmissionLength >
		       patch->PatchLocationListSize - patch->PatchLocationListSubmissionStart;
}

/** Notes that the lists of the head's range are about to be replaced by those of another range. */
static void replace(struct head *head, uint32_t start, uint32_t end)
{
	if (head->patched == 0 || (head->start == start && head->end == end))
		return;
	if (head->replaced_end == 0 || head->start < head->replaced_start)
		head->replaced_start = head->start;
	if (head->end > head->replaced_end)
		head->replaced_end = head->end;
}

uint32_t pb_wddm_patch(struct pb_wddm_adapter *adapter, const struct pb_dxgkarg_patch *patch)
{
	struct block block;

	/* A paging buffer has no lists. SubmitCommand finds bad private data, too. */
	if ((patch->Flags & PB_FLAG_PAGING) != 0 || patch->hContext == NULL ||
	    !load(&block, patch->pDmaBufferPrivateData, patch->DmaBufferPrivateDataSize,
		  patch->DmaBufferPrivateDataSubmissionStartOffset,
		  patch->DmaBufferPrivateDataSubmissionEndOffset))
		return PB_STATUS_SUCCESS;
	replace(&block.head, patch->DmaBufferSubmissionStartOffset, patch->DmaBufferSubmissionEndOffset);
	block.head.patched = 1;
	block.head.refused = lists_are_bad(&adapter->config, &block.head, patch);
	block.head.context = (uintptr_t)patch->hContext;
	block.head.start = patch->DmaBufferSubmissionStartOffset;
	block.head.end = patch->DmaBufferSubmissionEndOffset;
	block.head.allocation_count = block.head.refused != 0 ? 0 : patch->AllocationListSize;
	block.head.patch_count = block.head.refused != 0 ? 0 : patch->PatchLocationListSubmissionLength;
	if (block.head.patch_count != 0)
		keep_lists(adapter, &block, patch);
	save(&block);
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

/** Copies the lists to the card, to the place of the node's next submission, and names them in the descriptor. */
static void add_lists(const struct pb_wddm_adapter *adapter, const struct pb_wddm_node *node,
		      const struct block *block, struct pb_descriptor *descriptor)
{
	const uint32_t slot = node->submitted & (adapter->config.queue_entries - 1);
	const uint32_t offset = slot * pb_wddm_list_bytes(adapter);
	const uint64_t allocations = node->lists.os_address + offset;
	const uint32_t allocation_bytes =
		adapter->config.allocations * (uint32_t)sizeof(struct pb_allocation);
	const uint64_t patches = allocations + allocation_bytes;
	uint8_t *lists = node->lists.bytes_host + offset;

	pb_shared_copy_out(lists, allocations_of(block),
			   block->head.allocation_count * (uint32_t)sizeof(struct pb_allocation));
	pb_shared_copy_out(lists + allocation_bytes, patches_of(block),
			   block->head.patch_count * (uint32_t)sizeof(struct pb_patch_location));
	descriptor->allocation_count = block->head.allocation_count;
	descriptor->allocation_address_low = (uint32_t)allocations;
	descriptor->allocation_address_high = (uint32_t)(allocations >> 32);
	descriptor->patch_count = block->head.patch_count;
	descriptor->patch_length = block->head.patch_count;
	descriptor->patch_address_low = (uint32_t)patches;
	descriptor->patch_address_high = (uint32_t)(patches >> 32);
}

/** Adds the lists of an ordinary submission. @return false: it must not run */
static bool prepare(const struct pb_wddm_adapter *adapter, const struct pb_wddm_node *node,
		    const struct pb_dxgkarg_submitcommand *submit, struct pb_descriptor *descriptor)
{
	const uint32_t start = submit->DmaBufferSubmissionStartOffset;
	const uint32_t end = submit->DmaBufferSubmissionEndOffset;
	struct block block;

	if (start == end)
		return true;
	if (!load(&block, submit->pDmaBufferPrivateData, submit->DmaBufferPrivateDataSize,
		  submit->DmaBufferPrivateDataSubmissionStartOffset,
		  submit->DmaBufferPrivateDataSubmissionEndOffset))
		return false;
	if (block.head.patched == 0)
		return true;
	if (block.head.start != start || block.head.end != end)
		return !overlap(start, end, block.head.start, block.head.end) &&
		       !overlap(start, end, block.head.replaced_start, block.head.replaced_end);
	if (block.head.refused != 0 || block.head.context != (uintptr_t)submit->hContext)
		return false;
	if (block.head.patch_count != 0)
		add_lists(adapter, node, &block, descriptor);
	return true;
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
