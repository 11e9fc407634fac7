// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * pbd-gl [NAME...]: tests of the driver's OpenGL (module parameter virtgpu=1), without an OpenGL library: commands of the
 * virgl protocol are written by hand, as pbd-test writes its own. A line "ok NAME MILLISECONDS" or "FAIL ..." for each.
 */
#include <drm/drm_fourcc.h>
#include <drm/drm_mode.h>
#include <drm/virtgpu_drm.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest.h"

#define TEXTURE_2D 2u
#define FORMAT_BGRA 1u
#define FORMAT_BGRX 2u
#define RENDER_TARGET 2u
#define COLOR0 4u
#define TRIANGLES 4u
#define ONE 0x3f800000u
#define SIDE 64u
/* Header of a virgl command. */
#define COMMAND(number, kind, words) ((uint32_t)(words) << 16 | (uint32_t)(kind) << 8 | (uint32_t)(number))
enum { CREATE = 1, BIND = 2, VIEWPORT = 4, FRAMEBUFFER = 5, CLEAR = 7, DRAW = 8, BIND_SHADER = 31 };
enum { BLEND = 1, RASTERIZER = 2, DEPTH = 3, SHADER = 4, ELEMENTS = 5, SURFACE = 8 };
/* Objects of the streams. */
enum { H_BLEND = 101, H_RASTERIZER, H_DEPTH, H_ELEMENTS, H_VERTEX, H_FRAGMENT, H_SURFACE };

/* ---- the device ---- */

struct resource {
	uint32_t handle, number;
	uint32_t *words; /* mapped */
	size_t bytes;
};

static int open_gl(void)
{
	int fd = guest_open_render("virtio_gpu");

	CHECK(fd >= 0);
	return fd;
}

static int try_resource(int fd, uint32_t format, uint32_t width, uint32_t height, struct resource *resource)
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
	struct drm_virtgpu_map map = {0};
	int error = guest_ioctl(fd, DRM_IOCTL_VIRTGPU_RESOURCE_CREATE, &create);

	if (error != 0)
		return error;
	map.handle = create.bo_handle;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_MAP, &map), 0);
	*resource = (struct resource){.handle = create.bo_handle, .number = create.res_handle, .bytes = create.size};
	resource->words = mmap(NULL, resource->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.offset);
	CHECK(resource->words != MAP_FAILED);
	return 0;
}

static struct resource make_resource(int fd)
{
	struct resource resource;

	CHECK_EQ(try_resource(fd, FORMAT_BGRA, SIDE, SIDE, &resource), 0);
	return resource;
}

