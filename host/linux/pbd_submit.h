/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A submission in the making: what the files that take it from an ioctl to its ring share. */
#ifndef PBD_SUBMIT_H
#define PBD_SUBMIT_H

#include <linux/dma-fence-chain.h>
#include <linux/sync_file.h>

#include <drm/drm_syncobj.h>

#include "patchbay/abi/patch.h"
#include "patchbay/render.h"
#include "pbd_job.h"

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
	bool held_up; /* it would keep too much of VRAM while it waits (pbd_hold.c) */

	struct pbd_signal *signals;
	u32 signal_count;
	struct sync_file *sync_file;
	int fd;
	struct ww_acquire_ctx ticket;
};

static inline void pbd_set_address(u32 *low, u64 address)
{
	low[0] = lower_32_bits(address);
	low[1] = upper_32_bits(address);
}

/* pbd_submit.c: copies of the user's; objects, each once, in the order of their locks */
int pbd_copy(void **to, u64 from, size_t count, size_t bytes);
u32 pbd_object_index(const struct pbd_job *job, const struct drm_gem_object *object);
int pbd_unique_objects(struct pbd_submit *submit);
struct pbd_job *pbd_job_make(struct pbd_device *dev, struct pbd_file *file, u32 queue);
void pbd_submit_free(struct pbd_submit *submit);

/* pbd_translate.c */
bool pbd_find(void *context, uint32_t handle, struct pb_render_allocation *allocation);
int pbd_render_errno(enum pb_render_status status);
int pbd_make_outputs(struct pbd_submit *submit);
int pbd_translate(struct pbd_submit *submit);
int pbd_take_patches(struct pbd_submit *submit);

/* pbd_sync.c: fences that the submission waits for, and what it signals. pbd_add_fences() consumes the reference. */
int pbd_add_fences(struct pbd_job *job, struct dma_fence *head);
int pbd_add_named_fences(struct pbd_submit *submit);
int pbd_add_object_fences(struct pbd_submit *submit);
void pbd_add_callbacks(struct pbd_job *job);
int pbd_prepare_signals(struct pbd_submit *submit);
void pbd_publish_signals(struct pbd_submit *submit, struct dma_fence *fence);
void pbd_free_signals(struct pbd_submit *submit);
int pbd_make_fence(struct pbd_submit *submit);

/* pbd_lists.c */
u32 pbd_job_bytes(const struct pbd_job *job);
int pbd_charge(struct pbd_job *job);
void pbd_encode(struct pbd_job *job);

/* pbd_place.c: the objects in VRAM, one submission at a time */
bool pbd_is_claimed(struct pbd_submit *submit);
int pbd_place_all(struct pbd_submit *submit);
int pbd_address_lists(struct pbd_submit *submit);
int pbd_lock_validate(struct pbd_submit *submit);
int pbd_with_room(struct pbd_submit *submit, int (*place)(struct pbd_submit *submit));

/* pbd_prime.c: objects that other drivers have as well */
void pbd_job_find_outside(struct pbd_job *job);

/* pbd_hold.c: what submissions keep of VRAM while they wait for others */
bool pbd_holds_too_much(struct pbd_submit *submit);
int pbd_hold_wait(struct pbd_submit *submit, unsigned long end);

/* pbd_ring.c: the submission gets its place in its queue */
int pbd_arm(struct pbd_submit *submit);
int pbd_publish(struct pbd_submit *submit);

#endif
