// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Objects. One lies in VRAM, in pages of the system, or has no memory yet. It is moved to VRAM by a submission that
 * names it, and out of VRAM when another object needs the room. Whoever moves it holds its reservation, so that mmap
 * finds it in one place; its fences have been waited for.
 */
#include <linux/delay.h>
#include <linux/dma-resv.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/shmem_fs.h>

#include <drm/drm_cache.h>
#include <drm/drm_vma_manager.h>

#include "pbd_drv.h"

/* Largest object: more than any card has. */
#define PBD_BO_BYTES_MAX (256ull << 20)
/* Rounds in search of an object to evict, while others hold them for a moment. */
#define PBD_EVICT_ROUNDS 50

static u8 *pbd_bo_bytes(struct pbd_device *dev, struct pbd_bo *bo)
{
	return dev->memory + bo->region->segment.memory_offset + bo->node.start;
}

u64 pbd_bo_os_address(const struct pbd_bo *bo)
{
	return bo->region->segment.request.os_base + bo->node.start;
}

/* Where the object begins, from the start of card memory. Pre: it is in VRAM. */
u32 pbd_bo_memory_offset(const struct pbd_bo *bo)
{
	return bo->region->segment.memory_offset + (u32)bo->node.start;
}

/* Lets an object move again that pbd_blit_prepare() has pinned. */
void pbd_bo_unpin(struct drm_gem_object *object)
{
	dma_resv_lock(object->resv, NULL);
	pbd_bo(object)->pins--;
	dma_resv_unlock(object->resv);
}

/* Takes user mappings away: the next access faults, and finds the object where it lies then. */
static void pbd_bo_unmap(struct pbd_device *dev, struct pbd_bo *bo)
{
	drm_vma_node_unmap(&bo->base.vma_node, dev->drm.anon_inode->i_mapping);
}

/* ---- pages of the system ---- */

int pbd_bo_get_pages(struct pbd_bo *bo)
{
	struct page **pages;

	if (bo->pages)
		return 0;
	pages = drm_gem_get_pages(&bo->base);
	if (IS_ERR(pages))
		return PTR_ERR(pages);
	bo->pages = pages;
	return 0;
}

/* Frees the pages; their contents are elsewhere, or matter no more. */
static void pbd_bo_drop_pages(struct pbd_bo *bo)
{
	if (!bo->pages)
		return;
	drm_gem_put_pages(&bo->base, bo->pages, false, false);
	bo->pages = NULL;
	shmem_truncate_range(file_inode(bo->base.filp), 0, (loff_t)-1);
}

static void pbd_bo_copy(struct pbd_bo *bo, u8 *vram, bool to_vram)
{
	unsigned long i;

	for (i = 0; i < bo->base.size >> PAGE_SHIFT; i++, vram += PAGE_SIZE) {
		u8 *page = kmap_local_page(bo->pages[i]);

		if (to_vram)
			memcpy(vram, page, PAGE_SIZE);
		else
			memcpy(page, vram, PAGE_SIZE);
		kunmap_local(page);
	}
}

/* ---- VRAM ---- */

/* Gives back the object's room. Pre: vram is held. */
static void pbd_bo_leave(struct pbd_bo *bo)
{
	if (!bo->region)
		return;
	bo->region->used -= bo->node.size;
	drm_mm_remove_node(&bo->node);
	list_del_init(&bo->lru);
	bo->region = NULL;
}

/* Takes room in a region, if there is some. Pre: resv is held. */
static int pbd_bo_enter(struct pbd_device *dev, struct pbd_bo *bo, unsigned int index)
{
	struct pbd_region *region = &dev->regions[index];
	int ret = -ENOSPC;

	mutex_lock(&dev->vram);
	if (region->present && bo->base.size <= region->segment.request.size)
		ret = drm_mm_insert_node_generic(&region->mm, &bo->node, bo->base.size, PAGE_SIZE, 0,
						 DRM_MM_INSERT_BEST);
	if (ret == 0) {
		bo->region = region;
		region->used += bo->node.size;
		list_add_tail(&bo->lru, &dev->lru);
	}
	mutex_unlock(&dev->vram);
	return ret;
}

/* Marks an object in VRAM as used last. */
void pbd_bo_used(struct pbd_device *dev, struct pbd_bo *bo)
{
	mutex_lock(&dev->vram);
	if (bo->region)
		list_move_tail(&bo->lru, &dev->lru);
	mutex_unlock(&dev->vram);
}

/* ---- claims: objects that leave VRAM as soon as they are idle ---- */

/* Whether the object waits to leave. No submission but the claimant's may use it until then. */
bool pbd_bo_is_claimed(struct pbd_device *dev, struct pbd_bo *bo)
{
	bool claimed;

	mutex_lock(&dev->vram);
	claimed = !list_empty(&bo->claim);
	mutex_unlock(&dev->vram);
	return claimed;
}

