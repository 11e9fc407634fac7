// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What one file does wrong, or what goes wrong in it, is no other file's loss. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gl.h"

/* Streams that the driver or the engine refuses: each costs the file that sent it, and no other. */
void a_wrong_stream_costs_its_file_alone(void)
{
	int other = gl_open();
	struct gl_resource others = gl_make_resource(other);
	const struct {
		uint32_t words[8], count;
	} rows[] = {
		{{0xffffffff}, 1},                                                                     /* unknown */
		{{COMMAND(CLEAR, 0, 8), COLOR0}, 2},                                                   /* cut off */
		{{COMMAND(CLEAR, 0, 3), COLOR0, 0, 0}, 4},                                             /* too short */
		{{COMMAND(CREATE, SURFACE, 5), H_SURFACE, 0x7fffffff, FORMAT_BGRA, 0, 0}, 6},          /* no resource */
		{{COMMAND(CREATE, SURFACE, 5), H_SURFACE, others.number, FORMAT_BGRA, 0, 0}, 6}, /* another file's */
	};

	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		others.words[i] = i;
	CHECK_EQ(gl_to_host(other, &others, gl_whole, 0), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd = gl_open();

		CHECK_EQ(gl_clear(fd, true, false, false), 0);
		CHECK_EQ(gl_execute(fd, NULL, rows[i].words, rows[i].count, NULL), EINVAL);
		CHECK_EQ(gl_clear(fd, true, false, false), EIO);
		close(fd);
		CHECK_EQ(gl_clear(other, false, true, true), 0);
	}
	gl_read_back(other, &others);
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		CHECK_EQ(others.words[i], i);
}

/* What the engine refuses shows in the fence, or in what is asked for next. */
void a_resource_that_cannot_be_costs_its_file_alone(void)
{
	int fd = gl_open(), other = gl_open();
	struct gl_resource resource;
	struct gl_stream stream = {.count = 0};
	int error;

	CHECK_EQ(gl_clear(other, false, false, true), 0);
	/* No renderer has a format of this number. */
	CHECK_EQ(gl_try_resource(fd, 9999, SIDE, SIDE, &resource), 0);
	gl_add_target(&stream, resource.number);
	error = gl_execute(fd, &resource, stream.words, stream.count, NULL);
	CHECK(error == 0 || error == EIO);
	(void)gl_await_resource(fd, &resource, 0);
	for (int i = 0; i < 100 && error == 0; i++) {
		error = gl_execute(fd, &resource, stream.words, 0, NULL);
		if (error == 0)
			error = gl_clear(fd, true, true, true);
	}
	CHECK_EQ(error, EIO);
	CHECK_EQ(gl_clear(other, true, true, true), 0);
}

/* A renderer that gets no processor for a second, as on a busy system, has not hung. */
void a_renderer_may_rest(void)
{
	int fd = gl_open();
	struct gl_resource resource = gl_make_resource(fd);
	struct gl_stream stream = {.count = 0};

	/* Now its renderer has the resource. */
	gl_add_target(&stream, resource.number);
	gl_add_clear(&stream, true, false, false);
	CHECK_EQ(gl_execute(fd, &resource, stream.words, stream.count, NULL), 0);
	gl_read_back(fd, &resource);
	CHECK_EQ(resource.words[0], 0xffff0000u);
	stream.count = 0;
	gl_add_clear(&stream, false, true, true);
	guest_await_host("renderers rest");
	CHECK_EQ(gl_execute(fd, &resource, stream.words, stream.count, NULL), 0);
	guest_sleep_ms(1000);
	CHECK_EQ(gl_await_resource(fd, &resource, VIRTGPU_WAIT_NOWAIT), EBUSY);
	guest_await_host("renderers go-on");
	gl_read_back(fd, &resource);
	CHECK_EQ(resource.words[0], 0xff00ffffu);
}

