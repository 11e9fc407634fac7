// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The capture of relocations: one file, root's, sees each EXECBUFFER2 before and after the firmware has patched it. What
 * is right, that program decides by itself.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "patchbay_i915.h"
#include "pbd_i915.h"

/* How long a submission waits for the file; then the capture ends. */
#define PBD_CAPTURE_JIFFIES (20 * HZ)
#define PBD_CAPTURE_BYTES_MAX (1u << 20)

bool pbd_capture_on(struct pbd_device *dev)
{
	return READ_ONCE(dev->capture.owner) != NULL;
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
 * Shows a submission to the file, and waits until the file asks for the next one, or ends. Consumes the record. Pre: the
 * caller holds `one`, so that one submission at a time is shown.
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
	unsigned long timeout = args->timeout_ns < 0 ? MAX_SCHEDULE_TIMEOUT :
						       nsecs_to_jiffies((u64)args->timeout_ns);
	struct pbd_capture_shown shown;
	long left;
	int ret = READ_ONCE(pbd_device(drm)->removed) ? -ENODEV : pbd_capture_go_on(capture, file);

	if (ret != 0)
		return ret;
	left = wait_event_interruptible_timeout(capture->wait,
						READ_ONCE(capture->shown.record) || READ_ONCE(capture->owner) != file,
						min_t(unsigned long, timeout, MAX_SCHEDULE_TIMEOUT));
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
