// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Each allocation of a call fails once, and once with all that follow (tests/fail/pbd_fail.c): the call then succeeds, or
 * returns ENOMEM (see of_new_file()) and changes nothing; repeated, it succeeds. Nothing is left afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "failing.h"
#include "guest.h"
#include "shown.h"
#include "tests.h"

/* More allocations than one call makes. */
#define ALLOCATIONS_MAX 400u
/* Milliseconds until workers have freed what has ended, at most. */
#define LEFT_MS (unsigned int)(GUEST_PATIENCE / 1000000)

/* ---- the module ---- */

static void set(const char *name, uint32_t value)
{
	char path[64], text[16];
	int fd, bytes = snprintf(text, sizeof(text), "%u", value);

	snprintf(path, sizeof(path), "/sys/kernel/debug/pbd_fail/%s", name);
	fd = open(path, O_WRONLY);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, (size_t)bytes), bytes);
	close(fd);
}

static uint32_t get(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/pbd_fail/%s", name);
	return (uint32_t)strtoul(shown_file(path), NULL, 10);
}

void fail_from_now(const struct failing *failing)
{
	set("nth", failing->on ? failing->nth : UINT32_MAX);
	set("all", failing->all);
	set("calls", 0);
	set("failed", 0);
	set("pid", (uint32_t)getpid());
}

void fail_no_more(void)
{
	set("pid", 0);
}

int failing_ioctl(const struct failing *failing, int fd, unsigned long request, void *argument)
{
	int error;

	fail_from_now(failing);
	error = guest_ioctl(fd, request, argument);
	fail_no_more();
	return error;
}

/* ---- what is left ---- */

struct left {
	int objects, queues, fences;
	unsigned int firmware_queues, contexts, spare;
};

static struct left left_now(void)
{
	struct left left = {0};
	const char *channel;

	CHECK_EQ(sscanf(shown_debugfs("patchbay_live"), "live: objects=%d queues=%d fences=%d", &left.objects, &left.queues,
			&left.fences), 3);
	channel = strstr(shown_debugfs("patchbay_card"), "channel: queues=");
	CHECK(channel != NULL);
	CHECK_EQ(sscanf(channel, "channel: queues=%u contexts=%u spare=%u", &left.firmware_queues, &left.contexts,
			&left.spare), 3);
	left.contexts -= left.spare;
	left.spare = 0;
	return left;
}

static void check_left(const struct left *before)
{
	struct left now = left_now();

	for (unsigned int i = 0; i < LEFT_MS / 10 && memcmp(&now, before, sizeof(now)) != 0; i++) {
		guest_sleep_ms(10);
		now = left_now();
	}
	CHECK_EQ(now.objects, before->objects);
	CHECK_EQ(now.queues, before->queues);
	CHECK_EQ(now.fences, before->fences);
	CHECK_EQ(now.firmware_queues, before->firmware_queues);
	CHECK_EQ(now.contexts, before->contexts);
}

/* What there is when all that has ended is freed: no file of ours is open, so there are neither objects nor fences. */
static struct left left_at_rest(void)
{
	struct left left = left_now();

	for (unsigned int i = 0; i < LEFT_MS / 10 && left.objects + left.fences != 0; i++) {
		guest_sleep_ms(10);
		left = left_now();
	}
	return left;
}

int of_new_file(int error)
{
	return error == ENOSPC ? ENOMEM : error;
}

void each_allocation(call_fn call)
{
	struct left before;
	uint32_t tried = 0;
	int error = 0;

	(void)call(&(struct failing){0});
	before = left_at_rest();
	for (uint32_t all = 0; all < 2; all++) {
		for (uint32_t nth = 0;; nth++) {
			CHECK(nth < ALLOCATIONS_MAX);
			error = call(&(struct failing){.nth = nth, .all = all, .on = true});
			if (error != 0 && error != ENOMEM)
				printf("  allocation %u%s: error %d\n", nth, all ? " and all that follow" : "", error);
			CHECK(error == 0 || error == ENOMEM);
			if (get("failed") == 0)
				break;
			tried++;
		}
		CHECK_EQ(error, 0);
	}
	CHECK(tried != 0);
	check_left(&before);
	CHECK_EQ(get("late"), 0);
	printf("failures: %u\n", tried);
}

