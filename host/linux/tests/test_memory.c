// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Memory that clients share: what one of them keeps busy, for as long as it likes, others do not wait for. */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "patchbay/abi/patch.h"
#include "tests.h"

static void add_patch(struct guest_work *work, uint32_t allocation, uint32_t offset, uint32_t at)
{
	work->patches[work->args.patch_count++] = (struct drm_patchbay_patch){
		.allocation_index = allocation,
		.format = PB_PATCH_FORMAT_SUM32,
		.allocation_offset = offset,
		.patch_offset = at,
	};
}

/* Submits a patch list of `count` entries for an object. */
static int patch_object(int fd, uint32_t queue, const struct guest_object *target, uint32_t count, int fence)
{
	static struct guest_work work;

	guest_work_start(&work, queue);
	work.args.flags = PATCHBAY_SUBMIT_PATCH | (fence >= 0 ? PATCHBAY_SUBMIT_FENCE_IN : 0);
	work.args.in_fence_fd = fence >= 0 ? fence : 0;
	work.args.target = target->handle;
	work.args.end = (uint32_t)target->size;
	guest_allocation(&work, target->handle, true);
	for (uint32_t i = 0; i < count; i++)
		add_patch(&work, 0, i, 4 * i);
	return guest_submit(fd, &work);
}

static uint32_t new_queue(int fd, uint32_t node)
{
	struct drm_patchbay_queue_create create = {.node = node, .priority = PATCHBAY_PRIORITY_NORMAL};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_QUEUE_CREATE, &create), 0);
	return create.queue;
}

/*
 * A client fills more than all memory for lists with submissions that wait for a fence of another driver, and for each
 * other. Another client's lists, short and long, are carried out meanwhile; then the first one's are, in order.
 */
void lists_that_wait_leave_room_for_others(void)
{
	enum { QUEUES = 3, EACH = 31, LONG = 1000 };
	int fd = guest_open(), other = guest_open();
	struct guest_object mine = guest_object(fd, 4096, PATCHBAY_GEM_PATCHABLE);
	struct guest_object theirs = guest_object(other, 4096, PATCHBAY_GEM_PATCHABLE);
	struct guest_foreign foreign = guest_foreign();
	uint32_t queues[QUEUES];

	for (int i = 0; i < QUEUES; i++)
		queues[i] = new_queue(fd, (uint32_t)i % 2);
	for (int i = 0; i < QUEUES * EACH; i++)
		CHECK_EQ(patch_object(fd, queues[i % QUEUES], &mine, LONG - (uint32_t)(i % 2) * 500, i == 0 ? foreign.file : -1),
			 0);
	for (uint32_t i = 0; i < 20; i++)
		CHECK_EQ(patch_object(other, i % 2, &theirs, i < 10 ? 4 : LONG, -1), 0);
	CHECK_EQ(guest_wait(other, 0, 10, GUEST_PATIENCE), 0);
	CHECK_EQ(guest_wait(other, 1, 10, GUEST_PATIENCE), 0);
	CHECK_EQ(theirs.words[LONG - 1], (uint32_t)guest_info(other, theirs.handle).address + LONG - 1);
	CHECK_EQ(guest_query(fd, queues[0]).completed, 0);
	guest_foreign_signal(&foreign);
	for (int i = 0; i < QUEUES; i++) {
		CHECK_EQ(guest_wait(fd, queues[i], EACH, GUEST_PATIENCE), 0);
		CHECK_EQ(guest_query(fd, queues[i]).errors, 0);
	}
	CHECK_EQ(mine.words[LONG - 1], (uint32_t)guest_info(fd, mine.handle).address + LONG - 1);
}

static void use_object(int fd, uint32_t queue, const struct guest_object *object, uint32_t value, int fence)
{
	static struct guest_work work;

	guest_work_start(&work, queue);
	if (fence >= 0) {
		work.args.flags = PATCHBAY_SUBMIT_FENCE_IN;
		work.args.in_fence_fd = fence;
	}
	guest_allocation(&work, object->handle, true);
	guest_fill(&work, 0, 0, 4, value);
	CHECK_EQ(guest_submit(fd, &work), 0);
}

/*
 * Two clients keep half of VRAM busy behind a fence of another driver, which is what they may. A third one needs more than
 * the other half, and waits. A fourth one, which has its object in VRAM, does not.
 */
