// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Memory for the lists of a submission, on the account of its file: in kernel memory until it enters its ring, in card
 * memory from then on.
 */
#include <linux/slab.h>

#include "patchbay/compact.h"
#include "pbd_submit.h"

/* ---- in kernel memory ---- */

/* Offsets in the submission's space: engine buffer, allocations, patches, waits. */
static u32 pbd_entries_offset(const struct pbd_job *job)
{
	return round_up(job->engine_bytes, 64);
}

static u32 pbd_locations_offset(const struct pbd_job *job)
{
	return round_up(pbd_entries_offset(job) + job->entry_count * (u32)sizeof(*job->entries), 64);
}

static u32 pbd_waits_offset(const struct pbd_job *job)
{
	u32 bytes = job->word_count != 0 ? job->word_count * (u32)sizeof(*job->words) :
					   job->location_count * (u32)sizeof(*job->locations);

	return round_up(pbd_locations_offset(job) + bytes, 64);
}

/* Bytes of card memory for what the firmware reads. */
u32 pbd_job_bytes(const struct pbd_job *job)
{
	return pbd_waits_offset(job) + PB_WAITS_MAX * (u32)sizeof(struct pb_wait);
}

static bool pbd_try_charge(struct pbd_job *job, u32 bytes)
{
	struct pbd_account *account = job->queue->account;
	bool fits;

	spin_lock_irq(&job->dev->state_lock);
	fits = account->staged == 0 || account->staged + bytes <= PBD_STAGED_BYTES;
	if (fits) {
		account->staged += bytes;
		job->staged = bytes;
	}
	spin_unlock_irq(&job->dev->state_lock);
	return fits;
}

/*
 * Makes memory for the compact list of a long one, and waits until the file's unfinished submissions leave kernel memory for
 * this one: only the file itself makes that last.
 */
int pbd_charge(struct pbd_job *job)
{
	u32 words = PB_COMPACT_WORDS_MAX(job->location_count);

	/* Commands have been translated, and their lists are described already. */
	if (!job->engine && job->location_count >= PBD_LONG_LIST) {
		job->words = kvmalloc_array(words, sizeof(*job->words), GFP_KERNEL);
		if (!job->words)
			return -ENOMEM;
		job->word_room = words;
	}
	return wait_event_interruptible(job->queue->account->wait,
					pbd_try_charge(job, pbd_job_bytes(job) + job->word_room * 4));
}

/* Encodes a long list compactly: a third of the card memory. One that cannot be encoded has an entry that is wrong. */
void pbd_encode(struct pbd_job *job)
{
	u32 encoded;

	if (!job->words || pb_compact_encode(job->locations, job->location_count, job->words, job->word_room,
					     &job->word_count, &encoded) != PB_ERROR_OK)
		job->word_count = 0;
}

/* Entry of the patch list, of which the firmware reports the word. */
u32 pbd_job_entry(const struct pbd_job *job, u32 error, u32 index)
{
	if (job->word_count == 0 || index == PB_INDEX_NONE || error < PB_ERROR_PATCH_RESERVED)
		return index;
	return pb_compact_index(job->words, job->word_count, index);
}

/*
 * Whether a value of another queue was reached without a failure. The firmware's queue may have been made anew since, and
 * would not know of it.
 */
static bool pbd_has_ended(struct pbd_queue *queue, u64 value)
{
	unsigned long flags;
	bool ended;

	spin_lock_irqsave(&queue->dev->state_lock, flags);
	ended = queue->completed >= value && queue->error_value == 0;
	spin_unlock_irqrestore(&queue->dev->state_lock, flags);
	return ended;
}