static int execute(int fd, const struct resource *resource, const uint32_t *words, uint32_t count,
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

static int await_resource(int fd, const struct resource *resource, uint32_t flags)
{
	struct drm_virtgpu_3d_wait args = {.handle = resource->handle, .flags = flags};

	return guest_ioctl(fd, DRM_IOCTL_VIRTGPU_WAIT, &args);
}

static int to_host(int fd, const struct resource *resource, struct drm_virtgpu_3d_box box, uint32_t offset)
{
	struct drm_virtgpu_3d_transfer_to_host args = {.bo_handle = resource->handle, .box = box, .offset = offset};

	return guest_ioctl(fd, DRM_IOCTL_VIRTGPU_TRANSFER_TO_HOST, &args);
}

static int from_host(int fd, const struct resource *resource, struct drm_virtgpu_3d_box box, uint32_t offset)
{
	struct drm_virtgpu_3d_transfer_from_host args = {.bo_handle = resource->handle, .box = box, .offset = offset};

	return guest_ioctl(fd, DRM_IOCTL_VIRTGPU_TRANSFER_FROM_HOST, &args);
}

static const struct drm_virtgpu_3d_box whole = {.w = SIDE, .h = SIDE, .d = 1};

/* Reads all of a resource, whose memory held something else. */
static int try_read(int fd, const struct resource *resource)
{
	int error;

	memset(resource->words, 0x5a, resource->bytes);
	error = from_host(fd, resource, whole, 0);
	return error ? error : await_resource(fd, resource, 0);
}

static void read_back(int fd, const struct resource *resource)
{
	CHECK_EQ(try_read(fd, resource), 0);
}

/* ---- streams ---- */

struct stream {
	uint32_t words[1024];
	uint32_t count;
};

static void add(struct stream *stream, const uint32_t *words, uint32_t count)
{
	memcpy(&stream->words[stream->count], words, 4 * count);
	stream->count += count;
}

#define ADD(stream, ...)                                                                                     \
	do {                                                                                                 \
		const uint32_t words_[] = {__VA_ARGS__};                                                     \
		add(stream, words_, sizeof(words_) / 4);                                                     \
	} while (0)

static void add_target(struct stream *stream, uint32_t number)
{
	ADD(stream, COMMAND(CREATE, SURFACE, 5), H_SURFACE, number, FORMAT_BGRA, 0, 0);
	ADD(stream, COMMAND(FRAMEBUFFER, 0, 3), 1, 0, H_SURFACE);
}

static void add_clear(struct stream *stream, bool red, bool green, bool blue)
{
	ADD(stream, COMMAND(CLEAR, 0, 8), COLOR0, red ? ONE : 0, green ? ONE : 0, blue ? ONE : 0, ONE, 0, 0, 0);
}

static void add_shader(struct stream *stream, uint32_t handle, uint32_t stage, const char *text)
{
	const uint32_t bytes = (uint32_t)strlen(text) + 1, count = (bytes + 3) / 4;

	ADD(stream, COMMAND(CREATE, SHADER, 5 + count), handle, stage, bytes, 300, 0);
	memset(&stream->words[stream->count], 0, 4 * count);
	memcpy(&stream->words[stream->count], text, bytes);
	stream->count += count;
	ADD(stream, COMMAND(BIND_SHADER, 0, 2), handle, stage);
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

static const char magenta[] = "FRAG\n"
			      "PROPERTY FS_COLOR0_WRITES_ALL_CBUFS 1\n"
			      "DCL OUT[0], COLOR\n"
			      "IMM[0] FLT32 {1.0, 0.0, 1.0, 1.0}\n"
			      "  0: MOV OUT[0], IMM[0]\n"
			      "  1: END\n";

/* The card's llvmpipe ends a loop after 65,535 rounds; in many pixels that is without end for a test. */
static const char endless[] = "FRAG\n"
			      "PROPERTY FS_COLOR0_WRITES_ALL_CBUFS 1\n"
			      "DCL OUT[0], COLOR\n"
			      "DCL TEMP[0..1]\n"
			      "IMM[0] FLT32 {0.5, 1000.0, 0.25, 1.0}\n"
			      "  0: MOV TEMP[0], IMM[0]\n"
			      "  1: BGNLOOP :9\n"
			      "  2:   SIN TEMP[0].x, TEMP[0].xxxx\n"
			      "  3:   SIN TEMP[0].z, TEMP[0].xxxx\n"
			      "  4:   ADD TEMP[0].x, TEMP[0].zzzz, IMM[0].zzzz\n"
			      "  5:   FSLT TEMP[1].x, IMM[0].yyyy, TEMP[0].xxxx\n"
			      "  6:   UIF TEMP[1].xxxx :8\n"
			      "  7:     BRK\n"
			      "  8:   ENDIF\n"
			      "  9: ENDLOOP :1\n"
			      " 10: MOV OUT[0], TEMP[0]\n"
			      " 11: END\n";

/* A triangle over the lower left half of a square. @half: of its side, a float's bits */
static void add_triangle(struct stream *stream, const char *fragment, uint32_t half)
{
	ADD(stream, COMMAND(CREATE, BLEND, 11), H_BLEND, 0, 0, 0x78000000, 0, 0, 0, 0, 0, 0, 0);
	ADD(stream, COMMAND(BIND, BLEND, 1), H_BLEND);
	ADD(stream, COMMAND(CREATE, RASTERIZER, 9), H_RASTERIZER, 0x20000002, ONE, 0, 0, ONE, 0, 0, 0);
	ADD(stream, COMMAND(BIND, RASTERIZER, 1), H_RASTERIZER);
	ADD(stream, COMMAND(CREATE, DEPTH, 5), H_DEPTH, 0, 0, 0, 0);
	ADD(stream, COMMAND(BIND, DEPTH, 1), H_DEPTH);
	ADD(stream, COMMAND(CREATE, ELEMENTS, 1), H_ELEMENTS);
	ADD(stream, COMMAND(BIND, ELEMENTS, 1), H_ELEMENTS);
	ADD(stream, COMMAND(VIEWPORT, 0, 7), 0, half, half, 0x3f000000, half, half, 0x3f000000);
	add_shader(stream, H_VERTEX, 0, corners);
	add_shader(stream, H_FRAGMENT, 1, fragment);
	ADD(stream, COMMAND(DRAW, 0, 12), 0, 3, TRIANGLES, 0, 1, 0, 0, 0, 0, 0, 2, 0);
}

/* Clears a new resource to a colour and checks it: whether the file can draw. */
static int clear(int fd, bool red, bool green, bool blue)
{
	struct stream stream = {.count = 0};
	struct resource resource;
	const uint32_t pixel = 0xff000000u | (red ? 0xff0000u : 0) | (green ? 0xff00u : 0) | (blue ? 0xffu : 0);
	struct drm_gem_close gem;
	int error = try_resource(fd, FORMAT_BGRA, SIDE, SIDE, &resource);

	if (error != 0)
		return error;
	add_target(&stream, resource.number);
	add_clear(&stream, red, green, blue);
	error = execute(fd, &resource, stream.words, stream.count, NULL);
	if (error == 0)
		error = try_read(fd, &resource);
	for (uint32_t i = 0; error == 0 && i < SIDE * SIDE; i++)
		CHECK_EQ(resource.words[i], pixel);
	munmap(resource.words, resource.bytes);
	gem = (struct drm_gem_close){.handle = resource.handle};
	(void)guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gem);
	return error;
}

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Draws what takes hours, with a fence. */
static int draw_without_end(int fd, struct drm_virtgpu_execbuffer *args)
{
	struct stream stream = {.count = 0};
	struct resource resource;

	CHECK_EQ(try_resource(fd, FORMAT_BGRA, 4096, 4096, &resource), 0);
	add_target(&stream, resource.number);
	add_triangle(&stream, endless, 0x45000000);
	*args = (struct drm_virtgpu_execbuffer){.flags = VIRTGPU_EXECBUF_FENCE_FD_OUT};
	CHECK_EQ(execute(fd, &resource, stream.words, stream.count, args), 0);
	return await_resource(fd, &resource, VIRTGPU_WAIT_NOWAIT) == EBUSY ? 0 : EINVAL;
}

/* ---- the tests ---- */

static void the_engine_says_what_it_is(void)
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
	int fd = open_gl();

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

static void a_triangle_reads_back(void)
{
	int fd = open_gl();
	struct resource resource = make_resource(fd);
	struct stream stream = {.count = 0};

	add_target(&stream, resource.number);
	add_clear(&stream, false, true, false);
	add_triangle(&stream, magenta, 0x42000000);
	CHECK_EQ(execute(fd, &resource, stream.words, stream.count, NULL), 0);
	CHECK_EQ(await_resource(fd, &resource, 0), 0);
	read_back(fd, &resource);
	/* Not the diagonal itself: rules of edges decide that. */
	for (uint32_t y = 0; y < SIDE; y++)
		for (uint32_t x = 0; x < SIDE; x++)
			if (x + y != SIDE - 1)
				CHECK_EQ(resource.words[y * SIDE + x], x + y < SIDE - 1 ? 0xffff00ffu : 0xff00ff00u);
}

static void transfers_go_both_ways(void)
{
	static const struct drm_virtgpu_3d_box boxes[] = {
		{.w = SIDE, .h = SIDE, .d = 1}, {.x = 3, .y = 5, .w = 17, .h = 9, .d = 1}, {.x = 63, .y = 63, .w = 1, .h = 1, .d = 1}};
	int fd = open_gl();
	uint64_t chance = 7;

	for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
		struct resource resource = make_resource(fd);
		const struct drm_virtgpu_3d_box *box = &boxes[i];
		uint32_t before[SIDE * SIDE];

		CHECK_EQ(to_host(fd, &resource, whole, 0), 0);
		for (uint32_t j = 0; j < SIDE * SIDE; j++)
			before[j] = resource.words[j] = guest_random(&chance);
		/* Rows of the memory are as long as those of the resource; the box begins at the offset. */
		CHECK_EQ(to_host(fd, &resource, *box, 4 * (box->y * SIDE + box->x)), 0);
		read_back(fd, &resource);
		for (uint32_t y = 0; y < SIDE; y++)
			for (uint32_t x = 0; x < SIDE; x++)
				CHECK_EQ(resource.words[y * SIDE + x],
					 x - box->x < box->w && y - box->y < box->h ? before[y * SIDE + x] : 0);
	}
}

