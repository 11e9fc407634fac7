// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Calls of a chain: syncobjs, sync_files, dma_bufs, and another driver's buffers and fences. */
#include <drm/vgem_drm.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "chain.h"

/* ---- syncobjs and sync_files ---- */

static int syncobj_destroy_handle(struct chain *chain, uint32_t handle)
{
	struct drm_syncobj_destroy arguments = {.handle = handle};

	return handle == 0 ? CHAIN_NOTHING : chain_do(chain, DRM_IOCTL_SYNCOBJ_DESTROY, &arguments);
}

static int syncobj_create(struct chain *chain)
{
	struct drm_syncobj_create create = {.flags = chain_some(chain, 3) == 0 ? DRM_SYNCOBJ_CREATE_SIGNALED : 0};
	int result = chain_do(chain, DRM_IOCTL_SYNCOBJ_CREATE, &create);

	if (result == 0)
		(void)syncobj_destroy_handle(chain, chain_keep(chain, CHAIN_SYNCOBJ, create.handle));
	return result;
}

static int syncobj_destroy(struct chain *chain)
{
	return syncobj_destroy_handle(chain, chain_forget(chain, CHAIN_SYNCOBJ));
}

static int syncobj_export(struct chain *chain)
{
	struct drm_syncobj_handle arguments = {.handle = chain_take(chain, CHAIN_SYNCOBJ), .fd = -1,
					       .flags = chain_some(chain, 2)};
	int result = chain_do(chain, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &arguments);

	if (result == 0)
		chain_keep_fd(chain, CHAIN_FENCE, arguments.fd);
	return result;
}

static int syncobj_import(struct chain *chain)
{
	struct drm_syncobj_handle arguments = {.handle = chain_take(chain, CHAIN_SYNCOBJ),
					       .fd = chain_take_fd(chain, CHAIN_FENCE), .flags = chain_some(chain, 2)};
	int result = chain_do(chain, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &arguments);

	if (result == 0 && arguments.flags == 0)
		(void)syncobj_destroy_handle(chain, chain_keep(chain, CHAIN_SYNCOBJ, arguments.handle));
	return result;
}

static int syncobj_wait(struct chain *chain)
{
	uint32_t handles[2] = {chain_take(chain, CHAIN_SYNCOBJ), chain_take(chain, CHAIN_SYNCOBJ)};
	struct drm_syncobj_wait arguments = {.handles = (uintptr_t)handles, .timeout_nsec = guest_now_ns() + chain_limit(chain) % 5000000,
					     .count_handles = 1 + chain_some(chain, 2), .flags = chain_some(chain, 4)};

	return chain_do_plain(chain, DRM_IOCTL_SYNCOBJ_WAIT, &arguments);
}

static int syncobj_timeline_wait(struct chain *chain)
{
	uint32_t handles[2] = {chain_take(chain, CHAIN_SYNCOBJ), chain_take(chain, CHAIN_SYNCOBJ)};
	uint64_t points[2] = {chain_point(chain), chain_point(chain)};
	struct drm_syncobj_timeline_wait arguments = {
		.handles = (uintptr_t)handles, .points = (uintptr_t)points, .count_handles = 1 + chain_some(chain, 2),
		.timeout_nsec = guest_now_ns() + chain_limit(chain) % 5000000, .flags = chain_some(chain, 8)};

	return chain_do_plain(chain, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &arguments);
}

static int syncobj_array(struct chain *chain, unsigned long request)
{
	uint32_t handles[2] = {chain_take(chain, CHAIN_SYNCOBJ), chain_take(chain, CHAIN_SYNCOBJ)};
	struct drm_syncobj_array arguments = {.handles = (uintptr_t)handles, .count_handles = 1 + chain_some(chain, 2)};

	return chain_do_plain(chain, request, &arguments);
}

static int syncobj_reset(struct chain *chain)
{
	return syncobj_array(chain, DRM_IOCTL_SYNCOBJ_RESET);
}

static int syncobj_signal(struct chain *chain)
{
	return syncobj_array(chain, DRM_IOCTL_SYNCOBJ_SIGNAL);
}

static int syncobj_timeline_signal(struct chain *chain)
{
	uint32_t handles[1] = {chain_take(chain, CHAIN_SYNCOBJ)};
	uint64_t points[1] = {chain_next_point(chain)};
	struct drm_syncobj_timeline_array arguments = {.handles = (uintptr_t)handles, .points = (uintptr_t)points,
						       .count_handles = 1};

	return chain_do_plain(chain, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &arguments);
}

/* The kernel writes where the arguments say: they are not spoilt. */
static int syncobj_query(struct chain *chain)
{
	uint32_t handles[1] = {chain_take(chain, CHAIN_SYNCOBJ)};
	uint64_t points[1];
	struct drm_syncobj_timeline_array arguments = {.handles = (uintptr_t)handles, .points = (uintptr_t)points,
						       .count_handles = 1, .flags = chain_some(chain, 2)};

	return chain_ioctl_plain(chain->files[chain->file], DRM_IOCTL_SYNCOBJ_QUERY, &arguments);
}

static int syncobj_transfer(struct chain *chain)
{
	struct drm_syncobj_transfer arguments = {.src_handle = chain_take(chain, CHAIN_SYNCOBJ),
						 .dst_handle = chain_take(chain, CHAIN_SYNCOBJ), .src_point = chain_point(chain),
						 .dst_point = chain_some(chain, 2) ? chain_next_point(chain) : 0};

	return chain_do(chain, DRM_IOCTL_SYNCOBJ_TRANSFER, &arguments);
}

