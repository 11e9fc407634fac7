// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Fences of the GL engine's clients: one ends when its client's queue has completed all that was submitted up to it.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "pbd_virtgpu.h"

static struct pbd_virt_fence *to_virt_fence(struct dma_fence *fence)
{
	return container_of(fence, struct pbd_virt_fence, base);
}

static const char *pbd_virt_fence_driver(struct dma_fence *fence)
{
	return "patchbay";
}

static const char *pbd_virt_fence_timeline(struct dma_fence *fence)
{
	return "gl";
}

static void pbd_virt_fence_free(struct rcu_head *head)
{
	kfree(to_virt_fence(container_of(head, struct dma_fence, rcu)));
	module_put(THIS_MODULE);
}

static void pbd_virt_fence_release(struct dma_fence *fence)
{
	call_rcu(&fence->rcu, pbd_virt_fence_free);
}

static const struct dma_fence_ops pbd_virt_fence_ops = {
	.use_64bit_seqno = true,
	.get_driver_name = pbd_virt_fence_driver,
	.get_timeline_name = pbd_virt_fence_timeline,
	.release = pbd_virt_fence_release,
};

/* Allocates a fence. It keeps the module loaded; pbd_virt_fence_arm() begins it, until then kfree() ends it. */
struct pbd_virt_fence *pbd_virt_fence_alloc(struct pbd_virt *virt)
{
	struct pbd_virt_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);

	if (fence)
		spin_lock_init(&fence->lock);
	return fence;
}

/* Ends the fences that are at or before a value. Pre: the state lock is held. */
void pbd_virt_signal(struct pbd_virt *virt, u64 value, int result)
{
	struct pbd_virt_fence *fence, *next;

	list_for_each_entry_safe(fence, next, &virt->fences, link) {
		if (fence->value > value)
			break;
		list_del(&fence->link);
		virt->dev->jobs--;
		if (virt->account)
			pbd_busy_charge(virt->dev, virt->account, pbd_virt_node(virt->dev), fence->begun_ns);
		if (result != 0)
			dma_fence_set_error(&fence->base, result);
		dma_fence_signal(&fence->base);
		dma_fence_put(&fence->base);
	}
}

static int pbd_virt_result(u32 error)
{
	return error == PB_ERROR_OK ? 0 : error == PB_ERROR_ENGINE_HANG ? -ETIME : -EIO;
}

/* Ends what a client's queue has completed. Pre: the state lock is held, the card is up. */
static void pbd_virt_retire_one(struct pbd_virt *virt)
{
	struct pb_fence record;

	if (list_empty(&virt->fences))
		return;
	/* A record that the firmware is writing just now is read again by the watchdog, which is told to look soon. */
	if (pb_queue_fence_now(&virt->queue, &record) == PB_ERROR_OK)
		pbd_virt_signal(virt, record.timeline, pbd_virt_result(record.error));
	else
		mod_delayed_work(virt->dev->card_wq, &virt->dev->watch, 1);
}

/* Ends what the card has completed. Pre: the state lock is held, the card is up. */
void pbd_virt_retire(struct pbd_device *dev)
{
	struct pbd_virt *virt;

	list_for_each_entry(virt, &dev->virt.clients, link)
		pbd_virt_retire_one(virt);
}

/* Ends all fences, because the card is gone. Pre: the state lock is held. */
void pbd_virt_end_all(struct pbd_device *dev, int result)
{
	struct pbd_virt *virt;

	list_for_each_entry(virt, &dev->virt.clients, link)
		pbd_virt_signal(virt, U64_MAX, result);
}

/*
 * Begins the fence of all that the client has submitted. Nothing fails; a card that is gone ends the fence at once. Pre:
 * the client's lock. @return a reference for the caller
 */
struct dma_fence *pbd_virt_fence_arm(struct pbd_virt *virt, struct pbd_virt_fence *fence)
{
	struct pbd_device *dev = virt->dev;
	bool cookie = dma_fence_begin_signalling();
	bool first;

	__module_get(THIS_MODULE);
	spin_lock_irq(&dev->state_lock);
	dma_fence_init(&fence->base, &pbd_virt_fence_ops, &fence->lock, virt->fence_context, ++virt->seqno);
	dma_fence_get(&fence->base);
	fence->value = virt->queue.timeline;
	fence->begun_ns = ktime_get_ns();
	list_add_tail(&fence->link, &virt->fences);
	first = dev->jobs++ == 0;
	if (dev->state != PBD_UP || virt->epoch != dev->epoch)
		pbd_virt_signal(virt, U64_MAX, -ENODEV);
	else
		pbd_virt_retire_one(virt);
	spin_unlock_irq(&dev->state_lock);
	if (first)
		pbd_card_watch(dev);
	dma_fence_end_signalling(cookie);
	return &fence->base;
}
