/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Host memory: pages of the machine that the card's engines reach, and moves that the engine carries out. */
#ifndef PBD_HOST_H
#define PBD_HOST_H

#include <linux/mutex.h>

#include "patchbay/patchbay.h"

struct pbd_bo;
struct pbd_device;
struct pbd_job;
struct pbd_queue;
struct pbd_room;

struct pbd_host {
	struct pb_segment segment; /* all pages that are granted: the engines move them, and read paging buffers there */
	u64 start, bytes;          /* their physical addresses; written under card, 0 bytes: none */
	struct pbd_queue *queue;   /* of the moves; NULL: there never was host memory */
	struct mutex lock;         /* one move at a time gets its place in the queue */
	struct dma_fence *last;    /* of the moves; under lock */
	bool failed;               /* a move failed: nothing is known of memory any more; under state */
	struct list_head kept;     /* struct pbd_job.link: engines may still be at their memory; under state */
	atomic64_t engine_bytes, cpu_bytes; /* that were moved */
};

/* What becomes of an object. */
enum pbd_move {
	PBD_MOVE_CLEAR, /* zeros, in VRAM */
	PBD_MOVE_IN,    /* from its pages to VRAM */
	PBD_MOVE_OUT,   /* from VRAM to its pages */
	PBD_MOVE_MAP,   /* its pages appear at its addresses */
};

/* pbd_host.c */
void pbd_host_init(struct pbd_host *host);
void pbd_host_make(struct pbd_device *dev);
void pbd_host_attached(struct pbd_device *dev);
void pbd_host_end(struct pbd_device *dev, bool left);
bool pbd_host_reaches(const struct pbd_device *dev, struct page *const *pages, unsigned long count);
bool pbd_host_keeps(struct pbd_device *dev, struct pbd_job *job);
bool pbd_host_is_unsure(struct pbd_device *dev, const struct pbd_bo *bo);

/* pbd_move.c */
int pbd_bo_move(struct pbd_device *dev, struct pbd_bo *bo, enum pbd_move move, struct pbd_room *room);
int pbd_bo_settle(struct pbd_bo *bo, bool interruptible);
void pbd_move_ended(struct pbd_job *job);

#endif
