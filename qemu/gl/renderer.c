/* SPDX-License-Identifier: MIT */
/*
 * A renderer: one virgl context of virglrenderer, in a process of its own. It does what its card asks for on its socket
 * (qemu/gl/protocol.h), and ends with it.
 *
 * renderer          with the two descriptors of a renderer
 * renderer --check  exit status 0 if virglrenderer can draw here
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <virglrenderer.h>

#include "hal/engine_model/gl.h"
#include "qemu/gl/protocol.h"

/* The only one. */
#define CONTEXT 1u
/* Between two questions whether a fence has signalled, in microseconds: short at first. */
#define FIRST_SLEEP_US 20
#define LAST_SLEEP_US  500

/* As virglrenderer has it; its public header only names it. */
struct virgl_box {
	uint32_t x, y, z;
	uint32_t w, h, d;
};

struct renderer {
	uint8_t *window;
	uint32_t fence; /* the last one asked for */
	uint32_t done;  /* the last one that signalled */
	int signals;    /* readable when one has signalled; -1: it has to be asked for */
};

static void write_fence(void *cookie, uint32_t fence)
{
	struct renderer *renderer = cookie;

	renderer->done = fence;
}

/* Whether virglrenderer has declared the context in error: it draws nothing any more, and the program is not told. */
static bool in_error;

/* Prints nothing. Only a message says that the context is in error. */
static void note_error(const char *format, va_list arguments)
{
	(void)arguments;
	in_error = in_error || strstr(format, "context error reported") != NULL;
}

/* Before anything that a program asks for: what it takes too much of is missing here alone. */
static bool limit(void)
{
	const struct rlimit memory = {PB_RENDERER_MEMORY_BYTES, PB_RENDERER_MEMORY_BYTES};
	const struct rlimit files = {PB_RENDERER_FILES, PB_RENDERER_FILES};

	return setrlimit(RLIMIT_DATA, &memory) == 0 && setrlimit(RLIMIT_NOFILE, &files) == 0;
}

static bool start(struct renderer *renderer)
{
	static const char name[] = "patchbay";
	static struct virgl_renderer_callbacks callbacks = {.version = 1, .write_fence = write_fence};

	virgl_set_debug_callback(note_error);
	/* A thread of virglrenderer waits for fences, where it can. */
	if (virgl_renderer_init(renderer,
				VIRGL_RENDERER_USE_EGL | VIRGL_RENDERER_USE_SURFACELESS |
					VIRGL_RENDERER_THREAD_SYNC,
				&callbacks) != 0)
		return false;
	renderer->signals = virgl_renderer_get_poll_fd();
	return virgl_renderer_context_create(CONTEXT, sizeof(name) - 1u, name) == 0;
}

/* Sleeps until a fence may have signalled: for so long at most. */
static void await_signal(const struct renderer *renderer, long microseconds)
{
	struct pollfd poller = {.fd = renderer->signals, .events = POLLIN};
	const struct timespec time = {.tv_nsec = microseconds * 1000};

	if (renderer->signals >= 0)
		(void)poll(&poller, 1, -1);
	else
		nanosleep(&time, NULL);
}

/* Waits until all commands so far have been carried out, and not only taken. */
static bool finish(struct renderer *renderer)
{
	long pause = FIRST_SLEEP_US;

	if (virgl_renderer_create_fence((int)++renderer->fence, CONTEXT) != 0)
		return false;
	for (;;) {
		virgl_renderer_poll();
		if (renderer->done == renderer->fence)
			return true;
		await_signal(renderer, pause);
		pause = pause < LAST_SLEEP_US ? pause + pause / 4 : pause;
	}
}

/* A command that is refused ends the renderer. What follows an error that the program was not told of does nothing. */
static bool run(struct renderer *renderer, const struct pb_renderer_request *request)
{
	const bool was_in_error = in_error;

	if (request->count > PB_GL_PACKET_WORDS_MAX)
		return false;
	if (virgl_renderer_submit_cmd(renderer->window, CONTEXT, (int)request->count) != 0)
		return was_in_error;
	return finish(renderer);
}

