// SPDX-License-Identifier: GPL-2.0 OR MIT
/* i915's uAPI, as IGT's benchmarks use it beyond Mesa: GEM_MMAP, QUERY, i915_gem_drop_caches; and mappings of parts. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "i915.h"
#include "tests.h"

#define PAGE 4096u
#define PAGE_WORDS (PAGE / 4)

/* ---- mappings ---- */

static int map_by(int fd, struct drm_i915_gem_mmap args, uint32_t **words)
{
	int error = guest_ioctl(fd, DRM_IOCTL_I915_GEM_MMAP, &args);

	if (error == 0 && words)
		*words = (uint32_t *)(uintptr_t)args.addr_ptr;
	return error;
}

/* Writes the number of each page into its first word. */
static void number_pages(const struct buffer *buffer)
{
	for (uint32_t page = 0; page < buffer->words / PAGE_WORDS; page++)
		buffer->map[page * PAGE_WORDS] = SIGN + page;
}

/* A batch that patches a word of the object, which lies in the MCU's window from then on. */
static void patch_word(int fd, uint32_t handle, uint32_t word)
{
	struct batch batch = make_batch(1, 1);

	batch.args.flags |= I915_EXEC_HANDLE_LUT;
	batch.objects[0].handle = handle;
	add_reloc(&batch, 0, 0, word, 0);
	CHECK_EQ(execute(fd, &batch), 0);
	wait_idle(fd, handle);
	free_batch(&batch);
}

/* The errno of a batch whose relocation is in an object that has no handle any more. */
static int execute_gone(int fd, uint32_t handle)
{
	struct batch batch = make_batch(1, 1);
	int error;

	batch.objects[0].handle = handle;
	add_reloc(&batch, 0, handle, 3, 0);
	error = execute(fd, &batch);
	free_batch(&batch);
	return error;
}

/* Batches of another file with more objects than card memory has room for: what was used before them leaves it. */
static void use_whole_card(void)
{
	enum { OBJECTS = 20 };
	struct drm_i915_gem_get_aperture aperture = {0};
	int fd = open_i915();

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_GET_APERTURE, &aperture), 0);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		struct drm_i915_gem_create create = {.size = aperture.aper_size / 16 / PAGE * PAGE};

		CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_CREATE, &create), 0);
		patch_word(fd, create.handle, 1);
	}
	close(fd);
}

void i915_objects_are_mapped_by_gem_mmap(void)
{
	int fd = open_i915();
	struct buffer buffer = make_buffer(fd, 4 * PAGE);
	struct drm_gem_close gone = {.handle = buffer.handle};
	uint32_t *all = NULL, *part = NULL;

	number_pages(&buffer);
	CHECK_EQ(map_by(fd, (struct drm_i915_gem_mmap){.handle = buffer.handle, .size = 4 * PAGE}, &all), 0);
	CHECK_EQ(map_by(fd, (struct drm_i915_gem_mmap){.handle = buffer.handle, .offset = 2 * PAGE, .size = PAGE,
						      .flags = I915_MMAP_WC}, &part), 0);
	for (uint32_t page = 0; page < 4; page++)
		CHECK_EQ(all[page * PAGE_WORDS], SIGN + page);
	CHECK_EQ(part[0], SIGN + 2);
	patch_word(fd, buffer.handle, 3);
	use_whole_card();
	part[1] = 77;
	CHECK_EQ(part[0], SIGN + 2);
	CHECK_EQ(all[2 * PAGE_WORDS + 1], 77);
	/* A mapping outlives the handle. */
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gone), 0);
	CHECK_EQ(part[1], 77);
	close(fd);
	CHECK_EQ(all[3 * PAGE_WORDS], SIGN + 3);
}

