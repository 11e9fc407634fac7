// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Calls of i915's uAPI of which each allocation fails: test_fail.c. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "failing.h"
#include "guest.h"
#include "i915.h"
#include "tests.h"

static int call_i915_create(const struct failing *failing)
{
	struct drm_i915_gem_create create = {.size = 16384};
	int fd = open_i915(), error = failing_ioctl(failing, fd, DRM_IOCTL_I915_GEM_CREATE, &create);

	again(error, fd, DRM_IOCTL_I915_GEM_CREATE, &create);
	CHECK_EQ(create.handle, 1);
	close(fd);
	return of_new_file(error);
}

static int call_i915_context(const struct failing *failing)
{
	struct drm_i915_gem_context_create_ext create = {0};
	int fd = open_i915(), error = failing_ioctl(failing, fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create);

	again(error, fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create);
	CHECK(create.ctx_id != 0);
	close(fd);
	return error;
}

static void release(int fd, struct buffer *buffers, struct batch *batch)
{
	free_batch(batch);
	for (uint32_t i = 0; i < 2; i++)
		free_buffer(fd, &buffers[i]);
	close(fd);
}

/* A call that has failed has patched nothing. */
static int call_i915_execute(const struct failing *failing)
{
	int fd = open_i915(), error;
	struct buffer buffers[2] = {make_buffer(fd, 8192), make_buffer(fd, 8192)};
	struct batch batch = good_batch(buffers, 2);

	fill(&buffers[0]);
	error = failing_ioctl(failing, fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &batch.args);
	if (error != 0) {
		wait_idle(fd, buffers[0].handle);
		CHECK_EQ(buffers[0].map[3], POISON);
		CHECK_EQ(buffers[0].map[5], POISON);
	}
	again(error, fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &batch.args);
	wait_idle(fd, buffers[0].handle);
	CHECK_EQ(buffers[0].map[3], (uint32_t)batch.objects[0].offset + 8);
	CHECK_EQ(buffers[0].map[5], (uint32_t)batch.objects[1].offset + 12);
	release(fd, buffers, &batch);
	return error;
}

/* With a fence to wait for, and one in return. */
static int call_i915_fences(const struct failing *failing)
{
	int fd = open_i915(), error;
	struct buffer buffers[2] = {make_buffer(fd, 8192), make_buffer(fd, 8192)};
	struct batch batch = good_batch(buffers, 2);
	struct guest_foreign foreign = guest_foreign();

	guest_foreign_signal(&foreign);
	batch.args.flags |= I915_EXEC_FENCE_IN | I915_EXEC_FENCE_OUT;
	batch.args.rsvd2 = (uint32_t)foreign.file;
	error = failing_ioctl(failing, fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &batch.args);
	again(error, fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &batch.args);
	CHECK_EQ(guest_fence_wait((int)(batch.args.rsvd2 >> 32)), 0);
	CHECK_EQ(guest_fence_status((int)(batch.args.rsvd2 >> 32)), 1);
	CHECK_EQ(buffers[0].map[3], (uint32_t)batch.objects[0].offset + 8);
	close((int)(batch.args.rsvd2 >> 32));
	close(foreign.file);
	close(foreign.fd);
	release(fd, buffers, &batch);
	return error;
}

#define PBD_FAIL_TEST(name)                                                                                  \
	void fail_##name(void)                                                                               \
	{                                                                                                    \
		each_allocation(call_##name);                                                                \
	}

PBD_FAIL_I915(PBD_FAIL_TEST)
