// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * EXECBUFFER of virtio-gpu's uAPI: a stream of virgl commands, which host/gl checks and submits, and its fences.
 */
#include <linux/file.h>
#include <linux/sync_file.h>
#include <linux/uaccess.h>

#include "pbd_virtgpu.h"

/* Bytes of a command stream; objects that one stream names. */
#define PBD_VIRT_STREAM_BYTES_MAX (4u << 20)
#define PBD_VIRT_OBJECTS_MAX 16384u

/* One call of EXECBUFFER. */
struct pbd_virt_exec {
	struct drm_virtgpu_execbuffer *args;
	struct pbd_virt *virt;
	u32 *words;
	struct drm_gem_object **objects;
	u32 object_count;
	struct pbd_virt_fence *fence;
	struct dma_fence *armed;
	struct ww_acquire_ctx ticket;
};

/* Waits for the fence that the caller names, unless it is of the client's own order. */
static int pbd_virt_exec_in_fence(const struct pbd_virt_exec *exec)
{
	struct dma_fence *fence;
	int ret = 0;

	if (!(exec->args->flags & VIRTGPU_EXECBUF_FENCE_FD_IN))
		return 0;
	fence = sync_file_get_fence(exec->args->fence_fd);
	if (!fence)
		return -EINVAL;
	if (!dma_fence_match_context(fence, exec->virt->fence_context))
		ret = (int)dma_fence_wait(fence, true);
	dma_fence_put(fence);
	return ret;
}

static int pbd_virt_exec_copy(struct pbd_virt_exec *exec, struct drm_file *drm_file)
{
	const struct drm_virtgpu_execbuffer *args = exec->args;
	u32 i;
	int ret;

	exec->fence = pbd_virt_fence_alloc(exec->virt);
	exec->words = kvmalloc(args->size + 4, GFP_KERNEL_ACCOUNT);
	if (!exec->fence || !exec->words)
		return -ENOMEM;
	if (copy_from_user(exec->words, u64_to_user_ptr(args->command), args->size))
		return -EFAULT;
	if (args->num_bo_handles == 0)
		return 0;
	ret = drm_gem_objects_lookup(drm_file, u64_to_user_ptr(args->bo_handles), (int)args->num_bo_handles,
				     &exec->objects);
	if (ret != 0)
		return ret;
	exec->object_count = args->num_bo_handles;
	for (i = 0; i < exec->object_count; i++)
		if (!pbd_virt_is_resource(exec->objects[i]))
			return -EINVAL;
	return 0;
}

/* Submits the stream and publishes its fence. Pre: the client is the caller's. */
static int pbd_virt_exec_reserved(struct pbd_virt_exec *exec)
{
	struct pb_gl_client *client = exec->virt->client;
	int ret = 0;
	u32 i;

	for (i = 0; ret == 0 && i < exec->object_count; i++)
		ret = dma_resv_reserve_fences(exec->objects[i]->resv, 1);
	if (ret != 0)
		return ret;
	if (!pb_gl_client_submit(client, exec->words, exec->args->size / 4) || !pb_gl_client_flush(client))
		return 0; /* pbd_virt_leave() has the error */
	exec->armed = pbd_virt_fence_arm(exec->virt, exec->fence);
	exec->fence = NULL;
	for (i = 0; i < exec->object_count; i++)
		dma_resv_add_fence(exec->objects[i]->resv, exec->armed, DMA_RESV_USAGE_WRITE);
	return 0;
}

/* Brings what other files have written to the objects where it can be taken from. */
static int pbd_virt_exec_fetch(const struct pbd_virt_exec *exec)
{
	int ret = 0;
	u32 i;

	for (i = 0; ret == 0 && i < exec->object_count; i++)
		ret = pbd_virt_fetch(pbd_virt_bo(exec->objects[i]), exec->virt);
	return ret;
}

static int pbd_virt_exec_submit(struct pbd_virt_exec *exec)
{
	int ret = pbd_virt_enter(exec->virt);
	u32 i;

	if (ret != 0)
		return ret;
	for (i = 0; i < exec->object_count; i++)
		pbd_virt_refresh(pbd_virt_bo(exec->objects[i]), exec->virt);
	if (exec->object_count != 0)
		ret = drm_gem_lock_reservations(exec->objects, (int)exec->object_count, &exec->ticket);
	if (ret == 0) {
		ret = pbd_virt_exec_reserved(exec);
		if (exec->object_count != 0)
			drm_gem_unlock_reservations(exec->objects, (int)exec->object_count, &exec->ticket);
	}
	for (i = 0; i < exec->object_count; i++)
		pbd_virt_note_written(pbd_virt_bo(exec->objects[i]), exec->virt);
	return pbd_virt_leave(exec->virt) ?: ret;
}

static int pbd_virt_exec_out_fence(const struct pbd_virt_exec *exec)
{
	struct sync_file *sync_file;
	int fd;

	if (!(exec->args->flags & VIRTGPU_EXECBUF_FENCE_FD_OUT))
		return 0;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	sync_file = sync_file_create(exec->armed);
	if (!sync_file) {
		put_unused_fd(fd);
		return -ENOMEM;
	}
	exec->args->fence_fd = fd;
	fd_install(fd, sync_file->file);
	return 0;
}

static void pbd_virt_exec_free(struct pbd_virt_exec *exec)
{
	u32 i;

	for (i = 0; i < exec->object_count; i++)
		drm_gem_object_put(exec->objects[i]);
	kvfree(exec->objects);
	kvfree(exec->words);
	kfree(exec->fence);
	dma_fence_put(exec->armed);
}

int pbd_virt_exec_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_virtgpu_execbuffer *args = data;
	struct pbd_virt_exec exec = { .args = args, .virt = pbd_virt_of(drm_file) };
	int ret, idx;

	if ((args->flags & ~(VIRTGPU_EXECBUF_FENCE_FD_IN | VIRTGPU_EXECBUF_FENCE_FD_OUT)) || args->size % 4)
		return -EINVAL;
	if (args->size > PBD_VIRT_STREAM_BYTES_MAX || args->num_bo_handles > PBD_VIRT_OBJECTS_MAX)
		return -E2BIG;
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	ret = pbd_virt_exec_in_fence(&exec);
	if (ret == 0)
		ret = pbd_virt_exec_copy(&exec, drm_file);
	if (ret == 0)
		ret = pbd_virt_exec_fetch(&exec);
	if (ret == 0)
		ret = pbd_virt_exec_submit(&exec);
	if (ret == 0)
		ret = pbd_virt_exec_out_fence(&exec);
	pbd_virt_exec_free(&exec);
	drm_dev_exit(idx);
	return ret;
}
