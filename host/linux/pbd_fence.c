// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The fence, and the end of a submission. Nothing here allocates or fails: what a submission needs was made before it was
 * armed. Fences of a queue end in order, under the state lock. Memory and objects are released in a worker.
 */
#include <linux/slab.h>

#include <drm/drm_gem.h>

#include "patchbay/abi/channel.h"
#include "pbd_job.h"
#include "pbd_live.h"

/* Events that are read at one interrupt; more wait for the watchdog or the next interrupt. */
#define PBD_EVENTS_MAX 4096

/* ---- the fence itself ---- */

static struct pbd_fence *to_pbd_fence(const struct dma_fence *fence)
{
	return container_of(fence, struct pbd_fence, base);
}

static const char *pbd_fence_driver(struct dma_fence *fence)
{
	return "patchbay";
}

static const char *pbd_fence_timeline(struct dma_fence *fence)
{
	static const char *const names[] = { "node0", "node1", "node2", "node3" };
	u32 node = to_pbd_fence(fence)->node;

	return node < ARRAY_SIZE(names) ? names[node] : "node";
}

/* Frees a fence without references; NULL: there is none. */
static void pbd_fence_drop(struct pbd_fence *fence)
{
	if (fence)
		atomic_dec(&pbd_live[PBD_LIVE_FENCES]);
	kfree(fence);
}

static void pbd_fence_free(struct rcu_head *head)
{
	pbd_fence_drop(to_pbd_fence(container_of(head, struct dma_fence, rcu)));
	module_put(THIS_MODULE);
}

static void pbd_fence_release(struct dma_fence *fence)
{
	call_rcu(&fence->rcu, pbd_fence_free);
}

static const struct dma_fence_ops pbd_fence_ops = {
	.use_64bit_seqno = true,
	.get_driver_name = pbd_fence_driver,
	.get_timeline_name = pbd_fence_timeline,
	.release = pbd_fence_release,
};

bool pbd_fence_is_ours(const struct dma_fence *fence)
{
	return fence->ops == &pbd_fence_ops;
}

/* Allocates a fence of the queue. It may outlive its device; it keeps the module loaded. */
struct pbd_fence *pbd_fence_alloc(struct pbd_queue *queue)
{
	struct pbd_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);

	if (!fence)
		return NULL;
	atomic_inc(&pbd_live[PBD_LIVE_FENCES]);
	spin_lock_init(&fence->lock);
	fence->dev = queue->dev;
	fence->queue = queue;
	fence->file = queue->account->id;
	fence->node = queue->node;
	return fence;
}

/* Makes it that of the queue's next submission. Pre: validate. */
void pbd_fence_begin(struct pbd_queue *queue, struct pbd_fence *fence)
{
	__module_get(THIS_MODULE);
	dma_fence_init(&fence->base, &pbd_fence_ops, &fence->lock, queue->fence_context, queue->value + 1);
	fence->begun = true;
}

/* Whether the fence is of a submission that is not in the ring yet: it ends when others, who are not of the card, will. */
bool pbd_fence_waits(const struct pbd_device *dev, struct dma_fence *base)
{
	struct pbd_fence *fence = to_pbd_fence(base);
	bool waits = false;

	if (!pbd_fence_is_ours(base))
		return !dma_fence_is_signaled(base);
	if (fence->dev != dev)
		return !dma_fence_is_signaled(base);
	spin_lock_irq(&fence->dev->state_lock);
	if (!dma_fence_is_signaled(base))
		waits = fence->queue->pushed < base->seqno;
	spin_unlock_irq(&fence->dev->state_lock);
	return waits;
}

/* ---- the end of a submission ---- */

static int pbd_result(u32 error)
{
	switch (error) {
	case PB_ERROR_OK:
		return 0;
	case PB_ERROR_ENGINE_HANG:
		return -ETIME;
	case PB_ERROR_CONTEXT_LOST:
	case PB_ERROR_CANCELLED:
	case PB_ERROR_DEP_FAILED:
		return -ECANCELED;
	default:
		return -EIO;
	}
}

