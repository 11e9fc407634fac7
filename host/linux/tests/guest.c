// SPDX-License-Identifier: GPL-2.0 OR MIT
#define _GNU_SOURCE
#include "guest.h"

#include <drm/vgem_drm.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hal/engine/packets.h"

/* When a test counts as hanging: longer than its waits. It takes more by pbd_slow= on a kernel that checks all. */
#define TEST_SECONDS 1800u
/* Exit status of a test's process whose driver lacks what the test is about. */
#define STATUS_LACKS 3

uint64_t guest_number(const char *key, uint64_t otherwise)
{
	char line[2048] = "";
	FILE *file = fopen("/proc/cmdline", "r");
	const char *found;

	if (file == NULL || fgets(line, sizeof(line), file) == NULL)
		return otherwise;
	fclose(file);
	found = strstr(line, key);
	return found == NULL ? otherwise : strtoull(found + strlen(key), NULL, 10);
}

static unsigned int test_seconds(void)
{
	return TEST_SECONDS * (unsigned int)guest_number("pbd_slow=", 1);
}

void guest_check_eq(uint64_t actual, uint64_t expected, const char *text, const char *file, int line)
{
	const char *base = strrchr(file, '/');

	if (actual == expected)
		return;
	printf("  %s:%d: %s is %lld (0x%llx), expected %lld\n", base ? base + 1 : file, line, text,
	       (long long)actual, (unsigned long long)actual, (long long)expected);
	fflush(stdout);
	_exit(1);
}

void guest_lacks(const char *what)
{
	printf("  lacks: %s\n", what);
	fflush(stdout);
	_exit(STATUS_LACKS);
}

/* ---- the runner ---- */

static const char *verdict(int status)
{
	if (status == 0)
		return "ok";
	return WIFEXITED(status) && WEXITSTATUS(status) == STATUS_LACKS ? "LACKS" : "FAIL";
}

/* Ends what a test has left behind, so that the next one finds no foreign load. They are ours: see guest_run(). */
static void end_group(pid_t group)
{
	(void)kill(-group, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static bool is_chosen(const char *name, int argc, char **argv)
{
	if (argc < 2)
		return true;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return false;
}

static bool run_one(const struct guest_test *test)
{
	const int64_t start = guest_now_ns();
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		setpgid(0, 0);
		alarm(test_seconds());
		test->run();
		fflush(stdout);
		_exit(0);
	}
	setpgid(child, child);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	end_group(child);
	if (WIFSIGNALED(status))
		printf("  ended by signal %d\n", WTERMSIG(status));
	printf("%s %s %lld\n", verdict(status), test->name,
	       (long long)((guest_now_ns() - start) / 1000000));
	fflush(stdout);
	return status == 0;
}

int guest_run(const struct guest_test *tests, size_t count, int argc, char **argv)
{
	int failed = 0;

	/* Processes of a test that has ended become children of this one. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (size_t i = 0; i < count; i++)
		if (is_chosen(tests[i].name, argc, argv))
			failed += !run_one(&tests[i]);
	return failed != 0;
}

/* ---- the device ---- */

int guest_ioctl(int fd, unsigned long request, void *argument)
{
	int got;

	do {
		got = ioctl(fd, request, argument);
	} while (got < 0 && (errno == EINTR || errno == EAGAIN));
	return got < 0 ? errno : 0;
}

static int open_node(const char *name, const char *format, int first)
{
	for (int i = 0; i < 8; i++) {
		char path[64], got[32] = "";
		struct drm_version version = {.name = got, .name_len = sizeof(got) - 1};
		int fd;

		snprintf(path, sizeof(path), format, first + i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (guest_ioctl(fd, DRM_IOCTL_VERSION, &version) == 0 && strcmp(got, name) == 0)
			return fd;
		close(fd);
	}
	return -1;
}

int guest_open_render(const char *name)
{
	return open_node(name, "/dev/dri/renderD%d", 128);
}

int guest_open(void)
{
	return guest_open_render("patchbay");
}

int guest_open_primary(const char *name)
{
	return open_node(name, "/dev/dri/card%d", 0);
}

struct drm_patchbay_gem_info guest_info(int fd, uint32_t handle)
{
	struct drm_patchbay_gem_info info = {.handle = handle};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_INFO, &info), 0);
	return info;
}

static struct guest_object map_object(int fd, uint32_t handle)
{
	const struct drm_patchbay_gem_info info = guest_info(fd, handle);
	struct guest_object object = {.handle = handle, .size = info.size};
	void *map = mmap(NULL, info.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)info.offset);

	CHECK(map != MAP_FAILED);
	object.words = map;
	return object;
}