void again(int error, int fd, unsigned long request, void *argument)
{
	if (error != 0)
		CHECK_EQ(guest_ioctl(fd, request, argument), 0);
}

/* ---- the calls ---- */

static int call_open(const struct failing *failing)
{
	char path[32];
	int fd = -1, error = 0;

	for (int i = 0; fd < 0 && i < 8; i++) {
		struct drm_version version = {0};

		snprintf(path, sizeof(path), "/dev/dri/renderD%d", 128 + i);
		fd = open(path, O_RDWR);
		if (fd >= 0 && (guest_ioctl(fd, DRM_IOCTL_VERSION, &version) != 0 || version.name_len != strlen("patchbay"))) {
			close(fd);
			fd = -1;
		}
	}
	CHECK(fd >= 0);
	close(fd);
	fail_from_now(failing);
	fd = open(path, O_RDWR);
	error = fd < 0 ? errno : 0;
	fail_no_more();
	if (fd < 0)
		fd = open(path, O_RDWR);
	CHECK(fd >= 0);
	close(fd);
	return error;
}

static int call_create(const struct failing *failing)
{
	struct drm_patchbay_gem_create create = {.size = 16384};
	int fd = guest_open(), error = failing_ioctl(failing, fd, DRM_IOCTL_PATCHBAY_GEM_CREATE, &create);
	struct drm_gem_close gone;

	again(error, fd, DRM_IOCTL_PATCHBAY_GEM_CREATE, &create);
	gone = (struct drm_gem_close){.handle = create.handle};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gone), 0);
	/* Its handle is the only one: none is left of the call that failed. */
	CHECK_EQ(create.handle, 1);
	close(fd);
	return of_new_file(error);
}

static int call_dumb(const struct failing *failing)
{
	struct drm_mode_create_dumb create = {.width = 64, .height = 16, .bpp = 32};
	int fd = guest_open_primary("patchbay"), error = failing_ioctl(failing, fd, DRM_IOCTL_MODE_CREATE_DUMB, &create);

	again(error, fd, DRM_IOCTL_MODE_CREATE_DUMB, &create);
	CHECK_EQ(create.handle, 1);
	close(fd);
	return of_new_file(error);
}

static int call_queue_create(const struct failing *failing)
{
	struct drm_patchbay_queue_create create = {.node = 0, .priority = PATCHBAY_PRIORITY_NORMAL};
	int fd = guest_open(), error = failing_ioctl(failing, fd, DRM_IOCTL_PATCHBAY_QUEUE_CREATE, &create);

	again(error, fd, DRM_IOCTL_PATCHBAY_QUEUE_CREATE, &create);
	CHECK_EQ(guest_query(fd, create.queue).submitted, 0);
	close(fd);
	return error;
}

static int call_queue_query(const struct failing *failing)
{
	struct drm_patchbay_queue_query query = {0};
	int fd = guest_open(), error = failing_ioctl(failing, fd, DRM_IOCTL_PATCHBAY_QUEUE_QUERY, &query);

	again(error, fd, DRM_IOCTL_PATCHBAY_QUEUE_QUERY, &query);
	close(fd);
	return error;
}

/* ---- submissions ---- */

