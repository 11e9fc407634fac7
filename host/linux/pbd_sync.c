// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What a submission waits for, and what it signals. Fences of other queues of the file are left to the firmware, all others
 * are waited for in the kernel, by callbacks.
 */
#include <linux/dma-fence-unwrap.h>
#include <linux/dma-resv.h>
#include <linux/file.h>
#include <linux/slab.h>

#include "pbd_submit.h"

/* ---- fences that are waited for ---- */

static void pbd_dep_done(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct pbd_job *job = container_of(cb, struct pbd_dep, cb)->job;

	if (atomic_dec_and_test(&job->waiting))
		queue_work(job->dev->push_wq, &job->queue->push);
}

/*
 * Leaves the wait to the firmware, if the fence is that of another queue of this file. Those of other files are waited
 * for in the kernel: with a failure behind it, the firmware would fail this submission as well.
 */
static bool pbd_wait_in_firmware(struct pbd_job *job, struct dma_fence *base)
{
	struct pbd_fence *fence = container_of(base, struct pbd_fence, base);
	bool taken = false;
	u32 i;

	if (!pbd_fence_is_ours(base) || fence->dev != job->dev || fence->file != job->queue->account->id)
		return false;
	spin_lock_irq(&job->dev->state_lock);
	if (dma_fence_is_signaled(base) || fence->queue == job->queue) {
		taken = true;
	} else if (fence->queue->error_value == 0) {
		for (i = 0; i < job->awaited_count && job->awaited[i] != fence->queue; i++)
			;
		taken = i < PB_WAITS_MAX;
		if (taken && i == job->awaited_count) {
			kref_get(&fence->queue->refs);
			job->awaited[job->awaited_count] = fence->queue;
			job->awaited_value[job->awaited_count++] = base->seqno;
		} else if (taken && base->seqno > job->awaited_value[i]) {
			job->awaited_value[i] = base->seqno;
		}
	}
	spin_unlock_irq(&job->dev->state_lock);
	return taken;
}

/* Adds one fence to what the submission waits for. @here: in the kernel, whosever it is */
static int pbd_add_fence(struct pbd_job *job, struct dma_fence *fence, bool here)
{
	struct pbd_dep *deps;
	u32 i;

	if (dma_fence_is_signaled(fence) || (!here && pbd_wait_in_firmware(job, fence)))
		return 0;
	for (i = 0; i < job->dep_count; i++) {
		if (job->deps[i].fence->context != fence->context)
			continue;
		if (dma_fence_is_later(fence, job->deps[i].fence)) {
			dma_fence_put(job->deps[i].fence);
			job->deps[i].fence = dma_fence_get(fence);
		}
		return 0;
	}
	if (job->dep_count == PBD_DEPS_MAX)
		return -E2BIG;
	if (job->dep_count == job->dep_room) {
		u32 room = max(8u, job->dep_room * 2);

		deps = kvrealloc(job->deps, job->dep_room * sizeof(*deps), room * sizeof(*deps), GFP_KERNEL);
		if (!deps)
			return -ENOMEM;
		job->deps = deps;
		job->dep_room = room;
	}
	job->deps[job->dep_count++] = (struct pbd_dep){ .fence = dma_fence_get(fence), .job = job };
	return 0;
}

/* Adds what a fence consists of. Consumes the reference. */
int pbd_add_fences(struct pbd_job *job, struct dma_fence *head)
{
	struct dma_fence_unwrap cursor;
	struct dma_fence *fence;
	int ret = 0;

	dma_fence_unwrap_for_each(fence, &cursor, head) {
		if (ret == 0)
			ret = pbd_add_fence(job, fence, false);
	}
	dma_fence_put(head);
	return ret;
}

/* Adds the fences that the caller names. */
int pbd_add_named_fences(struct pbd_submit *submit)
{
	const struct drm_patchbay_submit *args = submit->args;
	struct drm_patchbay_sync *syncs = NULL;
	struct dma_fence *fence;
	u32 i;
	int ret = 0;

	if (args->flags & PATCHBAY_SUBMIT_FENCE_IN) {
		fence = sync_file_get_fence(args->in_fence_fd);
		ret = fence ? pbd_add_fences(submit->job, fence) : -EINVAL;
	}
	if (ret == 0)
		ret = pbd_copy((void **)&syncs, args->in_syncs, args->in_count, sizeof(*syncs));
	for (i = 0; ret == 0 && i < args->in_count; i++) {
		if (syncs[i].flags)
			ret = -EINVAL;
		if (ret == 0)
			ret = drm_syncobj_find_fence(submit->drm_file, syncs[i].handle, syncs[i].point, 0, &fence);
		if (ret == 0)
			ret = pbd_add_fences(submit->job, fence);
	}
	kvfree(syncs);
	return ret;
}

