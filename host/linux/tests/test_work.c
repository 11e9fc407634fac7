// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Submissions: commands, patch lists, what is refused, what fails and whom it costs. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "hal/engine/packets.h"
#include "patchbay/abi/errors.h"
#include "patchbay/abi/format.h"
#include "patchbay/render.h"
#include "tests.h"

void commands_run_on_each_node(void)
{
	static struct guest_work work;
	struct drm_patchbay_info info;
	int fd = guest_open();
	struct guest_object object = guest_object(fd, 8192, 0);

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	for (uint32_t node = 0; node < info.nodes; node++) {
		guest_work_start(&work, node);
		guest_allocation(&work, object.handle, true);
		guest_fill(&work, 0, 0, 8192, 0x100 + node);
		guest_copy(&work, 0, 0, 0, 4096, 64);
		guest_fill(&work, 0, 4096 + 4, 4, 0x200 + node);
		guest_do(fd, &work);
		CHECK_EQ(object.words[0], 0x100 + node);
		CHECK_EQ(object.words[1023], 0x100 + node);
		CHECK_EQ(object.words[1024], 0x100 + node);
		CHECK_EQ(object.words[1025], 0x200 + node);
		CHECK_EQ(work.args.value, 1);
	}
}

void a_rectangle_is_copied(void)
{
	static struct guest_work work;
	int fd = guest_open();
	struct guest_object from = guest_object(fd, 64 * 64, 0), to = guest_object(fd, 128 * 64, 0);

	for (uint32_t i = 0; i < 16 * 64; i++)
		from.words[i] = i;
	guest_work_start(&work, 0);
	guest_allocation(&work, from.handle, false);
	guest_allocation(&work, to.handle, true);
	/* Source pitch 64, destination pitch 128, 5 pixels, 7 rows. */
	guest_command(&work, PB_PACKET_COPY_RECT, 8, (const uint32_t[]){0, 64 + 4, 64, 1, 8, 128, 20, 7});
	guest_do(fd, &work);
	for (uint32_t y = 0; y < 64; y++)
		for (uint32_t x = 0; x < 32; x++)
			CHECK_EQ(to.words[32 * y + x],
				 x >= 2 && x < 7 && y < 7 ? 16 * (y + 1) + 1 + x - 2 : 0);
}

/* A texel each, two triangles over the whole target. */
void triangles_are_drawn(void)
{
	static const struct pb_vertex corners[6] = {
		{0, 0, 0, 0},	 {128, 0, 2048, 0}, {0, 128, 0, 2048},
		{128, 0, 2048, 0}, {128, 128, 2048, 2048}, {0, 128, 0, 2048},
	};
	static struct guest_work work;
	int fd = guest_open();
	struct guest_object target = guest_object(fd, 4096, 0), texture = guest_object(fd, 4096, 0),
			    vertices = guest_object(fd, 4096, 0);

	memcpy(vertices.words, corners, sizeof(corners));
	for (uint32_t i = 0; i < 64; i++)
		texture.words[i] = 0x10000 + i;
	guest_work_start(&work, 0);
	guest_allocation(&work, target.handle, true);
	guest_allocation(&work, texture.handle, false);
	guest_allocation(&work, vertices.handle, false);
	guest_command(&work, PB_PACKET_TARGET, 5, (const uint32_t[]){0, 0, 8, 8, 32});
	guest_command(&work, PB_PACKET_TEXTURE, 5, (const uint32_t[]){1, 0, 8, 8, 32});
	guest_command(&work, PB_PACKET_DRAW, 3, (const uint32_t[]){2, 0, 6});
	guest_do(fd, &work);
	for (uint32_t i = 0; i < 64; i++)
		CHECK_EQ(target.words[i], 0x10000 + i);
	CHECK_EQ(target.words[64], 0);
}

/* ---- refusals ---- */

