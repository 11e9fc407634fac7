// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Blits of the kernel's own: an update of the display, prepared where it may fail, and submitted where it may not. */
#include <linux/dma-resv.h>
#include <linux/slab.h>

#include "pbd_submit.h"

/* Translates the blit: one COPY_RECT with two addresses to patch. Entry 0 of the list is NULL. */
static int pbd_blit_translate(struct pbd_submit *submit, const struct pbd_blit *blit)
{
	struct pbd_job *job = submit->job;
	const struct pb_render_device device = { .find = pbd_find, .context = job, .node = PB_NODE_COPY };
	u32 private_data[sizeof(struct pb_render_record) / sizeof(u32)];
	struct pb_render_present present = {
		.device = &device,
		.source = { .handle = 2, .pitch = blit->from_pitch, .left = blit->x, .top = blit->y },
		.destination = { .handle = 3, .pitch = blit->to_pitch, .left = blit->x, .top = blit->y },
		.width = blit->width,
		.height = blit->height,
	};
	enum pb_render_status status;
	int ret = pbd_make_outputs(submit);

	if (ret != 0)
		return ret;
	present.output = (struct pb_render_output){
		.dma_buffer = job->engine,
		.dma_size = job->engine_bytes,
		.private_data = private_data,
		.private_data_size = sizeof(private_data),
		.allocations = job->entries,
		.allocations_size = submit->args->allocation_count,
		.locations = job->locations,
		.locations_size = job->location_count,
	};
	status = pb_render_present(&present);
	submit->record = present.output.record;
	job->engine_bytes = submit->record.dma_bytes;
	job->location_count = submit->record.patch_count;
	return pbd_render_errno(status);
}

static int pbd_blit_list(struct pbd_submit *submit, const struct pbd_blit *blit)
{
	struct pbd_job *job = submit->job;

	job->listed = kvcalloc(3, sizeof(*job->listed), GFP_KERNEL);
	submit->allocations = kvcalloc(3, sizeof(*submit->allocations), GFP_KERNEL);
	if (!job->listed || !submit->allocations)
		return -ENOMEM;
	drm_gem_object_get(blit->from);
	drm_gem_object_get(blit->to);
	job->listed[1] = blit->from;
	job->listed[2] = blit->to;
	job->listed_count = 3;
	submit->allocations[2].flags = PATCHBAY_ALLOCATION_WRITE;
	return pbd_unique_objects(submit);
}

/* Places both objects and pins them, so that the addresses in the lists stay right until they are unpinned. */
static int pbd_blit_place(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	int ret = pbd_queue_make(job->queue);
	u32 i;

	if (ret == 0)
		ret = drm_gem_lock_reservations(job->objects, (int)job->object_count, &submit->ticket);
	if (ret != 0)
		return ret;
	ret = pbd_place_all(submit);
	if (ret == 0) {
		for (i = 0; i < job->object_count; i++)
			atomic_inc(&pbd_bo(job->objects[i])->pins);
		(void)pbd_address_lists(submit);
		pbd_job_fill(job);
	}
	drm_gem_unlock_reservations(job->objects, (int)job->object_count, &submit->ticket);
	return ret;
}

static int pbd_blit_try(struct pbd_submit *submit)
{
	int ret = mutex_lock_interruptible(&submit->dev->validate);

	if (ret != 0)
		return ret;
	down_read(&submit->dev->card);
	ret = pbd_blit_place(submit);
	up_read(&submit->dev->card);
	mutex_unlock(&submit->dev->validate);
	return ret;
}

static bool pbd_blit_has_space(struct pbd_job *job)
{
	bool has;

	spin_lock_irq(&job->dev->state_lock);
	has = job->dev->state != PBD_UP || pbd_job_take_space(job);
	spin_unlock_irq(&job->dev->state_lock);
	return has;
}

/* Waits for earlier updates, which alone have room where the display has its own. */
static int pbd_blit_space(struct pbd_job *job)
{
	long left = wait_event_interruptible_timeout(job->queue->account->wait, pbd_blit_has_space(job), PBD_ROOM_JIFFIES);

	if (left <= 0)
		return left < 0 ? (int)left : -EBUSY;
	return drm_mm_node_allocated(&job->space) ? 0 : -ENODEV;
}

static int pbd_blit_make(struct pbd_submit *submit, const struct pbd_blit *blit)
{
	struct pbd_job *job = submit->job;
	int ret = pbd_blit_list(submit, blit);
	u32 i;

	if (ret == 0)
		ret = pbd_blit_translate(submit, blit);
	if (ret == 0)
		ret = pbd_blit_space(job);
	if (ret != 0)
		return ret;
	job->fence = pbd_fence_alloc(job->queue);
	ret = job->fence ? pbd_with_room(submit, pbd_blit_try) : -ENOMEM;
	/* The contents may still be on their way to where the objects are. They move no more. */
	for (i = 0; ret == 0 && i < job->object_count; i++)
		dma_resv_wait_timeout(job->objects[i]->resv, DMA_RESV_USAGE_KERNEL, false, MAX_SCHEDULE_TIMEOUT);
	return ret;
}

/*
 * Makes all that a blit needs. Both objects are pinned until the caller unpins them. Sleeps, allocates, may fail.
 * @return the blit, for pbd_blit_go() or pbd_job_put(); an error, and nothing is pinned
 */
struct pbd_job *pbd_blit_prepare(struct pbd_queue *queue, const struct pbd_blit *blit)
{
	struct drm_patchbay_submit args = { .allocation_count = 3, .command_bytes = 64 };
	struct pbd_submit submit = { .dev = queue->dev, .args = &args, .fd = -1 };
	struct pbd_job *job = kzalloc(sizeof(*job), GFP_KERNEL);
	int ret;

	if (!job)
		return ERR_PTR(-ENOMEM);
	kref_init(&job->refs);
	INIT_LIST_HEAD(&job->link);
	job->dev = queue->dev;
	job->error_index = PB_INDEX_NONE;
	job->queue = queue;
	kref_get(&queue->refs);
	submit.job = job;
	ret = pbd_blit_make(&submit, blit);
	kref_get(&job->refs);
	pbd_submit_free(&submit);
	if (ret == 0)
		return job;
	pbd_job_put(job);
	return ERR_PTR(ret);
}

/*
 * Submits a blit. Nothing allocates or fails, and no lock is taken under which others do. Pre: of one queue, one blit at
 * a time goes. @return a reference to its fence; NULL: the card was lost since it was
 * prepared, and nothing happens
 */
struct dma_fence *pbd_blit_go(struct pbd_job *job)
{
	struct pbd_submit submit = { .dev = job->dev, .job = job };
	struct dma_fence *fence = NULL;
	bool cookie;

	pbd_fence_begin(job->queue, job->fence);
	cookie = dma_fence_begin_signalling();
	atomic_set(&job->waiting, 0);
	kref_get(&job->refs);
	if (pbd_arm(&submit) == 0) {
		fence = dma_fence_get(&job->fence->base);
		pbd_push(job->queue);
	}
	dma_fence_end_signalling(cookie);
	if (!fence)
		pbd_job_put(job);
	return fence;
}