void i915_bad_mappings_are_refused(void)
{
	int fd = open_i915(), other = open_i915(), reader;
	struct buffer buffer = make_buffer(fd, 4 * PAGE);
	const uint32_t handle = buffer.handle;
	void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct drm_i915_gem_userptr user = {.user_ptr = (uintptr_t)memory, .user_size = PAGE};
	struct drm_i915_gem_create create = {.size = PAGE};
	char path[32];
	const struct {
		struct drm_i915_gem_mmap args;
		int error;
	} rows[] = {
		{{.handle = handle, .size = 0}, EINVAL},
		{{.handle = handle, .size = 4 * PAGE + 1}, EINVAL},
		{{.handle = handle, .size = ~0ull}, EINVAL},
		{{.handle = handle, .offset = PAGE, .size = 4 * PAGE}, EINVAL},
		{{.handle = handle, .offset = PAGE, .size = ~0ull - PAGE + 1}, EINVAL},
		{{.handle = handle, .offset = 4 * PAGE, .size = PAGE}, EINVAL},
		{{.handle = handle, .offset = ~0ull - PAGE + 1, .size = 2 * PAGE}, EINVAL},
		{{.handle = handle, .offset = 8, .size = PAGE}, EINVAL},
		{{.handle = handle, .size = PAGE, .flags = 2}, EINVAL},
		{{.handle = handle, .size = PAGE, .flags = 1ull << 40}, EINVAL},
		{{.handle = handle + 1000, .size = PAGE}, ENOENT},
		{{.handle = 0, .size = PAGE}, ENOENT},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_EQ(map_by(fd, rows[i].args, NULL), rows[i].error);
	CHECK_EQ(map_by(other, (struct drm_i915_gem_mmap){.handle = handle, .size = PAGE}, NULL), ENOENT);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_USERPTR, &user), 0);
	CHECK_EQ(map_by(fd, (struct drm_i915_gem_mmap){.handle = user.handle, .size = PAGE}, NULL), ENXIO);
	/* Who may only read the device maps nothing for writing. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	reader = open(path, O_RDONLY);
	CHECK(reader >= 0);
	CHECK_EQ(guest_ioctl(reader, DRM_IOCTL_I915_GEM_CREATE, &create), 0);
	CHECK_EQ(map_by(reader, (struct drm_i915_gem_mmap){.handle = create.handle, .size = PAGE}, NULL), EACCES);
	CHECK_EQ(map_by(fd, (struct drm_i915_gem_mmap){.handle = handle, .size = PAGE}, NULL), 0);
	close(fd);
}

/* What munmap leaves of a mapping, and a mapping of a file from a later page on. */
void i915_parts_of_mappings_show_their_pages(void)
{
	int fd = open_i915();
	struct buffer buffer = make_buffer(fd, 4 * PAGE);
	struct drm_prime_handle prime = {.handle = buffer.handle, .flags = DRM_CLOEXEC | DRM_RDWR};
	uint32_t *part;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	number_pages(&buffer);
	patch_word(fd, buffer.handle, 3);
	use_whole_card();
	CHECK_EQ(munmap(buffer.map, 2 * PAGE), 0);
	CHECK_EQ(buffer.map[2 * PAGE_WORDS], SIGN + 2);
	CHECK_EQ(buffer.map[3 * PAGE_WORDS], SIGN + 3);
	part = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, prime.fd, PAGE);
	CHECK(part != MAP_FAILED);
	CHECK_EQ(part[0], SIGN + 1);
	CHECK_EQ(part[PAGE_WORDS], SIGN + 2);
	CHECK(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, prime.fd, 3 * PAGE) == MAP_FAILED);
	close(fd);
}

/* An object that no call has mapped, but its file: when it leaves card memory, the mapping follows. */
void i915_mappings_of_files_follow_their_objects(void)
{
	int fd = open_i915();
	struct drm_i915_gem_create create = {.size = PAGE};
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
	struct batch batch = make_batch(1, 1);
	uint32_t *words;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_CREATE, &create), 0);
	prime.handle = batch.objects[0].handle = create.handle;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	words = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, prime.fd, 0);
	CHECK(words != MAP_FAILED);
	batch.args.flags |= I915_EXEC_HANDLE_LUT;
	add_reloc(&batch, 0, 0, 2, 16);
	for (uint32_t round = 0; round < 4; round++) {
		CHECK_EQ(execute(fd, &batch), 0);
		wait_idle(fd, create.handle);
		CHECK_EQ(words[2], (uint32_t)batch.objects[0].offset + 16);
		words[2] = SIGN + round;
		use_whole_card();
		CHECK_EQ(words[2], SIGN + round);
	}
	close(fd);
}

/* A mapping of some pages, of which a part goes again: all have their numbers. */
static void map_some_pages(int fd, const struct buffer *buffer, uint64_t *seed)
{
	const uint32_t pages = buffer->words / PAGE_WORDS, first = guest_random(seed) % pages;
	const uint32_t count = 1 + guest_random(seed) % (pages - first), gone = guest_random(seed) % count;
	uint32_t *words = NULL;

	CHECK_EQ(map_by(fd, (struct drm_i915_gem_mmap){.handle = buffer->handle, .offset = first * PAGE,
						      .size = count * PAGE}, &words), 0);
	CHECK_EQ(gone == 0 ? 0 : munmap(words, gone * PAGE), 0);
	for (uint32_t page = gone; page < count; page++)
		CHECK_EQ(words[page * PAGE_WORDS], buffer->map[0] + first + page);
	CHECK_EQ(munmap(&words[gone * PAGE_WORDS], (count - gone) * PAGE), 0);
}

