/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the tests of i915's uAPI share: the module has the parameter i915=1. */
#ifndef PBD_TEST_I915_H
#define PBD_TEST_I915_H

#include <drm/i915_drm.h>
#include <stdint.h>

/* What fill() leaves in each word. */
#define POISON 0xdeadbeefu
/* Contents that are looked for in a dump. */
#define SIGN 0x51671500u

struct buffer {
	uint32_t handle;
	uint32_t words;
	uint32_t *map;
};

/* An EXECBUFFER2 in the making. */
struct batch {
	struct drm_i915_gem_execbuffer2 args;
	struct drm_i915_gem_exec_object2 *objects;
	struct drm_i915_gem_relocation_entry *relocs; /* of all objects, in order */
	uint32_t reloc_count;
};

int open_i915(void);
struct buffer make_buffer(int fd, uint32_t bytes);
void free_buffer(int fd, struct buffer *buffer);
void fill(const struct buffer *buffer);
struct batch make_batch(uint32_t objects, uint32_t relocs);
void free_batch(struct batch *batch);
/* Adds a relocation to the last object that has any, or to a later one. */
void add_reloc(struct batch *batch, uint32_t object, uint32_t target, uint32_t word, uint32_t delta);
/* 0, or the errno of EXECBUFFER2. */
int execute(int fd, struct batch *batch);
void wait_idle(int fd, uint32_t handle);
/* A batch with two relocations in its first object; and whether one with two objects is carried out. */
struct batch good_batch(const struct buffer *buffers, uint32_t objects);
void check_good(int fd, const struct buffer *buffers);

#endif
