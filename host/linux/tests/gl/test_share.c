// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Resources that several files have: each one sees what the others have drawn, and outlives them. */
#include <drm/drm.h>
#include <drm/virtgpu_drm.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gl.h"

#define RED 0xffff0000u
#define GREEN 0xff00ff00u
#define BLUE 0xff0000ffu

static void close_handle(int fd, struct gl_resource *resource)
{
	struct drm_gem_close gem = {.handle = resource->handle};

	munmap(resource->words, resource->bytes);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gem), 0);
}

static void paint(int fd, const struct gl_resource *resource, uint32_t colour)
{
	struct gl_stream stream = {.count = 0};

	gl_add_target(&stream, resource->number);
	gl_add_clear(&stream, colour & 0xff0000, colour & 0xff00, colour & 0xff);
	CHECK_EQ(gl_execute(fd, resource, stream.words, stream.count, NULL), 0);
}

static void is_all(int fd, const struct gl_resource *resource, uint32_t colour)
{
	gl_read_back(fd, resource);
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		CHECK_EQ(resource->words[i], colour);
}

/* A stream of the file's copies the resource to one of its own, which is read. */
static void is_all_for_streams(int fd, const struct gl_resource *resource, uint32_t colour)
{
	struct gl_resource own = gl_make_resource(fd);
	const uint32_t handles[] = {resource->handle, own.handle};
	struct gl_stream stream = {.count = 0};
	struct drm_virtgpu_execbuffer args = {.bo_handles = (uintptr_t)handles, .num_bo_handles = 2};

	GL_ADD(&stream, COMMAND(COPY_REGION, 0, 13), own.number, 0, 0, 0, 0, resource->number, 0, 0, 0, 0, SIDE, SIDE, 1);
	args.command = (uintptr_t)stream.words;
	args.size = 4 * stream.count;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_EXECBUFFER, &args), 0);
	is_all(fd, &own, colour);
	close_handle(fd, &own);
}

void files_see_what_others_draw(void)
{
	static const uint32_t colours[] = {RED, GREEN, BLUE, GREEN | BLUE, RED | GREEN};
	int fds[] = {gl_open(), gl_open(), gl_open()};
	struct gl_resource resources[3] = {gl_make_resource(fds[0])};

	paint(fds[0], &resources[0], BLUE);
	resources[1] = gl_share(fds[0], &resources[0], fds[1]);
	is_all_for_streams(fds[1], &resources[1], BLUE);
	resources[2] = gl_share(fds[1], &resources[1], fds[2]);
	is_all(fds[2], &resources[2], BLUE);
	/* Each writes in turn; a file that has not looked for a while sees the last one's. */
	for (uint32_t round = 0; round < 12; round++) {
		const uint32_t writer = round * 7 % 3, reader = (writer + 1 + round % 2) % 3;

		paint(fds[writer], &resources[writer], colours[round % 5]);
		is_all_for_streams(fds[reader], &resources[reader], colours[round % 5]);
		is_all(fds[writer], &resources[writer], colours[round % 5]);
	}
}

/* What a file changes of a picture is changed in the picture as the others have left it. */
void files_change_parts_of_a_picture(void)
{
	const struct drm_virtgpu_3d_box top = {.w = SIDE, .h = 1, .d = 1}, bottom = {.y = SIDE - 1, .w = SIDE, .h = 1, .d = 1};
	int fd = gl_open(), other = gl_open();
	struct gl_resource resource = gl_make_resource(fd), shared = gl_share(fd, &resource, other);

	paint(fd, &resource, RED);
	for (uint32_t i = 0; i < SIDE; i++)
		shared.words[i] = i;
	CHECK_EQ(gl_to_host(other, &shared, top, 0), 0);
	for (uint32_t i = 0; i < SIDE; i++)
		resource.words[i] = 1000 + i;
	CHECK_EQ(gl_to_host(fd, &resource, bottom, 0), 0);
	gl_read_back(other, &shared);
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		CHECK_EQ(shared.words[i], i < SIDE ? i : i < SIDE * (SIDE - 1) ? RED : 1000 + i % SIDE);
}

void what_a_file_drew_outlives_it(void)
{
	int fd = gl_open(), other = gl_open(), buffer;
	struct gl_resource resource = gl_make_resource(fd), shared;

	/* Its handle is closed while only a descriptor has the resource; then the file, too. */
	paint(fd, &resource, RED);
	buffer = gl_export(fd, &resource);
	close_handle(fd, &resource);
	shared = gl_import(other, buffer);
	is_all(other, &shared, RED);
	close(fd);
	is_all_for_streams(other, &shared, RED);
	paint(other, &shared, GREEN);
	/* The last file's contents, for a file that did not look at them while it could. */
	fd = gl_open();
	resource = gl_import(fd, buffer);
	close_handle(other, &shared);
	close(other);
	is_all_for_streams(fd, &resource, GREEN);
	/* Only a descriptor has it. */
	close_handle(fd, &resource);
	resource = gl_import(fd, buffer);
	is_all(fd, &resource, GREEN);
	close(buffer);
}

