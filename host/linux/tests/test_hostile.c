// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Load from several processes, and arguments of chance: results stay right, and the machine stays up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "hal/engine/packets.h"
#include "tests.h"

/* One process: chains of copies through objects that others' objects push out. Every word is checked. */
static void load(uint32_t number, uint32_t rounds)
{
	enum { OBJECTS = 6 };
	static struct guest_object objects[OBJECTS];
	static struct guest_work work;
	struct drm_patchbay_info info;
	uint64_t seed = number * 77 + 1, bytes;
	int fd = guest_open();

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	/* Four processes have a third more than there is room for. */
	bytes = info.vram_bytes / 18 / 4096 * 4096;
	for (uint32_t i = 0; i < OBJECTS; i++)
		objects[i] = guest_object(fd, bytes, 0);
	for (uint32_t round = 0; round < rounds; round++) {
		uint32_t value = guest_random(&seed), at = guest_random(&seed) % (bytes / 4) * 4;

		guest_work_start(&work, round % 2);
		for (uint32_t i = 0; i < OBJECTS; i++)
			guest_allocation(&work, objects[i].handle, true);
		guest_fill(&work, 0, at, 4, value);
		for (uint32_t i = 0; i + 1 < OBJECTS; i++)
			guest_copy(&work, i, at, i + 1, at, 4);
		guest_do(fd, &work);
		CHECK_EQ(guest_query(fd, round % 2).errors, 0);
		for (uint32_t i = 0; i < OBJECTS; i++)
			CHECK_EQ(objects[i].words[at / 4], value);
	}
}

void four_processes_share_the_card(void)
{
	pid_t children[4];

	for (uint32_t i = 0; i < 4; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			load(i, 40);
			_exit(0);
		}
	}
	for (uint32_t i = 0; i < 4; i++) {
		int status;

		CHECK_EQ(waitpid(children[i], &status, 0), children[i]);
		CHECK_EQ(status, 0);
	}
}

/* ---- chance ---- */

static uint64_t chance;

static uint32_t some(uint32_t below)
{
	return guest_random(&chance) % below;
}

/* A number that is likely to be near a limit. */
static uint64_t odd_number(void)
{
	static const uint64_t numbers[] = {0, 1, 2, 3, 4, 7, 8, 16, 64, 4095, 4096, 0x7fffffff, 0x80000000, 0xffffffff,
					   0xffffffffffffffff, 0x7fffffffffffffff};

	return some(3) == 0 ? guest_random(&chance) : numbers[some(sizeof(numbers) / sizeof(numbers[0]))];
}

/* Spoils some bytes, or none. */
static void spoil(void *bytes, size_t size)
{
	for (uint32_t i = some(4); i > 0; i--) {
		uint32_t at = some((uint32_t)(size / 4));
		uint32_t word = (uint32_t)odd_number();

		memcpy((char *)bytes + at * 4, &word, 4);
	}
}

static void random_submission(int fd, const struct guest_object *objects, uint32_t count)
{
	static struct guest_work work;
	struct drm_patchbay_sync syncs[2] = {{.handle = 1}, {.handle = 1, .point = some(5)}};

	guest_work_start(&work, some(3));
	for (uint32_t i = some(4); i > 0; i--)
		guest_allocation(&work, objects[some(count)].handle, some(2));
	for (uint32_t i = some(4); i > 0; i--) {
		if (some(2))
			guest_fill(&work, some(4), some(64) * 4, some(64) * 4, guest_random(&chance));
		else
			guest_copy(&work, some(4), some(64) * 4, some(4), some(64) * 4, some(64) * 4);
	}
	if (some(3) == 0) {
		work.args.flags |= PATCHBAY_SUBMIT_PATCH;
		work.args.target = objects[0].handle;
		work.args.end = some(1024) * 4;
		work.count = 0;
		for (uint32_t i = some(8); i > 0; i--)
			work.patches[work.args.patch_count++] = (struct drm_patchbay_patch){
				.allocation_index = some(4), .format = some(20), .allocation_offset = some(5000),
				.patch_offset = some(5000)};
		if (work.args.patch_count)
			spoil(work.patches, work.args.patch_count * sizeof(work.patches[0]));
	}
	work.args.in_syncs = work.args.out_syncs = (uintptr_t)syncs;
	work.args.in_count = some(3) == 0;
	work.args.out_count = some(3);
	if (some(2))
		spoil(work.words, sizeof(uint32_t) * (work.count + 1));
	work.args.commands = (uintptr_t)work.words;
	work.args.command_bytes = work.count * 4;
	work.args.allocations = (uintptr_t)work.allocations;
	work.args.patches = (uintptr_t)work.patches;
	if (some(3) == 0)
		spoil(&work.args, sizeof(work.args));
	if (work.args.flags & PATCHBAY_SUBMIT_UNSAFE)
		work.args.flags &= ~PATCHBAY_SUBMIT_UNSAFE;
	if (guest_ioctl(fd, DRM_IOCTL_PATCHBAY_SUBMIT, &work.args) == 0 &&
	    (work.args.flags & PATCHBAY_SUBMIT_FENCE_OUT))
		close(work.args.out_fence_fd);
}

static void random_call(int fd)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_PATCHBAY_INFO, DRM_IOCTL_PATCHBAY_GEM_INFO, DRM_IOCTL_PATCHBAY_QUEUE_CREATE,
		DRM_IOCTL_PATCHBAY_QUEUE_DESTROY, DRM_IOCTL_PATCHBAY_QUEUE_QUERY, DRM_IOCTL_PATCHBAY_QUEUE_CLEAR,
		DRM_IOCTL_PATCHBAY_SUBMIT,       DRM_IOCTL_PATCHBAY_GEM_MADVISE,
	};
	uint64_t arguments[32];

	for (unsigned int i = 0; i < 32; i++)
		arguments[i] = some(3) == 0 ? odd_number() : some(20);
	(void)guest_ioctl(fd, requests[some(sizeof(requests) / sizeof(requests[0]))], arguments);
}

void arguments_of_chance_harm_no_other_file(void)
{
	static struct guest_work work;
	int fd = guest_open(), other = guest_open();
	struct guest_object objects[3], theirs = guest_object(other, 4096, 0);

	chance = 20;
	for (uint32_t i = 0; i < 3; i++)
		objects[i] = guest_object(fd, 4096, i == 0 ? PATCHBAY_GEM_PATCHABLE : 0);
	(void)guest_syncobj(fd);
	for (uint32_t i = 0; i < 3000; i++) {
		random_submission(fd, objects, 3);
		random_call(fd);
		if (i % 16 == 0) {
			for (uint32_t queue = 0; queue < 3; queue++)
				(void)guest_clear(fd, queue);
		}
		if (i % 100 == 0) {
			guest_work_start(&work, i / 100 % 2);
			guest_allocation(&work, theirs.handle, true);
			guest_fill(&work, 0, 0, 4096, i);
			guest_do(other, &work);
			CHECK_EQ(theirs.words[1023], i);
			CHECK_EQ(guest_query(other, i / 100 % 2).errors, 0);
		}
	}
}
