// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Objects, by i915's uAPI: those of the driver, and memory of the caller that is copied into them. */
#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>

#include <uapi/drm/i915_drm.h>

#include "pbd_i915.h"

int pbd_i915_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_create *args = data;
	struct drm_patchbay_gem_create create = { .size = args->size };
	int ret = pbd_gem_create_ioctl(drm, &create, file);

	args->size = create.size;
	args->handle = create.handle;
	return ret;
}

/*
 * An object whose contents are memory of the caller. They are copied to card memory by each EXECBUFFER2 that names the
 * object; what is patched there is not copied back.
 */
int pbd_i915_userptr(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_userptr *args = data;
	struct drm_gem_object *object;
	int ret;

	if ((args->flags & ~I915_USERPTR_PROBE) || !PAGE_ALIGNED(args->user_ptr | args->user_size))
		return -EINVAL;
	if (args->user_size == 0 || args->user_size > PBD_I915_USER_BYTES_MAX)
		return args->user_size ? -E2BIG : -EINVAL;
	if (!access_ok(u64_to_user_ptr(args->user_ptr), args->user_size))
		return -EFAULT;
	object = pbd_bo_create(pbd_device(drm), args->user_size, 0);
	if (IS_ERR(object))
		return PTR_ERR(object);
	pbd_bo(object)->user_start = args->user_ptr;
	pbd_bo(object)->user_mm = current->mm;
	mmgrab(current->mm);
	ret = drm_gem_handle_create(file, object, &args->handle);
	drm_gem_object_put(object);
	return ret;
}

int pbd_i915_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_mmap_offset *args = data;
	struct drm_gem_object *object;
	int ret;

	/* Card memory is coherent with the guest's caches: all kinds of mappings are one. */
	if (args->flags > I915_MMAP_OFFSET_UC || args->extensions)
		return -EINVAL;
	object = drm_gem_object_lookup(file, args->handle);
	if (!object)
		return -ENOENT;
	ret = pbd_bo(object)->user_mm ? -ENODEV : drm_gem_create_mmap_offset(object);
	if (ret == 0)
		args->offset = drm_vma_node_offset_addr(&object->vma_node);
	drm_gem_object_put(object);
	return ret;
}

/*
 * Maps a range of an object: DRM core maps from the beginning, and what lies before the range goes again.
 * @return an address, or an error
 */
static unsigned long pbd_i915_map(struct drm_gem_object *object, struct file *file, u64 offset, u64 size)
{
	const u64 end = PAGE_ALIGN(offset + size);
	unsigned long at = vm_mmap(file, 0, end, PROT_READ | PROT_WRITE, MAP_SHARED,
				   drm_vma_node_offset_addr(&object->vma_node));

	if (IS_ERR_VALUE(at) || offset == 0)
		return at;
	vm_munmap(at, offset);
	return at + offset;
}

/* The way to map that is older than MMAP_OFFSET. */
int pbd_i915_mmap(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_mmap *args = data;
	struct drm_gem_object *object;
	int ret = -EINVAL;

	if ((args->flags & ~(u64)I915_MMAP_WC) || args->size == 0 || !PAGE_ALIGNED(args->offset))
		return -EINVAL;
	object = drm_gem_object_lookup(file, args->handle);
	if (!object)
		return -ENOENT;
	if (args->offset < object->size && args->size <= object->size - args->offset)
		ret = pbd_bo(object)->user_mm ? -ENXIO : drm_gem_create_mmap_offset(object);
	if (ret == 0) {
		const unsigned long at = pbd_i915_map(object, file->filp, args->offset, args->size);

		if (IS_ERR_VALUE(at))
			ret = (int)(long)at;
		else
			args->addr_ptr = at;
	}
	drm_gem_object_put(object);
	return ret;
}

/* ---- fences of an object ---- */

/* Waits until the fences of an object have ended. @timeout: jiffies. @return what is left; -ENOENT */
static long pbd_i915_idle(struct drm_file *file, u32 handle, enum dma_resv_usage usage, unsigned long timeout)
{
	struct drm_gem_object *object = drm_gem_object_lookup(file, handle);
	long left;

	if (!object)
		return -ENOENT;
	if (timeout == 0)
		left = dma_resv_test_signaled(object->resv, usage);
	else
		left = dma_resv_wait_timeout(object->resv, usage, true, timeout);
	drm_gem_object_put(object);
	return left;
}

