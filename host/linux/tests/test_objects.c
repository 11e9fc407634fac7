// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Objects: their contents wherever they lie, mmap, dumb buffers, eviction. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "tests.h"

void the_card_says_what_it_is(void)
{
	struct drm_patchbay_info info;
	int fd = guest_open();

	CHECK(fd >= 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	CHECK(info.nodes >= 2);
	CHECK_EQ(info.node_kinds & 0xf, PATCHBAY_NODE_3D);
	CHECK(info.channel >= 1 && info.channel <= 8);
	CHECK(info.vram_bytes >= 1 << 20);
	CHECK(info.patchable_bytes <= info.vram_bytes);
	CHECK(info.allocations_max >= 16 && info.patches_max >= 16);
	CHECK(strlen(info.build) > 0);
}

void new_objects_are_zero(void)
{
	int fd = guest_open();

	/* The second one gets the first one's memory. */
	for (int round = 0; round < 2; round++) {
		struct guest_object object = guest_object(fd, 3 * 4096 - 100, 0);

		CHECK_EQ(object.size, 3 * 4096);
		for (unsigned int i = 0; i < object.size / 4; i++)
			CHECK_EQ(object.words[i], 0);
		memset(object.words, 0xa5, object.size);
		guest_object_free(fd, &object);
	}
}

void dumb_buffers_are_mapped(void)
{
	struct drm_mode_create_dumb create = {.width = 33, .height = 7, .bpp = 32};
	struct drm_mode_map_dumb map = {0};
	struct drm_mode_destroy_dumb destroy = {0};
	int fd = guest_open_primary("patchbay");
	uint32_t *words;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	CHECK(create.pitch >= 33 * 4 && create.pitch % 64 == 0);
	CHECK(create.size >= create.pitch * 7);
	map.handle = create.handle;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_MAP_DUMB, &map), 0);
	words = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.offset);
	CHECK(words != MAP_FAILED);
	words[create.pitch / 4 * 6 + 32] = 0x12345678;
	CHECK_EQ(words[create.pitch / 4 * 6 + 32], 0x12345678);
	destroy.handle = create.handle;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_DESTROY_DUMB, &destroy), 0);
	/* The mapping keeps the memory. */
	CHECK_EQ(words[create.pitch / 4 * 6 + 32], 0x12345678);
}

/* Submits a command on a new object, which ends with the submission. */
static int use_and_free(int fd, uint64_t bytes)
{
	static struct guest_work work;
	struct guest_object object = guest_object(fd, bytes, 0);
	int error;

	guest_work_start(&work, 0);
	guest_allocation(&work, object.handle, true);
	guest_fill(&work, 0, 0, 4, 1);
	error = guest_submit(fd, &work);
	guest_object_free(fd, &object);
	return error;
}

/* Large objects end a moment behind the fences of their submissions: the next one gets their room. */
void objects_that_are_freed_make_room(void)
{
	struct drm_patchbay_info info;
	int fd = guest_open(), error;
	uint64_t bytes;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	/* More than half of the largest part of VRAM: one at a time. */
	for (bytes = info.vram_bytes; (error = use_and_free(fd, bytes)) != 0; bytes = bytes * 3 / 4 / 4096 * 4096)
		CHECK_EQ(error, ENOSPC);
	for (uint32_t i = 1; i < 24; i++) {
		CHECK_EQ(guest_wait(fd, 0, i, GUEST_PATIENCE), 0);
		CHECK_EQ(use_and_free(fd, bytes), 0);
	}
}

/* Each object is filled by the engine, read by the CPU, changed by the CPU, and read by the engine. */
void objects_keep_their_contents_when_they_move(void)
{
	enum { COUNT = 48 };
	static struct guest_object objects[COUNT];
	static struct guest_work work;
	struct drm_patchbay_info before, after;
	int fd = guest_open();
	uint64_t bytes, addresses[COUNT];
	unsigned int moved = 0;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &before), 0);
	/* One and a half times what there is room for. */
	bytes = before.vram_bytes * 3 / 2 / COUNT / 4096 * 4096;
	for (unsigned int i = 0; i < COUNT; i++) {
		objects[i] = guest_object(fd, bytes, 0);
		guest_work_start(&work, i % 2);
		guest_allocation(&work, objects[i].handle, true);
		guest_fill(&work, 0, 0, (uint32_t)bytes, 0x1000 + i);
		guest_do(fd, &work);
		addresses[i] = guest_info(fd, objects[i].handle).address;
		CHECK(addresses[i] != 0);
	}
	for (unsigned int i = 0; i < COUNT; i++) {
		CHECK_EQ(objects[i].words[0], 0x1000 + i);
		CHECK_EQ(objects[i].words[bytes / 4 - 1], 0x1000 + i);
		objects[i].words[1] = 0x2000 + i;
	}
	for (unsigned int i = 0; i < COUNT; i++) {
		unsigned int next = (i * 7 + 5) % COUNT;

		guest_work_start(&work, i % 2);
		guest_allocation(&work, objects[i].handle, false);
		guest_allocation(&work, objects[next].handle, true);
		guest_copy(&work, 0, 4, 1, 8, 4);
		guest_do(fd, &work);
		moved += guest_info(fd, objects[i].handle).address != addresses[i];
		CHECK_EQ(objects[next].words[2], 0x2000 + i);
		CHECK_EQ(objects[next].words[0], 0x1000 + next);
		CHECK_EQ(objects[next].words[1], 0x2000 + next);
	}
	/* Mappings follow the objects: these were made before the moves. */
	for (unsigned int i = 0; i < COUNT; i++) {
		CHECK_EQ(objects[i].words[0], 0x1000 + i);
		CHECK_EQ(objects[i].words[1], 0x2000 + i);
	}
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &after), 0);
	CHECK(after.evictions > before.evictions);
	CHECK(moved > 0);
}

void what_does_not_fit_is_refused(void)
{
	static struct guest_work work;
	struct drm_patchbay_gem_create create = {.size = 0};
	struct drm_patchbay_info info;
	struct guest_object object;
	int fd = guest_open();

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_CREATE, &create), EINVAL);
	create.size = 1ull << 40;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_CREATE, &create), EINVAL);
	object = guest_object(fd, info.vram_bytes + 4096, 0);
	object.words[object.size / 4 - 1] = 5;
	CHECK_EQ(guest_info(fd, object.handle).place, PATCHBAY_PLACE_SYSTEM);
	guest_work_start(&work, 0);
	guest_allocation(&work, object.handle, true);
	guest_fill(&work, 0, 0, 4, 1);
	CHECK_EQ(guest_submit(fd, &work), ENOSPC);
	CHECK_EQ(object.words[object.size / 4 - 1], 5);
}
