// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Syncobjs and timelines with submissions of the driver behind them. IGT's syncobj_basic, syncobj_wait and
 * syncobj_timeline demand the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "tests.h"

#define NONE 0xffffu /* a handle that does not exist */
#define LONG GUEST_PATIENCE
#define FOR_SUBMIT DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT
#define ALL DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL
#define AVAILABLE DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE

/* 0, or the errno. @first: which one has ended; NULL: not asked for. */
static int wait_for(int fd, const uint32_t *handles, uint32_t count, uint32_t flags, int64_t timeout_ns, uint32_t *first)
{
	struct drm_syncobj_wait wait = {.handles = (uintptr_t)handles,
					.count_handles = count,
					.flags = flags,
					.timeout_nsec = timeout_ns ? guest_now_ns() + timeout_ns : 0};
	int error = guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait);

	if (first != NULL)
		*first = wait.first_signaled;
	return error;
}

static int wait_point(int fd, uint32_t handle, uint64_t point, uint32_t flags, int64_t timeout_ns)
{
	struct drm_syncobj_timeline_wait wait = {.handles = (uintptr_t)&handle,
						 .points = (uintptr_t)&point,
						 .count_handles = 1,
						 .flags = flags,
						 .timeout_nsec = timeout_ns ? guest_now_ns() + timeout_ns : 0};

	return guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

static int do_array(int fd, unsigned long request, const uint32_t *handles, uint32_t count)
{
	struct drm_syncobj_array array = {.handles = (uintptr_t)handles, .count_handles = count};

	return guest_ioctl(fd, request, &array);
}

static int signal_points(int fd, const uint32_t *handles, const uint64_t *points, uint32_t count)
{
	struct drm_syncobj_timeline_array array = {
		.handles = (uintptr_t)handles, .points = (uintptr_t)points, .count_handles = count};

	return guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &array);
}

static uint64_t query(int fd, uint32_t handle, uint32_t flags)
{
	uint64_t point = ~0ull;
	struct drm_syncobj_timeline_array array = {
		.handles = (uintptr_t)&handle, .points = (uintptr_t)&point, .count_handles = 1, .flags = flags};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_QUERY, &array), 0);
	return point;
}

static int transfer(int fd, uint32_t from, uint64_t from_point, uint32_t to, uint64_t to_point)
{
	struct drm_syncobj_transfer arguments = {
		.src_handle = from, .src_point = from_point, .dst_handle = to, .dst_point = to_point};

	return guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &arguments);
}

static int destroy(int fd, uint32_t handle)
{
	struct drm_syncobj_destroy arguments = {.handle = handle};

	return guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &arguments);
}

static int give(int fd, uint32_t handle, uint32_t flags, int *file)
{
	struct drm_syncobj_handle arguments = {.handle = handle, .flags = flags, .fd = -1};
	int error = guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &arguments);

	*file = arguments.fd;
	return error;
}

static int take(int fd, int file, uint32_t flags, uint32_t *handle)
{
	struct drm_syncobj_handle arguments = {.handle = *handle, .flags = flags, .fd = file};
	int error = guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &arguments);

	*handle = arguments.handle;
	return error;
}

/* A submission that signals the point, or the syncobj if that is 0. @foreign: what it waits for, or NULL */
static void submit_to(int fd, uint32_t node, const struct guest_foreign *foreign, uint32_t handle, uint64_t point)
{
	static struct guest_work work;
	struct drm_patchbay_sync out = {.handle = handle, .point = point};
	struct guest_object object = guest_object(fd, 4096, 0);

	guest_work_start(&work, node);
	guest_allocation(&work, object.handle, true);
	guest_fill(&work, 0, 0, 4, 1);
	if (foreign != NULL) {
		work.args.flags = PATCHBAY_SUBMIT_FENCE_IN;
		work.args.in_fence_fd = foreign->file;
	}
	work.args.out_syncs = (uintptr_t)&out;
	work.args.out_count = 1;
	CHECK_EQ(guest_submit(fd, &work), 0);
	guest_object_free(fd, &object);
}

/* ---- arguments ---- */