void a_writer_that_fails_costs_no_reader(void)
{
	static const uint32_t unknown = 0xffffffff;
	int fd = gl_open(), other = gl_open(), buffer;
	struct gl_resource resource = gl_make_resource(fd), shared = gl_share(fd, &resource, other);

	buffer = gl_export(fd, &resource);
	paint(fd, &resource, RED);
	is_all(other, &shared, RED);
	paint(fd, &resource, GREEN);
	CHECK_EQ(gl_execute(fd, NULL, &unknown, 1, NULL), EINVAL);
	/* The green is lost with the file; the red is what was seen of it last. */
	is_all_for_streams(other, &shared, RED);
	paint(other, &shared, BLUE);
	is_all(other, &shared, BLUE);
	close(fd);
	fd = gl_open();
	resource = gl_import(fd, buffer);
	is_all_for_streams(fd, &resource, BLUE);
	/* One that fails before it has looked, or while it has the newest, and is closed. */
	CHECK_EQ(gl_execute(fd, NULL, &unknown, 1, NULL), EINVAL);
	close(fd);
	paint(other, &shared, RED | BLUE);
	is_all(other, &shared, RED | BLUE);
}

/* A file that looks at what one that hangs has drawn waits until that one is reset, and goes on with what it has. */
void a_writer_that_hangs_costs_no_reader(void)
{
	int fd = gl_open(), other = gl_open();
	struct gl_resource resource = gl_make_resource(fd), shared = gl_share(fd, &resource, other);
	struct drm_virtgpu_execbuffer args = {0};

	paint(fd, &resource, RED);
	is_all(other, &shared, RED);
	paint(fd, &resource, GREEN);
	gl_write_to("/sys/module/patchbay/parameters/gl_hang_ms", "100");
	CHECK_EQ(gl_draw_without_end(fd, &args), 0);
	gl_write_to("/sys/module/patchbay/parameters/gl_hang_ms", "0");
	is_all_for_streams(other, &shared, RED);
	CHECK(guest_fence_status(args.fence_fd) < 0);
	CHECK_EQ(gl_clear(fd, true, true, true), EIO);
	paint(other, &shared, BLUE);
	is_all(other, &shared, BLUE);
}

/* Only pictures with one level are shared; what is not costs no file anything. */
void what_cannot_be_shared_is_refused(void)
{
	static const struct drm_virtgpu_resource_create rows[] = {
		{.target = 0, .format = 64, .bind = 16, .width = 4096, .height = 1, .depth = 1, .array_size = 1, .size = 4096},
		{.target = 2, .format = FORMAT_BGRA, .bind = 8, .width = 64, .height = 64, .depth = 1, .array_size = 1,
		 .last_level = 3, .size = 32768},
		{.target = 2, .format = FORMAT_BGRA, .bind = 2, .width = 64, .height = 64, .depth = 1, .array_size = 1,
		 .nr_samples = 4, .size = 65536},
		{.target = 3, .format = FORMAT_BGRA, .bind = 8, .width = 16, .height = 16, .depth = 16, .array_size = 1,
		 .size = 16384},
		{.target = 2, .format = 9999, .bind = 8, .width = 16, .height = 16, .depth = 1, .array_size = 1, .size = 4096},
	};
	int fd = gl_open(), other = gl_open();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct drm_virtgpu_resource_create create = rows[i];
		struct gl_resource none;
		int buffer;

		CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_RESOURCE_CREATE, &create), 0);
		none = (struct gl_resource){.handle = create.bo_handle};
		buffer = gl_export(fd, &none);
		CHECK_EQ(gl_try_import(other, buffer, &none), EOPNOTSUPP);
		/* The file that has it gets its handle. */
		CHECK_EQ(gl_try_import(fd, buffer, &none), 0);
		CHECK_EQ(none.handle, create.bo_handle);
		close(buffer);
	}
	CHECK_EQ(gl_clear(fd, true, true, false), 0);
	CHECK_EQ(gl_clear(other, true, true, false), 0);
}

