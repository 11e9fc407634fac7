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
 *   host.lock  one move by the engine at a time gets its place in their queue
 *   vram       the allocators of VRAM and the list of objects in it
 *   state      spinlock, interrupts off: submissions, events, end of the card
 *   fence, library locks: spinlocks that take no other
 */
#ifndef PBD_DRV_H
#define PBD_DRV_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/shrinker.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_mm.h>
#include <drm/drm_print.h>

#include "patchbay/patchbay.h"
#include "patchbay/residency.h"
#include "patchbay_drm.h"
#include "pbd_gem.h"
#include "pbd_host.h"
#include "pbd_kms.h"

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
#define PBD_ROOM_JIFFIES pbd_patience(10 * HZ)
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
#define PBD_SEGMENT_HOST 4u
#define PBD_SEGMENT_APERTURE 5u
/* Regions: the MCU's window, what lies outside of it, and an aperture over host memory. */
#define PBD_REGION_HOST 2u
#define PBD_REGIONS 3u
#define PBD_VRAM_REGIONS 2u
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
	bool leaving;           /* the firmware is alive, and has not been told yet that the device is removed */
	bool asleep;            /* nothing but moves enters a ring */
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
	struct pbd_host host;
	struct list_head paged;  /* struct pbd_bo.paged: objects that have pages, longest first */
	unsigned long paged_pages, purgeable_pages; /* of them */

	struct shrinker shrinker;
	atomic64_t purged_pages, swapped_pages; /* that it has given back */

	struct workqueue_struct *push_wq, *card_wq; /* fences depend on them */
	struct workqueue_struct *clean_wq;          /* allocates, waits */
	struct work_struct clean;
	struct delayed_work watch, attach;
	u32 clock, clock_ticks; /* as the watchdog saw it */
	unsigned long clock_moved;
	bool clock_busy;
	u32 restarts;
	struct notifier_block sleep; /* the machine is to sleep, or has slept */
	atomic64_t file_ids;
	struct pbd_virt_device virt;
};

/* A time-out of the user's in jiffies; below 0: for ever. No wait ends early: the tick that is under way does not count. */
static inline long pbd_timeout(s64 ns)
{
	if (ns <= 0)
		return ns < 0 ? MAX_SCHEDULE_TIMEOUT : 0;
	return (long)min_t(u64, nsecs_to_jiffies64((u64)ns) + 2, MAX_SCHEDULE_TIMEOUT);
}

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

	struct work_struct push, carry;
};

/* pbd_card.c: attach, end and return of the card */
void pbd_lock_init(struct pbd_lock *lock);
int pbd_errno(enum pb_error error);
void pbd_card_init(struct pbd_device *dev);
int pbd_card_attach(struct pbd_device *dev, unsigned int timeout_ms);
void pbd_card_detach(struct pbd_device *dev);
void pbd_card_forget(struct pbd_device *dev);
void pbd_card_lost(struct pbd_device *dev, int result, const char *why);
void pbd_card_watch(struct pbd_device *dev);
void pbd_card_watch_work(struct work_struct *work);
void pbd_card_attach_work(struct work_struct *work);

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

/* pbd_ring.c, pbd_fence.c: submissions on their way (pbd_job.h) */
void pbd_push_work(struct work_struct *work);
void pbd_carry_work(struct work_struct *work);
void pbd_retire(struct pbd_device *dev);
void pbd_end_all(struct pbd_device *dev, int result);
void pbd_clean_work(struct work_struct *work);

/* pbd_show.c: fdinfo, debugfs */
void pbd_show_fdinfo(struct seq_file *m, struct file *f);
void pbd_show_why(struct seq_file *m, struct pb_queue *queue, bool there);
void pbd_busy_charge(struct pbd_device *dev, struct pbd_account *account, u32 node, u64 begun_ns);
void pbd_debugfs_init(struct drm_minor *minor);

/* pbd_submit.c */
int pbd_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

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

/* pbd_pm.c: sleep of the machine; pbd_card_find() is in pbd_drv.c */
int pbd_card_find(struct pbd_device *dev);
extern const struct dev_pm_ops pbd_pm_ops;
void pbd_pm_init(struct pbd_device *dev);
void pbd_pm_end(struct pbd_device *dev);

/* pbd_i915.c */
extern const struct drm_driver pbd_i915_driver;
void pbd_i915_identity(struct pbd_device *dev, bool shown);
void pbd_i915_debugfs_init(struct drm_minor *minor);
void pbd_capture_close(struct pbd_device *dev, struct drm_file *file);

/* What the driver is with each uAPI. */
#define PBD_DRIVER_COMMON                                                                                              \
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE | DRIVER_MODESET |    \
			   DRIVER_ATOMIC,                                                                              \
	.open = pbd_file_open,                                                                                         \
	.dumb_create = pbd_dumb_create,                                                                                \
	.debugfs_init = pbd_debugfs_init,                                                                              \
	.prime_handle_to_fd = drm_gem_prime_handle_to_fd,                                                              \
	.prime_fd_to_handle = drm_gem_prime_fd_to_handle,                                                              \
	.gem_prime_import_sg_table = pbd_prime_import,                                                                 \
	.gem_prime_mmap = pbd_prime_mmap_own,                                                                          \
	.fops = &pbd_fops

extern const struct file_operations pbd_fops;
extern bool pbd_virtgpu;
extern unsigned int pbd_gl_hang_ms;
extern bool pbd_unsafe;
extern bool pbd_fbdev;
extern bool pbd_i915;
extern unsigned int pbd_card_timeout_ms;
extern unsigned int pbd_vram_mb;
extern unsigned int pbd_outer_mb;
extern bool pbd_host_memory;

/* How long the driver waits for what the card is to do: as long as the card may stand still, and at least so many jiffies. */
static inline unsigned long pbd_patience(unsigned long least)
{
	return max(least, msecs_to_jiffies(pbd_card_timeout_ms));
}

#endif
