// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Buffers of a driver as files (PRIME, dma-buf), and the fences in them. IGT's prime_self_import, prime_mmap and
 * dmabuf_sync_file demand the same. The fences are vgem's, which a program signals.
 */
#define _GNU_SOURCE
#include <drm/drm.h>
#include <drm/drm_mode.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "kms_checks.h"

#define WIDTH 64u
#define HEIGHT 32u
#define BYTES (WIDTH * HEIGHT * 4u)

static int open_device(void)
{
	int fd = guest_open_primary(kms_driver);

	CHECK(fd >= 0);
	return fd;
}

static uint32_t new_buffer(int fd)
{
	struct drm_mode_create_dumb create = {.width = WIDTH, .height = HEIGHT, .bpp = 32};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	CHECK_EQ(create.size, BYTES);
	return create.handle;
}

/* The buffer as the driver maps it. */
static uint32_t *map_buffer(int fd, uint32_t handle)
{
	struct drm_mode_map_dumb map = {.handle = handle};
	void *words;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_MAP_DUMB, &map), 0);
	words = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.offset);
	CHECK(words != MAP_FAILED);
	return words;
}

static int close_handle(int fd, uint32_t handle)
{
	struct drm_gem_close arguments = {.handle = handle};

	return guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &arguments);
}

static int export_as(int fd, uint32_t handle, uint32_t flags)
{
	struct drm_prime_handle prime = {.handle = handle, .flags = flags};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	return prime.fd;
}

static int export_buffer(int fd, uint32_t handle)
{
	return export_as(fd, handle, DRM_CLOEXEC | DRM_RDWR);
}

static uint32_t import_buffer(int fd, int file)
{
	struct drm_prime_handle prime = {.fd = file};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
	return prime.handle;
}

/* Both handles are of one buffer: what is written by one is read by the other. */
static void check_same(int fd, uint32_t handle, int other, uint32_t other_handle, uint32_t value)
{
	uint32_t *words = map_buffer(fd, handle), *others = map_buffer(other, other_handle);

	words[BYTES / 4 - 1] = value;
	CHECK_EQ(others[BYTES / 4 - 1], value);
	CHECK_EQ(munmap(words, BYTES) | munmap(others, BYTES), 0);
}

/* ---- handles ---- */

void a_buffer_that_returns_has_its_handle(void)
{
	int fd = open_device(), file, second_file, copy;
	uint32_t handle = new_buffer(fd), other = new_buffer(fd);

	file = export_buffer(fd, handle);
	second_file = export_buffer(fd, other);
	copy = dup(file);
	CHECK_EQ(import_buffer(fd, file), handle);
	CHECK_EQ(import_buffer(fd, copy), handle);
	CHECK_EQ(import_buffer(fd, second_file), other);
	/* A buffer has one file: it returns from one that is exported again, too. */
	close(file);
	file = export_buffer(fd, handle);
	CHECK_EQ(import_buffer(fd, file), handle);
	CHECK_EQ(import_buffer(fd, copy), handle);
	/* The handle was never counted. The file keeps the buffer. */
	CHECK_EQ(close_handle(fd, handle), 0);
	CHECK_EQ(close_handle(fd, handle), EINVAL);
	handle = import_buffer(fd, file);
	CHECK(handle != other);
	CHECK_EQ(import_buffer(fd, copy), handle);
}

void handles_of_two_files_are_counted(void)
{
	int first = open_device(), second = open_device(), file, again;
	uint32_t handle = new_buffer(first), theirs;

	(void)new_buffer(second);
	file = export_buffer(first, handle);
	theirs = import_buffer(second, file);
	CHECK_EQ(import_buffer(second, file), theirs);
	check_same(first, handle, second, theirs, 0x1001);
	/* Back from where it has gone. */
	again = export_buffer(second, theirs);
	CHECK_EQ(import_buffer(first, again), handle);
	close(again);
	CHECK_EQ(close_handle(second, theirs), 0);
	CHECK_EQ(close_handle(second, theirs), EINVAL);
	theirs = import_buffer(second, file);
	check_same(first, handle, second, theirs, 0x1002);
	/* The first file ends: the second one keeps the buffer, with what is in it. */
	close(first);
	close(file);
	CHECK_EQ(map_buffer(second, theirs)[BYTES / 4 - 1], 0x1002);
	first = open_device();
	file = export_buffer(second, theirs);
	check_same(first, import_buffer(first, file), second, theirs, 0x1003);
}