/* Claims a busy object. Pre: the caller holds a reference to it, and `claim` if the room says so. @return -EAGAIN */
static int pbd_claim(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room)
{
	if (!room->claims && !room->alone)
		return -EAGAIN;
	mutex_lock(&dev->vram);
	if (room->claims && list_empty(&bo->claim)) {
		drm_gem_object_get(&bo->base);
		list_add_tail(&bo->claim, &dev->claims);
	}
	mutex_unlock(&dev->vram);
	drm_gem_object_get(&bo->base);
	room->busy = bo;
	return -EAGAIN;
}

/* Lets all claimed objects be used again. Pre: `claim` is held. */
void pbd_claims_end(struct pbd_device *dev)
{
	mutex_lock(&dev->vram);
	while (!list_empty(&dev->claims)) {
		struct pbd_bo *bo = list_first_entry(&dev->claims, struct pbd_bo, claim);

		list_del_init(&bo->claim);
		mutex_unlock(&dev->vram);
		drm_gem_object_put(&bo->base);
		mutex_lock(&dev->vram);
	}
	mutex_unlock(&dev->vram);
}

/* ---- who leaves for whom ---- */

/*
 * Moves an object out of VRAM. Pre: resv is held.
 * @return -EAGAIN: it is busy; `room` says what to do
 */
int pbd_bo_evict(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room)
{
	int ret;

	if (!bo->region)
		return 0;
	if (bo->pins || bo->kmaps)
		return -EBUSY;
	if (!dma_resv_test_signaled(bo->base.resv, DMA_RESV_USAGE_BOOKKEEP))
		return pbd_claim(dev, bo, room);
	ret = pbd_bo_get_pages(bo);
	if (ret != 0)
		return ret;
	pbd_bo_unmap(dev, bo);
	pbd_bo_copy(bo, pbd_bo_bytes(dev, bo), false);
	mutex_lock(&dev->vram);
	pbd_bo_leave(bo);
	dev->evictions++;
	mutex_unlock(&dev->vram);
	return 0;
}

/* How long an object may have to be waited for. */
enum pbd_patience {
	PBD_IDLE,  /* not at all */
	PBD_SOON,  /* until the engine has done what is in the rings */
	PBD_LATER, /* also for fences of others */
	PBD_PATIENCES,
};

static enum pbd_patience pbd_bo_patience(struct pbd_device *dev, struct pbd_bo *bo)
{
	enum pbd_patience most = PBD_IDLE;
	struct dma_resv_iter cursor;
	struct dma_fence *fence;

	dma_resv_for_each_fence(&cursor, bo->base.resv, DMA_RESV_USAGE_BOOKKEEP, fence) {
		if (dma_fence_is_signaled(fence))
			continue;
		most = max(most, pbd_fence_waits(dev, fence) ? PBD_LATER : PBD_SOON);
	}
	return most;
}

/*
 * Returns the object of a region that was not used for longest, among those whose reservation is free; with its reservation
 * and a reference. An object in the list exists: freeing it begins with the list.
 */
static struct pbd_bo *pbd_victim(struct pbd_device *dev, struct pbd_region *region, enum pbd_patience patience,
				 struct pbd_room *room)
{
	struct pbd_bo *bo, *found = NULL;

	mutex_lock(&dev->vram);
	list_for_each_entry(bo, &dev->lru, lru) {
		if (bo->region != region || bo->pins || bo->kmaps || (!list_empty(&bo->claim) && !room->claims))
			continue;
		if (!dma_resv_trylock(bo->base.resv)) {
			room->held |= dma_resv_locking_ctx(bo->base.resv) != room->ticket;
			continue;
		}
		if (!bo->pins && !bo->kmaps && pbd_bo_patience(dev, bo) <= patience &&
		    kref_get_unless_zero(&bo->base.refcount)) {
			found = bo;
			break;
		}
		dma_resv_unlock(bo->base.resv);
	}
	mutex_unlock(&dev->vram);
	return found;
}

/* Takes room in a region; others are moved out for it. @return -ENOSPC: none was left; -EAGAIN: the next one is busy */
static int pbd_bo_enter_evicting(struct pbd_device *dev, struct pbd_bo *bo, unsigned int index, enum pbd_patience patience,
				 struct pbd_room *room)
{
	struct pbd_bo *victim;
	int ret;

	if (bo->base.size > dev->regions[index].segment.request.size)
		return -ENOSPC;
	for (;;) {
		ret = pbd_bo_enter(dev, bo, index);
		if (ret != -ENOSPC)
			return ret;
		victim = pbd_victim(dev, &dev->regions[index], patience, room);
		if (!victim)
			return -ENOSPC;
		ret = pbd_bo_evict(dev, victim, room);
		dma_resv_unlock(victim->base.resv);
		drm_gem_object_put(&victim->base);
		if (ret != 0)
			return ret;
	}
}

