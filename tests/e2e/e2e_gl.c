/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/e2e/e2e_gl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hal/engine.h"
#include "hal/engine/gl_packets.h"
#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "tests/e2e/e2e_board.h"
#include "tests/e2e/gl_endless.h"

#define BUFFER_BYTES  16384u
#define PATCHES       16u
#define RING_ENTRIES  16u
#define TEXTURE_2D    2u
#define RENDER_TARGET 2u
#define COLOR0        4u
#define TRIANGLES     4u
#define ONE           0x3f800000u
/* Header of a virgl command. */
#define COMMAND(number, kind, words) ((uint32_t)(words) << 16 | (uint32_t)(kind) << 8 | (uint32_t)(number))
enum { CREATE = 1, BIND = 2, VIEWPORT = 4, CLEAR = 7, DRAW = 8, BIND_SHADER = 31 };
enum { BLEND = 1, RASTERIZER = 2, DEPTH = 3, SHADER = 4, ELEMENTS = 5 };

const struct e2e_gl_shape e2e_gl_picture = {TEXTURE_2D, E2E_GL_FORMAT, RENDER_TARGET, E2E_GL_WIDTH,
					    E2E_GL_HEIGHT};

static const char *renderer(void)
{
	static char path[2 * E2E_PATH_BYTES];

	if (path[0] == '\0') {
		const char *slash = strrchr(E2E_PATCHBAY, '/');

		snprintf(path, sizeof(path), "%.*s/../qemu/patchbay-renderer", (int)(slash - E2E_PATCHBAY),
			 E2E_PATCHBAY);
	}
	return path;
}

bool e2e_gl_possible(void)
{
	struct e2e_output output;

	if (access(renderer(), X_OK) != 0) {
		print_message("skipped: libvirglrenderer-dev was not there when this was built\n");
		return false;
	}
	setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
	setenv("GALLIUM_DRIVER", "llvmpipe", 1);
	e2e_collect(e2e_spawn(renderer(), E2E_ARGUMENT_LIST("--check"), NULL), &output);
	if (output.code != 0)
		print_message("skipped: virglrenderer cannot draw here: %s\n", output.err);
	return output.code == 0;
}

void e2e_gl_card_start(struct e2e_card *card, uint32_t restarts)
{
	e2e_gl_card_start_in(card, restarts, NULL);
}

struct pb_card_options e2e_gl_card_options(struct e2e_card *card)
{
	struct pb_card_options options = e2e_card_options();

	e2e_path(card->socket, "card");
	options.socket = card->socket;
	options.renderer = renderer();
	options.quiet = true;
	return options;
}

void e2e_gl_card_start_in(struct e2e_card *card, uint32_t restarts, const char *directory)
{
	struct pb_card_options options = e2e_gl_card_options(card);

	options.restarts = restarts;
	options.directory = directory;
	assert_int_equal(pb_card_start(&options, &card->pid), 0);
}

void e2e_gl_open(struct e2e_gl *gl, struct e2e_host *host)
{
	e2e_gl_open_with(gl, host, PB_PRIORITY_NORMAL);
}

void e2e_gl_open_with(struct e2e_gl *gl, struct e2e_host *host, uint32_t priority)
{
	const struct pb_queue_request request = {.entries = RING_ENTRIES, .priority = priority};

	memset(gl, 0, sizeof(*gl));
	gl->host = host;
	assert_int_equal(pb_context_create(&host->channel, &gl->context), PB_ERROR_OK);
	gl->owner = PB_ENGINE_OWNER(host->link->channel, gl->context & 0xffffu);
	assert_int_equal(pb_queue_create_with(&gl->queue, &host->channel, &host->system, &request),
			 PB_ERROR_OK);
	assert_int_equal(pb_dma_open(&gl->builder, &gl->queue, gl->context, &host->system, &host->system,
				     BUFFER_BYTES, PATCHES),
			 PB_ERROR_OK);
	assert_int_equal(pb_memory_allocate(&host->video, E2E_GL_BYTES, PB_PAGE_BYTES, &gl->pixels),
			 PB_ERROR_OK);
}

static bool is_renderer(pid_t pid)
{
	char path[64], target[2 * E2E_PATH_BYTES];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	length = readlink(path, target, sizeof(target) - 1u);
	if (length < 0)
		return false;
	target[length] = '\0';
	return strstr(target, "patchbay-renderer") != NULL;
}

size_t e2e_gl_renderers(const struct e2e_card *card, pid_t *pids, size_t most)
{
	pid_t children[32];
	size_t count = e2e_children(card->pid, children, 32), found = 0;

	for (size_t i = 0; i < count && found < most; i++) {
		if (is_renderer(children[i]))
			pids[found++] = children[i];
	}
	return found;
}

/* ---- paging ---- */