/* Maps, moves and gives back objects, which another process does at the same time; handles close before mappings. */
static void map_and_move(uint32_t who)
{
	enum { BUFFERS = 6, PAGES = 5, ROUNDS = 60 };
	struct buffer buffers[BUFFERS] = {0};
	uint64_t seed = 77 + who;
	int fd = open_i915();

	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct buffer *buffer = &buffers[guest_random(&seed) % BUFFERS];

		if (!buffer->map) {
			*buffer = make_buffer(fd, PAGES * PAGE);
			for (uint32_t page = 0; page < PAGES; page++)
				buffer->map[page * PAGE_WORDS] = SIGN + (who << 12) + (round << 4) + page;
		}
		patch_word(fd, buffer->handle, 3);
		map_some_pages(fd, buffer, &seed);
		if (round % 16 == 8)
			use_whole_card();
		map_some_pages(fd, buffer, &seed);
		if (guest_random(&seed) % 4 == 0) {
			struct drm_gem_close gone = {.handle = buffer->handle};
			const uint32_t number = buffer->map[0];

			CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gone), 0);
			CHECK_EQ(execute_gone(fd, buffer->handle), ENOENT);
			CHECK_EQ(buffer->map[(PAGES - 1) * PAGE_WORDS], number + PAGES - 1);
			munmap(buffer->map, PAGES * PAGE);
			buffer->map = NULL;
		}
	}
	close(fd);
}

void i915_mappings_of_two_processes_stay_apart(void)
{
	pid_t children[2];
	int status;

	for (uint32_t i = 0; i < 2; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			map_and_move(i);
			_exit(0);
		}
	}
	for (uint32_t i = 0; i < 2; i++) {
		CHECK_EQ(waitpid(children[i], &status, 0), children[i]);
		CHECK_EQ(status, 0);
	}
}

/* ---- QUERY ---- */

struct regions {
	struct drm_i915_query_memory_regions head;
	struct drm_i915_memory_region_info region[2];
};

/* The answer's length, or an error below 0, of one question. */
static int ask(int fd, struct drm_i915_query_item item)
{
	struct drm_i915_query query = {.num_items = 1, .items_ptr = (uintptr_t)&item};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_QUERY, &query), 0);
	return item.length;
}

void i915_queries_have_limits(void)
{
	const int length = sizeof(struct drm_i915_query_memory_regions) + sizeof(struct drm_i915_memory_region_info);
	static struct drm_i915_query_item many[65];
	int fd = open_i915();
	struct regions regions = {0};
	struct drm_i915_query_item item = {.query_id = DRM_I915_QUERY_MEMORY_REGIONS, .data_ptr = (uintptr_t)&regions};
	struct drm_i915_query query = {.num_items = 2, .items_ptr = (uintptr_t)many};

	CHECK_EQ(ask(fd, item), length);
	item.length = length;
	CHECK_EQ(ask(fd, item), length);
	CHECK_EQ(regions.head.num_regions, 1);
	CHECK(regions.region[0].probed_size >= 1 << 20);
	CHECK_EQ(regions.region[1].probed_size, 0);
	/* What is not 0 may mean something one day. */
	CHECK_EQ(ask(fd, item), -EINVAL);
	memset(&regions, 0, sizeof(regions));
	static const int lengths[] = {1, 15, -1, -4096, INT32_MIN};
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		item.length = lengths[i];
		CHECK_EQ(ask(fd, item), -EINVAL);
	}
	CHECK_EQ(regions.head.num_regions, 0);
	item.length = INT32_MAX;
	item.data_ptr = PAGE;
	CHECK_EQ(ask(fd, item), -EFAULT);
	item.data_ptr = ~0ull - 7;
	CHECK_EQ(ask(fd, item), -EFAULT);
	item.flags = 1;
	CHECK_EQ(ask(fd, item), -EINVAL);
	/* No engines to choose from, and nothing of later kernels. */
	CHECK_EQ(ask(fd, (struct drm_i915_query_item){.query_id = DRM_I915_QUERY_ENGINE_INFO}), -EINVAL);
	CHECK_EQ(ask(fd, (struct drm_i915_query_item){.query_id = ~0ull}), -EINVAL);
	many[0].query_id = 1000;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_QUERY, &query), EINVAL);
	CHECK_EQ(many[0].length, -EINVAL);
	query.flags = 1;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_QUERY, &query), EINVAL);
	query = (struct drm_i915_query){.num_items = 65, .items_ptr = (uintptr_t)many};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_QUERY, &query), E2BIG);
	query.num_items = ~0u;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_QUERY, &query), E2BIG);
	query = (struct drm_i915_query){.num_items = 1, .items_ptr = ~0ull - 7};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_QUERY, &query), EFAULT);
	close(fd);
}

