// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Moves of objects. Where the engine reaches both ends it carries them out, in paging buffers of a queue of the driver's
 * own: they run in order, so that VRAM that one object leaves may be another one's at once. The fence of a move is in the
 * object's reservation, with usage KERNEL: whoever uses the object waits for it, also those that wait for nothing else.
 * Else the CPU moves it at once, after all moves of the engine.
 */
#include <linux/dma-resv.h>
#include <linux/highmem.h>
#include <linux/mm.h>

#include "patchbay/paging.h"
#include "pbd_submit.h"

/* Largest paging buffer, and bytes that a page may take in it: a packet of its own. */
#define PBD_PAGING_BYTES (128u << 10)
#define PBD_PAGING_PAGE_BYTES 24u

/* ---- paging buffers ---- */

/* A move in the making. */
struct pbd_moving {
	struct pbd_device *dev;
	struct pbd_bo *bo;
	struct pb_paging_operation operation;
	unsigned long *pages; /* numbers of the object's pages */
};

/* Makes pages for a paging buffer of the operation, fewer if there are none in a row. @return NULL: none at all */
static struct page *pbd_paging_pages(struct pbd_device *dev, u64 bytes, unsigned int *order)
{
	struct page *page;

	*order = get_order(min_t(u64, bytes / PAGE_SIZE * PBD_PAGING_PAGE_BYTES + PAGE_SIZE, PBD_PAGING_BYTES));
	for (;; (*order)--) {
		page = alloc_pages(*order == 0 ? GFP_KERNEL : GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY, *order);
		if (page || *order == 0)
			break;
	}
	/* Pages of one buffer lie in a row: if the last one is reached, so is each. */
	if (page && !pbd_host_reaches(dev, (struct page *[]){ page + (1u << *order) - 1 }, 1)) {
		__free_pages(page, *order);
		page = NULL;
	}
	return page;
}

static struct pbd_job *pbd_move_job(struct pbd_device *dev, struct pbd_bo *bo)
{
	struct pbd_job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (!job)
		return NULL;
	kref_init(&job->refs);
	INIT_LIST_HEAD(&job->link);
	job->dev = dev;
	job->error_index = PB_INDEX_NONE;
	job->filled = true;
	job->queue = dev->host.queue;
	kref_get(&job->queue->refs);
	job->listed = kvcalloc(1, sizeof(*job->listed), GFP_KERNEL);
	job->fence = pbd_fence_alloc(job->queue);
	if (job->listed) {
		drm_gem_object_get(&bo->base);
		job->listed[job->listed_count++] = &bo->base;
	}
	if (job->listed && job->fence)
		return job;
	pbd_job_put(job);
	return NULL;
}

/* Writes as much of the operation to a paging buffer as there is room for. */
static struct pbd_job *pbd_move_part(struct pbd_moving *moving)
{
	struct pbd_device *dev = moving->dev;
	struct pbd_job *job = pbd_move_job(dev, moving->bo);
	struct pb_descriptor *descriptor;
	struct pb_paging_buffer buffer;
	u64 offset;

	if (!job)
		return NULL;
	job->paging = pbd_paging_pages(dev, moving->operation.bytes, &job->paging_order);
	if (!job->paging) {
		pbd_job_put(job);
		return NULL;
	}
	offset = page_to_phys(job->paging) - dev->host.start;
	buffer.dma_buffer = page_address(job->paging);
	buffer.gpu_address = dev->host.segment.request.gpu_base + offset;
	buffer.dma_size = (u32)(PAGE_SIZE << job->paging_order);
	descriptor = &job->descriptor;
	descriptor->flags = PB_FLAG_PAGING;
	descriptor->dma_segment = PBD_SEGMENT_HOST;
	descriptor->dma_size = buffer.dma_size;
	pbd_set_address(&descriptor->dma_address_low, dev->host.segment.request.os_base + offset);
	(void)pb_paging_build(&moving->operation, &buffer);
	descriptor->dma_end = descriptor->dma_size - buffer.dma_size;
	job->epoch = dev->epoch;
	return job;
}

/* Submits one paging buffer, behind all earlier ones. @return a reference to its fence; NULL: the card is gone */
static struct dma_fence *pbd_move_go(struct pbd_device *dev, struct pbd_job *job)
{
	struct dma_fence *fence;

