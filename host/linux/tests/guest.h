/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the tests in the guest share: the device, objects, command buffers, checks. */
#ifndef PBD_TEST_GUEST_H
#define PBD_TEST_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "../patchbay_drm.h"

/* Ends the test with the place and the two values, if they differ. */
#define CHECK_EQ(actual, expected) guest_check_eq((uint64_t)(actual), (uint64_t)(expected), #actual, __FILE__, __LINE__)
#define CHECK(condition) guest_check_eq(!!(condition), 1, #condition, __FILE__, __LINE__)

void guest_check_eq(uint64_t actual, uint64_t expected, const char *text, const char *file, int line);

/* Ends the test: the driver does not offer what it is about. Its verdict is LACKS. @what: what has been observed */
void guest_lacks(const char *what) __attribute__((noreturn));

/* A test; it ends with a return, or in a failed check. */
struct guest_test {
	const char *name;
	void (*run)(void);
};

/* Runs those of the table that the arguments name, or all, each in a process of its own. @return exit status */
int guest_run(const struct guest_test *tests, size_t count, int argc, char **argv);

/* Opens the driver's render node; the primary or the render node of a driver. -1: there is none. */
int guest_open(void);
int guest_open_primary(const char *name);
int guest_open_render(const char *name);

/* 0, or the errno. */
int guest_ioctl(int fd, unsigned long request, void *argument);

struct guest_object {
	uint32_t handle;
	uint64_t size;
	uint32_t *words; /* mapped */
};

struct guest_object guest_object(int fd, uint64_t bytes, uint32_t flags);
/* The object in another file of the driver. */
struct guest_object guest_share(int fd, const struct guest_object *object, int other);
void guest_object_free(int fd, struct guest_object *object);
struct drm_patchbay_gem_info guest_info(int fd, uint32_t handle);

/* A submission in the making. */
struct guest_work {
	struct drm_patchbay_submit args;
	uint32_t words[4096];
	uint32_t count;
	struct drm_patchbay_allocation allocations[1024];
	struct drm_patchbay_patch patches[1024];
};

void guest_work_start(struct guest_work *work, uint32_t queue);
uint32_t guest_allocation(struct guest_work *work, uint32_t handle, bool write);
void guest_command(struct guest_work *work, uint32_t opcode, uint32_t count, const uint32_t *operands);
void guest_fill(struct guest_work *work, uint32_t to, uint32_t offset, uint32_t bytes, uint32_t value);
void guest_copy(struct guest_work *work, uint32_t from, uint32_t from_offset, uint32_t to, uint32_t to_offset,
		uint32_t bytes);
void guest_busy(struct guest_work *work, uint32_t microseconds);
int guest_submit(int fd, struct guest_work *work);
int guest_wait(int fd, uint32_t queue, uint64_t value, int64_t timeout_ns);
/* Submits and waits. */
void guest_do(int fd, struct guest_work *work);
struct drm_patchbay_queue_query guest_query(int fd, uint32_t queue);
int guest_clear(int fd, uint32_t queue);

uint32_t guest_syncobj(int fd);
/* 0, ETIME or another errno. */
int guest_syncobj_wait(int fd, uint32_t handle, uint64_t point, int64_t timeout_ns);
/* Status of a sync_file: 0 active, 1 signaled, below 0 its error. */
int guest_fence_status(int fence);
/* Waits until a fence has ended, or another file can be read. @return 0, ETIME */
int guest_fence_wait(int file);

/* A fence of the driver vgem, which the test signals: nothing of ours does. */
struct guest_foreign {
	int fd;		/* of the device */
	uint32_t fence; /* number at vgem */
	int file;	/* sync_file */
};

struct guest_foreign guest_foreign(void);
void guest_foreign_signal(const struct guest_foreign *foreign);

/* Waits until a process sleeps in a function of the kernel, or in one whose name begins so. */
void guest_until_in(pid_t process, const char *function);
/* Starts a process that ends the fence as soon as the caller sleeps in a function of the kernel. */
void guest_foreign_signal_in(const struct guest_foreign *foreign, const char *function);
/* A word that is 0, which the caller shares with processes that it starts from then on. */
volatile uint32_t *guest_shared_word(void);

/*
 * The machine goes to sleep as far as `level` of /sys/power/pm_test, and wakes up at once. @state: of /sys/power/state.
 * @return the errno
 */
int guest_suspend(const char *state, const char *level);

/* Asks the machine below for something; and waits until it has answered. */
void guest_ask_host(const char *word);
void guest_await_host(const char *word);

int64_t guest_now_ns(void);
void guest_sleep_ms(unsigned int milliseconds);
uint32_t guest_random(uint64_t *state);
/* The number behind a key of the kernel's command line, as "pbd_slow=". */
uint64_t guest_number(const char *key, uint64_t otherwise);

#define GUEST_SECOND 1000000000ll
/* How long a test waits for what must come. The guest's clock goes on while a busy system leaves it no processor: only a hang
 * takes so long. */
#define GUEST_PATIENCE (600 * GUEST_SECOND)

/* Waits until a condition holds, and ends the test if it never does. */
#define GUEST_UNTIL(condition)                                                  \
	for (const int64_t until_ = guest_now_ns() + GUEST_PATIENCE; !(condition); \
	     guest_sleep_ms(2))                                                 \
	guest_check_eq(guest_now_ns() < until_, 1, #condition, __FILE__, __LINE__)

#endif
