/* SPDX-License-Identifier: MIT */
/*
 * A DMA buffer in as few parts as residency allows. The patch-location list is
 * walked once from front to back, and what its entries name is made resident
 * as it is met. Where that fails, the part ends at the entry's SplitOffset.
 */
#include "host/internal.h"
#include "host/residency.h"
#include "host/residency_internal.h"

/** The part in hand: patch locations [first, next), bytes [start, end). */
struct part {
	uint32_t first;
	uint32_t next;
	uint32_t start;
	uint32_t end;
};

static uint32_t locations_end(const struct pb_residency_work *work)
{
	return work->descriptor.patch_start + work->descriptor.patch_length;
}

static struct pb_patch_location location_at(const struct pb_residency_work *work, uint32_t index)
{
	struct pb_patch_location location;

	pb_shared_copy_in(&location, &work->locations[index], sizeof(location));
	return location;
}

/**
 * The allocation that a patch location names.
 * @param allocation NULL: the NULL allocation
 */
static enum pb_error named_by(const struct pb_residency *manager, const struct pb_residency_work *work,
			      const struct pb_patch_location *location, bool *written,
			      struct pb_residency_allocation **allocation)
{
	const struct pb_allocation *entry;
	uint32_t handle;

	*allocation = NULL;
	if (location->allocation_index >= work->descriptor.allocation_count)
		return PB_ERROR_BAD_ARGUMENT;
	entry = &work->allocations[location->allocation_index];
	handle = pb_shared_read32(&entry->id);
	*written = (pb_shared_read32(&entry->flags) & PB_ALLOCATION_WRITE) != 0;
	if (handle == 0)
		return PB_ERROR_OK;
	*allocation = pb_residency_at(manager, handle);
	return *allocation != NULL ? PB_ERROR_OK : PB_ERROR_BAD_HANDLE;
}

/** @param split the smallest SplitOffset that it may have */
static bool split_is_valid(const struct pb_residency_work *work, const struct pb_patch_location *location,
			   uint32_t split)
{
	return location->split_offset >= split && location->split_offset < work->descriptor.dma_end &&
	       location->split_offset % sizeof(uint32_t) == 0;
}

/**
 * Holds what the entries of one SplitOffset name, from part->next on.
 * @param page_in false: only what is resident already, so that it is not evicted for the rest
 * @param next the entry that an error is about, or the first one behind them
 */
static enum pb_error hold_entries(struct pb_residency *manager, const struct pb_residency_work *work,
				  const struct part *part, bool page_in, uint32_t *next)
{
	struct pb_patch_location location = location_at(work, part->next);
	const uint32_t split = location.split_offset;

	*next = part->next;
	while (location.split_offset == split) {
		struct pb_residency_allocation *allocation;
		bool written;
		enum pb_error error = named_by(manager, work, &location, &written, &allocation);

		if (!split_is_valid(work, &location, part->end))
			return PB_ERROR_BAD_ARGUMENT;
		if (error == PB_ERROR_OK && allocation != NULL && (page_in || allocation->segment != NULL))
			error = pb_residency_hold(manager, allocation);
		if (error != PB_ERROR_OK)
			return error;
		if (++*next == locations_end(work))
			break;
		location = location_at(work, *next);
	}
	return PB_ERROR_OK;
}

/**
 * Makes resident what the next command needs.
 * @param part next and end move behind its entries
 */
static enum pb_error hold_command(struct pb_residency *manager, struct pb_residency_work *work,
				  struct part *part)
{
	const uint32_t split = location_at(work, part->next).split_offset;
	uint32_t next;
	enum pb_error error = hold_entries(manager, work, part, false, &next);

	if (error == PB_ERROR_OK)
		error = hold_entries(manager, work, part, true, &next);
	if (error != PB_ERROR_OK) {
		work->failed = next;
		return error;
	}
	part->next = next;
	part->end = split;
	return PB_ERROR_OK;
}

/** As many commands as can be resident at once, one at least. */
static enum pb_error gather(struct pb_residency *manager, struct pb_residency_work *work, struct part *part)
{
	const uint32_t end = locations_end(work);
	enum pb_error error = PB_ERROR_OK;

	pb_residency_release(manager);
	while (part->next != end && error == PB_ERROR_OK) {
		error = hold_command(manager, work, part);
		if (error != PB_ERROR_NO_SPACE || part->next != part->first)
			continue;
		/* Alone it may fit yet: what it needs can lie so that the rest has no room. */
		pb_residency_release(manager);
		error = pb_residency_empty(manager);
		if (error == PB_ERROR_OK)
			error = hold_command(manager, work, part);
		if (error != PB_ERROR_OK)
			return error;
	}
	if (error != PB_ERROR_OK && error != PB_ERROR_NO_SPACE)
		return error;
	work->failed = PB_INDEX_NONE;
	part->end = part->next == end ? work->descriptor.dma_end : location_at(work, part->next).split_offset;
	return PB_ERROR_OK;
}

