// SPDX-License-Identifier: GPL-2.0 OR MIT
/* i915's uAPI, as Mesa's drivers for generation 7.5 use it: with the module's parameter i915=1. */
#include <drm/i915_drm.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../patchbay_i915.h"
#include "guest.h"
#include "tests.h"

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

static int open_i915(void)
{
	int fd = guest_open_primary("i915");

	CHECK(fd >= 0);
	return fd;
}

static struct buffer make_buffer(int fd, uint32_t bytes)
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

static void free_buffer(int fd, struct buffer *buffer)
{
	struct drm_gem_close arguments = {.handle = buffer->handle};

	munmap(buffer->map, buffer->words * 4);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &arguments), 0);
}

static void fill(const struct buffer *buffer)
{
	for (uint32_t i = 0; i < buffer->words; i++)
		buffer->map[i] = POISON;
}

static struct batch make_batch(uint32_t objects, uint32_t relocs)
{
	struct batch batch = {.args = {.buffer_count = objects, .flags = I915_EXEC_RENDER}};

	batch.objects = calloc(objects, sizeof(*batch.objects));
	batch.relocs = calloc(relocs + 1, sizeof(*batch.relocs));
	CHECK(batch.objects && batch.relocs);
	batch.args.buffers_ptr = (uintptr_t)batch.objects;
	return batch;
}

static void free_batch(struct batch *batch)
{
	free(batch->objects);
	free(batch->relocs);
}

/* Adds a relocation to the last object that has any, or to a later one. */
static void add_reloc(struct batch *batch, uint32_t object, uint32_t target, uint32_t word, uint32_t delta)
{
	struct drm_i915_gem_exec_object2 *patched = &batch->objects[object];

	if (patched->relocation_count++ == 0)
		patched->relocs_ptr = (uintptr_t)&batch->relocs[batch->reloc_count];
	batch->relocs[batch->reloc_count++] = (struct drm_i915_gem_relocation_entry){
		.target_handle = target, .delta = delta, .offset = word * 4ull, .read_domains = I915_GEM_DOMAIN_RENDER};
}

static int execute(int fd, struct batch *batch)
{
	return guest_ioctl(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &batch->args);
}

static void wait_idle(int fd, uint32_t handle)
{
	struct drm_i915_gem_wait wait = {.bo_handle = handle, .timeout_ns = 20 * GUEST_SECOND};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_WAIT, &wait), 0);
}

static int param(int fd, int number, int *value)
{
	struct drm_i915_getparam get = {.param = number, .value = value};

	return guest_ioctl(fd, DRM_IOCTL_I915_GETPARAM, &get);
}

/* A number of the PCI device of an open node, which need not be the first one of the machine. */
static uint32_t pci_number(int node, const char *name)
{
	char path[96], text[16] = "";
	struct stat about;
	int fd;

	CHECK_EQ(fstat(node, &about), 0);
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/%s", major(about.st_rdev), minor(about.st_rdev), name);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return (uint32_t)strtoul(text, NULL, 16);
}

void i915_is_what_mesa_looks_for(void)
{
	struct drm_i915_gem_get_aperture aperture = {0};
	int fd = open_i915(), value = 0;

	CHECK_EQ(pci_number(fd, "vendor"), 0x8086);
	CHECK_EQ(pci_number(fd, "device"), 0x0412);
	CHECK_EQ(param(fd, I915_PARAM_CHIPSET_ID, &value), 0);
	CHECK_EQ(value, 0x0412);
	CHECK_EQ(param(fd, I915_PARAM_MMAP_GTT_VERSION, &value), 0);
	CHECK_EQ(value, 4);
	CHECK_EQ(param(fd, 9999, &value), EINVAL);
	CHECK_EQ(param(fd, I915_PARAM_CHIPSET_ID, NULL), EFAULT);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_GET_APERTURE, &aperture), 0);
	CHECK(aperture.aper_size >= 1 << 20 && aperture.aper_available_size <= aperture.aper_size);
	close(fd);
}

