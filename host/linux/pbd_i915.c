// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The part of i915's uAPI that Mesa's drivers for its generation 7.5 need: parameters, objects, contexts. A context is
 * a queue of the file; context 0 is the queue of the node that draws. Nothing here executes the batch: the firmware
 * patches it (pbd_i915_exec.c).
 */
#include <linux/dma-resv.h>
#include <linux/sched/mm.h>

#include <drm/drm_ioctl.h>
#include <drm/drm_prime.h>
#include <uapi/drm/i915_drm.h>

#include "patchbay_i915.h"
#include "pbd_i915.h"

/* Bytes of the address space that objects are told to have. */
#define PBD_I915_SPACE_BYTES (2ull << 30)
/* Register of the clock that the render engine keeps, as user space reads it: 80 ns. */
#define PBD_I915_TIMESTAMP 0x2358u
#define PBD_I915_TICK_NS 80u
#define PBD_I915_TICKS_PER_S 12500000

/* ---- what the GPU is ---- */

static int pbd_i915_param(int param)
{
	switch (param) {
	case I915_PARAM_CHIPSET_ID:
		return PBD_I915_DEVICE;
	case I915_PARAM_NUM_FENCES_AVAIL:
		return 32;
	case I915_PARAM_HAS_GEM:
	case I915_PARAM_HAS_PAGEFLIPPING:
	case I915_PARAM_HAS_EXECBUF2:
	case I915_PARAM_HAS_BLT:
	case I915_PARAM_HAS_RELAXED_FENCING:
	case I915_PARAM_HAS_COHERENT_RINGS:
	case I915_PARAM_HAS_RELAXED_DELTA:
	case I915_PARAM_HAS_GEN7_SOL_RESET:
	case I915_PARAM_HAS_LLC:
	case I915_PARAM_HAS_ALIASING_PPGTT:
	case I915_PARAM_HAS_WAIT_TIMEOUT:
	case I915_PARAM_HAS_PRIME_VMAP_FLUSH:
	case I915_PARAM_HAS_EXEC_NO_RELOC:
	case I915_PARAM_HAS_EXEC_HANDLE_LUT:
	case I915_PARAM_MMAP_VERSION:
	case I915_PARAM_REVISION:
	case I915_PARAM_HAS_EXEC_ASYNC:
	case I915_PARAM_HAS_EXEC_FENCE:
	case I915_PARAM_HAS_EXEC_CAPTURE:
	case I915_PARAM_HAS_EXEC_BATCH_FIRST:
	case I915_PARAM_HAS_EXEC_FENCE_ARRAY:
	case I915_PARAM_MMAP_GTT_COHERENT:
	case I915_PARAM_HAS_USERPTR_PROBE:
		return 1;
	case I915_PARAM_CMD_PARSER_VERSION:
		return 10;
	case I915_PARAM_MMAP_GTT_VERSION:
		return 4; /* MMAP_OFFSET */
	case I915_PARAM_CS_TIMESTAMP_FREQUENCY:
		return PBD_I915_TICKS_PER_S;
	case I915_PARAM_HAS_BSD:
	case I915_PARAM_HAS_BSD2:
	case I915_PARAM_HAS_VEBOX:
	case I915_PARAM_HAS_OVERLAY:
	case I915_PARAM_HAS_EXEC_CONSTANTS:
	case I915_PARAM_HAS_SEMAPHORES:
	case I915_PARAM_HAS_SECURE_BATCHES:
	case I915_PARAM_HAS_PINNED_BATCHES:
	case I915_PARAM_HAS_WT:
	case I915_PARAM_HAS_GPU_RESET:
	case I915_PARAM_HAS_RESOURCE_STREAMER:
	case I915_PARAM_HAS_EXEC_SOFTPIN:
	case I915_PARAM_HAS_SCHEDULER:
	case I915_PARAM_HAS_CONTEXT_ISOLATION:
	case I915_PARAM_HAS_EXEC_SUBMIT_FENCE:
	case I915_PARAM_HAS_EXEC_TIMELINE_FENCES:
		return 0;
	default:
		return -EINVAL;
	}
}