	mutex_lock(&dev->host.lock);
	fence = pbd_blit_go(job);
	if (fence) {
		dma_fence_put(dev->host.last);
		dev->host.last = dma_fence_get(fence);
	}
	mutex_unlock(&dev->host.lock);
	return fence;
}

static bool pbd_moves_have_room(const struct pbd_queue *queue, u32 most)
{
	return READ_ONCE(queue->unfinished) <= most || READ_ONCE(queue->dev->state) != PBD_UP;
}

/* Submits all of the operation. The fence of the last part is the object's. Pre: resv with room for a fence. */
static int pbd_move_parts(struct pbd_moving *moving)
{
	const struct pb_paging_operation *operation = &moving->operation;
	struct pbd_queue *queue = moving->dev->host.queue;
	struct dma_fence *last = NULL, *fence;
	struct pbd_job *job;
	int ret = 0;

	while (ret == 0 && operation->multipass_offset < operation->bytes >> PAGE_SHIFT) {
		/* Only a large object in many pieces waits here, and for nothing but earlier moves. */
		wait_event(queue->wait, pbd_moves_have_room(queue, PBD_QUEUE_JOBS - 1));
		job = pbd_move_part(moving);
		if (!job) {
			ret = -ENOMEM;
			break;
		}
		fence = pbd_move_go(moving->dev, job);
		pbd_job_put(job);
		if (!fence) {
			ret = -ENODEV;
			break;
		}
		dma_fence_put(last);
		last = fence;
	}
	if (last) {
		dma_resv_add_fence(moving->bo->base.resv, last, DMA_RESV_USAGE_KERNEL);
		dma_fence_put(moving->bo->move);
		moving->bo->move = last;
	}
	return ret;
}

/* ---- by the engine ---- */

static int pbd_move_sides(struct pbd_moving *moving, enum pbd_move move)
{
	const struct pb_paging_memory vram = { .gpu_address = pbd_bo_gpu_address(moving->bo) };
	struct pb_paging_memory pages = {};
	unsigned long count = moving->bo->base.size >> PAGE_SHIFT, i;

	moving->operation.bytes = moving->bo->base.size;
	if (move == PBD_MOVE_CLEAR) {
		moving->operation.kind = PB_PAGING_FILL;
		moving->operation.destination = vram;
		return 0;
	}
	moving->pages = kvmalloc_array(count, sizeof(*moving->pages), GFP_KERNEL);
	if (!moving->pages)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		moving->pages[i] = page_to_pfn(moving->bo->pages[i]) - (unsigned long)(moving->dev->host.start >> PAGE_SHIFT);
	pages.gpu_address = moving->dev->host.segment.request.gpu_base;
	pages.pages = moving->pages;
	moving->operation.kind = move == PBD_MOVE_MAP ? PB_PAGING_MAP_APERTURE : PB_PAGING_TRANSFER;
	moving->operation.source = move == PBD_MOVE_OUT ? vram : pages;
	moving->operation.destination = move == PBD_MOVE_OUT ? pages : vram;
	return 0;
}

/* Notes in the room that earlier moves have to end first, for a caller that comes again. @return -EAGAIN */
static int pbd_moves_are_many(struct pbd_device *dev, struct pbd_room *room)
{
	if (room->claims || room->alone) {
		mutex_lock(&dev->host.lock);
		dma_fence_put(room->move);
		room->move = dma_fence_get(dev->host.last);
		mutex_unlock(&dev->host.lock);
	}
	return -EAGAIN;
}

/* @return -EAGAIN: as pbd_bo_move(); another error: the engine does not do it, and nothing has changed */
static int pbd_move_by_engine(struct pbd_device *dev, struct pbd_bo *bo, enum pbd_move move, struct pbd_room *room)
{
	struct pbd_moving moving = { .dev = dev, .bo = bo };
	int ret;

	if (dev->host.bytes == 0 || !dev->host.queue || READ_ONCE(dev->state) != PBD_UP)
		return -ENODEV;
	if (move != PBD_MOVE_CLEAR && !pbd_host_reaches(dev, bo->pages, bo->base.size >> PAGE_SHIFT))
		return -EOPNOTSUPP;
	if (room && !pbd_moves_have_room(dev->host.queue, PBD_QUEUE_JOBS / 2))
		return pbd_moves_are_many(dev, room);
	ret = dma_resv_reserve_fences(bo->base.resv, 1);
	if (ret == 0)
		ret = pbd_move_sides(&moving, move);
	if (ret == 0) {
		bo->reached = dev->epoch;
		ret = pbd_move_parts(&moving);
	}
	kvfree(moving.pages);
	return ret;
}

