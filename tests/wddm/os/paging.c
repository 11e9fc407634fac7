/* SPDX-License-Identifier: MIT */
/*
 * Paging buffers: operations are built one behind the other, with room that may end at any place, and submitted as one
 * packet or several. Frames of system memory are scattered.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/wddm/os/machine.h"

#define FRAMES_BEFORE 3u  /**< frames of an MDL before those of the operation */
#define CALLS_MAX     40u /**< of one operation */
#define SMALL_ROOM    160u
#define PRIVATE_GUARD 64u

/** An MDL and its frame numbers. */
struct mdl {
	struct pb_mdl mdl;
	uintptr_t frames[FRAMES_BEFORE + OS_PAGES_MAX];
};

static uint64_t frame_number(uint32_t cell)
{
	return OS_SYSTEM_OS / OS_PAGE_BYTES + (cell - OS_CELL_FRAME);
}

static void fill_mdl(struct os_machine *m, const struct os_operation *operation, struct mdl *mdl,
		     uint32_t before)
{
	const uint64_t base = m->frames.offset / OS_PAGE_BYTES;

	os_garbage(&m->chance, mdl, sizeof(*mdl));
	for (uint32_t page = 0; page < operation->pages; page++)
		mdl->frames[before + page] =
			(uintptr_t)(base + frame_number(operation->allocation->frames[page]));
}

/** Pages [page, page + count) of a transfer. */
static void transfer(const struct os_operation *operation, const struct mdl *mdl, uint32_t before,
		     uint32_t page, uint32_t count, struct pb_dxgkarg_buildpagingbuffer *build)
{
	const struct pb_dxgk_location segment = {
		.SegmentId = operation->segment,
		.SegmentAddress =
			os_vidmm_base(operation->segment) + (uint64_t)operation->first * OS_PAGE_BYTES,
	};
	struct pb_dxgk_location system = {.SegmentId = 0};

	system.pMdl = &mdl->mdl;
	build->Operation = PB_DXGK_OPERATION_TRANSFER;
	build->Transfer.hAllocation = &operation->allocation->object;
	build->Transfer.TransferOffset = page * OS_PAGE_BYTES;
	build->Transfer.MdlOffset = before + page;
	build->Transfer.TransferSize = (size_t)count * OS_PAGE_BYTES;
	build->Transfer.Source = operation->in ? system : segment;
	build->Transfer.Destination = operation->in ? segment : system;
	build->Transfer.Flags = 0;
}

static void describe(const struct os_operation *operation, const struct mdl *mdl, uint32_t before,
		     struct pb_dxgkarg_buildpagingbuffer *build)
{
	switch (operation->kind) {
	case OS_COPY:
		transfer(operation, mdl, before, 0, operation->pages, build);
		break;
	case OS_FILL:
		build->Operation = PB_DXGK_OPERATION_FILL;
		build->Fill.FillSize = (size_t)operation->pages * OS_PAGE_BYTES;
		build->Fill.FillPattern = operation->value;
		build->Fill.Destination.SegmentId = operation->segment;
		build->Fill.Destination.SegmentAddress =
			os_vidmm_base(operation->segment) + (uint64_t)operation->first * OS_PAGE_BYTES;
		break;
	case OS_MAP:
		build->Operation = PB_DXGK_OPERATION_MAP_APERTURE_SEGMENT;
		build->MapApertureSegment.SegmentId = operation->segment;
		build->MapApertureSegment.OffsetInPages = operation->first;
		build->MapApertureSegment.NumberOfPages = operation->pages;
		build->MapApertureSegment.pMdl = &mdl->mdl;
		build->MapApertureSegment.MdlOffset = before;
		break;
	case OS_UNMAP:
		build->Operation = PB_DXGK_OPERATION_UNMAP_APERTURE_SEGMENT;
		build->UnmapApertureSegment.SegmentId = operation->segment;
		build->UnmapApertureSegment.OffsetInPages = operation->first;
		build->UnmapApertureSegment.NumberOfPages = operation->pages;
		break;
	}
}

/* ---- buffers ---- */