static void fences_go_in_and_out(void)
{
	int fd = open_gl();
	struct resource resource = make_resource(fd);
	struct drm_virtgpu_execbuffer args = {.flags = VIRTGPU_EXECBUF_FENCE_FD_OUT};
	struct guest_foreign foreign = guest_foreign();
	struct stream stream = {.count = 0};
	pid_t child;

	add_target(&stream, resource.number);
	add_clear(&stream, true, true, true);
	CHECK_EQ(execute(fd, &resource, stream.words, stream.count, &args), 0);
	CHECK_EQ(guest_fence_wait(args.fence_fd, 10000), 0);
	CHECK_EQ(guest_fence_status(args.fence_fd), 1);
	/* A fence of this file's own order is not waited for. */
	args = (struct drm_virtgpu_execbuffer){.flags = VIRTGPU_EXECBUF_FENCE_FD_IN, .fence_fd = args.fence_fd};
	stream.count = 0;
	add_clear(&stream, true, false, true);
	CHECK_EQ(execute(fd, &resource, stream.words, stream.count, &args), 0);
	read_back(fd, &resource);
	CHECK_EQ(resource.words[0], 0xffff00ffu);
	/* A foreign one is: nothing is drawn before it has ended. */
	child = fork();
	if (child == 0) {
		guest_sleep_ms(300);
		guest_foreign_signal(&foreign);
		_exit(0);
	}
	args = (struct drm_virtgpu_execbuffer){.flags = VIRTGPU_EXECBUF_FENCE_FD_IN, .fence_fd = foreign.file};
	CHECK_EQ(guest_fence_status(foreign.file), 0);
	CHECK_EQ(execute(fd, &resource, stream.words, stream.count, &args), 0);
	CHECK_EQ(guest_fence_status(foreign.file), 1);
	waitpid(child, NULL, 0);
	args = (struct drm_virtgpu_execbuffer){.flags = VIRTGPU_EXECBUF_FENCE_FD_IN, .fence_fd = 0};
	CHECK_EQ(execute(fd, &resource, stream.words, stream.count, &args), EINVAL);
}

