// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Fences of sw_sync, whose timeline a program moves: only a kernel with SW_SYNC has them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <linux/types.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "guest.h"
#include "shown.h"
#include "tests.h"

/* As in the kernel's drivers/dma-buf/sw_sync.c; no header of the uAPI has them. */
struct sw_sync_create_fence_data {
	__u32 value;
	char name[32];
	__s32 fence;
};

#define SW_SYNC_IOC_CREATE_FENCE _IOWR('W', 0, struct sw_sync_create_fence_data)
#define SW_SYNC_IOC_INC _IOW('W', 1, __u32)

static int timeline_open(void)
{
	int fd = open("/sys/kernel/debug/sync/sw_sync", O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

static int fence_at(int timeline, uint32_t value)
{
	struct sw_sync_create_fence_data data = {.value = value, .name = "test"};

	CHECK_EQ(guest_ioctl(timeline, SW_SYNC_IOC_CREATE_FENCE, &data), 0);
	return data.fence;
}

static int merged(int first, int second)
{
	struct sync_merge_data data = {.name = "both", .fd2 = second};

	CHECK_EQ(guest_ioctl(first, SYNC_IOC_MERGE, &data), 0);
	return data.fence;
}

/* Stores a value behind a fence. @return the submission's fence */
static int store_behind(int fd, uint32_t queue, const struct guest_object *object, uint32_t index, int fence)
{
	static struct guest_work work;

	guest_work_start(&work, queue);
	work.args.flags |= PATCHBAY_SUBMIT_FENCE_IN | PATCHBAY_SUBMIT_FENCE_OUT | PATCHBAY_SUBMIT_EXPLICIT;
	work.args.in_fence_fd = fence;
	guest_allocation(&work, object->handle, true);
	guest_fill(&work, 0, index * 4, 4, index + 1);
	CHECK_EQ(guest_submit(fd, &work), 0);
	return work.args.out_fence_fd;
}

void sw_sync_fences_are_waited_for(void)
{
	enum { COUNT = 8 };
	int fd = guest_open(), timeline = timeline_open(), other = timeline_open(), out[COUNT], last;
	struct guest_object object = guest_object(fd, 4096, 0);
	__u32 step = 1;

	/* Queue 0 waits for points 1 to 4, queue 1 for what queue 0 does and for points 5 to 8. */
	for (uint32_t i = 0; i < COUNT; i++) {
		int fence = fence_at(timeline, i + 1);

		if (i >= COUNT / 2)
			fence = merged(fence, out[i - COUNT / 2]);
		out[i] = store_behind(fd, i / (COUNT / 2), &object, i, fence);
	}
	for (uint32_t queue = 0; queue < 2; queue++)
		shown_has(shown_queue(fd, queue), " completed=0 waiting=4 running=0 ");
	for (uint32_t i = 0; i < COUNT; i++)
		CHECK_EQ(guest_fence_status(out[i]), 0);
	for (uint32_t i = 0; i < COUNT; i++) {
		CHECK_EQ(object.words[i], 0);
		CHECK_EQ(guest_ioctl(timeline, SW_SYNC_IOC_INC, &step), 0);
		CHECK_EQ(guest_fence_wait(out[i]), 0);
		CHECK_EQ(guest_fence_status(out[i]), 1);
		CHECK_EQ(object.words[i], i + 1);
		for (uint32_t later = i + 1; later < COUNT; later++)
			CHECK_EQ(guest_fence_status(out[later]), 0);
	}
	/* A timeline that is closed ends its fences with an error: the wait ends as well. */
	last = store_behind(fd, 0, &object, 20, fence_at(other, 100));
	shown_has(shown_queue(fd, 0), " waiting=1 running=0 fences=1 ");
	CHECK_EQ(guest_fence_status(last), 0);
	close(other);
	CHECK_EQ(guest_fence_wait(last), 0);
	CHECK_EQ(guest_query(fd, 0).errors, 0);
}