void a_client_that_waits_for_vram_stops_no_other(void)
{
	enum { PARTS = 2 };
	struct drm_patchbay_info info;
	struct guest_object busy[PARTS], large, small;
	struct guest_foreign foreign = guest_foreign();
	int files[PARTS], second, third = guest_open(), status;
	pid_t child;

	CHECK_EQ(guest_ioctl(third, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	small = guest_object(third, 4096, PATCHBAY_GEM_PATCHABLE);
	use_object(third, 0, &small, 1, -1);
	CHECK_EQ(guest_wait(third, 0, 1, GUEST_PATIENCE), 0);
	for (int i = 0; i < PARTS; i++) {
		files[i] = guest_open();
		busy[i] = guest_object(files[i], info.patchable_bytes / 4 / 4096 * 4096, PATCHBAY_GEM_PATCHABLE);
		use_object(files[i], 0, &busy[i], 10 + (uint32_t)i, foreign.file);
	}
	child = fork();
	if (child == 0) {
		second = guest_open();
		large = guest_object(second, info.patchable_bytes * 3 / 4, PATCHBAY_GEM_PATCHABLE);
		use_object(second, 0, &large, 7, -1);
		CHECK_EQ(guest_wait(second, 0, 1, GUEST_PATIENCE), 0);
		CHECK_EQ(large.words[0], 7);
		_exit(0);
	}
	guest_until_in(child, "pbd_room_wait");
	for (uint32_t i = 0; i < 8; i++)
		use_object(third, i % 2, &small, 100 + i, -1);
	CHECK_EQ(guest_wait(third, 0, 5, GUEST_PATIENCE), 0);
	CHECK_EQ(guest_wait(third, 1, 4, GUEST_PATIENCE), 0);
	CHECK_EQ(small.words[0], 107);
	CHECK_EQ(guest_fence_status(foreign.file), 0);
	CHECK_EQ(waitpid(child, &status, WNOHANG), 0);
	guest_foreign_signal(&foreign);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	for (int i = 0; i < PARTS; i++) {
		CHECK_EQ(guest_wait(files[i], 0, 1, GUEST_PATIENCE), 0);
		CHECK_EQ(busy[i].words[0], 10 + i);
	}
}

/* Keeps VRAM behind a fence of another driver, until the fence ends: eight submissions for all of the window. */
static pid_t start_greedy(const struct guest_foreign *foreign, uint32_t seed)
{
	enum { PARTS = 8 };
	struct drm_patchbay_info info;
	struct guest_object object;
	pid_t child = fork();
	int fd;

	if (child != 0)
		return child;
	fd = guest_open();
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	for (uint32_t i = 0; i < PARTS; i++) {
		object = guest_object(fd, info.patchable_bytes / PARTS / 4096 * 4096, PATCHBAY_GEM_PATCHABLE);
		use_object(fd, i % 2, &object, seed + i, i < 2 ? foreign->file : -1);
	}
	CHECK_EQ(guest_wait(fd, 1, PARTS / 2, GUEST_PATIENCE), 0);
	CHECK_EQ(object.words[0], seed + PARTS - 1);
	_exit(0);
}

/* The fence has not ended: whoever found room found it beside the processes that keep it busy. */
static void end_greedy(const struct guest_foreign *foreign, const pid_t *children, int count)
{
	int status;

	CHECK_EQ(guest_fence_status(foreign->file), 0);
	for (int i = 0; i < count; i++)
		CHECK_EQ(waitpid(children[i], &status, WNOHANG), 0);
	guest_foreign_signal(foreign);
	for (int i = 0; i < count; i++) {
		CHECK_EQ(waitpid(children[i], &status, 0), children[i]);
		CHECK_EQ(status, 0);
	}
}

/*
 * Three clients would keep all of VRAM behind a fence of another driver. They get their parts, the rest of their submissions
 * waits before it is placed: another client finds room at once.
 */
void waiting_for_others_keeps_a_part_of_vram(void)
{
	enum { GREEDY = 3 };
	struct drm_patchbay_info info;
	struct guest_object large;
	struct guest_foreign foreign = guest_foreign();
	int fd = guest_open();
	pid_t children[GREEDY];

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	for (uint32_t i = 0; i < GREEDY; i++)
		children[i] = start_greedy(&foreign, 10 * i);
	for (uint32_t i = 0; i < GREEDY; i++)
		guest_until_in(children[i], "pbd_hold_wait");
	large = guest_object(fd, info.patchable_bytes / 2 / 4096 * 4096, PATCHBAY_GEM_PATCHABLE);
	for (uint32_t i = 0; i < 4; i++) {
		use_object(fd, 0, &large, 70 + i, -1);
		CHECK_EQ(guest_wait(fd, 0, i + 1, GUEST_PATIENCE), 0);
		CHECK_EQ(large.words[0], 70 + i);
	}
	end_greedy(&foreign, children, GREEDY);
}

/* One client that keeps all it may leaves another one its own part: that one's submission does not wait in the call. */
void each_file_keeps_its_own_part_of_vram(void)
{
	struct drm_patchbay_info info;
	struct guest_object own;
	struct guest_foreign foreign = guest_foreign();
	int fd = guest_open();
	pid_t child = start_greedy(&foreign, 10);

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	own = guest_object(fd, info.patchable_bytes / 4 / 4096 * 4096, PATCHBAY_GEM_PATCHABLE);
	guest_until_in(child, "pbd_hold_wait");
	use_object(fd, 0, &own, 5, foreign.file);
	end_greedy(&foreign, &child, 1);
	CHECK_EQ(guest_wait(fd, 0, 1, GUEST_PATIENCE), 0);
	CHECK_EQ(own.words[0], 5);
}

/* A fence of another driver that was put into an idle object does not keep it in VRAM. */
void fences_of_others_keep_no_object_in_vram(void)
{
	struct drm_patchbay_info info;
	struct guest_foreign foreign = guest_foreign();
	struct dma_buf_import_sync_file sync = {.flags = DMA_BUF_SYNC_RW, .fd = foreign.file};
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
	struct guest_object first, second;
	int fd = guest_open(), other = guest_open();

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	first = guest_object(fd, info.patchable_bytes * 3 / 4, PATCHBAY_GEM_PATCHABLE);
	second = guest_object(other, info.patchable_bytes * 3 / 4, PATCHBAY_GEM_PATCHABLE);
	use_object(fd, 0, &first, 5, -1);
	CHECK_EQ(guest_wait(fd, 0, 1, GUEST_PATIENCE), 0);
	prime.handle = first.handle;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	CHECK_EQ(guest_ioctl(prime.fd, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &sync), 0);
	use_object(other, 0, &second, 6, -1);
	CHECK_EQ(guest_wait(other, 0, 1, GUEST_PATIENCE), 0);
	CHECK_EQ(guest_fence_status(foreign.file), 0);
	CHECK_EQ(first.words[0], 5);
	CHECK_EQ(second.words[0], 6);
	guest_foreign_signal(&foreign);
}

/* As many entries as the card takes, for as many objects: each is carried out; a bad one is named by its number. */
void the_longest_lists_are_carried_out(void)
{
	static struct drm_patchbay_allocation allocations[1024];
	struct drm_patchbay_info info;
	struct drm_patchbay_patch *patches;
	struct drm_patchbay_submit submit = {.flags = PATCHBAY_SUBMIT_PATCH};
	struct guest_object target;
	int fd = guest_open();
	uint32_t objects;
	uint64_t seed = 5, address[1024];

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	CHECK(info.patches_max >= 40000 && info.allocations_max == 1024);
	/* As many objects as fit into VRAM beside the target. */
	objects = (uint32_t)(info.vram_bytes * 3 / 4 / 4096);
	objects = objects < 1024 ? objects : 1024;
	patches = calloc(info.patches_max, sizeof(*patches));
	target = guest_object(fd, 4ull * info.patches_max, PATCHBAY_GEM_PATCHABLE);
	for (uint32_t i = 0; i < objects; i++) {
		struct drm_patchbay_gem_create create = {.size = 4096};

		CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_CREATE, &create), 0);
		allocations[i].handle = create.handle;
	}
	for (uint32_t i = 0; i < info.patches_max; i++)
		patches[i] = (struct drm_patchbay_patch){
			.allocation_index = guest_random(&seed) % objects,
			.format = i % 3 == 0 ? PB_PATCH_FORMAT_SUM32 : PB_PATCH_FORMAT_HIGH32,
			.allocation_offset = i % 1024 * 4,
			.patch_offset = 4 * (i * 4099u % info.patches_max),
		};
	submit.allocations = (uintptr_t)allocations;
	submit.allocation_count = objects;
	submit.patches = (uintptr_t)patches;
	submit.patch_count = info.patches_max;
	submit.target = target.handle;
	submit.end = (uint32_t)target.size;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_SUBMIT, &submit), 0);
	CHECK_EQ(guest_wait(fd, 0, submit.value, GUEST_PATIENCE), 0);
	CHECK_EQ(guest_query(fd, 0).errors, 0);
	for (uint32_t i = 0; i < objects; i++)
		address[i] = guest_info(fd, allocations[i].handle).address;
	for (uint32_t i = 0; i < info.patches_max; i++) {
		const uint64_t value = address[patches[i].allocation_index] + patches[i].allocation_offset;

		CHECK_EQ(target.words[patches[i].patch_offset / 4], i % 3 == 0 ? (uint32_t)value : value >> 32);
	}
	patches[40001].patch_offset += 2;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_SUBMIT, &submit), 0);
	CHECK_EQ(guest_wait(fd, 0, submit.value, GUEST_PATIENCE), 0);
	CHECK_EQ(guest_query(fd, 0).errors, 1);
	CHECK_EQ(guest_query(fd, 0).error_index, 40001);
	CHECK_EQ(guest_clear(fd, 0), 0);
	/* An entry that the compact encoding has no room for is found by the firmware as well, in a list that is not too long. */
	patches[600].format = 300;
	submit.patch_count = 5000;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_SUBMIT, &submit), 0);
	CHECK_EQ(guest_wait(fd, 0, submit.value, GUEST_PATIENCE), 0);
	CHECK_EQ(guest_query(fd, 0).error_index, 600);
	submit.patch_count = info.patches_max;
	CHECK_EQ(guest_clear(fd, 0), 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_SUBMIT, &submit), E2BIG);
}
