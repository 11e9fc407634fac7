// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Calls of a chain: objects, queues, submissions, files. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chain.h"


int chain_close_object(struct chain *chain, uint32_t handle)
{
	struct drm_gem_close arguments = {.handle = handle};

	return handle == 0 ? 0 : chain_do(chain, DRM_IOCTL_GEM_CLOSE, &arguments);
}

static int info(struct chain *chain)
{
	struct drm_patchbay_info arguments = {0};

	return chain_do(chain, DRM_IOCTL_PATCHBAY_INFO, &arguments);
}

static int gem_create(struct chain *chain)
{
	struct drm_patchbay_gem_create create = {.size = chain_size(chain), .flags = chain_some(chain, 4)};
	int result = chain_do(chain, DRM_IOCTL_PATCHBAY_GEM_CREATE, &create);

	if (result == 0)
		(void)chain_close_object(chain, chain_keep(chain, CHAIN_OBJECT, create.handle));
	return result;
}

static int gem_info(struct chain *chain)
{
	struct drm_patchbay_gem_info arguments = {.handle = chain_take(chain, CHAIN_OBJECT)};

	return chain_do(chain, DRM_IOCTL_PATCHBAY_GEM_INFO, &arguments);
}

static int gem_wait(struct chain *chain)
{
	struct drm_patchbay_gem_wait arguments = {.handle = chain_take(chain, CHAIN_OBJECT), .flags = chain_some(chain, 2),
						  .timeout_ns = chain_limit(chain)};

	return chain_do(chain, DRM_IOCTL_PATCHBAY_GEM_WAIT, &arguments);
}

static int gem_advise(struct chain *chain)
{
	struct drm_patchbay_gem_madvise arguments = {.handle = chain_take(chain, CHAIN_OBJECT),
						     .advice = chain_some(chain, 3) == 0 ? PATCHBAY_GEM_DONTNEED :
											   PATCHBAY_GEM_WILLNEED};

	return chain_do(chain, DRM_IOCTL_PATCHBAY_GEM_MADVISE, &arguments);
}

/* The system asks the driver for memory. */
static int shrink(struct chain *chain)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC), result = 0;

	(void)chain;
	if (fd < 0)
		return errno;
	if (write(fd, "2", 1) != 1)
		result = errno;
	close(fd);
	return result;
}

static int gem_close(struct chain *chain)
{
	struct drm_gem_close arguments = {.handle = chain_forget(chain, CHAIN_OBJECT)};

	return chain_do(chain, DRM_IOCTL_GEM_CLOSE, &arguments);
}

/* Maps an object, writes a word of each of its first pages, and leaves it again. */
static int map(struct chain *chain)
{
	struct drm_patchbay_gem_info arguments = {.handle = chain_take(chain, CHAIN_OBJECT)};
	int result = chain_ioctl_plain(chain->files[chain->file], DRM_IOCTL_PATCHBAY_GEM_INFO, &arguments);
	uint64_t bytes = arguments.size < 65536 ? arguments.size : 65536;
	volatile uint32_t *words;

	if (result != 0)
		return result;
	/* One that is absurdly large would take the memory of the machine. */
	if (arguments.size > CHAIN_BYTES_MAX)
		return CHAIN_NOTHING;
	words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, chain_some(chain, 8) == 0 ? MAP_PRIVATE : MAP_SHARED,
		     chain->files[chain->file], (off_t)arguments.offset);
	if (words == MAP_FAILED)
		return errno;
	for (uint64_t i = 0; i < bytes / 4; i += 1024)
		words[i] += 1;
	munmap((void *)words, bytes);
	return 0;
}

static int prime_export(struct chain *chain)
{
	struct drm_prime_handle prime = {.handle = chain_take(chain, CHAIN_OBJECT),
					 .flags = DRM_CLOEXEC | (chain_some(chain, 2) ? DRM_RDWR : 0), .fd = -1};
	int result = chain_do(chain, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);

	if (result == 0)
		chain_keep_fd(chain, CHAIN_BUFFER, prime.fd);
	return result;
}

/* Also into another file than the one that it is from, and buffers of vgem. */
static int prime_import(struct chain *chain)
{
	struct drm_prime_handle prime = {.fd = chain_take_fd(chain, CHAIN_BUFFER)};
	int result = chain_do(chain, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);

	if (result == 0)
		(void)chain_close_object(chain, chain_keep(chain, CHAIN_OBJECT, prime.handle));
	return result;
}