static int pbd_i915_getparam(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_i915_getparam *args = data;
	const int value = pbd_i915_param(args->param);

	if (value < 0)
		return value;
	return put_user(value, args->value) ? -EFAULT : 0;
}

static int pbd_i915_reg_read(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_reg_read *args = data;

	/* The lowest bits of the register say how it is read. */
	if ((args->offset & ~7ull) != PBD_I915_TIMESTAMP)
		return -EINVAL;
	args->val = ktime_get_ns() / PBD_I915_TICK_NS;
	return 0;
}

/* What one EXECBUFFER2 may name is what fits into card memory together. */
static int pbd_i915_aperture(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct pbd_device *dev = pbd_device(drm);
	struct drm_i915_gem_get_aperture *args = data;
	unsigned int i;

	args->aper_size = 0;
	args->aper_available_size = 0;
	mutex_lock(&dev->vram);
	for (i = 0; i < PBD_REGIONS; i++) {
		if (!dev->regions[i].present)
			continue;
		args->aper_size += dev->regions[i].segment.request.size;
		args->aper_available_size += dev->regions[i].segment.request.size - dev->regions[i].used;
	}
	mutex_unlock(&dev->vram);
	return 0;
}

static int pbd_i915_nothing(struct drm_device *drm, void *data, struct drm_file *file)
{
	return 0;
}

/* ---- objects ---- */

static int pbd_i915_create(struct drm_device *drm, void *data, struct drm_file *file)
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
static int pbd_i915_userptr(struct drm_device *drm, void *data, struct drm_file *file)
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

static int pbd_i915_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file)
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

static int pbd_i915_busy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_busy *args = data;
	const long idle = pbd_i915_idle(file, args->handle, DMA_RESV_USAGE_READ, 0);

	if (idle < 0)
		return (int)idle;
	/* Readers above bit 16: the render engine. */
	args->busy = idle ? 0 : 1u << 16;
	return 0;
}

static int pbd_i915_wait(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_wait *args = data;
	const ktime_t start = ktime_get();
	unsigned long timeout = args->timeout_ns < 0 ? MAX_SCHEDULE_TIMEOUT :
						       nsecs_to_jiffies((u64)args->timeout_ns);
	long left;

	if (args->flags)
		return -EINVAL;
	if (args->timeout_ns > 0 && timeout == 0)
		timeout = 1;
	left = pbd_i915_idle(file, args->bo_handle, DMA_RESV_USAGE_READ,
			     min_t(unsigned long, timeout, MAX_SCHEDULE_TIMEOUT));
	/* A call that is repeated waits for the rest only. */
	if (args->timeout_ns > 0)
		args->timeout_ns = max_t(s64, 0, args->timeout_ns - ktime_to_ns(ktime_sub(ktime_get(), start)));
	return left < 0 ? (int)left : left == 0 ? -ETIME : 0;
}

static int pbd_i915_set_domain(struct drm_device *drm, void *data, struct drm_file *file)
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

/* Tiling is a number that clients tell each other: no aperture detiles. */
static int pbd_i915_set_tiling(struct drm_device *drm, void *data, struct drm_file *file)
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

static int pbd_i915_get_tiling(struct drm_device *drm, void *data, struct drm_file *file)
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

static int pbd_i915_set_caching(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_i915_gem_caching *args = data;

	return args->caching > I915_CACHING_DISPLAY ? -EINVAL : pbd_i915_exists(file, args->handle);
}

static int pbd_i915_get_caching(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_caching *args = data;

	args->caching = I915_CACHING_CACHED;
	return pbd_i915_exists(file, args->handle);
}

/* Nothing is thrown away. */
static int pbd_i915_madvise(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_madvise *args = data;

	args->retained = 1;
	return args->madv > I915_MADV_DONTNEED ? -EINVAL : pbd_i915_exists(file, args->handle);
}