/* ---- by the CPU ---- */

/* Waits for all moves of the engine, which wait for nothing but each other. */
static void pbd_moves_settle(struct pbd_device *dev)
{
	struct dma_fence *last;

	mutex_lock(&dev->host.lock);
	last = dma_fence_get(dev->host.last);
	mutex_unlock(&dev->host.lock);
	if (last)
		dma_fence_wait(last, false);
	dma_fence_put(last);
}

static void pbd_move_by_cpu(struct pbd_device *dev, struct pbd_bo *bo, enum pbd_move move)
{
	pbd_moves_settle(dev);
	(void)pbd_bo_settle(bo, false);
	if (move == PBD_MOVE_CLEAR)
		memset(pbd_bo_bytes(dev, bo), 0, bo->base.size);
	else
		pbd_bo_copy(bo, pbd_bo_bytes(dev, bo), move == PBD_MOVE_IN);
}

/*
 * Moves an object. Pre: resv; it has room in a region, and pages if they take part; nothing but moves uses it, no user
 * mapping is there.
 * @room: NULL: the caller cannot come again
 * @return -EAGAIN: too much is being moved, `room` says what to wait for; -EOPNOTSUPP, -ENODEV, -ENOMEM: it cannot be
 * mapped. Nothing has changed then
 */
int pbd_bo_move(struct pbd_device *dev, struct pbd_bo *bo, enum pbd_move move, struct pbd_room *room)
{
	int ret = pbd_move_by_engine(dev, bo, move, room);

	if (move == PBD_MOVE_MAP || ret == -EAGAIN)
		return ret;
	if (ret != 0)
		pbd_move_by_cpu(dev, bo, move);
	bo->moving_out = ret == 0 && move == PBD_MOVE_OUT;
	atomic64_add((s64)bo->base.size, ret == 0 ? &dev->host.engine_bytes : &dev->host.cpu_bytes);
	return 0;
}

/* ---- behind a move ---- */

/* Forgets a move that has ended. Its fence would keep the module loaded for as long as the object exists. Pre: resv. */
static void pbd_bo_forget_move(struct pbd_bo *bo)
{
	struct dma_fence *stub = dma_fence_get_stub();

	dma_resv_replace_fences(bo->base.resv, bo->move->context, stub, DMA_RESV_USAGE_KERNEL);
	dma_fence_put(stub);
	dma_fence_put(bo->move);
	bo->move = NULL;
}

/*
 * Waits until the contents are where the object is, for the CPU. What was lost with the card on its way out of VRAM is
 * zero. Pre: resv.
 */
int pbd_bo_settle(struct pbd_bo *bo, bool interruptible)
{
	long ret;

	if (!bo->move)
		return 0;
	ret = dma_fence_wait(bo->move, interruptible);
	if (ret < 0)
		return (int)ret;
	if (bo->move->error != 0 && !bo->region && bo->moving_out) {
		pbd_bo_clear_pages(bo);
		bo->lost = true;
	}
	bo->moving_out = false;
	pbd_bo_forget_move(bo);
	return 0;
}

/* Frees the pages that an object has been moved in from. Pre: the job was a move, and has ended. Sleeps. */
void pbd_move_ended(struct pbd_job *job)
{
	struct pbd_bo *bo = pbd_bo(job->listed[0]);
	struct pbd_host *host = &job->dev->host;

	dma_resv_lock(bo->base.resv, NULL);
	if (bo->move && dma_fence_is_signaled(bo->move))
		(void)pbd_bo_settle(bo, false);
	if (!bo->move && pbd_bo_in_vram(bo) && !bo->outside && !pbd_host_is_unsure(job->dev, bo))
		pbd_bo_drop_pages(bo);
	dma_resv_unlock(bo->base.resv);
	mutex_lock(&host->lock);
	if (host->last && dma_fence_is_signaled(host->last)) {
		dma_fence_put(host->last);
		host->last = NULL;
	}
	mutex_unlock(&host->lock);
}