/* ---- debugfs ---- */

static int open_drop(int fd)
{
	char path[64];
	struct stat about;
	int file;

	CHECK_EQ(fstat(fd, &about), 0);
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%u/i915_gem_drop_caches", minor(about.st_rdev));
	file = open(path, O_RDWR);
	CHECK(file >= 0);
	return file;
}

/* 0, or the errno. */
static int drop(int file, const char *bits)
{
	return write(file, bits, strlen(bits)) == (ssize_t)strlen(bits) ? 0 : errno;
}

void i915_caches_are_dropped(void)
{
	struct drm_i915_gem_madvise advise = {.madv = I915_MADV_DONTNEED};
	struct drm_i915_gem_get_aperture aperture = {0};
	struct guest_foreign foreign = guest_foreign();
	int fd = open_i915(), file = open_drop(fd);
	struct buffer buffers[2] = {make_buffer(fd, PAGE), make_buffer(fd, PAGE)}, large;
	struct batch batch = good_batch(buffers, 2);
	struct drm_i915_gem_busy busy = {.handle = buffers[0].handle};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_GET_APERTURE, &aperture), 0);
	/* It does not fit into VRAM: it lies in memory of the system. */
	large = make_buffer(fd, (uint32_t)aperture.aper_size + PAGE);
	number_pages(&large);
	advise.handle = large.handle;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_MADVISE, &advise), 0);
	CHECK_EQ(drop(file, "0x400"), EINVAL);
	CHECK_EQ(drop(file, "0xffffffffffffffff"), EINVAL);
	CHECK_EQ(drop(file, "many"), EINVAL);
	CHECK_EQ(drop(file, "0x18"), 0);
	CHECK_EQ(large.map[0], SIGN);
	CHECK_EQ(drop(file, "0x20"), 0);
	CHECK_EQ(large.map[0], 0);
	/* It returns when no file has work. */
	batch.args.flags |= I915_EXEC_FENCE_IN;
	batch.args.rsvd2 = (uint32_t)foreign.file;
	CHECK_EQ(execute(fd, &batch), 0);
	guest_foreign_signal_in(&foreign, "pbd_drop");
	CHECK_EQ(drop(file, "0x3ff"), 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_BUSY, &busy), 0);
	CHECK_EQ(busy.busy, 0);
	close(file);
	close(fd);
}

/* The device goes while a thread waits in the file, while objects are mapped, and comes back. */
void i915_mappings_and_waits_end_with_the_device(void)
{
	struct guest_foreign foreign = guest_foreign();
	int fd = open_i915(), file = open_drop(fd), status;
	struct buffer buffers[2] = {make_buffer(fd, PAGE), make_buffer(fd, PAGE)};
	struct batch batch = good_batch(buffers, 2);
	uint32_t *words = NULL;
	pid_t waiter, toucher;

	CHECK_EQ(map_by(fd, (struct drm_i915_gem_mmap){.handle = buffers[0].handle, .size = PAGE}, &words), 0);
	batch.args.flags |= I915_EXEC_FENCE_IN;
	batch.args.rsvd2 = (uint32_t)foreign.file;
	CHECK_EQ(execute(fd, &batch), 0);
	waiter = fork();
	if (waiter == 0) {
		int error = drop(file, "8");

		_exit(error == 0 || error == ENODEV ? 0 : 1);
	}
	guest_until_in(waiter, "pbd_drop");
	CHECK_EQ(system("cd /sys/bus/pci/drivers/patchbay && ls | grep 0000: >/tmp/name && cat /tmp/name >unbind"), 0);
	CHECK_EQ(waitpid(waiter, &status, 0), waiter);
	CHECK_EQ(status, 0);
	CHECK(drop(file, "8") != 0);
	CHECK_EQ(map_by(fd, (struct drm_i915_gem_mmap){.handle = buffers[0].handle, .size = PAGE}, NULL), ENODEV);
	toucher = fork();
	if (toucher == 0) {
		words[0] = 1;
		_exit(0);
	}
	CHECK_EQ(waitpid(toucher, &status, 0), toucher);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	CHECK_EQ(system("cat /tmp/name >/sys/bus/pci/drivers/patchbay/bind"), 0);
	fd = open_i915();
	buffers[0] = make_buffer(fd, PAGE);
	buffers[1] = make_buffer(fd, PAGE);
	check_good(fd, buffers);
}
