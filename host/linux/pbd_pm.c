// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Sleep of the machine. What is in the rings ends, what VRAM holds is copied to pages of the system, and the firmware
 * is left, so that other machines may have the memory meanwhile. Resume attaches again. Submissions that wait for
 * fences stay armed: the places of their objects, which stand in their lists, are kept for them.
 */
#include <linux/dma-resv.h>
#include <linux/pci.h>
#include <linux/suspend.h>

#include <drm/drm_modeset_helper.h>

#include "pbd_job.h"

#define PBD_RESUME_MS max(5000u, pbd_card_timeout_ms)

/* ---- objects ---- */

/* Whether the object has to be at its place again: a list or a mapping of the kernel's names it. Pre: resv is held. */
static bool pbd_bo_has_place(struct pbd_bo *bo)
{
	return atomic_read(&bo->pins) || bo->kmaps || !pbd_bo_is_idle(bo);
}

static void pbd_bo_leave_place(struct pbd_device *dev, struct pbd_bo *bo)
{
	mutex_lock(&dev->vram);
	pbd_bo_leave(bo);
	mutex_unlock(&dev->vram);
	pbd_bo_come_inside(bo);
	bo->slept = false;
}

/* Gets the pages that the contents of an object in VRAM will need. */
static int pbd_bo_prepare(struct pbd_device *dev, struct pbd_bo *bo)
{
	int ret = 0;

	dma_resv_lock(bo->base.resv, NULL);
	if (pbd_bo_in_vram(bo) && !bo->outside && !bo->pages) {
		ret = pbd_bo_get_pages(bo);
		bo->prepared = ret == 0;
	}
	dma_resv_unlock(bo->base.resv);
	return ret;
}

/* Frees what pbd_bo_prepare() got, if the contents are still, or again, in VRAM. */
static int pbd_bo_unprepare(struct pbd_device *dev, struct pbd_bo *bo)
{
	dma_resv_lock(bo->base.resv, NULL);
	/* The engine may be at the pages of an object that it moves; they are freed when the move has ended. */
	if (bo->prepared && pbd_bo_in_vram(bo) && !bo->outside && !bo->move)
		pbd_bo_drop_pages(bo);
	bo->prepared = false;
	dma_resv_unlock(bo->base.resv);
	return 0;
}

/* Copies an object to pages; it leaves VRAM, or keeps its place there. */
static int pbd_bo_save(struct pbd_device *dev, struct pbd_bo *bo)
{
	int ret;

	dma_resv_lock(bo->base.resv, NULL);
	ret = bo->outside ? 0 : pbd_bo_get_pages(bo);
	/* What lies in host memory is in pages already. */
	if (ret == 0 && pbd_bo_in_vram(bo) && !bo->outside) {
		pbd_bo_unmap(dev, bo);
		pbd_bo_copy(bo, pbd_bo_bytes(dev, bo), false);
		bo->slept = true;
	}
	if (ret == 0 && !pbd_bo_has_place(bo))
		pbd_bo_leave_place(dev, bo);
	dma_resv_unlock(bo->base.resv);
	return ret;
}

/* Copies an object that has kept its place back to it. @return -ENOSPC: the card has no room, or not where it was */
static int pbd_bo_restore(struct pbd_device *dev, struct pbd_bo *bo)
{
	const struct pbd_region *region = bo->region;
	const bool moved = region->segment.memory_offset != region->slept_offset;
	int ret = region->present && !(bo->kmaps && moved) ? 0 : -ENOSPC;

	dma_resv_lock(bo->base.resv, NULL);
	if (ret == 0 && region->host) {
		ret = pbd_bo_move(dev, bo, PBD_MOVE_MAP, NULL);
		(void)pbd_bo_settle(bo, false);
	} else if (ret == 0 && bo->slept) {
		pbd_bo_copy(bo, pbd_bo_bytes(dev, bo), true);
		pbd_bo_drop_pages(bo);
	}
	bo->slept = false;
	dma_resv_unlock(bo->base.resv);
	return ret;
}

/* Takes the place of an object whose contents are in pages; it is not lost. */
static int pbd_bo_forget_place(struct pbd_device *dev, struct pbd_bo *bo)
{
	dma_resv_lock(bo->base.resv, NULL);
	pbd_bo_leave_place(dev, bo);
	dma_resv_unlock(bo->base.resv);
	return 0;
}

