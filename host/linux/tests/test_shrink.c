// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Memory of the system that objects have, when the system is short of it: contents that are not needed, and swap. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "guest.h"
#include "tests.h"

#define PAGE_WORDS 1024u
#define MIB	   (1u << 20)

static uint32_t advise(int fd, uint32_t handle, uint32_t advice)
{
	struct drm_patchbay_gem_madvise madvise = {.handle = handle, .advice = advice, .retained = 7};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_MADVISE, &madvise), 0);
	return madvise.retained;
}

/* Writes a word to each page; each page of each object has another one. */
static void mark(const struct guest_object *object, uint32_t seed)
{
	for (uint64_t i = 0; i < object->size / 4; i += PAGE_WORDS)
		object->words[i + seed % PAGE_WORDS] = seed * 0x10001u + (uint32_t)i;
}

static void check_marks(const struct guest_object *object, uint32_t seed)
{
	for (uint64_t i = 0; i < object->size / 4; i += PAGE_WORDS)
		CHECK_EQ(object->words[i + seed % PAGE_WORDS], seed * 0x10001u + (uint32_t)i);
}

static void check_zero(const struct guest_object *object)
{
	for (uint64_t i = 0; i < object->size / 4; i++)
		CHECK_EQ(object->words[i], 0);
}

/* The kernel asks everything that can shrink to do so. */
static void shrink_everything(void)
{
	int file = open("/proc/sys/vm/drop_caches", O_WRONLY);

	CHECK_EQ(write(file, "2", 1), 1);
	close(file);
}

/* A line "NAME: COUNT kB" of a file of the kernel. */
static uint64_t count_of(const char *path, const char *name)
{
	char line[256];
	FILE *file = fopen(path, "r");
	uint64_t count = 0;

	CHECK(file != NULL);
	while (fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			count = strtoull(line + strlen(name), NULL, 10);
	fclose(file);
	return count;
}

static struct drm_patchbay_info card_info(int fd)
{
	struct drm_patchbay_info info;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	return info;
}

/* Of two objects in memory of the system one is not needed: it gives its memory back, the other one stays as it is. */
void unneeded_contents_are_thrown_away(void)
{
	int fd = guest_open();
	uint64_t bytes = card_info(fd).vram_bytes + 4096, shared;
	struct guest_object needed = guest_object(fd, bytes, 0), other = guest_object(fd, bytes, 0);
	struct drm_patchbay_gem_madvise bad = {.handle = needed.handle, .advice = 2};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_MADVISE, &bad), EINVAL);
	bad.advice = 0;
	bad.pad = 1;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_MADVISE, &bad), EINVAL);
	bad.pad = 0;
	bad.handle = 0x1234;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_MADVISE, &bad), ENOENT);
	mark(&needed, 3);
	mark(&other, 5);
	CHECK_EQ(advise(fd, needed.handle, PATCHBAY_GEM_WILLNEED), 1);
	shrink_everything();
	check_marks(&other, 5);
	CHECK_EQ(advise(fd, other.handle, PATCHBAY_GEM_DONTNEED), 1);
	/* Until memory is short, it stays, and it is needed again as if nothing had been said. */
	check_marks(&other, 5);
	CHECK_EQ(advise(fd, other.handle, PATCHBAY_GEM_WILLNEED), 1);
	shrink_everything();
	check_marks(&other, 5);
	CHECK_EQ(advise(fd, other.handle, PATCHBAY_GEM_DONTNEED), 1);
	shared = count_of("/proc/meminfo", "Shmem:");
	shrink_everything();
	CHECK(count_of("/proc/meminfo", "Shmem:") + bytes / 1024 * 9 / 10 < shared);
	CHECK_EQ(guest_info(fd, other.handle).place, PATCHBAY_PLACE_NONE);
	CHECK_EQ(guest_info(fd, needed.handle).place, PATCHBAY_PLACE_SYSTEM);
	CHECK_EQ(advise(fd, other.handle, PATCHBAY_GEM_DONTNEED), 0);
	CHECK_EQ(advise(fd, other.handle, PATCHBAY_GEM_WILLNEED), 0);
	CHECK_EQ(advise(fd, other.handle, PATCHBAY_GEM_WILLNEED), 1);
	check_zero(&other);
	mark(&other, 9);
	check_marks(&other, 9);
	check_marks(&needed, 3);
}

