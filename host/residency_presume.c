/* SPDX-License-Identifier: MIT */
/*
 * What the patches in a DMA buffer presume: with which words of its allocation list they were carried out. An entry is
 * PRESUMED once that is certain: the submission that patched it has completed, neither it nor any other of its queue has
 * failed or was returned since, and the buffer is submitted in the same range, from the same channel. A submission that
 * ended otherwise may have patched all of the buffer, a part, or nothing; but it never wrote where an allocation was
 * presumed. So only the entries that it was to patch are not known after it.
 */
#include <string.h>

#include "host/internal.h"
#include "host/residency_internal.h"

/*
 * Entries for each group, on average, from which on a list in groups costs the firmware no more than the list as it is.
 * Counted on a Cortex-M7 for 200 allocations of which one has moved, in instructions an entry, groups against list: 23.8 and
 * 20.4 for 2 entries a group, 15.9 and 16.1 for 3, 11.9 and 13.9 for 4, 4.8 and 10.1 for 10. The more have moved, the more
 * groups save: of a quarter of 200 groups of 3 it is 41 against 77.
 */
#define GROUP_ENTRIES 3u

enum {
	UNKNOWN,  /* the target words may hold anything */
	PRESUMED, /* the target words were patched with `words` and `id` */
	KEPT,     /* as PRESUMED; a part of the last submission has skipped the allocation's locations */
	PENDING,  /* the last submission is to patch them so; it is not known yet whether it did */
	MIXED     /* parts of the last submission list the allocation with different words */
};

void pb_residency_patched_start(struct pb_residency_patched *patched,
				struct pb_residency_presumption *entries, uint32_t room)
{
	*patched = (struct pb_residency_patched){.entries = entries, .room = room};
}

void pb_residency_patched_group(struct pb_residency_patched *patched, struct pb_group_cursor *cursors,
				uint32_t *words, uint64_t address, uint32_t room)
{
	patched->cursors = cursors;
	patched->grouped = words;
	patched->grouped_address = address;
	patched->grouped_room = room;
	patched->grouped_tried = false;
}

enum pb_error pb_residency_patched_rendered(const struct pb_residency_submission *submission)
{
	struct pb_residency_patched *patched = submission->patched;

	if (submission->descriptor.allocation_count > patched->room)
		return PB_ERROR_BAD_ARGUMENT;
	for (uint32_t i = 0; i < submission->descriptor.allocation_count; i++) {
		const struct pb_allocation *listed = &submission->allocations[i];
		const uint32_t flags = pb_shared_read32(&listed->flags);

		patched->entries[i] = (struct pb_residency_presumption){
			.words = {.address_low = pb_shared_read32(&listed->address_low),
				  .address_high = pb_shared_read32(&listed->address_high),
				  .flags = flags},
			.id = pb_shared_read32(&listed->id),
			.state = (flags & PB_ALLOCATION_SEGMENT_MASK) != 0 ? PRESUMED : UNKNOWN,
		};
	}
	patched->rendered = true;
	return PB_ERROR_OK;
}

/* Returns whether two submissions have the same bytes patched by the same lists. */
static bool same_range(const struct pb_descriptor *one, const struct pb_descriptor *other)
{
	return one->dma_address_low == other->dma_address_low &&
	       one->dma_address_high == other->dma_address_high && one->dma_segment == other->dma_segment &&
	       one->dma_size == other->dma_size && one->dma_start == other->dma_start &&
	       one->dma_end == other->dma_end && one->patch_address_low == other->patch_address_low &&
	       one->patch_address_high == other->patch_address_high &&
	       one->patch_start == other->patch_start && one->patch_length == other->patch_length &&
	       one->allocation_count == other->allocation_count;
}

/* Returns whether all parts of the last submission completed without an error, and thus carried out their patches. */
static bool is_carried_out(const struct pb_residency *manager, const struct pb_residency_patched *patched)
{
	struct pb_queue *queue = manager->setup.queues[patched->number];
	const uint64_t timeline = (uint64_t)patched->last.timeline_high << 32 | patched->last.timeline_low;
	struct pb_fence fence;

	return patched->complete && queue != NULL && queue->handle == patched->queue &&
	       pb_queue_fence(queue, &fence) == PB_ERROR_OK && queue->returns == patched->returns &&
	       fence.errors == patched->errors && fence.timeline >= timeline;
}

/* Returns whether the card has what a bit of the capability PATCH_ENCODINGS stands for. */
static bool card_can(const struct pb_queue *queue, uint32_t bit)
{
	return (queue->channel->card.capabilities[PB_CAPABILITY_PATCH_ENCODINGS] & bit) != 0;
}

/*
 * Returns whether each location has a format that uses its allocation. The formats of a channel are not known here, and
 * count as formats that do not.
 */
static bool use_their_allocations(const struct pb_residency_submission *submission)
{
	const uint32_t end = submission->descriptor.patch_start + submission->descriptor.patch_length;
	bool good = true;

	for (uint32_t i = submission->descriptor.patch_start; i != end; i++) {
		const uint32_t format = pb_shared_read32(&submission->locations[i].driver_id);

		good = good && format < PB_FORMAT_OWN && format != PB_PATCH_FORMAT_FENCE_ID &&
		       format != PB_PATCH_FORMAT_SELF32 && format != PB_PATCH_FORMAT_SELF64;
	}
	return good;
}