/* ---- contexts ---- */

static u32 pbd_i915_node(const struct pbd_device *dev)
{
	const u32 *capabilities = dev->info.capabilities;
	u32 node;

	for (node = 0; node < capabilities[PB_CAPABILITY_NODES] && node < 8; node++)
		if ((capabilities[PB_CAPABILITY_NODE_KINDS] >> 4 * node & 0xf) == PB_NODE_3D)
			return node;
	return 0;
}

u32 pbd_i915_queue(const struct pbd_device *dev, u32 context)
{
	return context == 0 ? pbd_i915_node(dev) : context;
}

static int pbd_i915_context_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_context_create_ext *args = data;
	struct drm_patchbay_queue_create create = {
		.node = pbd_i915_node(pbd_device(drm)),
		.priority = PATCHBAY_PRIORITY_NORMAL,
	};
	int ret;

	if (args->flags)
		return -EINVAL;
	ret = pbd_queue_create_ioctl(drm, &create, file);
	if (ret == 0)
		args->ctx_id = create.queue;
	return ret;
}

/* Whether the file has the context. Numbers below those of CONTEXT_CREATE are queues of nodes, and no contexts. */
bool pbd_i915_is_context(struct pbd_device *dev, struct drm_file *file, u32 context)
{
	struct pbd_queue *queue;

	if (context == 0)
		return true;
	if (context < dev->info.capabilities[PB_CAPABILITY_NODES])
		return false;
	queue = pbd_queue_get(file->driver_priv, context, false);
	if (!queue)
		return false;
	pbd_queue_put(queue);
	return true;
}

static int pbd_i915_context_exists(struct pbd_device *dev, struct drm_file *file, u32 context)
{
	return pbd_i915_is_context(dev, file, context) ? 0 : -ENOENT;
}

static int pbd_i915_context_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_i915_gem_context_destroy *args = data;
	struct drm_patchbay_queue destroy = { .queue = args->ctx_id };

	if (args->pad || args->ctx_id == 0 || pbd_i915_context_exists(pbd_device(drm), file, args->ctx_id) != 0)
		return args->pad ? -EINVAL : -ENOENT;
	return pbd_queue_destroy_ioctl(drm, &destroy, file);
}

static int pbd_i915_context_getparam(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_i915_gem_context_param *args = data;

	args->size = 0;
	switch (args->param) {
	case I915_CONTEXT_PARAM_GTT_SIZE:
		args->value = PBD_I915_SPACE_BYTES;
		break;
	case I915_CONTEXT_PARAM_PRIORITY:
	case I915_CONTEXT_PARAM_NO_ERROR_CAPTURE:
		args->value = 0;
		break;
	case I915_CONTEXT_PARAM_BANNABLE:
		args->value = 1;
		break;
	case I915_CONTEXT_PARAM_RECOVERABLE:
		args->value = 0;
		break;
	default:
		return -EINVAL;
	}
	return pbd_i915_context_exists(pbd_device(drm), file, args->ctx_id);
}

/* A context keeps its priority, and is lost with its first failure: that is what Mesa asks for. */
static int pbd_i915_context_setparam(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_i915_gem_context_param *args = data;

	if (args->size)
		return -EINVAL;
	switch (args->param) {
	case I915_CONTEXT_PARAM_PRIORITY:
		if (args->value)
			return -ENODEV;
		break;
	case I915_CONTEXT_PARAM_RECOVERABLE:
	case I915_CONTEXT_PARAM_BANNABLE:
	case I915_CONTEXT_PARAM_NO_ERROR_CAPTURE:
		break;
	default:
		return -EINVAL;
	}
	return pbd_i915_context_exists(pbd_device(drm), file, args->ctx_id);
}