static void wrong_arguments_are_refused(void)
{
	/* The primary node: render nodes make no objects of the display. */
	int fd = guest_open_primary("virtio_gpu");
	struct resource resource = make_resource(fd), none = {.handle = 999};
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
		CHECK_EQ(to_host(fd, &resource, boxes[i].box, boxes[i].offset), EINVAL);
		CHECK_EQ(from_host(fd, &resource, boxes[i].box, boxes[i].offset), EINVAL);
	}
	CHECK_EQ(to_host(fd, &none, whole, 0), ENOENT);
	CHECK_EQ(await_resource(fd, &none, 0), ENOENT);
	CHECK_EQ(execute(fd, &none, &word, 0, NULL), ENOENT);
	/* An object of the display is no resource. */
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &dumb), 0);
	none.handle = dumb.handle;
	CHECK_EQ(await_resource(fd, &none, 0), ENOENT);
	CHECK_EQ(to_host(fd, &none, (struct drm_virtgpu_3d_box){.w = 1, .h = 1, .d = 1}, 0), ENOENT);
	CHECK_EQ(execute(fd, &none, &word, 0, NULL), EINVAL);
	args = (struct drm_virtgpu_execbuffer){.flags = VIRTGPU_EXECBUF_RING_IDX};
	CHECK_EQ(execute(fd, NULL, &word, 0, &args), EINVAL);
	args = (struct drm_virtgpu_execbuffer){.size = 3};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_EXECBUFFER, &args), EINVAL);
	args = (struct drm_virtgpu_execbuffer){.size = 64u << 20};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_EXECBUFFER, &args), E2BIG);
	args = (struct drm_virtgpu_execbuffer){.size = 4, .command = 16};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_EXECBUFFER, &args), EFAULT);
	args = (struct drm_virtgpu_execbuffer){.num_bo_handles = 1u << 30};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VIRTGPU_EXECBUFFER, &args), E2BIG);
	/* None of that has harmed the file. */
	CHECK_EQ(clear(fd, true, true, false), 0);
}