/** Notes that the part's allocations are in flight until the timeline value. */
static enum pb_error mark(struct pb_residency *manager, uint32_t queue, const struct pb_residency_work *work,
			  const struct part *part, uint64_t timeline)
{
	for (uint32_t i = part->first; i != part->next; i++) {
		const struct pb_patch_location location = location_at(work, i);
		struct pb_residency_allocation *allocation;
		bool written;
		const enum pb_error error = named_by(manager, work, &location, &written, &allocation);

		if (error != PB_ERROR_OK)
			return error;
		if (allocation == NULL)
			continue;
		allocation->busy[queue] = timeline;
		allocation->changed = allocation->changed || written;
	}
	return PB_ERROR_OK;
}

/**
 * The allocation list for one part: what it does not name is unbound, for its
 * place may be another's. The part before has been done with the list since an
 * allocation of its own was waited for, to make room: that is what a cut means.
 */
static void write_list(const struct pb_residency *manager, uint32_t queue,
		       const struct pb_residency_work *work, uint64_t timeline)
{
	for (uint32_t i = 0; i < work->descriptor.allocation_count; i++) {
		struct pb_allocation *entry = &work->allocations[i];
		const uint32_t handle = pb_shared_read32(&entry->id);
		const struct pb_residency_allocation *allocation = pb_residency_at(manager, handle);
		const bool bound = allocation != NULL && allocation->segment != NULL &&
				   allocation->busy[queue] == timeline;
		const uint64_t address = bound ? allocation->segment->os_base + allocation->offset : 0;
		uint32_t flags = pb_shared_read32(&entry->flags) &
				 (PB_ALLOCATION_WRITE | PB_ALLOCATION_ATTRIBUTE_MASK);

		flags |=
			bound ? allocation->segment->id << PB_ALLOCATION_SEGMENT_SHIFT : PB_ALLOCATION_UNBIND;
		pb_shared_write32(&entry->address_low, (uint32_t)address);
		pb_shared_write32(&entry->address_high, (uint32_t)(address >> 32));
		pb_shared_write32(&entry->flags, flags);
	}
}

static struct pb_descriptor describe(const struct pb_residency_work *work, const struct part *part,
				     uint64_t timeline)
{
	const struct pb_descriptor *whole = &work->descriptor;
	struct pb_descriptor descriptor = *whole;

	descriptor.fence_id += work->parts;
	descriptor.timeline_low = (uint32_t)timeline;
	descriptor.timeline_high = (uint32_t)(timeline >> 32);
	descriptor.dma_start = part->start;
	descriptor.dma_end = part->end;
	descriptor.patch_start = part->first;
	descriptor.patch_length = part->next - part->first;
	/* A cookie stands for one range. */
	if (part->start != whole->dma_start || part->end != whole->dma_end)
		descriptor.cookie = 0;
	return descriptor;
}

static enum pb_error submit_part(struct pb_residency *manager, uint32_t number,
				 struct pb_residency_work *work, const struct part *part)
{
	struct pb_queue *queue = manager->setup.queues[number];
	const uint64_t timeline = queue->timeline + 1;
	const struct pb_descriptor descriptor = describe(work, part, timeline);
	enum pb_error error = pb_residency_flush(manager);

	if (error == PB_ERROR_OK)
		error = mark(manager, number, work, part, timeline);
	if (error != PB_ERROR_OK)
		return error;
	write_list(manager, number, work, timeline);
	error = pb_queue_submit(queue, &descriptor);
	if (error == PB_ERROR_NO_SPACE) {
		error = pb_residency_await(manager, number, queue->timeline);
		if (error == PB_ERROR_OK)
			error = pb_queue_submit(queue, &descriptor);
	}
	if (error == PB_ERROR_OK)
		work->parts++;
	return error;
}

static bool work_is_valid(const struct pb_residency *manager, uint32_t queue,
			  const struct pb_residency_work *work)
{
	return queue < PB_RESIDENCY_QUEUES && manager->setup.queues[queue] != NULL &&
	       work->descriptor.patch_encoding == PB_PATCH_ENCODING_WDDM &&
	       work->descriptor.patch_length <= UINT32_MAX - work->descriptor.patch_start;
}

enum pb_error pb_residency_submit(struct pb_residency *manager, uint32_t queue,
				  struct pb_residency_work *work)
{
	struct part part = {.next = work->descriptor.patch_start, .end = work->descriptor.dma_start};
	enum pb_error error;

	work->parts = 0;
	work->failed = PB_INDEX_NONE;
	if (!work_is_valid(manager, queue, work))
		return PB_ERROR_BAD_ARGUMENT;
	do {
		part.first = part.next;
		part.start = part.end;
		error = gather(manager, work, &part);
		if (error == PB_ERROR_OK)
			error = submit_part(manager, queue, work, &part);
		if (error == PB_ERROR_OK && work->parts > 1)
			manager->figures.splits++;
	} while (error == PB_ERROR_OK && part.next != locations_end(work));
	return error;
}
