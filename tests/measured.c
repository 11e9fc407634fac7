/* SPDX-License-Identifier: MIT */
/* measured GROUP NAME SECONDS COMMAND [ARGUMENT...]: runs the command of a test.
 *
 * The command and each process below it end after SECONDS of processor time of their own (SIGXCPU), so that a limit holds
 * however busy the machine is. The exit status is the command's; 128 and the signal's number if a signal ended it. What the
 * command leaves running is ended, and fails the test. If PB_CPU_RECORD names a file, a line is added to it: group, name,
 * and the processor time of all processes of the test, user and system, in seconds. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Processes that the command leaves have so long to end: those that see their input closed, say. */
#define LEFT_SECONDS 600

static void start(unsigned long seconds, char **command)
{
	struct rlimit limit;
	/* The soft limit alone: a process of the test that needs another one may set it. */
	if (getrlimit(RLIMIT_CPU, &limit) != 0 ||
	    (limit.rlim_cur = seconds, setrlimit(RLIMIT_CPU, &limit)) != 0) {
		perror("measured: setrlimit");
		_exit(125);
	}
	unsetenv("PB_CPU_RECORD"); /* tests below this one are a part of it */
	execvp(command[0], command);
	fprintf(stderr, "measured: %s: %s\n", command[0], strerror(errno));
	_exit(127);
}

static int status_of(int status, unsigned long seconds)
{
	if (!WIFSIGNALED(status)) {
		return WEXITSTATUS(status);
	}
	if (WTERMSIG(status) == SIGXCPU) {
		fprintf(stderr, "measured: the command used up its %lu s of processor time\n", seconds);
	}
	return 128 + WTERMSIG(status);
}

/** Returns whether one of the processes that the command left is there still, after time for them to end; it is killed then. */
static int is_left(void)
{
	const struct timespec moment = {.tv_nsec = 10000000};
	for (int tries = 0; tries < LEFT_SECONDS * 100; tries++) {
		pid_t pid;
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		}
		if (pid < 0) {
			return 0;
		}
		nanosleep(&moment, NULL);
	}
	return 1;
}

/** Kills what is left of the test, a generation at a time: the children of a process that ends become ours. */
static void kill_left(void)
{
	char path[64], line[4096];
	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	for (;;) {
		FILE *const children = fopen(path, "r");
		char *const found = children == NULL ? NULL : fgets(line, sizeof(line), children);
		if (children != NULL) {
			fclose(children);
		}
		if (found == NULL) {
			return;
		}
		for (char *next, *at = line; *at >= '0' && *at <= '9'; at = next + 1) {
			const long pid = strtol(at, &next, 10);
			fprintf(stderr, "measured: process %ld was left running, and is killed\n", pid);
			kill((pid_t)pid, SIGKILL);
			waitpid((pid_t)pid, NULL, 0);
			if (*next == '\0') {
				break;
			}
		}
	}
}

static void record(const char *file, const char *group, const char *name)
{
	struct rusage used;
	char line[512];
	getrusage(RUSAGE_CHILDREN, &used);
	const double user = (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6;
	const double system = (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec / 1e6;
	const int length = snprintf(line, sizeof(line), "%s\t%s\t%.2f\t%.2f\n", group, name, user, system);
	const int out = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (out < 0 || write(out, line, (size_t)length) != length) {
		perror(file);
	}
	if (out >= 0) {
		close(out);
	}
}

int main(int count, char **words)
{
	if (count < 5) {
		fprintf(stderr, "usage: measured GROUP NAME SECONDS COMMAND [ARGUMENT...]\n");
		return 2;
	}
	const unsigned long seconds = strtoul(words[3], NULL, 10);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	const pid_t command = fork();
	if (command == 0) {
		start(seconds, &words[4]);
	}
	int status = 0;
	/* Processes whose parent has ended come here, too: a test may wait for their end. */
	for (pid_t ended = 0; ended != command;) {
		ended = waitpid(-1, &status, 0);
		if (ended < 0 && errno != EINTR) {
			perror("measured: waitpid");
			return 125;
		}
	}
	int result = status_of(status, seconds);
	if (is_left()) {
		kill_left();
		result = result == 0 ? 1 : result;
	}
	const char *const file = getenv("PB_CPU_RECORD");
	if (file != NULL) {
		record(file, words[1], words[2]);
	}
	return result;
}
