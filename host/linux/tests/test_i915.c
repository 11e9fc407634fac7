// SPDX-License-Identifier: GPL-2.0 OR MIT
/* i915's uAPI, as Mesa's drivers for generation 7.5 use it: parameters, relocations, memory of the caller. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "i915.h"
#include "tests.h"

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

/* As Mesa's cache of buffers uses it. */
void i915_unneeded_buffers_are_thrown_away(void)
{
	struct drm_i915_gem_get_aperture aperture = {0};
	struct drm_i915_gem_madvise advise = {.madv = I915_MADV_DONTNEED};
	int fd = open_i915(), drop = open("/proc/sys/vm/drop_caches", O_WRONLY);
	struct buffer buffer;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_GET_APERTURE, &aperture), 0);
	/* It does not fit into VRAM: it lies in memory of the system. */
	buffer = make_buffer(fd, (uint32_t)aperture.aper_size + 4096);
	fill(&buffer);
	advise.handle = buffer.handle;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_MADVISE, &advise), 0);
	CHECK_EQ(advise.retained, 1);
	CHECK_EQ(write(drop, "2", 1), 1);
	advise.madv = I915_MADV_WILLNEED;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_MADVISE, &advise), 0);
	CHECK_EQ(advise.retained, 0);
	CHECK_EQ(buffer.map[buffer.words - 1], 0);
	advise.madv = 2;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_MADVISE, &advise), EINVAL);
	close(drop);
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

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_USERPTR, &user), 0);
	batch.objects[0].handle = user.handle;
	batch.args.flags |= I915_EXEC_HANDLE_LUT | I915_EXEC_FENCE_IN;
	batch.args.rsvd2 = (uint32_t)foreign.file;
	add_reloc(&batch, 0, 0, 1, 0);
	CHECK_EQ(execute(fd, &batch), 0);
	guest_foreign_signal_in(&foreign, "dma_resv_wait_timeout");
	batch.args.flags &= ~(uint64_t)I915_EXEC_FENCE_IN;
	batch.args.rsvd2 = 0;
	CHECK_EQ(execute(fd, &batch), 0);
	CHECK_EQ(guest_fence_status(foreign.file), 1);
	wait_idle(fd, user.handle);
	close(fd);
}