/* Three targets and four words in each of two objects, by index and by handle, with what the caller presumes right. */
static void write_relocations(int fd, bool by_index)
{
	static const uint32_t deltas[] = {0, 1, 0xfffffffc, 0x12345678};
	struct buffer buffers[4];
	struct batch batch = make_batch(4, 24);

	/* Later objects of the list have lower handles. */
	for (uint32_t i = 4; i-- > 0;) {
		buffers[i] = make_buffer(fd, 4096 * (i + 1));
		batch.objects[i].handle = buffers[i].handle;
	}
	for (uint32_t object = 1; object < 4; object += 2)
		for (uint32_t i = 0; i < 12; i++)
			add_reloc(&batch, object, by_index ? i % 4 : buffers[i % 4].handle, 7 + 5 * i, deltas[i / 3]);
	batch.args.flags |= by_index ? I915_EXEC_HANDLE_LUT : 0;
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 4; i++)
			fill(&buffers[i]);
		CHECK_EQ(execute(fd, &batch), 0);
		wait_idle(fd, buffers[3].handle);
		for (uint32_t object = 0; object < 4; object++)
			for (uint32_t word = 0; word < buffers[object].words; word++) {
				const uint32_t i = (word - 7) / 5;
				const bool named = object % 2 == 1 && word >= 7 && (word - 7) % 5 == 0 && i < 12;

				CHECK_EQ(buffers[object].map[word],
					 named ? (uint32_t)batch.objects[i % 4].offset + deltas[i / 3] : POISON);
			}
		/* What is presumed is right from now on: all is patched all the same. */
		batch.args.flags |= I915_EXEC_NO_RELOC;
		for (uint32_t i = 0; i < batch.reloc_count; i++)
			batch.relocs[i].presumed_offset = batch.objects[i % 12 % 4].offset;
	}
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t j = 0; j < 4; j++)
			CHECK(i == j || batch.objects[i].offset >= batch.objects[j].offset + buffers[j].words * 4 ||
			      batch.objects[j].offset >= batch.objects[i].offset + buffers[i].words * 4);
	for (uint32_t i = 0; i < 4; i++)
		free_buffer(fd, &buffers[i]);
	free_batch(&batch);
}

void i915_relocations_are_written(void)
{
	int fd = open_i915();

	write_relocations(fd, true);
	write_relocations(fd, false);
	close(fd);
}

/*
 * Objects that do not fit into VRAM together: they have other addresses later, and the words follow.
 * @return how often one had another address
 */
static uint32_t follow_moves(uint64_t seed, uint32_t part, uint32_t rounds)
{
	enum { BUFFERS = 24, SOME = 8 };
	struct drm_i915_gem_get_aperture aperture = {0};
	uint64_t last[BUFFERS] = {0};
	struct buffer buffers[BUFFERS];
	uint32_t moved = 0;
	int fd = open_i915();

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_GET_APERTURE, &aperture), 0);
	for (uint32_t i = 0; i < BUFFERS; i++) {
		buffers[i] = make_buffer(fd, (uint32_t)(aperture.aper_size / part) / 4096 * 4096);
		buffers[i].map[0] = 1000 + i;
	}
	for (uint32_t round = 0; round < rounds; round++) {
		struct batch batch = make_batch(SOME, SOME);
		const uint32_t first = guest_random(&seed) % BUFFERS, word = 1 + guest_random(&seed) % 900;

		batch.args.flags |= I915_EXEC_HANDLE_LUT;
		batch.args.flags |= I915_EXEC_NO_RELOC;
		for (uint32_t i = 0; i < SOME; i++) {
			batch.objects[i].handle = buffers[(first + 5 * i) % BUFFERS].handle;
			batch.objects[i].offset = last[(first + 5 * i) % BUFFERS];
		}
		for (uint32_t i = 0; i < SOME; i++)
			add_reloc(&batch, 0, i, word + i, 16 * i);
		CHECK_EQ(execute(fd, &batch), 0);
		wait_idle(fd, batch.objects[0].handle);
		for (uint32_t i = 0; i < SOME; i++) {
			const uint32_t which = (first + 5 * i) % BUFFERS;

			CHECK_EQ(buffers[first].map[word + i], (uint32_t)batch.objects[i].offset + 16 * i);
			CHECK_EQ(buffers[which].map[0], 1000 + which);
			moved += last[which] != 0 && last[which] != batch.objects[i].offset;
			last[which] = batch.objects[i].offset;
		}
		free_batch(&batch);
	}
	close(fd);
	return moved;
}

void i915_relocations_follow_objects_that_move(void)
{
	CHECK(follow_moves(5, 16, 24) >= 20);
}

