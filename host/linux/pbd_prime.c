// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Objects that other drivers have as well. The contents of such an object are outside of VRAM, where the other driver finds
 * them: in its own pages, or in memory of the driver that made it. The engine works on a copy in VRAM: what is outside
 * is copied to it when a submission enters its ring, and what the submission wrote is copied back before its fence is
 * signaled. All submissions that name the object are therefore waited for in the kernel, one after the other.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/highmem.h>
#include <linux/slab.h>

#include <drm/drm_prime.h>

#include "pbd_submit.h"

MODULE_IMPORT_NS(DMA_BUF);

/* ---- objects of ours that others attach to ---- */

/* Waits until no submission uses the object, and locks its reservation. */
static int pbd_bo_lock_idle(struct pbd_bo *bo)
{
	long left;
	int ret;

	for (;;) {
		ret = dma_resv_lock_interruptible(bo->base.resv, NULL);
		if (ret != 0 || pbd_bo_is_idle(bo))
			return ret;
		dma_resv_unlock(bo->base.resv);
		left = pbd_bo_wait(bo, MAX_SCHEDULE_TIMEOUT);
		if (left < 0)
			return (int)left;
	}
}

/* Moves the contents to pages, which stay as long as another driver is attached. Pre: resv is held, no submission uses it. */
static int pbd_bo_go_outside(struct pbd_device *dev, struct pbd_bo *bo)
{
	int ret;

	if (bo->outside)
		return 0;
	/* The kernel itself writes to VRAM, or an update of the display is prepared from host memory. */
	if ((bo->kmaps && bo->region) || (atomic_read(&bo->pins) && bo->region && !pbd_bo_in_vram(bo)))
		return -EBUSY;
	ret = pbd_bo_settle(bo, true);
	if (ret == 0)
		ret = pbd_bo_get_pages(bo);
	if (ret != 0)
		return ret;
	if (pbd_bo_in_vram(bo)) {
		pbd_bo_unmap(dev, bo);
		pbd_bo_copy(bo, pbd_bo_bytes(dev, bo), false);
	} else {
		mutex_lock(&dev->vram);
		pbd_bo_leave(bo);
		mutex_unlock(&dev->vram);
	}
	bo->outside = true;
	bo->flags |= PBD_BO_VRAM;
	bo->touched = true;
	return 0;
}

/* Another driver attaches to an object of ours. */
int pbd_bo_pin(struct drm_gem_object *object)
{
	struct pbd_device *dev = pbd_device(object->dev);
	struct pbd_bo *bo = pbd_bo(object);
	int ret;

	/* What is not ours cannot be passed on, and memory of a process not at all. */
	if (object->import_attach || bo->user_mm)
		return -EOPNOTSUPP;
	ret = pbd_bo_lock_idle(bo);
	if (ret != 0)
		return ret;
	ret = pbd_bo_go_outside(dev, bo);
	if (ret == 0)
		bo->attached++;
	dma_resv_unlock(object->resv);
	return ret;
}

/* The contents move into VRAM again once the copy there is gone: pbd_bo_come_inside(). */
void pbd_bo_detach(struct drm_gem_object *object)
{
	struct pbd_bo *bo = pbd_bo(object);

	dma_resv_lock(object->resv, NULL);
	bo->attached--;
	pbd_bo_come_inside(bo);
	dma_resv_unlock(object->resv);
}

/* The object is one of ours like all others, if no other driver has it and it has no copy. Pre: resv is held. */
void pbd_bo_come_inside(struct pbd_bo *bo)
{
	if (!bo->outside || bo->attached != 0 || bo->base.import_attach || bo->region)
		return;
	bo->outside = false;
	bo->flags &= ~PBD_BO_VRAM;
}

struct sg_table *pbd_bo_sg_table(struct drm_gem_object *object)
{
	return drm_prime_pages_to_sg(object->dev, pbd_bo(object)->pages, (unsigned int)(object->size >> PAGE_SHIFT));
}

/* ---- objects of other drivers ---- */

/* @return -EOPNOTSUPP: the other driver does not let the processor reach it; -ENOMEM */
struct drm_gem_object *pbd_prime_import(struct drm_device *drm, struct dma_buf_attachment *attach, struct sg_table *table)
{
	struct drm_gem_object *object;
	struct iosys_map map;
	int ret = dma_buf_vmap(attach->dmabuf, &map);

	if (ret != 0)
		return ERR_PTR(ret == -ENOMEM ? -ENOMEM : -EOPNOTSUPP);
	object = map.is_iomem ? ERR_PTR(-EOPNOTSUPP) : pbd_bo_wrap(pbd_device(drm), attach->dmabuf->size);
	if (IS_ERR(object)) {
		dma_buf_vunmap(attach->dmabuf, &map);
		return object;
	}
	pbd_bo(object)->outside = true;
	pbd_bo(object)->flags = PBD_BO_VRAM;
	pbd_bo(object)->touched = true;
	pbd_bo(object)->foreign = map;
	pbd_bo(object)->foreign_table = table;
	return object;
}

