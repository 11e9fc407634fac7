/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the files of the Patchbay DRM driver share.
 *
 * Locks, outer ones first:
 *
 *   claim      one submission at a time waits for objects of others to become idle, to have their room
 *   validate   one submission at a time is placed and armed; its holder waits for no fence
 *   card       read: the firmware's objects stay; write: they are made anew
 *   commands   one control command at a time
 *   resv       of an object: its placement
 *   vram       the allocators of VRAM and the list of objects in it
 *   state      spinlock, interrupts off: submissions, events, end of the card
 *   fence, library locks: spinlocks that take no other
 */
#ifndef PBD_DRV_H
#define PBD_DRV_H

#include <linux/dma-fence.h>
#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <drm/drm_connector.h>
#include <drm/drm_crtc.h>
#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_encoder.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_mm.h>
#include <drm/drm_plane.h>
#include <drm/drm_print.h>

#include "patchbay/patchbay.h"
#include "patchbay/residency.h"
#include "patchbay_drm.h"

/* Bytes of one command buffer; descriptors of a ring; submissions of a queue that may be unfinished. */
#define PBD_COMMAND_BYTES_MAX 65536u
#define PBD_RING_ENTRIES 32u
#define PBD_QUEUE_JOBS 32u
/*
 * Card memory for lists and engine buffers of the submissions in the rings: for updates of the display, for small
 * submissions, and for larger ones, of which the largest fits. A file has a part of it, or one submission.
 */
#define PBD_DISPLAY_BYTES (64u << 10)
#define PBD_SMALL_BYTES (384u << 10)
#define PBD_LARGE_BYTES (832u << 10)
#define PBD_ARENA_BYTES (PBD_DISPLAY_BYTES + PBD_SMALL_BYTES + PBD_LARGE_BYTES)
#define PBD_SMALL_JOB_BYTES 16384u
#define PBD_SMALL_PARTS 3u
#define PBD_LARGE_PARTS 4u
/* From so many patch locations on a list is encoded compactly, so that the longest one of the card has room. */
#define PBD_LONG_LIST 512u
/* Kernel memory for lists of a file's unfinished submissions, unless it is one submission. */
#define PBD_STAGED_BYTES (8u << 20)
/* How long a submission waits for objects of others to become idle, and an update of the display for earlier ones. */
#define PBD_ROOM_JIFFIES (10 * HZ)
/* Fences that one submission may wait for in the kernel; syncobjs of one submission. */
#define PBD_DEPS_MAX 1024u
#define PBD_SYNCS_MAX 256u
/* Contexts that a card may have, of which some wait for a new queue. */
#define PBD_CONTEXTS_MAX 512u
/* Nodes that a card may have, at most. */
#define PBD_NODES_MAX 16u
/* Segment numbers. */
#define PBD_SEGMENT_WINDOW 1u
#define PBD_SEGMENT_OUTER 2u
#define PBD_SEGMENT_VIRT 3u
#define PBD_REGIONS 2u
/* Bytes of the GL engine's capability sets. */
#define PBD_CAPS1_BYTES 308u
#define PBD_CAPS2_BYTES 1376u

/* A short lock of the host library. */
struct pbd_lock {
	struct pb_lock base;
	spinlock_t lock;
	unsigned long flags; /* the holder's */
};

/* State of the card. */
enum pbd_state {
	PBD_DOWN, /* not attached: fences have ended with an error */
	PBD_UP,
};

/* A part of VRAM: a segment of the firmware. */
struct pbd_region {
	struct pb_segment segment;
	struct drm_mm mm;  /* bytes from the segment's start; under vram */
	bool present;      /* under vram */
	u64 used;          /* bytes; under vram */
};

enum {
	PBD_ARENA_DISPLAY,
	PBD_ARENA_SMALL,
	PBD_ARENA_LARGE,
	PBD_ARENAS,
};

/* A part of the memory for lists. */
struct pbd_arena {
	struct drm_mm mm;        /* bytes of arena_memory, whichever attachment that is of */
	struct list_head hungry; /* struct pbd_queue.hungry: whose first submission waits for room, longest first */
};

/* What a file has of the things that are shared. Its queues hold it. */
struct pbd_account {
	struct kref refs;
	u64 id;                 /* of the file; 0: the driver's own */
	wait_queue_head_t wait; /* for `staged` */

	/* Under state. */
	u32 used[PBD_ARENAS];       /* bytes of the memory for lists */
	u64 staged;                 /* bytes of lists in kernel memory */
	u64 busy_ns[PBD_NODES_MAX]; /* engine time */
	bool blocked;               /* a queue waits until another one of the file has put something into its ring */
};