/* Small objects with holes between them, all of one batch, move together for a large one. */
void i915_objects_make_room_for_each_other(void)
{
	enum { SMALL = 56, KEPT = SMALL / 2 };
	struct drm_i915_gem_get_aperture aperture = {0};
	struct batch all = make_batch(SMALL, 0), some = make_batch(KEPT + 1, 1);
	int fd = open_i915();
	uint32_t bytes;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_GET_APERTURE, &aperture), 0);
	bytes = (uint32_t)(aperture.aper_size / 64) / 4096 * 4096;
	for (uint32_t i = 0; i < SMALL; i++) {
		struct drm_i915_gem_create create = {.size = bytes};

		CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_CREATE, &create), 0);
		all.objects[i].handle = create.handle;
	}
	CHECK_EQ(execute(fd, &all), 0);
	some.objects[0].handle = make_buffer(fd, bytes * 20).handle;
	for (uint32_t i = 0; i < SMALL; i++) {
		struct drm_gem_close gone = {.handle = all.objects[i].handle};

		if (i % 2 == 0)
			some.objects[1 + i / 2].handle = all.objects[i].handle;
		else
			CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gone), 0);
	}
	some.args.flags |= I915_EXEC_HANDLE_LUT;
	add_reloc(&some, KEPT, 0, 0, 0);
	CHECK_EQ(execute(fd, &some), 0);
	wait_idle(fd, some.objects[0].handle);
	close(fd);
}

/* Each has more than a third of what there is room for, and each finds its own words. */
void i915_processes_share_the_card(void)
{
	pid_t children[3];

	for (uint32_t i = 0; i < 3; i++) {
		children[i] = fork();
		if (children[i] == 0)
			_exit(follow_moves(100 + i, 50, 40) != 0 ? 0 : 2);
	}
	for (uint32_t i = 0; i < 3; i++) {
		int status;

		CHECK_EQ(waitpid(children[i], &status, 0), children[i]);
		CHECK_EQ(status, 0);
	}
}

void i915_long_lists_are_patched(void)
{
	enum { OBJECTS = 1024, RELOCS = 40000, PATCHED = 4 };
	struct batch batch = make_batch(OBJECTS, RELOCS);
	struct buffer buffers[PATCHED];
	uint64_t seed = 9;
	int fd = open_i915();

	batch.args.flags |= I915_EXEC_HANDLE_LUT;
	for (uint32_t i = 0; i < OBJECTS; i++) {
		struct drm_i915_gem_create create = {.size = 4096};

		if (i < PATCHED) {
			buffers[i] = make_buffer(fd, RELOCS / PATCHED * 8);
			fill(&buffers[i]);
			batch.objects[i].handle = buffers[i].handle;
		} else {
			CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_CREATE, &create), 0);
			batch.objects[i].handle = create.handle;
		}
	}
	for (uint32_t i = 0; i < RELOCS; i++)
		add_reloc(&batch, i / (RELOCS / PATCHED), guest_random(&seed) % OBJECTS, i % (RELOCS / PATCHED) * 2, i);
	CHECK_EQ(execute(fd, &batch), 0);
	wait_idle(fd, buffers[0].handle);
	for (uint32_t i = 0; i < RELOCS; i++) {
		const uint32_t *words = &buffers[i / (RELOCS / PATCHED)].map[i % (RELOCS / PATCHED) * 2];

		CHECK_EQ(words[0], (uint32_t)batch.objects[batch.relocs[i].target_handle].offset + i);
		CHECK_EQ(words[1], POISON);
	}
	free_batch(&batch);
	close(fd);
}

/* An object that is the caller's memory, as Mesa's Vulkan driver makes its pools: each batch sees what is there then. */
void i915_memory_of_the_caller_is_copied(void)
{
	int fd = open_i915();
	uint32_t *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct drm_i915_gem_userptr user = {.user_ptr = (uintptr_t)memory, .user_size = 8192};
	struct drm_i915_gem_userptr bad = user;
	struct buffer buffer = make_buffer(fd, 4096);
	struct drm_i915_gem_mmap_offset offset = {0};
	struct batch batch = make_batch(2, 2);
	int status;
	pid_t child;

	CHECK(memory != MAP_FAILED);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_USERPTR, &user), 0);
	bad.user_ptr += 4;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_USERPTR, &bad), EINVAL);
	bad = (struct drm_i915_gem_userptr){.user_ptr = ~4095ull, .user_size = 8192};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_USERPTR, &bad), EFAULT);
	bad = (struct drm_i915_gem_userptr){.user_ptr = user.user_ptr, .user_size = 1ull << 40};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_USERPTR, &bad), E2BIG);
	offset.handle = user.handle;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &offset), ENODEV);
	batch.args.flags |= I915_EXEC_HANDLE_LUT;
	batch.objects[0].handle = user.handle;
	batch.objects[1].handle = buffer.handle;
	add_reloc(&batch, 0, 1, 1024, 4);
	add_reloc(&batch, 1, 0, 7, 0);
	for (uint32_t round = 0; round < 20; round++) {
		memory[0] = SIGN + round;
		CHECK_EQ(execute(fd, &batch), 0);
	}
	wait_idle(fd, user.handle);
	CHECK_EQ(memory[1024], 0);
	CHECK_EQ(buffer.map[7], (uint32_t)batch.objects[0].offset);
	/* Of another process the memory is not this one. */
	child = fork();
	if (child == 0)
		_exit(execute(fd, &batch) == EFAULT ? 0 : 1);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	munmap(memory, 4096);
	CHECK_EQ(execute(fd, &batch), EFAULT);
	close(fd);
}

