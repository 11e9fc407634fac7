// SPDX-License-Identifier: GPL-2.0 OR MIT
/* i915's uAPI: batches that are wrong, and arguments of chance. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../patchbay_i915.h"
#include "guest.h"
#include "i915.h"
#include "tests.h"

/* ---- what is refused ---- */

struct fault {
	const char *name;
	int error;
	void (*plant)(struct batch *batch);
};

#define FAULT(label, ...)                                                                                    \
	static void label(struct batch *batch)                                                              \
	{                                                                                                    \
		__VA_ARGS__;                                                                                 \
	}

FAULT(no_objects, batch->args.buffer_count = 0)
FAULT(many_objects, batch->args.buffer_count = 1025)
FAULT(no_memory_of_objects, batch->args.buffers_ptr = 4096)
FAULT(no_memory_of_relocs, batch->objects[0].relocs_ptr = 4096)
FAULT(many_relocs, batch->objects[0].relocation_count = 0x7fffffff)
FAULT(sum_of_relocs, batch->objects[0].relocation_count = batch->objects[1].relocation_count = 0x80000000)
FAULT(unknown_object, batch->objects[1].handle = 12345)
FAULT(object_twice, batch->objects[1].handle = batch->objects[0].handle)
FAULT(object_flags, batch->objects[1].flags = 1 << 20)
FAULT(pinned_object, batch->objects[1].flags = EXEC_OBJECT_PINNED)
FAULT(alignment, batch->objects[1].alignment = 8192)
FAULT(odd_alignment, batch->objects[1].alignment = 48)
FAULT(unknown_target, batch->relocs[1].target_handle = 2)
FAULT(misaligned, batch->relocs[1].offset = 2)
FAULT(outside, batch->relocs[1].offset = 4096)
FAULT(astride, batch->relocs[1].offset = 4094)
FAULT(far_outside, batch->relocs[1].offset = 0xfffffffffffffffc)
FAULT(write_domains, batch->relocs[1].write_domain = I915_GEM_DOMAIN_RENDER | I915_GEM_DOMAIN_SAMPLER)
FAULT(cpu_domain, batch->relocs[1].read_domains = I915_GEM_DOMAIN_CPU)
FAULT(unknown_flags, batch->args.flags |= 1ull << 40)
FAULT(video_ring, batch->args.flags = I915_EXEC_BSD | I915_EXEC_HANDLE_LUT)
FAULT(secure, batch->args.flags |= I915_EXEC_SECURE)
FAULT(batch_start, batch->args.batch_start_offset = 4)
FAULT(batch_end, batch->args.batch_start_offset = 4096)
FAULT(batch_length, batch->args.batch_len = 4104)
FAULT(cliprects, batch->args.num_cliprects = 1)
FAULT(context, batch->args.rsvd1 = 77)
FAULT(context_of_node, batch->args.rsvd1 = 1)
FAULT(wide_context, batch->args.rsvd1 = 1ull << 32)
FAULT(many_fences, batch->args.flags |= I915_EXEC_FENCE_ARRAY; batch->args.num_cliprects = 0x10000000)
FAULT(no_memory_of_fences, batch->args.flags |= I915_EXEC_FENCE_ARRAY; batch->args.num_cliprects = 1;
      batch->args.cliprects_ptr = 4096)
FAULT(no_fence, batch->args.flags |= I915_EXEC_FENCE_IN; batch->args.rsvd2 = 0)

#define ROW(label, error) {#label, error, label}
static const struct fault faults[] = {
	ROW(no_objects, EINVAL),	ROW(many_objects, E2BIG),	ROW(no_memory_of_objects, EFAULT),
	ROW(no_memory_of_relocs, EFAULT), ROW(many_relocs, E2BIG),	ROW(sum_of_relocs, E2BIG),
	ROW(unknown_object, ENOENT),	ROW(object_twice, EINVAL),	ROW(object_flags, EINVAL),
	ROW(pinned_object, EINVAL),	ROW(alignment, EINVAL),		ROW(odd_alignment, EINVAL),
	ROW(unknown_target, ENOENT),	ROW(misaligned, EINVAL),	ROW(outside, EINVAL),
	ROW(astride, EINVAL),		ROW(far_outside, EINVAL),	ROW(write_domains, EINVAL),
	ROW(cpu_domain, EINVAL),	ROW(unknown_flags, EINVAL),	ROW(video_ring, EINVAL),
	ROW(secure, EPERM),		ROW(batch_start, EINVAL),	ROW(batch_end, EINVAL),
	ROW(batch_length, EINVAL),	ROW(cliprects, EINVAL),		ROW(context, ENOENT),
	ROW(context_of_node, ENOENT),	ROW(wide_context, EINVAL),	ROW(many_fences, E2BIG),
	ROW(no_memory_of_fences, EFAULT), ROW(no_fence, EINVAL),
};

void i915_bad_batches_are_refused(void)
{
	int fd = open_i915();
	struct buffer buffers[2] = {make_buffer(fd, 4096), make_buffer(fd, 4096)};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct batch batch = good_batch(buffers, 2);
		int error;

		fill(&buffers[0]);
		faults[i].plant(&batch);
		error = execute(fd, &batch);
		if (error != faults[i].error)
			printf("  %s: %s\n", faults[i].name, strerror(error));
		CHECK_EQ(error, faults[i].error);
		wait_idle(fd, buffers[0].handle);
		for (uint32_t word = 0; word < 1024; word++)
			CHECK_EQ(buffers[0].map[word], POISON);
		free_batch(&batch);
	}
	check_good(fd, buffers);
	close(fd);
}