/* Does a step for each object in VRAM, until one fails. Pre: `card` is held for writing. */
static int pbd_each_object(struct pbd_device *dev, int (*step)(struct pbd_device *dev, struct pbd_bo *bo))
{
	LIST_HEAD(seen);
	int ret = 0;

	mutex_lock(&dev->vram);
	while (ret == 0 && !list_empty(&dev->lru)) {
		struct pbd_bo *bo = list_first_entry(&dev->lru, struct pbd_bo, lru);

		if (!kref_get_unless_zero(&bo->base.refcount)) {
			/* It is being freed, which needs nothing of VRAM but the list. */
			pbd_bo_leave(bo);
			continue;
		}
		list_move_tail(&bo->lru, &seen);
		mutex_unlock(&dev->vram);
		ret = step(dev, bo);
		drm_gem_object_put(&bo->base);
		mutex_lock(&dev->vram);
	}
	list_splice(&seen, &dev->lru);
	mutex_unlock(&dev->vram);
	return ret;
}

/* ---- before tasks are frozen ---- */

/*
 * Gets memory for what VRAM holds while the kernel can still write to swap and end processes for it: for that,
 * pbd_suspend() comes too late. What enters VRAM from now on finds its pages then, or the sleep is refused.
 */
static int pbd_pm_notify(struct notifier_block *notifier, unsigned long action, void *data)
{
	struct pbd_device *dev = container_of(notifier, struct pbd_device, sleep);
	const bool begins = action == PM_SUSPEND_PREPARE || action == PM_HIBERNATION_PREPARE ||
			    action == PM_RESTORE_PREPARE;
	int ret = 0;

	if (!begins && action != PM_POST_SUSPEND && action != PM_POST_HIBERNATION && action != PM_POST_RESTORE)
		return NOTIFY_DONE;
	down_write(&dev->card);
	if (begins && READ_ONCE(dev->state) == PBD_UP)
		ret = pbd_each_object(dev, pbd_bo_prepare);
	if (!begins || ret != 0)
		(void)pbd_each_object(dev, pbd_bo_unprepare);
	up_write(&dev->card);
	return notifier_from_errno(ret);
}

void pbd_pm_init(struct pbd_device *dev)
{
	dev->sleep.notifier_call = pbd_pm_notify;
	(void)register_pm_notifier(&dev->sleep);
}

void pbd_pm_end(struct pbd_device *dev)
{
	(void)unregister_pm_notifier(&dev->sleep);
}

/* ---- going to sleep ---- */

static bool pbd_rings_are_empty(struct pbd_device *dev)
{
	struct pbd_queue *queue;
	bool empty = true;

	spin_lock_irq(&dev->state_lock);
	list_for_each_entry(queue, &dev->queues, link)
		empty &= list_empty(&queue->running) && !queue->pushing &&
			 (queue != dev->host.queue || list_empty(&queue->pending));
	spin_unlock_irq(&dev->state_lock);
	return empty;
}

/* Lets nothing but moves into the rings any more, and waits for what is in them: the engine's work alone, or the watchdog ends it. */
static int pbd_drain(struct pbd_device *dev)
{
	spin_lock_irq(&dev->state_lock);
	dev->asleep = true;
	spin_unlock_irq(&dev->state_lock);
	if (wait_event_timeout(dev->irq_wait, pbd_rings_are_empty(dev), PBD_ROOM_JIFFIES) == 0)
		return -EBUSY;
	return 0;
}

static void pbd_regions_sleep(struct pbd_device *dev)
{
	unsigned int i;

	mutex_lock(&dev->vram);
	for (i = 0; i < PBD_REGIONS; i++) {
		dev->regions[i].present = false;
		dev->regions[i].slept_offset = dev->regions[i].segment.memory_offset;
	}
	mutex_unlock(&dev->vram);
}

static void pbd_leave_firmware(struct pbd_device *dev)
{
	mutex_lock(&dev->commands);
	WRITE_ONCE(dev->abort, false);
	(void)pb_channel_detach(&dev->channel);
	mutex_unlock(&dev->commands);
}

/* Saves what VRAM holds and leaves the firmware. Pre: the rings are empty. @return an error: nothing has happened */
static int pbd_leave(struct pbd_device *dev)
{
	const bool up = READ_ONCE(dev->state) == PBD_UP;
	int ret = up ? pbd_each_object(dev, pbd_bo_save) : 0;

	if (!up) {
		pbd_card_forget(dev);
	} else if (ret != 0) {
		(void)pbd_each_object(dev, pbd_bo_restore);
	} else {
		spin_lock_irq(&dev->state_lock);
		dev->state = PBD_DOWN;
		pbd_virt_end_all(dev, -EIO);
		spin_unlock_irq(&dev->state_lock);
		pbd_regions_sleep(dev);
		pbd_leave_firmware(dev);
	}
	return ret;
}

