/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qemu/card.h"
#include "qemu/card_say.h"

/* Firmware that has not come up by then hangs, however busy the machine is. */
#define START_MS 900000
/* A card stops within milliseconds; on a busy machine within seconds. */
#define STOP_MS 120000

static _Noreturn void child(const struct pb_card_options *options, pid_t parent, int ready)
{
	struct pb_card_options own = *options;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	own.ready_fd = ready;
	_exit(getppid() == parent ? pb_card_run(&own) : 1);
}

/* @return whether fd has something, or its other end is closed, in time */
static bool await(int fd, int milliseconds)
{
	struct pollfd poller = {.fd = fd, .events = POLLIN};
	int got;

	do {
		got = poll(&poller, 1, milliseconds);
	} while (got < 0 && errno == EINTR);
	return got > 0;
}

int pb_card_start(const struct pb_card_options *options, pid_t *pid)
{
	pid_t parent = getpid();
	int ends[2];
	char byte;
	bool ready;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	*pid = fork();
	if (*pid == 0)
		child(options, parent, ends[1]);
	close(ends[1]);
	ready = *pid > 0 && await(ends[0], START_MS);
	if (*pid > 0 && !ready)
		pb_card_say("the firmware does not come up");
	ready = ready && read(ends[0], &byte, 1) == 1;
	close(ends[0]);
	if (ready)
		return 0;
	if (*pid > 0)
		pb_card_stop(*pid);
	return -1;
}

int pb_card_stop(pid_t pid)
{
	int process = pidfd_open(pid, 0);
	int status = 0;

	kill(pid, SIGTERM);
	if (process >= 0 && !await(process, STOP_MS))
		kill(pid, SIGKILL);
	if (process >= 0)
		close(process);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