/* While a batch uses such an object, the next one that names it waits in the call. */
void i915_memory_of_the_caller_is_not_copied_under_a_batch(void)
{
	int fd = open_i915();
	uint32_t *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct drm_i915_gem_userptr user = {.user_ptr = (uintptr_t)memory, .user_size = 4096};
	struct guest_foreign foreign = guest_foreign();
	struct batch batch = make_batch(1, 1);
	int64_t start;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_USERPTR, &user), 0);
	batch.objects[0].handle = user.handle;
	batch.args.flags |= I915_EXEC_HANDLE_LUT | I915_EXEC_FENCE_IN;
	batch.args.rsvd2 = (uint32_t)foreign.file;
	add_reloc(&batch, 0, 0, 1, 0);
	CHECK_EQ(execute(fd, &batch), 0);
	if (fork() == 0) {
		guest_sleep_ms(300);
		guest_foreign_signal(&foreign);
		_exit(0);
	}
	batch.args.flags &= ~(uint64_t)I915_EXEC_FENCE_IN;
	batch.args.rsvd2 = 0;
	start = guest_now_ns();
	CHECK_EQ(execute(fd, &batch), 0);
	CHECK(guest_now_ns() - start > GUEST_SECOND / 5);
	wait_idle(fd, user.handle);
	close(fd);
}

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

/* Two objects, two relocations in the first one. */
static struct batch good_batch(const struct buffer *buffers, uint32_t objects)
{
	struct batch batch = make_batch(objects, 2);

	batch.args.flags |= I915_EXEC_HANDLE_LUT;
	for (uint32_t i = 0; i < objects; i++)
		batch.objects[i].handle = buffers[i].handle;
	add_reloc(&batch, 0, 0, 3, 8);
	add_reloc(&batch, 0, objects - 1, 5, 12);
	return batch;
}

static void check_good(int fd, const struct buffer *buffers)
{
	struct batch batch = good_batch(buffers, 2);

	CHECK_EQ(execute(fd, &batch), 0);
	wait_idle(fd, buffers[0].handle);
	CHECK_EQ(buffers[0].map[3], (uint32_t)batch.objects[0].offset + 8);
	CHECK_EQ(buffers[0].map[5], (uint32_t)batch.objects[1].offset + 12);
	free_batch(&batch);
}

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

/* ---- fences and contexts ---- */

void i915_fences_go_in_and_out(void)
{
	int fd = open_i915();
	struct buffer buffers[2] = {make_buffer(fd, 4096), make_buffer(fd, 4096)};
	struct batch first = good_batch(buffers, 2), second = good_batch(buffers, 1);
	struct drm_i915_gem_exec_fence fences[2] = {{.handle = guest_syncobj(fd), .flags = I915_EXEC_FENCE_SIGNAL}};

	first.args.flags |= I915_EXEC_FENCE_OUT | I915_EXEC_FENCE_ARRAY;
	first.args.num_cliprects = 1;
	first.args.cliprects_ptr = (uintptr_t)fences;
	CHECK_EQ(execute(fd, &first), 0);
	CHECK_EQ(guest_syncobj_wait(fd, fences[0].handle, 0, 10 * GUEST_SECOND), 0);
	CHECK_EQ(guest_fence_wait((int)(first.args.rsvd2 >> 32), 10000), 0);
	CHECK_EQ(guest_fence_status((int)(first.args.rsvd2 >> 32)), 1);
	fences[1] = (struct drm_i915_gem_exec_fence){.handle = fences[0].handle, .flags = I915_EXEC_FENCE_WAIT};
	second.args.flags |= I915_EXEC_FENCE_IN | I915_EXEC_FENCE_ARRAY;
	second.args.num_cliprects = 1;
	second.args.cliprects_ptr = (uintptr_t)&fences[1];
	second.args.rsvd2 = first.args.rsvd2 >> 32;
	CHECK_EQ(execute(fd, &second), 0);
	wait_idle(fd, buffers[0].handle);
	fences[1].flags = 1u << 7;
	CHECK_EQ(execute(fd, &second), EINVAL);
	fences[1] = (struct drm_i915_gem_exec_fence){.handle = 999, .flags = I915_EXEC_FENCE_SIGNAL};
	CHECK_EQ(execute(fd, &second), ENOENT);
	close(fd);
}

