/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A submission in the making: what the files that translate uAPIs share. The functions are those of pbd_submit.c. */
#ifndef PBD_SUBMIT_H
#define PBD_SUBMIT_H

#include <linux/dma-fence-chain.h>
#include <linux/sync_file.h>

#include <drm/drm_syncobj.h>

#include "patchbay/abi/patch.h"
#include "patchbay/render.h"
#include "pbd_drv.h"

/* A syncobj that the submission signals. */
struct pbd_signal {
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain; /* of a timeline; NULL: binary */
	u64 point;
};

/* One call of the ioctl. */
struct pbd_submit {
	struct pbd_device *dev;
	struct drm_file *drm_file;
	struct drm_patchbay_submit *args;
	struct pbd_job *job;
	/* The object that is patched, referenced by the job's list; from its start on, how many bytes may be. */
	struct pbd_bo *target;
	u32 target_bytes;

	/* Copies of the user's memory. */
	u32 *commands;
	struct drm_patchbay_allocation *allocations;
	struct drm_patchbay_patch *patches;

	struct pb_render_record record;
	struct pbd_room room;

	struct pbd_signal *signals;
	u32 signal_count;
	struct sync_file *sync_file;
	int fd;
	struct ww_acquire_ctx ticket;
};

/* Objects: each once, in the order of their locks. */
u32 pbd_object_index(const struct pbd_job *job, const struct drm_gem_object *object);
int pbd_unique_objects(struct pbd_submit *submit);
/* Fences that the submission waits for. The second one consumes the reference. */
int pbd_add_fences(struct pbd_job *job, struct dma_fence *head);
int pbd_add_object_fences(struct pbd_submit *submit);
/* The steps of a submission, in order. */
struct pbd_job *pbd_job_make(struct pbd_device *dev, struct pbd_file *file, u32 queue);
int pbd_charge(struct pbd_job *job);
int pbd_with_room(struct pbd_submit *submit, int (*place)(struct pbd_submit *submit));
int pbd_lock_validate(struct pbd_submit *submit);
bool pbd_is_claimed(struct pbd_submit *submit);
int pbd_make_fence(struct pbd_submit *submit);
int pbd_address_lists(struct pbd_submit *submit);
int pbd_publish(struct pbd_submit *submit);
void pbd_submit_free(struct pbd_submit *submit);

#endif
