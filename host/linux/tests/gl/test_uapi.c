// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The calls of virtio-gpu's uAPI. */
#include <drm/drm_mode.h>
#include <drm/virtgpu_drm.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gl.h"

static const char magenta[] = "FRAG\n"
			      "PROPERTY FS_COLOR0_WRITES_ALL_CBUFS 1\n"
			      "DCL OUT[0], COLOR\n"
			      "IMM[0] FLT32 {1.0, 0.0, 1.0, 1.0}\n"
			      "  0: MOV OUT[0], IMM[0]\n"
			      "  1: END\n";

void the_engine_says_what_it_is(void)
{
	static const struct {
		uint64_t parameter;
		int error, value;
	} rows[] = {
		{VIRTGPU_PARAM_3D_FEATURES, 0, 1},    {VIRTGPU_PARAM_CAPSET_QUERY_FIX, 0, 1},
		{VIRTGPU_PARAM_RESOURCE_BLOB, 0, 0},  {VIRTGPU_PARAM_HOST_VISIBLE, 0, 0},
		{VIRTGPU_PARAM_CROSS_DEVICE, 0, 0},   {VIRTGPU_PARAM_CONTEXT_INIT, 0, 0},
		{VIRTGPU_PARAM_SUPPORTED_CAPSET_IDs, 0, 6}, {0, EINVAL, 0}, {8, EINVAL, 0}, {1ull << 32 | 1, EINVAL, 0},
	};
	int fd = gl_open();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int value = -1;
		struct drm_virtgpu_getparam args = {.param = rows[i].parameter, .value = (uintptr_t)&value};

		CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_GETPARAM, &args), rows[i].error);
		CHECK_EQ(value, rows[i].error == 0 ? rows[i].value : -1);
	}
	for (uint32_t set = 0; set < 4; set++) {
		uint32_t words[400];
		struct drm_virtgpu_get_caps args = {.cap_set_id = set, .addr = (uintptr_t)words, .size = sizeof(words)};

		memset(words, 0, sizeof(words));
		CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_GET_CAPS, &args), set == 1 || set == 2 ? 0 : EINVAL);
		/* The first word is the newest version that the renderer knows. */
		CHECK_EQ(words[0] != 0, set == 1 || set == 2);
	}
}

void a_triangle_reads_back(void)
{
	int fd = gl_open();
	struct gl_resource resource = gl_make_resource(fd);
	struct gl_stream stream = {.count = 0};

	gl_add_target(&stream, resource.number);
	gl_add_clear(&stream, false, true, false);
	gl_add_triangle(&stream, magenta, 0x42000000);
	CHECK_EQ(gl_execute(fd, &resource, stream.words, stream.count, NULL), 0);
	CHECK_EQ(gl_await_resource(fd, &resource, 0), 0);
	gl_read_back(fd, &resource);
	/* Not the diagonal itself: rules of edges decide that. */
	for (uint32_t y = 0; y < SIDE; y++)
		for (uint32_t x = 0; x < SIDE; x++)
			if (x + y != SIDE - 1)
				CHECK_EQ(resource.words[y * SIDE + x], x + y < SIDE - 1 ? 0xffff00ffu : 0xff00ff00u);
}

void transfers_go_both_ways(void)
{
	static const struct drm_virtgpu_3d_box boxes[] = {
		{.w = SIDE, .h = SIDE, .d = 1}, {.x = 3, .y = 5, .w = 17, .h = 9, .d = 1}, {.x = 63, .y = 63, .w = 1, .h = 1, .d = 1}};
	int fd = gl_open();
	uint64_t chance = 7;

	for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
		struct gl_resource resource = gl_make_resource(fd);
		const struct drm_virtgpu_3d_box *box = &boxes[i];
		uint32_t before[SIDE * SIDE];

		CHECK_EQ(gl_to_host(fd, &resource, gl_whole, 0), 0);
		for (uint32_t j = 0; j < SIDE * SIDE; j++)
			before[j] = resource.words[j] = guest_random(&chance);
		/* Rows of the memory are as long as those of the resource; the box begins at the offset. */
		CHECK_EQ(gl_to_host(fd, &resource, *box, 4 * (box->y * SIDE + box->x)), 0);
		gl_read_back(fd, &resource);
		for (uint32_t y = 0; y < SIDE; y++)
			for (uint32_t x = 0; x < SIDE; x++)
				CHECK_EQ(resource.words[y * SIDE + x],
					 x - box->x < box->w && y - box->y < box->h ? before[y * SIDE + x] : 0);
	}
}

