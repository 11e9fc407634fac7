// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * From the queue into the ring: a submission is armed and published, waits for its fences, and is put into the ring, in
 * the order of its queue. Nothing here allocates or fails.
 */
#include <linux/dma-resv.h>
#include <linux/file.h>

#include "pbd_submit.h"

/* ---- arming ---- */

/*
 * Gives the submission its place in the queue's order. From here on its fence will be signaled, and nothing may fail.
 * Pre: validate; each object's reservation has a slot.
 * @return -ENODEV: the card is gone; nothing has happened
 */
int pbd_arm(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	struct pbd_queue *queue = job->queue;
	struct pbd_device *dev = submit->dev;
	bool first;

	spin_lock_irq(&dev->state_lock);
	if (dev->state != PBD_UP || job->epoch != dev->epoch) {
		spin_unlock_irq(&dev->state_lock);
		return -ENODEV;
	}
	job->value = ++queue->value;
	job->descriptor.fence_id = (u32)job->value;
	pbd_set_address(&job->descriptor.timeline_low, job->value);
	list_add_tail(&job->link, &queue->pending);
	queue->unfinished++;
	first = dev->jobs++ == 0;
	pbd_trace_submit(job);
	spin_unlock_irq(&dev->state_lock);
	if (first)
		pbd_card_watch(dev);
	return 0;
}

/*
 * Arms and publishes. Pre: all is allocated, the reservations are held. The submission may end at any time from then on,
 * also because the card does: a reference of ours keeps it. @return as pbd_arm()
 */
int pbd_publish(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	struct dma_fence *fence = &job->fence->base;
	bool cookie = dma_fence_begin_signalling();
	int ret;
	u32 i;

	atomic_set(&job->waiting, 1);
	kref_get(&job->refs);
	ret = pbd_arm(submit);
	if (ret == 0) {
		submit->args->value = job->value;
		for (i = 0; i < job->object_count; i++)
			dma_resv_add_fence(job->objects[i]->resv, fence,
					   job->writes[i] ? DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
		pbd_publish_signals(submit, fence);
		if (submit->sync_file) {
			fd_install(submit->fd, submit->sync_file->file);
			submit->args->out_fence_fd = submit->fd;
			submit->sync_file = NULL;
			submit->fd = -1;
		}
		pbd_add_callbacks(job);
		if (atomic_dec_and_test(&job->waiting))
			pbd_push(job->queue);
	}
	dma_fence_end_signalling(cookie);
	if (ret != 0)
		pbd_job_put(job);
	return ret;
}

/* ---- into the ring ---- */

/*
 * Whether another queue that the firmware is to wait for has all in its ring that it takes, so that nothing in the rings
 * waits for room that something in the rings has. Pre: state.
 */
bool pbd_job_blocked(const struct pbd_job *job)
{
	u32 i;

	for (i = 0; i < job->awaited_count; i++)
		if (job->awaited[i]->pushed < job->awaited_value[i])
			return true;
	return false;
}

/* Returns the submission that goes into the ring next, with room for its lists; NULL: there is none. Pre: state. */
static struct pbd_job *pbd_next(struct pbd_queue *queue)
{
	struct pbd_job *job = list_first_entry_or_null(&queue->pending, struct pbd_job, link);

	if (!job || queue->dev->state != PBD_UP || (queue->dev->asleep && !job->paging) ||
	    atomic_read(&job->waiting) != 0)
		return NULL;
	if (pbd_job_blocked(job)) {
		queue->account->blocked = true;
		return NULL;
	}
	if (pbd_job_take_space(job))
		return job;
	if (list_empty(&queue->hungry))
		list_add_tail(&queue->hungry, &queue->dev->arenas[pbd_job_arena(job)].hungry);
	return NULL;
}

/* Wakes the file's queues that were blocked by this one. Pre: state. */
static void pbd_unblock(struct pbd_queue *queue)
{
	struct pbd_queue *other;

	if (!queue->account->blocked)
		return;
	queue->account->blocked = false;
	list_for_each_entry(other, &queue->dev->queues, link)
		if (other->account == queue->account && other != queue && !list_empty(&other->pending))
			queue_work(queue->dev->push_wq, &other->push);
}

/* A worker has the submission: it is not freed until pbd_job_release(). Pre: state. */
void pbd_job_hold(struct pbd_job *job)
{
	job->held = true;
}

/* Pre: state. @return false: the submission has ended in the meantime, and is gone */
bool pbd_job_release(struct pbd_job *job)
{
	struct pbd_device *dev = job->dev;

	job->held = false;
	if (!job->ended)
		return true;
	list_add_tail(&job->link, &dev->done);
	queue_work(dev->clean_wq, &dev->clean);
	return false;
}

/* Writes what the firmware reads to card memory, without the lock. Pre: state. @return as pbd_job_release() */
static bool pbd_fill(struct pbd_job *job, unsigned long *flags) __must_hold(&job->dev->state_lock)
{
	struct pbd_device *dev = job->dev;

	if (job->filled && !job->outside)
		return true;
	pbd_job_hold(job);
	spin_unlock_irqrestore(&dev->state_lock, *flags);
	if (!job->filled)
		pbd_job_fill(job);
	if (job->outside)
		pbd_job_carry(job, true);
	spin_lock_irqsave(&dev->state_lock, *flags);
	return pbd_job_release(job);
}

/* Puts submissions into the ring, in order, as far as they wait for nothing. The caller keeps the queue. Process context. */
void pbd_push(struct pbd_queue *queue)
{
	struct pbd_device *dev = queue->dev;
	enum pb_error error = PB_ERROR_OK;
	struct pbd_job *job;
	unsigned long flags;

	spin_lock_irqsave(&dev->state_lock, flags);
	queue->again = true;
	while (queue->again && !queue->pushing) {
		queue->again = false;
		queue->pushing = true;
		while (error == PB_ERROR_OK && (job = pbd_next(queue)) != NULL) {
			if (!pbd_fill(job, &flags))
				continue;
			job->index = queue->put;
			error = pb_queue_submit(&queue->queue, &job->descriptor);
			/* The ring has room: it has as many entries as a queue may have submissions. */
			if (error != PB_ERROR_OK)
				break;
			queue->put++;
			queue->pushed = job->value;
			pbd_busy_begin(job);
			pbd_trace_ring(job);
			list_move_tail(&job->link, &queue->running);
			pbd_unblock(queue);
		}
		queue->pushing = false;
	}
	spin_unlock_irqrestore(&dev->state_lock, flags);
	if (error != PB_ERROR_OK)
		pbd_card_lost(dev, -EIO, pb_error_name(error));
}

void pbd_push_work(struct work_struct *work)
{
	struct pbd_queue *queue = container_of(work, struct pbd_queue, push);
	bool cookie = dma_fence_begin_signalling();

	pbd_push(queue);
	dma_fence_end_signalling(cookie);
}