static void handles_are_checked(int fd, uint32_t good)
{
	struct drm_syncobj_create create = {.flags = 2};
	struct drm_syncobj_destroy padded = {.handle = good, .pad = 1};
	struct drm_syncobj_handle pad = {.handle = good, .pad = 1, .fd = -1};
	int file, null = open("/dev/null", O_RDWR);
	uint32_t handle = good, none = NONE;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create), EINVAL);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &padded), EINVAL);
	CHECK_EQ(destroy(fd, NONE), EINVAL);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &pad), EINVAL);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &pad), EINVAL);
	CHECK_EQ(give(fd, NONE, 0, &file), EINVAL);
	CHECK_EQ(give(fd, good, 2, &file), EINVAL);
	/* There is no fence in it that a sync_file could hold. */
	CHECK_EQ(give(fd, good, DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE, &file), EINVAL);
	CHECK_EQ(give(fd, NONE, DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE, &file), ENOENT);
	CHECK_EQ(take(fd, null, 0, &handle), EINVAL);
	CHECK_EQ(take(fd, 1000, 0, &handle), EINVAL);
	CHECK_EQ(take(fd, null, 2, &handle), EINVAL);
	CHECK_EQ(take(fd, null, DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE, &handle), EINVAL);
	CHECK_EQ(take(fd, guest_foreign().file, DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE, &none), ENOENT);
}

static void arrays_are_checked(int fd, uint32_t good)
{
	const unsigned long requests[2] = {DRM_IOCTL_SYNCOBJ_RESET, DRM_IOCTL_SYNCOBJ_SIGNAL};
	const unsigned long timelines[2] = {DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, DRM_IOCTL_SYNCOBJ_QUERY};
	const uint32_t handles[2] = {good, NONE};
	uint64_t points[2] = {1, 1};

	for (int i = 0; i < 2; i++) {
		struct drm_syncobj_array padded = {.handles = (uintptr_t)&good, .count_handles = 1, .pad = 1};
		struct drm_syncobj_timeline_array bad = {.handles = (uintptr_t)handles, .points = (uintptr_t)points};

		CHECK_EQ(do_array(fd, requests[i], handles, 0), EINVAL);
		CHECK_EQ(do_array(fd, requests[i], handles, 2), ENOENT);
		CHECK_EQ(do_array(fd, requests[i], (uint32_t *)8, 1), EFAULT);
		CHECK_EQ(guest_ioctl(fd, requests[i], &padded), EINVAL);
		CHECK_EQ(guest_ioctl(fd, timelines[i], &bad), EINVAL);
		bad.count_handles = 2;
		CHECK_EQ(guest_ioctl(fd, timelines[i], &bad), ENOENT);
		bad.count_handles = 1;
		bad.flags = 0x80;
		CHECK_EQ(guest_ioctl(fd, timelines[i], &bad), EINVAL);
		bad.flags = 0;
		bad.points = 8;
		CHECK_EQ(guest_ioctl(fd, timelines[i], &bad), EFAULT);
	}
}

static void waits_are_checked(int fd, uint32_t good)
{
	const uint32_t handles[2] = {good, NONE};
	struct drm_syncobj_transfer padded = {.src_handle = good, .dst_handle = good, .pad = 1};

	CHECK_EQ(wait_for(fd, handles, 2, 0, 0, NULL), ENOENT);
	CHECK_EQ(wait_for(fd, handles, 1, 0x80, 0, NULL), EINVAL);
	/* To be available is for points of timelines alone. */
	CHECK_EQ(wait_for(fd, handles, 1, AVAILABLE, 0, NULL), EINVAL);
	CHECK_EQ(wait_for(fd, (uint32_t *)8, 1, 0, 0, NULL), EFAULT);
	CHECK_EQ(wait_point(fd, NONE, 1, 0, 0), ENOENT);
	CHECK_EQ(wait_point(fd, good, 1, 0x80, 0), EINVAL);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &padded), EINVAL);
	CHECK_EQ(transfer(fd, NONE, 0, good, 0), ENOENT);
	CHECK_EQ(transfer(fd, good, 0, NONE, 0), ENOENT);
	/* Nothing was submitted to it. */
	CHECK_EQ(transfer(fd, good, 0, good, 0), EINVAL);
	CHECK_EQ(wait_for(fd, handles, 1, 0, 0, NULL), EINVAL);
}