/* ---- queues and submissions ---- */

static uint32_t queue(struct chain *chain)
{
	uint32_t made = chain_take(chain, CHAIN_QUEUE);

	return made == 0 || chain_some(chain, 3) == 0 ? chain_some(chain, 4) : made;
}

static int queue_destroy_number(struct chain *chain, uint32_t number)
{
	struct drm_patchbay_queue arguments = {.queue = number};

	return number == 0 ? CHAIN_NOTHING : chain_do(chain, DRM_IOCTL_PATCHBAY_QUEUE_DESTROY, &arguments);
}

static int queue_create(struct chain *chain)
{
	struct drm_patchbay_queue_create create = {.node = chain_some(chain, 4), .priority = chain_some(chain, 5),
						   .quantum_us = chain_some(chain, 2) * 2000};
	int result = chain_do(chain, DRM_IOCTL_PATCHBAY_QUEUE_CREATE, &create);

	if (result == 0)
		(void)queue_destroy_number(chain, chain_keep(chain, CHAIN_QUEUE, create.queue));
	return result;
}

static int queue_destroy(struct chain *chain)
{
	return queue_destroy_number(chain, chain_forget(chain, CHAIN_QUEUE));
}

static int queue_query(struct chain *chain)
{
	struct drm_patchbay_queue_query arguments = {.queue = queue(chain)};

	return chain_do(chain, DRM_IOCTL_PATCHBAY_QUEUE_QUERY, &arguments);
}

static int queue_clear(struct chain *chain)
{
	struct drm_patchbay_queue arguments = {.queue = queue(chain)};

	return chain_do(chain, DRM_IOCTL_PATCHBAY_QUEUE_CLEAR, &arguments);
}

static void list_syncs(struct chain *chain, struct drm_patchbay_sync *syncs, uint32_t *count, bool waits)
{
	*count = chain_some(chain, 3) == 0 ? 1 + chain_some(chain, 2) : 0;
	for (uint32_t i = 0; i < *count; i++) {
		syncs[i] = (struct drm_patchbay_sync){.handle = chain_take(chain, CHAIN_SYNCOBJ)};
		if (chain_some(chain, 2))
			syncs[i].point = waits ? chain_point(chain) : chain_next_point(chain);
	}
}

/* Patches of the target, most of them right; now and then a list that is long enough for the compact form. */
static void list_patches(struct chain *chain, struct guest_work *work)
{
	const uint32_t count = chain_some(chain, 12) == 0 ? 600 : 1 + chain_some(chain, 8);

	work->args.flags |= PATCHBAY_SUBMIT_PATCH;
	work->args.target = work->allocations[chain_some(chain, work->args.allocation_count)].handle;
	work->args.end = 4096;
	for (uint32_t i = 0; i < count; i++)
		work->patches[work->args.patch_count++] = (struct drm_patchbay_patch){
			.allocation_index = chain_some(chain, work->args.allocation_count),
			.format = chain_some(chain, 8) == 0 ? chain_some(chain, 12) : 1,
			.allocation_offset = chain_some(chain, 1024) * 4,
			.patch_offset = chain_some(chain, 200) == 0 ? (uint32_t)chain_odd(chain) : i * 4,
		};
}

/* Fills and copies within the first page of objects, seldom beyond. */
static void list_commands(struct chain *chain, struct guest_work *work)
{
	for (uint32_t i = 1 + chain_some(chain, 4); i > 0; i--) {
		const uint32_t to = chain_some(chain, work->args.allocation_count), bytes = 4 + chain_some(chain, 512) * 4;
		const uint32_t from = chain_some(chain, work->args.allocation_count);
		const uint32_t at = chain_some(chain, 40) == 0 ? (uint32_t)chain_odd(chain) : chain_some(chain, 512) * 4;

		work->allocations[to].flags = PATCHBAY_ALLOCATION_WRITE;
		if (chain_some(chain, 2) || from == to)
			guest_fill(work, to, at, bytes, guest_random(&chain->chance));
		else
			guest_copy(work, from, chain_some(chain, 512) * 4, to, at, bytes);
	}
	if (chain_some(chain, 20) == 0)
		guest_busy(work, chain_some(chain, 2000));
}

