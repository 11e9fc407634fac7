/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Objects, and where they lie. */
#ifndef PBD_GEM_H
#define PBD_GEM_H

#include <linux/iosys-map.h>
#include <linux/workqueue.h>

#include <drm/drm_gem.h>
#include <drm/drm_mm.h>

#include "patchbay/patchbay.h"

struct pbd_device;

/* A part of VRAM, or addresses of host memory: a segment of the firmware. */
struct pbd_region {
	struct pb_segment segment;
	bool host;         /* an aperture: objects in it have pages of the system */
	struct drm_mm mm;  /* bytes from the segment's start; under vram */
	bool present;      /* under vram */
	u64 used;          /* bytes; under vram */
	u32 slept_offset;  /* of the segment in card memory, when the machine went to sleep */
};

/* Flag of an object of the driver's own, beside those of the uAPI: it lies in VRAM or is of no use. */
#define PBD_BO_VRAM 0x80000000u

/* An object: memory that lies in VRAM, in pages of the system, mapped for the engines or not, or nowhere yet. */
/* What is shown lies at an edge of a region, so that the room between stays in one piece. */
enum pbd_edge { PBD_EDGE_NONE, PBD_EDGE_LOW, PBD_EDGE_HIGH };

struct pbd_bo {
	struct drm_gem_object base;
	u32 flags;
	/* Of i915's uAPI: what clients tell each other; memory of the caller that its contents come from. */
	u32 tiling;
	u64 user_start;
	struct mm_struct *user_mm; /* NULL: they are its own */
	/* Under resv. */
	struct page **pages; /* NULL: none are held */
	bool stored;         /* its file, whose pages they are, has the contents, also while they are not held */
	bool lost;
	bool purgeable; /* its user can do without the contents */
	bool purged;    /* which have been thrown away since */
	struct dma_fence *move; /* of the last move by the engine; NULL: the contents are where the object is */
	bool moving_out;        /* until that, the pages do not have them */
	u32 reached;            /* epoch of the device in which engines last could reach the pages */
	bool touched; /* has had contents */
	bool outside; /* its contents are where another driver has them; what is in VRAM is a copy (pbd_prime.c) */
	bool prepared; /* its pages are for a sleep that may begin */
	bool slept;    /* its pages have the contents, and its place in VRAM is kept */
	u32 attached; /* times that other drivers have attached to it */
	/* Counted up under resv, down by anyone. While it is not 0, the object stays where it is. */
	atomic_t pins;
	u32 kmaps; /* mappings of the kernel's own */
	/* Of an object of another driver; written once. */
	struct iosys_map foreign;
	struct sg_table *foreign_table;
	struct work_struct end; /* it is given back */
	/* Under resv and vram. */
	enum pbd_edge edge; /* of a region at which alone it may lie */
	struct pbd_region *region;
	struct drm_mm_node node;
	struct list_head lru;
	struct list_head paged; /* dev->paged: it has pages */
	/* Under vram. */
	struct list_head claim; /* dev->claims */
};

/* How objects come by room in VRAM that others have. */
struct pbd_room {
	bool claims;         /* the caller holds `claim` */
	bool alone;          /* the caller waits for `busy` without claiming it: it may come too late again and again */
	struct pbd_bo *busy; /* what to wait for, with a reference; NULL: nothing, but `claim` is needed */
	struct ww_acquire_ctx *ticket; /* of the reservations that the caller has */
	struct dma_fence *move; /* of a move that has to end first, with a reference */
	bool held;           /* an object was passed over, since another thread has its reservation for a moment, or frees it */
	bool claimed;        /* an object was passed over, since it is claimed: room comes, to those that wait for `claim` */
};

static inline struct pbd_bo *pbd_bo(struct drm_gem_object *object)
{
	return container_of(object, struct pbd_bo, base);
}

static inline bool pbd_bo_in_vram(const struct pbd_bo *bo)
{
	return bo->region && !bo->region->host;
}

