// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Submissions that wait for fences of others: of another driver, or behind such a submission. Their objects are in VRAM
 * meanwhile, where nothing else may have the room, for as long as others like. So a file keeps no more than a part of
 * VRAM in this way, all files together no more than half; what is beyond waits in the ioctl, before it is placed.
 */
#include <linux/dma-resv.h>

#include "pbd_submit.h"

/* The parts of a region that such submissions of one file, and of all files, may keep. */
#define PBD_HELD_PART 4u
#define PBD_HELD_PART_ALL 2u

/* Bytes of each region. */
struct pbd_held {
	u64 mine[PBD_REGIONS], all[PBD_REGIONS];
};

/* ---- what a submission waits for ---- */

/* Returns a fence of the queue's first submission up to a value that waits for others, with a reference; NULL: none does. */
static struct dma_fence *pbd_queue_waits_for(struct pbd_queue *queue, u64 value)
{
	struct dma_fence *fence = NULL;
	struct pbd_job *job;

	spin_lock_irq(&queue->dev->state_lock);
	list_for_each_entry(job, &queue->pending, link) {
		if (job->value > value)
			break;
		if (atomic_read(&job->waiting) != 0 || pbd_job_blocked(job)) {
			fence = dma_fence_get(&job->fence->base);
			break;
		}
	}
	spin_unlock_irq(&queue->dev->state_lock);
	return fence;
}

static struct dma_fence *pbd_object_waits_for(struct pbd_device *dev, struct drm_gem_object *object, bool writes)
{
	struct dma_fence *fence, *found = NULL;
	struct dma_resv_iter cursor;

	dma_resv_iter_begin(&cursor, object->resv, dma_resv_usage_rw(writes));
	dma_resv_for_each_fence_unlocked(&cursor, fence) {
		if (pbd_fence_waits(dev, fence)) {
			found = dma_fence_get(fence);
			break;
		}
	}
	dma_resv_iter_end(&cursor);
	return found;
}

/* Returns a fence that the submission would wait for and that the engine's work alone does not end, with a reference. */
static struct dma_fence *pbd_waits_for(struct pbd_submit *submit)
{
	const bool explicit = submit->args->flags & PATCHBAY_SUBMIT_EXPLICIT;
	struct pbd_job *job = submit->job;
	struct dma_fence *fence;
	u32 i;

	for (i = 0; i < job->dep_count; i++)
		if (pbd_fence_waits(submit->dev, job->deps[i].fence))
			return dma_fence_get(job->deps[i].fence);
	fence = pbd_queue_waits_for(job->queue, U64_MAX);
	for (i = 0; !fence && i < job->awaited_count; i++)
		fence = pbd_queue_waits_for(job->awaited[i], job->awaited_value[i]);
	for (i = 0; !fence && i < job->object_count; i++) {
		const bool outside = READ_ONCE(pbd_bo(job->objects[i])->outside);

		if (!explicit || outside)
			fence = pbd_object_waits_for(submit->dev, job->objects[i], outside || job->writes[i]);
	}
	return fence;
}

/* ---- what is kept ---- */

static bool pbd_is_named(const struct pbd_job *job, const struct pbd_bo *bo)
{
	return job->object_count != 0 && job->objects[pbd_object_index(job, &bo->base)] == &bo->base;
}

/* Where an object lies, or will. */
static unsigned int pbd_region_of(const struct pbd_device *dev, const struct pbd_bo *bo)
{
	if (bo->region)
		return (unsigned int)(bo->region - dev->regions);
	if ((bo->flags & PATCHBAY_GEM_HOST) && !(bo->flags & PBD_BO_VRAM) && dev->regions[PBD_REGION_HOST].present)
		return PBD_REGION_HOST;
	return (bo->flags & PATCHBAY_GEM_PATCHABLE) || !dev->regions[1].present ? 0 : 1;
}

/* Counts an object, if a submission that waits for others keeps it in VRAM. Pre: vram. */
static void pbd_count_held(struct pbd_device *dev, struct pbd_bo *bo, u64 file, struct pbd_held *held)
{
	const unsigned int index = pbd_region_of(dev, bo);
	bool mine = false, any = false;
	struct dma_resv_iter cursor;
	struct dma_fence *fence;

	dma_resv_iter_begin(&cursor, bo->base.resv, DMA_RESV_USAGE_BOOKKEEP);
	dma_resv_for_each_fence_unlocked(&cursor, fence) {
		if (!pbd_fence_is_ours(fence) || !pbd_fence_waits(dev, fence))
			continue;
		any = true;
		mine |= container_of(fence, struct pbd_fence, base)->file == file;
	}
	dma_resv_iter_end(&cursor);
	held->all[index] += any ? bo->base.size : 0;
	held->mine[index] += mine ? bo->base.size : 0;
}

/*
 * Whether the submission would wait for others, and keep more of VRAM than it may. Pre: validate, so that all others that
 * wait are counted; resv of its objects. @return true: pbd_hold_wait(), without locks
 */
bool pbd_holds_too_much(struct pbd_submit *submit)
{
	struct pbd_device *dev = submit->dev;
	struct pbd_job *job = submit->job;
	struct dma_fence *fence = job->queue->account->id ? pbd_waits_for(submit) : NULL;
	u64 own[PBD_REGIONS] = {};
	struct pbd_held held = {};
	bool over = false;
	struct pbd_bo *bo;
	u32 i;

	if (!fence)
		return false;
	dma_fence_put(fence);
	mutex_lock(&dev->vram);
	for (i = 0; i < job->object_count; i++)
		own[pbd_region_of(dev, pbd_bo(job->objects[i]))] += job->objects[i]->size;
	list_for_each_entry(bo, &dev->lru, lru)
		if (!pbd_is_named(job, bo))
			pbd_count_held(dev, bo, job->queue->account->id, &held);
	for (i = 0; i < PBD_REGIONS; i++) {
		const u64 bytes = dev->regions[i].segment.request.size;

		over |= own[i] != 0 && (held.mine[i] + own[i] > bytes / PBD_HELD_PART ||
					held.all[i] + own[i] > bytes / PBD_HELD_PART_ALL);
	}
	mutex_unlock(&dev->vram);
	submit->held_up = over;
	return over;
}

/* Waits without a lock for something that the submission would wait for. @return -EBUSY: not before `end`, in jiffies */
int pbd_hold_wait(struct pbd_submit *submit, unsigned long end)
{
	struct dma_fence *fence = pbd_waits_for(submit);
	long left = (long)(end - jiffies);

	submit->held_up = false;
	if (!fence)
		return 0;
	if (left > 0)
		left = dma_fence_wait_timeout(fence, true, left);
	dma_fence_put(fence);
	return left > 0 ? 0 : left == -ERESTARTSYS ? -ERESTARTSYS : -EBUSY;
}