static void open_buffer(struct os_machine *m)
{
	struct os_buffer *buffer;

	if (m->paging != NULL)
		return;
	buffer = os_buffer_take(m, NULL);
	if (buffer == NULL) {
		os_say(m, "the test has too few paging buffers");
		abort();
	}
	buffer->private_size = OS_PRIVATE - os_below(&m->chance, 64);
	os_garbage(&m->chance, buffer->private_data, buffer->private_size);
	os_garbage(&m->chance, buffer->memory.bytes_host, 512);
	m->paging = buffer;
	m->paging_start = m->paging_used = 0;
	/* The first block of the private data belongs to another packet. */
	m->paging_private = m->paging_private_used = 8 * os_below(&m->chance, 8);
	m->paging_room = m->free_count > 8 && os_one_in(&m->chance, 8) ? SMALL_ROOM : OS_MAP_BYTES;
}

static void close_buffer(struct os_machine *m)
{
	struct os_buffer *buffer = m->paging;

	m->paging = NULL;
	if (buffer == NULL)
		return;
	buffer->reserved = false;
	if (buffer->parts == 0)
		os_buffer_free(m, buffer);
}

void os_paging_reset(struct os_machine *m)
{
	close_buffer(m);
	m->operation_count = m->operation_queued = 0;
}

/** Queues bytes [start, used) behind the paging packets at the front of the paging node's queue. */
static void queue(struct os_machine *m)
{
	struct os_buffer *buffer = m->paging;
	const struct os_queue *software = &m->os.nodes[m->paging_node].software;
	struct os_packet packet = {
		.submit = {.Flags = PB_FLAG_PAGING, .NodeOrdinal = m->paging_node},
		.skip_patch = os_one_in(&m->chance, 2),
		.tag = (uint32_t)(buffer - m->buffers) + 1,
	};
	uint32_t index = 0;

	packet.patch = (struct pb_dxgkarg_patch){
		.DmaBufferPhysicalAddress = buffer->memory.os_address,
		.DmaBufferSize = OS_MAP_BYTES,
		.DmaBufferSubmissionStartOffset = m->paging_start,
		.DmaBufferSubmissionEndOffset = m->paging_used,
		.pDmaBufferPrivateData = buffer->private_data,
		.DmaBufferPrivateDataSize = buffer->private_size,
		.DmaBufferPrivateDataSubmissionStartOffset = m->paging_private,
		.DmaBufferPrivateDataSubmissionEndOffset = m->paging_private_used,
		.Flags = PB_FLAG_PAGING,
	};
	packet.note[OS_NOTE_OPERATION] = m->operation_queued;
	packet.note[OS_NOTE_COUNT] = m->operation_count - m->operation_queued;
	m->operation_queued = m->operation_count;
	while (index < software->count && os_is_paging(&software->packets[index]))
		index++;
	buffer->parts++;
	os_insert(&m->os, index, &packet);
	m->paging_start = m->paging_used;
	m->paging_private = m->paging_private_used;
}

void os_paging_flush(struct os_machine *m)
{
	if (m->paging == NULL || os_has_stopped(&m->os))
		return;
	/* A buffer may end empty. */
	if (m->paging_used != m->paging_start || m->operation_count != m->operation_queued)
		queue(m);
	if (m->paging_room - m->paging_used < SMALL_ROOM ||
	    m->paging->private_size - m->paging_private_used < SMALL_ROOM || !os_one_in(&m->chance, 3))
		close_buffer(m);
}

/** One call of BuildPagingBuffer. */
static uint32_t call(struct os_machine *m, struct pb_dxgkarg_buildpagingbuffer *build)
{
	static uint8_t before[sizeof(m->buffers[0].private_data)];
	struct os_window *window;
	uint8_t *bytes;
	uint32_t status;

	open_buffer(m);
	bytes = (uint8_t *)m->paging->private_data;
	memcpy(before, bytes, sizeof(before));
	window = os_map_open(&m->map, m->paging->memory.bytes_host);
	build->pDmaBuffer = window->bytes + m->paging_used;
	build->DmaSize = m->paging_room - m->paging_used;
	build->pDmaBufferPrivateData = bytes + m->paging_private_used;
	build->DmaBufferPrivateDataSize = m->paging->private_size - m->paging_private_used;
	m->quiet = true;
	status = m->ddi.build_paging_buffer(m, build);
	m->quiet = false;
	if ((uint8_t *)build->pDmaBuffer < window->bytes + m->paging_used ||
	    (uint8_t *)build->pDmaBuffer > window->bytes + m->paging_room ||
	    !os_map_untouched(window, 0, m->paging_used) ||
	    !os_map_untouched(window, m->paging_room, OS_MAP_BYTES + OS_MAP_GUARD))
		os_break(&m->os, OS_RULE_DMA_OVERFLOW, m->paging_used);
	else if ((uint8_t *)build->pDmaBufferPrivateData < bytes + m->paging_private_used ||
		 (uint8_t *)build->pDmaBufferPrivateData > bytes + m->paging->private_size ||
		 memcmp(before, bytes, m->paging_private_used) != 0 ||
		 memcmp(before + m->paging->private_size, bytes + m->paging->private_size, PRIVATE_GUARD) !=
			 0)
		os_break(&m->os, OS_RULE_PRIVATE_OVERFLOW, m->paging_private_used);
	else if (status != PB_STATUS_SUCCESS && status != PB_STATUS_INSUFFICIENT_DMA_BUFFER)
		os_break(&m->os, OS_RULE_BUILD_STATUS, status);
	if (!os_has_stopped(&m->os)) {
		m->paging_used = (uint32_t)((uint8_t *)build->pDmaBuffer - window->bytes);
		m->paging_private_used = (uint32_t)((uint8_t *)build->pDmaBufferPrivateData - bytes);
	}
	os_map_close(window);
	return status;
}