/* Streams that the driver or the engine refuses: each costs the file that sent it, and no other. */
static void a_wrong_stream_costs_its_file_alone(void)
{
	int other = open_gl();
	struct resource others = make_resource(other);
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
	CHECK_EQ(to_host(other, &others, whole, 0), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd = open_gl();

		CHECK_EQ(clear(fd, true, false, false), 0);
		CHECK_EQ(execute(fd, NULL, rows[i].words, rows[i].count, NULL), EINVAL);
		CHECK_EQ(clear(fd, true, false, false), EIO);
		close(fd);
		CHECK_EQ(clear(other, false, true, true), 0);
	}
	read_back(other, &others);
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		CHECK_EQ(others.words[i], i);
}

/* What the engine refuses shows in the fence, or in what is asked for next. */
static void a_resource_that_cannot_be_costs_its_file_alone(void)
{
	int fd = open_gl(), other = open_gl();
	struct resource resource;
	struct stream stream = {.count = 0};
	int error;

	CHECK_EQ(clear(other, false, false, true), 0);
	/* No renderer has a format of this number. */
	CHECK_EQ(try_resource(fd, 9999, SIDE, SIDE, &resource), 0);
	add_target(&stream, resource.number);
	error = execute(fd, &resource, stream.words, stream.count, NULL);
	CHECK(error == 0 || error == EIO);
	(void)await_resource(fd, &resource, 0);
	for (int i = 0; i < 100 && error == 0; i++) {
		error = execute(fd, &resource, stream.words, 0, NULL);
		if (error == 0)
			error = clear(fd, true, true, true);
	}
	CHECK_EQ(error, EIO);
	CHECK_EQ(clear(other, true, true, true), 0);
}

/* Asks what runs the machine for something, and waits until it is done. */
static void ask_host(const char *what)
{
	char answer[8] = "";

	printf("HOST %s\n", what);
	fflush(stdout);
	CHECK(read(0, answer, sizeof(answer) - 1) > 0);
	CHECK_EQ(strncmp(answer, "done", 4), 0);
}

/* A renderer that gets no processor for a second, as on a busy system, has not hung. */
static void a_renderer_may_rest(void)
{
	int fd = open_gl();
	struct resource resource = make_resource(fd);
	struct stream stream = {.count = 0};

	/* Now its renderer has the resource. */
	add_target(&stream, resource.number);
	add_clear(&stream, true, false, false);
	CHECK_EQ(execute(fd, &resource, stream.words, stream.count, NULL), 0);
	read_back(fd, &resource);
	CHECK_EQ(resource.words[0], 0xffff0000u);
	stream.count = 0;
	add_clear(&stream, false, true, true);
	ask_host("renderers rest");
	CHECK_EQ(execute(fd, &resource, stream.words, stream.count, NULL), 0);
	guest_sleep_ms(1000);
	CHECK_EQ(await_resource(fd, &resource, VIRTGPU_WAIT_NOWAIT), EBUSY);
	ask_host("renderers go-on");
	read_back(fd, &resource);
	CHECK_EQ(resource.words[0], 0xff00ffffu);
}