static int submit(struct chain *chain)
{
	static struct guest_work work;
	struct drm_patchbay_sync in[3], out[3];
	int result;

	guest_work_start(&work, queue(chain));
	for (uint32_t i = 1 + chain_some(chain, 4); i > 0; i--)
		guest_allocation(&work, chain_take(chain, CHAIN_OBJECT), chain_some(chain, 2));
	if (chain_some(chain, 3) == 0)
		list_patches(chain, &work);
	else
		list_commands(chain, &work);
	list_syncs(chain, in, &work.args.in_count, true);
	list_syncs(chain, out, &work.args.out_count, false);
	work.args.in_syncs = (uintptr_t)in;
	work.args.out_syncs = (uintptr_t)out;
	work.args.flags |= chain_some(chain, 4) == 0 ? PATCHBAY_SUBMIT_EXPLICIT : 0;
	work.args.flags |= chain_some(chain, 2) ? PATCHBAY_SUBMIT_FENCE_OUT : 0;
	if (chain_some(chain, 4) == 0) {
		work.args.in_fence_fd = chain_take_fd(chain, CHAIN_FENCE);
		work.args.flags |= PATCHBAY_SUBMIT_FENCE_IN;
	}
	work.args.commands = (uintptr_t)work.words;
	work.args.command_bytes = work.count * 4;
	work.args.allocations = (uintptr_t)work.allocations;
	work.args.patches = (uintptr_t)work.patches;
	result = chain_do(chain, DRM_IOCTL_PATCHBAY_SUBMIT, &work.args);
	atomic_fetch_add(&chain->shared->refusals[work.args.refusal % CHAIN_REFUSALS], 1);
	if (result == 0 && (work.args.flags & PATCHBAY_SUBMIT_FENCE_OUT))
		chain_keep_fd(chain, CHAIN_FENCE, work.args.out_fence_fd);
	return result;
}

static int wait_value(struct chain *chain)
{
	struct drm_patchbay_queue_query query = {.queue = queue(chain)};
	struct drm_patchbay_wait arguments = {.queue = query.queue, .timeout_ns = chain_limit(chain)};

	if (chain_ioctl_plain(chain->files[chain->file], DRM_IOCTL_PATCHBAY_QUEUE_QUERY, &query) == 0)
		arguments.value = query.submitted - (query.submitted > 2 ? chain_some(chain, 3) : 0);
	return chain_do(chain, DRM_IOCTL_PATCHBAY_WAIT, &arguments);
}

/* ---- files ---- */

/* A file that has used a queue is closed while that may still run. */
static int open_and_close(struct chain *chain)
{
	static struct guest_work work;
	struct drm_patchbay_gem_create create = {.size = 4096};
	int fd = guest_open();

	if (fd < 0)
		return ENODEV;
	if (chain_ioctl_plain(fd, DRM_IOCTL_PATCHBAY_GEM_CREATE, &create) == 0) {
		guest_work_start(&work, chain_some(chain, 2));
		guest_allocation(&work, create.handle, true);
		guest_fill(&work, 0, 0, 4096, 1);
		(void)guest_submit(fd, &work);
	}
	close(fd);
	return 0;
}

const struct chain_call chain_objects[] = {
	{"INFO", info, 2},
	{"GEM_CREATE", gem_create, 12},
	{"GEM_INFO", gem_info, 4},
	{"GEM_WAIT", gem_wait, 6},
	{"GEM_MADVISE", gem_advise, 6},
	{"shrink", shrink, 1},
	{"GEM_CLOSE", gem_close, 4},
	{"mmap", map, 8},
	{"QUEUE_CREATE", queue_create, 6},
	{"QUEUE_DESTROY", queue_destroy, 4},
	{"QUEUE_QUERY", queue_query, 4},
	{"QUEUE_CLEAR", queue_clear, 14},
	{"SUBMIT", submit, 60},
	{"WAIT", wait_value, 10},
	{"PRIME_HANDLE_TO_FD", prime_export, 6},
	{"PRIME_FD_TO_HANDLE", prime_import, 6},
	{"open and close", open_and_close, 2},
	{NULL, NULL, 0},
};
