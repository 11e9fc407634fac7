// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Objects: how they are made, mapped, asked about and freed. Where one lies, pbd_vram.c and pbd_evict.c decide. */
#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>

#include <drm/drm_vma_manager.h>

#include "pbd_drv.h"
#include "pbd_live.h"

/* Largest object: more than any card has. */
#define PBD_BO_BYTES_MAX (256ull << 20)

/* ---- mmap ---- */

static vm_fault_t pbd_bo_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct pbd_bo *bo = pbd_bo(vma->vm_private_data);
	struct pbd_device *dev = pbd_device(bo->base.dev);
	/* A mapping may show a part of the object: of a dma_buf from any page on, or what munmap has left. */
	unsigned long page = vmf->pgoff - drm_vma_node_start(&bo->base.vma_node);
	vm_fault_t fault = VM_FAULT_SIGBUS;
	unsigned long pfn;
	int ret = 0, idx;

	if (page >= bo->base.size >> PAGE_SHIFT || !drm_dev_enter(&dev->drm, &idx))
		return VM_FAULT_SIGBUS;
	if (dma_resv_lock_interruptible(bo->base.resv, NULL) != 0) {
		drm_dev_exit(idx);
		return VM_FAULT_NOPAGE;
	}
	if (!bo->region && !bo->pages)
		ret = bo->flags & PATCHBAY_GEM_HOST ? -ENOSPC : pbd_bo_place(dev, bo, NULL);
	if (ret == 0)
		ret = pbd_bo_settle(bo, true);
	if (ret == -ENOSPC) {
		ret = pbd_bo_get_pages(bo);
		bo->touched = true;
	}
	if (ret == -ENOMEM)
		fault = VM_FAULT_OOM;
	if (ret == -ERESTARTSYS)
		fault = VM_FAULT_NOPAGE;
	if (ret == 0) {
		pfn = pbd_bo_in_vram(bo) && !bo->outside ?
				   (unsigned long)((dev->memory_start + bo->region->segment.memory_offset +
						    bo->node.start) >> PAGE_SHIFT) + page :
				   page_to_pfn(bo->pages[page]);
		fault = vmf_insert_pfn(vma, vmf->address, pfn);
	}
	dma_resv_unlock(bo->base.resv);
	drm_dev_exit(idx);
	return fault;
}

static const struct vm_operations_struct pbd_vm_ops = {
	.fault = pbd_bo_fault,
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
};

/* Card memory is coherent with the guest's caches: the device is memory of the machine below. */
static int pbd_bo_mmap(struct drm_gem_object *object, struct vm_area_struct *vma)
{
	if (object->import_attach)
		return pbd_prime_mmap(pbd_bo(object), vma);
	if (is_cow_mapping(vma->vm_flags))
		return -EINVAL;
	vma->vm_flags |= VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP;
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	vma->vm_ops = &pbd_vm_ops;
	return 0;
}

/* ---- create and free ---- */

static void pbd_bo_free(struct drm_gem_object *object)
{
	struct pbd_bo *bo = pbd_bo(object);
	struct pbd_device *dev = pbd_device(object->dev);

	atomic_dec(&pbd_live[PBD_LIVE_OBJECTS]);
	mutex_lock(&dev->vram);
	pbd_bo_leave(bo);
	mutex_unlock(&dev->vram);
	dma_fence_put(bo->move);
	if (object->import_attach) {
		pbd_prime_free_later(dev, bo);
		return;
	}
	pbd_bo_let_pages(bo);
	if (bo->user_mm)
		mmdrop(bo->user_mm);
	drm_gem_object_release(object);
	kfree(bo);
}

static const struct drm_gem_object_funcs pbd_bo_funcs = {
	.free = pbd_bo_free,
	.mmap = pbd_bo_mmap,
	.pin = pbd_bo_pin,
	.unpin = pbd_bo_detach,
	.get_sg_table = pbd_bo_sg_table,
	.vmap = pbd_bo_vmap,
	.vunmap = pbd_bo_vunmap,
	.vm_ops = &pbd_vm_ops,
};

static struct pbd_bo *pbd_bo_alloc(u64 size, u32 flags)
{
	struct pbd_bo *bo;

	if (size == 0 || size > PBD_BO_BYTES_MAX)
		return ERR_PTR(-EINVAL);
	bo = kzalloc(sizeof(*bo), GFP_KERNEL);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->base.funcs = &pbd_bo_funcs;
	bo->flags = flags;
	INIT_LIST_HEAD(&bo->lru);
	INIT_LIST_HEAD(&bo->paged);
	INIT_LIST_HEAD(&bo->claim);
	return bo;
}