/** Calls until the operation is built. */
static void build_all(struct os_machine *m, struct pb_dxgkarg_buildpagingbuffer *build)
{
	uint32_t calls = 0;

	build->MultipassOffset = 0;
	while (!os_has_stopped(&m->os) && call(m, build) == PB_STATUS_INSUFFICIENT_DMA_BUFFER) {
		if (++calls == CALLS_MAX || m->free_count < 2) {
			os_break(&m->os, OS_RULE_BUILD_LOOPS, calls);
			return;
		}
		if (m->paging_used != m->paging_start)
			queue(m);
		close_buffer(m);
	}
}

void os_paging_build(struct os_machine *m, const struct os_operation *operation)
{
	const uint32_t before = os_below(&m->chance, FRAMES_BEFORE + 1);
	struct pb_dxgkarg_buildpagingbuffer build;
	struct mdl mdl;

	if (os_has_stopped(&m->os))
		return;
	os_garbage(&m->chance, &build, sizeof(build));
	fill_mdl(m, operation, &mdl, before);
	operation->allocation->moving++;
	if (operation->kind == OS_COPY && os_one_in(&m->chance, 3)) {
		for (uint32_t page = 0; page < operation->pages; page++) {
			transfer(operation, &mdl, before, page, 1, &build);
			build_all(m, &build);
		}
	} else {
		describe(operation, &mdl, before, &build);
		build_all(m, &build);
	}
	m->operations[m->operation_count++ % OS_OPERATIONS] = *operation;
	if (m->free_count > 8 && os_one_in(&m->chance, 4))
		os_paging_flush(m);
}

void os_paging_tell(struct os_machine *m, const struct os_operation *operation)
{
	struct pb_dxgkarg_buildpagingbuffer build;
	struct mdl mdl;

	os_garbage(&m->chance, &build, sizeof(build));
	fill_mdl(m, operation, &mdl, 0);
	describe(operation, &mdl, 0, &build);
	if (operation->kind == OS_COPY)
		build.Transfer.TransferSize = 0;
	close_buffer(m);
	build.MultipassOffset = 0;
	(void)call(m, &build);
	close_buffer(m);
}

/* ---- effects ---- */

static void carry_out(struct os_machine *m, const struct os_operation *operation)
{
	for (uint32_t page = 0; page < operation->pages; page++) {
		const uint32_t frame = operation->allocation->frames[page];
		const uint32_t at = operation->first + page;
		const uint32_t cell = os_vidmm_cell(m, operation->segment, at);

		switch (operation->kind) {
		case OS_COPY:
			os_memory_copy(&m->memory, operation->in ? cell : frame,
				       operation->in ? frame : cell);
			break;
		case OS_FILL:
			os_memory_fill(&m->memory, cell, operation->value);
			break;
		case OS_MAP:
			m->memory.aperture[at] = frame;
			break;
		case OS_UNMAP:
			m->memory.aperture[at] = OS_NO_CELL;
			break;
		}
	}
}

void os_paging_done(struct os_machine *m, const struct os_packet *packet, bool completed)
{
	const uint32_t first = packet->note[OS_NOTE_OPERATION];

	for (uint32_t i = first; i < first + packet->note[OS_NOTE_COUNT]; i++) {
		const struct os_operation *operation = &m->operations[i % OS_OPERATIONS];

		operation->allocation->moving--;
		if (completed)
			carry_out(m, operation);
	}
}