/* The display. */
struct pbd_kms {
	struct drm_plane plane;
	struct drm_crtc crtc;
	struct drm_encoder encoder;
	struct drm_connector connector;
	struct hrtimer timer; /* ticks at each vertical blank */
	ktime_t period;
	bool ticking;
	struct pbd_queue *queue; /* of the blits */
	u64 bytes;               /* for pictures */
	u32 updates;
	bool stale; /* the scan-out lacks an update: the next one is whole */

	/* CRCs: pbd_crc.c. */
	struct mutex shown_lock; /* no update and no CRC at once; under it nothing allocates */
	const u8 *shown;         /* the scan-out, NULL: nothing is shown; under shown_lock */
	u32 shown_width, shown_height, shown_pitch;
	struct work_struct crc_work;
	spinlock_t crc_lock;
	bool crc_on;
	bool crc_pending;        /* under crc_lock */
	u64 crc_first, crc_last; /* frames; under crc_lock */
	u32 *crc_line;
};

/* What the clients of a GL engine share (pbd_virtgpu.h). */
struct pbd_virt_device {
	struct pb_segment segment;            /* addresses of resources */
	struct pb_residency_segment addresses;
	u32 caps1[PBD_CAPS1_BYTES / sizeof(u32)], caps2[PBD_CAPS2_BYTES / sizeof(u32)];
	atomic_t numbers; /* of resources */
	struct list_head clients, waiters; /* under state */
};

/* What the capture of relocations shows; pbd_i915_capture.c. */
struct pbd_capture_shown {
	void *record; /* kvmalloc */
	u32 bytes;
	u32 phase;
	int status;
};

struct pbd_capture {
	struct mutex one; /* submission at a time is shown; outside of all other locks */
	spinlock_t lock;
	wait_queue_head_t wait;
	/* Under lock. */
	struct drm_file *owner;
	struct pbd_capture_shown shown; /* record: until the owner has taken it */
	bool waiting;                   /* a submission waits for the owner */
	u32 number;
};

struct pbd_device {
	struct drm_device drm;
	struct pci_dev *pdev;
	void __iomem *registers;
	u8 *memory;
	resource_size_t memory_start;
	u32 memory_bytes;
	int irq;

	struct pb_link link;
	struct pbd_lock command_lock, kick_lock, event_lock;
	struct pb_channel_locks locks;
	struct pb_channel channel;
	struct pb_card_info info; /* of the last attach that succeeded */
	struct pb_segment system;
	struct pb_memory arena_memory;
	struct pb_memory record_memory; /* a page, for struct pb_scanout */
	struct pbd_kms kms;
	struct pbd_capture capture;
	u16 own_vendor, own_device; /* of the PCI device, while i915's are shown */

	struct mutex claim;
	struct mutex validate;
	struct rw_semaphore card;
	struct mutex commands;
	wait_queue_head_t irq_wait;
	atomic_t irqs;
	int irqs_seen; /* by the holder of commands */
	bool abort;    /* commands end at once */
	/*
	 * Contexts without a queue; under commands. The firmware frees none while anything of this machine is in flight.
	 */
	u32 spare[PBD_CONTEXTS_MAX];
	u32 spare_count;

	/* Under state. */
	spinlock_t state_lock;
	enum pbd_state state;
	bool removed;
	u32 epoch;              /* of the firmware's objects, from 1 */
	struct list_head queues; /* struct pbd_queue.link */
	struct list_head done;   /* struct pbd_job.link, whose fences have ended */
	u32 jobs;                /* unfinished */
	u64 node_ended_ns[PBD_NODES_MAX]; /* when the node's last submission ended */

	struct pbd_arena arenas[PBD_ARENAS];

	struct mutex vram;
	struct pbd_region regions[PBD_REGIONS];
	struct list_head lru;    /* struct pbd_bo.lru: objects in VRAM, least recently used first */
	struct list_head claims; /* struct pbd_bo.claim: objects that leave VRAM for the holder of `claim` */
	u64 evictions;

	struct workqueue_struct *push_wq, *card_wq; /* fences depend on them */
	struct workqueue_struct *clean_wq;          /* allocates, waits */
	struct work_struct clean;
	struct delayed_work watch, attach;
	u32 clock, clock_ticks; /* as the watchdog saw it */
	unsigned long clock_moved;
	bool clock_busy;
	u32 restarts;
	atomic64_t file_ids;
	struct pbd_virt_device virt;
};

static inline struct pbd_device *pbd_device(struct drm_device *drm)
{
	return container_of(drm, struct pbd_device, drm);
}

/* An open file. */
struct pbd_file {
	struct pbd_device *dev;
	struct pbd_account *account;
	struct mutex lock; /* of queues: creation and numbers */
	struct xarray queues;
	struct pbd_virt *virt; /* NULL: the driver offers its own uAPI */
};