int pbd_i915_busy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_busy *args = data;
	const long idle = pbd_i915_idle(file, args->handle, DMA_RESV_USAGE_READ, 0);

	if (idle < 0)
		return (int)idle;
	/* Readers above bit 16: the render engine. */
	args->busy = idle ? 0 : 1u << 16;
	return 0;
}

int pbd_i915_wait(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_wait *args = data;
	const ktime_t start = ktime_get();
	long left;

	if (args->flags)
		return -EINVAL;
	left = pbd_i915_idle(file, args->bo_handle, DMA_RESV_USAGE_READ, pbd_timeout(args->timeout_ns));
	/* A call that is repeated waits for the rest only. */
	if (args->timeout_ns > 0)
		args->timeout_ns = max_t(s64, 0, args->timeout_ns - ktime_to_ns(ktime_sub(ktime_get(), start)));
	return left < 0 ? (int)left : left == 0 ? -ETIME : 0;
}

int pbd_i915_set_domain(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_i915_gem_set_domain *args = data;
	const u32 known = I915_GEM_DOMAIN_CPU | I915_GEM_DOMAIN_GTT | I915_GEM_DOMAIN_WC;
	long left;

	if ((args->read_domains | args->write_domain) & ~known)
		return -EINVAL;
	if (args->write_domain && args->read_domains != args->write_domain)
		return -EINVAL;
	left = pbd_i915_idle(file, args->handle, dma_resv_usage_rw(args->write_domain != 0), MAX_SCHEDULE_TIMEOUT);
	return left < 0 ? (int)left : 0;
}

/* ---- what is kept, or means nothing here ---- */

/* Tiling is a number that clients tell each other: no aperture detiles. */
int pbd_i915_set_tiling(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_set_tiling *args = data;
	struct drm_gem_object *object;

	if (args->tiling_mode > I915_TILING_Y)
		return -EINVAL;
	if (args->tiling_mode != I915_TILING_NONE && (args->stride == 0 || args->stride % 128))
		return -EINVAL;
	object = drm_gem_object_lookup(file, args->handle);
	if (!object)
		return -ENOENT;
	if (args->tiling_mode == I915_TILING_NONE)
		args->stride = 0;
	args->swizzle_mode = I915_BIT_6_SWIZZLE_NONE;
	WRITE_ONCE(pbd_bo(object)->tiling, args->tiling_mode);
	drm_gem_object_put(object);
	return 0;
}

int pbd_i915_get_tiling(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_get_tiling *args = data;
	struct drm_gem_object *object = drm_gem_object_lookup(file, args->handle);

	if (!object)
		return -ENOENT;
	args->tiling_mode = READ_ONCE(pbd_bo(object)->tiling);
	args->swizzle_mode = I915_BIT_6_SWIZZLE_NONE;
	args->phys_swizzle_mode = I915_BIT_6_SWIZZLE_NONE;
	drm_gem_object_put(object);
	return 0;
}

static int pbd_i915_exists(struct drm_file *file, u32 handle)
{
	struct drm_gem_object *object = drm_gem_object_lookup(file, handle);

	if (!object)
		return -ENOENT;
	drm_gem_object_put(object);
	return 0;
}

int pbd_i915_set_caching(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_i915_gem_caching *args = data;

	return args->caching > I915_CACHING_DISPLAY ? -EINVAL : pbd_i915_exists(file, args->handle);
}

int pbd_i915_get_caching(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_caching *args = data;

	args->caching = I915_CACHING_CACHED;
	return pbd_i915_exists(file, args->handle);
}

int pbd_i915_madvise(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_madvise *args = data;
	struct drm_patchbay_gem_madvise madvise = { .handle = args->handle, .advice = args->madv };
	int ret = pbd_gem_madvise_ioctl(drm, &madvise, file);

	args->retained = madvise.retained;
	return ret;
}
