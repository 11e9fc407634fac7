/* SPDX-License-Identifier: MIT */
/*
 * Submits a DMA buffer in as few parts as residency allows. The patch-location list is read once from front to back,
 * and the allocations that its entries name are made resident on the way. If one does not fit, the part ends at its
 * entry's SplitOffset.
 */
#include "host/internal.h"
#include "host/residency_internal.h"
#include "patchbay/residency.h"

/** The present part: patch locations [first, next), bytes [start, end) of the DMA buffer. */
struct part {
	uint32_t first;
	uint32_t next;
	uint32_t start;
	uint32_t end;
};

static uint32_t locations_end(const struct pb_residency_submission *submission)
{
	return submission->descriptor.patch_start + submission->descriptor.patch_length;
}

static struct pb_patch_location location_at(const struct pb_residency_submission *submission, uint32_t index)
{
	struct pb_patch_location location;

	pb_shared_copy_in(&location, &submission->locations[index], sizeof(location));
	return location;
}

/**
 * Finds the allocation that a patch location names.
 * @param written out: the list entry allows writes
 * @param allocation out; NULL: the NULL allocation
 */
static enum pb_error named_by(const struct pb_residency *manager,
			      const struct pb_residency_submission *submission,
			      const struct pb_patch_location *location, bool *written,
			      struct pb_residency_allocation **allocation)
{
	const struct pb_allocation *entry;
	uint32_t handle;

	*allocation = NULL;
	if (location->allocation_index >= submission->descriptor.allocation_count)
		return PB_ERROR_BAD_ARGUMENT;
	entry = &submission->allocations[location->allocation_index];
	handle = pb_shared_read32(&entry->id);
	*written = (pb_shared_read32(&entry->flags) & PB_ALLOCATION_WRITE) != 0;
	if (handle == 0)
		return PB_ERROR_OK;
	*allocation = pb_residency_at(manager, handle);
	return *allocation != NULL ? PB_ERROR_OK : PB_ERROR_BAD_HANDLE;
}

/** Checks the SplitOffset of a patch location. @param split smallest valid value */
static bool split_is_valid(const struct pb_residency_submission *submission,
			   const struct pb_patch_location *location, uint32_t split)
{
	return location->split_offset >= split && location->split_offset < submission->descriptor.dma_end &&
	       location->split_offset % sizeof(uint32_t) == 0;
}

/**
 * Holds the allocations that the entries of one SplitOffset name, from part->next on.
 * @param page_in false: only hold those that are resident, so that they are not evicted for the others
 * @param next out: the first entry behind them, or the entry that caused the error
 */
static enum pb_error hold_entries(struct pb_residency *manager,
				  const struct pb_residency_submission *submission, const struct part *part,
				  bool page_in, uint32_t *next)
{
	struct pb_patch_location location = location_at(submission, part->next);
	const uint32_t split = location.split_offset;

	*next = part->next;
	while (location.split_offset == split) {
		struct pb_residency_allocation *allocation;
		bool written;
		enum pb_error error = named_by(manager, submission, &location, &written, &allocation);

		if (!split_is_valid(submission, &location, part->end))
			return PB_ERROR_BAD_ARGUMENT;
		if (error == PB_ERROR_OK && allocation != NULL && (page_in || allocation->segment != NULL))
			error = pb_residency_hold(manager, allocation);
		if (error != PB_ERROR_OK)
			return error;
		if (++*next == locations_end(submission))
			break;
		location = location_at(submission, *next);
	}
	return PB_ERROR_OK;
}

/**
 * Makes resident the allocations that the next command needs.
 * @param part `next` and `end` advance behind the command's entries
 */
static enum pb_error hold_command(struct pb_residency *manager, struct pb_residency_submission *submission,
				  struct part *part)
{
	const uint32_t split = location_at(submission, part->next).split_offset;
	uint32_t next;
	enum pb_error error = hold_entries(manager, submission, part, false, &next);

	if (error == PB_ERROR_OK)
		error = hold_entries(manager, submission, part, true, &next);
	if (error != PB_ERROR_OK) {
		submission->failed = next;
		return error;
	}
	part->next = next;
	part->end = split;
	return PB_ERROR_OK;
}

/** Extends the part by as many commands as can be resident at once, at least by one. */
static enum pb_error gather(struct pb_residency *manager, struct pb_residency_submission *submission,
			    struct part *part)
{
	const uint32_t end = locations_end(submission);
	enum pb_error error = PB_ERROR_OK;

	pb_residency_release(manager);
	while (part->next != end && error == PB_ERROR_OK) {
		error = hold_command(manager, submission, part);
		if (error != PB_ERROR_NO_SPACE || part->next != part->first)
			continue;
		/* One command alone may still fit: evict everything, because free room may be fragmented. */
		pb_residency_release(manager);
		error = pb_residency_empty(manager);
		if (error == PB_ERROR_OK)
			error = hold_command(manager, submission, part);
		if (error != PB_ERROR_OK)
			return error;
	}
	if (error != PB_ERROR_OK && error != PB_ERROR_NO_SPACE)
		return error;
	submission->failed = PB_INDEX_NONE;
	part->end = part->next == end ? submission->descriptor.dma_end
				      : location_at(submission, part->next).split_offset;
	return PB_ERROR_OK;
}