static const struct refusal {
	const char *name;
	uint32_t words[9];
	uint32_t count;
	uint32_t status;
	int error;
} refusals[] = {
	{"unknown command", {PB_PACKET(0x7f, 2)}, 2, PB_RENDER_ILLEGAL_INSTRUCTION, EINVAL},
	{"a hang", {PB_PACKET(PB_PACKET_HANG, 1)}, 1, PB_RENDER_PRIVILEGED_INSTRUCTION, EPERM},
	{"cut off", {PB_PACKET(PB_PACKET_FILL, 5), 0, 0}, 3, PB_RENDER_INVALID_USER_BUFFER, EINVAL},
	{"fill of a read-only allocation", {PB_PACKET(PB_PACKET_FILL, 5), 1, 0, 4, 0}, 5, PB_RENDER_INVALID_PARAMETER, EINVAL},
	{"fill beyond the end", {PB_PACKET(PB_PACKET_FILL, 5), 0, 4092, 8, 0}, 5, PB_RENDER_INVALID_PARAMETER, EINVAL},
	{"fill off a word", {PB_PACKET(PB_PACKET_FILL, 5), 0, 2, 4, 0}, 5, PB_RENDER_INVALID_PARAMETER, EINVAL},
	{"no such entry", {PB_PACKET(PB_PACKET_FILL, 5), 2, 0, 4, 0}, 5, PB_RENDER_INVALID_PARAMETER, EINVAL},
	{"wrong length", {PB_PACKET(PB_PACKET_FILL, 4), 0, 0, 4}, 4, PB_RENDER_INVALID_PARAMETER, EINVAL},
};

void bad_commands_are_refused(void)
{
	static struct guest_work work;
	int fd = guest_open();
	struct guest_object object = guest_object(fd, 4096, 0), other = guest_object(fd, 4096, 0);

	for (unsigned int i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		guest_work_start(&work, 0);
		guest_allocation(&work, object.handle, true);
		guest_allocation(&work, other.handle, false);
		guest_fill(&work, 0, 0, 4, 7);
		memcpy(&work.words[work.count], refusals[i].words, refusals[i].count * 4);
		work.count += refusals[i].count;
		CHECK_EQ(guest_submit(fd, &work), refusals[i].error);
		CHECK_EQ(work.args.refusal, refusals[i].status);
		CHECK_EQ(work.args.value, 0);
	}
	CHECK_EQ(object.words[0], 0);
	CHECK_EQ(guest_query(fd, 0).submitted, 0);
}

void bad_arguments_are_refused(void)
{
	static struct guest_work work;
	struct drm_patchbay_queue queue = {.queue = 16};
	struct drm_patchbay_queue_create create = {.node = 99};
	struct drm_patchbay_gem_info info = {.handle = 1, .flags = 1};
	int fd = guest_open();
	struct guest_object object = guest_object(fd, 4096, 0);

#define REFUSED(change, error)                                                                               \
	do {                                                                                                 \
		guest_work_start(&work, 0);                                                                  \
		guest_allocation(&work, object.handle, true);                                                \
		guest_fill(&work, 0, 0, 4, 7);                                                               \
		change;                                                                                      \
		CHECK_EQ(guest_submit(fd, &work), error);                                                    \
	} while (0)
	REFUSED(work.args.flags = 0x80000000, EINVAL);
	REFUSED(work.args.pad = 1, EINVAL);
	REFUSED(work.args.queue = 15, ENOENT);
	REFUSED(work.args.queue = 16, ENOENT);
	REFUSED(work.args.target = 1, EINVAL);
	REFUSED(work.args.in_fence_fd = 5, EINVAL);
	REFUSED(work.args.flags = PATCHBAY_SUBMIT_FENCE_IN; work.args.in_fence_fd = 9999, EINVAL);
	REFUSED(work.args.out_count = 1; work.args.out_syncs = 8, EFAULT);
	REFUSED(work.args.in_count = 100000, E2BIG);
	REFUSED(work.args.allocation_count = 1u << 20, E2BIG);
	REFUSED(work.args.patch_count = 1u << 30, E2BIG);
	REFUSED(work.count = 1u << 20, E2BIG);
	REFUSED(work.allocations[0].handle = 77, ENOENT);
	REFUSED(work.allocations[0].flags = 2, EINVAL);
	REFUSED(work.args.flags = PATCHBAY_SUBMIT_PATCH, EINVAL);
	REFUSED(work.args.flags = PATCHBAY_SUBMIT_PATCH; work.count = 0; work.args.target = object.handle, EINVAL);
	REFUSED((void)0, 0);
#undef REFUSED
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_QUEUE_DESTROY, &queue), ENOENT);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_QUEUE_CREATE, &create), EINVAL);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_INFO, &info), EINVAL);
	CHECK_EQ(guest_wait(fd, 0, 1000, 0), EINVAL);
}

/* ---- patch lists ---- */

static void patch(struct guest_work *work, uint32_t allocation, uint32_t format, uint32_t allocation_offset,
		  uint32_t patch_offset)
{
	work->patches[work->args.patch_count++] = (struct drm_patchbay_patch){
		.allocation_index = allocation,
		.format = format,
		.allocation_offset = allocation_offset,
		.patch_offset = patch_offset,
	};
}

