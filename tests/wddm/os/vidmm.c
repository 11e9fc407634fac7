/* SPDX-License-Identifier: MIT */
/*
 * VidMm: where allocations are. It decides by chance what it pages out and where it pages in, and splits buffers. Paging
 * runs on one node. What another node uses is not paged out, and a packet waits for what is paged in for it on another
 * node.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/wddm/os/machine.h"

#define SEGMENTS 3u
#define TRIES    8u

static const struct place {
	uint32_t id;
	uint32_t pages;
} places[SEGMENTS] = {
	{OS_VIDEO, OS_VIDEO_PAGES},
	{OS_EDGE, OS_EDGE_PAGES},
	{OS_APERTURE, OS_APERTURE_PAGES},
};

static uint32_t index_of(uint32_t segment)
{
	return segment == OS_VIDEO ? 0 : segment == OS_EDGE ? 1 : 2;
}

uint64_t os_vidmm_base(uint32_t segment)
{
	return segment == OS_VIDEO ? OS_VIDEO_OS : segment == OS_EDGE ? OS_EDGE_OS : OS_APERTURE_OS;
}

uint32_t os_vidmm_cell(const struct os_machine *m, uint32_t segment, uint32_t page)
{
	if (segment == OS_VIDEO)
		return page;
	if (segment == OS_EDGE)
		return OS_CELL_EDGE + page;
	return segment == OS_APERTURE ? m->memory.aperture[page] : OS_NO_CELL;
}

void os_vidmm_start(struct os_machine *m)
{
	memset(m->used_frames, 0, sizeof(m->used_frames));
	memset(m->pages, 0, sizeof(m->pages));
}

void os_vidmm_frames(struct os_machine *m, struct os_allocation *allocation)
{
	for (uint32_t page = 0; page < allocation->pages; page++) {
		uint32_t frame = os_below(&m->chance, OS_FRAMES);

		while (m->used_frames[frame])
			frame = (frame + 1) % OS_FRAMES;
		m->used_frames[frame] = true;
		allocation->frames[page] = OS_CELL_FRAME + frame;
	}
}

static void leave(struct os_machine *m, struct os_allocation *allocation)
{
	for (uint32_t page = 0; page < allocation->pages; page++)
		m->pages[index_of(allocation->segment)][allocation->first + page] = NULL;
	allocation->segment = 0;
}

void os_vidmm_release(struct os_machine *m, struct os_allocation *allocation)
{
	if (allocation->segment != 0)
		leave(m, allocation);
	for (uint32_t page = 0; page < allocation->pages; page++)
		m->used_frames[allocation->frames[page] - OS_CELL_FRAME] = false;
}

/* ---- residency ---- */

/** Whether no packet on another node than the paging node uses it. */
static bool may_leave(const struct os_machine *m, const struct os_allocation *allocation)
{
	for (uint32_t n = 0; n < m->os.node_count; n++) {
		if (n != m->paging_node && allocation->in_flight[n] != 0)
			return false;
	}
	return true;
}

static struct os_operation whole(const struct os_allocation *allocation)
{
	return (struct os_operation){.allocation = (struct os_allocation *)(uintptr_t)allocation,
				     .segment = allocation->segment,
				     .first = allocation->first,
				     .pages = allocation->pages};
}

bool os_vidmm_evict(struct os_machine *m, struct os_allocation *allocation)
{
	struct os_operation operation = whole(allocation);

	if (allocation->segment == 0 || !may_leave(m, allocation))
		return false;
	os_say(m, "page out: %u pages of segment %u from %u", operation.pages, operation.segment,
	       operation.first);
	operation.kind = operation.segment == OS_APERTURE ? OS_UNMAP : OS_COPY;
	leave(m, allocation);
	os_paging_build(m, &operation);
	m->counts.evictions++;
	if (operation.kind == OS_COPY && os_one_in(&m->chance, 2)) {
		operation.kind = OS_FILL;
		operation.value = os_word(&m->chance);
		os_paging_build(m, &operation);
	}
	return true;
}

static void page_in(struct os_machine *m, struct os_allocation *allocation, uint32_t place, uint32_t first)
{
	struct os_operation operation;

	allocation->segment = places[place].id;
	allocation->first = first;
	for (uint32_t page = 0; page < allocation->pages; page++)
		m->pages[place][first + page] = allocation;
	operation = whole(allocation);
	operation.kind = allocation->segment == OS_APERTURE ? OS_MAP : OS_COPY;
	operation.in = true;
	os_say(m, "page in: %u pages to segment %u from %u", operation.pages, operation.segment,
	       operation.first);
	os_paging_build(m, &operation);
	m->counts.page_ins++;
}

static bool is_pinned(const struct os_allocation *owner, const struct os_process *process, uint32_t pinned)
{
	const ptrdiff_t a = owner - process->allocations;

	return a >= 0 && a < (ptrdiff_t)OS_ALLOCATIONS && (pinned >> a & 1u) != 0;
}