/** Records that the part's allocations are in use until the queue reaches a timeline value. */
static enum pb_error mark(struct pb_residency *manager, uint32_t queue,
			  const struct pb_residency_submission *submission, const struct part *part,
			  uint64_t timeline)
{
	for (uint32_t i = part->first; i != part->next; i++) {
		const struct pb_patch_location location = location_at(submission, i);
		struct pb_residency_allocation *allocation;
		bool written;
		const enum pb_error error = named_by(manager, submission, &location, &written, &allocation);

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
 * Writes the allocation list for one part. Allocations that the part does not name are unbound, because their old
 * addresses may belong to others. The previous part no longer reads the list: a cut happens only after a wait for one
 * of that part's allocations.
 * @return an allocation is presumed where it is
 */
static bool write_list(const struct pb_residency *manager, uint32_t queue,
		       const struct pb_residency_submission *submission, uint64_t timeline)
{
	bool presumed = false;

	for (uint32_t i = 0; i < submission->descriptor.allocation_count; i++) {
		struct pb_allocation *entry = &submission->allocations[i];
		const uint32_t handle = pb_shared_read32(&entry->id);
		const struct pb_residency_allocation *allocation = pb_residency_at(manager, handle);
		const bool bound = allocation != NULL && allocation->segment != NULL &&
				   allocation->busy[queue] == timeline;
		const uint64_t address = bound ? allocation->segment->os_base + allocation->offset : 0;
		struct pb_presumed words = {
			.address_low = (uint32_t)address,
			.address_high = (uint32_t)(address >> 32),
			.flags = pb_shared_read32(&entry->flags) &
				 (PB_ALLOCATION_WRITE | PB_ALLOCATION_ATTRIBUTE_MASK),
		};

		words.flags |=
			bound ? allocation->segment->id << PB_ALLOCATION_SEGMENT_SHIFT : PB_ALLOCATION_UNBIND;
		pb_shared_write32(&entry->address_low, words.address_low);
		pb_shared_write32(&entry->address_high, words.address_high);
		pb_shared_write32(&entry->flags, words.flags);
		if (submission->patched != NULL && pb_residency_presume(submission, i, &words, handle))
			presumed = true;
	}
	return presumed;
}

/** Returns whether a part is all of the buffer. */
static bool is_whole(const struct pb_residency_submission *submission, const struct part *part)
{
	return part->start == submission->descriptor.dma_start && part->end == submission->descriptor.dma_end;
}

static struct pb_descriptor describe(const struct pb_residency_submission *submission,
				     const struct part *part, uint64_t timeline)
{
	const struct pb_descriptor *whole = &submission->descriptor;
	struct pb_descriptor descriptor = *whole;

	descriptor.fence_id += submission->parts;
	descriptor.timeline_low = (uint32_t)timeline;
	descriptor.timeline_high = (uint32_t)(timeline >> 32);
	descriptor.dma_start = part->start;
	descriptor.dma_end = part->end;
	descriptor.patch_start = part->first;
	descriptor.patch_length = part->next - part->first;
	/* A cookie is valid for one range only. */
	if (!is_whole(submission, part))
		descriptor.cookie = 0;
	return descriptor;
}

static enum pb_error submit_part(struct pb_residency *manager, uint32_t number,
				 struct pb_residency_submission *submission, const struct part *part)
{
	struct pb_queue *queue = manager->setup.queues[number];
	const uint64_t timeline = queue->timeline + 1;
	struct pb_descriptor descriptor = describe(submission, part, timeline);
	enum pb_error error = pb_residency_flush(manager);

	if (error == PB_ERROR_OK)
		error = mark(manager, number, submission, part, timeline);
	if (error != PB_ERROR_OK)
		return error;
	if (write_list(manager, number, submission, timeline)) {
		if (is_whole(submission, part))
			pb_residency_presume_group(manager, number, submission, &descriptor);
		descriptor.patch_encoding |= PB_PATCH_PRESUMED;
	}
	error = pb_queue_submit(queue, &descriptor);
	if (error == PB_ERROR_NO_SPACE) {
		error = pb_residency_await(manager, number, queue->timeline);
		if (error == PB_ERROR_OK)
			error = pb_queue_submit(queue, &descriptor);
	}
	if (error == PB_ERROR_OK)
		submission->parts++;
	return error;
}

static bool submission_is_valid(const struct pb_residency *manager, uint32_t queue,
				const struct pb_residency_submission *submission)
{
	return queue < PB_RESIDENCY_QUEUES && manager->setup.queues[queue] != NULL &&
	       submission->descriptor.patch_encoding == PB_PATCH_ENCODING_WDDM &&
	       submission->descriptor.patch_length <= UINT32_MAX - submission->descriptor.patch_start &&
	       (submission->patched == NULL ||
		submission->descriptor.allocation_count <= submission->patched->room);
}

enum pb_error pb_residency_submit(struct pb_residency *manager, uint32_t queue,
				  struct pb_residency_submission *submission)
{
	struct part part = {.next = submission->descriptor.patch_start,
			    .end = submission->descriptor.dma_start};
	enum pb_error error;

	submission->parts = 0;
	submission->failed = PB_INDEX_NONE;
	if (!submission_is_valid(manager, queue, submission))
		return PB_ERROR_BAD_ARGUMENT;
	if (submission->patched != NULL)
		pb_residency_presume_begin(manager, queue, submission);
	do {
		part.first = part.next;
		part.start = part.end;
		error = gather(manager, submission, &part);
		if (error == PB_ERROR_OK)
			error = submit_part(manager, queue, submission, &part);
		if (error == PB_ERROR_OK && submission->parts > 1)
			manager->figures.splits++;
	} while (error == PB_ERROR_OK && part.next != locations_end(submission));
	if (submission->patched != NULL)
		pb_residency_presume_end(submission, manager->setup.queues[queue]->timeline,
					 error == PB_ERROR_OK);
	return error;
}