static void a_hang_costs_its_file_alone(void)
{
	int fd = open_gl(), other = open_gl();
	struct drm_virtgpu_execbuffer args = {0};

	/* Both renderers have started, which takes as long as it takes, before the limit is low; only fd's calls see it. */
	CHECK_EQ(clear(other, true, false, false), 0);
	CHECK_EQ(clear(fd, true, false, false), 0);
	write_to("/sys/module/patchbay/parameters/gl_hang_ms", "100");
	CHECK_EQ(draw_without_end(fd, &args), 0);
	write_to("/sys/module/patchbay/parameters/gl_hang_ms", "0");
	CHECK_EQ(guest_fence_wait(args.fence_fd, 30000), 0);
	CHECK(guest_fence_status(args.fence_fd) < 0);
	CHECK_EQ(clear(fd, true, false, false), EIO);
	CHECK_EQ(clear(other, false, true, false), 0);
	close(fd);
	fd = open_gl();
	CHECK_EQ(clear(fd, false, false, true), 0);
}

static void resources_of_other_files_are_not_there(void)
{
	int fd = open_gl(), other = open_gl();
	struct resource resource = make_resource(fd);
	struct drm_prime_handle prime = {.handle = resource.handle, .flags = DRM_CLOEXEC | DRM_RDWR};
	struct drm_prime_handle back;

	CHECK_EQ(clear(other, true, false, false), 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	back = (struct drm_prime_handle){.fd = prime.fd};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &back), 0);
	CHECK_EQ(back.handle, resource.handle);
	CHECK_EQ(guest_ioctl(other, DRM_IOCTL_PRIME_FD_TO_HANDLE, &back), EOPNOTSUPP);
	CHECK_EQ(clear(other, false, true, false), 0);
}

/* Files that draw, until the card has no more; then one leaves, and another one can. */
static void many_files_draw(void)
{
	int fds[64], count = 0, error = 0;

	while (count < 64 && error == 0) {
		fds[count] = open_gl();
		error = clear(fds[count++], true, true, false);
	}
	CHECK(count > 3);
	CHECK_EQ(error, ENOSPC);
	for (int i = 0; i < count - 1; i++)
		CHECK_EQ(clear(fds[i], i & 1, i & 2, true), 0);
	close(fds[0]);
	CHECK_EQ(clear(fds[count - 1], false, true, true), 0);
}

static void a_file_may_close_while_it_draws(void)
{
	int other = open_gl();

	for (int i = 0; i < 20; i++) {
		int fd = open_gl();
		struct resource resource = make_resource(fd);
		struct stream stream = {.count = 0};

		add_target(&stream, resource.number);
		for (int j = 0; j < 50; j++)
			add_clear(&stream, j & 1, i & 1, true);
		CHECK_EQ(execute(fd, &resource, stream.words, stream.count, NULL), 0);
		munmap(resource.words, resource.bytes);
		close(fd);
	}
	CHECK_EQ(clear(other, true, false, true), 0);
}

/* Whatever a file sends, another one draws on. */
static void arguments_of_chance_harm_no_other_file(void)
{
	static const uint32_t values[] = {0, 1, 2, 3, 4, 64, 4095, 4096, 0x7fffffff, 0x80000000, 0xffffffff};
	static const unsigned long requests[] = {
		DRM_IOCTL_VIRTGPU_MAP, DRM_IOCTL_VIRTGPU_EXECBUFFER, DRM_IOCTL_VIRTGPU_RESOURCE_CREATE,
		DRM_IOCTL_VIRTGPU_RESOURCE_INFO, DRM_IOCTL_VIRTGPU_TRANSFER_FROM_HOST, DRM_IOCTL_VIRTGPU_TRANSFER_TO_HOST,
		DRM_IOCTL_VIRTGPU_GET_CAPS, DRM_IOCTL_VIRTGPU_WAIT, DRM_IOCTL_VIRTGPU_RESOURCE_CREATE_BLOB,
		DRM_IOCTL_VIRTGPU_CONTEXT_INIT};
	int other = open_gl(), fd = -1;
	struct resource resource = {0};
	struct stream good = {.count = 0};
	uint64_t chance = 42;

	for (int round = 0; round < 2000; round++) {
		uint32_t words[32];
		unsigned long request = requests[guest_random(&chance) % 10];

		if (round % 25 == 0) {
			if (resource.words)
				munmap(resource.words, resource.bytes);
			close(fd);
			fd = open_gl();
			resource = make_resource(fd);
			good.count = 0;
			add_target(&good, resource.number);
			add_clear(&good, true, true, true);
			CHECK_EQ(clear(other, round & 32, round & 64, true), 0);
		}
		for (int i = 0; i < 32; i++)
			words[i] = guest_random(&chance) % 3 == 0 ? guest_random(&chance) :
				   guest_random(&chance) % 3 == 0 ? resource.number :
								     values[guest_random(&chance) % 11];
		if (round & 1) {
			struct stream bad = good;

			/* A right stream with one wrong word. */
			bad.words[guest_random(&chance) % bad.count] = words[0];
			(void)execute(fd, &resource, bad.words, bad.count, NULL);
		} else {
			(void)ioctl(fd, request, words);
		}
	}
	CHECK_EQ(clear(other, true, true, true), 0);
}