/* A queue of the firmware with its context. A file holds it, and each unfinished submission. */
struct pbd_queue {
	struct kref refs;
	struct pbd_device *dev;
	struct pbd_account *account;
	u32 node, priority, quantum_us;
	u64 fence_context;
	wait_queue_head_t wait; /* a submission has ended */

	/* Under validate. */
	u64 value; /* of the last submission */

	/* The firmware's objects; written under card and validate. */
	u32 epoch; /* of the device when they were made; 0: never */
	u32 context;
	struct pb_queue queue;
	struct pbd_lock lock;

	/* Under state. */
	struct list_head link;    /* dev->queues, while the firmware has it */
	struct list_head pending; /* jobs that wait for fences, in order */
	struct list_head running; /* jobs in the ring, in order */
	struct list_head hungry;  /* of an arena */
	u32 put;                  /* jobs that were put into the ring */
	u64 pushed;               /* value of the last of them */
	bool pushing, again;      /* one thread puts jobs into the ring; it has to look again */
	u32 unfinished;           /* jobs in both lists */
	u64 completed;            /* value */
	bool lost;
	u64 error_value;
	u32 error, error_index, errors;

	struct work_struct push;
};

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

/* A submission, from its preparation to the end of its fence. */
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
	bool filling, ended;      /* the pusher is at it; it has ended in the meantime. Under state */

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

/* An object: memory that lies in VRAM, in pages of the system, or nowhere yet. */
struct pbd_bo {
	struct drm_gem_object base;
	u32 flags;
	/* Of i915's uAPI: what clients tell each other; memory of the caller that its contents come from. */
	u32 tiling;
	u64 user_start;
	struct mm_struct *user_mm; /* NULL: they are its own */
	/* Under resv. */
	struct page **pages;
	bool lost;
	bool touched; /* has had contents */
	u32 pins;
	u32 kmaps; /* mappings of the kernel's own */
	/* Under resv and vram. */
	struct pbd_region *region;
	struct drm_mm_node node;
	struct list_head lru;
	/* Under vram. */
	struct list_head claim; /* dev->claims */
};

/* How objects come by room in VRAM that others have. */
struct pbd_room {
	bool claims;         /* the caller holds `claim` */
	bool alone;          /* the caller waits for `busy` without claiming it: it may come too late again and again */
	struct pbd_bo *busy; /* what to wait for, with a reference; NULL: nothing, but `claim` is needed */
	struct ww_acquire_ctx *ticket; /* of the reservations that the caller has */
	bool held;           /* an object was passed over, since another thread has its reservation for a moment */
};

static inline struct pbd_bo *pbd_bo(struct drm_gem_object *object)
{
	return container_of(object, struct pbd_bo, base);
}

/* pbd_card.c: attach, end and return of the card */
void pbd_lock_init(struct pbd_lock *lock);
int pbd_errno(enum pb_error error);
void pbd_card_init(struct pbd_device *dev);
int pbd_card_attach(struct pbd_device *dev, unsigned int timeout_ms);
void pbd_card_detach(struct pbd_device *dev);
void pbd_card_lost(struct pbd_device *dev, int result, const char *why);
void pbd_card_watch(struct pbd_device *dev);
void pbd_card_watch_work(struct work_struct *work);
void pbd_card_attach_work(struct work_struct *work);

/* pbd_gem.c: objects */
struct drm_gem_object *pbd_bo_create(struct pbd_device *dev, u64 size, u32 flags);
int pbd_bo_place(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room);
int pbd_bo_evict(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room);
int pbd_bo_lock_placed(struct pbd_device *dev, struct pbd_bo *bo);
int pbd_room_wait(struct pbd_room *room, unsigned long end);
bool pbd_bo_is_claimed(struct pbd_device *dev, struct pbd_bo *bo);
void pbd_claims_end(struct pbd_device *dev);
void pbd_bo_unpin(struct drm_gem_object *object);
u32 pbd_bo_memory_offset(const struct pbd_bo *bo);
void pbd_bo_used(struct pbd_device *dev, struct pbd_bo *bo);
void pbd_vram_lost(struct pbd_device *dev);
u64 pbd_bo_os_address(const struct pbd_bo *bo);
u64 pbd_bo_gpu_address(const struct pbd_bo *bo);
void pbd_bo_write(struct pbd_device *dev, struct pbd_bo *bo, const void *contents);
int pbd_dumb_create(struct drm_file *file, struct drm_device *drm, struct drm_mode_create_dumb *args);
int pbd_gem_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_gem_info_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_gem_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

