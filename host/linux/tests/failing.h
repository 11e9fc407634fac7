/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Calls of which each allocation fails: what the tests with pbd_fail.ko share. */
#ifndef PBD_TEST_FAILING_H
#define PBD_TEST_FAILING_H

#include <stdbool.h>
#include <stdint.h>

/* What fails, and whether it is to. */
struct failing {
	uint32_t nth, all;
	bool on;
};

/* From now on the allocations of this thread fail, as the structure says; and no longer. */
void fail_from_now(const struct failing *failing);
void fail_no_more(void);
/* Makes a call of which allocations fail. @return its errno */
int failing_ioctl(const struct failing *failing, int fd, unsigned long request, void *argument);
/* Makes the call again, without a failure, if it has failed. */
void again(int error, int fd, unsigned long request, void *argument);

/*
 * The error of a call that makes an object: its memory is a file of shmem, which reports ENOSPC when there is no memory
 * for the file's inode.
 */
int of_new_file(int error);

/*
 * A call: makes all that it needs, makes the call with failing_ioctl(), which is repeated without a failure if it fails,
 * checks its effect, and gives all back. @return errno of the call that may fail
 */
typedef int (*call_fn)(const struct failing *failing);

/* Makes the call once for each of its allocations, and once more for each with all that follow. Nothing is left. */
void each_allocation(call_fn call);

#endif