static int pbd_i915_reset_stats(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct pbd_device *dev = pbd_device(drm);
	struct drm_i915_reset_stats *args = data;
	struct pbd_queue *queue;

	if (args->flags || args->pad)
		return -EINVAL;
	args->reset_count = 0;
	args->batch_active = 0;
	args->batch_pending = 0;
	queue = pbd_queue_get(file->driver_priv, pbd_i915_queue(dev, args->ctx_id), false);
	if (!queue)
		return args->ctx_id == 0 ? 0 : -ENOENT;
	spin_lock_irq(&dev->state_lock);
	args->batch_active = queue->errors != 0 || queue->lost;
	if (queue->epoch != 0 && (queue->epoch != dev->epoch || dev->state != PBD_UP))
		args->batch_pending = 1;
	spin_unlock_irq(&dev->state_lock);
	pbd_queue_put(queue);
	return 0;
}

/* ---- the driver ---- */

static void pbd_i915_close(struct drm_device *drm, struct drm_file *file)
{
	pbd_capture_close(pbd_device(drm), file);
	pbd_file_close(drm, file);
}

static const struct drm_ioctl_desc pbd_i915_ioctls[] = {
	DRM_IOCTL_DEF_DRV(I915_GETPARAM, pbd_i915_getparam, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_CREATE, pbd_i915_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_USERPTR, pbd_i915_userptr, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_MMAP_OFFSET, pbd_i915_mmap_offset, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_BUSY, pbd_i915_busy, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_WAIT, pbd_i915_wait, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_THROTTLE, pbd_i915_nothing, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_SET_DOMAIN, pbd_i915_set_domain, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_SET_TILING, pbd_i915_set_tiling, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_GET_TILING, pbd_i915_get_tiling, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_SET_CACHING, pbd_i915_set_caching, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_GET_CACHING, pbd_i915_get_caching, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_MADVISE, pbd_i915_madvise, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_GET_APERTURE, pbd_i915_aperture, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_EXECBUFFER2_WR, pbd_i915_exec_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_CONTEXT_CREATE_EXT, pbd_i915_context_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_CONTEXT_DESTROY, pbd_i915_context_destroy, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_CONTEXT_GETPARAM, pbd_i915_context_getparam, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_CONTEXT_SETPARAM, pbd_i915_context_setparam, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GET_RESET_STATS, pbd_i915_reset_stats, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_REG_READ, pbd_i915_reg_read, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(PATCHBAY_CAPTURE_NEXT, pbd_capture_next_ioctl, DRM_RENDER_ALLOW | DRM_ROOT_ONLY),
	DRM_IOCTL_DEF_DRV(PATCHBAY_CAPTURE_MEMORY, pbd_capture_memory_ioctl, DRM_RENDER_ALLOW | DRM_ROOT_ONLY),
};

DEFINE_DRM_GEM_FOPS(pbd_i915_fops);

/* The name and the version are what Mesa's loader asks for. */
const struct drm_driver pbd_i915_driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE | DRIVER_MODESET |
			   DRIVER_ATOMIC,
	.open = pbd_file_open,
	.postclose = pbd_i915_close,
	.dumb_create = pbd_dumb_create,
	.prime_handle_to_fd = drm_gem_prime_handle_to_fd,
	.prime_fd_to_handle = drm_gem_prime_fd_to_handle,
	.ioctls = pbd_i915_ioctls,
	.num_ioctls = ARRAY_SIZE(pbd_i915_ioctls),
	.fops = &pbd_i915_fops,
	.name = "i915",
	.desc = "Patchbay card, by the uAPI of i915",
	.date = "20261123",
	.major = 1,
	.minor = 6,
};

/* Shows the GPU's identity on the PCI device, which Mesa reads from sysfs; or the device's own again. */
void pbd_i915_identity(struct pbd_device *dev, bool shown)
{
	if (shown) {
		dev->own_vendor = dev->pdev->vendor;
		dev->own_device = dev->pdev->device;
		dev->pdev->vendor = PBD_I915_VENDOR;
		dev->pdev->device = PBD_I915_DEVICE;
	} else if (dev->own_vendor) {
		dev->pdev->vendor = dev->own_vendor;
		dev->pdev->device = dev->own_device;
		dev->own_vendor = 0;
	}
}