void syncobj_arguments_are_checked(void)
{
	int fd = guest_open();
	uint32_t good = guest_syncobj(fd);

	handles_are_checked(fd, good);
	arrays_are_checked(fd, good);
	waits_are_checked(fd, good);
	/* No call that was refused has changed it. */
	CHECK_EQ(wait_for(fd, &good, 1, FOR_SUBMIT, 0, NULL), ETIME);
	CHECK_EQ(destroy(fd, good), 0);
	CHECK_EQ(destroy(fd, good), EINVAL);
}

/* ---- waits ---- */

/* Two submissions that wait for another driver, and a syncobj without one. */
void syncobjs_are_waited_for_by_any_and_all(void)
{
	int fd = guest_open();
	struct guest_foreign foreign[2] = {guest_foreign(), guest_foreign()};
	const uint32_t handles[3] = {guest_syncobj(fd), guest_syncobj(fd), guest_syncobj(fd)};
	const uint32_t backwards[3] = {handles[2], handles[1], handles[0]};
	uint32_t first;

	for (uint32_t i = 0; i < 2; i++)
		submit_to(fd, i, &foreign[i], handles[i], 0);
	CHECK_EQ(wait_for(fd, handles, 2, 0, 0, NULL), ETIME);
	CHECK_EQ(wait_for(fd, handles, 2, ALL, GUEST_SECOND / 20, NULL), ETIME);
	/* One that has nothing submitted is an error, but for those who wait for that, too. */
	CHECK_EQ(wait_for(fd, handles, 3, 0, 0, NULL), EINVAL);
	CHECK_EQ(wait_for(fd, handles, 3, ALL, 0, NULL), EINVAL);
	CHECK_EQ(wait_for(fd, handles, 3, FOR_SUBMIT, GUEST_SECOND / 20, NULL), ETIME);
	guest_foreign_signal(&foreign[1]);
	CHECK_EQ(wait_for(fd, handles, 2, 0, LONG, &first), 0);
	CHECK_EQ(first, 1);
	CHECK_EQ(wait_for(fd, backwards, 3, FOR_SUBMIT, LONG, &first), 0);
	CHECK_EQ(first, 1);
	CHECK_EQ(wait_for(fd, handles, 2, ALL, GUEST_SECOND / 20, NULL), ETIME);
	guest_foreign_signal(&foreign[0]);
	CHECK_EQ(wait_for(fd, handles, 2, ALL, LONG, NULL), 0);
	/* A time that has passed is long enough for what has ended. */
	CHECK_EQ(wait_for(fd, handles, 2, ALL, 0, NULL), 0);
	CHECK_EQ(wait_for(fd, handles, 3, ALL | FOR_SUBMIT, 0, NULL), ETIME);
	CHECK_EQ(do_array(fd, DRM_IOCTL_SYNCOBJ_SIGNAL, &handles[2], 1), 0);
	CHECK_EQ(wait_for(fd, handles, 3, ALL, 0, NULL), 0);
}

/* A process that waits for all of `handles`, and says so by its exit status. */
static pid_t start_waiter(int fd, const uint32_t *handles, uint32_t count)
{
	pid_t child = fork();

	if (child == 0)
		_exit(wait_for(fd, handles, count, FOR_SUBMIT | ALL, LONG, NULL));
	CHECK(child > 0);
	return child;
}

