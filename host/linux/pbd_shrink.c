// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Pages of the system go back to the kernel when it is short of memory: those of objects that their users can do without
 * are thrown away, others can be swapped. Only objects that are idle and out of VRAM are touched, in host memory as well,
 * and none whose reservation another thread has. Runs where memory is being allocated: it waits for nothing but the lock
 * `vram`, under which nothing allocates.
 */
#include <linux/dma-resv.h>
#include <linux/swap.h>

#include "pbd_drv.h"

/* What may be done to an object. */
enum pbd_shrink {
	PBD_PURGE, /* its contents are thrown away, if its user allows that */
	PBD_SWAP,  /* its pages are given to the kernel, which writes them to swap when it likes */
};

static struct pbd_device *pbd_of_shrinker(struct shrinker *shrinker)
{
	return container_of(shrinker, struct pbd_device, shrinker);
}

/* ---- objects that have pages ---- */

/* Counts the object in or out. Pre: resv and vram. */
static void pbd_paged_count(struct pbd_device *dev, const struct pbd_bo *bo, bool in)
{
	unsigned long pages = bo->base.size >> PAGE_SHIFT;

	dev->paged_pages += in ? pages : -pages;
	if (bo->purgeable)
		dev->purgeable_pages += in ? pages : -pages;
}

/* The object has pages from now on, or has none any more. Pre: resv. */
void pbd_bo_paged(struct pbd_device *dev, struct pbd_bo *bo, bool paged)
{
	mutex_lock(&dev->vram);
	if (paged)
		list_add_tail(&bo->paged, &dev->paged);
	else
		list_del_init(&bo->paged);
	pbd_paged_count(dev, bo, paged);
	mutex_unlock(&dev->vram);
}

/* Throws the contents away. The next use finds zeros. Pre: resv is held, the object is idle and not in VRAM. */
static void pbd_bo_purge(struct pbd_device *dev, struct pbd_bo *bo)
{
	pbd_bo_unmap(dev, bo);
	pbd_bo_drop_pages(bo);
	bo->purged = true;
}

/*
 * Notes whether the user of an object can do without its contents. @return false: they have been thrown away since they
 * were last needed
 */
bool pbd_bo_madvise(struct pbd_device *dev, struct pbd_bo *bo, bool needed)
{
	bool retained;

	mutex_lock(&dev->vram);
	if (bo->pages)
		pbd_paged_count(dev, bo, false);
	bo->purgeable = !needed;
	if (bo->pages)
		pbd_paged_count(dev, bo, true);
	mutex_unlock(&dev->vram);
	/* What is in swap already, costs nothing to throw away. */
	if (!needed && bo->stored && !bo->pages)
		pbd_bo_purge(dev, bo);
	retained = !bo->purged;
	if (needed)
		bo->purged = false;
	return retained;
}

int pbd_gem_madvise_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_patchbay_gem_madvise *args = data;
	struct drm_gem_object *object;
	int ret;

	if (args->advice > PATCHBAY_GEM_DONTNEED || args->pad)
		return -EINVAL;
	object = drm_gem_object_lookup(file, args->handle);
	if (!object)
		return -ENOENT;
	ret = dma_resv_lock_interruptible(object->resv, NULL);
	if (ret == 0) {
		args->retained = pbd_bo_madvise(pbd_device(drm), pbd_bo(object),
						args->advice == PATCHBAY_GEM_WILLNEED);
		dma_resv_unlock(object->resv);
	}
	drm_gem_object_put(object);
	return ret;
}

/* ---- the shrinker ---- */

static unsigned long pbd_swappable(struct pbd_device *dev)
{
	unsigned long pages = READ_ONCE(dev->paged_pages), purgeable = READ_ONCE(dev->purgeable_pages);
	long swap = get_nr_swap_pages();

	return swap > 0 && pages > purgeable ? min(pages - purgeable, (unsigned long)swap) : 0;
}

static unsigned long pbd_shrink_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct pbd_device *dev = pbd_of_shrinker(shrinker);
	unsigned long pages = READ_ONCE(dev->purgeable_pages) + pbd_swappable(dev);

	return pages ?: SHRINK_EMPTY;
}

static bool pbd_may_shrink(struct pbd_device *dev, const struct pbd_bo *bo, enum pbd_shrink how)
{
	return bo->pages && !pbd_bo_in_vram(bo) && !bo->outside && !atomic_read(&bo->pins) && !bo->kmaps &&
	       (how == PBD_SWAP || bo->purgeable) &&
	       dma_resv_test_signaled(bo->base.resv, DMA_RESV_USAGE_BOOKKEEP) && !pbd_host_is_unsure(dev, bo);
}

/* Returns the object that has had pages for longest, among those that may give them; with its reservation and a reference. */
static struct pbd_bo *pbd_shrink_next(struct pbd_device *dev, enum pbd_shrink how)
{
	struct pbd_bo *bo, *found = NULL;

	mutex_lock(&dev->vram);
	list_for_each_entry(bo, &dev->paged, paged) {
		if (!dma_resv_trylock(bo->base.resv))
			continue;
		if (pbd_may_shrink(dev, bo, how) && kref_get_unless_zero(&bo->base.refcount)) {
			found = bo;
			break;
		}
		dma_resv_unlock(bo->base.resv);
	}
	mutex_unlock(&dev->vram);
	return found;
}

/* @return pages that were given back */
static unsigned long pbd_shrink_some(struct pbd_device *dev, enum pbd_shrink how, unsigned long wanted)
{
	unsigned long freed = 0;
	struct pbd_bo *bo;

	while (freed < wanted && (bo = pbd_shrink_next(dev, how)) != NULL) {
		freed += bo->base.size >> PAGE_SHIFT;
		/* Its addresses in host memory mean nothing to a submission from now on. */
		mutex_lock(&dev->vram);
		pbd_bo_leave(bo);
		mutex_unlock(&dev->vram);
		if (how == PBD_PURGE) {
			pbd_bo_purge(dev, bo);
		} else {
			pbd_bo_unmap(dev, bo);
			pbd_bo_let_pages(bo);
		}
		dma_resv_unlock(bo->base.resv);
		drm_gem_object_put(&bo->base);
	}
	return freed;
}

static unsigned long pbd_shrink_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct pbd_device *dev = pbd_of_shrinker(shrinker);
	unsigned long freed = pbd_shrink_some(dev, PBD_PURGE, sc->nr_to_scan), swapped = 0;

	if (freed < sc->nr_to_scan && pbd_swappable(dev) != 0)
		swapped = pbd_shrink_some(dev, PBD_SWAP, sc->nr_to_scan - freed);
	atomic64_add((s64)freed, &dev->purged_pages);
	atomic64_add((s64)swapped, &dev->swapped_pages);
	return freed + swapped ?: SHRINK_STOP;
}

/* Throws away the contents of all objects that their users can do without. */
void pbd_purge_all(struct pbd_device *dev)
{
	atomic64_add((s64)pbd_shrink_some(dev, PBD_PURGE, ULONG_MAX), &dev->purged_pages);
}

int pbd_shrink_init(struct pbd_device *dev)
{
	dev->shrinker.count_objects = pbd_shrink_count;
	dev->shrinker.scan_objects = pbd_shrink_scan;
	dev->shrinker.seeks = DEFAULT_SEEKS;
	return register_shrinker(&dev->shrinker, "drm-patchbay:%s", pci_name(dev->pdev));
}

/* Pre: pbd_shrink_init() has succeeded. Returns when the kernel does not call it any more. */
void pbd_shrink_end(struct pbd_device *dev)
{
	unregister_shrinker(&dev->shrinker);
}