void fences_go_in_and_out(void)
{
	int fd = gl_open();
	struct gl_resource resource = gl_make_resource(fd);
	struct drm_virtgpu_execbuffer args = {.flags = VIRTGPU_EXECBUF_FENCE_FD_OUT};
	struct guest_foreign foreign = guest_foreign();
	struct gl_stream stream = {.count = 0};

	gl_add_target(&stream, resource.number);
	gl_add_clear(&stream, true, true, true);
	CHECK_EQ(gl_execute(fd, &resource, stream.words, stream.count, &args), 0);
	CHECK_EQ(guest_fence_wait(args.fence_fd), 0);
	CHECK_EQ(guest_fence_status(args.fence_fd), 1);
	/* A fence of this file's own order is not waited for. */
	args = (struct drm_virtgpu_execbuffer){.flags = VIRTGPU_EXECBUF_FENCE_FD_IN, .fence_fd = args.fence_fd};
	stream.count = 0;
	gl_add_clear(&stream, true, false, true);
	CHECK_EQ(gl_execute(fd, &resource, stream.words, stream.count, &args), 0);
	gl_read_back(fd, &resource);
	CHECK_EQ(resource.words[0], 0xffff00ffu);
	/* A foreign one is: nothing is drawn before it has ended. */
	guest_foreign_signal_in(&foreign, "dma_fence_wait_timeout");
	args = (struct drm_virtgpu_execbuffer){.flags = VIRTGPU_EXECBUF_FENCE_FD_IN, .fence_fd = foreign.file};
	CHECK_EQ(guest_fence_status(foreign.file), 0);
	CHECK_EQ(gl_execute(fd, &resource, stream.words, stream.count, &args), 0);
	CHECK_EQ(guest_fence_status(foreign.file), 1);
	args = (struct drm_virtgpu_execbuffer){.flags = VIRTGPU_EXECBUF_FENCE_FD_IN, .fence_fd = 0};
	CHECK_EQ(gl_execute(fd, &resource, stream.words, stream.count, &args), EINVAL);
}

void wrong_arguments_are_refused(void)
{
	/* The primary node: render nodes make no objects of the display. */
	int fd = guest_open_primary("virtio_gpu");
	struct gl_resource resource = gl_make_resource(fd), none = {.handle = 999};
	struct drm_mode_create_dumb dumb = {.width = 16, .height = 16, .bpp = 32};
	static const struct {
		struct drm_virtgpu_3d_box box;
		uint32_t offset;
	} boxes[] = {
		{{.w = SIDE, .h = SIDE, .d = 1}, 4},         {{.w = 0, .h = 1, .d = 1}, 0},
		{{.w = SIDE, .h = SIDE + 1, .d = 1}, 0},     {{.w = 1, .h = 1, .d = 0xffffffff}, 0},
		{{.w = 0x80000000, .h = 1, .d = 1}, 0},      {{.x = 0xffffffff, .w = 1, .h = 1, .d = 1}, 0},
		{{.w = 1, .h = 1, .d = 1}, 4 * SIDE * SIDE}, {{.w = 1, .h = 1, .d = 1}, 0xffffffff},
	};
	struct drm_virtgpu_execbuffer args;
	uint32_t word = 0;

	for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
		CHECK_EQ(gl_to_host(fd, &resource, boxes[i].box, boxes[i].offset), EINVAL);
		CHECK_EQ(gl_from_host(fd, &resource, boxes[i].box, boxes[i].offset), EINVAL);
	}
	CHECK_EQ(gl_to_host(fd, &none, gl_whole, 0), ENOENT);
	CHECK_EQ(gl_await_resource(fd, &none, 0), ENOENT);
	CHECK_EQ(gl_execute(fd, &none, &word, 0, NULL), ENOENT);
	/* An object of the display is no resource. */
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &dumb), 0);
	none.handle = dumb.handle;
	CHECK_EQ(gl_await_resource(fd, &none, 0), ENOENT);
	CHECK_EQ(gl_to_host(fd, &none, (struct drm_virtgpu_3d_box){.w = 1, .h = 1, .d = 1}, 0), ENOENT);
	CHECK_EQ(gl_execute(fd, &none, &word, 0, NULL), EINVAL);
	args = (struct drm_virtgpu_execbuffer){.flags = VIRTGPU_EXECBUF_RING_IDX};
	CHECK_EQ(gl_execute(fd, NULL, &word, 0, &args), EINVAL);
	args = (struct drm_virtgpu_execbuffer){.size = 3};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_EXECBUFFER, &args), EINVAL);
	args = (struct drm_virtgpu_execbuffer){.size = 64u << 20};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_EXECBUFFER, &args), E2BIG);
	args = (struct drm_virtgpu_execbuffer){.size = 4, .command = 16};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_EXECBUFFER, &args), EFAULT);
	args = (struct drm_virtgpu_execbuffer){.num_bo_handles = 1u << 30};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_EXECBUFFER, &args), E2BIG);
	/* None of that has harmed the file. */
	CHECK_EQ(gl_clear(fd, true, true, false), 0);
}