/* A wait that began before the submission ends with it. A point is available as soon as it is submitted. */
void submissions_that_come_later_are_waited_for(void)
{
	int fd = guest_open(), status;
	struct guest_foreign foreign = guest_foreign();
	const uint32_t handles[3] = {guest_syncobj(fd), guest_syncobj(fd), guest_syncobj(fd)};
	uint32_t timeline = guest_syncobj(fd);
	pid_t child = start_waiter(fd, handles, 3);

	for (uint32_t i = 0; i < 3; i++) {
		guest_until_in(child, "drm_syncobj_");
		CHECK_EQ(waitpid(child, &status, WNOHANG), 0);
		submit_to(fd, i % 2, NULL, handles[i], 0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	CHECK_EQ(wait_point(fd, timeline, 5, 0, 0), EINVAL);
	CHECK_EQ(wait_point(fd, timeline, 5, AVAILABLE, GUEST_SECOND / 20), ETIME);
	child = fork();
	if (child == 0)
		_exit(wait_point(fd, timeline, 5, AVAILABLE, LONG));
	guest_until_in(child, "drm_syncobj_");
	submit_to(fd, 0, &foreign, timeline, 5);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	CHECK_EQ(wait_point(fd, timeline, 5, 0, GUEST_SECOND / 20), ETIME);
	guest_foreign_signal(&foreign);
	CHECK_EQ(wait_point(fd, timeline, 5, 0, LONG), 0);
}

/* ---- many at once, other files ---- */

void syncobjs_are_reset_and_signaled_together(void)
{
	enum { COUNT = 64 };
	uint32_t handles[COUNT], first;
	int fd = guest_open();

	for (uint32_t i = 0; i < COUNT; i++) {
		struct drm_syncobj_create create = {.flags = i % 2 ? DRM_SYNCOBJ_CREATE_SIGNALED : 0};

		CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create), 0);
		handles[i] = create.handle;
		CHECK_EQ(wait_for(fd, &handles[i], 1, 0, 0, NULL), i % 2 ? 0 : EINVAL);
	}
	CHECK_EQ(wait_for(fd, handles, COUNT, FOR_SUBMIT, 0, &first), 0);
	CHECK_EQ(first % 2, 1);
	/* Some end by themselves. */
	for (uint32_t i = 0; i < COUNT; i += 8)
		submit_to(fd, i / 8 % 2, NULL, handles[i], 0);
	CHECK_EQ(do_array(fd, DRM_IOCTL_SYNCOBJ_SIGNAL, handles, COUNT), 0);
	CHECK_EQ(wait_for(fd, handles, COUNT, ALL, 0, NULL), 0);
	CHECK_EQ(do_array(fd, DRM_IOCTL_SYNCOBJ_RESET, handles, COUNT), 0);
	for (uint32_t i = 0; i < COUNT; i++)
		CHECK_EQ(wait_for(fd, &handles[i], 1, 0, 0, NULL), EINVAL);
	for (uint32_t i = 0; i < COUNT; i++)
		CHECK_EQ(destroy(fd, handles[i]), 0);
}

/* A syncobj's file is the syncobj; a sync_file has the fence that was in it then. */
void syncobjs_go_to_other_files(void)
{
	int fd = guest_open(), other = guest_open(), file, fence, copy;
	struct guest_foreign foreign = guest_foreign();
	uint32_t handle = guest_syncobj(fd), theirs = 0, again = 0, copied = guest_syncobj(other);

	CHECK_EQ(give(fd, handle, 0, &file), 0);
	CHECK_EQ(take(other, file, 0, &theirs), 0);
	CHECK_EQ(take(other, file, 0, &again), 0);
	CHECK(theirs != again);
	submit_to(fd, 0, &foreign, handle, 0);
	CHECK_EQ(wait_for(other, &theirs, 1, 0, 0, NULL), ETIME);
	CHECK_EQ(give(other, again, DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE, &fence), 0);
	CHECK_EQ(take(other, fence, DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE, &copied), 0);
	/* The first file loses the syncobj, and empties it before: the fence is elsewhere, too. */
	CHECK_EQ(do_array(fd, DRM_IOCTL_SYNCOBJ_RESET, &handle, 1), 0);
	CHECK_EQ(wait_for(other, &theirs, 1, 0, 0, NULL), EINVAL);
	CHECK_EQ(destroy(fd, handle), 0);
	CHECK_EQ(destroy(other, again), 0);
	CHECK_EQ(wait_for(other, &copied, 1, 0, 0, NULL), ETIME);
	CHECK_EQ(guest_fence_status(fence), 0);
	close(fd);
	guest_foreign_signal(&foreign);
	CHECK_EQ(wait_for(other, &copied, 1, 0, LONG, NULL), 0);
	CHECK_EQ(guest_fence_wait(fence), 0);
	CHECK_EQ(guest_fence_status(fence), 1);
	/* The file alone has kept what is signaled now. */
	CHECK_EQ(do_array(other, DRM_IOCTL_SYNCOBJ_SIGNAL, &theirs, 1), 0);
	CHECK_EQ(destroy(other, theirs), 0);
	copy = dup(file);
	close(file);
	fd = guest_open();
	CHECK_EQ(take(fd, copy, 0, &handle), 0);
	CHECK_EQ(wait_for(fd, &handle, 1, 0, 0, NULL), 0);
}

