// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The objects of a submission come into VRAM together, one submission at a time; then its lists get their addresses. */
#include "pbd_submit.h"

/* Whether an object leaves VRAM for another submission. This one comes after that. */
bool pbd_is_claimed(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	u32 i;

	for (i = 0; i < job->object_count && !submit->room.claims; i++)
		if (pbd_bo_is_claimed(submit->dev, pbd_bo(job->objects[i])))
			return true;
	return false;
}

/* Moves the submission's own objects out, so that they can lie differently. */
static int pbd_evict_own(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	int ret = 0;
	u32 i;

	for (i = 0; ret == 0 && i < job->object_count; i++)
		if (atomic_read(&pbd_bo(job->objects[i])->pins) == 0)
			ret = pbd_bo_evict(submit->dev, pbd_bo(job->objects[i]), &submit->room);
	return ret;
}

/* How much choice there is of where an object may lie. */
enum pbd_choice {
	PBD_WINDOW, /* in the window */
	PBD_VRAM,   /* anywhere in VRAM */
	PBD_ANY,    /* also in host memory */
	PBD_CHOICES,
};

static enum pbd_choice pbd_choice_of(const struct pbd_bo *bo)
{
	if (bo->flags & PATCHBAY_GEM_PATCHABLE)
		return PBD_WINDOW;
	return bo->flags & PBD_BO_VRAM ? PBD_VRAM : PBD_ANY;
}

/* Places the objects of a choice. */
static int pbd_place_some(struct pbd_submit *submit, enum pbd_choice choice)
{
	struct pbd_job *job = submit->job;
	int ret = 0;
	u32 i;

	for (i = 0; ret == 0 && i < job->object_count; i++) {
		struct pbd_bo *bo = pbd_bo(job->objects[i]);

		if (pbd_choice_of(bo) == choice)
			ret = pbd_bo_place(submit->dev, bo, &submit->room);
	}
	return ret;
}

/*
 * Brings all objects to where they may lie: those first that have the least choice. If they do not fit as they lie, they make
 * room for each other once.
 * @return -EAGAIN: as pbd_bo_place()
 */
int pbd_place_all(struct pbd_submit *submit)
{
	struct pbd_device *dev = submit->dev;
	struct pbd_job *job = submit->job;
	enum pbd_choice choice;
	unsigned int round;
	int ret = 0;
	u32 i;

	if (pbd_is_claimed(submit))
		return -EAGAIN;
	if (pbd_holds_too_much(submit))
		return -EBUSY;
	submit->room.ticket = &submit->ticket;
	for (round = 0; round < 2; round++) {
		for (choice = PBD_WINDOW, ret = 0; ret == 0 && choice < PBD_CHOICES; choice++)
			ret = pbd_place_some(submit, choice);
		if (ret != -ENOSPC || round == 1)
			break;
		ret = pbd_evict_own(submit);
		if (ret != 0)
			break;
	}
	for (i = 0; ret == 0 && i < job->object_count; i++)
		pbd_bo_used(dev, pbd_bo(job->objects[i]));
	pbd_job_find_outside(job);
	return ret;
}

/* Sets the addresses that the objects have now. Pre: resv of all objects is held. @return -E2BIG: too long a list */
int pbd_address_lists(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	struct pb_descriptor *descriptor = &job->descriptor;
	u32 i;

	for (i = 0; i < job->entry_count; i++) {
		struct pb_allocation *entry = &job->entries[i];
		struct pbd_bo *bo;

		if (!job->listed[i])
			continue;
		bo = pbd_bo(job->listed[i]);
		pbd_set_address(&entry->address_low, pbd_bo_os_address(bo));
		entry->flags &= ~PB_ALLOCATION_SEGMENT_MASK;
		entry->flags |= bo->region->segment.request.id << PB_ALLOCATION_SEGMENT_SHIFT;
	}
	if (submit->target) {
		pbd_set_address(&descriptor->dma_address_low, pbd_bo_os_address(submit->target));
		descriptor->dma_segment = submit->target->region->segment.request.id;
		descriptor->dma_size = submit->target_bytes;
		descriptor->dma_start = submit->args->start;
		descriptor->dma_end = submit->args->end;
		descriptor->flags = PB_FLAG_NULL_RENDERING;
		descriptor->allocation_count = job->entry_count;
		pbd_encode(job);
		descriptor->patch_count = descriptor->patch_length = job->word_count != 0 ? job->word_count :
											    job->location_count;
		descriptor->patch_encoding = job->word_count != 0 ? PB_PATCH_ENCODING_COMPACT : PB_PATCH_ENCODING_WDDM;
	} else {
		pb_render_describe(&submit->record, descriptor);
		descriptor->dma_segment = PB_SEGMENT_SYSTEM;
		descriptor->dma_size = job->engine_bytes;
		/* The firmware reads no private data: the record stays with the driver. */
		descriptor->private_start = descriptor->private_end = descriptor->private_size = 0;
	}
	descriptor->context = job->queue->context;
	job->epoch = submit->dev->epoch;
	return pbd_job_bytes(job) <= PBD_LARGE_BYTES ? 0 : -E2BIG;
}

/* ---- whose turn it is ---- */

static bool pbd_queue_has_room(struct pbd_queue *queue)
{
	return READ_ONCE(queue->unfinished) < PBD_QUEUE_JOBS || READ_ONCE(queue->dev->state) != PBD_UP;
}

/* Waits for the right to place, and for room in the ring, which only its holder takes. */
int pbd_lock_validate(struct pbd_submit *submit)
{
	struct pbd_queue *queue = submit->job->queue;
	int ret;

	for (;;) {
		ret = wait_event_interruptible(queue->wait, pbd_queue_has_room(queue));
		if (ret == 0)
			ret = mutex_lock_interruptible(&submit->dev->validate);
		if (ret != 0 || pbd_queue_has_room(queue))
			return ret;
		mutex_unlock(&submit->dev->validate);
	}
}

/* Places a submission, which claims objects of others if it has to. */
static int pbd_with_claims(struct pbd_submit *submit, int (*place)(struct pbd_submit *submit))
{
	struct pbd_device *dev = submit->dev;
	unsigned long end;
	int ret = place(submit);

	if (ret != -EAGAIN)
		return ret;
	ret = mutex_lock_interruptible(&dev->claim);
	if (ret != 0)
		return ret;
	submit->room.claims = true;
	end = jiffies + PBD_ROOM_JIFFIES;
	do {
		ret = place(submit);
	} while (ret == -EAGAIN && (ret = pbd_room_wait(&submit->room, end)) == 0);
	pbd_claims_end(dev);
	submit->room.claims = false;
	mutex_unlock(&dev->claim);
	return ret;
}

/*
 * Places a submission. One that needs the room of objects that are busy waits for them behind others of its kind; no
 * submission that has its objects in VRAM, or finds room among idle ones, waits for that. What the one claims is not used
 * by others until it has the room. One that would keep too much of VRAM while it waits for others waits for them here.
 * @place: tries; -EAGAIN: `submit->room` says what is missing; with `submit->held_up`: it is to wait first
 */
int pbd_with_room(struct pbd_submit *submit, int (*place)(struct pbd_submit *submit))
{
	unsigned long end = jiffies + PBD_ROOM_JIFFIES;
	int ret;

	do {
		submit->held_up = false;
		ret = pbd_with_claims(submit, place);
	} while (submit->held_up && (ret = pbd_hold_wait(submit, end)) == 0);
	return ret;
}
