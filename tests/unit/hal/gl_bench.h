/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A GL engine with renderers that draw nothing, on the memory of engine_bench.h.
 */
#ifndef PB_TESTS_UNIT_GL_BENCH_H
#define PB_TESTS_UNIT_GL_BENCH_H

#include "hal/engine/gl_packets.h"
#include "hal/engine_model/gl_null.h"
#include "qemu/engine_gl.h"
#include "tests/unit/hal/engine_bench.h"

#define GL_OWNERS    3u
#define GL_RESOURCES 4u

/* Pages of channel 1: range 0 is 15 pages from PAGE(1) on, range 1 adjoins it with 4, behind which is range 2's address. */
#define PAGE(n)                      (uint32_t)((BENCH_GPU >> 12) + (n))
#define PAGE_END                     PAGE(20)
#define AT_PAGE(n)                   (BENCH_GPU + 4096u * (uint64_t)(n))
#define OWNER(c)                     PB_ENGINE_OWNER(1, (c))
#define SHAPE                        2, 67, 10, 8, 8, 1, 1, 0, 0, 0
#define BIND(owner, id, page, pages) PB_PACKET(PB_PACKET_GL_BIND, 15), owner, id, page, pages, SHAPE
#define UNBIND(owner, id, flags)     PB_PACKET(PB_PACKET_GL_UNBIND, 4), owner, id, flags
#define END(owner)                   PB_PACKET(PB_PACKET_GL_END, 2), owner
#define TRANSFER(flags, at, bytes, page)                                                                     \
	PB_PACKET(PB_PACKET_GL_TRANSFER, 15), flags, at, bytes, page, 0, 0, 0, 0, 8, 8, 1, 0, 0
#define CAPS(set, at, bytes) PB_PACKET(PB_PACKET_GL_CAPS, 6), set, 1, at, bytes
#define GL(words)            PB_PACKET(PB_PACKET_GL, 1 + (words))
/* Commands of a run, from public numbers of virgl: the header has the payload's length, the kind, and the number. */
#define COMMAND(number, kind, words) (uint32_t)((words) << 16 | (kind) << 8 | (number))
#define COPY_REGION(to, from)        COMMAND(17, 0, 13), to, 0, 0, 0, 0, from, 0, 0, 0, 0, 8, 8, 1
#define CLEAR_TEXTURE(page, color)   COMMAND(47, 0, 12), page, 0, 0, 0, 0, 8, 8, 1, color, 0, 0, 0
#define SURFACE(handle, page)        COMMAND(1, 8, 5), handle, page, 67, 0, 0
#define FRAMEBUFFER(surface)         COMMAND(5, 0, 3), 1, 0, surface
#define CLEAR                        COMMAND(7, 0, 8), 4, 0, 0, 0, 0, 0, 0, 0
#define TRANSFER3D(page)             COMMAND(43, 0, 13), page, 0, 0, 0, 0, 0, 0, 0, 8, 8, 1, 0, 1

/** Where bench_submit_as() puts a packet. */
#define PACKET_AT (BENCH_GPU + BENCH_BUFFER)

struct gl_bench {
	struct bench bench;
	struct pb_gl_null_renderer renderers[GL_OWNERS];
	uint32_t words[GL_OWNERS * GL_RESOURCES];
	uint32_t clock;
	struct pb_gl_null null;
	struct pb_engine_gl *gl;
	struct pb_engine_gl_node *node;
};

/** Starts it on a node of that kind. */
void gl_bench_start_kind(struct gl_bench *gl, uint32_t kind);
/** Starts it on a 3D node. */
void gl_bench_start(struct gl_bench *gl);
void gl_bench_stop(struct gl_bench *gl);
/** Makes the engine of a bench a node of the GL engine. */
void gl_bench_start_node(struct gl_bench *gl, struct bench *bench, struct pb_engine_gl_node **node,
			 uint32_t registers, uint32_t kind);
/** All that was fed is done. */
void gl_bench_done(const struct gl_bench *gl);
/** Fails unless a resource, read through its page, has this content. */
void gl_bench_expect(struct gl_bench *gl, uint32_t owner, uint32_t page, uint32_t value);

/* Words are run for a context of channel 1, or for its paging queue. */
#define RUN(gl, owner, ...)                                                                                  \
	bench_submit_as(&(gl)->bench, owner, (const uint32_t[]){__VA_ARGS__},                                \
			sizeof((const uint32_t[]){__VA_ARGS__}) / 4)
#define PAGE_IN(gl, ...) RUN(gl, BENCH_PAGING, __VA_ARGS__)

#endif
