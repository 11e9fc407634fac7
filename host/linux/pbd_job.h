/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A submission, from its preparation to the end of its fence. */
#ifndef PBD_JOB_H
#define PBD_JOB_H

#include <linux/dma-fence.h>

#include "pbd_drv.h"

/* The fence of a submission. */
struct pbd_fence {
	struct dma_fence base;
	spinlock_t lock;
	struct pbd_device *dev;  /* not held: compare only */
	struct pbd_queue *queue; /* exists until the fence is signaled */
	u64 file;
	u32 node;
	bool begun; /* it is a fence: it has a reference count */
};

/* A fence that a submission waits for in the kernel. */
struct pbd_dep {
	struct dma_fence_cb cb;
	struct dma_fence *fence;
	struct pbd_job *job;
	bool added;
};

struct pbd_job {
	struct kref refs;      /* one while it is on its way, one of the submitter */
	struct list_head link; /* pending, running or done */
	struct pbd_device *dev;
	struct pbd_queue *queue;
	struct pbd_fence *fence;
	struct pb_descriptor descriptor;
	u64 value;
	u32 epoch; /* of the device when its lists were written */
	u32 index; /* in the ring, modulo 2^32 */
	u64 begun_ns; /* when the firmware got it; 0: it has not */
	u32 error, error_index;
	int result;

	/* What the firmware will read: in kernel memory, and from the push on in card memory. */
	u32 *engine;
	u32 engine_bytes;
	struct pb_allocation *entries;
	struct pb_patch_location *locations;
	u32 entry_count, location_count;
	u32 *words; /* the compact encoding of a long list of locations */
	u32 word_count, word_room;
	u64 staged;               /* bytes that the file's account has been charged */
	struct drm_mm_node space; /* under state */
	bool filled;              /* the space has the lists; the pusher's */
	bool held, ended;         /* a worker is at it; it has ended in the meantime. Under state */
	bool outside;             /* an object has its contents outside of VRAM (pbd_prime.c) */
	bool carries_back;        /* and is written */
	bool carried;             /* what was written is where it belongs; under state */

	struct page *paging; /* a paging buffer, in memory of the machine; NULL: the submission is none */
	unsigned int paging_order;

	struct drm_gem_object **listed;  /* of each list entry; NULL: none */
	struct drm_gem_object **objects; /* each once */
	bool *writes;                    /* of each of `objects` */
	u32 listed_count, object_count;

	struct pbd_dep *deps;
	u32 dep_count, dep_room;
	atomic_t waiting;
	struct pbd_queue *awaited[PB_WAITS_MAX];
	u64 awaited_value[PB_WAITS_MAX];
	u32 awaited_count;
};

/* pbd_fence.c: the fence, and the end of a submission */
struct pbd_fence *pbd_fence_alloc(struct pbd_queue *queue);
void pbd_fence_begin(struct pbd_queue *queue, struct pbd_fence *fence);
bool pbd_fence_is_ours(const struct dma_fence *fence);
bool pbd_fence_waits(const struct pbd_device *dev, struct dma_fence *base);
void pbd_job_put(struct pbd_job *job);
void pbd_end_queue(struct pbd_queue *queue, int result, enum pb_error error);

/* pbd_sync.c: the fences that it waits for */
void pbd_job_release_deps(struct pbd_job *job);

/* pbd_lists.c: memory for its lists */
u32 pbd_job_entry(const struct pbd_job *job, u32 error, u32 index);
unsigned int pbd_job_arena(const struct pbd_job *job);
bool pbd_job_take_space(struct pbd_job *job);
void pbd_job_leave_space(struct pbd_job *job);
void pbd_job_fill(struct pbd_job *job);

/* pbd_prime.c: objects that other drivers have as well */
void pbd_job_carry(struct pbd_job *job, bool in);
bool pbd_job_ends_later(struct pbd_job *job);

/* pbd_ring.c: from the queue into the ring */
bool pbd_job_blocked(const struct pbd_job *job);
void pbd_job_hold(struct pbd_job *job);
bool pbd_job_release(struct pbd_job *job);
void pbd_push(struct pbd_queue *queue);

/* pbd_blit.c: those of the kernel's own */
struct pbd_blit {
	struct drm_gem_object *from, *to;
	u32 from_pitch, to_pitch;
	u32 x, y, width, height; /* in pixels, on both sides */
};

struct pbd_job *pbd_blit_prepare(struct pbd_queue *queue, const struct pbd_blit *blit);
struct dma_fence *pbd_blit_go(struct pbd_job *job);

/* pbd_show.c: tracepoints, engine time */
void pbd_trace_submit(const struct pbd_job *job);
void pbd_trace_ring(const struct pbd_job *job);
void pbd_trace_signal(const struct pbd_job *job, int result);
void pbd_busy_begin(struct pbd_job *job);
void pbd_busy_end(struct pbd_job *job);

#endif