/* Makes the submission; one that failed has not been carried out, one that was carried out has not failed. */
static int submit_failing(const struct failing *failing, int fd, struct guest_work *work, const struct guest_object *object)
{
	int error;

	object->words[0] = 1;
	work->args.commands = (uintptr_t)work->words;
	work->args.command_bytes = work->count * 4;
	work->args.allocations = (uintptr_t)work->allocations;
	work->args.patches = (uintptr_t)work->patches;
	error = failing_ioctl(failing, fd, DRM_IOCTL_PATCHBAY_SUBMIT, &work->args);
	if (error != 0) {
		CHECK_EQ(guest_query(fd, work->args.queue).submitted, 0);
		CHECK_EQ(object->words[0], 1);
		CHECK_EQ(guest_submit(fd, work), 0);
	}
	CHECK_EQ(guest_query(fd, work->args.queue).submitted, 1);
	CHECK_EQ(guest_wait(fd, work->args.queue, work->args.value, GUEST_PATIENCE), 0);
	return error;
}

static int call_submit(const struct failing *failing)
{
	static struct guest_work work;
	int fd = guest_open(), error;
	struct guest_object object = guest_object(fd, 4096, 0);

	guest_work_start(&work, 0);
	guest_allocation(&work, object.handle, true);
	guest_fill(&work, 0, 0, 4096, 0x1234);
	error = submit_failing(failing, fd, &work, &object);
	CHECK_EQ(object.words[0], 0x1234);
	guest_object_free(fd, &object);
	close(fd);
	return error;
}

/* A list so long that it is encoded. */
static int call_submit_patches(const struct failing *failing)
{
	static struct guest_work work;
	int fd = guest_open(), error;
	struct guest_object object = guest_object(fd, 8192, PATCHBAY_GEM_PATCHABLE);

	guest_work_start(&work, 0);
	guest_allocation(&work, object.handle, false);
	work.args.flags = PATCHBAY_SUBMIT_PATCH;
	work.args.target = object.handle;
	work.args.end = 8192;
	for (uint32_t i = 0; i < 600; i++)
		work.patches[work.args.patch_count++] = (struct drm_patchbay_patch){.patch_offset = 4096 + i * 4};
	error = submit_failing(failing, fd, &work, &object);
	CHECK_EQ(object.words[0], 1);
	guest_object_free(fd, &object);
	close(fd);
	return error;
}

/* With syncobjs and sync_files, in and out. */
static int call_submit_syncs(const struct failing *failing)
{
	static struct guest_work work;
	int fd = guest_open(), error;
	struct guest_object object = guest_object(fd, 4096, 0);
	struct guest_foreign foreign = guest_foreign();
	struct drm_patchbay_sync out[2] = {{.handle = guest_syncobj(fd)}, {.handle = guest_syncobj(fd), .point = 7}};

	guest_work_start(&work, 0);
	guest_allocation(&work, object.handle, true);
	guest_fill(&work, 0, 0, 4096, 0x1234);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_IN | PATCHBAY_SUBMIT_FENCE_OUT;
	work.args.in_fence_fd = foreign.file;
	work.args.out_fence_fd = -1;
	work.args.out_syncs = (uintptr_t)out;
	work.args.out_count = 2;
	guest_foreign_signal(&foreign);
	error = submit_failing(failing, fd, &work, &object);
	CHECK_EQ(object.words[0], 0x1234);
	CHECK_EQ(guest_fence_wait(work.args.out_fence_fd), 0);
	CHECK_EQ(guest_syncobj_wait(fd, out[0].handle, 0, GUEST_PATIENCE), 0);
	CHECK_EQ(guest_syncobj_wait(fd, out[1].handle, 7, GUEST_PATIENCE), 0);
	close(work.args.out_fence_fd);
	close(foreign.file);
	close(foreign.fd);
	guest_object_free(fd, &object);
	close(fd);
	return error;
}

/* ---- objects of other drivers ---- */

