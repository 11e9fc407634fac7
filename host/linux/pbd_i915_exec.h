/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One EXECBUFFER2 in the making: what the files that carry it out share. */
#ifndef PBD_I915_EXEC_H
#define PBD_I915_EXEC_H

#include <uapi/drm/i915_drm.h>

#include "patchbay_i915.h"
#include "pbd_i915.h"
#include "pbd_submit.h"

/* One call. */
struct pbd_exec {
	struct pbd_submit submit;
	struct drm_patchbay_submit args; /* what the steps of a submission read */
	struct drm_i915_gem_execbuffer2 *user;
	struct drm_i915_gem_exec_object2 *objects; /* `offset`: of the answer */
	u64 *presumed;                             /* of each object */
	u32 count;
	u32 batch;                                  /* index of the object that would be executed */
	struct drm_i915_gem_relocation_entry *relocs; /* of all objects, in order; targets are indices */
	u32 reloc_count;
	int (*step)(struct pbd_exec *exec); /* what is done under the locks */
	void **contents; /* of objects that are memory of the caller, until they are written; NULL: none */
	bool has_contents;
	bool in_use; /* objects that are to have them were in use by an earlier submission */
};

/* pbd_i915_lists.c: objects and relocations; memory of the caller */
int pbd_exec_copy_objects(struct pbd_exec *exec);
int pbd_exec_copy_relocs(struct pbd_exec *exec);
int pbd_exec_look_up(struct pbd_exec *exec, struct drm_file *file);
int pbd_exec_check_batch(const struct pbd_exec *exec);
int pbd_exec_check_relocs(struct pbd_exec *exec);
int pbd_exec_copy_contents(struct pbd_exec *exec);
int pbd_exec_write_contents(struct pbd_exec *exec);
void pbd_exec_free_contents(struct pbd_exec *exec);
int pbd_exec_idle(struct pbd_exec *exec);

/* pbd_i915_place.c */
int pbd_exec_place(struct pbd_exec *exec);
void pbd_exec_set_lists(struct pbd_exec *exec);

/* pbd_i915_exec.c: steps under the locks of a submission */
int pbd_exec_reserved(struct pbd_exec *exec);
int pbd_exec_locked(struct pbd_exec *exec, int (*step)(struct pbd_exec *exec));

/* pbd_i915_capture.c */
int pbd_exec_captured(struct pbd_exec *exec);

#endif