void bad_buffers_are_refused(void)
{
	int fd = open_device(), null = open("/dev/null", O_RDWR);
	uint32_t handle = new_buffer(fd);
	struct drm_prime_handle none = {.handle = handle + 1000, .flags = DRM_CLOEXEC};
	struct drm_prime_handle flags = {.handle = handle, .flags = 1};
	struct drm_prime_handle closed = {.fd = 1000}, other = {.fd = null};
	struct drm_mode_map_dumb map = {.handle = handle + 1000};
	struct drm_mode_create_dumb empty = {.bpp = 32, .width = 0, .height = 16}, large = {
		.bpp = 32, .width = 0x40000000, .height = 0x40000000};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &none), ENOENT);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &flags), EINVAL);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &closed), EBADF);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &other), EINVAL);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_MAP_DUMB, &map), ENOENT);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &empty), EINVAL);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &large), EINVAL);
}

/* ---- mappings ---- */

static int sync_access(int file, uint64_t flags)
{
	struct dma_buf_sync sync = {.flags = flags};

	return guest_ioctl(file, DMA_BUF_IOCTL_SYNC, &sync);
}

void a_buffer_is_mapped_by_its_file(void)
{
	int fd = open_device(), file, constant;
	uint32_t handle = new_buffer(fd), *words = map_buffer(fd, handle), *mapped;
	void *refused;

	file = export_buffer(fd, handle);
	CHECK_EQ(lseek(file, 0, SEEK_END), BYTES);
	CHECK_EQ(lseek(file, 0, SEEK_SET), 0);
	CHECK_EQ(lseek(file, 1, SEEK_SET), -1);
	mapped = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(mapped != MAP_FAILED);
	for (uint32_t i = 0; i < BYTES / 4; i++)
		words[i] = i * 3;
	CHECK_EQ(sync_access(file, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW), 0);
	for (uint32_t i = 0; i < BYTES / 4; i++) {
		CHECK_EQ(mapped[i], i * 3);
		mapped[i] = i * 5;
	}
	CHECK_EQ(sync_access(file, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW), 0);
	for (uint32_t i = 0; i < BYTES / 4; i++)
		CHECK_EQ(words[i], i * 5);
	CHECK_EQ(sync_access(file, 0), EINVAL);
	CHECK_EQ(sync_access(file, DMA_BUF_SYNC_START), EINVAL);
	CHECK_EQ(sync_access(file, DMA_BUF_SYNC_READ | 8), EINVAL);
	/* Beyond its end there is nothing, and a buffer that is exported for reading is not written to. */
	CHECK(mmap(NULL, BYTES + 4096, PROT_READ, MAP_SHARED, file, 0) == MAP_FAILED);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, BYTES) == MAP_FAILED);
	close(file);
	/* A buffer has one file: as long as the handle is there, the rights of its first one. */
	handle = new_buffer(fd);
	map_buffer(fd, handle)[BYTES / 4 - 1] = 7;
	constant = export_as(fd, handle, DRM_CLOEXEC);
	refused = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, constant, 0);
	CHECK(refused == MAP_FAILED && errno == EACCES);
	mapped = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, constant, 0);
	CHECK(mapped != MAP_FAILED);
	CHECK_EQ(mapped[BYTES / 4 - 1], 7);
}

void a_mapping_outlives_handle_and_file(void)
{
	int fd = open_device(), file;
	uint32_t handle = new_buffer(fd), *mapped;

	file = export_buffer(fd, handle);
	CHECK_EQ(close_handle(fd, handle), 0);
	close(fd);
	mapped = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(mapped != MAP_FAILED);
	close(file);
	for (uint32_t i = 0; i < BYTES / 4; i++)
		CHECK_EQ(mapped[i], 0);
	memset(mapped, 0x5a, BYTES);
	/* Others that are made meanwhile have other memory. */
	fd = open_device();
	for (int i = 0; i < 8; i++)
		memset(map_buffer(fd, new_buffer(fd)), 0xff, BYTES);
	for (uint32_t i = 0; i < BYTES / 4; i++)
		CHECK_EQ(mapped[i], 0x5a5a5a5a);
}

/* ---- fences ---- */