/* Signals the fence and hands the submission to the worker. Pre: the state lock is held; the job is the queue's first. */
static void pbd_job_end(struct pbd_job *job)
{
	struct pbd_queue *queue = job->queue;
	struct pbd_device *dev = job->dev;
	int result = job->result ? job->result : pbd_result(job->error);

	if (result != 0) {
		if (job->paging && dev->state == PBD_UP)
			dev->host.failed = true;
		queue->errors++;
		if (queue->error_value == 0) {
			queue->error_value = job->value;
			queue->error = job->error;
			queue->error_index = job->error_index;
		}
		dma_fence_set_error(&job->fence->base, result);
	}
	queue->completed = job->value;
	queue->unfinished--;
	pbd_busy_end(job);
	pbd_trace_signal(job, result);
	dev->jobs--;
	dma_fence_signal(&job->fence->base);
	list_del_init(&job->link);
	pbd_job_leave_space(job);
	job->ended = true;
	if (!job->held)
		list_add_tail(&job->link, &dev->done);
	wake_up_all(&queue->wait);
}

/* Notes what an event says of a submission that has not ended yet. Pre: the state lock is held. */
static void pbd_event(struct pbd_device *dev, const struct pb_event *event)
{
	struct pbd_queue *queue;
	struct pbd_job *job;

	list_for_each_entry(queue, &dev->queues, link) {
		if (event->type == PB_EVENT_CONTEXT_LOST && event->detail == queue->context)
			queue->lost = true;
		if (event->queue != queue->queue.handle)
			continue;
		list_for_each_entry(job, &queue->running, link) {
			if ((u32)job->value != event->fence_id || job->error != PB_ERROR_OK)
				continue;
			if (event->type == PB_EVENT_SUBMISSION_FAILED || event->type == PB_EVENT_ENGINE_FAULT ||
			    event->type == PB_EVENT_ENGINE_HANG) {
				job->error = event->error;
				job->error_index = pbd_job_entry(job, event->error, event->index);
			}
			break;
		}
	}
}

/* When events were lost: what cannot be shown to be right counts as failed. */
static void pbd_events_dropped(struct pbd_device *dev)
{
	struct pbd_queue *queue;
	struct pbd_job *job;

	list_for_each_entry(queue, &dev->queues, link) {
		struct pb_fence record;

		if (list_empty(&queue->running))
			continue;
		if (pb_queue_fence_now(&queue->queue, &record) == PB_ERROR_OK && record.error == PB_ERROR_OK)
			continue;
		queue->lost = true;
		list_for_each_entry(job, &queue->running, link)
			if ((s32)(queue->queue.completed - job->index) > 0 && job->error == PB_ERROR_OK)
				job->error = PB_ERROR_CANCELLED;
	}
}

static void pbd_read_events(struct pbd_device *dev)
{
	struct pb_event event;
	int i;

	for (i = 0; i < PBD_EVENTS_MAX && pb_channel_event(&dev->channel, &event); i++)
		pbd_event(dev, &event);
	if (pb_channel_dropped(&dev->channel) != 0)
		pbd_events_dropped(dev);
}

/*
 * Ends what the firmware has completed: the consumer indices first, then the events, which name what failed, then the
 * fences. Pre: the state lock is held.
 */
static enum pb_error pbd_retire_locked(struct pbd_device *dev)
{
	enum pb_error worst = PB_ERROR_OK;
	struct pbd_queue *queue;
	u32 completed;
	bool any = false;

	list_for_each_entry(queue, &dev->queues, link) {
		enum pb_error error = PB_ERROR_OK;

		if (!list_empty(&queue->running))
			error = pb_queue_completed(&queue->queue, &completed);
		if (error != PB_ERROR_OK)
			worst = error;
	}
	pbd_read_events(dev);
	list_for_each_entry(queue, &dev->queues, link) {
		struct pbd_job *job, *next;

		list_for_each_entry_safe(job, next, &queue->running, link) {
			if ((s32)(queue->queue.completed - job->index) <= 0 || pbd_job_ends_later(job))
				break;
			pbd_job_end(job);
			any = true;
		}
	}
	pbd_virt_retire(dev);
	if (any)
		queue_work(dev->clean_wq, &dev->clean);
	return worst;
}

/* Ends what the firmware has completed. Any context. */
void pbd_retire(struct pbd_device *dev)
{
	enum pb_error error = PB_ERROR_OK;
	unsigned long flags;
	bool cookie;

	cookie = dma_fence_begin_signalling();
	spin_lock_irqsave(&dev->state_lock, flags);
	if (dev->state == PBD_UP)
		error = pbd_retire_locked(dev);
	spin_unlock_irqrestore(&dev->state_lock, flags);
	if (error != PB_ERROR_OK)
		pbd_card_lost(dev, -EIO, pb_error_name(error));
	dma_fence_end_signalling(cookie);
}