/* By name: only files that are authenticated, as root's are. */
void a_name_shares_a_resource(void)
{
	int fd = guest_open_primary("virtio_gpu"), other = guest_open_primary("virtio_gpu");
	struct gl_resource resource = gl_make_resource(fd), shared = {.bytes = resource.bytes};
	struct drm_gem_flink name = {.handle = resource.handle};
	struct drm_gem_open opened = {0};

	paint(fd, &resource, GREEN);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GEM_FLINK, &name), 0);
	opened.name = name.name;
	CHECK_EQ(guest_ioctl(other, DRM_IOCTL_GEM_OPEN, &opened), 0);
	shared.handle = opened.handle;
	gl_map(other, &shared);
	is_all(other, &shared, GREEN);
	/* A second handle, and the first one's end. */
	CHECK_EQ(guest_ioctl(other, DRM_IOCTL_GEM_OPEN, &opened), 0);
	close_handle(other, &shared);
	shared.handle = opened.handle;
	gl_map(other, &shared);
	paint(fd, &resource, BLUE);
	is_all(other, &shared, BLUE);
}

/* Three files that paint, look, close and open what they share, by chance: each sees what was painted last. */
void files_share_by_chance(void)
{
	static const uint32_t colours[] = {RED, GREEN, BLUE, RED | GREEN, RED | BLUE, GREEN | BLUE};
	struct gl_resource resources[3][2];
	int fds[3], buffers[2];
	uint32_t painted[2];
	uint64_t chance = 7;

	for (int f = 0; f < 3; f++)
		fds[f] = gl_open();
	for (int b = 0; b < 2; b++) {
		resources[b][b] = gl_make_resource(fds[b]);
		paint(fds[b], &resources[b][b], painted[b] = RED);
		buffers[b] = gl_export(fds[b], &resources[b][b]);
		for (int f = 0; f < 3; f++)
			if (f != b)
				resources[f][b] = gl_import(fds[f], buffers[b]);
	}
	for (int round = 0; round < 200; round++) {
		const uint32_t f = guest_random(&chance) % 3, b = guest_random(&chance) % 2;

		switch (guest_random(&chance) % 8) {
		case 0:
			close_handle(fds[f], &resources[f][b]);
			resources[f][b] = gl_import(fds[f], buffers[b]);
			break;
		case 1:
			if (guest_random(&chance) % 3 != 0)
				break;
			for (int i = 0; i < 2; i++)
				munmap(resources[f][i].words, resources[f][i].bytes);
			close(fds[f]);
			fds[f] = gl_open();
			for (int i = 0; i < 2; i++)
				resources[f][i] = gl_import(fds[f], buffers[i]);
			break;
		case 2:
		case 3:
		case 4:
			paint(fds[f], &resources[f][b], painted[b] = colours[guest_random(&chance) % 6]);
			break;
		case 5:
			is_all(fds[f], &resources[f][b], painted[b]);
			break;
		default:
			is_all_for_streams(fds[f], &resources[f][b], painted[b]);
		}
	}
}

/* Adds one to a pixel that two files have, and hands it on, so many times. */
static void count_on(int fd, const struct gl_resource *resource, int from, int to)
{
	char byte = 0;

	for (int i = 0; i < 25; i++) {
		CHECK_EQ(read(from, &byte, 1), 1);
		gl_read_back(fd, resource);
		resource->words[0]++;
		CHECK_EQ(gl_to_host(fd, resource, gl_whole, 0), 0);
		CHECK_EQ(write(to, &byte, 1), 1);
	}
}

/* Two pairs of processes, whose files write and read crosswise at the same time. */
void files_take_turns(void)
{
	int fds[2] = {gl_open(), gl_open()}, pipes[2][2][2];
	struct gl_resource resources[2][2];
	pid_t children[4];

	for (int pair = 0; pair < 2; pair++) {
		resources[pair][pair] = gl_make_resource(fds[pair]);
		memset(resources[pair][pair].words, 0, resources[pair][pair].bytes);
		CHECK_EQ(gl_to_host(fds[pair], &resources[pair][pair], gl_whole, 0), 0);
		resources[pair][!pair] = gl_share(fds[pair], &resources[pair][pair], fds[!pair]);
		for (int side = 0; side < 2; side++)
			CHECK_EQ(pipe(pipes[pair][side]), 0);
	}
	for (int i = 0; i < 4; i++) {
		const int pair = i / 2, side = i % 2;

		children[i] = fork();
		if (children[i] == 0) {
			count_on(fds[side], &resources[pair][side], pipes[pair][side][0], pipes[pair][!side][1]);
			_exit(0);
		}
	}
	for (int pair = 0; pair < 2; pair++)
		CHECK_EQ(write(pipes[pair][0][1], "", 1), 1);
	for (int i = 0; i < 4; i++) {
		int status = 1;

		CHECK_EQ(waitpid(children[i], &status, 0), children[i]);
		CHECK_EQ(status, 0);
	}
	for (int pair = 0; pair < 2; pair++) {
		gl_read_back(fds[pair], &resources[pair][pair]);
		CHECK_EQ(resources[pair][pair].words[0], 50);
	}
}