/* Settles what the last submission has left of an entry. @param pending state of what it was to patch */
static void settle(struct pb_residency_presumption *entry, bool again, uint32_t pending)
{
	if (!again || entry->state == MIXED)
		entry->state = UNKNOWN;
	else if (entry->state == PENDING)
		entry->state = pending;
	else if (entry->state == KEPT)
		entry->state = PRESUMED;
}

void pb_residency_presume_begin(const struct pb_residency *manager, uint32_t number,
				const struct pb_residency_submission *submission)
{
	struct pb_residency_patched *patched = submission->patched;
	struct pb_queue *queue = manager->setup.queues[number];
	const bool again = patched->epoch == queue->channel->epoch &&
			   same_range(&patched->last, &submission->descriptor);
	const uint32_t pending =
		again && !patched->rendered && is_carried_out(manager, patched) ? PRESUMED : UNKNOWN;
	struct pb_fence fence = {.errors = 0};

	for (uint32_t i = 0; !patched->rendered && i < submission->descriptor.allocation_count; i++)
		settle(&patched->entries[i], again, pending);
	if (patched->rendered || !again) {
		patched->usable = card_can(queue, PB_PATCH_PRESUMED) && use_their_allocations(submission);
		patched->grouped_tried = false;
	}
	patched->rendered = false;
	patched->last = submission->descriptor;
	patched->epoch = queue->channel->epoch;
	patched->queue = queue->handle;
	patched->number = number;
	patched->returns = queue->returns;
	/* An error that is counted from now on is held against this submission. */
	patched->complete = pb_queue_fence(queue, &fence) == PB_ERROR_OK;
	patched->errors = fence.errors;
}

/* Notes that a part lists an allocation with these words. @return true: its target words have been patched with them */
static bool note(struct pb_residency_presumption *entry, const struct pb_presumed *words, uint32_t id)
{
	const bool same = entry->id == id && memcmp(&entry->words, words, sizeof(*words)) == 0;

	if (same && (entry->state == PRESUMED || entry->state == KEPT)) {
		entry->state = KEPT;
		return true;
	}
	/* Of what an earlier part lists otherwise, nothing is known afterwards. */
	if (entry->state == KEPT || (entry->state == PENDING && !same))
		entry->state = MIXED;
	if (entry->state != MIXED)
		*entry = (struct pb_residency_presumption){.words = *words, .id = id, .state = PENDING};
	return false;
}

bool pb_residency_presume(const struct pb_residency_submission *submission, uint32_t i,
			  const struct pb_presumed *words, uint32_t id)
{
	const struct pb_residency_patched *patched = submission->patched;
	struct pb_presumed *presumed =
		(struct pb_presumed *)(void *)(submission->allocations +
					       submission->descriptor.allocation_count) +
		i;
	const bool kept = (words->flags & PB_ALLOCATION_UNBIND) == 0 &&
			  note(&patched->entries[i], words, id) && patched->usable;

	/* Where nothing is presumed, the address has no meaning. */
	if (kept) {
		pb_shared_write32(&presumed->address_low, words->address_low);
		pb_shared_write32(&presumed->address_high, words->address_high);
	}
	pb_shared_write32(&presumed->flags, kept ? words->flags : 0);
	return kept;
}

/* Writes the patch list in groups, if it has so many entries for each group that it pays. */
static void write_groups(const struct pb_queue *queue, const struct pb_residency_submission *submission)
{
	const struct pb_descriptor *whole = &submission->descriptor;
	struct pb_residency_patched *patched = submission->patched;
	const uint64_t most = (uint64_t)PB_COMPACT_ESCAPE_WORDS *
			      queue->channel->card.capabilities[PB_CAPABILITY_PATCHES_MAX];
	const uint32_t room = patched->grouped_room < most ? patched->grouped_room : (uint32_t)most;
	uint32_t words, groups;

	patched->grouped_words = 0;
	patched->grouped_tried = true;
	if (patched->grouped != NULL && card_can(queue, 1u << PB_PATCH_ENCODING_GROUPED) &&
	    pb_grouped_sort(submission->locations + whole->patch_start, whole->patch_length, patched->cursors,
			    whole->allocation_count, patched->grouped, room, &words,
			    &groups) == PB_ERROR_OK &&
	    whole->patch_length >= GROUP_ENTRIES * groups)
		patched->grouped_words = words;
}

void pb_residency_presume_group(const struct pb_residency *manager, uint32_t number,
				const struct pb_residency_submission *submission,
				struct pb_descriptor *descriptor)
{
	struct pb_residency_patched *patched = submission->patched;

	if (!patched->grouped_tried)
		write_groups(manager->setup.queues[number], submission);
	if (patched->grouped_words == 0)
		return;
	descriptor->patch_encoding = PB_PATCH_ENCODING_GROUPED;
	descriptor->patch_address_low = (uint32_t)patched->grouped_address;
	descriptor->patch_address_high = (uint32_t)(patched->grouped_address >> 32);
	descriptor->patch_count = patched->grouped_words;
	descriptor->patch_start = 0;
	descriptor->patch_length = patched->grouped_words;
}

void pb_residency_presume_end(const struct pb_residency_submission *submission, uint64_t timeline, bool good)
{
	submission->patched->last.timeline_low = (uint32_t)timeline;
	submission->patched->last.timeline_high = (uint32_t)(timeline >> 32);
	submission->patched->complete = submission->patched->complete && good;
}
