/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* i915's uAPI: what its files share. */
#ifndef PBD_I915_H
#define PBD_I915_H

#include "pbd_drv.h"

/* The GPU that is presented: HD Graphics 4600 (Haswell GT2), whose relocations are 32 bits wide. */
#define PBD_I915_VENDOR 0x8086
#define PBD_I915_DEVICE 0x0412

/* Memory of callers that one EXECBUFFER2 may have copied. */
#define PBD_I915_USER_BYTES_MAX (64ull << 20)

/* pbd_i915.c: contexts, and the queues that they are */
bool pbd_i915_is_context(struct pbd_device *dev, struct drm_file *file, u32 context);
u32 pbd_i915_queue(const struct pbd_device *dev, u32 context);

/* pbd_i915_gem.c: objects */
int pbd_i915_create(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_i915_userptr(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_i915_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_i915_mmap(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_i915_busy(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_i915_wait(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_i915_set_domain(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_i915_set_tiling(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_i915_get_tiling(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_i915_set_caching(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_i915_get_caching(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_i915_madvise(struct drm_device *drm, void *data, struct drm_file *file);

/* pbd_i915_query.c: what clients ask of the device */
int pbd_i915_query(struct drm_device *drm, void *data, struct drm_file *file);

/* pbd_i915_exec.c */
int pbd_i915_exec_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

/* pbd_i915_capture.c */
bool pbd_capture_on(struct pbd_device *dev);
void pbd_capture_show(struct pbd_device *dev, const struct pbd_capture_shown *shown);
int pbd_capture_next_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_capture_memory_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