/* ---- the display ---- */

static uint32_t pixel(uint32_t x, uint32_t y, uint32_t seed)
{
	return ((x * 3 + seed) & 0xff) << 16 | ((y * 5 + seed * 7) & 0xff) << 8 | ((x ^ y) & 0xff);
}

/* A resource is shown as it is at the renderer. The machine below compares the display. */
static void a_resource_is_shown(void)
{
	int fd = guest_open_primary("virtio_gpu");
	uint32_t crtc_id = 0, connector_id = 0, encoders[4];
	struct drm_mode_modeinfo modes[64];
	struct drm_mode_card_res ids = {.crtc_id_ptr = (uintptr_t)&crtc_id, .count_crtcs = 1,
					.connector_id_ptr = (uintptr_t)&connector_id, .count_connectors = 1};
	struct drm_mode_get_connector connector = {0};
	struct drm_mode_fb_cmd2 framebuffer = {.pixel_format = DRM_FORMAT_XRGB8888};
	struct drm_mode_crtc crtc = {.count_connectors = 1, .mode_valid = 1};
	struct drm_virtgpu_3d_box box = {.d = 1};
	struct resource resource;
	char answer[8] = "";

	CHECK(fd >= 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_GETRESOURCES, &ids), 0);
	connector.connector_id = connector_id;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
	CHECK(connector.count_modes > 0 && connector.count_modes <= 64);
	connector.modes_ptr = (uintptr_t)modes;
	connector.encoders_ptr = (uintptr_t)encoders;
	connector.count_props = 0;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
	framebuffer.width = box.w = modes[0].hdisplay;
	framebuffer.height = box.h = modes[0].vdisplay;
	CHECK_EQ(try_resource(fd, FORMAT_BGRX, box.w, box.h, &resource), 0);
	for (uint32_t y = 0; y < box.h; y++)
		for (uint32_t x = 0; x < box.w; x++)
			resource.words[y * box.w + x] = pixel(x, y, 9);
	CHECK_EQ(to_host(fd, &resource, box, 0), 0);
	/* The renderer's contents are shown, not what the memory holds now. */
	memset(resource.words, 0, resource.bytes);
	framebuffer.handles[0] = resource.handle;
	framebuffer.pitches[0] = 4 * box.w;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_ADDFB2, &framebuffer), 0);
	crtc.crtc_id = crtc_id;
	crtc.fb_id = framebuffer.fb_id;
	crtc.set_connectors_ptr = (uintptr_t)&connector_id;
	crtc.mode = modes[0];
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_SETCRTC, &crtc), 0);
	printf("HOST compare %u %u 9 9 0 0 0 0\n", box.w, box.h);
	fflush(stdout);
	CHECK(read(0, answer, sizeof(answer) - 1) > 0);
	CHECK_EQ(strncmp(answer, "same", 4), 0);
}

/* ---- the life cycle ---- */

/* Draws until it cannot. */
static _Noreturn void draw_on(void)
{
	int fd = open_gl();

	for (int i = 0; clear(fd, i & 1, i & 2, i & 4) == 0; i++)
		;
	_exit(0);
}

