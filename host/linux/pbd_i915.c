// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The part of i915's uAPI that Mesa's drivers for its generation 7.5 need: parameters and contexts; objects are in
 * pbd_i915_gem.c. A context is a queue of the file; context 0 is the queue of the node that draws. Nothing here executes
 * the batch: the firmware patches it (pbd_i915_exec.c).
 */
#include <drm/drm_ioctl.h>
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

/* Clients copy through a mapping instead, as on GPUs with memory of their own. */
static int pbd_i915_no_copies(struct drm_device *drm, void *data, struct drm_file *file)
{
	return -EOPNOTSUPP;
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
	DRM_IOCTL_DEF_DRV(I915_GEM_PREAD, pbd_i915_no_copies, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_PWRITE, pbd_i915_no_copies, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_GEM_MMAP, pbd_i915_mmap, DRM_RENDER_ALLOW),
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
	DRM_IOCTL_DEF_DRV(I915_QUERY, pbd_i915_query, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(I915_REG_READ, pbd_i915_reg_read, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(PATCHBAY_CAPTURE_NEXT, pbd_capture_next_ioctl, DRM_RENDER_ALLOW | DRM_ROOT_ONLY),
	DRM_IOCTL_DEF_DRV(PATCHBAY_CAPTURE_MEMORY, pbd_capture_memory_ioctl, DRM_RENDER_ALLOW | DRM_ROOT_ONLY),
};

/* The name and the version are what Mesa's loader asks for. */
const struct drm_driver pbd_i915_driver = {
	PBD_DRIVER_COMMON,
	.postclose = pbd_i915_close,
	.ioctls = pbd_i915_ioctls,
	.num_ioctls = ARRAY_SIZE(pbd_i915_ioctls),
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