/* Lets submissions into the rings again. */
static void pbd_awake(struct pbd_device *dev)
{
	struct pbd_queue *queue;

	spin_lock_irq(&dev->state_lock);
	dev->asleep = false;
	list_for_each_entry(queue, &dev->queues, link)
		queue_work(dev->push_wq, &queue->push);
	spin_unlock_irq(&dev->state_lock);
	if (READ_ONCE(dev->state) == PBD_UP)
		pbd_card_watch(dev);
	else
		mod_delayed_work(dev->clean_wq, &dev->attach, 0);
}

static int pbd_suspend(struct device *device)
{
	struct pbd_device *dev = dev_get_drvdata(device);
	int ret = drm_mode_config_helper_suspend(&dev->drm);

	if (ret != 0)
		return ret;
	ret = pbd_drain(dev);
	if (ret == 0) {
		/* Each of the two may begin the other one. */
		cancel_delayed_work_sync(&dev->attach);
		cancel_delayed_work_sync(&dev->watch);
		cancel_delayed_work_sync(&dev->attach);
		flush_workqueue(dev->push_wq);
		/* Submissions that have ended hold queues, which end with their attachment. */
		flush_work(&dev->clean);
		down_write(&dev->card);
		ret = pbd_leave(dev);
		up_write(&dev->card);
	}
	if (ret != 0) {
		pbd_awake(dev);
		(void)drm_mode_config_helper_resume(&dev->drm);
	}
	return ret;
}

/* ---- and back ---- */

/* Whether a submission of the queue waits for a queue that has failed, or for its own. Pre: state. */
static bool pbd_queue_has_failed(struct pbd_queue *queue)
{
	struct pbd_job *job;
	u32 i;

	if (queue->lost || queue->error_value != 0)
		return true;
	list_for_each_entry(job, &queue->pending, link)
		for (i = 0; i < job->awaited_count; i++)
			if (job->awaited[i]->error_value != 0)
				return true;
	return false;
}

/*
 * Makes the firmware's objects of a queue for the submissions that wait in it; without any, the next one does. A queue
 * that had failed has lost them for good, as before.
 */
static int pbd_queue_resume(struct pbd_queue *queue)
{
	struct pbd_device *dev = queue->dev;
	struct pbd_job *job;
	bool failed, waits;
	int ret;

	spin_lock_irq(&dev->state_lock);
	list_del_init(&queue->link);
	failed = pbd_queue_has_failed(queue);
	if (failed)
		pbd_end_queue(queue, -ECANCELED, PB_ERROR_CONTEXT_LOST);
	waits = !list_empty(&queue->pending);
	spin_unlock_irq(&dev->state_lock);
	if (failed)
		return 0;
	queue->epoch = 0;
	if (!waits)
		return 0;
	ret = pbd_queue_make(queue);
	/* Nothing but the worker that pushes changes the list, and it is told to when all is ready. */
	list_for_each_entry(job, &queue->pending, link) {
		job->descriptor.context = queue->context;
		job->epoch = dev->epoch;
	}
	return ret;
}

/* Attaches, and brings back what has to be at its place. Pre: validate, `card` is held for writing. */
static int pbd_return(struct pbd_device *dev)
{
	struct pbd_queue *queue, *next;
	LIST_HEAD(queues);
	int ret;

	/* The interrupt knows them by the handles that they had. */
	spin_lock_irq(&dev->state_lock);
	list_splice_init(&dev->queues, &queues);
	spin_unlock_irq(&dev->state_lock);
	ret = pbd_card_find(dev);
	if (ret == 0)
		ret = pbd_card_attach(dev, PBD_RESUME_MS);
	if (ret == 0)
		ret = pbd_each_object(dev, pbd_bo_restore);
	list_for_each_entry_safe(queue, next, &queues, link)
		if (ret == 0)
			ret = pbd_queue_resume(queue);
	if (ret != 0) {
		spin_lock_irq(&dev->state_lock);
		list_splice(&queues, &dev->queues);
		spin_unlock_irq(&dev->state_lock);
	}
	return ret;
}

/* Without a card, submissions that waited end with an error. What was saved is in pages, and not lost. */
static int pbd_resume(struct device *device)
{
	struct pbd_device *dev = dev_get_drvdata(device);
	int ret;

	mutex_lock(&dev->validate);
	down_write(&dev->card);
	ret = pbd_return(dev);
	if (ret != 0) {
		drm_warn(&dev->drm, "the card does not return from sleep: %d\n", ret);
		pbd_end_all(dev, -ENODEV);
		pbd_leave_firmware(dev);
		(void)pbd_each_object(dev, pbd_bo_forget_place);
	}
	up_write(&dev->card);
	mutex_unlock(&dev->validate);
	pbd_awake(dev);
	return drm_mode_config_helper_resume(&dev->drm);
}

DEFINE_SIMPLE_DEV_PM_OPS(pbd_pm_ops, pbd_suspend, pbd_resume);
