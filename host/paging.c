/* SPDX-License-Identifier: MIT */
#include "patchbay/paging.h"

#include <stddef.h>

#include "hal/engine/packets.h"
#include "host/internal.h"

#define WORD_BYTES      ((uint32_t)sizeof(uint32_t))
#define PAGE_LIST_ENTRY ((uint32_t)sizeof(uint64_t))
/** Largest number of whole pages whose bytes fit the size word of one packet. */
#define RUN_PAGES_MAX (UINT32_MAX / PB_PAGE_BYTES)
/** Largest number of pages whose list fits one NOP packet. */
#define LIST_PAGES_MAX ((PB_PACKET_WORDS(UINT32_MAX) - 2u) / 2u)

_Static_assert((PB_PACKET_MAP_APERTURE_WORDS + 2u) * WORD_BYTES + PAGE_LIST_ENTRY == PB_PAGING_BYTES_MIN,
	       "a page list of one, its NOP and its alignment");

static bool is_aperture(const struct pb_paging_operation *operation)
{
	return operation->kind == PB_PAGING_MAP_APERTURE || operation->kind == PB_PAGING_UNMAP_APERTURE;
}

static bool has_source(const struct pb_paging_operation *operation)
{
	return operation->kind == PB_PAGING_TRANSFER || operation->kind == PB_PAGING_MAP_APERTURE;
}

/** Returns the pages of an operation, including a partial last one. */
static uint64_t page_count(const struct pb_paging_operation *operation)
{
	return operation->bytes / PB_PAGE_BYTES + (operation->bytes % PB_PAGE_BYTES != 0);
}

static uint64_t address_of(const struct pb_paging_memory *side, uint32_t page)
{
	return side->gpu_address + (uint64_t)(side->pages != NULL ? side->pages[page] : page) * PB_PAGE_BYTES;
}

/* ---- checks ---- */

static bool side_is_valid(const struct pb_paging_memory *side, uint64_t bytes, uint32_t alignment)
{
	if (side->pages != NULL)
		return side->gpu_address % PB_PAGE_BYTES == 0;
	return side->gpu_address % alignment == 0 && side->gpu_address <= UINT64_MAX - bytes;
}

static bool is_valid(const struct pb_paging_operation *operation)
{
	const uint32_t alignment = is_aperture(operation) ? PB_PAGE_BYTES : WORD_BYTES;

	if (operation->kind != PB_PAGING_FILL && operation->kind != PB_PAGING_DISCARD &&
	    !has_source(operation) && !is_aperture(operation))
		return false;
	if (operation->bytes % alignment != 0 || page_count(operation) > UINT32_MAX ||
	    operation->multipass_offset > page_count(operation) ||
	    (is_aperture(operation) && operation->destination.pages != NULL))
		return false;
	return side_is_valid(&operation->destination, operation->bytes, alignment) &&
	       (!has_source(operation) || side_is_valid(&operation->source, operation->bytes, alignment));
}

/* ---- packets ---- */

static void put(struct pb_paging_buffer *buffer, uint32_t word)
{
	pb_shared_write32(buffer->dma_buffer, word);
	buffer->dma_buffer++;
	buffer->gpu_address += WORD_BYTES;
	buffer->dma_size -= WORD_BYTES;
}

static void put_address(struct pb_paging_buffer *buffer, uint64_t address)
{
	put(buffer, (uint32_t)address);
	put(buffer, (uint32_t)(address >> 32));
}

static bool follows(const struct pb_paging_memory *side, uint32_t page)
{
	return address_of(side, page) == address_of(side, page - 1) + PB_PAGE_BYTES;
}

/** Returns how many pages from `page` on fit one packet: those that are contiguous on both sides. */
static uint32_t run_of(const struct pb_paging_operation *operation, uint32_t page)
{
	const uint64_t left = page_count(operation) - page;
	const uint32_t most = left < RUN_PAGES_MAX ? (uint32_t)left : RUN_PAGES_MAX;
	uint32_t run = 1;

	if (operation->destination.pages == NULL &&
	    (!has_source(operation) || operation->source.pages == NULL))
		return most;
	while (run < most && follows(&operation->destination, page + run) &&
	       (!has_source(operation) || follows(&operation->source, page + run)))
		run++;
	return run;
}

/** Returns the bytes of some pages; the operation's last page may be partial. */
static uint32_t bytes_of(const struct pb_paging_operation *operation, uint32_t page, uint32_t pages)
{
	const uint64_t left = operation->bytes - (uint64_t)page * PB_PAGE_BYTES;
	const uint64_t whole = (uint64_t)pages * PB_PAGE_BYTES;

	return (uint32_t)(left < whole ? left : whole);
}