int pbd_bo_get_pages(struct pbd_bo *bo);
/* pbd_vmap.c */
int pbd_bo_vmap(struct drm_gem_object *object, struct iosys_map *map);
void pbd_bo_vunmap(struct drm_gem_object *object, struct iosys_map *map);

/* pbd_queue.c: queues of files */
int pbd_file_open(struct drm_device *drm, struct drm_file *file);
void pbd_file_close(struct drm_device *drm, struct drm_file *file);
void pbd_account_put(struct pbd_account *account);
struct pbd_queue *pbd_queue_of_kernel(struct pbd_device *dev, u32 node);
struct pbd_queue *pbd_queue_get(struct pbd_file *file, u32 number, bool create);
void pbd_queue_put(struct pbd_queue *queue);
int pbd_queue_make(struct pbd_queue *queue);
int pbd_queue_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_queue_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_queue_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_queue_clear_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int pbd_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

/* pbd_fence.c: from the ring to the fence */
struct pbd_fence *pbd_fence_alloc(struct pbd_queue *queue);
void pbd_fence_begin(struct pbd_queue *queue, struct pbd_fence *fence);
bool pbd_fence_is_ours(const struct dma_fence *fence);
bool pbd_fence_waits(const struct pbd_device *dev, struct dma_fence *base);
u32 pbd_job_entry(const struct pbd_job *job, u32 error, u32 index);
u32 pbd_job_bytes(const struct pbd_job *job);
bool pbd_job_take_space(struct pbd_job *job);
void pbd_job_fill(struct pbd_job *job);
void pbd_push(struct pbd_queue *queue);
void pbd_push_work(struct work_struct *work);
void pbd_retire(struct pbd_device *dev);
void pbd_end_all(struct pbd_device *dev, int result);
void pbd_clean_work(struct work_struct *work);
void pbd_job_put(struct pbd_job *job);

/* pbd_submit.c */
int pbd_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

struct pbd_blit {
	struct drm_gem_object *from, *to;
	u32 from_pitch, to_pitch;
	u32 x, y, width, height; /* in pixels, on both sides */
};

struct pbd_job *pbd_blit_prepare(struct pbd_queue *queue, const struct pbd_blit *blit);
struct dma_fence *pbd_blit_go(struct pbd_job *job);

/* pbd_crc.c: CRCs of the display */
void pbd_crc_vblank(struct pbd_kms *kms);
const char *const *pbd_crc_sources(struct drm_crtc *crtc, size_t *count);
int pbd_crc_verify(struct drm_crtc *crtc, const char *source, size_t *values);
int pbd_crc_set(struct drm_crtc *crtc, const char *source);
int pbd_crc_init(struct pbd_kms *kms, struct drm_device *drm);
void pbd_crc_stop(struct pbd_kms *kms);

/* pbd_show.c: fdinfo, debugfs, tracepoints */
void pbd_trace_submit(const struct pbd_job *job);
void pbd_trace_ring(const struct pbd_job *job);
void pbd_trace_signal(const struct pbd_job *job, int result);
void pbd_busy_begin(struct pbd_job *job);
void pbd_busy_end(struct pbd_job *job);
void pbd_show_fdinfo(struct seq_file *m, struct file *f);
void pbd_debugfs_init(struct drm_minor *minor);

/* pbd_kms.c */
int pbd_kms_init(struct pbd_device *dev);
void pbd_kms_stop(struct pbd_device *dev);
void pbd_kms_free(struct pbd_device *dev);

/* pbd_virtgpu.c, pbd_virtgpu_client.c: the guest's OpenGL */
extern const struct drm_driver pbd_virt_driver;
struct drm_gem_object *pbd_virt_picture(struct drm_framebuffer *fb);
int pbd_virt_attach(struct pbd_device *dev);
int pbd_virt_init(struct pbd_device *dev);
int pbd_virt_file_open(struct pbd_file *file);
void pbd_virt_file_close(struct pbd_file *file);
void pbd_virt_retire(struct pbd_device *dev);
void pbd_virt_end_all(struct pbd_device *dev, int result);
int *pbd_virt_irqs_seen(struct pbd_device *dev);

/* pbd_i915.c */
extern const struct drm_driver pbd_i915_driver;
void pbd_i915_identity(struct pbd_device *dev, bool shown);
void pbd_capture_close(struct pbd_device *dev, struct drm_file *file);

extern const struct file_operations pbd_fops;
extern bool pbd_virtgpu;
extern unsigned int pbd_gl_hang_ms;
extern bool pbd_unsafe;
extern bool pbd_fbdev;
extern bool pbd_i915;
extern unsigned int pbd_card_timeout_ms;
extern unsigned int pbd_vram_mb;
extern unsigned int pbd_outer_mb;

#endif
