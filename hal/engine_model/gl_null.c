/* SPDX-License-Identifier: MIT */
#include "hal/engine_model/gl_null.h"

#include <stddef.h>

#include "hal/gl/stream.h"
#include "hal/shared.h"

/* Words of the two commands that have an effect here. */
#define COPY_TO     1u
#define COPY_FROM   6u
#define CLEAR_OF    1u
#define CLEAR_COLOR 9u

/* The contents of a resource; the low half of its handle counts from 1. */
static uint32_t *contents(const struct pb_gl_null *null, uint32_t renderer, uint32_t handle)
{
	return &null->words[(size_t)renderer * null->resource_count + (handle & 0xffffu) - 1u];
}

static void run(const struct pb_gl_null *null, uint32_t renderer, const struct pb_engine_gl_request *request)
{
	struct pb_gl_command command;

	for (uint32_t at = 0; at < request->count; at += command.count) {
		if (pb_gl_read(request->words, request->count, at, &command) != PB_GL_STATUS_OK)
			return;
		if (command.number == PB_GL_RESOURCE_COPY_REGION)
			*contents(null, renderer, command.words[COPY_TO]) =
				*contents(null, renderer, command.words[COPY_FROM]);
		else if (command.number == PB_GL_CLEAR_TEXTURE)
			*contents(null, renderer, command.words[CLEAR_OF]) = command.words[CLEAR_COLOR];
	}
}

static void put(void *context, uint32_t renderer, uint32_t offset, const uint32_t *words, uint32_t bytes)
{
	const struct pb_gl_null *null = context;

	if (offset == 0 && bytes != 0)
		null->renderers[renderer].data = pb_shared_read32(&words[0]);
}

static void begin(void *context, uint32_t renderer, const struct pb_engine_gl_request *request)
{
	const struct pb_gl_null *null = context;
	struct pb_gl_null_renderer *own = &null->renderers[renderer];

	own->polls = null->delay;
	switch (request->kind) {
	case PB_ENGINE_GL_RUN:
		run(null, renderer, request);
		break;
	case PB_ENGINE_GL_CREATE:
		*contents(null, renderer, request->resource) = 0;
		break;
	case PB_ENGINE_GL_PUT:
		if (request->bytes != 0)
			*contents(null, renderer, request->resource) = own->data;
		break;
	case PB_ENGINE_GL_GET:
		own->data = *contents(null, renderer, request->resource);
		break;
	case PB_ENGINE_GL_CAPS:
		own->data = request->words[0];
		break;
	case PB_ENGINE_GL_DESTROY:
		break;
	}
}

static enum pb_engine_gl_answer poll(void *context, uint32_t renderer, uint32_t *used)
{
	const struct pb_gl_null *null = context;

	/* Every poll is a microsecond of its time. */
	*used += 1;
	if (null->renderers[renderer].polls == 0)
		return PB_ENGINE_GL_DONE;
	null->renderers[renderer].polls--;
	return PB_ENGINE_GL_WORKS;
}

static void get(void *context, uint32_t renderer, uint32_t offset, uint32_t *words, uint32_t bytes)
{
	const struct pb_gl_null *null = context;

	(void)offset;
	for (uint32_t i = 0; i < bytes / 4u; i++)
		pb_shared_put32(&words[i], null->renderers[renderer].data);
}

static void end(void *context, uint32_t renderer)
{
	const struct pb_gl_null *null = context;

	null->renderers[renderer] = (struct pb_gl_null_renderer){.polls = 0};
}

static uint32_t now(void *context)
{
	const struct pb_gl_null *null = context;

	return pb_shared_read32(null->clock);
}

const struct pb_engine_gl_renderers pb_gl_null_renderers = {
	.put = put, .begin = begin, .poll = poll, .get = get, .end = end, .now = now};
