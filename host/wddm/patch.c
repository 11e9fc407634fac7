/* SPDX-License-Identifier: MIT */
/*
 * Patch, and what it leaves for SubmitCommand. Patch has the lists. It may be called several times, or for a buffer that is
 * never submitted. SubmitCommand has no lists and may be called without Patch. Patch keeps the converted lists in the DMA
 * buffer's private data, which the OS hands to both.
 *
 * Private data of a DMA buffer: Render's record, a head, what the buffer presumes, the allocation list, the patch list. The
 * head has room for the lists of one range. Patch for another range replaces them, and the head remembers which ranges have
 * lost theirs: these must not run, because their bytes may be stale.
 *
 * A buffer presumes of an allocation the words of its list entry with which Render wrote the addresses. Where Patch lists
 * the same allocation with the same words, nothing is patched. The first submission that lists others ends it for the whole
 * buffer: a buffer is submitted again only if that submission did not complete, and the firmware does not report
 * which of its patches it carried out.
 */
#include <string.h>

#include "host/wddm/internal.h"
#include "patchbay/render.h"

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

/** What a buffer presumes of an entry of its allocation list. */
struct presumption {
	uint64_t object; /**< hDeviceSpecificAllocation, as an integer */
	uint32_t address_low;
	uint32_t address_high;
	uint32_t flags; /**< as pb_allocation.flags; 0: nothing is presumed */
	uint32_t unused;
};
PB_STATIC_ASSERT(sizeof(struct presumption) == PB_WDDM_PRESUMPTION_BYTES, "room of what is presumed");

/** The private data of one DMA buffer, as a call got it. */
struct block {
	uint8_t *bytes; /* the head; the lists follow */
	struct head head;
};

static uint8_t *presumed_of(const struct block *block, uint32_t index)
{
	return block->bytes + PB_WDDM_BLOCK_HEAD_BYTES + index * sizeof(struct presumption);
}

static uint8_t *allocation_of(const struct block *block, uint32_t index)
{
	return presumed_of(block, block->head.allocation_room) + index * sizeof(struct pb_allocation);
}

static uint8_t *patches_of(const struct block *block)
{
	return allocation_of(block, block->head.allocation_room);
}

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
	memset(presumed_of(&block, 0), 0, allocation_room * sizeof(struct presumption));
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

static bool overlap(uint32_t start, uint32_t end, uint32_t other_start, uint32_t other_end)
{
	return start < other_end && other_start < end;
}

/* ---- allocations ---- */

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

static struct presumption presumption_of(const struct pb_wddm_adapter *adapter,
					 const struct pb_dxgk_allocationlist *entry)
{
	const struct pb_allocation allocation = convert(adapter, entry);

	return (struct presumption){.object = (uintptr_t)entry->hDeviceSpecificAllocation,
				    .address_low = allocation.address_low,
				    .address_high = allocation.address_high,
				    .flags = allocation.flags};
}

void pb_wddm_presume(const struct pb_wddm_adapter *adapter, uint8_t *bytes,
		     const struct pb_dxgk_allocationlist *entries, const struct pb_patch_location *locations,
		     uint32_t count)
{
	const struct block block = {.bytes = bytes};

	for (uint32_t i = 0; i < count; i++) {
		const struct pb_dxgk_allocationlist *entry = &entries[locations[i].allocation_index];
		const struct pb_wddm_allocation *object = entry->hDeviceSpecificAllocation;
		struct presumption presumption;
		uint64_t unused;

		/*
		 * Nothing is written through a NULL entry, then as now. An allocation that reaches out of its segment is
		 * the firmware's to refuse.
		 */
		if (object != NULL && !pb_wddm_gpu_address(adapter, pb_wddm_segment(entry),
							   entry->PhysicalAddress, object->size, &unused))
			continue;
		presumption = presumption_of(adapter, entry);
		memcpy(presumed_of(&block, locations[i].allocation_index), &presumption, sizeof(presumption));
	}
}

/** Whether the buffer has the addresses of an entry of the allocation list already. */
static bool is_presumed(const struct pb_wddm_adapter *adapter, const struct block *block,
			const struct pb_dxgk_allocationlist *entries, uint32_t index)
{
	const struct presumption presumption = presumption_of(adapter, &entries[index]);

	return memcmp(&presumption, presumed_of(block, index), sizeof(presumption)) == 0;
}

/* ---- Patch ---- */

/**
 * Copies the patch entries of the submitted range whose addresses the buffer does not have already, and converts the
 * allocations that they name. The other allocations may have stale addresses, absent segments or handles that are no
 * longer valid: they are listed as unbound.
 */
static void keep_lists(const struct pb_wddm_adapter *adapter, struct block *block,
		       const struct pb_dxgkarg_patch *patch)
{
	const struct pb_patch_location *locations =
		patch->pPatchLocationList + patch->PatchLocationListSubmissionStart;
	const struct pb_allocation unbound = {.size_low = 1, .flags = PB_ALLOCATION_UNBIND};
	uint32_t count = 0;

	for (uint32_t i = 0; i < block->head.allocation_count; i++)
		memcpy(allocation_of(block, i), &unbound, sizeof(unbound));
	for (uint32_t i = 0; i < block->head.patch_count; i++) {
		const uint32_t index = locations[i].allocation_index;

		/* An index behind the list is the firmware's to refuse. */
		if (index < block->head.allocation_count) {
			const struct pb_allocation allocation =
				convert(adapter, &patch->pAllocationList[index]);

			if (is_presumed(adapter, block, patch->pAllocationList, index))
				continue;
			memcpy(allocation_of(block, index), &allocation, sizeof(allocation));
		}
		memcpy(patches_of(block) + count * sizeof(*locations), &locations[i], sizeof(*locations));
		count++;
	}
	block->head.patch_count = count;
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
	keep_lists(adapter, &block, patch);
	save(&block);
	return PB_STATUS_SUCCESS;
}

/* ---- for SubmitCommand ---- */

/** Presumes nothing any more of the allocations that are about to be patched. */
static void forget_patched(const struct block *block)
{
	for (uint32_t i = 0; i < block->head.patch_count; i++) {
		struct pb_patch_location location;

		memcpy(&location, patches_of(block) + i * sizeof(location), sizeof(location));
		if (location.allocation_index < block->head.allocation_count)
			memset(presumed_of(block, location.allocation_index), 0, sizeof(struct presumption));
	}
}

bool pb_wddm_take_lists(const struct pb_dxgkarg_submitcommand *submit, struct pb_wddm_lists *lists)
{
	const uint32_t start = submit->DmaBufferSubmissionStartOffset;
	const uint32_t end = submit->DmaBufferSubmissionEndOffset;
	struct block block;

	if (!load(&block, submit->pDmaBufferPrivateData, submit->DmaBufferPrivateDataSize,
		  submit->DmaBufferPrivateDataSubmissionStartOffset,
		  submit->DmaBufferPrivateDataSubmissionEndOffset))
		return false;
	*lists = (struct pb_wddm_lists){.patch_count = 0};
	if (block.head.patched == 0)
		return true;
	if (block.head.start != start || block.head.end != end)
		return !overlap(start, end, block.head.start, block.head.end) &&
		       !overlap(start, end, block.head.replaced_start, block.head.replaced_end);
	if (block.head.refused != 0 || block.head.context != (uintptr_t)submit->hContext)
		return false;
	forget_patched(&block);
	*lists = (struct pb_wddm_lists){.allocations = allocation_of(&block, 0),
					.patches = patches_of(&block),
					.allocation_count = block.head.allocation_count,
					.patch_count = block.head.patch_count};
	return true;
}