/** Whether an allocation can be placed there. @param busy out: true if a packet on another node prevents it */
static bool is_free(const struct os_machine *m, const struct os_process *process, uint32_t pinned,
		    uint32_t place, uint32_t first, uint32_t count, bool *busy)
{
	for (uint32_t page = first; page < first + count; page++) {
		const struct os_allocation *owner = m->pages[place][page];

		if (owner == NULL)
			continue;
		if (is_pinned(owner, process, pinned))
			return false;
		if (!may_leave(m, owner)) {
			*busy = true;
			return false;
		}
	}
	return true;
}

static void settle(struct os_machine *m, struct os_allocation *allocation, uint32_t place, uint32_t first)
{
	for (uint32_t page = first; page < first + allocation->pages; page++) {
		if (m->pages[place][page] != NULL)
			(void)os_vidmm_evict(m, m->pages[place][page]);
	}
	page_in(m, allocation, place, first);
}

enum result { PLACED, WAIT, FULL };

static enum result place(struct os_machine *m, struct os_process *process, struct os_allocation *allocation,
			 uint32_t pinned)
{
	const uint32_t segments = m->has_aperture ? SEGMENTS : SEGMENTS - 1;
	bool busy = false;

	for (uint32_t t = 0; t < TRIES; t++) {
		const uint32_t at = os_below(&m->chance, segments);
		const uint32_t first = os_below(&m->chance, places[at].pages - allocation->pages + 1);

		if (is_free(m, process, pinned, at, first, allocation->pages, &busy)) {
			settle(m, allocation, at, first);
			return PLACED;
		}
	}
	for (uint32_t at = 0; at < segments; at++) {
		for (uint32_t first = 0; first + allocation->pages <= places[at].pages; first++) {
			if (is_free(m, process, pinned, at, first, allocation->pages, &busy)) {
				settle(m, allocation, at, first);
				return PLACED;
			}
		}
	}
	return busy ? WAIT : FULL;
}

/* ---- splits ---- */

static void find_patches(const struct os_buffer *buffer, struct os_packet *packet)
{
	uint32_t first = 0;
	uint32_t last;

	while (first < buffer->patch_count &&
	       buffer->patches[first].patch_offset < packet->patch.DmaBufferSubmissionStartOffset)
		first++;
	for (last = first; last < buffer->patch_count &&
			   buffer->patches[last].patch_offset < packet->patch.DmaBufferSubmissionEndOffset;)
		last++;
	packet->patch.PatchLocationListSubmissionStart = first;
	packet->patch.PatchLocationListSubmissionLength = last - first;
}

/** The row of each slot where a part begins: nothing may stay bound that no entry there binds anew or unbinds. */
static void check_slots(struct os_machine *m, const struct os_buffer *buffer, uint32_t start)
{
	bool bound[PB_RENDER_SLOT_VERTICES + 1] = {false};

	for (uint32_t p = 0; p < buffer->patch_count && buffer->patches[p].split_offset <= start; p++) {
		const struct pb_patch_location *patch = &buffer->patches[p];

		bound[patch->slot] = patch->split_offset < start && patch->allocation_index != 0;
	}
	for (uint32_t slot = 0; slot <= PB_RENDER_SLOT_VERTICES; slot++) {
		if (bound[slot])
			os_break(&m->os, OS_RULE_SLOT, slot);
	}
}

/** Cuts a packet in two. */
static void split(struct os_machine *m, uint32_t node, uint32_t index, uint32_t at)
{
	struct os_packet *packet = &m->os.nodes[node].software.packets[index];
	struct os_buffer *buffer = os_buffer_of(m, packet);
	struct os_packet rest = *packet;

	os_say(m, "split at %u", at);
	packet->patch.DmaBufferSubmissionEndOffset = at;
	rest.patch.DmaBufferSubmissionStartOffset = at;
	find_patches(buffer, packet);
	find_patches(buffer, &rest);
	check_slots(m, buffer, at);
	buffer->parts++;
	buffer->process->outstanding++;
	m->counts.splits++;
	os_insert(&m->os, index + 1, &rest);
}

/** Chooses a place to split at. @return the packet's end: none */
static uint32_t choose_split(struct os_machine *m, const struct os_buffer *buffer,
			     const struct os_packet *packet)
{
	const uint32_t start = packet->patch.DmaBufferSubmissionStartOffset;
	const uint32_t end = packet->patch.DmaBufferSubmissionEndOffset;
	const uint32_t count = packet->patch.PatchLocationListSubmissionLength;
	uint32_t at;

	if (count == 0 || !os_one_in(&m->chance, 4))
		return end;
	at = buffer->patches[packet->patch.PatchLocationListSubmissionStart + os_below(&m->chance, count)]
		     .split_offset;
	return at > start && at < end ? at : end;
}

static uint32_t leading_paging(const struct os_machine *m, uint32_t node)
{
	const struct os_queue *queue = &m->os.nodes[node].software;
	uint32_t index = 0;

	while (index < queue->count && os_is_paging(&queue->packets[index]))
		index++;
	return index;
}

