// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Fences in both directions: sync_file, syncobjs, timelines, reservations; ours and those of another driver. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "shown.h"
#include "tests.h"

static void fill(struct guest_work *work, uint32_t queue, const struct guest_object *object, uint32_t value)
{
	guest_work_start(work, queue);
	guest_allocation(work, object->handle, true);
	guest_fill(work, 0, 0, 4, value);
}

void waits_end_in_time(void)
{
	static struct guest_work work;
	struct guest_foreign foreign = guest_foreign();
	struct drm_patchbay_gem_wait wait = {0};
	int fd = guest_open();
	struct guest_object object = guest_object(fd, 4096, 0);
	int64_t start = guest_now_ns();

	fill(&work, 0, &object, 1);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_IN;
	work.args.in_fence_fd = foreign.file;
	CHECK_EQ(guest_submit(fd, &work), 0);
	wait.handle = object.handle;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_WAIT, &wait), ETIME);
	CHECK_EQ(guest_wait(fd, 0, 1, 0), ETIME);
	CHECK_EQ(guest_wait(fd, 0, 2, 0), EINVAL);
	CHECK_EQ(guest_wait(fd, 0, 1, GUEST_SECOND / 10), ETIME);
	CHECK(guest_now_ns() - start >= GUEST_SECOND / 10);
	guest_foreign_signal(&foreign);
	CHECK_EQ(guest_wait(fd, 0, 1, GUEST_PATIENCE), 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_WAIT, &wait), 0);
	CHECK_EQ(guest_wait(fd, 0, 1, -1), 0);
	CHECK_EQ(guest_wait(fd, 0, 0, 0), 0);
}

/* Each submission waits for the timeline's point of the one before, on another node. */
void timelines_order_queues(void)
{
	enum { STEPS = 60 };
	static struct guest_work work;
	struct drm_patchbay_sync in = {0}, out = {0};
	struct drm_patchbay_info info;
	int fd = guest_open();
	struct guest_object object = guest_object(fd, 4096 * 2, 0);
	uint32_t timeline = guest_syncobj(fd);

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	for (uint32_t i = 0; i < STEPS; i++) {
		guest_work_start(&work, i % info.nodes);
		work.args.flags = PATCHBAY_SUBMIT_EXPLICIT;
		guest_allocation(&work, object.handle, true);
		/* Word i + 1 becomes word i; word 0 is the seed. */
		if (i == 0) {
			guest_busy(&work, 2000);
			guest_fill(&work, 0, 0, 4, 0xabcd);
		}
		guest_copy(&work, 0, 4 * i, 0, 4 * i + 4, 4);
		in = (struct drm_patchbay_sync){.handle = timeline, .point = i};
		out = (struct drm_patchbay_sync){.handle = timeline, .point = i + 1};
		work.args.in_syncs = (uintptr_t)&in;
		work.args.in_count = i != 0;
		work.args.out_syncs = (uintptr_t)&out;
		work.args.out_count = 1;
		CHECK_EQ(guest_submit(fd, &work), 0);
	}
	CHECK_EQ(guest_syncobj_wait(fd, timeline, STEPS, GUEST_PATIENCE), 0);
	for (uint32_t i = 0; i <= STEPS; i++)
		CHECK_EQ(object.words[i], 0xabcd);
	CHECK_EQ(guest_syncobj_wait(fd, timeline, STEPS + 1, GUEST_SECOND / 10), ETIME);
}