/* A fence of another driver holds the batch back, and one of another file and queue that uses an object of its. */
void i915_foreign_fences_are_waited_for(void)
{
	int fd = open_i915(), other = open_i915();
	struct buffer buffers[2] = {make_buffer(fd, 4096), make_buffer(fd, 4096)};
	struct buffer own[2] = {make_buffer(other, 4096)};
	struct batch batch = good_batch(buffers, 2), behind;
	struct drm_prime_handle prime = {.handle = buffers[0].handle, .flags = DRM_CLOEXEC | DRM_RDWR};
	struct guest_foreign foreign = guest_foreign();
	struct drm_i915_gem_busy busy = {.handle = buffers[0].handle};

	fill(&buffers[0]);
	batch.args.flags |= I915_EXEC_FENCE_IN;
	batch.args.rsvd2 = (uint32_t)foreign.file;
	CHECK_EQ(execute(fd, &batch), 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	CHECK_EQ(guest_ioctl(other, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
	own[1].handle = prime.handle;
	fill(&own[0]);
	behind = good_batch(own, 2);
	CHECK_EQ(execute(other, &behind), 0);
	guest_sleep_ms(50);
	CHECK_EQ(own[0].map[3], POISON);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_BUSY, &busy), 0);
	CHECK(busy.busy != 0);
	CHECK_EQ(buffers[0].map[3], POISON);
	guest_foreign_signal(&foreign);
	wait_idle(fd, buffers[0].handle);
	CHECK_EQ(buffers[0].map[3], (uint32_t)batch.objects[0].offset + 8);
	wait_idle(other, own[0].handle);
	CHECK_EQ(own[0].map[5], (uint32_t)behind.objects[1].offset + 12);
	wait_idle(fd, buffers[0].handle);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_BUSY, &busy), 0);
	CHECK_EQ(busy.busy, 0);
	close(fd);
}

void i915_contexts_are_queues(void)
{
	struct drm_i915_gem_context_create create = {0};
	struct drm_i915_gem_context_destroy destroy = {0};
	struct drm_i915_reset_stats stats = {0};
	int fd = open_i915();
	struct buffer buffers[2] = {make_buffer(fd, 4096), make_buffer(fd, 4096)};
	struct batch batch = good_batch(buffers, 2);

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &create), 0);
	CHECK(create.ctx_id != 0);
	batch.args.rsvd1 = stats.ctx_id = destroy.ctx_id = create.ctx_id;
	CHECK_EQ(execute(fd, &batch), 0);
	wait_idle(fd, buffers[0].handle);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GET_RESET_STATS, &stats), 0);
	CHECK_EQ(stats.batch_active + stats.batch_pending, 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy), 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy), ENOENT);
	CHECK_EQ(execute(fd, &batch), ENOENT);
	destroy.ctx_id = 0;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy), ENOENT);
	close(fd);
}

/* ---- capture ---- */

/* The program's own calculation, of another test's batches; its file begins as tests/data/README.txt says. */
void i915_captures_find_all_relocations(void)
{
	uint32_t header[8] = {0};
	int fd;

	CHECK_EQ(system("pbd-capture -o /tmp/dump pbd-test i915_relocations_are_written >/tmp/said"), 0);
	CHECK_EQ(system("grep -q '^captured: 6 submissions, 144 relocations, 0 wrong, 0 strays' /tmp/said"), 0);
	fd = open("/tmp/dump", O_RDONLY);
	CHECK_EQ(read(fd, header, sizeof(header)), sizeof(header));
	CHECK_EQ(header[0], 0x4d425553);
	CHECK_EQ(header[6], 6);
	close(fd);
}

/* Whether the dump has the word. */
static bool dump_has(uint32_t word)
{
	FILE *file = fopen("/tmp/dump", "rb");
	uint32_t got;
	bool found = false;

	CHECK(file != NULL);
	while (!found && fread(&got, sizeof(got), 1, file) == 1)
		found = got == word;
	fclose(file);
	return found;
}