void an_object_is_patched(void)
{
	static struct guest_work work;
	int fd = guest_open();
	struct guest_object target = guest_object(fd, 8192, PATCHBAY_GEM_PATCHABLE),
			    first = guest_object(fd, 4096, 0), second = guest_object(fd, 12288, 0);
	uint64_t a, b;

	for (unsigned int i = 0; i < 2048; i++)
		target.words[i] = 0xdeadbeef;
	guest_work_start(&work, 1);
	work.args.flags = PATCHBAY_SUBMIT_PATCH;
	work.args.target = target.handle;
	work.args.start = 64;
	work.args.end = 8192;
	guest_allocation(&work, first.handle, false);
	guest_allocation(&work, second.handle, true);
	patch(&work, 0, PB_PATCH_FORMAT_ADDRESS64, 16, 64);
	patch(&work, 1, PB_PATCH_FORMAT_ADDRESS64_WRITE, 8192, 8184);
	patch(&work, 1, PB_PATCH_FORMAT_SUM32, 4, 100);
	patch(&work, 1, PB_PATCH_FORMAT_HIGH32, 4, 108);
	guest_do(fd, &work);
	a = guest_info(fd, first.handle).address + 16;
	b = guest_info(fd, second.handle).address;
	CHECK_EQ(target.words[16], (uint32_t)a);
	CHECK_EQ(target.words[17], a >> 32);
	CHECK_EQ(target.words[2046], (uint32_t)(b + 8192));
	CHECK_EQ(target.words[2047], (b + 8192) >> 32);
	CHECK_EQ(target.words[25], (uint32_t)(b + 4));
	CHECK_EQ(target.words[27], (b + 4) >> 32);
	for (unsigned int i = 0; i < 2048; i++)
		if (i != 16 && i != 17 && i != 2046 && i != 2047 && i != 25 && i != 27)
			CHECK_EQ(target.words[i], 0xdeadbeef);
}

/* The failing entry is named; the file's queue is lost until it is cleared, and no other file's. */
void a_bad_patch_costs_its_queue_alone(void)
{
	static struct guest_work work;
	int fd = guest_open(), other = guest_open();
	struct guest_object target = guest_object(fd, 4096, PATCHBAY_GEM_PATCHABLE), object = guest_object(fd, 4096, 0);
	struct guest_object theirs = guest_object(other, 4096, 0);
	struct drm_patchbay_queue_query query;
	int fence;

	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_PATCH | PATCHBAY_SUBMIT_FENCE_OUT;
	work.args.target = target.handle;
	work.args.end = 4096;
	guest_allocation(&work, object.handle, false);
	patch(&work, 0, PB_PATCH_FORMAT_ADDRESS64, 0, 0);
	patch(&work, 0, PB_PATCH_FORMAT_ADDRESS64, 4096, 8);
	CHECK_EQ(guest_submit(fd, &work), 0);
	fence = work.args.out_fence_fd;
	CHECK_EQ(guest_fence_wait(fence), 0);
	CHECK_EQ(guest_fence_status(fence), -EIO);
	query = guest_query(fd, 0);
	CHECK_EQ(query.error, PB_ERROR_PATCH_OFFSET);
	CHECK_EQ(strcmp(query.error_name, "PATCH_OFFSET"), 0);
	CHECK_EQ(query.error_index, 1);
	CHECK_EQ(query.error_value, 1);
	CHECK_EQ(query.errors, 1);
	CHECK_EQ(query.flags, PATCHBAY_QUEUE_LOST);

	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_OUT;
	guest_allocation(&work, object.handle, true);
	guest_fill(&work, 0, 0, 4, 3);
	guest_do(fd, &work);
	CHECK_EQ(guest_fence_status(work.args.out_fence_fd), -ECANCELED);
	CHECK_EQ(object.words[0], 0);
	/* Another queue of the file, and the same node's queue of another file. */
	guest_work_start(&work, 1);
	guest_allocation(&work, object.handle, true);
	guest_fill(&work, 0, 0, 4, 4);
	guest_do(fd, &work);
	CHECK_EQ(object.words[0], 4);
	guest_work_start(&work, 0);
	guest_allocation(&work, theirs.handle, true);
	guest_fill(&work, 0, 0, 4, 5);
	guest_do(other, &work);
	CHECK_EQ(theirs.words[0], 5);
	CHECK_EQ(guest_query(other, 0).flags, 0);

	CHECK_EQ(guest_clear(fd, 0), 0);
	guest_work_start(&work, 0);
	guest_allocation(&work, object.handle, true);
	guest_fill(&work, 0, 0, 4, 6);
	guest_do(fd, &work);
	CHECK_EQ(object.words[0], 6);
	CHECK_EQ(guest_query(fd, 0).flags, 0);
	CHECK_EQ(guest_query(fd, 0).error_value, 0);
}

