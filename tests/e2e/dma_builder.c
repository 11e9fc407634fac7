/* SPDX-License-Identifier: MIT */
#include "tests/e2e/dma_builder.h"

#include <string.h>

#include "hal/engine/packets.h"
#include "hal/shared_copy.h"

#define PATCHES_OFFSET (PB_DMA_ALLOCATIONS * (uint32_t)sizeof(struct pb_allocation))

static uint32_t low(uint64_t value)
{
	return (uint32_t)value;
}

static uint32_t high(uint64_t value)
{
	return (uint32_t)(value >> 32);
}

static void write_words(const struct pb_memory *memory, uint32_t offset, const void *from, uint32_t bytes)
{
	pb_shared_copy_out(memory->bytes_host + offset, from, bytes);
}

enum pb_error pb_dma_open(struct pb_dma *dma, struct pb_queue *queue, uint32_t context,
			  struct pb_segment *buffer, struct pb_segment *system, uint32_t bytes,
			  uint32_t patches)
{
	uint32_t list_bytes = PATCHES_OFFSET + patches * (uint32_t)sizeof(struct pb_patch_location);
	enum pb_error error;

	memset(dma, 0, sizeof(*dma));
	dma->queue = queue;
	dma->context = context;
	dma->patch_max = patches;
	error = pb_memory_allocate(buffer, bytes, PB_PAGE_BYTES, &dma->buffer);
	if (error == PB_ERROR_OK)
		error = pb_memory_allocate(system, list_bytes, PB_LINE_BYTES, &dma->lists);
	if (error != PB_ERROR_OK)
		pb_dma_close(dma);
	return error;
}

void pb_dma_close(struct pb_dma *dma)
{
	pb_memory_free(&dma->buffer);
	pb_memory_free(&dma->lists);
}

void pb_dma_begin(struct pb_dma *dma)
{
	dma->bytes = 0;
	dma->patch_count = 0;
	dma->allocation_count = 0;
	dma->error = PB_ERROR_OK;
}

/* Keeps the first error. @return false: the caller adds nothing */
static bool allow(struct pb_dma *dma, bool room)
{
	if (dma->error == PB_ERROR_OK && !room)
		dma->error = PB_ERROR_NO_SPACE;
	return dma->error == PB_ERROR_OK;
}

void pb_dma_word(struct pb_dma *dma, uint32_t word)
{
	if (!allow(dma, dma->buffer.bytes - dma->bytes >= sizeof(word)))
		return;
	write_words(&dma->buffer, dma->bytes, &word, sizeof(word));
	dma->bytes += (uint32_t)sizeof(word);
}

void pb_dma_packet(struct pb_dma *dma, uint32_t opcode, uint32_t words)
{
	pb_dma_word(dma, PB_PACKET(opcode, words));
}

/* @return its index in the allocation list, added if needed; PB_DMA_ALLOCATIONS when the list is full */
static uint32_t name_allocation(struct pb_dma *dma, const struct pb_memory *memory)
{
	struct pb_allocation *entry = dma->allocations;
	uint32_t index = 0;

	while (index < dma->allocation_count && (entry[index].address_low != low(memory->os_address) ||
						 entry[index].address_high != high(memory->os_address)))
		index++;
	if (index < dma->allocation_count || index == PB_DMA_ALLOCATIONS)
		return index;
	entry[index] = (struct pb_allocation){
		.address_low = low(memory->os_address),
		.address_high = high(memory->os_address),
		.size_low = memory->bytes,
		.flags = memory->segment->request.id << PB_ALLOCATION_SEGMENT_SHIFT,
		.id = index,
	};
	return dma->allocation_count++;
}

/* Appends a patch location for the next word. @return false: no room, or an error before */
static bool locate(struct pb_dma *dma, const struct pb_memory *memory, uint32_t offset, uint32_t format,
		   bool write)
{
	struct pb_patch_location patch = {
		.slot = dma->patch_count,
		.driver_id = format,
		.allocation_offset = offset,
		.patch_offset = dma->bytes,
	};

	patch.allocation_index = name_allocation(dma, memory);
	if (!allow(dma, patch.allocation_index < PB_DMA_ALLOCATIONS && dma->patch_count < dma->patch_max))
		return false;
	if (write)
		dma->allocations[patch.allocation_index].flags |= PB_ALLOCATION_WRITE;
	write_words(&dma->lists, PATCHES_OFFSET + dma->patch_count * (uint32_t)sizeof(patch), &patch,
		    sizeof(patch));
	dma->patch_count++;
	return true;
}

void pb_dma_address(struct pb_dma *dma, const struct pb_memory *memory, uint32_t offset, bool write)
{
	if (!locate(dma, memory, offset, write ? PB_PATCH_FORMAT_ADDRESS64_WRITE : PB_PATCH_FORMAT_ADDRESS64,
		    write))
		return;
	pb_dma_word(dma, PB_DMA_POISON);
	pb_dma_word(dma, PB_DMA_POISON);
}

void pb_dma_patch(struct pb_dma *dma, const struct pb_memory *memory, uint32_t format, bool write)
{
	if (locate(dma, memory, 0, format, write))
		pb_dma_word(dma, PB_DMA_POISON);
}

uint32_t pb_dma_skip_begin(struct pb_dma *dma)
{
	pb_dma_packet(dma, PB_PACKET_NOP, 1);
	return dma->bytes;
}

uint32_t pb_dma_skip_end(struct pb_dma *dma, uint32_t start)
{
	uint32_t bytes = dma->bytes - start;
	uint32_t header = PB_PACKET(PB_PACKET_NOP, 1 + bytes / sizeof(uint32_t));

	if (dma->error == PB_ERROR_OK)
		write_words(&dma->buffer, start - (uint32_t)sizeof(header), &header, sizeof(header));
	return bytes;
}

enum pb_error pb_dma_submit(struct pb_dma *dma, uint32_t fence_id)
{
	uint64_t lists = dma->lists.os_address;
	uint64_t waits = dma->wait_count != 0 ? dma->waits->os_address : 0;
	const struct pb_descriptor descriptor = {
		.options = dma->options,
		.context = dma->context,
		.fence_id = fence_id,
		.dma_address_low = low(dma->buffer.os_address),
		.dma_address_high = high(dma->buffer.os_address),
		.dma_segment = dma->buffer.segment->request.id,
		.dma_size = dma->buffer.bytes,
		.dma_end = dma->bytes,
		.allocation_count = dma->allocation_count,
		.allocation_address_low = low(lists),
		.allocation_address_high = high(lists),
		.patch_address_low = low(lists + PATCHES_OFFSET),
		.patch_address_high = high(lists + PATCHES_OFFSET),
		.patch_count = dma->patch_count,
		.patch_length = dma->patch_count,
		.patch_encoding = PB_PATCH_ENCODING_WDDM,
		.wait_address_low = low(waits),
		.wait_address_high = high(waits),
		.wait_count = dma->wait_count,
	};

	if (dma->error != PB_ERROR_OK)
		return dma->error;
	write_words(&dma->lists, 0, dma->allocations,
		    dma->allocation_count * (uint32_t)sizeof(struct pb_allocation));
	dma->error = pb_queue_submit(dma->queue, &descriptor);
	if (dma->error == PB_ERROR_OK)
		dma->timeline = dma->queue->timeline;
	return dma->error;
}

enum pb_error pb_dma_wait(struct pb_dma *dma, uint64_t timeout_us, struct pb_fence *fence)
{
	enum pb_error error = pb_queue_wait(dma->queue, dma->timeline, timeout_us, fence);

	return error == PB_ERROR_OK ? (enum pb_error)fence->status : error;
}