/* Ends a queue's submissions, finished or not. Pre: state. */
void pbd_end_queue(struct pbd_queue *queue, int result, enum pb_error error)
{
	struct pbd_job *job, *next;

	list_del_init(&queue->hungry);
	list_splice_tail_init(&queue->pending, &queue->running);
	list_for_each_entry_safe(job, next, &queue->running, link) {
		job->result = result;
		job->error = error;
		job->error_index = PB_INDEX_NONE;
		pbd_job_end(job);
	}
	queue_work(queue->dev->clean_wq, &queue->dev->clean);
}

/* Ends all submissions, finished or not, because the card is gone. Any context. */
void pbd_end_all(struct pbd_device *dev, int result)
{
	struct pbd_queue *queue, *other;
	unsigned long flags;
	bool cookie;

	cookie = dma_fence_begin_signalling();
	spin_lock_irqsave(&dev->state_lock, flags);
	if (dev->state == PBD_UP)
		(void)pbd_retire_locked(dev);
	/* The firmware is to be told when the device goes, so that it stops what engines do. */
	dev->leaving |= dev->state == PBD_UP && dev->removed;
	dev->state = PBD_DOWN;
	WRITE_ONCE(dev->abort, true);
	list_for_each_entry_safe(queue, other, &dev->queues, link) {
		pbd_end_queue(queue, result, result == -ENODEV ? PB_ERROR_NO_CARD : PB_ERROR_FIRMWARE_DEAD);
		/* Its handle may soon be that of another queue. */
		list_del_init(&queue->link);
		wake_up_all(&queue->wait);
	}
	pbd_virt_end_all(dev, result);
	queue_work(dev->clean_wq, &dev->clean);
	spin_unlock_irqrestore(&dev->state_lock, flags);
	dma_fence_end_signalling(cookie);
	wake_up_all(&dev->irq_wait);
}

/* ---- behind the fence ---- */

/* Frees a submission that has ended, or was never armed. */
static void pbd_job_free(struct kref *refs)
{
	struct pbd_job *job = container_of(refs, struct pbd_job, refs);
	struct pbd_device *dev = job->dev;
	u32 i;

	pbd_job_release_deps(job);
	spin_lock_irq(&dev->state_lock);
	pbd_job_leave_space(job);
	job->queue->account->staged -= job->staged;
	spin_unlock_irq(&dev->state_lock);
	wake_up_all(&job->queue->account->wait);
	kvfree(job->engine);
	kvfree(job->entries);
	kvfree(job->locations);
	kvfree(job->words);
	if (job->paging)
		__free_pages(job->paging, job->paging_order);
	for (i = 0; i < job->listed_count; i++)
		if (job->listed[i])
			drm_gem_object_put(job->listed[i]);
	kvfree(job->listed);
	kvfree(job->objects);
	kvfree(job->writes);
	if (job->fence && job->fence->begun)
		dma_fence_put(&job->fence->base);
	else
		pbd_fence_drop(job->fence);
	pbd_queue_put(job->queue);
	kfree(job);
}

/* Drops a reference: of the submitter, or of the submission's own life. Sleeps. */
void pbd_job_put(struct pbd_job *job)
{
	kref_put(&job->refs, pbd_job_free);
}

void pbd_clean_work(struct work_struct *work)
{
	struct pbd_device *dev = container_of(work, struct pbd_device, clean);
	struct pbd_job *job, *next;
	LIST_HEAD(done);
	bool kept;

	spin_lock_irq(&dev->state_lock);
	list_splice_init(&dev->done, &done);
	spin_unlock_irq(&dev->state_lock);
	list_for_each_entry_safe(job, next, &done, link) {
		spin_lock_irq(&dev->state_lock);
		kept = pbd_host_keeps(dev, job);
		spin_unlock_irq(&dev->state_lock);
		if (kept)
			continue;
		if (job->paging)
			pbd_move_ended(job);
		pbd_job_put(job);
	}
	if (READ_ONCE(dev->host.failed))
		pbd_card_lost(dev, -EIO, "a move failed");
}