void a_hang_costs_its_file_alone(void)
{
	int fd = gl_open(), other = gl_open();
	struct drm_virtgpu_execbuffer args = {0};

	/* Both renderers have started, which takes as long as it takes, before the limit is low; only fd's calls see it. */
	CHECK_EQ(gl_clear(other, true, false, false), 0);
	CHECK_EQ(gl_clear(fd, true, false, false), 0);
	gl_write_to("/sys/module/patchbay/parameters/gl_hang_ms", "100");
	CHECK_EQ(gl_draw_without_end(fd, &args), 0);
	gl_write_to("/sys/module/patchbay/parameters/gl_hang_ms", "0");
	CHECK_EQ(guest_fence_wait(args.fence_fd), 0);
	CHECK(guest_fence_status(args.fence_fd) < 0);
	CHECK_EQ(gl_clear(fd, true, false, false), EIO);
	CHECK_EQ(gl_clear(other, false, true, false), 0);
	close(fd);
	fd = gl_open();
	CHECK_EQ(gl_clear(fd, false, false, true), 0);
}

/* Files that draw, until the card has no more; then one leaves, and another one can. */
void many_files_draw(void)
{
	int fds[64], count = 0, error = 0;

	while (count < 64 && error == 0) {
		fds[count] = gl_open();
		error = gl_clear(fds[count++], true, true, false);
	}
	CHECK(count > 3);
	CHECK_EQ(error, ENOSPC);
	for (int i = 0; i < count - 1; i++)
		CHECK_EQ(gl_clear(fds[i], i & 1, i & 2, true), 0);
	close(fds[0]);
	CHECK_EQ(gl_clear(fds[count - 1], false, true, true), 0);
}

void a_file_may_close_while_it_draws(void)
{
	int other = gl_open();

	for (int i = 0; i < 20; i++) {
		int fd = gl_open();
		struct gl_resource resource = gl_make_resource(fd);
		struct gl_stream stream = {.count = 0};

		gl_add_target(&stream, resource.number);
		for (int j = 0; j < 50; j++)
			gl_add_clear(&stream, j & 1, i & 1, true);
		CHECK_EQ(gl_execute(fd, &resource, stream.words, stream.count, NULL), 0);
		munmap(resource.words, resource.bytes);
		close(fd);
	}
	CHECK_EQ(gl_clear(other, true, false, true), 0);
}

/* Whatever a file sends, another one draws on. */
void arguments_of_chance_harm_no_other_file(void)
{
	static const uint32_t values[] = {0, 1, 2, 3, 4, 64, 4095, 4096, 0x7fffffff, 0x80000000, 0xffffffff};
	static const unsigned long requests[] = {
		DRM_IOCTL_VIRTGPU_MAP, DRM_IOCTL_VIRTGPU_EXECBUFFER, DRM_IOCTL_VIRTGPU_RESOURCE_CREATE,
		DRM_IOCTL_VIRTGPU_RESOURCE_INFO, DRM_IOCTL_VIRTGPU_TRANSFER_FROM_HOST, DRM_IOCTL_VIRTGPU_TRANSFER_TO_HOST,
		DRM_IOCTL_VIRTGPU_GET_CAPS, DRM_IOCTL_VIRTGPU_WAIT, DRM_IOCTL_VIRTGPU_RESOURCE_CREATE_BLOB,
		DRM_IOCTL_VIRTGPU_CONTEXT_INIT};
	int other = gl_open(), fd = -1;
	struct gl_resource resource = {0};
	struct gl_stream good = {.count = 0};
	uint64_t chance = 42;

	for (int round = 0; round < 2000; round++) {
		uint32_t words[32];
		unsigned long request = requests[guest_random(&chance) % 10];

		if (round % 25 == 0) {
			if (resource.words)
				munmap(resource.words, resource.bytes);
			close(fd);
			fd = gl_open();
			resource = gl_make_resource(fd);
			good.count = 0;
			gl_add_target(&good, resource.number);
			gl_add_clear(&good, true, true, true);
			CHECK_EQ(gl_clear(other, round & 32, round & 64, true), 0);
		}
		for (int i = 0; i < 32; i++)
			words[i] = guest_random(&chance) % 3 == 0 ? guest_random(&chance) :
				   guest_random(&chance) % 3 == 0 ? resource.number :
								     values[guest_random(&chance) % 11];
		if (round & 1) {
			struct gl_stream bad = good;

			/* A right stream with one wrong word. */
			bad.words[guest_random(&chance) % bad.count] = words[0];
			(void)gl_execute(fd, &resource, bad.words, bad.count, NULL);
		} else {
			(void)ioctl(fd, request, words);
		}
	}
	CHECK_EQ(gl_clear(other, true, true, true), 0);
}
