/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The guest's OpenGL: with the parameter virtgpu=1 the driver offers the 3D part of virtio-gpu's uAPI
 * (<drm/virtgpu_drm.h>) instead of its own, so that an unmodified Mesa draws through the firmware and the card's GL
 * engine. A file that draws has a client of host/gl: a context, two queues, and so a renderer of its own at the card.
 *
 * Locks, outer ones first, before those of pbd_drv.h but for `card`: lock of a client, card (read), lock of a resource's
 * copies, commands, resv. No task holds the locks of two clients.
 */
#ifndef PBD_VIRTGPU_H
#define PBD_VIRTGPU_H

#include <linux/iosys-map.h>

#include <drm/drm_gem_shmem_helper.h>
#include <drm/virtgpu_drm.h>

#include "host/gl/client.h"
#include "pbd_drv.h"

/* The client of one file. */
struct pbd_virt {
	struct kref refs; /* the file, and each object that the file has made */
	struct pbd_device *dev;
	struct mutex lock; /* of the client, and of its calls */
	struct pbd_virt_waiter {
		struct list_head link;    /* dev->virt.waiters, during a call */
		struct task_struct *task; /* the caller */
		int irqs_seen;
	} waiter;

	/* Under lock. */
	u32 epoch;  /* of the device when the client was started */
	bool ready; /* it was started, and has not ended */
	struct pb_gl_client *client;
	struct pb_gl_client_setup setup;
	struct pbd_lock queue_lock, paging_lock;
	struct pb_queue queue, paging;
	struct pb_memory slots[PB_GL_CLIENT_SLOTS_MIN], buffer;
	struct drm_gem_object *staging;

	u64 fence_context;
	struct pbd_account *account; /* the file's; NULL: there is no file */

	/* Under state. */
	struct list_head link;   /* dev->virt.clients, while fences may be pending */
	struct list_head fences; /* struct pbd_virt_fence.link, in order */
	u64 seqno;
};

/* The fence of what a client has submitted up to a value. */
struct pbd_virt_fence {
	struct dma_fence base;
	spinlock_t lock;
	struct list_head link;
	u64 value; /* of the client's queue */
	u64 begun_ns;
};

/* A resource in a file: its contents at the renderer of the file's client. */
struct pbd_virt_copy {
	struct list_head link;
	struct pbd_virt *virt;
	u32 handles; /* of the file */
	u64 version; /* of the contents */
};

/* A resource: memory of the guest, and its contents at the renderer of each client that has a handle of it. */
struct pbd_virt_bo {
	struct drm_gem_shmem_object base;
	u32 number; /* by which streams name it */
	u32 template_words[PB_GL_TEMPLATE_WORDS];
	struct iosys_map map;          /* of the memory, as long as the object exists */
	struct drm_gem_object *shadow; /* what the display reads */
	bool shared;                   /* a second file had a handle of it, now or once */

	struct mutex lock;
	/* Under lock. */
	struct list_head copies; /* struct pbd_virt_copy.link */
	u64 version;             /* of the newest contents: 1 when it is made */
	struct pbd_virt *writer; /* whose copy has them; NULL: none, they are staged or lost */
	void *staged;            /* contents on their way from copy to copy, rows in order; NULL: never any */
	u64 staged_version;      /* 0: nothing of use */
};

static inline struct pbd_virt_bo *pbd_virt_bo(struct drm_gem_object *object)
{
	return container_of(to_drm_gem_shmem_obj(object), struct pbd_virt_bo, base);
}

static inline struct pbd_virt *pbd_virt_of(struct drm_file *drm_file)
{
	struct pbd_file *file = drm_file->driver_priv;

	return file->virt;
}

/* pbd_virtgpu_client.c */
struct pbd_virt *pbd_virt_alloc(struct pbd_device *dev);
u32 pbd_virt_node(const struct pbd_device *dev);
void pbd_virt_put(struct pbd_virt *virt);
int pbd_virt_enter(struct pbd_virt *virt);
int pbd_virt_leave(struct pbd_virt *virt);
void pbd_virt_end(struct pbd_virt *virt);
bool pbd_virt_enter_last(struct pbd_virt *virt);
void pbd_virt_leave_last(struct pbd_virt *virt, bool works);

/* pbd_virtgpu_fence.c */
struct pbd_virt_fence *pbd_virt_fence_alloc(struct pbd_virt *virt);
struct dma_fence *pbd_virt_fence_arm(struct pbd_virt *virt, struct pbd_virt_fence *fence);
void pbd_virt_signal(struct pbd_virt *virt, u64 value, int result);

/* pbd_virtgpu_resource.c */
bool pbd_virt_is_resource(const struct drm_gem_object *object);
struct drm_gem_object *pbd_virt_gem_create(struct drm_device *drm, size_t size);
int pbd_virt_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);
int pbd_virt_info_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);
int pbd_virt_map_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);
int pbd_virt_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);
int pbd_virt_to_host_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);
int pbd_virt_from_host_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);

/* pbd_virtgpu_show.c */
void pbd_virt_count_memory(const struct pbd_virt *virt, u64 *vram);
void pbd_virt_show_clients(struct seq_file *m, struct pbd_device *dev);

/* pbd_virtgpu_share.c */
int pbd_virt_copy_open(struct pbd_virt_bo *bo, struct pbd_virt *virt);
void pbd_virt_copy_close(struct pbd_virt_bo *bo, struct pbd_virt *virt);
int pbd_virt_fetch(struct pbd_virt_bo *bo, struct pbd_virt *virt);
void pbd_virt_refresh(struct pbd_virt_bo *bo, struct pbd_virt *virt);
void pbd_virt_note_written(struct pbd_virt_bo *bo, struct pbd_virt *virt);
struct pbd_virt *pbd_virt_writer(struct pbd_virt_bo *bo);

/* pbd_virtgpu_exec.c */
int pbd_virt_exec_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);

#endif