uint32_t e2e_gl_page(const struct e2e_gl *gl, uint32_t page)
{
	return (uint32_t)(gl->host->video.request.gpu_base / PB_PAGE_BYTES) + page;
}

enum pb_error e2e_gl_paging(struct e2e_gl *gl, const uint32_t *words, uint32_t count)
{
	struct pb_dma *builder = &gl->host->builders[0];
	struct pb_descriptor descriptor = {.flags = PB_FLAG_PAGING, .fence_id = 1, .dma_end = 4 * count};
	struct pb_fence fence;
	enum pb_error error;

	pb_dma_begin(builder);
	for (uint32_t i = 0; i < count; i++)
		pb_dma_word(builder, words[i]);
	assert_int_equal(builder->error, PB_ERROR_OK);
	descriptor.dma_address_low = (uint32_t)builder->buffer.os_address;
	descriptor.dma_address_high = (uint32_t)(builder->buffer.os_address >> 32);
	descriptor.dma_segment = PB_SEGMENT_SYSTEM;
	descriptor.dma_size = builder->buffer.bytes;
	assert_int_equal(pb_queue_submit(&gl->host->queues[0], &descriptor), PB_ERROR_OK);
	error = pb_queue_wait(&gl->host->queues[0], gl->host->queues[0].timeline, E2E_PATIENCE_US, &fence);
	return error == PB_ERROR_OK ? (enum pb_error)fence.status : error;
}

enum pb_error e2e_gl_bind(struct e2e_gl *gl, uint32_t id, uint32_t page, const struct e2e_gl_shape *shape)
{
	const uint32_t words[] = {PB_PACKET(PB_PACKET_GL_BIND, PB_PACKET_GL_BIND_WORDS),
				  gl->owner,
				  id,
				  e2e_gl_page(gl, page),
				  1,
				  shape->target,
				  shape->format,
				  shape->bind,
				  shape->width,
				  shape->height,
				  1,
				  1,
				  0,
				  0,
				  0};

	return e2e_gl_paging(gl, words, PB_PACKET_GL_BIND_WORDS);
}

enum pb_error e2e_gl_unbind(struct e2e_gl *gl, uint32_t id, uint32_t flags)
{
	const uint32_t words[] = {PB_PACKET(PB_PACKET_GL_UNBIND, PB_PACKET_GL_UNBIND_WORDS), gl->owner, id,
				  flags};

	return e2e_gl_paging(gl, words, PB_PACKET_GL_UNBIND_WORDS);
}

/* ---- commands ---- */

void e2e_gl_begin(struct e2e_gl *gl, const uint32_t *commands, uint32_t count)
{
	pb_dma_begin(&gl->builder);
	pb_dma_packet(&gl->builder, PB_PACKET_GL, 1 + count);
	for (uint32_t i = 0; i < count; i++)
		pb_dma_word(&gl->builder, commands[i]);
}

enum pb_error e2e_gl_finish(struct e2e_gl *gl)
{
	struct pb_fence fence;

	assert_int_equal(pb_dma_submit(&gl->builder, 1), PB_ERROR_OK);
	return pb_dma_wait(&gl->builder, E2E_PATIENCE_US, &fence);
}

enum pb_error e2e_gl_draw_to(struct e2e_gl *gl, uint32_t handle, uint32_t page)
{
	const uint32_t commands[] = {E2E_GL_CREATE_SURFACE,
				     handle,
				     e2e_gl_page(gl, page),
				     E2E_GL_FORMAT,
				     0,
				     0,
				     E2E_GL_SET_FRAMEBUFFER,
				     1,
				     0,
				     handle};

	e2e_gl_begin(gl, commands, sizeof(commands) / 4u);
	return e2e_gl_finish(gl);
}

void e2e_gl_add_clear(struct e2e_gl *gl, bool red, bool green, bool blue)
{
	const uint32_t commands[] = {
		COMMAND(CLEAR, 0, 8), COLOR0, red ? ONE : 0, green ? ONE : 0, blue ? ONE : 0, ONE, 0, 0, 0};

	pb_dma_packet(&gl->builder, PB_PACKET_GL, 1 + sizeof(commands) / 4u);
	for (uint32_t i = 0; i < sizeof(commands) / 4u; i++)
		pb_dma_word(&gl->builder, commands[i]);
}

enum pb_error e2e_gl_clear(struct e2e_gl *gl, bool red, bool green, bool blue)
{
	pb_dma_begin(&gl->builder);
	e2e_gl_add_clear(gl, red, green, blue);
	return e2e_gl_finish(gl);
}

enum pb_error e2e_gl_read(struct e2e_gl *gl, uint32_t page)
{
	struct pb_dma *builder = &gl->builder;