/*
 * Takes room for an object where it may lie: outside of the window first, unless it is to be patched. Idle objects leave
 * first, then those that will soon be idle.
 */
static int pbd_bo_find_room(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room)
{
	bool outer = !(bo->flags & PATCHBAY_GEM_PATCHABLE) && dev->regions[1].present;
	enum pbd_patience patience;
	int ret = -ENOSPC;

	if (outer)
		ret = pbd_bo_enter(dev, bo, 1);
	if (ret == -ENOSPC)
		ret = pbd_bo_enter(dev, bo, 0);
	for (patience = PBD_IDLE; ret == -ENOSPC && room && patience < PBD_PATIENCES; patience++) {
		if (outer)
			ret = pbd_bo_enter_evicting(dev, bo, 1, patience, room);
		if (ret == -ENOSPC)
			ret = pbd_bo_enter_evicting(dev, bo, 0, patience, room);
	}
	return ret;
}

/* The same, while others hold objects for a moment. */
static int pbd_bo_find_room_soon(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room)
{
	unsigned int round;
	int ret;

	for (round = 0;; round++) {
		if (room)
			room->held = false;
		ret = pbd_bo_find_room(dev, bo, room);
		if (ret != -ENOSPC || !room || !room->held || round == PBD_EVICT_ROUNDS)
			return ret;
		if (msleep_interruptible(1) != 0)
			return -ERESTARTSYS;
	}
}

/*
 * Moves an object into VRAM. Pre: resv is held.
 * @room: others leave for it; NULL: only if there is room
 * @return -EAGAIN: objects of others are busy. Without locks, wait for `room->busy` and come again, or take `claim` first
 */
int pbd_bo_place(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room)
{
	int ret;

	if (bo->region)
		return 0;
	if (bo->kmaps)
		return -EBUSY;
	ret = pbd_bo_find_room_soon(dev, bo, room);
	if (ret != 0)
		return ret;
	if (bo->pages) {
		pbd_bo_unmap(dev, bo);
		pbd_bo_copy(bo, pbd_bo_bytes(dev, bo), true);
		pbd_bo_drop_pages(bo);
	} else {
		/* What another object left there is not for this one. */
		memset(pbd_bo_bytes(dev, bo), 0, bo->base.size);
	}
	bo->touched = true;
	return 0;
}

/* Waits without a lock until the object that is in the way is idle. @return -EBUSY: not before `end`, in jiffies */
int pbd_room_wait(struct pbd_room *room, unsigned long end)
{
	struct pbd_bo *bo = room->busy;
	long left = (long)(end - jiffies);

	room->busy = NULL;
	if (!bo)
		return 0;
	if (left > 0)
		left = dma_resv_wait_timeout(bo->base.resv, DMA_RESV_USAGE_BOOKKEEP, true, (unsigned long)left);
	drm_gem_object_put(&bo->base);
	return left > 0 ? 0 : left == -ERESTARTSYS ? -ERESTARTSYS : -EBUSY;
}

/* Locks an object's reservation and moves it into VRAM, for a caller that has other locks. @return 0: the caller unlocks */
int pbd_bo_lock_placed(struct pbd_device *dev, struct pbd_bo *bo)
{
	struct pbd_room room = { .alone = true };
	unsigned long end = jiffies + PBD_ROOM_JIFFIES;
	int ret;

	do {
		ret = dma_resv_lock_interruptible(bo->base.resv, NULL);
		if (ret != 0)
			return ret;
		ret = pbd_bo_place(dev, bo, &room);
		if (ret == 0)
			return 0;
		dma_resv_unlock(bo->base.resv);
	} while (ret == -EAGAIN && (ret = pbd_room_wait(&room, end)) == 0);
	return ret;
}

/* Takes the placement of all objects in VRAM, whose contents are lost with the card. */
void pbd_vram_lost(struct pbd_device *dev)
{
	unsigned int i;

	mutex_lock(&dev->vram);
	for (i = 0; i < PBD_REGIONS; i++)
		dev->regions[i].present = false;
	while (!list_empty(&dev->lru)) {
		struct pbd_bo *bo = list_first_entry(&dev->lru, struct pbd_bo, lru);

		if (!kref_get_unless_zero(&bo->base.refcount)) {
			/* It is being freed, which needs nothing of VRAM but the list. */
			pbd_bo_leave(bo);
			continue;
		}
		mutex_unlock(&dev->vram);
		dma_resv_lock(bo->base.resv, NULL);
		pbd_bo_unmap(dev, bo);
		mutex_lock(&dev->vram);
		if (bo->region)
			bo->lost = true;
		pbd_bo_leave(bo);
		mutex_unlock(&dev->vram);
		dma_resv_unlock(bo->base.resv);
		drm_gem_object_put(&bo->base);
		mutex_lock(&dev->vram);
	}
	mutex_unlock(&dev->vram);
}