/* ---- chance ---- */

static uint64_t chance = 915;

static uint32_t some(uint32_t below)
{
	return guest_random(&chance) % below;
}

static void spoil(void *bytes, size_t size)
{
	static const uint32_t numbers[] = {0, 1, 2, 3, 4, 8, 16, 4092, 4096, 0x7fffffff, 0x80000000, 0xffffffff};
	const uint32_t word = some(2) ? guest_random(&chance) : numbers[some(sizeof(numbers) / sizeof(numbers[0]))];

	memcpy((char *)bytes + some((uint32_t)(size / 4)) * 4, &word, 4);
}

static void batch_of_chance(int fd, const struct buffer *buffers, uint32_t count, uint32_t syncobj)
{
	const uint32_t objects = 1 + some(count);
	struct batch batch = make_batch(objects, 64);
	struct drm_i915_gem_exec_fence fences[2] = {{syncobj, some(4)}, {some(4), some(4)}};

	batch.args.flags |= some(2) ? I915_EXEC_HANDLE_LUT : 0;
	batch.args.flags |= some(2) ? I915_EXEC_NO_RELOC : 0;
	batch.args.flags |= some(2) ? I915_EXEC_BATCH_FIRST : 0;
	if (some(4) == 0) {
		batch.args.flags |= I915_EXEC_FENCE_ARRAY;
		batch.args.num_cliprects = some(3);
		batch.args.cliprects_ptr = (uintptr_t)fences;
	}
	batch.args.rsvd1 = some(8) == 0 ? some(20) : 0;
	for (uint32_t i = 0; i < objects; i++) {
		batch.objects[i].handle = buffers[(i + some(40) / 39) % count].handle;
		batch.objects[i].flags = some(4) == 0 ? EXEC_OBJECT_WRITE : 0;
		for (uint32_t j = some(8); j > 0 && batch.reloc_count < 64; j--)
			add_reloc(&batch, i, some(objects), some(1024), guest_random(&chance));
	}
	for (uint32_t i = some(3); i > 0; i--)
		switch (some(3)) {
		case 0:
			spoil(&batch.args, sizeof(batch.args));
			break;
		case 1:
			spoil(batch.objects, objects * sizeof(*batch.objects));
			break;
		default:
			spoil(batch.relocs, 64 * sizeof(*batch.relocs));
			break;
		}
	(void)guest_ioctl(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &batch.args);
	if ((batch.args.flags & I915_EXEC_FENCE_OUT) && batch.args.rsvd2 >> 32 > 2)
		close((int)(batch.args.rsvd2 >> 32));
	free_batch(&batch);
}

/* Any ioctl of the driver's with arguments of chance, but for those that wait for ever. */
static void ioctl_of_chance(int fd)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_I915_GETPARAM, DRM_IOCTL_I915_GEM_BUSY, DRM_IOCTL_I915_GEM_THROTTLE,
		DRM_IOCTL_I915_GEM_SET_DOMAIN, DRM_IOCTL_I915_GEM_SET_TILING, DRM_IOCTL_I915_GEM_GET_TILING,
		DRM_IOCTL_I915_GEM_SET_CACHING, DRM_IOCTL_I915_GEM_GET_CACHING, DRM_IOCTL_I915_GEM_MADVISE,
		DRM_IOCTL_I915_GEM_GET_APERTURE, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY,
		DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM,
		DRM_IOCTL_I915_GET_RESET_STATS, DRM_IOCTL_I915_REG_READ, DRM_IOCTL_I915_GEM_MMAP_OFFSET,
		DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, DRM_IOCTL_I915_GEM_USERPTR, DRM_IOCTL_I915_GEM_MMAP,
		DRM_IOCTL_I915_QUERY, DRM_IOCTL_I915_GEM_PREAD, DRM_IOCTL_I915_GEM_PWRITE,
	};
	uint32_t words[64] = {some(16), some(16), some(4)};

	for (uint32_t i = some(3); i > 0; i--)
		spoil(words, 64);
	(void)guest_ioctl(fd, requests[some(sizeof(requests) / sizeof(requests[0]))], words);
}

void i915_batches_of_chance_harm_no_other_file(void)
{
	enum { BUFFERS = 6 };
	int fd = open_i915(), good = open_i915();
	struct buffer buffers[BUFFERS], own[2] = {make_buffer(good, 4096), make_buffer(good, 4096)};
	uint32_t syncobj = guest_syncobj(fd);
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct drm_i915_gem_userptr user = {.user_ptr = (uintptr_t)memory, .user_size = 4096};

	for (uint32_t i = 0; i < BUFFERS; i++)
		buffers[i] = make_buffer(fd, 4096);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_USERPTR, &user), 0);
	buffers[0].handle = user.handle;
	for (uint32_t round = 0; round < 2000; round++) {
		batch_of_chance(fd, buffers, BUFFERS, syncobj);
		ioctl_of_chance(fd);
		if (round % 200 == 0)
			check_good(good, own);
	}
	check_good(good, own);
	close(fd);
	check_good(good, own);
	close(good);
}