/* Writes the lists to the submission's space. The addresses in them have been set. Nothing allocates, waits or fails. */
void pbd_job_fill(struct pbd_job *job)
{
	u8 *bytes = job->dev->arena_memory.bytes_host + job->space.start;
	u64 address = job->dev->arena_memory.os_address + job->space.start;
	struct pb_descriptor *descriptor = &job->descriptor;
	u32 i, waits = 0;

	if (job->engine) {
		memcpy(bytes, job->engine, job->engine_bytes);
		pbd_set_address(&descriptor->dma_address_low, address);
	}
	memcpy(bytes + pbd_entries_offset(job), job->entries, job->entry_count * sizeof(*job->entries));
	pbd_set_address(&descriptor->allocation_address_low, address + pbd_entries_offset(job));
	if (job->word_count != 0)
		memcpy(bytes + pbd_locations_offset(job), job->words, job->word_count * sizeof(*job->words));
	else
		memcpy(bytes + pbd_locations_offset(job), job->locations, job->location_count * sizeof(*job->locations));
	pbd_set_address(&descriptor->patch_address_low, address + pbd_locations_offset(job));
	for (i = 0; i < job->awaited_count; i++)
		if (!pbd_has_ended(job->awaited[i], job->awaited_value[i]))
			pb_wait_on((struct pb_wait *)(bytes + pbd_waits_offset(job)) + waits++, &job->awaited[i]->queue,
				   job->awaited_value[i]);
	descriptor->wait_count = waits;
	pbd_set_address(&descriptor->wait_address_low, address + pbd_waits_offset(job));
	job->filled = true;
}

/* ---- in card memory ---- */

/* The part of the memory for lists that a submission has its room in. */
unsigned int pbd_job_arena(const struct pbd_job *job)
{
	if (job->queue->account->id == 0)
		return PBD_ARENA_DISPLAY;
	return pbd_job_bytes(job) <= PBD_SMALL_JOB_BYTES ? PBD_ARENA_SMALL : PBD_ARENA_LARGE;
}

/* Whether the file has its part already, so that only what it has itself has to end first. */
static bool pbd_has_part(const struct pbd_job *job)
{
	static const u32 parts[PBD_ARENAS] = {
		[PBD_ARENA_DISPLAY] = PBD_DISPLAY_BYTES,
		[PBD_ARENA_SMALL] = PBD_SMALL_BYTES / PBD_SMALL_PARTS,
		[PBD_ARENA_LARGE] = PBD_LARGE_BYTES / PBD_LARGE_PARTS,
	};
	unsigned int arena = pbd_job_arena(job);
	u32 used = job->queue->account->used[arena];

	return used != 0 && used + pbd_job_bytes(job) > parts[arena];
}

/* Returns the queue that waits longest for room and may have some; NULL: there is none. */
static struct pbd_queue *pbd_hungry(struct pbd_arena *arena)
{
	struct pbd_queue *queue;

	list_for_each_entry(queue, &arena->hungry, hungry)
		if (!pbd_has_part(list_first_entry(&queue->pending, struct pbd_job, link)))
			return queue;
	return NULL;
}

static void pbd_feed(struct pbd_device *dev, unsigned int arena)
{
	struct pbd_queue *queue = pbd_hungry(&dev->arenas[arena]);

	if (queue)
		queue_work(dev->push_wq, &queue->push);
}

/*
 * Takes room in card memory for a submission's lists: in the order in which they ask, but those whose file has its part
 * wait for that alone. What holds room is in a ring, behind nothing but submissions that are in rings, so that it ends by
 * itself. Pre: state; the job is the queue's first, or not armed
 */
bool pbd_job_take_space(struct pbd_job *job)
{
	struct pbd_queue *queue = job->queue, *first;
	struct pbd_device *dev = job->dev;
	unsigned int index = pbd_job_arena(job);
	struct pbd_arena *arena = &dev->arenas[index];

	/* A paging buffer is a list of no kind. */
	if (job->paging || drm_mm_node_allocated(&job->space))
		return true;
	first = pbd_hungry(arena);
	if (pbd_has_part(job) || (first && first != queue) ||
	    drm_mm_insert_node_generic(&arena->mm, &job->space, pbd_job_bytes(job), PB_PAGE_BYTES, 0,
				       DRM_MM_INSERT_BEST) != 0)
		return false;
	list_del_init(&queue->hungry);
	queue->account->used[index] += (u32)job->space.size;
	pbd_feed(dev, index);
	return true;
}

/* Gives the room back. Pre: state. */
void pbd_job_leave_space(struct pbd_job *job)
{
	unsigned int index = pbd_job_arena(job);

	if (!drm_mm_node_allocated(&job->space))
		return;
	job->queue->account->used[index] -= (u32)job->space.size;
	drm_mm_remove_node(&job->space);
	if (job->dev->state == PBD_UP)
		pbd_feed(job->dev, index);
}
