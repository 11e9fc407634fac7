// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The capture of relocations: one file, root's, sees each EXECBUFFER2 before and after the firmware has patched it.
 * What is right, that program decides by itself.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "patchbay_i915.h"
#include "pbd_i915_exec.h"

/* How long a submission waits for the file; then the capture ends. */
#define PBD_CAPTURE_JIFFIES pbd_patience(20 * HZ)
#define PBD_CAPTURE_BYTES_MAX BIT(20)

bool pbd_capture_on(struct pbd_device *dev)
{
	return READ_ONCE(dev->capture.owner);
}

/* Drops what is shown; whoever waits for it goes on. Pre: the lock is held. @return the record, to be freed */
static void *pbd_capture_drop(struct pbd_capture *capture)
{
	void *record = capture->shown.record;

	capture->shown.record = NULL;
	capture->waiting = false;
	wake_up_all(&capture->wait);
	return record;
}

/*
 * Shows a submission to the file, and waits until the file asks for the next one, or ends. Consumes the record.
 * Pre: the caller holds `one`, so that one submission at a time is shown.
 */
void pbd_capture_show(struct pbd_device *dev, const struct pbd_capture_shown *shown)
{
	struct pbd_capture *capture = &dev->capture;
	void *record = shown->record;
	long left;

	spin_lock(&capture->lock);
	if (capture->owner) {
		capture->shown = *shown;
		capture->waiting = true;
		capture->number += shown->phase == PATCHBAY_CAPTURE_PLACED;
		record = NULL;
		wake_up_all(&capture->wait);
	}
	spin_unlock(&capture->lock);
	kvfree(record);
	left = wait_event_killable_timeout(capture->wait, !READ_ONCE(capture->waiting), PBD_CAPTURE_JIFFIES);
	if (left > 0)
		return;
	spin_lock(&capture->lock);
	if (left == 0 && capture->waiting) {
		capture->owner = NULL;
		drm_warn(&dev->drm, "the capture ends: its reader does not go on\n");
	}
	record = pbd_capture_drop(capture);
	spin_unlock(&capture->lock);
	kvfree(record);
}

/* Ends the capture. @file: only if it is this file's; NULL: whoever has it */
void pbd_capture_close(struct pbd_device *dev, struct drm_file *file)
{
	struct pbd_capture *capture = &dev->capture;
	void *record = NULL;

	spin_lock(&capture->lock);
	if (!file || capture->owner == file) {
		capture->owner = NULL;
		record = pbd_capture_drop(capture);
	}
	spin_unlock(&capture->lock);
	kvfree(record);
}

/* Lets the submission go on that the file has seen; begins the capture. */
static int pbd_capture_go_on(struct pbd_capture *capture, struct drm_file *file)
{
	int ret = 0;

	spin_lock(&capture->lock);
	if (!capture->owner) {
		capture->owner = file;
		capture->number = 0;
	}
	if (capture->owner != file)
		ret = -EBUSY;
	else if (capture->waiting && !capture->shown.record)
		(void)pbd_capture_drop(capture);
	spin_unlock(&capture->lock);
	return ret;
}

int pbd_capture_next_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct pbd_capture *capture = &pbd_device(drm)->capture;
	struct drm_patchbay_capture_next *args = data;
	struct pbd_capture_shown shown;
	long left;
	int ret = READ_ONCE(pbd_device(drm)->removed) ? -ENODEV : pbd_capture_go_on(capture, file);

	if (ret != 0)
		return ret;
	left = wait_event_interruptible_timeout(capture->wait,
						READ_ONCE(capture->shown.record) || READ_ONCE(capture->owner) != file,
						pbd_timeout(args->timeout_ns));
	if (left <= 0)
		return left < 0 ? (int)left : -ETIME;
	spin_lock(&capture->lock);
	shown = capture->shown;
	args->number = capture->number;
	if (capture->owner != file || !shown.record) {
		ret = -EBUSY;
	} else if (shown.bytes > args->bytes) {
		ret = -ENOSPC;
	} else {
		/* From here on the record is the reader's. */
		capture->shown.record = NULL;
	}
	spin_unlock(&capture->lock);
	if (ret == -ENOSPC)
		args->bytes = shown.bytes;
	if (ret != 0)
		return ret;
	args->bytes = shown.bytes;
	args->phase = shown.phase;
	args->status = shown.status;
	if (copy_to_user(u64_to_user_ptr(args->record), shown.record, shown.bytes))
		ret = -EFAULT;
	kvfree(shown.record);
	return ret;
}

