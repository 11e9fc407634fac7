/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the tests of the driver's OpenGL share: resources, streams of virgl commands, drawings. */
#ifndef PBD_TEST_GL_H
#define PBD_TEST_GL_H

#include <drm/virtgpu_drm.h>

#include "../guest.h"

#define FORMAT_BGRA 1u
#define FORMAT_BGRX 2u
/* Pixels of a test's resource, in each direction. */
#define SIDE 64u
/* Header of a virgl command. */
#define COMMAND(number, kind, words) ((uint32_t)(words) << 16 | (uint32_t)(kind) << 8 | (uint32_t)(number))
enum { CREATE = 1, BIND = 2, VIEWPORT = 4, FRAMEBUFFER = 5, CLEAR = 7, DRAW = 8, COPY_REGION = 17, BIND_SHADER = 31 };
enum { BLEND = 1, RASTERIZER = 2, DEPTH = 3, SHADER = 4, ELEMENTS = 5, SURFACE = 8 };
#define COLOR0 4u
/* Objects of the streams. */
enum { H_BLEND = 101, H_RASTERIZER, H_DEPTH, H_ELEMENTS, H_VERTEX, H_FRAGMENT, H_SURFACE };

struct gl_resource {
	uint32_t handle, number;
	uint32_t *words; /* mapped */
	size_t bytes;
};

/* The render node. */
int gl_open(void);
/* 0, or the errno. */
int gl_try_resource(int fd, uint32_t format, uint32_t width, uint32_t height, struct gl_resource *resource);
struct gl_resource gl_make_resource(int fd);
/* Maps the memory. Pre: handle and bytes are set. */
void gl_map(int fd, struct gl_resource *resource);
int gl_execute(int fd, const struct gl_resource *resource, const uint32_t *words, uint32_t count,
	       struct drm_virtgpu_execbuffer *args);
int gl_await_resource(int fd, const struct gl_resource *resource, uint32_t flags);
int gl_to_host(int fd, const struct gl_resource *resource, struct drm_virtgpu_3d_box box, uint32_t offset);
int gl_from_host(int fd, const struct gl_resource *resource, struct drm_virtgpu_3d_box box, uint32_t offset);
/* All of a test's resource. */
#define gl_whole ((struct drm_virtgpu_3d_box){.w = SIDE, .h = SIDE, .d = 1})
/* Reads all of a resource, whose memory held something else. */
int gl_try_read(int fd, const struct gl_resource *resource);
void gl_read_back(int fd, const struct gl_resource *resource);

/* A descriptor of the resource; the resource of a descriptor, as Mesa gets it: 0, or the errno. */
int gl_export(int fd, const struct gl_resource *resource);
int gl_try_import(int fd, int buffer, struct gl_resource *resource);
struct gl_resource gl_import(int fd, int buffer);
/* The file's resource in another file. */
struct gl_resource gl_share(int fd, const struct gl_resource *resource, int other);

struct gl_stream {
	uint32_t words[1024];
	uint32_t count;
};

void gl_add(struct gl_stream *stream, const uint32_t *words, uint32_t count);

#define GL_ADD(stream, ...)                                 \
	do {                                                \
		const uint32_t words_[] = {__VA_ARGS__};    \
		gl_add(stream, words_, sizeof(words_) / 4); \
	} while (0)

void gl_add_target(struct gl_stream *stream, uint32_t number);
void gl_add_clear(struct gl_stream *stream, bool red, bool green, bool blue);
/* A triangle over the lower left half of a square. @half: of its side, a float's bits */
void gl_add_triangle(struct gl_stream *stream, const char *fragment, uint32_t half);
/* Clears a new resource to a colour and checks it: whether the file can draw. */
int gl_clear(int fd, bool red, bool green, bool blue);
/* Draws what takes hours, with a fence. */
int gl_draw_without_end(int fd, struct drm_virtgpu_execbuffer *args);
/* Writes a text to a file of the system. */
void gl_write_to(const char *path, const char *text);
/* Asks what runs the machine for something, and waits until it is done. */

/* The tests; virtgpu.c has the table. */
void the_engine_says_what_it_is(void);
void a_triangle_reads_back(void);
void transfers_go_both_ways(void);
void fences_go_in_and_out(void);
void wrong_arguments_are_refused(void);
void a_wrong_stream_costs_its_file_alone(void);
void a_resource_that_cannot_be_costs_its_file_alone(void);
void a_renderer_may_rest(void);
void a_hang_costs_its_file_alone(void);
void fdinfo_says_who_draws(void);
void debugfs_says_what_a_client_does(void);
void files_see_what_others_draw(void);
void files_change_parts_of_a_picture(void);
void what_a_file_drew_outlives_it(void);
void a_writer_that_fails_costs_no_reader(void);
void a_writer_that_hangs_costs_no_reader(void);
void what_cannot_be_shared_is_refused(void);
void a_name_shares_a_resource(void);
void files_share_by_chance(void);
void files_take_turns(void);
void many_files_draw(void);
void a_file_may_close_while_it_draws(void);
void arguments_of_chance_harm_no_other_file(void);
void a_resource_is_shown(void);
void a_resource_of_another_file_is_shown(void);
void the_device_unbinds_while_files_draw(void);
void files_draw_when_the_firmware_is_back(void);
void what_is_drawn_ends_with_the_card(void);

#endif