/* The reservation of an object orders its users on different nodes, of one file and of two. */
void objects_order_their_users(void)
{
	enum { STEPS = 40 };
	static struct guest_work work;
	struct drm_patchbay_gem_wait wait = {0};
	int fd = guest_open(), other = guest_open();
	struct guest_object object = guest_object(fd, 4096, 0), shared = guest_share(fd, &object, other);

	guest_work_start(&work, 0);
	guest_allocation(&work, object.handle, true);
	guest_busy(&work, 5000);
	guest_fill(&work, 0, 0, 4, 77);
	CHECK_EQ(guest_submit(fd, &work), 0);
	for (uint32_t i = 0; i < STEPS; i++) {
		guest_work_start(&work, (i + 1) % 2);
		guest_allocation(&work, i % 3 == 0 ? shared.handle : object.handle, true);
		guest_copy(&work, 0, 4 * i, 0, 4 * i + 4, 4);
		CHECK_EQ(guest_submit(i % 3 == 0 ? other : fd, &work), 0);
	}
	wait.handle = object.handle;
	wait.timeout_ns = GUEST_PATIENCE;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_WAIT, &wait), 0);
	for (uint32_t i = 0; i <= STEPS; i++)
		CHECK_EQ(object.words[i], 77);
}

void a_sync_file_goes_in_and_out(void)
{
	static struct guest_work work;
	int fd = guest_open(), other = guest_open(), fence;
	struct guest_object object = guest_object(fd, 4096, 0), theirs = guest_object(other, 4096, 0);
	struct guest_foreign foreign = guest_foreign();

	fill(&work, 0, &object, 1);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_IN | PATCHBAY_SUBMIT_FENCE_OUT;
	work.args.in_fence_fd = foreign.file;
	CHECK_EQ(guest_submit(fd, &work), 0);
	fence = work.args.out_fence_fd;
	CHECK(fence >= 0);
	CHECK_EQ(guest_fence_status(fence), 0);
	/* Another file's submission, on another node, waits for it. */
	fill(&work, 1, &theirs, 2);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_IN | PATCHBAY_SUBMIT_FENCE_OUT;
	work.args.in_fence_fd = fence;
	CHECK_EQ(guest_submit(other, &work), 0);
	CHECK_EQ(guest_fence_status(work.args.out_fence_fd), 0);
	CHECK_EQ(theirs.words[0], 0);
	guest_foreign_signal(&foreign);
	CHECK_EQ(guest_fence_wait(work.args.out_fence_fd), 0);
	CHECK_EQ(guest_fence_status(fence), 1);
	CHECK_EQ(guest_fence_status(work.args.out_fence_fd), 1);
	CHECK_EQ(object.words[0], 1);
	CHECK_EQ(theirs.words[0], 2);
}

/* A failure behind a fence that another file waits for is not passed on: the waiter runs. */
void a_failure_elsewhere_does_not_fail_a_waiter(void)
{
	static struct guest_work work;
	int fd = guest_open(), other = guest_open(), fence;
	struct guest_object theirs = guest_object(other, 4096, 0);

	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_UNSAFE | PATCHBAY_SUBMIT_FENCE_OUT;
	guest_command(&work, 0x31, 0, NULL);
	CHECK_EQ(guest_submit(fd, &work), 0);
	fence = work.args.out_fence_fd;
	fill(&work, 1, &theirs, 3);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_IN | PATCHBAY_SUBMIT_FENCE_OUT;
	work.args.in_fence_fd = fence;
	CHECK_EQ(guest_submit(other, &work), 0);
	CHECK_EQ(guest_fence_wait(work.args.out_fence_fd), 0);
	CHECK_EQ(guest_fence_status(fence), -EIO);
	CHECK_EQ(guest_fence_status(work.args.out_fence_fd), 1);
	CHECK_EQ(theirs.words[0], 3);
}

/* ---- another driver's fences ---- */