/** Writes one packet of TRANSFER, FILL or DISCARD. @return pages done; 0: no room */
static uint32_t put_memory(const struct pb_paging_operation *operation, struct pb_paging_buffer *buffer)
{
	static const struct {
		uint32_t opcode;
		uint32_t words;
	} packets[] = {
		[PB_PAGING_TRANSFER] = {PB_PACKET_COPY, PB_PACKET_COPY_WORDS},
		[PB_PAGING_FILL] = {PB_PACKET_FILL, PB_PACKET_FILL_WORDS},
		[PB_PAGING_DISCARD] = {PB_PACKET_DISCARD, PB_PACKET_DISCARD_WORDS},
	};
	const uint32_t page = operation->multipass_offset;
	const uint32_t words = packets[operation->kind].words;
	const uint32_t pages = run_of(operation, page);

	if (buffer->dma_size < words * WORD_BYTES)
		return 0;
	put(buffer, PB_PACKET(packets[operation->kind].opcode, words));
	if (operation->kind == PB_PAGING_TRANSFER)
		put_address(buffer, address_of(&operation->source, page));
	put_address(buffer, address_of(&operation->destination, page));
	put(buffer, bytes_of(operation, page, pages));
	if (operation->kind == PB_PAGING_FILL)
		put(buffer, operation->value);
	return pages;
}

/**
 * Writes a MAP_APERTURE packet behind its page list. The list stands in the buffer itself, 8-byte aligned, as words of
 * a NOP packet: it exists as long as the packet that reads it and needs no other memory.
 * @return pages done; 0: no room
 */
static uint32_t put_map(const struct pb_paging_operation *operation, struct pb_paging_buffer *buffer)
{
	const uint32_t pad = (buffer->gpu_address + WORD_BYTES) % PAGE_LIST_ENTRY != 0;
	const uint32_t fixed = (PB_PACKET_MAP_APERTURE_WORDS + 1u + pad) * WORD_BYTES;
	const uint32_t page = operation->multipass_offset;
	uint32_t pages = (uint32_t)page_count(operation) - page;
	uint64_t list;

	if (buffer->dma_size < fixed + PAGE_LIST_ENTRY)
		return 0;
	if (pages > LIST_PAGES_MAX)
		pages = LIST_PAGES_MAX;
	if (pages > (buffer->dma_size - fixed) / PAGE_LIST_ENTRY)
		pages = (buffer->dma_size - fixed) / PAGE_LIST_ENTRY;
	put(buffer, PB_PACKET(PB_PACKET_NOP, 1u + pad + 2u * pages));
	if (pad != 0)
		put(buffer, 0);
	list = buffer->gpu_address;
	for (uint32_t i = 0; i < pages; i++)
		put_address(buffer, address_of(&operation->source, page + i));
	put(buffer, PB_PACKET(PB_PACKET_MAP_APERTURE, PB_PACKET_MAP_APERTURE_WORDS));
	put_address(buffer, address_of(&operation->destination, page));
	put(buffer, pages);
	put_address(buffer, list);
	return pages;
}

/** Writes one UNMAP_APERTURE packet. @return pages done; 0: no room */
static uint32_t put_unmap(const struct pb_paging_operation *operation, struct pb_paging_buffer *buffer)
{
	const uint32_t page = operation->multipass_offset;
	const uint32_t pages = (uint32_t)page_count(operation) - page;

	if (buffer->dma_size < PB_PACKET_UNMAP_APERTURE_WORDS * WORD_BYTES)
		return 0;
	put(buffer, PB_PACKET(PB_PACKET_UNMAP_APERTURE, PB_PACKET_UNMAP_APERTURE_WORDS));
	put_address(buffer, address_of(&operation->destination, page));
	put(buffer, pages);
	return pages;
}

static uint32_t put_next(const struct pb_paging_operation *operation, struct pb_paging_buffer *buffer)
{
	if (operation->kind == PB_PAGING_MAP_APERTURE)
		return put_map(operation, buffer);
	if (operation->kind == PB_PAGING_UNMAP_APERTURE)
		return put_unmap(operation, buffer);
	return put_memory(operation, buffer);
}

enum pb_render_status pb_paging_build(struct pb_paging_operation *operation, struct pb_paging_buffer *buffer)
{
	if (!is_valid(operation))
		return PB_RENDER_INVALID_PARAMETER;
	while (operation->multipass_offset != page_count(operation)) {
		const uint32_t pages = put_next(operation, buffer);

		if (pages == 0)
			return PB_RENDER_INSUFFICIENT_DMA_BUFFER;
		operation->multipass_offset += pages;
	}
	return PB_RENDER_SUCCESS;
}