static bool create(const struct pb_renderer_request *request)
{
	const uint32_t *words = request->words;
	struct virgl_renderer_resource_create_args arguments = {
		.handle = request->resource,
		.target = words[PB_GL_TEMPLATE_TARGET],
		.format = words[PB_GL_TEMPLATE_FORMAT],
		.bind = words[PB_GL_TEMPLATE_BIND],
		.width = words[PB_GL_TEMPLATE_WIDTH],
		.height = words[PB_GL_TEMPLATE_HEIGHT],
		.depth = words[PB_GL_TEMPLATE_DEPTH],
		.array_size = words[PB_GL_TEMPLATE_ARRAY_SIZE],
		.last_level = words[PB_GL_TEMPLATE_LAST_LEVEL],
		.nr_samples = words[PB_GL_TEMPLATE_SAMPLES],
		.flags = words[PB_GL_TEMPLATE_FLAGS],
	};

	if (virgl_renderer_resource_create(&arguments, NULL, 0) != 0)
		return false;
	virgl_renderer_ctx_attach_resource((int)CONTEXT, (int)request->resource);
	return true;
}

static bool destroy(const struct pb_renderer_request *request)
{
	virgl_renderer_ctx_detach_resource((int)CONTEXT, (int)request->resource);
	virgl_renderer_resource_unref(request->resource);
	return true;
}

static bool transfer(struct renderer *renderer, const struct pb_renderer_request *request)
{
	const uint32_t *words = request->words;
	struct virgl_box box = {words[1], words[2], words[3], words[4], words[5], words[6]};
	struct iovec memory = {.iov_base = renderer->window + PB_RENDERER_DATA_OFFSET,
			       .iov_len = request->bytes};

	if (request->bytes > PB_GL_TRANSFER_BYTES_MAX)
		return false;
	/* A context in error reads nothing. */
	if (request->kind == PB_ENGINE_GL_GET && in_error)
		memset(memory.iov_base, 0, memory.iov_len);
	if (request->kind == PB_ENGINE_GL_GET)
		return virgl_renderer_transfer_read_iov(request->resource, CONTEXT, words[0], words[7],
							words[8], &box, 0, &memory, 1) == 0 ||
		       in_error;
	if (virgl_renderer_transfer_write_iov(request->resource, CONTEXT, (int)words[0], words[7], words[8],
					      &box, 0, &memory, 1) != 0)
		return in_error;
	return finish(renderer);
}

static bool caps(struct renderer *renderer, const struct pb_renderer_request *request)
{
	uint8_t *data = renderer->window + PB_RENDERER_DATA_OFFSET;
	uint32_t version, bytes;

	virgl_renderer_get_cap_set(request->words[0], &version, &bytes);
	if (bytes == 0 || bytes > PB_GL_CAPS_BYTES_MAX || request->words[1] > version)
		return false;
	memset(data, 0, PB_GL_CAPS_BYTES_MAX);
	virgl_renderer_fill_caps(request->words[0], request->words[1], data);
	return true;
}

static bool serve(struct renderer *renderer, const struct pb_renderer_request *request)
{
	switch (request->kind) {
	case PB_ENGINE_GL_RUN:
		return run(renderer, request);
	case PB_ENGINE_GL_CREATE:
		return create(request);
	case PB_ENGINE_GL_DESTROY:
		return destroy(request);
	case PB_ENGINE_GL_PUT:
	case PB_ENGINE_GL_GET:
		return transfer(renderer, request);
	case PB_ENGINE_GL_CAPS:
		return caps(renderer, request);
	default:
		return false;
	}
}

/* @return the exit status, when the card has gone */
static int loop(struct renderer *renderer)
{
	struct pb_renderer_request request;

	for (;;) {
		const ssize_t got = recv(PB_RENDERER_SOCKET, &request, sizeof(request), 0);
		struct pb_renderer_reply reply = {.serial = request.serial};

		if (got < 0 && errno == EINTR)
			continue;
		if (got != (ssize_t)sizeof(request))
			return got == 0 ? 0 : 1;
		reply.serial = request.serial;
		reply.status = serve(renderer, &request) ? PB_RENDERER_DONE : PB_RENDERER_REFUSED;
		if (send(PB_RENDERER_SOCKET, &reply, sizeof(reply), MSG_NOSIGNAL) != (ssize_t)sizeof(reply))
			return 1;
	}
}

int main(int argc, char **argv)
{
	struct renderer renderer = {.fence = 0};

	if (!limit() || !start(&renderer)) {
		fprintf(stderr, "patchbay-renderer: virglrenderer finds no OpenGL (EGL, surfaceless) here\n");
		return 1;
	}
	if (argc == 2 && strcmp(argv[1], "--check") == 0)
		return 0;
	renderer.window = mmap(NULL, PB_RENDERER_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			       PB_RENDERER_WINDOW, 0);
	if (renderer.window == MAP_FAILED) {
		fprintf(stderr, "patchbay-renderer: cannot map its window: %s\n", strerror(errno));
		return 1;
	}
	return loop(&renderer);
}
