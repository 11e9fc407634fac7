// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Where the contents of an object are: in VRAM, in pages of the system, or nowhere yet. Whoever moves them holds its
 * reservation, so that mmap finds them in one place.
 */
#include <linux/dma-resv.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/shmem_fs.h>

#include <drm/drm_vma_manager.h>

#include "pbd_drv.h"

/* The object's bytes. Pre: resv is held, the object is in VRAM. */
u8 *pbd_bo_bytes(struct pbd_device *dev, struct pbd_bo *bo)
{
	return dev->memory + bo->region->segment.memory_offset + bo->node.start;
}

u64 pbd_bo_os_address(const struct pbd_bo *bo)
{
	return bo->region->segment.request.os_base + bo->node.start;
}

u64 pbd_bo_gpu_address(const struct pbd_bo *bo)
{
	return bo->region->segment.request.gpu_base + bo->node.start;
}

/* Where the object begins, from the start of card memory. Pre: it is in VRAM. */
u32 pbd_bo_memory_offset(const struct pbd_bo *bo)
{
	return bo->region->segment.memory_offset + (u32)bo->node.start;
}

/* Writes contents. Pre: resv is held, the object is in VRAM. */
void pbd_bo_write(struct pbd_device *dev, struct pbd_bo *bo, const void *contents)
{
	memcpy(pbd_bo_bytes(dev, bo), contents, bo->base.size);
}

/* Takes user mappings away: the next access faults, and finds the object where it lies then. */
void pbd_bo_unmap(struct pbd_device *dev, struct pbd_bo *bo)
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
	bo->stored = true;
	pbd_bo_paged(pbd_device(bo->base.dev), bo, true);
	return 0;
}

/* Holds the pages no longer: the kernel may write them to swap. Their contents stay with the object's file. */
void pbd_bo_let_pages(struct pbd_bo *bo)
{
	if (!bo->pages)
		return;
	pbd_bo_paged(pbd_device(bo->base.dev), bo, false);
	drm_gem_put_pages(&bo->base, bo->pages, true, false);
	bo->pages = NULL;
}

/* Frees the pages; their contents are elsewhere, or matter no more. */
void pbd_bo_drop_pages(struct pbd_bo *bo)
{
	if (!bo->stored)
		return;
	pbd_bo_let_pages(bo);
	shmem_truncate_range(file_inode(bo->base.filp), 0, (loff_t)-1);
	bo->stored = false;
}

void pbd_bo_clear_pages(struct pbd_bo *bo)
{
	unsigned long i;

	for (i = 0; bo->pages && i < bo->base.size >> PAGE_SHIFT; i++)
		clear_highpage(bo->pages[i]);
}

/* Copies all of the object between its pages and VRAM. */
void pbd_bo_copy(struct pbd_bo *bo, u8 *vram, bool to_vram)
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
void pbd_bo_leave(struct pbd_bo *bo)
{
	if (!bo->region)
		return;
	bo->region->used -= bo->node.size;
	drm_mm_remove_node(&bo->node);
	list_del_init(&bo->lru);
	bo->region = NULL;
}

/* Where in a region an object may lie. Pre: it is no larger than the region. */
void pbd_bo_range(const struct pbd_region *region, const struct pbd_bo *bo, u64 *start, u64 *end)
{
	*start = bo->edge == PBD_EDGE_HIGH ? region->segment.request.size - bo->base.size : 0;
	*end = bo->edge == PBD_EDGE_LOW ? bo->base.size : region->segment.request.size;
}

/* Takes room in a region, if there is some. Pre: resv is held. */
int pbd_bo_enter(struct pbd_device *dev, struct pbd_bo *bo, unsigned int index)
{
	struct pbd_region *region = &dev->regions[index];
	int ret = -ENOSPC;
	u64 start, end;

	mutex_lock(&dev->vram);
	if (region->present && bo->base.size <= region->segment.request.size) {
		pbd_bo_range(region, bo, &start, &end);
		ret = drm_mm_insert_node_in_range(&region->mm, &bo->node, bo->base.size, PAGE_SIZE, 0, start, end,
						  DRM_MM_INSERT_BEST);
	}
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

/* The contents are lost; also the pages that they were moved from, at which engines may still be. Pre: resv. */
static void pbd_bo_forget(struct pbd_device *dev, struct pbd_bo *bo)
{
	if (pbd_host_is_unsure(dev, bo))
		pbd_bo_clear_pages(bo);
	else
		pbd_bo_drop_pages(bo);
	bo->lost = true;
}

/* Takes the placement of all objects, whose contents are lost with the card if they were in VRAM. */
void pbd_vram_lost(struct pbd_device *dev)
{
	unsigned int i;
	bool lost;

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
		lost = pbd_bo_in_vram(bo) && !bo->outside;
		pbd_bo_leave(bo);
		mutex_unlock(&dev->vram);
		pbd_bo_come_inside(bo);
		/* What is mapped for the engines is in memory of the machine. */
		if (lost)
			pbd_bo_forget(dev, bo);
		(void)pbd_bo_settle(bo, false);
		dma_resv_unlock(bo->base.resv);
		drm_gem_object_put(&bo->base);
		mutex_lock(&dev->vram);
	}
	mutex_unlock(&dev->vram);
}