static int put_fence(int file, int fence, uint32_t flags)
{
	struct dma_buf_import_sync_file arguments = {.flags = flags, .fd = fence};

	return guest_ioctl(file, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &arguments);
}

/* What readers (DMA_BUF_SYNC_READ) or writers of the buffer have to wait for. */
static int take_fence(int file, uint32_t flags)
{
	struct dma_buf_export_sync_file arguments = {.flags = flags, .fd = -1};

	CHECK_EQ(guest_ioctl(file, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &arguments), 0);
	return arguments.fd;
}

/* Whether the buffer may be read (POLLIN) or written to (POLLOUT) without waiting. */
static bool is_ready(int file, short events)
{
	struct pollfd poller = {.fd = file, .events = events};

	return poll(&poller, 1, 0) == 1 && poller.revents == events;
}

static void check_ready(int file, bool to_read, bool to_write)
{
	int readers = take_fence(file, DMA_BUF_SYNC_READ), writers = take_fence(file, DMA_BUF_SYNC_WRITE);

	CHECK_EQ(guest_fence_status(readers), to_read);
	CHECK_EQ(guest_fence_status(writers), to_write);
	CHECK_EQ(is_ready(file, POLLIN), to_read);
	CHECK_EQ(is_ready(file, POLLOUT), to_write);
	close(readers);
	close(writers);
}

static void bad_fences_are_refused(int file, int fence)
{
	struct dma_buf_export_sync_file arguments = {.fd = -1};

	CHECK_EQ(guest_ioctl(file, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &arguments), EINVAL);
	arguments.flags = DMA_BUF_SYNC_READ | 8;
	CHECK_EQ(guest_ioctl(file, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &arguments), EINVAL);
	CHECK_EQ(put_fence(file, fence, 0), EINVAL);
	CHECK_EQ(put_fence(file, fence, DMA_BUF_SYNC_READ | 8), EINVAL);
	CHECK_EQ(put_fence(file, file, DMA_BUF_SYNC_READ), EINVAL);
	CHECK_EQ(put_fence(file, 1000, DMA_BUF_SYNC_READ), EINVAL);
}

/* A reader's fence holds up writers, a writer's all. One that was taken out has what was there then. */
void fences_go_into_buffers_and_out(void)
{
	struct guest_foreign reader = guest_foreign(), writer = guest_foreign(), later = guest_foreign();
	int fd = open_device(), file = export_buffer(fd, new_buffer(fd)), before, both;

	check_ready(file, true, true);
	bad_fences_are_refused(file, reader.file);
	check_ready(file, true, true);
	before = take_fence(file, DMA_BUF_SYNC_RW);
	CHECK_EQ(put_fence(file, reader.file, DMA_BUF_SYNC_READ), 0);
	check_ready(file, true, false);
	CHECK_EQ(put_fence(file, writer.file, DMA_BUF_SYNC_WRITE), 0);
	check_ready(file, false, false);
	both = take_fence(file, DMA_BUF_SYNC_RW);
	CHECK_EQ(put_fence(file, later.file, DMA_BUF_SYNC_WRITE), 0);
	CHECK_EQ(guest_fence_status(before), 1);
	guest_foreign_signal(&reader);
	CHECK_EQ(guest_fence_status(both), 0);
	guest_foreign_signal(&writer);
	CHECK_EQ(guest_fence_wait(both), 0);
	CHECK_EQ(guest_fence_status(both), 1);
	check_ready(file, false, false);
	guest_foreign_signal(&later);
	check_ready(file, true, true);
}

/* DMA_BUF_IOCTL_SYNC returns when what it waits for has ended: for a reader's fence only a writer waits. */
void the_processor_waits_for_fences(void)
{
	struct guest_foreign fence = guest_foreign();
	int fd = open_device(), file = export_buffer(fd, new_buffer(fd));

	CHECK_EQ(put_fence(file, fence.file, DMA_BUF_SYNC_READ), 0);
	CHECK_EQ(sync_access(file, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ), 0);
	CHECK_EQ(sync_access(file, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ), 0);
	CHECK_EQ(guest_fence_status(fence.file), 0);
	guest_foreign_signal_in(&fence, "dma_buf_ioctl");
	CHECK_EQ(sync_access(file, DMA_BUF_SYNC_START | DMA_BUF_SYNC_WRITE), 0);
	CHECK_EQ(guest_fence_status(fence.file), 1);
}