/* Where an address of the engines lies in card memory. Pre: vram is held. @return NULL: not in an object's region */
static u8 *pbd_capture_bytes(struct pbd_device *dev, u64 address, u32 bytes)
{
	unsigned int i;

	for (i = 0; i < PBD_REGIONS; i++) {
		const struct pbd_region *region = &dev->regions[i];
		const u64 base = region->segment.request.gpu_base, size = region->segment.request.size;

		if (region->present && address >= base && address - base <= size && bytes <= size - (address - base))
			return dev->memory + region->segment.memory_offset + (address - base);
	}
	return NULL;
}

/* Pre: a submission is stopped for the file. */
static int pbd_capture_copy(struct pbd_device *dev, const struct drm_patchbay_capture_memory *args, u8 *bounce)
{
	int ret = 0;
	u8 *bytes;

	down_read(&dev->card);
	mutex_lock(&dev->vram);
	bytes = READ_ONCE(dev->state) == PBD_UP ? pbd_capture_bytes(dev, args->address, args->bytes) : NULL;
	if (!bytes)
		ret = -EINVAL;
	else if (args->flags & PATCHBAY_CAPTURE_WRITE)
		memcpy(bytes, bounce, args->bytes);
	else
		memcpy(bounce, bytes, args->bytes);
	mutex_unlock(&dev->vram);
	up_read(&dev->card);
	return ret;
}

int pbd_capture_memory_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct pbd_device *dev = pbd_device(drm);
	const struct drm_patchbay_capture_memory *args = data;
	void __user *user = u64_to_user_ptr(args->data);
	const bool write = args->flags & PATCHBAY_CAPTURE_WRITE;
	u8 *bounce;
	int ret = 0, idx;

	if ((args->flags & ~PATCHBAY_CAPTURE_WRITE) || args->bytes == 0 || args->bytes > PBD_CAPTURE_BYTES_MAX)
		return -EINVAL;
	if (READ_ONCE(dev->capture.owner) != file || !READ_ONCE(dev->capture.waiting))
		return -EBUSY;
	bounce = kvmalloc(args->bytes, GFP_KERNEL);
	if (!bounce)
		return -ENOMEM;
	if (write && copy_from_user(bounce, user, args->bytes))
		ret = -EFAULT;
	if (ret == 0)
		ret = drm_dev_enter(drm, &idx) ? 0 : -ENODEV;
	if (ret == 0) {
		ret = pbd_capture_copy(dev, args, bounce);
		drm_dev_exit(idx);
	}
	if (ret == 0 && !write && copy_to_user(user, bounce, args->bytes))
		ret = -EFAULT;
	kvfree(bounce);
	return ret;
}

/* ---- a submission under capture ---- */

static void pbd_exec_put(u8 **to, const u32 *words, unsigned int count)
{
	memcpy(*to, words, count * sizeof(*words));
	*to += count * sizeof(*words);
}

static void pbd_exec_put_objects(struct pbd_exec *exec, u8 **to)
{
	u32 i;

	for (i = 0; i < exec->count; i++) {
		const struct drm_i915_gem_exec_object2 *object = &exec->objects[i];
		const u64 size = exec->submit.job->listed[i]->size;
		const u64 presumed = exec->presumed[i];
		const u32 words[10] = {
			object->handle, (u32)object->flags, lower_32_bits(size), upper_32_bits(size),
			lower_32_bits(object->alignment), upper_32_bits(object->alignment),
			lower_32_bits(presumed), upper_32_bits(presumed),
			lower_32_bits(object->offset), upper_32_bits(object->offset),
		};

		pbd_exec_put(to, words, ARRAY_SIZE(words));
	}
}

