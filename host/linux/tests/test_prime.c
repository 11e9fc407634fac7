// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Objects that two drivers have: those of vgem here, and those of ours there. */
#include <drm/vgem_drm.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "shown.h"
#include "tests.h"

/* An object of vgem, and its file. */
struct alien {
	int fd, file;
	uint32_t handle, words_count;
	uint32_t *words;
};

static struct alien make_alien(uint32_t bytes)
{
	struct drm_mode_create_dumb create = {.width = 1024, .height = bytes / 4096, .bpp = 32};
	struct drm_mode_map_dumb map = {0};
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
	struct alien alien = {.fd = guest_open_primary("vgem")};

	CHECK(alien.fd >= 0);
	CHECK_EQ(guest_ioctl(alien.fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	CHECK_EQ(create.size, bytes);
	map.handle = prime.handle = alien.handle = create.handle;
	CHECK_EQ(guest_ioctl(alien.fd, DRM_IOCTL_MODE_MAP_DUMB, &map), 0);
	CHECK_EQ(guest_ioctl(alien.fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	alien.file = prime.fd;
	alien.words_count = bytes / 4;
	alien.words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, alien.fd, (off_t)map.offset);
	CHECK(alien.words != MAP_FAILED);
	return alien;
}

static uint32_t take_over(int fd, int file)
{
	struct drm_prime_handle prime = {.fd = file};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
	return prime.handle;
}

static void close_handle(int fd, uint32_t handle)
{
	struct drm_gem_close gone = {.handle = handle};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gone), 0);
}

static int hand_out(int fd, uint32_t handle)
{
	struct drm_prime_handle prime = {.handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	return prime.fd;
}

static void fill(int fd, uint32_t queue, uint32_t handle, uint32_t offset, uint32_t bytes, uint32_t value)
{
	static struct guest_work work;

	guest_work_start(&work, queue);
	guest_allocation(&work, handle, true);
	guest_fill(&work, 0, offset, bytes, value);
	guest_do(fd, &work);
}

static void copy(int fd, uint32_t queue, uint32_t from, uint32_t to, uint32_t bytes)
{
	static struct guest_work work;

	guest_work_start(&work, queue);
	guest_allocation(&work, from, false);
	guest_allocation(&work, to, true);
	guest_copy(&work, 0, 0, 1, 0, bytes);
	guest_do(fd, &work);
}

/* Read and written by submissions and by the processor in turn; what a submission does not write stays. */
void objects_of_other_drivers_are_used(void)
{
	enum { BYTES = 65536 };
	static struct guest_work work;
	struct alien alien = make_alien(BYTES);
	int fd = guest_open();
	const uint32_t handle = take_over(fd, alien.file);
	struct guest_object own = guest_object(fd, BYTES, 0);
	const struct drm_patchbay_gem_info info = guest_info(fd, handle);
	const uint32_t *map = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, (off_t)info.offset);

	CHECK_EQ(info.size, BYTES);
	CHECK_EQ(take_over(fd, alien.file), handle);
	CHECK(map != MAP_FAILED);
	for (uint32_t i = 0; i < BYTES / 4; i++)
		alien.words[i] = 0x1000 + i;
	for (uint32_t round = 0; round < 4; round++) {
		copy(fd, round % 2, handle, own.handle, BYTES);
		for (uint32_t i = 0; i < BYTES / 4; i += 16)
			CHECK_EQ(own.words[i], alien.words[i]);
		fill(fd, round % 2, handle, 4096 * (round + 1), 4096, 0xaa00 + round);
		CHECK_EQ(alien.words[1024 * (round + 1)], 0xaa00 + round);
		CHECK_EQ(alien.words[1024 * (round + 2) - 1], 0xaa00 + round);
		CHECK_EQ(alien.words[1024 * (round + 2)], 0x1000 + 1024 * (round + 2));
		CHECK_EQ(map[1024 * (round + 1)], 0xaa00 + round);
		alien.words[0] = 0x77 + round;
	}
	/* The firmware patches objects of the driver's own only. */
	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_PATCH;
	work.args.target = handle;
	work.args.end = 4096;
	CHECK_EQ(guest_submit(fd, &work), EINVAL);
	close_handle(fd, handle);
	CHECK_EQ(alien.words[BYTES / 4 - 1], 0x1000 + BYTES / 4 - 1);
}

/* One submission after the other, on two nodes and in two files, also where the caller asks for no order. */
void objects_of_other_drivers_order_their_users(void)
{
	/* Copies that take long, with what is written at their ends. */
	enum { STEPS = 40, BYTES = 1 << 20, START = BYTES / 4 - STEPS - 1 };
	static struct guest_work work;
	struct alien alien = make_alien(BYTES);
	int fd = guest_open(), other = guest_open();
	const uint32_t handles[2] = {take_over(fd, alien.file), take_over(other, alien.file)};
	struct pollfd poller = {.fd = alien.file, .events = POLLIN | POLLOUT};

	alien.words[START] = 0xabcd;
	for (uint32_t i = 0; i < STEPS; i++) {
		guest_work_start(&work, i % 2);
		guest_allocation(&work, handles[i / 8 % 2], true);
		guest_copy(&work, 0, 4 * (START + i), 0, 4 * (START + i) + 4, 4);
		work.args.flags = i % 3 == 0 ? PATCHBAY_SUBMIT_EXPLICIT : 0;
		CHECK_EQ(guest_submit(i / 8 % 2 ? other : fd, &work), 0);
	}
	/* What vgem would wait for, or another one with the file. */
	CHECK_EQ(poll(&poller, 1, (int)(GUEST_PATIENCE / 1000000)), 1);
	for (uint32_t i = 0; i <= STEPS; i++)
		CHECK_EQ(alien.words[START + i], 0xabcd);
}

/* A fence of the other driver's in the object: what is there when the fence ends is what the submission reads. */
void fences_of_another_driver_come_with_its_object(void)
{
	static struct guest_work work;
	struct alien alien = make_alien(4096);
	struct drm_vgem_fence_attach attach = {.handle = alien.handle, .flags = VGEM_FENCE_WRITE};
	struct drm_vgem_fence_signal end = {0};
	int fd = guest_open();
	const uint32_t handle = take_over(fd, alien.file);
	struct guest_object own = guest_object(fd, 4096, 0);

	alien.words[0] = 1;
	CHECK_EQ(guest_ioctl(alien.fd, DRM_IOCTL_VGEM_FENCE_ATTACH, &attach), 0);
	guest_work_start(&work, 0);
	guest_allocation(&work, handle, false);
	guest_allocation(&work, own.handle, true);
	guest_copy(&work, 0, 0, 1, 0, 4);
	CHECK_EQ(guest_submit(fd, &work), 0);
	shown_has(shown_queue(fd, 0), " completed=0 waiting=1 running=0 fences=1 ");
	alien.words[0] = 2;
	end.fence = attach.out_fence;
	CHECK_EQ(guest_ioctl(alien.fd, DRM_IOCTL_VGEM_FENCE_SIGNAL, &end), 0);
	CHECK_EQ(guest_wait(fd, 0, 1, GUEST_PATIENCE), 0);
	CHECK_EQ(own.words[0], 2);
}

/* More of them than there is room for in VRAM, between others; and the card's memory is left behind clean. */
void objects_of_other_drivers_make_room(void)
{
	enum { ALIENS = 6 };
	struct drm_patchbay_info info;
	struct alien aliens[ALIENS];
	struct guest_object own;
	uint32_t handles[ALIENS], bytes;
	int fd = guest_open();

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	bytes = (uint32_t)info.vram_bytes / 4 / 4096 * 4096;
	own = guest_object(fd, bytes, 0);
	for (uint32_t i = 0; i < ALIENS; i++) {
		aliens[i] = make_alien(bytes);
		handles[i] = take_over(fd, aliens[i].file);
		aliens[i].words[7] = 70 + i;
	}
	for (uint32_t i = 0; i < 3 * ALIENS; i++) {
		copy(fd, 1, handles[i % ALIENS], own.handle, 4096);
		CHECK_EQ(own.words[7], 70 + i % ALIENS);
		fill(fd, 1, handles[i % ALIENS], bytes - 4, 4, i);
	}
	for (uint32_t i = 0; i < ALIENS; i++)
		CHECK_EQ(aliens[i].words[bytes / 4 - 1], 2 * ALIENS + i);
}

static void lend(uint32_t flags)
{
	enum { BYTES = 65536, LAST = BYTES / 4 - 1 };
	int fd = guest_open(), vgem = guest_open_primary("vgem"), file;
	struct guest_object object = guest_object(fd, BYTES, flags), own = guest_object(fd, BYTES, 0);
	uint32_t *map, handle;

	fill(fd, 0, object.handle, 0, BYTES, 5);
	CHECK_EQ(object.words[1], 5);
	file = hand_out(fd, object.handle);
	handle = take_over(vgem, file);
	map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(map != MAP_FAILED);
	CHECK_EQ(map[LAST], 5);
	for (uint32_t i = 0; i < 4; i++) {
		map[0] = 100 + i;
		/* This mapping is older than the attachment. */
		object.words[1] = 300 + i;
		CHECK_EQ(map[1], 300 + i);
		copy(fd, i % 2, object.handle, own.handle, BYTES);
		CHECK_EQ(own.words[0], 100 + i);
		fill(fd, i % 2, object.handle, BYTES - 4, 4, 200 + i);
		CHECK_EQ(map[LAST], 200 + i);
		CHECK_EQ(object.words[LAST], 200 + i);
	}
	close_handle(vgem, handle);
	fill(fd, 0, object.handle, 0, 4, 9);
	CHECK_EQ(map[0], 9);
	CHECK_EQ(map[LAST], 203);
	close(file);
	munmap(map, BYTES);
	guest_object_free(fd, &object);
	CHECK_EQ(own.words[0], 103);
}

/*
 * vgem attaches to an object of ours: both drivers, and a mapping of the file, have the same contents, and then it returns.
 * It prefers host memory, where there is some, or not.
 */
void objects_are_lent_to_other_drivers(void)
{
	lend(0);
	lend(PATCHBAY_GEM_HOST);
}

/* A mapping of an object's file follows the object, which moves as long as no driver is attached. */
void mappings_of_files_follow_their_objects(void)
{
	struct drm_patchbay_info info;
	struct guest_object object, large;
	int fd = guest_open(), file;
	uint32_t *map;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	object = guest_object(fd, 8192, PATCHBAY_GEM_PATCHABLE);
	large = guest_object(fd, info.patchable_bytes, PATCHBAY_GEM_PATCHABLE);
	file = hand_out(fd, object.handle);
	map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(map != MAP_FAILED);
	for (uint32_t i = 0; i < 4; i++) {
		fill(fd, 0, object.handle, 0, 8192, 10 + i);
		CHECK_EQ(guest_info(fd, object.handle).place, PATCHBAY_PLACE_VRAM);
		CHECK_EQ(map[2047], 10 + i);
		map[1] = 20 + i;
		fill(fd, 0, large.handle, 0, 4, i);
		CHECK_EQ(guest_info(fd, object.handle).place, PATCHBAY_PLACE_SYSTEM);
		CHECK_EQ(map[2047], 10 + i);
		CHECK_EQ(object.words[1], 20 + i);
		map[1] = 30 + i;
		copy(fd, 0, object.handle, object.handle, 4);
		CHECK_EQ(map[1], 30 + i);
	}
}