/* ---- mmap ---- */

static vm_fault_t pbd_bo_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct pbd_bo *bo = pbd_bo(vma->vm_private_data);
	struct pbd_device *dev = pbd_device(bo->base.dev);
	unsigned long page = (vmf->address - vma->vm_start) >> PAGE_SHIFT;
	vm_fault_t fault = VM_FAULT_SIGBUS;
	unsigned long pfn;
	int ret, idx;

	if (page >= bo->base.size >> PAGE_SHIFT || !drm_dev_enter(&dev->drm, &idx))
		return VM_FAULT_SIGBUS;
	if (dma_resv_lock_interruptible(bo->base.resv, NULL) != 0) {
		drm_dev_exit(idx);
		return VM_FAULT_NOPAGE;
	}
	ret = bo->pages ? 0 : pbd_bo_place(dev, bo, NULL);
	if (ret == -ENOSPC) {
		ret = pbd_bo_get_pages(bo);
		bo->touched = true;
	}
	if (ret == -ENOMEM)
		fault = VM_FAULT_OOM;
	if (ret == 0) {
		pfn = bo->region ? (unsigned long)((dev->memory_start + bo->region->segment.memory_offset +
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

	mutex_lock(&dev->vram);
	pbd_bo_leave(bo);
	mutex_unlock(&dev->vram);
	if (bo->pages)
		drm_gem_put_pages(object, bo->pages, false, false);
	if (bo->user_mm)
		mmdrop(bo->user_mm);
	drm_gem_object_release(object);
	kfree(bo);
}

/* Another device could reach neither VRAM nor a page that moves. */
static int pbd_bo_pin(struct drm_gem_object *object)
{
	return -EOPNOTSUPP;
}

static struct sg_table *pbd_bo_sg_table(struct drm_gem_object *object)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static const struct drm_gem_object_funcs pbd_bo_funcs = {
	.free = pbd_bo_free,
	.mmap = pbd_bo_mmap,
	.pin = pbd_bo_pin,
	.get_sg_table = pbd_bo_sg_table,
	.vmap = pbd_bo_vmap,
	.vunmap = pbd_bo_vunmap,
	.vm_ops = &pbd_vm_ops,
};

/* Creates an object without memory. */
struct drm_gem_object *pbd_bo_create(struct pbd_device *dev, u64 size, u32 flags)
{
	struct pbd_bo *bo;
	int ret;

	if (size == 0 || size > PBD_BO_BYTES_MAX)
		return ERR_PTR(-EINVAL);
	bo = kzalloc(sizeof(*bo), GFP_KERNEL);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->base.funcs = &pbd_bo_funcs;
	bo->flags = flags;
	INIT_LIST_HEAD(&bo->lru);
	INIT_LIST_HEAD(&bo->claim);
	ret = drm_gem_object_init(&dev->drm, &bo->base, round_up(size, PAGE_SIZE));
	if (ret != 0) {
		kfree(bo);
		return ERR_PTR(ret);
	}
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

int pbd_gem_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_patchbay_gem_create *args = data;

	if (args->flags & ~PATCHBAY_GEM_PATCHABLE)
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

/* Writes contents. Pre: resv is held, the object is in VRAM. */
void pbd_bo_write(struct pbd_device *dev, struct pbd_bo *bo, const void *contents)
{
	memcpy(pbd_bo_bytes(dev, bo), contents, bo->base.size);
}

u64 pbd_bo_gpu_address(const struct pbd_bo *bo)
{
	return bo->region->segment.request.gpu_base + bo->node.start;
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
		args->flags = bo->lost ? PATCHBAY_GEM_LOST : 0;
		bo->lost = false;
		args->place = bo->region ? PATCHBAY_PLACE_VRAM :
			      bo->pages  ? PATCHBAY_PLACE_SYSTEM :
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
	unsigned long timeout = args->timeout_ns < 0 ? MAX_SCHEDULE_TIMEOUT : nsecs_to_jiffies(args->timeout_ns);
	long left;

	if (args->flags & ~1)
		return -EINVAL;
	object = drm_gem_object_lookup(file, args->handle);
	if (!object)
		return -ENOENT;
	left = dma_resv_wait_timeout(object->resv,
				     args->flags & 1 ? DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ, true,
				     min_t(unsigned long, timeout, MAX_SCHEDULE_TIMEOUT));
	drm_gem_object_put(object);
	return left < 0 ? (int)left : left == 0 ? -ETIME : 0;
}