/* Creates an object without memory. */
struct drm_gem_object *pbd_bo_create(struct pbd_device *dev, u64 size, u32 flags)
{
	struct pbd_bo *bo = pbd_bo_alloc(size, flags);
	int ret;

	if (IS_ERR(bo))
		return ERR_CAST(bo);
	ret = drm_gem_object_init(&dev->drm, &bo->base, round_up(size, PAGE_SIZE));
	if (ret != 0) {
		kfree(bo);
		return ERR_PTR(ret);
	}
	atomic_inc(&pbd_live[PBD_LIVE_OBJECTS]);
	return &bo->base;
}

/* Creates an object whose memory is another driver's. */
struct drm_gem_object *pbd_bo_wrap(struct pbd_device *dev, u64 size)
{
	struct pbd_bo *bo = pbd_bo_alloc(size, 0);

	if (IS_ERR(bo))
		return ERR_CAST(bo);
	drm_gem_private_object_init(&dev->drm, &bo->base, size);
	atomic_inc(&pbd_live[PBD_LIVE_OBJECTS]);
	return &bo->base;
}

static int pbd_bo_create_handle(struct pbd_device *dev, struct drm_file *file, u64 *size, u32 flags, u32 *handle)
{
	struct drm_gem_object *object = pbd_bo_create(dev, *size, flags);
	int ret;

	if (IS_ERR(object))
		return PTR_ERR(object);
	*size = object->size;
	ret = drm_gem_handle_create(file, object, handle);
	drm_gem_object_put(object);
	return ret;
}

/* ---- ioctls ---- */

int pbd_gem_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_patchbay_gem_create *args = data;

	if (args->flags & ~(PATCHBAY_GEM_PATCHABLE | PATCHBAY_GEM_HOST))
		return -EINVAL;
	return pbd_bo_create_handle(pbd_device(drm), file, &args->size, args->flags, &args->handle);
}

int pbd_dumb_create(struct drm_file *file, struct drm_device *drm, struct drm_mode_create_dumb *args)
{
	u64 pitch = DIV_ROUND_UP_ULL((u64)args->width * args->bpp, 8);

	pitch = round_up(pitch, 64);
	if (args->flags || pitch == 0 || pitch > U32_MAX || args->height == 0)
		return -EINVAL;
	args->pitch = (u32)pitch;
	args->size = pitch * args->height;
	return pbd_bo_create_handle(pbd_device(drm), file, &args->size, 0, &args->handle);
}

int pbd_gem_info_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_patchbay_gem_info *args = data;
	struct drm_gem_object *object;
	struct pbd_bo *bo;
	int ret;

	if (args->flags || args->pad)
		return -EINVAL;
	object = drm_gem_object_lookup(file, args->handle);
	if (!object)
		return -ENOENT;
	bo = pbd_bo(object);
	ret = drm_gem_create_mmap_offset(object);
	if (ret == 0)
		ret = dma_resv_lock_interruptible(object->resv, NULL);
	if (ret == 0) {
		/* Whether a move has lost the contents. */
		if (bo->move && dma_fence_is_signaled(bo->move))
			(void)pbd_bo_settle(bo, false);
		args->flags = bo->lost ? PATCHBAY_GEM_LOST : 0;
		bo->lost = false;
		args->place = pbd_bo_in_vram(bo) ? PATCHBAY_PLACE_VRAM :
			      bo->region ? PATCHBAY_PLACE_HOST :
			      bo->stored || bo->outside ? PATCHBAY_PLACE_SYSTEM :
					   PATCHBAY_PLACE_NONE;
		args->address = bo->region ? pbd_bo_gpu_address(bo) : 0;
		args->size = object->size;
		args->offset = drm_vma_node_offset_addr(&object->vma_node);
		dma_resv_unlock(object->resv);
	}
	drm_gem_object_put(object);
	return ret;
}

int pbd_gem_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_patchbay_gem_wait *args = data;
	struct drm_gem_object *object;
	long left;

	if (args->flags & ~1)
		return -EINVAL;
	object = drm_gem_object_lookup(file, args->handle);
	if (!object)
		return -ENOENT;
	left = dma_resv_wait_timeout(object->resv,
				     args->flags & 1 ? DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ, true,
				     pbd_timeout(args->timeout_ns));
	drm_gem_object_put(object);
	return left < 0 ? (int)left : left == 0 ? -ETIME : 0;
}