struct guest_object guest_object(int fd, uint64_t bytes, uint32_t flags)
{
	struct drm_patchbay_gem_create create = {.size = bytes, .flags = flags};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_CREATE, &create), 0);
	return map_object(fd, create.handle);
}

struct guest_object guest_share(int fd, const struct guest_object *object, int other)
{
	struct drm_prime_handle prime = {.handle = object->handle, .flags = DRM_CLOEXEC | DRM_RDWR};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	CHECK_EQ(guest_ioctl(other, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
	close(prime.fd);
	return map_object(other, prime.handle);
}

void guest_object_free(int fd, struct guest_object *object)
{
	struct drm_gem_close arguments = {.handle = object->handle};

	munmap(object->words, object->size);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &arguments), 0);
}

/* ---- submissions ---- */

void guest_work_start(struct guest_work *work, uint32_t queue)
{
	memset(work, 0, sizeof(*work));
	work->args.queue = queue;
}

uint32_t guest_allocation(struct guest_work *work, uint32_t handle, bool write)
{
	work->allocations[work->args.allocation_count].handle = handle;
	work->allocations[work->args.allocation_count].flags = write ? PATCHBAY_ALLOCATION_WRITE : 0;
	return work->args.allocation_count++;
}

void guest_command(struct guest_work *work, uint32_t opcode, uint32_t count, const uint32_t *operands)
{
	work->words[work->count++] = PB_PACKET(opcode, count + 1);
	memcpy(&work->words[work->count], operands, count * sizeof(*operands));
	work->count += count;
}

void guest_fill(struct guest_work *work, uint32_t to, uint32_t offset, uint32_t bytes, uint32_t value)
{
	guest_command(work, PB_PACKET_FILL, 4, (const uint32_t[]){to, offset, bytes, value});
}

void guest_copy(struct guest_work *work, uint32_t from, uint32_t from_offset, uint32_t to, uint32_t to_offset,
		uint32_t bytes)
{
	guest_command(work, PB_PACKET_COPY, 5, (const uint32_t[]){from, from_offset, to, to_offset, bytes});
}

void guest_busy(struct guest_work *work, uint32_t microseconds)
{
	work->args.flags |= PATCHBAY_SUBMIT_UNSAFE;
	guest_command(work, PB_PACKET_BUSY, 1, &microseconds);
}

int guest_submit(int fd, struct guest_work *work)
{
	work->args.commands = (uintptr_t)work->words;
	work->args.command_bytes = work->count * 4;
	work->args.allocations = (uintptr_t)work->allocations;
	work->args.patches = (uintptr_t)work->patches;
	return guest_ioctl(fd, DRM_IOCTL_PATCHBAY_SUBMIT, &work->args);
}

int guest_wait(int fd, uint32_t queue, uint64_t value, int64_t timeout_ns)
{
	struct drm_patchbay_wait wait = {.queue = queue, .value = value, .timeout_ns = timeout_ns};

	return guest_ioctl(fd, DRM_IOCTL_PATCHBAY_WAIT, &wait);
}

void guest_do(int fd, struct guest_work *work)
{
	CHECK_EQ(guest_submit(fd, work), 0);
	CHECK_EQ(guest_wait(fd, work->args.queue, work->args.value, GUEST_PATIENCE), 0);
}

struct drm_patchbay_queue_query guest_query(int fd, uint32_t queue)
{
	struct drm_patchbay_queue_query query = {.queue = queue};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_QUEUE_QUERY, &query), 0);
	return query;
}

int guest_clear(int fd, uint32_t queue)
{
	struct drm_patchbay_queue arguments = {.queue = queue};

	return guest_ioctl(fd, DRM_IOCTL_PATCHBAY_QUEUE_CLEAR, &arguments);
}

/* ---- fences ---- */

uint32_t guest_syncobj(int fd)
{
	struct drm_syncobj_create create = {0};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create), 0);
	return create.handle;
}