static int call_import(const struct failing *failing)
{
	struct drm_mode_create_dumb create = {.width = 16, .height = 16, .bpp = 32};
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
	int vgem = guest_open_primary("vgem"), fd = guest_open(), error;

	CHECK_EQ(guest_ioctl(vgem, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	prime.handle = create.handle;
	CHECK_EQ(guest_ioctl(vgem, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	error = failing_ioctl(failing, fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
	again(error, fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
	CHECK_EQ(prime.handle, 1);
	close(prime.fd);
	close(vgem);
	close(fd);
	return error;
}

/* Another driver takes an object that is in VRAM. */
static int call_lend(const struct failing *failing)
{
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
	int vgem = guest_open_primary("vgem"), fd = guest_open(), error;
	struct guest_object object = guest_object(fd, 16384, 0);

	object.words[0] = 0x77;
	prime.handle = object.handle;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	error = failing_ioctl(failing, vgem, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
	CHECK_EQ(object.words[0], 0x77);
	again(error, vgem, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
	CHECK_EQ(object.words[0], 0x77);
	close(prime.fd);
	guest_object_free(fd, &object);
	close(vgem);
	close(fd);
	return error;
}

/* ---- calls that need no memory ---- */

void calls_that_need_no_memory_succeed_without(void)
{
	static struct guest_work work;
	const struct failing all = {.all = 1, .on = true};
	int fd = guest_open();
	struct guest_object object = guest_object(fd, 16384, 0);
	struct drm_patchbay_gem_madvise madvise = {.handle = object.handle, .advice = PATCHBAY_GEM_DONTNEED};
	struct drm_patchbay_gem_wait idle = {.handle = object.handle, .timeout_ns = GUEST_PATIENCE};
	struct drm_patchbay_gem_info info = {.handle = object.handle};
	struct drm_patchbay_wait wait = {.timeout_ns = GUEST_PATIENCE};
	struct drm_patchbay_queue clear = {0};

	guest_work_start(&work, 0);
	guest_allocation(&work, object.handle, true);
	guest_busy(&work, 20000);
	guest_fill(&work, 0, 0, 16384, 0x1234);
	CHECK_EQ(guest_submit(fd, &work), 0);
	wait.value = work.args.value;
	CHECK_EQ(failing_ioctl(&all, fd, DRM_IOCTL_PATCHBAY_WAIT, &wait), 0);
	CHECK_EQ(failing_ioctl(&all, fd, DRM_IOCTL_PATCHBAY_GEM_WAIT, &idle), 0);
	CHECK_EQ(failing_ioctl(&all, fd, DRM_IOCTL_PATCHBAY_GEM_INFO, &info), 0);
	CHECK_EQ(failing_ioctl(&all, fd, DRM_IOCTL_PATCHBAY_GEM_MADVISE, &madvise), 0);
	madvise.advice = PATCHBAY_GEM_WILLNEED;
	CHECK_EQ(failing_ioctl(&all, fd, DRM_IOCTL_PATCHBAY_GEM_MADVISE, &madvise), 0);
	CHECK_EQ(madvise.retained, 1);
	CHECK_EQ(failing_ioctl(&all, fd, DRM_IOCTL_PATCHBAY_QUEUE_CLEAR, &clear), 0);
	CHECK_EQ(object.words[4095], 0x1234);
	guest_object_free(fd, &object);
	close(fd);
}

#define PBD_FAIL_TEST(name)                                                                                  \
	void fail_##name(void)                                                                               \
	{                                                                                                    \
		each_allocation(call_##name);                                                                \
	}

PBD_FAIL_CALLS(PBD_FAIL_TEST)

/* All files are closed. */
void nothing_is_left_of_the_tests(void)
{
	struct left left = left_at_rest();

	printf("left: objects=%d queues=%d fences=%d contexts=%u\n", left.objects, left.queues, left.fences, left.contexts);
	CHECK_EQ(left.objects, 0);
	CHECK_EQ(left.fences, 0);
	/* The driver's own, of the display, which has shown nothing. */
	CHECK_EQ(left.queues, 1);
	CHECK_EQ(left.firmware_queues, 0);
	CHECK_EQ(left.contexts, 0);
}