/* A capture holds objects only while they are shown, and sees copies of memory. */
void i915_captures_hold_nothing(void)
{
	CHECK_EQ(system("pbd-capture -o /tmp/dump pbd-test i915_memory_of_the_caller_is_copied >/tmp/said"), 0);
	CHECK(dump_has(SIGN) && dump_has(SIGN + 19) && !dump_has(SIGN + 20));
	CHECK_EQ(system("pbd-capture pbd-test i915_relocations_follow_objects_that_move >/tmp/said"), 0);
}

static int next(int fd, void *record, uint32_t bytes, struct drm_patchbay_capture_next *got)
{
	*got = (struct drm_patchbay_capture_next){
		.record = (uintptr_t)record, .bytes = bytes, .timeout_ns = 5 * GUEST_SECOND};
	return guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_NEXT, got);
}

/* A second reader is refused, memory is seen while a batch is stopped, and a reader that ends stops no one. */
void i915_captures_end_with_their_file(void)
{
	static uint8_t record[65536];
	int fd = open_i915(), other = open_i915(), batches = open_i915();
	struct buffer buffers[2] = {make_buffer(batches, 4096), make_buffer(batches, 4096)};
	struct drm_patchbay_capture_next got = {.timeout_ns = 1};
	struct drm_patchbay_capture_memory memory = {.address = 0x10000000, .data = (uintptr_t)record, .bytes = 4096};
	const int64_t start = guest_now_ns();
	int status;
	pid_t child;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_NEXT, &got), ETIME);
	CHECK_EQ(next(other, record, sizeof(record), &got), EBUSY);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, &memory), EBUSY);
	child = fork();
	if (child == 0) {
		close(fd);
		check_good(batches, buffers);
		_exit(0);
	}
	CHECK_EQ(next(fd, record, 16, &got), ENOSPC);
	CHECK(got.bytes > 16 && got.bytes < sizeof(record));
	CHECK_EQ(next(fd, record, sizeof(record), &got), 0);
	CHECK_EQ(got.phase, PATCHBAY_CAPTURE_PLACED);
	CHECK_EQ(guest_ioctl(other, DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, &memory), EBUSY);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, &memory), 0);
	memory.address = 0x0ffff000;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, &memory), EINVAL);
	memory.address = ~0ull - 4095;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, &memory), EINVAL);
	memory.bytes = (1 << 20) + 1;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, &memory), EINVAL);
	close(fd);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	CHECK(guest_now_ns() - start < 10 * GUEST_SECOND);
	close(other);
	close(batches);
}

/* The driver lets the device go while a batch is stopped, and finds it again. */
void i915_captures_end_with_the_device(void)
{
	static uint8_t record[65536];
	int fd = open_i915(), batches = open_i915();
	struct buffer buffers[2] = {make_buffer(batches, 4096), make_buffer(batches, 4096)};
	struct drm_patchbay_capture_next got = {.timeout_ns = 1};
	const int64_t start = guest_now_ns();
	struct batch batch = good_batch(buffers, 2);
	int status;
	pid_t child;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_NEXT, &got), ETIME);
	child = fork();
	if (child == 0) {
		int error = execute(batches, &batch);

		_exit(error == 0 || error == ENODEV || error == EIO ? 0 : 1);
	}
	CHECK_EQ(next(fd, record, sizeof(record), &got), 0);
	CHECK_EQ(system("cd /sys/bus/pci/drivers/patchbay && ls | grep 0000: >/tmp/name && cat /tmp/name >unbind"), 0);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	CHECK(guest_now_ns() - start < 5 * GUEST_SECOND);
	CHECK_EQ(next(fd, record, sizeof(record), &got), ENODEV);
	CHECK_EQ(system("grep -q 1af4 /sys/bus/pci/devices/$(cat /tmp/name)/vendor"), 0);
	CHECK_EQ(system("cat /tmp/name >/sys/bus/pci/drivers/patchbay/bind"), 0);
	CHECK_EQ(system("grep -q 8086 /sys/bus/pci/devices/$(cat /tmp/name)/vendor"), 0);
	fd = open_i915();
	buffers[0] = make_buffer(fd, 4096);
	buffers[1] = make_buffer(fd, 4096);
	check_good(fd, buffers);
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
		DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, DRM_IOCTL_I915_GEM_USERPTR,
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
