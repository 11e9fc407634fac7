// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * EXECBUFFER2: one patched submission that executes nothing. Its DMA buffer reaches from the first to the last object
 * that has relocations; each relocation is an entry of the patch list, each object one of the allocation list. An
 * object may have moved since its last use: what the caller presumes of addresses is not believed, so that all is
 * patched.
 */
#include <linux/dma-resv.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "pbd_i915_exec.h"

#define PBD_EXEC_FLAGS                                                                                       \
	(I915_EXEC_RING_MASK | I915_EXEC_GEN7_SOL_RESET | I915_EXEC_IS_PINNED | I915_EXEC_NO_RELOC |         \
	 I915_EXEC_HANDLE_LUT | I915_EXEC_FENCE_IN | I915_EXEC_FENCE_OUT | I915_EXEC_BATCH_FIRST |           \
	 I915_EXEC_FENCE_ARRAY)

static int pbd_exec_check_args(const struct drm_i915_gem_execbuffer2 *user)
{
	const u32 ring = user->flags & I915_EXEC_RING_MASK;
	const bool fences = user->flags & I915_EXEC_FENCE_ARRAY;

	if (user->flags & I915_EXEC_SECURE)
		return -EPERM;
	if ((user->flags & ~(u64)PBD_EXEC_FLAGS) || user->DR1 || user->DR4)
		return -EINVAL;
	if (ring != I915_EXEC_DEFAULT && ring != I915_EXEC_RENDER && ring != I915_EXEC_BLT)
		return -EINVAL;
	if ((user->batch_start_offset | user->batch_len) & 7 || user->buffer_count == 0)
		return -EINVAL;
	if (!fences && (user->num_cliprects || user->cliprects_ptr))
		return -EINVAL;
	if (!(user->flags & (I915_EXEC_FENCE_IN | I915_EXEC_FENCE_OUT)) && user->rsvd2)
		return -EINVAL;
	if (user->rsvd1 & ~(u64)I915_EXEC_CONTEXT_ID_MASK)
		return -EINVAL;
	return fences && user->num_cliprects > PBD_SYNCS_MAX ? -E2BIG : 0;
}

/* ---- fences ---- */

static int pbd_exec_take_fence(struct pbd_exec *exec, const struct drm_i915_gem_exec_fence *user)
{
	struct pbd_submit *submit = &exec->submit;
	struct dma_fence *fence;
	int ret = 0;

	if (user->flags & __I915_EXEC_FENCE_UNKNOWN_FLAGS)
		return -EINVAL;
	if (user->flags & I915_EXEC_FENCE_WAIT) {
		ret = drm_syncobj_find_fence(submit->drm_file, user->handle, 0, 0, &fence);
		if (ret == 0)
			ret = pbd_add_fences(submit->job, fence);
	}
	if (ret == 0 && (user->flags & I915_EXEC_FENCE_SIGNAL)) {
		struct pbd_signal *signal = &submit->signals[submit->signal_count];

		signal->syncobj = drm_syncobj_find(submit->drm_file, user->handle);
		if (!signal->syncobj)
			return -ENOENT;
		submit->signal_count++;
	}
	return ret;
}

static int pbd_exec_take_fences(struct pbd_exec *exec)
{
	const struct drm_i915_gem_execbuffer2 *user = exec->user;
	const u32 count = user->flags & I915_EXEC_FENCE_ARRAY ? user->num_cliprects : 0;
	struct drm_i915_gem_exec_fence *fences;
	u32 i;
	int ret = 0;

	if (user->flags & I915_EXEC_FENCE_IN) {
		struct dma_fence *fence = sync_file_get_fence((int)lower_32_bits(user->rsvd2));

		ret = fence ? pbd_add_fences(exec->submit.job, fence) : -EINVAL;
	}
	if (ret != 0 || count == 0)
		return ret;
	fences = kvmalloc_array(count, sizeof(*fences), GFP_KERNEL);
	exec->submit.signals = kvcalloc(count, sizeof(*exec->submit.signals), GFP_KERNEL);
	if (!fences || !exec->submit.signals)
		ret = -ENOMEM;
	else if (copy_from_user(fences, u64_to_user_ptr(user->cliprects_ptr), count * sizeof(*fences)))
		ret = -EFAULT;
	for (i = 0; ret == 0 && i < count; i++)
		ret = pbd_exec_take_fence(exec, &fences[i]);
	kvfree(fences);
	return ret;
}

/* ---- the way of a submission ---- */

/* Pre: validate, card for reading, the reservations of all objects. */
int pbd_exec_reserved(struct pbd_exec *exec)
{
	struct pbd_submit *submit = &exec->submit;
	struct pbd_job *job = submit->job;
	u32 i;
	int ret = pbd_exec_place(exec);

	if (ret == 0)
		ret = pbd_exec_write_contents(exec);
	for (i = 0; ret == 0 && i < job->object_count; i++)
		ret = dma_resv_reserve_fences(job->objects[i]->resv, 1);
	if (ret == 0)
		ret = pbd_add_object_fences(submit);
	if (ret == 0)
		ret = pbd_make_fence(submit);
	if (ret != 0)
		return ret;
	pbd_exec_set_lists(exec);
	ret = pbd_address_lists(submit);
	return ret != 0 ? ret : pbd_publish(submit);
}