/* An object that is not needed leaves VRAM without a copy. */
void unneeded_contents_are_not_moved(void)
{
	static struct guest_work work;
	int fd = guest_open();
	struct guest_object first = guest_object(fd, 64 * 1024, 0), kept = guest_object(fd, 64 * 1024, 0), more[2];
	struct guest_object *const two[2] = {&first, &kept};
	uint64_t vram = card_info(fd).vram_bytes;

	for (uint32_t i = 0; i < 2; i++) {
		guest_work_start(&work, 0);
		guest_allocation(&work, two[i]->handle, true);
		guest_fill(&work, 0, 0, 64 * 1024, 77 + i);
		guest_do(fd, &work);
	}
	CHECK_EQ(advise(fd, first.handle, PATCHBAY_GEM_DONTNEED), 1);
	/* Both must leave: these two cannot lie in VRAM beside anything. */
	for (uint32_t i = 0; i < 2; i++) {
		more[i] = guest_object(fd, vram / 2, 0);
		guest_work_start(&work, 0);
		guest_allocation(&work, more[i].handle, true);
		guest_fill(&work, 0, 0, 4, 1);
		guest_do(fd, &work);
	}
	CHECK_EQ(guest_info(fd, first.handle).place, PATCHBAY_PLACE_NONE);
	CHECK_EQ(guest_info(fd, kept.handle).place, PATCHBAY_PLACE_SYSTEM);
	CHECK_EQ(advise(fd, first.handle, PATCHBAY_GEM_WILLNEED), 0);
	check_zero(&first);
	CHECK_EQ(kept.words[0], 78);
	CHECK_EQ(kept.words[64 * 256 - 1], 78);
}

/* Objects of some size, as many as more than fill the memory of the system. 0: it has more than a test should fill. */
static uint32_t objects_for_all_memory(uint64_t bytes)
{
	struct sysinfo info;

	CHECK_EQ(sysinfo(&info), 0);
	return info.totalram > 512ull * MIB ? 0 : (uint32_t)(info.totalram * 5 / 4 / bytes);
}

/* Objects that are not needed are no burden: there may be more of them than the system has memory. */
void unneeded_objects_make_room_in_memory(void)
{
	static struct guest_object objects[128];
	uint32_t count = objects_for_all_memory(8 * MIB), purged = 0;
	int fd = guest_open();

	CHECK(count <= 128);
	for (uint32_t i = 0; i < count; i++) {
		objects[i] = guest_object(fd, 8 * MIB, 0);
		mark(&objects[i], i);
		CHECK_EQ(advise(fd, objects[i].handle, PATCHBAY_GEM_DONTNEED), 1);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (advise(fd, objects[i].handle, PATCHBAY_GEM_WILLNEED))
			check_marks(&objects[i], i);
		else
			purged++;
	}
	CHECK(count == 0 || (purged >= count / 5 && purged < count));
}

/* The kernel's compressed memory as swap: built in, or a module. @return false: this kernel has neither */
static bool swap_on(uint64_t bytes)
{
	char command[128];

	if (access("/sys/block/zram0", F_OK) != 0) {
		if (access("/lib/modules/zram.ko", R_OK) != 0)
			return false;
		CHECK_EQ(system("insmod /lib/modules/zsmalloc.ko && insmod /lib/modules/zram.ko"), 0);
	}
	if (access("/tmp/zram0_has_swap", F_OK) != 0) {
		snprintf(command, sizeof(command), "echo %llu >/sys/block/zram0/disksize", (unsigned long long)bytes);
		CHECK_EQ(system(command), 0);
		CHECK_EQ(system("mkswap /dev/zram0 >/dev/null && touch /tmp/zram0_has_swap"), 0);
	}
	CHECK_EQ(system("swapon /dev/zram0"), 0);
	return true;
}

/* Objects that are needed go to swap, and come back with all that was in them, for the CPU and for the engine. */
void objects_are_swapped_when_memory_is_short(void)
{
	static struct guest_object objects[256];
	static struct guest_work work;
	uint32_t count = objects_for_all_memory(2 * MIB);
	int fd = guest_open();
	struct guest_object probe;

	CHECK(count <= 256);
	if (count == 0 || !swap_on(512ull * MIB))
		return;
	probe = guest_object(fd, 4096, 0);
	for (uint32_t i = 0; i < count; i++) {
		objects[i] = guest_object(fd, 2 * MIB, 0);
		mark(&objects[i], i);
	}
	CHECK(count_of("/proc/vmstat", "pswpout") > 0);
	for (uint32_t i = 0; i < count; i++) {
		CHECK_EQ(advise(fd, objects[i].handle, PATCHBAY_GEM_WILLNEED), 1);
		if (i % 16 == 0) {
			guest_work_start(&work, 0);
			guest_allocation(&work, objects[i].handle, false);
			guest_allocation(&work, probe.handle, true);
			guest_copy(&work, 0, 4 * (i % PAGE_WORDS), 1, 0, 4);
			guest_do(fd, &work);
			CHECK_EQ(probe.words[0], i * 0x10001u);
		} else {
			check_marks(&objects[i], i);
		}
		guest_object_free(fd, &objects[i]);
	}
	CHECK_EQ(system("swapoff /dev/zram0"), 0);
}
