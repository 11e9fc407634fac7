// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Resources, streams and drawings of the tests; commands of the virgl protocol are written by hand. */
#include <drm/drm.h>
#include <drm/virtgpu_drm.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gl.h"
#include "tests/e2e/gl_endless.h"

#define TEXTURE_2D 2u
#define RENDER_TARGET 2u
#define TRIANGLES 4u
#define ONE 0x3f800000u

/* ---- the device ---- */

int gl_open(void)
{
	int fd = guest_open_render("virtio_gpu");

	CHECK(fd >= 0);
	return fd;
}

void gl_map(int fd, struct gl_resource *resource)
{
	struct drm_virtgpu_map map = {.handle = resource->handle};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_MAP, &map), 0);
	resource->words = mmap(NULL, resource->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.offset);
	CHECK(resource->words != MAP_FAILED);
}

int gl_try_resource(int fd, uint32_t format, uint32_t width, uint32_t height, struct gl_resource *resource)
{
	struct drm_virtgpu_resource_create create = {
		.target = TEXTURE_2D,
		.format = format,
		.bind = RENDER_TARGET,
		.width = width,
		.height = height,
		.depth = 1,
		.array_size = 1,
		.size = 4 * width * height,
	};
	int error = guest_ioctl(fd, DRM_IOCTL_VIRTGPU_RESOURCE_CREATE, &create);

	if (error != 0)
		return error;
	*resource = (struct gl_resource){.handle = create.bo_handle, .number = create.res_handle, .bytes = create.size};
	gl_map(fd, resource);
	return 0;
}

struct gl_resource gl_make_resource(int fd)
{
	struct gl_resource resource;

	CHECK_EQ(gl_try_resource(fd, FORMAT_BGRA, SIDE, SIDE, &resource), 0);
	return resource;
}

int gl_execute(int fd, const struct gl_resource *resource, const uint32_t *words, uint32_t count,
	       struct drm_virtgpu_execbuffer *args)
{
	struct drm_virtgpu_execbuffer plain = {0};
	int error;

	if (!args)
		args = &plain;
	args->command = (uintptr_t)words;
	args->size = 4 * count;
	args->bo_handles = resource ? (uintptr_t)&resource->handle : 0;
	args->num_bo_handles = resource ? 1 : 0;
	error = guest_ioctl(fd, DRM_IOCTL_VIRTGPU_EXECBUFFER, args);
	return error;
}

int gl_await_resource(int fd, const struct gl_resource *resource, uint32_t flags)
{
	struct drm_virtgpu_3d_wait args = {.handle = resource->handle, .flags = flags};

	return guest_ioctl(fd, DRM_IOCTL_VIRTGPU_WAIT, &args);
}

int gl_to_host(int fd, const struct gl_resource *resource, struct drm_virtgpu_3d_box box, uint32_t offset)
{
	struct drm_virtgpu_3d_transfer_to_host args = {.bo_handle = resource->handle, .box = box, .offset = offset};

	return guest_ioctl(fd, DRM_IOCTL_VIRTGPU_TRANSFER_TO_HOST, &args);
}

int gl_from_host(int fd, const struct gl_resource *resource, struct drm_virtgpu_3d_box box, uint32_t offset)
{
	struct drm_virtgpu_3d_transfer_from_host args = {.bo_handle = resource->handle, .box = box, .offset = offset};

	return guest_ioctl(fd, DRM_IOCTL_VIRTGPU_TRANSFER_FROM_HOST, &args);
}

/* Reads all of a resource, whose memory held something else. */
int gl_try_read(int fd, const struct gl_resource *resource)
{
	int error;

	memset(resource->words, 0x5a, resource->bytes);
	error = gl_from_host(fd, resource, gl_whole, 0);
	return error ? error : gl_await_resource(fd, resource, 0);
}

void gl_read_back(int fd, const struct gl_resource *resource)
{
	CHECK_EQ(gl_try_read(fd, resource), 0);
}

int gl_export(int fd, const struct gl_resource *resource)
{
	struct drm_prime_handle prime = {.handle = resource->handle, .flags = DRM_CLOEXEC | DRM_RDWR};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	return prime.fd;
}

int gl_try_import(int fd, int buffer, struct gl_resource *resource)
{
	struct drm_prime_handle prime = {.fd = buffer};
	struct drm_virtgpu_resource_info info = {0};
	int error = guest_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);

	if (error != 0)
		return error;
	info.bo_handle = prime.handle;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_RESOURCE_INFO, &info), 0);
	CHECK_EQ(info.blob_mem, 0);
	*resource = (struct gl_resource){.handle = prime.handle, .number = info.res_handle, .bytes = info.size};
	gl_map(fd, resource);
	return 0;
}

struct gl_resource gl_import(int fd, int buffer)
{
	struct gl_resource resource;

	CHECK_EQ(gl_try_import(fd, buffer, &resource), 0);
	return resource;
}

struct gl_resource gl_share(int fd, const struct gl_resource *resource, int other)
{
	int buffer = gl_export(fd, resource);
	struct gl_resource shared = gl_import(other, buffer);

	close(buffer);
	CHECK_EQ(shared.number, resource->number);
	CHECK_EQ(shared.bytes, resource->bytes);
	return shared;
}

/* ---- streams ---- */

void gl_add(struct gl_stream *stream, const uint32_t *words, uint32_t count)
{
	memcpy(&stream->words[stream->count], words, 4 * count);
	stream->count += count;
}

void gl_add_target(struct gl_stream *stream, uint32_t number)
{
	GL_ADD(stream, COMMAND(CREATE, SURFACE, 5), H_SURFACE, number, FORMAT_BGRA, 0, 0);
	GL_ADD(stream, COMMAND(FRAMEBUFFER, 0, 3), 1, 0, H_SURFACE);
}

