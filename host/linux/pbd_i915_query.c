// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What i915's clients ask of the device: QUERY, and the file of debugfs by which a test begins on an idle device. */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/uaccess.h>

#include <uapi/drm/i915_drm.h>

#include "pbd_i915.h"

/* Questions of one call. There are six kinds. */
#define PBD_QUERY_ITEMS_MAX 64u

/* ---- QUERY ---- */

/*
 * One region: memory of the system, where all objects may lie, as on the GPU that is presented.
 * @return bytes of the answer
 */
static int pbd_query_regions(const struct drm_i915_query_item *item)
{
	struct drm_i915_query_memory_regions __user *to = u64_to_user_ptr(item->data_ptr);
	const u64 bytes = (u64)totalram_pages() << PAGE_SHIFT;
	const struct drm_i915_memory_region_info region = {
		.region = { I915_MEMORY_CLASS_SYSTEM, 0 },
		.probed_size = bytes,
		.unallocated_size = bytes,
		.probed_cpu_visible_size = bytes,
		.unallocated_cpu_visible_size = bytes,
	};
	struct drm_i915_query_memory_regions head;
	const int length = sizeof(head) + sizeof(region);

	if (item->flags)
		return -EINVAL;
	if (item->length == 0)
		return length;
	if (item->length < length)
		return -EINVAL;
	if (copy_from_user(&head, to, sizeof(head)))
		return -EFAULT;
	if (memchr_inv(&head, 0, sizeof(head)))
		return -EINVAL;
	head.num_regions = 1;
	if (copy_to_user(to, &head, sizeof(head)) || copy_to_user(&to->regions[0], &region, sizeof(region)))
		return -EFAULT;
	return length;
}

/* @return bytes of the answer. Engines are not offered: contexts have none to choose from. */
static int pbd_query_answer(const struct drm_i915_query_item *item)
{
	return item->query_id == DRM_I915_QUERY_MEMORY_REGIONS ? pbd_query_regions(item) : -EINVAL;
}

/* Answers each item by itself: its length is that of the answer, or the error of that item. */
int pbd_i915_query(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_i915_query *args = data;
	struct drm_i915_query_item __user *at = u64_to_user_ptr(args->items_ptr);
	u32 i;

	if (args->flags)
		return -EINVAL;
	if (args->num_items > PBD_QUERY_ITEMS_MAX)
		return -E2BIG;
	for (i = 0; i < args->num_items; i++) {
		struct drm_i915_query_item item;

		if (copy_from_user(&item, &at[i], sizeof(item)))
			return -EFAULT;
		if (item.query_id == 0)
			return -EINVAL;
		if (put_user(pbd_query_answer(&item), &at[i].length))
			return -EFAULT;
	}
	return 0;
}

/* ---- debugfs: i915_gem_drop_caches ---- */

/* Bits of what is written, by the names of i915's driver. Those that reset the GPU do nothing. */
#define PBD_DROP_UNBOUND BIT(0)
#define PBD_DROP_BOUND BIT(1)
#define PBD_DROP_RETIRE BIT(2)
#define PBD_DROP_ACTIVE BIT(3)
#define PBD_DROP_SHRINK_ALL BIT(5)
#define PBD_DROP_IDLE BIT(6)
#define PBD_DROP_ALL GENMASK(9, 0)
#define PBD_DROP_WAITS (PBD_DROP_RETIRE | PBD_DROP_ACTIVE | PBD_DROP_IDLE)
#define PBD_DROP_SHRINKS (PBD_DROP_UNBOUND | PBD_DROP_BOUND | PBD_DROP_SHRINK_ALL)
/* Longest wait for the submissions of all files, as long as i915's. */
#define PBD_DROP_JIFFIES pbd_patience(10 * HZ)

/* Waits until no submission of any file is unfinished. The removal of the device, which waits for this, ends it. */
static int pbd_drop_wait(struct pbd_device *dev)
{
	const unsigned long end = jiffies + PBD_DROP_JIFFIES;

	while (READ_ONCE(dev->jobs) != 0) {
		if (READ_ONCE(dev->removed))
			return -ENODEV;
		if (time_after(jiffies, end))
			return -ETIME;
		if (msleep_interruptible(1))
			return -ERESTARTSYS;
	}
	return 0;
}

static int pbd_drop_get(void *data, u64 *value)
{
	*value = PBD_DROP_ALL;
	return 0;
}

static int pbd_drop_set(void *data, u64 value)
{
	struct pbd_device *dev = data;
	int idx, ret;

	if (value & ~(u64)PBD_DROP_ALL)
		return -EINVAL;
	if (!drm_dev_enter(&dev->drm, &idx))
		return -ENODEV;
	ret = value & PBD_DROP_WAITS ? pbd_drop_wait(dev) : 0;
	if (ret == 0 && (value & PBD_DROP_SHRINKS))
		pbd_purge_all(dev);
	drm_dev_exit(idx);
	return ret;
}

DEFINE_DEBUGFS_ATTRIBUTE(pbd_drop_fops, pbd_drop_get, pbd_drop_set, "0x%08llx\n");

void pbd_i915_debugfs_init(struct drm_minor *minor)
{
	debugfs_create_file_unsafe("i915_gem_drop_caches", 0600, minor->debugfs_root, pbd_device(minor->dev),
				   &pbd_drop_fops);
}