/*
 * Adds the fences of the objects: of their writers, and of their readers where the submission writes. One whose contents are
 * copied in and out is used by one submission after the other, whatever the caller says.
 */
int pbd_add_object_fences(struct pbd_submit *submit)
{
	const bool explicit = submit->args->flags & PATCHBAY_SUBMIT_EXPLICIT;
	struct pbd_job *job = submit->job;
	u32 i;
	int ret = 0;

	for (i = 0; ret == 0 && i < job->object_count; i++) {
		const bool outside = pbd_bo(job->objects[i])->outside;
		enum dma_resv_usage usage = explicit && !outside ? DMA_RESV_USAGE_KERNEL :
								   dma_resv_usage_rw(outside || job->writes[i]);
		struct dma_resv_iter cursor;
		struct dma_fence *fence;

		dma_resv_for_each_fence(&cursor, job->objects[i]->resv, usage, fence) {
			if (ret == 0)
				ret = pbd_add_fence(job, fence, outside);
		}
	}
	return ret;
}

/* Counts the fences that are still waited for. Pre: one more is counted until all callbacks are there. */
void pbd_add_callbacks(struct pbd_job *job)
{
	u32 i;

	for (i = 0; i < job->dep_count; i++) {
		struct pbd_dep *dep = &job->deps[i];

		atomic_inc(&job->waiting);
		dep->added = true;
		if (dma_fence_add_callback(dep->fence, &dep->cb, pbd_dep_done) != 0) {
			dep->added = false;
			atomic_dec(&job->waiting);
		}
	}
}

/* Forgets all fences of a submission that has ended, or was never armed. */
void pbd_job_release_deps(struct pbd_job *job)
{
	u32 i;

	for (i = 0; i < job->dep_count; i++) {
		/* The callback has run, runs no more, or is taken away: it runs under the fence's lock. */
		if (job->deps[i].added)
			dma_fence_remove_callback(job->deps[i].fence, &job->deps[i].cb);
		dma_fence_put(job->deps[i].fence);
	}
	kvfree(job->deps);
	for (i = 0; i < job->awaited_count; i++)
		pbd_queue_put(job->awaited[i]);
}

/* ---- what is signaled ---- */

int pbd_prepare_signals(struct pbd_submit *submit)
{
	const struct drm_patchbay_submit *args = submit->args;
	struct drm_patchbay_sync *syncs = NULL;
	int ret;
	u32 i;

	if (args->out_count == 0)
		return 0;
	submit->signals = kvcalloc(args->out_count, sizeof(*submit->signals), GFP_KERNEL);
	if (!submit->signals)
		return -ENOMEM;
	ret = pbd_copy((void **)&syncs, args->out_syncs, args->out_count, sizeof(*syncs));
	for (i = 0; ret == 0 && i < args->out_count; i++) {
		struct pbd_signal *signal = &submit->signals[i];

		if (syncs[i].flags) {
			ret = -EINVAL;
			break;
		}
		signal->point = syncs[i].point;
		signal->syncobj = drm_syncobj_find(submit->drm_file, syncs[i].handle);
		if (!signal->syncobj) {
			ret = -ENOENT;
			break;
		}
		submit->signal_count++;
		if (signal->point != 0) {
			signal->chain = dma_fence_chain_alloc();
			if (!signal->chain)
				ret = -ENOMEM;
		}
	}
	kvfree(syncs);
	return ret;
}

void pbd_publish_signals(struct pbd_submit *submit, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < submit->signal_count; i++) {
		struct pbd_signal *signal = &submit->signals[i];

		if (signal->chain)
			drm_syncobj_add_point(signal->syncobj, signal->chain, fence, signal->point);
		else
			drm_syncobj_replace_fence(signal->syncobj, fence);
		signal->chain = NULL;
	}
}

void pbd_free_signals(struct pbd_submit *submit)
{
	u32 i;

	for (i = 0; i < submit->signal_count; i++) {
		dma_fence_chain_free(submit->signals[i].chain);
		drm_syncobj_put(submit->signals[i].syncobj);
	}
	kvfree(submit->signals);
}

/* Makes the fence, and its sync_file if one is asked for. */
int pbd_make_fence(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;

	job->fence = pbd_fence_alloc(job->queue);
	if (!job->fence)
		return -ENOMEM;
	pbd_fence_begin(job->queue, job->fence);
	if (!(submit->args->flags & PATCHBAY_SUBMIT_FENCE_OUT))
		return 0;
	submit->fd = get_unused_fd_flags(O_CLOEXEC);
	if (submit->fd < 0)
		return submit->fd;
	submit->sync_file = sync_file_create(&job->fence->base);
	return submit->sync_file ? 0 : -ENOMEM;
}