/* pbd_gem.c: how objects are made, mapped and freed */
struct drm_gem_object *pbd_bo_create(struct pbd_device *dev, u64 size, u32 flags);
struct drm_gem_object *pbd_bo_wrap(struct pbd_device *dev, u64 size);
int pbd_dumb_create(struct drm_file *file, struct drm_device *drm, struct drm_mode_create_dumb *args);
int pbd_gem_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_gem_info_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_gem_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

/* pbd_vram.c: where their contents are */
u8 *pbd_bo_bytes(struct pbd_device *dev, struct pbd_bo *bo);
u64 pbd_bo_os_address(const struct pbd_bo *bo);
u64 pbd_bo_gpu_address(const struct pbd_bo *bo);
u32 pbd_bo_memory_offset(const struct pbd_bo *bo);
void pbd_bo_write(struct pbd_device *dev, struct pbd_bo *bo, const void *contents);
void pbd_bo_unmap(struct pbd_device *dev, struct pbd_bo *bo);
int pbd_bo_get_pages(struct pbd_bo *bo);
void pbd_bo_let_pages(struct pbd_bo *bo);
void pbd_bo_drop_pages(struct pbd_bo *bo);
void pbd_bo_clear_pages(struct pbd_bo *bo);
void pbd_bo_copy(struct pbd_bo *bo, u8 *vram, bool to_vram);
void pbd_bo_leave(struct pbd_bo *bo);
void pbd_bo_range(const struct pbd_region *region, const struct pbd_bo *bo, u64 *start, u64 *end);
int pbd_bo_enter(struct pbd_device *dev, struct pbd_bo *bo, unsigned int index);
void pbd_bo_used(struct pbd_device *dev, struct pbd_bo *bo);
void pbd_vram_lost(struct pbd_device *dev);

/* pbd_evict.c: room in VRAM, and who leaves for whom */
int pbd_bo_place(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room);
bool pbd_bo_is_idle(struct pbd_bo *bo);
long pbd_bo_wait(struct pbd_bo *bo, long left);
int pbd_bo_evict(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room);
int pbd_bo_lock_placed(struct pbd_device *dev, struct pbd_bo *bo);
void pbd_bo_unpin(struct drm_gem_object *object);
int pbd_room_wait(struct pbd_room *room, unsigned long end);
bool pbd_bo_is_claimed(struct pbd_device *dev, struct pbd_bo *bo);
void pbd_claims_end(struct pbd_device *dev);

/* pbd_shrink.c: pages of the system go back when memory is short */
void pbd_bo_paged(struct pbd_device *dev, struct pbd_bo *bo, bool paged);
bool pbd_bo_madvise(struct pbd_device *dev, struct pbd_bo *bo, bool needed);
int pbd_gem_madvise_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
void pbd_purge_all(struct pbd_device *dev);
int pbd_shrink_init(struct pbd_device *dev);
void pbd_shrink_end(struct pbd_device *dev);

/* pbd_prime.c: objects that other drivers have as well */
int pbd_bo_pin(struct drm_gem_object *object);
void pbd_bo_detach(struct drm_gem_object *object);
struct sg_table *pbd_bo_sg_table(struct drm_gem_object *object);
void pbd_bo_come_inside(struct pbd_bo *bo);
struct drm_gem_object *pbd_prime_import(struct drm_device *drm, struct dma_buf_attachment *attach, struct sg_table *table);
void pbd_prime_free_later(struct pbd_device *dev, struct pbd_bo *bo);
int pbd_prime_mmap(struct pbd_bo *bo, struct vm_area_struct *vma);
int pbd_prime_mmap_own(struct drm_gem_object *object, struct vm_area_struct *vma);

/* pbd_vmap.c: objects that the kernel itself reads and writes */
int pbd_bo_vmap(struct drm_gem_object *object, struct iosys_map *map);
void pbd_bo_vunmap(struct drm_gem_object *object, struct iosys_map *map);

#endif