void gl_add_clear(struct gl_stream *stream, bool red, bool green, bool blue)
{
	GL_ADD(stream, COMMAND(CLEAR, 0, 8), COLOR0, red ? ONE : 0, green ? ONE : 0, blue ? ONE : 0, ONE, 0, 0, 0);
}

static void add_shader(struct gl_stream *stream, uint32_t handle, uint32_t stage, const char *text)
{
	const uint32_t bytes = (uint32_t)strlen(text) + 1, count = (bytes + 3) / 4;

	GL_ADD(stream, COMMAND(CREATE, SHADER, 5 + count), handle, stage, bytes, 300, 0);
	memset(&stream->words[stream->count], 0, 4 * count);
	memcpy(&stream->words[stream->count], text, bytes);
	stream->count += count;
	GL_ADD(stream, COMMAND(BIND_SHADER, 0, 2), handle, stage);
}

/* Corners (-1, -1), (1, -1), (-1, 1), from the number of the vertex. */
static const char corners[] = "VERT\n"
			      "DCL SV[0], VERTEXID\n"
			      "DCL OUT[0], POSITION\n"
			      "DCL TEMP[0..1]\n"
			      "IMM[0] UINT32 {1, 0, 0, 0}\n"
			      "IMM[1] FLT32 {2.0, -1.0, 0.0, 1.0}\n"
			      "  0: AND TEMP[0].x, SV[0].xxxx, IMM[0].xxxx\n"
			      "  1: USHR TEMP[0].y, SV[0].xxxx, IMM[0].xxxx\n"
			      "  2: U2F TEMP[1].xy, TEMP[0].xyyy\n"
			      "  3: MAD OUT[0].xy, TEMP[1].xyyy, IMM[1].xxxx, IMM[1].yyyy\n"
			      "  4: MOV OUT[0].zw, IMM[1].zzzw\n"
			      "  5: END\n";

/* A triangle over the lower left half of a square. @half: of its side, a float's bits */
void gl_add_triangle(struct gl_stream *stream, const char *fragment, uint32_t half)
{
	GL_ADD(stream, COMMAND(CREATE, BLEND, 11), H_BLEND, 0, 0, 0x78000000, 0, 0, 0, 0, 0, 0, 0);
	GL_ADD(stream, COMMAND(BIND, BLEND, 1), H_BLEND);
	GL_ADD(stream, COMMAND(CREATE, RASTERIZER, 9), H_RASTERIZER, 0x20000002, ONE, 0, 0, ONE, 0, 0, 0);
	GL_ADD(stream, COMMAND(BIND, RASTERIZER, 1), H_RASTERIZER);
	GL_ADD(stream, COMMAND(CREATE, DEPTH, 5), H_DEPTH, 0, 0, 0, 0);
	GL_ADD(stream, COMMAND(BIND, DEPTH, 1), H_DEPTH);
	GL_ADD(stream, COMMAND(CREATE, ELEMENTS, 1), H_ELEMENTS);
	GL_ADD(stream, COMMAND(BIND, ELEMENTS, 1), H_ELEMENTS);
	GL_ADD(stream, COMMAND(VIEWPORT, 0, 7), 0, half, half, 0x3f000000, half, half, 0x3f000000);
	add_shader(stream, H_VERTEX, 0, corners);
	add_shader(stream, H_FRAGMENT, 1, fragment);
	GL_ADD(stream, COMMAND(DRAW, 0, 12), 0, 3, TRIANGLES, 0, 1, 0, 0, 0, 0, 0, 2, 0);
}

/* Clears a new resource to a colour and checks it: whether the file can draw. */
int gl_clear(int fd, bool red, bool green, bool blue)
{
	struct gl_stream stream = {.count = 0};
	struct gl_resource resource;
	const uint32_t pixel = 0xff000000u | (red ? 0xff0000u : 0) | (green ? 0xff00u : 0) | (blue ? 0xffu : 0);
	struct drm_gem_close gem;
	int error = gl_try_resource(fd, FORMAT_BGRA, SIDE, SIDE, &resource);

	if (error != 0)
		return error;
	gl_add_target(&stream, resource.number);
	gl_add_clear(&stream, red, green, blue);
	error = gl_execute(fd, &resource, stream.words, stream.count, NULL);
	if (error == 0)
		error = gl_try_read(fd, &resource);
	for (uint32_t i = 0; error == 0 && i < SIDE * SIDE; i++)
		CHECK_EQ(resource.words[i], pixel);
	munmap(resource.words, resource.bytes);
	gem = (struct drm_gem_close){.handle = resource.handle};
	(void)guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gem);
	return error;
}

void gl_write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Draws what takes hours, with a fence. */
int gl_draw_without_end(int fd, struct drm_virtgpu_execbuffer *args)
{
	struct gl_stream stream = {.count = 0};
	struct gl_resource resource;

	CHECK_EQ(gl_try_resource(fd, FORMAT_BGRA, 4096, 4096, &resource), 0);
	gl_add_target(&stream, resource.number);
	gl_add_triangle(&stream, E2E_GL_ENDLESS, 0x45000000);
	*args = (struct drm_virtgpu_execbuffer){.flags = VIRTGPU_EXECBUF_FENCE_FD_OUT};
	CHECK_EQ(gl_execute(fd, &resource, stream.words, stream.count, args), 0);
	return gl_await_resource(fd, &resource, VIRTGPU_WAIT_NOWAIT) == EBUSY ? 0 : EINVAL;
}