	memset(gl->pixels.bytes_host, 0x5a, E2E_GL_BYTES);
	pb_dma_begin(builder);
	pb_dma_packet(builder, PB_PACKET_GL_TRANSFER, PB_PACKET_GL_TRANSFER_WORDS);
	pb_dma_word(builder, 0);
	pb_dma_address(builder, &gl->pixels, 0, true);
	pb_dma_word(builder, E2E_GL_BYTES);
	pb_dma_word(builder, e2e_gl_page(gl, page));
	for (uint32_t i = 0; i < 4; i++)
		pb_dma_word(builder, 0);
	pb_dma_word(builder, E2E_GL_WIDTH);
	pb_dma_word(builder, E2E_GL_HEIGHT);
	pb_dma_word(builder, 1);
	pb_dma_word(builder, E2E_GL_WIDTH * 4u);
	pb_dma_word(builder, 0);
	return e2e_gl_finish(gl);
}

bool e2e_gl_is(const struct e2e_gl *gl, uint32_t pixel)
{
	const uint32_t *pixels = (const uint32_t *)(const void *)gl->pixels.bytes_host;

	for (uint32_t i = 0; i < E2E_GL_BYTES / 4u; i++) {
		if (pb_shared_read32(&pixels[i]) != pixel)
			return e2e_fail("pixel %u is 0x%08x, not 0x%08x", i, pb_shared_read32(&pixels[i]),
					pixel);
	}
	return true;
}

/* ---- a shader without end ---- */

/* A triangle that covers everything, without vertices in memory. */
static const char vertex_shader[] = "VERT\n"
				    "DCL SV[0], VERTEXID\n"
				    "DCL OUT[0], POSITION\n"
				    "DCL TEMP[0..1]\n"
				    "IMM[0] UINT32 {1, 0, 0, 0}\n"
				    "IMM[1] FLT32 {4.0, -1.0, 0.0, 1.0}\n"
				    "  0: AND TEMP[0].x, SV[0].xxxx, IMM[0].xxxx\n"
				    "  1: USHR TEMP[0].y, SV[0].xxxx, IMM[0].xxxx\n"
				    "  2: U2F TEMP[1].xy, TEMP[0].xyyy\n"
				    "  3: MAD OUT[0].xy, TEMP[1].xyyy, IMM[1].xxxx, IMM[1].yyyy\n"
				    "  4: MOV OUT[0].zw, IMM[1].zzzw\n"
				    "  5: END\n";

static uint32_t add(uint32_t *words, uint32_t at, const uint32_t *from, uint32_t count)
{
	memcpy(&words[at], from, 4u * count);
	return at + count;
}

static uint32_t add_shader(uint32_t *words, uint32_t at, uint32_t handle, uint32_t stage, const char *text)
{
	const uint32_t bytes = (uint32_t)strlen(text) + 1u;
	const uint32_t count = (bytes + 3u) / 4u;
	const uint32_t head[] = {COMMAND(CREATE, SHADER, 5u + count), handle, stage, bytes, 300, 0};
	const uint32_t bind[] = {COMMAND(BIND_SHADER, 0, 2), handle, stage};

	at = add(words, at, head, 6);
	memset(&words[at], 0, 4u * count);
	memcpy(&words[at], text, bytes);
	return add(words, at + count, bind, 3);
}

void e2e_gl_draw_without_end(struct e2e_gl *gl)
{
	static const uint32_t state[] = {COMMAND(CREATE, BLEND, 11), 101, 0, 0, 0x78000000, 0, 0, 0, 0, 0, 0,
					 0, COMMAND(BIND, BLEND, 1), 101, COMMAND(CREATE, RASTERIZER, 9), 102,
					 0x20000002, ONE, 0, 0, ONE, 0, 0, 0, COMMAND(BIND, RASTERIZER, 1),
					 102, COMMAND(CREATE, DEPTH, 5), 103, 0, 0, 0, 0,
					 COMMAND(BIND, DEPTH, 1), 103, COMMAND(CREATE, ELEMENTS, 1), 104,
					 COMMAND(BIND, ELEMENTS, 1), 104,
					 /* 4096 by 4096 */
					 COMMAND(VIEWPORT, 0, 7), 0, 0x45000000, 0x45000000, 0x3f000000,
					 0x45000000, 0x45000000, 0x3f000000};
	static const uint32_t draw[] = {COMMAND(DRAW, 0, 12), 0, 3, TRIANGLES, 0, 1, 0, 0, 0, 0, 0, 2, 0};
	uint32_t words[1024];
	uint32_t count = add(words, 0, state, sizeof(state) / 4u);

	count = add_shader(words, count, 105, 0, vertex_shader);
	count = add_shader(words, count, 106, 1, E2E_GL_ENDLESS);
	count = add(words, count, draw, sizeof(draw) / 4u);
	e2e_gl_begin(gl, words, count);
	assert_int_equal(pb_dma_submit(&gl->builder, 9), PB_ERROR_OK);
}
