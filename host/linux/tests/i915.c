// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What the tests of i915's uAPI share. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "i915.h"

int open_i915(void)
{
	int fd = guest_open_primary("i915");

	CHECK(fd >= 0);
	return fd;
}

struct buffer make_buffer(int fd, uint32_t bytes)
{
	struct drm_i915_gem_create create = {.size = bytes};
	struct drm_i915_gem_mmap_offset offset = {.flags = I915_MMAP_OFFSET_WB};
	struct buffer buffer;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_CREATE, &create), 0);
	offset.handle = create.handle;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &offset), 0);
	buffer = (struct buffer){.handle = create.handle, .words = (uint32_t)(create.size / 4)};
	buffer.map = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset.offset);
	CHECK(buffer.map != MAP_FAILED);
	return buffer;
}

void free_buffer(int fd, struct buffer *buffer)
{
	struct drm_gem_close arguments = {.handle = buffer->handle};

	munmap(buffer->map, buffer->words * 4);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &arguments), 0);
}

void fill(const struct buffer *buffer)
{
	for (uint32_t i = 0; i < buffer->words; i++)
		buffer->map[i] = POISON;
}

struct batch make_batch(uint32_t objects, uint32_t relocs)
{
	struct batch batch = {.args = {.buffer_count = objects, .flags = I915_EXEC_RENDER}};

	batch.objects = calloc(objects, sizeof(*batch.objects));
	batch.relocs = calloc(relocs + 1, sizeof(*batch.relocs));
	CHECK(batch.objects && batch.relocs);
	batch.args.buffers_ptr = (uintptr_t)batch.objects;
	return batch;
}

void free_batch(struct batch *batch)
{
	free(batch->objects);
	free(batch->relocs);
}

/* Adds a relocation to the last object that has any, or to a later one. */
void add_reloc(struct batch *batch, uint32_t object, uint32_t target, uint32_t word, uint32_t delta)
{
	struct drm_i915_gem_exec_object2 *patched = &batch->objects[object];

	if (patched->relocation_count++ == 0)
		patched->relocs_ptr = (uintptr_t)&batch->relocs[batch->reloc_count];
	batch->relocs[batch->reloc_count++] = (struct drm_i915_gem_relocation_entry){
		.target_handle = target, .delta = delta, .offset = word * 4ull, .read_domains = I915_GEM_DOMAIN_RENDER};
}

int execute(int fd, struct batch *batch)
{
	return guest_ioctl(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &batch->args);
}

void wait_idle(int fd, uint32_t handle)
{
	struct drm_i915_gem_wait wait = {.bo_handle = handle, .timeout_ns = GUEST_PATIENCE};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_WAIT, &wait), 0);
}

/* Two objects, two relocations in the first one. */
struct batch good_batch(const struct buffer *buffers, uint32_t objects)
{
	struct batch batch = make_batch(objects, 2);

	batch.args.flags |= I915_EXEC_HANDLE_LUT;
	for (uint32_t i = 0; i < objects; i++)
		batch.objects[i].handle = buffers[i].handle;
	add_reloc(&batch, 0, 0, 3, 8);
	add_reloc(&batch, 0, objects - 1, 5, 12);
	return batch;
}

void check_good(int fd, const struct buffer *buffers)
{
	struct batch batch = good_batch(buffers, 2);

	CHECK_EQ(execute(fd, &batch), 0);
	wait_idle(fd, buffers[0].handle);
	CHECK_EQ(buffers[0].map[3], (uint32_t)batch.objects[0].offset + 8);
	CHECK_EQ(buffers[0].map[5], (uint32_t)batch.objects[1].offset + 12);
	free_batch(&batch);
}