/* Does a step under the locks of a submission. */
static int pbd_exec_try(struct pbd_submit *submit)
{
	struct pbd_exec *exec = container_of(submit, struct pbd_exec, submit);
	struct pbd_device *dev = submit->dev;
	struct pbd_job *job = submit->job;
	int ret = pbd_lock_validate(submit);

	if (ret != 0)
		return ret;
	down_read(&dev->card);
	ret = pbd_queue_make(job->queue);
	if (ret == 0)
		ret = drm_gem_lock_reservations(job->objects, (int)job->object_count, &submit->ticket);
	if (ret == 0) {
		ret = exec->step(exec);
		drm_gem_unlock_reservations(job->objects, (int)job->object_count, &submit->ticket);
	}
	up_read(&dev->card);
	mutex_unlock(&dev->validate);
	return ret;
}

/* The same; where memory of the caller is copied, when its objects are idle. */
int pbd_exec_locked(struct pbd_exec *exec, int (*step)(struct pbd_exec *exec))
{
	int ret;

	exec->step = step;
	do {
		exec->in_use = false;
		ret = exec->has_contents ? pbd_exec_idle(exec) : 0;
		if (ret == 0)
			ret = pbd_with_room(&exec->submit, pbd_exec_try);
	} while (exec->in_use);
	return ret;
}

static int pbd_exec_prepared(struct pbd_exec *exec)
{
	int ret = pbd_charge(exec->submit.job);

	if (ret != 0)
		return ret;
	return pbd_capture_on(exec->submit.dev) ? pbd_exec_captured(exec) : pbd_exec_locked(exec, pbd_exec_reserved);
}

static int pbd_exec_prepare(struct pbd_exec *exec, struct drm_file *file)
{
	int ret = pbd_exec_copy_objects(exec);

	if (ret == 0)
		ret = pbd_exec_copy_relocs(exec);
	if (ret == 0)
		ret = pbd_exec_look_up(exec, file);
	if (ret == 0)
		ret = pbd_exec_check_batch(exec);
	if (ret == 0)
		ret = pbd_exec_check_relocs(exec);
	if (ret == 0)
		ret = pbd_exec_copy_contents(exec);
	if (ret == 0)
		ret = pbd_exec_take_fences(exec);
	return ret;
}

/* Tells the caller the addresses, which are valid until an object moves, and the fence. */
static void pbd_exec_tell(const struct pbd_exec *exec)
{
	struct drm_i915_gem_exec_object2 __user *to = u64_to_user_ptr(exec->user->buffers_ptr);
	u32 i;

	if (exec->user->flags & I915_EXEC_FENCE_OUT)
		exec->user->rsvd2 = (u64)(u32)exec->args.out_fence_fd << 32 | lower_32_bits(exec->user->rsvd2);
	for (i = 0; i < exec->count; i++)
		if (put_user(exec->objects[i].offset, &to[i].offset))
			return;
}

static void pbd_exec_free(struct pbd_exec *exec)
{
	kvfree(exec->objects);
	kvfree(exec->presumed);
	pbd_exec_free_contents(exec);
	kvfree(exec->relocs);
	pbd_submit_free(&exec->submit);
}

static int pbd_exec_run(struct pbd_exec *exec, struct drm_file *file)
{
	struct drm_i915_gem_execbuffer2 *user = exec->user;
	struct pbd_device *dev = exec->submit.dev;
	int ret;

	if (user->buffer_count > dev->info.capabilities[PB_CAPABILITY_ALLOCATIONS_MAX])
		return -E2BIG;
	exec->count = user->buffer_count;
	exec->args.flags = PATCHBAY_SUBMIT_PATCH;
	exec->args.allocation_count = exec->count;
	if (user->flags & I915_EXEC_FENCE_OUT)
		exec->args.flags |= PATCHBAY_SUBMIT_FENCE_OUT;
	if (user->rsvd1 != 0 && !pbd_i915_is_context(dev, file, (u32)user->rsvd1))
		return -ENOENT;
	exec->submit.job = pbd_job_make(dev, file->driver_priv, pbd_i915_queue(dev, (u32)user->rsvd1));
	if (IS_ERR(exec->submit.job))
		return PTR_ERR(exec->submit.job);
	ret = pbd_exec_prepare(exec, file);
	if (ret == 0)
		ret = pbd_exec_prepared(exec);
	if (ret == 0)
		pbd_exec_tell(exec);
	pbd_exec_free(exec);
	return ret;
}

int pbd_i915_exec_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct pbd_exec *exec;
	int idx, ret = pbd_exec_check_args(data);

	if (ret != 0)
		return ret;
	exec = kzalloc(sizeof(*exec), GFP_KERNEL);
	if (!exec)
		return -ENOMEM;
	exec->user = data;
	exec->submit.dev = pbd_device(drm);
	exec->submit.drm_file = file;
	exec->submit.args = &exec->args;
	exec->submit.fd = -1;
	ret = -ENODEV;
	if (drm_dev_enter(drm, &idx)) {
		ret = pbd_exec_run(exec, file);
		drm_dev_exit(idx);
	}
	kfree(exec);
	return ret;
}