void a_hang_costs_its_queue_alone(void)
{
	static struct guest_work work;
	int fd = guest_open(), other = guest_open(), hang, behind;
	struct guest_object object = guest_object(other, 4096, 0);

	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_UNSAFE | PATCHBAY_SUBMIT_FENCE_OUT;
	guest_command(&work, PB_PACKET_HANG, 0, NULL);
	CHECK_EQ(guest_submit(fd, &work), 0);
	hang = work.args.out_fence_fd;
	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_OUT;
	guest_command(&work, PB_PACKET_NOP, 0, NULL);
	CHECK_EQ(guest_submit(fd, &work), 0);
	behind = work.args.out_fence_fd;
	guest_work_start(&work, 0);
	guest_allocation(&work, object.handle, true);
	guest_fill(&work, 0, 0, 4096, 9);
	guest_do(other, &work);
	CHECK_EQ(object.words[1023], 9);
	CHECK_EQ(guest_fence_wait(hang), 0);
	CHECK_EQ(guest_fence_wait(behind), 0);
	CHECK_EQ(guest_fence_status(hang), -ETIME);
	CHECK_EQ(guest_fence_status(behind), -ECANCELED);
	CHECK_EQ(guest_query(fd, 0).error, PB_ERROR_ENGINE_HANG);
	CHECK_EQ(guest_query(fd, 0).flags, PATCHBAY_QUEUE_LOST);
	CHECK_EQ(guest_query(other, 0).flags, 0);
	CHECK_EQ(guest_query(other, 0).errors, 0);
}

/* ---- queues ---- */

void queues_end_with_their_files(void)
{
	uint32_t counts[2];

	for (unsigned int round = 0; round < 2; round++) {
		struct drm_patchbay_queue_create create = {.node = 0, .priority = PATCHBAY_PRIORITY_LOW};
		int fd = guest_open(), error;

		for (counts[round] = 0; (error = guest_ioctl(fd, DRM_IOCTL_PATCHBAY_QUEUE_CREATE, &create)) == 0; counts[round]++)
			CHECK(create.queue >= 16);
		CHECK_EQ(error, ENOSPC);
		CHECK(counts[round] >= 4);
		close(fd);
	}
	CHECK_EQ(counts[0], counts[1]);
}

void high_priority_needs_the_right(void)
{
	struct drm_patchbay_queue_create create = {.node = 0, .priority = PATCHBAY_PRIORITY_HIGH};
	int fd = guest_open(), error;

	error = guest_ioctl(fd, DRM_IOCTL_PATCHBAY_QUEUE_CREATE, &create);
	/* The card's admin may have capped the machine's priority. */
	CHECK(error == 0 || error == EACCES);
	CHECK_EQ(setuid(65534), 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_QUEUE_CREATE, &create), EPERM);
	create.priority = PATCHBAY_PRIORITY_IDLE;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_QUEUE_CREATE, &create), 0);
	create.priority = 5;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_QUEUE_CREATE, &create), EINVAL);
}

void a_file_may_close_with_work_in_flight(void)
{
	static struct guest_work work;
	int fd, fence = -1;

	for (int round = 0; round < 4; round++) {
		struct guest_object object;

		fd = guest_open();
		object = guest_object(fd, 65536, 0);
		for (int i = 0; i < 8; i++) {
			guest_work_start(&work, (uint32_t)i % 2);
			work.args.flags = PATCHBAY_SUBMIT_FENCE_OUT | PATCHBAY_SUBMIT_UNSAFE;
			guest_allocation(&work, object.handle, true);
			guest_busy(&work, 3000);
			guest_fill(&work, 0, 0, 65536, 1);
			CHECK_EQ(guest_submit(fd, &work), 0);
			if (fence >= 0)
				close(fence);
			fence = work.args.out_fence_fd;
		}
		guest_object_free(fd, &object);
		close(fd);
		CHECK_EQ(guest_fence_wait(fence), 0);
		CHECK_EQ(guest_fence_status(fence), 1);
	}
}