/* Submissions behind it in the queue wait as well, and keep their order; another queue does not. */
void foreign_fences_are_waited_for_in_the_kernel(void)
{
	static struct guest_work work;
	int fd = guest_open(), fence;
	struct guest_object object = guest_object(fd, 4096, 0), free_one = guest_object(fd, 4096, 0);
	struct guest_foreign foreign = guest_foreign();

	fill(&work, 0, &object, 1);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_IN | PATCHBAY_SUBMIT_FENCE_OUT;
	work.args.in_fence_fd = foreign.file;
	CHECK_EQ(guest_submit(fd, &work), 0);
	fence = work.args.out_fence_fd;
	fill(&work, 0, &object, 2);
	CHECK_EQ(guest_submit(fd, &work), 0);
	fill(&work, 1, &free_one, 3);
	guest_do(fd, &work);
	CHECK_EQ(free_one.words[0], 3);
	shown_has(shown_queue(fd, 0), " completed=0 waiting=2 running=0 fences=1 ");
	CHECK_EQ(guest_fence_status(fence), 0);
	CHECK_EQ(object.words[0], 0);
	guest_foreign_signal(&foreign);
	CHECK_EQ(guest_wait(fd, 0, 2, GUEST_PATIENCE), 0);
	CHECK_EQ(guest_fence_status(fence), 1);
	CHECK_EQ(object.words[0], 2);
}

/* More of our own fences than the firmware takes at once, and a foreign one among them. */
void many_fences_are_waited_for_at_once(void)
{
	enum { QUEUES = 7 };
	static struct guest_work work;
	int fd = guest_open();
	struct drm_patchbay_sync in[QUEUES];
	struct guest_object objects[QUEUES], sum = guest_object(fd, 4096, 0);
	struct guest_foreign foreign = guest_foreign();

	for (uint32_t i = 0; i < QUEUES; i++) {
		struct drm_patchbay_queue_create create = {.node = i % 2, .priority = PATCHBAY_PRIORITY_NORMAL};
		struct drm_patchbay_sync out = {.handle = guest_syncobj(fd)};

		CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_QUEUE_CREATE, &create), 0);
		objects[i] = guest_object(fd, 4096, 0);
		guest_work_start(&work, create.queue);
		guest_allocation(&work, objects[i].handle, true);
		guest_busy(&work, 1000 * (i + 1));
		guest_fill(&work, 0, 0, 4, 100 + i);
		work.args.out_syncs = (uintptr_t)&out;
		work.args.out_count = 1;
		CHECK_EQ(guest_submit(fd, &work), 0);
		in[i] = out;
	}
	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_EXPLICIT | PATCHBAY_SUBMIT_FENCE_IN;
	work.args.in_fence_fd = foreign.file;
	guest_allocation(&work, sum.handle, true);
	for (uint32_t i = 0; i < QUEUES; i++) {
		guest_allocation(&work, objects[i].handle, false);
		guest_copy(&work, i + 1, 0, 0, 4 * i, 4);
	}
	work.args.in_syncs = (uintptr_t)in;
	work.args.in_count = QUEUES;
	CHECK_EQ(guest_submit(fd, &work), 0);
	/* All but the foreign one have ended; no other queue waits in the kernel. */
	GUEST_UNTIL(strstr(shown_debugfs("patchbay_queues"), " completed=0 waiting=1 running=0 fences=1 ") != NULL);
	guest_foreign_signal(&foreign);
	CHECK_EQ(guest_wait(fd, 0, 1, GUEST_PATIENCE), 0);
	for (uint32_t i = 0; i < QUEUES; i++)
		CHECK_EQ(sum.words[i], 100 + i);
}

/* Closing the file does not end what was submitted. */
void a_closed_file_still_waits_for_foreign_fences(void)
{
	static struct guest_work work;
	int fd = guest_open(), other = guest_open(), fence;
	struct guest_object object = guest_object(fd, 4096, 0), shared = guest_share(fd, &object, other);
	struct guest_foreign foreign = guest_foreign();

	fill(&work, 0, &object, 1);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_IN | PATCHBAY_SUBMIT_FENCE_OUT;
	work.args.in_fence_fd = foreign.file;
	CHECK_EQ(guest_submit(fd, &work), 0);
	fence = work.args.out_fence_fd;
	guest_object_free(fd, &object);
	close(fd);
	CHECK_EQ(guest_fence_status(fence), 0);
	guest_foreign_signal(&foreign);
	CHECK_EQ(guest_fence_wait(fence), 0);
	CHECK_EQ(guest_fence_status(fence), 1);
	CHECK_EQ(shared.words[0], 1);
}
