// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Objects that the kernel itself reads and writes: the framebuffer of the console. While one is mapped it stays where it
 * is: in VRAM, or in pages of the system if there is no room or no card. A mapping is short: a copy of what was drawn.
 */
#include <linux/dma-resv.h>
#include <linux/iosys-map.h>
#include <linux/vmalloc.h>

#include "pbd_drv.h"

int pbd_bo_vmap(struct drm_gem_object *object, struct iosys_map *map)
{
	struct pbd_device *dev = pbd_device(object->dev);
	struct pbd_bo *bo = pbd_bo(object);
	void *address = NULL;
	int ret = dma_resv_lock(object->resv, NULL);

	if (ret != 0)
		return ret;
	if (bo->kmaps == 0 && !bo->region && !bo->pages && !bo->outside)
		ret = pbd_bo_place(dev, bo, NULL);
	if (ret == 0)
		ret = pbd_bo_settle(bo, false);
	if (ret == -ENOSPC)
		ret = pbd_bo_get_pages(bo);
	if (ret == 0 && object->import_attach)
		address = bo->foreign.vaddr;
	else if (ret == 0 && pbd_bo_in_vram(bo) && !bo->outside)
		address = dev->memory + pbd_bo_memory_offset(bo);
	else if (ret == 0)
		address = vmap(bo->pages, (unsigned int)(object->size >> PAGE_SHIFT), VM_MAP, PAGE_KERNEL);
	if (ret == 0 && !address)
		ret = -ENOMEM;
	if (ret == 0) {
		bo->touched = true;
		bo->kmaps++;
		iosys_map_set_vaddr(map, address);
	}
	dma_resv_unlock(object->resv);
	return ret;
}

/* Whether the mapping was made for the object: VRAM and other drivers' memory are mapped once for all. */
static bool pbd_bo_is_own_map(const struct pbd_device *dev, const struct pbd_bo *bo, const u8 *address)
{
	return !bo->base.import_attach && (address < dev->memory || address >= dev->memory + dev->memory_bytes);
}

void pbd_bo_vunmap(struct drm_gem_object *object, struct iosys_map *map)
{
	struct pbd_bo *bo = pbd_bo(object);

	dma_resv_lock(object->resv, NULL);
	if (pbd_bo_is_own_map(pbd_device(object->dev), bo, map->vaddr))
		vunmap(map->vaddr);
	bo->kmaps--;
	dma_resv_unlock(object->resv);
}