static void the_device_unbinds_while_files_draw(void)
{
	static const char driver[] = "/sys/bus/pci/drivers/patchbay/";
	char path[64], device[16] = "";
	DIR *folder = opendir(driver);
	const struct dirent *entry;

	CHECK(folder != NULL);
	while ((entry = readdir(folder)) != NULL)
		if (strncmp(entry->d_name, "0000:", 5) == 0)
			snprintf(device, sizeof(device), "%.15s", entry->d_name);
	closedir(folder);
	for (int round = 0; round < 2; round++) {
		pid_t children[3];
		int64_t end;

		for (int i = 0; i < 3; i++) {
			children[i] = fork();
			if (children[i] == 0)
				draw_on();
		}
		guest_sleep_ms(300);
		snprintf(path, sizeof(path), "%sunbind", driver);
		write_to(path, device);
		end = guest_now_ns() + 10 * GUEST_SECOND;
		for (int i = 0; i < 3; i++) {
			CHECK_EQ(waitpid(children[i], NULL, 0), children[i]);
			CHECK(guest_now_ns() < end);
		}
		snprintf(path, sizeof(path), "%sbind", driver);
		write_to(path, device);
		CHECK_EQ(clear(open_gl(), true, false, true), 0);
	}
}

/* A file is lost with the firmware; a new one draws when the firmware is back. */
static void files_draw_when_the_firmware_is_back(void)
{
	const int64_t end = guest_now_ns() + 40 * GUEST_SECOND;
	int fd = open_gl(), idle = open_gl(), other = -1;
	struct drm_virtgpu_execbuffer args = {0};

	CHECK_EQ(clear(fd, true, false, true), 0);
	CHECK_EQ(clear(idle, true, false, true), 0);
	CHECK_EQ(draw_without_end(open_gl(), &args), 0);
	printf("HOST kill-mcu\n");
	fflush(stdout);
	while (clear(fd, true, true, true) == 0)
		CHECK(guest_now_ns() < end);
	do {
		CHECK(guest_now_ns() < end);
		if (other >= 0)
			close(other);
		guest_sleep_ms(50);
		other = open_gl();
	} while (clear(other, false, true, true) != 0);
	CHECK_EQ(guest_fence_wait(args.fence_fd, 10000), 0);
	CHECK(guest_fence_status(args.fence_fd) < 0);
	CHECK_EQ(clear(fd, true, true, true), EIO);
	CHECK_EQ(clear(idle, true, true, true), EIO);
	CHECK_EQ(clear(other, true, true, true), 0);
}

static void what_is_drawn_ends_with_the_card(void)
{
	int fd = open_gl();
	int64_t end;

	CHECK_EQ(clear(fd, true, false, true), 0);
	printf("HOST kill-card\n");
	fflush(stdout);
	end = guest_now_ns() + 30 * GUEST_SECOND;
	while (clear(fd, true, true, true) == 0)
		CHECK(guest_now_ns() < end);
	CHECK(guest_now_ns() < end);
}

#define ROW(name) {#name, name}
static const struct guest_test tests[] = {
	ROW(the_engine_says_what_it_is),
	ROW(a_triangle_reads_back),
	ROW(transfers_go_both_ways),
	ROW(fences_go_in_and_out),
	ROW(wrong_arguments_are_refused),
	ROW(a_wrong_stream_costs_its_file_alone),
	ROW(a_resource_that_cannot_be_costs_its_file_alone),
	ROW(a_renderer_may_rest),
	ROW(a_hang_costs_its_file_alone),
	ROW(resources_of_other_files_are_not_there),
	ROW(many_files_draw),
	ROW(a_file_may_close_while_it_draws),
	ROW(arguments_of_chance_harm_no_other_file),
	ROW(a_resource_is_shown),
	ROW(the_device_unbinds_while_files_draw),
	ROW(files_draw_when_the_firmware_is_back),
	ROW(what_is_drawn_ends_with_the_card),
};

int main(int argc, char **argv)
{
	return guest_run(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