/** Pages in what bytes of a buffer up to `end` need. @param end in: wanted; out: where it must be split */
static enum result page_in_all(struct os_machine *m, const struct os_buffer *buffer,
			       const struct os_packet *packet, uint32_t *end, uint32_t *pinned)
{
	const uint32_t first = packet->patch.PatchLocationListSubmissionStart;
	const uint32_t behind = first + packet->patch.PatchLocationListSubmissionLength;

	*pinned = 0;
	for (uint32_t p = first; p < behind && buffer->patches[p].patch_offset < *end; p++) {
		const uint32_t index = buffer->patches[p].allocation_index;
		struct os_allocation *allocation;
		enum result result;

		if (index == 0)
			continue;
		allocation = &buffer->process->allocations[index - 1];
		result = allocation->segment != 0 ? PLACED : place(m, buffer->process, allocation, *pinned);
		if (result == WAIT ||
		    (result == FULL &&
		     buffer->patches[p].split_offset <= packet->patch.DmaBufferSubmissionStartOffset))
			return WAIT;
		if (result == FULL) {
			*end = buffer->patches[p].split_offset;
			return PLACED;
		}
		*pinned |= 1u << (index - 1);
	}
	return PLACED;
}

/** Whether all that bytes of a buffer need is there, and can be used by that node. */
static bool is_there(const struct os_machine *m, uint32_t node, const struct os_buffer *buffer,
		     const struct os_packet *packet)
{
	const uint32_t first = packet->patch.PatchLocationListSubmissionStart;

	for (uint32_t p = first; p < first + packet->patch.PatchLocationListSubmissionLength; p++) {
		const uint32_t index = buffer->patches[p].allocation_index;
		const struct os_allocation *allocation;

		if (index == 0)
			continue;
		allocation = &buffer->process->allocations[index - 1];
		if (allocation->segment == 0 || (node != m->paging_node && allocation->moving != 0))
			return false;
	}
	return true;
}

/**
 * Pages in for the head of a node's queue. Only one node pages in at a time, so that two do not take each other's memory
 * again and again.
 */
static bool make_ready(struct os_machine *m, uint32_t node, const struct os_buffer *buffer,
		       const struct os_packet *packet)
{
	uint32_t end = packet->patch.DmaBufferSubmissionEndOffset;
	enum result result;
	uint32_t pinned;

	if ((m->pager != 0 && m->pager != node + 1) || m->free_count < OS_PAGING_BUFFERS)
		return false;
	m->pager = node + 1;
	result = page_in_all(m, buffer, packet, &end, &pinned);
	os_paging_flush(m);
	if (os_has_stopped(&m->os))
		return false;
	if (result == PLACED && end != packet->patch.DmaBufferSubmissionEndOffset)
		split(m, node, node == m->paging_node ? leading_paging(m, node) : 0, end);
	/* On the paging node the paging packets are the next ones. */
	return node == m->paging_node && leading_paging(m, node) != 0;
}

bool os_vidmm_ready(void *machine, uint32_t node)
{
	struct os_machine *m = machine;
	struct os_packet *head = &m->os.nodes[node].software.packets[0];
	struct os_buffer *buffer = os_buffer_of(m, head);
	struct os_packet copy;
	uint32_t end;

	if (buffer == NULL || buffer->process == NULL)
		return true;
	if (!is_there(m, node, buffer, head)) {
		copy = *head; /* paging packets move it */
		return make_ready(m, node, buffer, &copy);
	}
	if (m->pager == node + 1)
		m->pager = 0;
	end = choose_split(m, buffer, head);
	if (end != head->patch.DmaBufferSubmissionEndOffset)
		split(m, node, 0, end);
	return !os_has_stopped(&m->os);
}

/* ---- a reset of the adapter ---- */

void os_vidmm_between(void *machine)
{
	static uint32_t before[OS_CELLS][OS_PAGE_WORDS];
	struct os_machine *m = machine;

	for (uint32_t cell = 0; cell < OS_CELLS; cell++)
		memcpy(before[cell], m->memory.real[cell], OS_PAGE_BYTES);
	for (uint32_t p = 0; p < m->process_count; p++) {
		for (uint32_t a = 0; a < OS_ALLOCATIONS && m->processes[p].alive; a++) {
			struct os_operation operation = whole(&m->processes[p].allocations[a]);

			operation.kind = operation.segment == OS_APERTURE ? OS_UNMAP : OS_COPY;
			if (operation.segment != 0)
				os_paging_tell(m, &operation);
		}
	}
	m->os.miniport.run(m, OS_BETWEEN_US);
	for (uint32_t cell = 0; cell < OS_CELLS; cell++) {
		if (memcmp(before[cell], m->memory.real[cell], OS_PAGE_BYTES) != 0)
			os_break(&m->os, OS_RULE_RESET_TOUCHES, cell);
	}
}