int guest_syncobj_wait(int fd, uint32_t handle, uint64_t point, int64_t timeout_ns)
{
	struct drm_syncobj_timeline_wait wait = {
		.handles = (uintptr_t)&handle,
		.points = (uintptr_t)&point,
		.timeout_nsec = guest_now_ns() + timeout_ns,
		.count_handles = 1,
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
	};

	return guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

int guest_fence_status(int fence)
{
	struct sync_fence_info fences[8] = {0};
	struct sync_file_info info = {.num_fences = 8, .sync_fence_info = (uintptr_t)fences};

	CHECK_EQ(guest_ioctl(fence, SYNC_IOC_FILE_INFO, &info), 0);
	return info.status;
}

int guest_fence_wait(int file)
{
	struct pollfd poller = {.fd = file, .events = POLLIN};

	return poll(&poller, 1, (int)(GUEST_PATIENCE / 1000000)) == 1 ? 0 : ETIME;
}

/* ---- another driver's fences ---- */

struct guest_foreign guest_foreign(void)
{
	struct drm_mode_create_dumb create = {.width = 16, .height = 16, .bpp = 32};
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC};
	struct drm_vgem_fence_attach attach = {.flags = VGEM_FENCE_WRITE};
	struct dma_buf_export_sync_file sync = {.flags = DMA_BUF_SYNC_RW, .fd = -1};
	struct guest_foreign foreign = {.fd = guest_open_primary("vgem")};

	CHECK(foreign.fd >= 0);
	CHECK_EQ(guest_ioctl(foreign.fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	prime.handle = create.handle;
	CHECK_EQ(guest_ioctl(foreign.fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	attach.handle = create.handle;
	CHECK_EQ(guest_ioctl(foreign.fd, DRM_IOCTL_VGEM_FENCE_ATTACH, &attach), 0);
	CHECK_EQ(guest_ioctl(prime.fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &sync), 0);
	foreign.fence = attach.out_fence;
	foreign.file = sync.fd;
	close(prime.fd);
	return foreign;
}

void guest_foreign_signal(const struct guest_foreign *foreign)
{
	struct drm_vgem_fence_signal signal = {.fence = foreign->fence};

	CHECK_EQ(guest_ioctl(foreign->fd, DRM_IOCTL_VGEM_FENCE_SIGNAL, &signal), 0);
}

/* ---- other processes, the machine below ---- */

/* The functions of the kernel that a process is in; none, if it is not asleep. */
static bool sleeps_in(pid_t process, const char *function)
{
	char path[32], text[8192] = "", wanted[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stack", (int)process);
	snprintf(wanted, sizeof(wanted), "[<0>] %s", function);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	CHECK(read(fd, text, sizeof(text) - 1) >= 0);
	close(fd);
	return strstr(text, wanted) != NULL;
}

void guest_until_in(pid_t process, const char *function)
{
	GUEST_UNTIL(sleeps_in(process, function));
}

void guest_foreign_signal_in(const struct guest_foreign *foreign, const char *function)
{
	const pid_t caller = getpid();
	const pid_t child = fork();

	CHECK(child >= 0);
	if (child > 0)
		return;
	guest_until_in(caller, function);
	guest_foreign_signal(foreign);
	_exit(0);
}

volatile uint32_t *guest_shared_word(void)
{
	void *map = mmap(NULL, sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(map != MAP_FAILED);
	return map;
}

void guest_ask_host(const char *word)
{
	printf("HOST %s\n", word);
	fflush(stdout);
}

void guest_await_host(const char *word)
{
	char answer[16] = "";

	guest_ask_host(word);
	/* The answer comes over the console. */
	CHECK(read(0, answer, sizeof(answer) - 1) > 0);
}

/* ---- sleep ---- */

static int write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), error = 0;

	CHECK(fd >= 0);
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		error = errno;
	close(fd);
	return error;
}

int guest_suspend(const char *state, const char *level)
{
	CHECK_EQ(write_to("/sys/power/pm_test", level), 0);
	CHECK_EQ(write_to("/sys/module/suspend/parameters/pm_test_delay", "0"), 0);
	return write_to("/sys/power/state", state);
}

/* ---- time and chance ---- */

int64_t guest_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * GUEST_SECOND + now.tv_nsec;
}

void guest_sleep_ms(unsigned int milliseconds)
{
	usleep(milliseconds * 1000u);
}

/* The generator of Steele and Vigna's SplitMix64. */
uint32_t guest_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)(z ^ z >> 31);
}