static void pbd_prime_free(struct work_struct *work)
{
	struct pbd_bo *bo = container_of(work, struct pbd_bo, end);

	dma_buf_vunmap(bo->base.import_attach->dmabuf, &bo->foreign);
	drm_prime_gem_destroy(&bo->base, bo->foreign_table);
	drm_gem_object_release(&bo->base);
	kfree(bo);
}

/* Gives back what is another driver's, which takes locks of that driver: the caller may have some of our own. */
void pbd_prime_free_later(struct pbd_device *dev, struct pbd_bo *bo)
{
	INIT_WORK(&bo->end, pbd_prime_free);
	queue_work(dev->clean_wq, &bo->end);
}

/* The other driver's memory is mapped as that driver does it. Consumes the reference that the mapping would have. */
int pbd_prime_mmap(struct pbd_bo *bo, struct vm_area_struct *vma)
{
	int ret;

	vma->vm_private_data = NULL;
	vma->vm_ops = NULL;
	ret = dma_buf_mmap(bo->base.dma_buf, vma, 0);
	if (ret == 0)
		drm_gem_object_put(&bo->base);
	return ret;
}

/* Maps an object through its dma_buf. The offset is what the driver finds the mapping by, to take it away. */
int pbd_prime_mmap_own(struct drm_gem_object *object, struct vm_area_struct *vma)
{
	int ret = drm_gem_create_mmap_offset(object);

	return ret != 0 ? ret : drm_gem_prime_mmap(object, vma);
}

/* ---- copies, in and out ---- */

/* Notes whether one of the objects is outside. Pre: resv of all is held, all are in VRAM. */
void pbd_job_find_outside(struct pbd_job *job)
{
	u32 i;

	job->outside = false;
	job->carries_back = false;
	for (i = 0; i < job->object_count; i++) {
		const bool outside = pbd_bo(job->objects[i])->outside;

		job->outside |= outside;
		job->carries_back |= outside && job->writes[i];
	}
}

static void pbd_bo_carry(struct pbd_device *dev, struct pbd_bo *bo, bool in)
{
	u8 *vram = pbd_bo_bytes(dev, bo);

	if (!bo->base.import_attach)
		pbd_bo_copy(bo, vram, in);
	else if (in)
		memcpy(vram, bo->foreign.vaddr, bo->base.size);
	else
		memcpy(bo->foreign.vaddr, vram, bo->base.size);
}

/*
 * Copies what is outside to VRAM, or what was written back. The objects stay where they are, as the submission's fence or
 * a pin holds them, as long as the card does: when it is left, the submission has ended. Nothing allocates, waits or fails.
 * Process context.
 */
void pbd_job_carry(struct pbd_job *job, bool in)
{
	u32 i;

	if (!down_read_trylock(&job->dev->card))
		return;
	for (i = 0; i < job->object_count; i++) {
		struct pbd_bo *bo = pbd_bo(job->objects[i]);

		if (bo->region && bo->outside && (in || job->writes[i]))
			pbd_bo_carry(job->dev, bo, in);
	}
	up_read(&job->dev->card);
}

/* Whether what a submission wrote is still to be carried back. Pre: state; the firmware has completed it. */
static bool pbd_job_has_to_carry(const struct pbd_job *job)
{
	return job->carries_back && !job->carried && job->error == PB_ERROR_OK;
}

/* Whether a submission that the firmware has completed ends later, after the worker. Pre: state; the first in the ring. */
bool pbd_job_ends_later(struct pbd_job *job)
{
	if (!pbd_job_has_to_carry(job))
		return false;
	queue_work(job->dev->push_wq, &job->queue->carry);
	return true;
}

void pbd_carry_work(struct work_struct *work)
{
	struct pbd_queue *queue = container_of(work, struct pbd_queue, carry);
	struct pbd_device *dev = queue->dev;
	bool cookie = dma_fence_begin_signalling();
	struct pbd_job *job;
	unsigned long flags;

	spin_lock_irqsave(&dev->state_lock, flags);
	job = list_first_entry_or_null(&queue->running, struct pbd_job, link);
	if (job && dev->state == PBD_UP && (s32)(queue->queue.completed - job->index) > 0 && pbd_job_has_to_carry(job)) {
		pbd_job_hold(job);
		spin_unlock_irqrestore(&dev->state_lock, flags);
		pbd_job_carry(job, false);
		spin_lock_irqsave(&dev->state_lock, flags);
		job->carried = true;
		(void)pbd_job_release(job);
	}
	spin_unlock_irqrestore(&dev->state_lock, flags);
	pbd_retire(dev);
	dma_fence_end_signalling(cookie);
}