/* ---- timelines ---- */

void timelines_are_queried_and_transferred(void)
{
	int fd = guest_open();
	struct guest_foreign foreign = guest_foreign();
	uint32_t timeline = guest_syncobj(fd), other = guest_syncobj(fd), single = guest_syncobj(fd);

	CHECK_EQ(query(fd, timeline, 0), 0);
	submit_to(fd, 0, NULL, timeline, 10);
	CHECK_EQ(wait_point(fd, timeline, 10, 0, LONG), 0);
	for (uint64_t point = 20; point <= 40; point += 10)
		submit_to(fd, point / 10 % 2, point == 20 ? &foreign : NULL, timeline, point);
	CHECK_EQ(query(fd, timeline, 0), 10);
	CHECK_EQ(query(fd, timeline, DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED), 40);
	/* A point that none was submitted for ends with the next one. */
	CHECK_EQ(wait_point(fd, timeline, 5, 0, 0), 0);
	CHECK_EQ(wait_point(fd, timeline, 15, 0, 0), ETIME);
	CHECK_EQ(wait_point(fd, timeline, 41, 0, 0), EINVAL);
	CHECK_EQ(transfer(fd, timeline, 41, single, 0), EINVAL);
	CHECK_EQ(transfer(fd, timeline, 20, single, 0), 0);
	CHECK_EQ(wait_for(fd, &single, 1, 0, 0, NULL), ETIME);
	CHECK_EQ(transfer(fd, single, 0, other, 7), 0);
	CHECK_EQ(query(fd, other, 0), 0);
	CHECK_EQ(query(fd, other, DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED), 7);
	CHECK_EQ(wait_point(fd, other, 7, 0, 0), ETIME);
	guest_foreign_signal(&foreign);
	CHECK_EQ(wait_point(fd, other, 7, 0, LONG), 0);
	CHECK_EQ(wait_for(fd, &single, 1, 0, 0, NULL), 0);
	CHECK_EQ(query(fd, other, 0), 7);
	CHECK_EQ(wait_point(fd, timeline, 40, 0, LONG), 0);
	CHECK_EQ(query(fd, timeline, 0), 40);
	CHECK_EQ(do_array(fd, DRM_IOCTL_SYNCOBJ_RESET, &timeline, 1), 0);
	CHECK_EQ(query(fd, timeline, 0), 0);
	CHECK_EQ(wait_point(fd, timeline, 40, 0, 0), EINVAL);
}

/* Points that the processor signals, above 32 bits, of several timelines at once; submissions wait for them. */
void points_are_signaled_by_the_processor(void)
{
	enum { COUNT = 8 };
	static struct guest_work work;
	int fd = guest_open();
	struct guest_object object = guest_object(fd, 4096, 0);
	struct drm_patchbay_sync in[COUNT], none = {.point = 3};
	uint32_t handles[COUNT];
	uint64_t points[COUNT];

	for (uint32_t i = 0; i < COUNT; i++) {
		handles[i] = guest_syncobj(fd);
		points[i] = (1ull << 40) + i;
		in[i] = (struct drm_patchbay_sync){.handle = handles[i], .point = points[i] - i};
	}
	none.handle = handles[0];
	guest_work_start(&work, 0);
	guest_allocation(&work, object.handle, true);
	guest_fill(&work, 0, 0, 4, 5);
	work.args.in_syncs = (uintptr_t)&none;
	work.args.in_count = 1;
	/* A point that is not submitted is no fence that a submission could wait for. */
	CHECK_EQ(guest_submit(fd, &work), EINVAL);
	CHECK_EQ(signal_points(fd, handles, points, COUNT), 0);
	for (uint32_t i = 0; i < COUNT; i++) {
		CHECK_EQ(query(fd, handles[i], 0), points[i]);
		CHECK_EQ(wait_point(fd, handles[i], points[i], 0, 0), 0);
		CHECK_EQ(wait_point(fd, handles[i], points[i] + 1, FOR_SUBMIT, 0), ETIME);
	}
	work.args.in_syncs = (uintptr_t)in;
	work.args.in_count = COUNT;
	guest_do(fd, &work);
	CHECK_EQ(object.words[0], 5);
}