static int sync_file_merge(struct chain *chain)
{
	struct sync_merge_data merge = {.name = "chain", .fd2 = chain_take_fd(chain, CHAIN_FENCE)};
	int result = chain_ioctl_plain(chain_take_fd(chain, CHAIN_FENCE), SYNC_IOC_MERGE, &merge);

	if (result == 0)
		chain_keep_fd(chain, CHAIN_FENCE, merge.fence);
	return result;
}

static int sync_file_info(struct chain *chain)
{
	struct sync_fence_info fences[64];
	struct sync_file_info arguments = {.num_fences = chain_some(chain, 65), .sync_fence_info = (uintptr_t)fences};

	memset(fences, 0, sizeof(fences));
	return chain_ioctl_plain(chain_take_fd(chain, CHAIN_FENCE), SYNC_IOC_FILE_INFO, &arguments);
}

static int poll_fence(struct chain *chain)
{
	struct pollfd poller = {.fd = chain_take_fd(chain, CHAIN_FENCE), .events = POLLIN};

	return poller.fd < 0 ? CHAIN_NOTHING : poll(&poller, 1, 3) < 0 ? errno : 0;
}

static int buffer_export_fence(struct chain *chain)
{
	struct dma_buf_export_sync_file sync = {.flags = 1 + chain_some(chain, 3), .fd = -1};
	int result = chain_ioctl(chain, chain_take_fd(chain, CHAIN_BUFFER), DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &sync);

	if (result == 0)
		chain_keep_fd(chain, CHAIN_FENCE, sync.fd);
	return result;
}

static int buffer_import_fence(struct chain *chain)
{
	struct dma_buf_import_sync_file sync = {.flags = 1 + chain_some(chain, 3), .fd = chain_take_fd(chain, CHAIN_FENCE)};

	return chain_ioctl(chain, chain_take_fd(chain, CHAIN_BUFFER), DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &sync);
}

static int buffer_sync(struct chain *chain)
{
	struct dma_buf_sync arguments = {.flags = chain_some(chain, 8)};

	return chain_ioctl(chain, chain_take_fd(chain, CHAIN_BUFFER), DMA_BUF_IOCTL_SYNC, &arguments);
}

/* ---- another driver's ---- */

static int vgem_buffer(struct chain *chain)
{
	struct drm_mode_create_dumb create = {.width = 64, .height = 16, .bpp = 32};
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
	struct drm_gem_close arguments;
	int result = chain_ioctl_plain(chain->vgem, DRM_IOCTL_MODE_CREATE_DUMB, &create);

	if (result != 0)
		return result;
	prime.handle = arguments.handle = create.handle;
	result = chain_ioctl_plain(chain->vgem, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
	if (result == 0)
		chain_keep_fd(chain, CHAIN_BUFFER, prime.fd);
	(void)chain_ioctl_plain(chain->vgem, DRM_IOCTL_GEM_CLOSE, &arguments);
	return result;
}

/* A fence that vgem ends after 10 s, or this process before. */
static int vgem_fence(struct chain *chain)
{
	struct drm_mode_create_dumb create = {.width = 16, .height = 16, .bpp = 32};
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC};
	struct drm_vgem_fence_attach attach = {.flags = VGEM_FENCE_WRITE};
	struct drm_vgem_fence_signal signal;
	struct dma_buf_export_sync_file sync = {.flags = DMA_BUF_SYNC_RW, .fd = -1};
	static uint32_t waiting[4], at;

	if (chain_ioctl_plain(chain->vgem, DRM_IOCTL_MODE_CREATE_DUMB, &create) != 0)
		return EIO;
	prime.handle = attach.handle = create.handle;
	if (chain_ioctl_plain(chain->vgem, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime) != 0)
		return EIO;
	if (chain_ioctl_plain(chain->vgem, DRM_IOCTL_VGEM_FENCE_ATTACH, &attach) != 0)
		return EIO;
	if (chain_ioctl_plain(prime.fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &sync) == 0)
		chain_keep_fd(chain, CHAIN_FENCE, sync.fd);
	close(prime.fd);
	(void)chain_ioctl_plain(chain->vgem, DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){.handle = create.handle});
	signal.fence = waiting[at % 4];
	waiting[at++ % 4] = attach.out_fence;
	if (signal.fence != 0)
		(void)chain_ioctl_plain(chain->vgem, DRM_IOCTL_VGEM_FENCE_SIGNAL, &signal);
	return 0;
}

const struct chain_call chain_syncs[] = {
	{"vgem buffer", vgem_buffer, 2},
	{"vgem fence", vgem_fence, 4},
	{"SYNCOBJ_CREATE", syncobj_create, 8},
	{"SYNCOBJ_DESTROY", syncobj_destroy, 2},
	{"SYNCOBJ_HANDLE_TO_FD", syncobj_export, 4},
	{"SYNCOBJ_FD_TO_HANDLE", syncobj_import, 4},
	{"SYNCOBJ_WAIT", syncobj_wait, 4},
	{"SYNCOBJ_TIMELINE_WAIT", syncobj_timeline_wait, 4},
	{"SYNCOBJ_RESET", syncobj_reset, 2},
	{"SYNCOBJ_SIGNAL", syncobj_signal, 4},
	{"SYNCOBJ_TIMELINE_SIGNAL", syncobj_timeline_signal, 4},
	{"SYNCOBJ_QUERY", syncobj_query, 2},
	{"SYNCOBJ_TRANSFER", syncobj_transfer, 4},
	{"SYNC_IOC_MERGE", sync_file_merge, 4},
	{"SYNC_IOC_FILE_INFO", sync_file_info, 4},
	{"poll", poll_fence, 4},
	{"EXPORT_SYNC_FILE", buffer_export_fence, 4},
	{"IMPORT_SYNC_FILE", buffer_import_fence, 4},
	{"DMA_BUF_SYNC", buffer_sync, 3},
	{NULL, NULL, 0},
};