static void pbd_exec_put_relocs(struct pbd_exec *exec, u8 **to)
{
	u32 i, j, next = 0;

	for (i = 0; i < exec->count; i++) {
		for (j = 0; j < exec->objects[i].relocation_count; j++, next++) {
			const struct drm_i915_gem_relocation_entry *reloc = &exec->relocs[next];
			const u32 words[10] = {
				i, reloc->target_handle, lower_32_bits(reloc->offset), upper_32_bits(reloc->offset),
				reloc->delta, reloc->read_domains, reloc->write_domain, sizeof(u32),
				lower_32_bits(reloc->presumed_offset), upper_32_bits(reloc->presumed_offset),
			};

			pbd_exec_put(to, words, ARRAY_SIZE(words));
		}
	}
}

/* Shows the submission to the file that captures, as tests/data/README.txt describes it. */
static int pbd_exec_show(struct pbd_exec *exec, u32 phase, int status)
{
	struct pbd_capture_shown shown = {
		.bytes = 48 + 40 * (exec->count + exec->reloc_count), .phase = phase, .status = status,
	};
	const u32 words[12] = {
		shown.bytes, exec->count, exec->reloc_count, 0, exec->batch, exec->user->batch_start_offset,
		exec->user->batch_len, (u32)exec->user->rsvd1, lower_32_bits(exec->user->flags),
		upper_32_bits(exec->user->flags), 0, (u32)task_tgid_nr(current),
	};
	u8 *to;

	shown.record = kvmalloc(shown.bytes, GFP_KERNEL);
	if (!shown.record)
		return -ENOMEM;
	to = shown.record;
	pbd_exec_put(&to, words, ARRAY_SIZE(words));
	pbd_exec_put_objects(exec, &to);
	pbd_exec_put_relocs(exec, &to);
	pbd_capture_show(exec->submit.dev, &shown);
	return 0;
}

/* Places all objects, and holds them there, so that their addresses are those that will be patched. */
static int pbd_exec_pin_reserved(struct pbd_exec *exec)
{
	struct pbd_job *job = exec->submit.job;
	u32 i;
	int ret = pbd_exec_place(exec);

	if (ret == 0)
		ret = pbd_exec_write_contents(exec);
	for (i = 0; ret == 0 && i < job->object_count; i++)
		atomic_inc(&pbd_bo(job->objects[i])->pins);
	if (ret == 0)
		pbd_exec_set_lists(exec);
	return ret;
}

static void pbd_exec_unpin(struct pbd_exec *exec)
{
	u32 i;

	for (i = 0; i < exec->submit.job->object_count; i++)
		pbd_bo_unpin(exec->submit.job->objects[i]);
}

/*
 * Submits, and shows the state before and after it. Pre: the objects are pinned. What is shown must not fail the call:
 * the submission is on its way.
 */
static int pbd_exec_pinned(struct pbd_exec *exec)
{
	struct dma_fence *fence;
	int ret = pbd_exec_idle(exec);

	if (ret == 0)
		ret = pbd_exec_show(exec, PATCHBAY_CAPTURE_PLACED, 0);
	if (ret == 0)
		ret = pbd_exec_locked(exec, pbd_exec_reserved);
	if (ret != 0)
		return ret;
	fence = &exec->submit.job->fence->base;
	(void)dma_fence_wait(fence, false);
	(void)pbd_exec_show(exec, PATCHBAY_CAPTURE_DONE, min(dma_fence_get_status(fence), 0));
	return 0;
}

/* One at a time. */
int pbd_exec_captured(struct pbd_exec *exec)
{
	struct pbd_capture *capture = &exec->submit.dev->capture;
	int ret = mutex_lock_interruptible(&capture->one);

	if (ret != 0)
		return ret;
	ret = pbd_exec_locked(exec, pbd_exec_pin_reserved);
	if (ret == 0) {
		ret = pbd_exec_pinned(exec);
		pbd_exec_unpin(exec);
	}
	mutex_unlock(&capture->one);
	return ret;
}
