// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * pbd-flips [-s COUNT,... HOOK] COMMAND [ARGUMENT...]: runs an unmodified program and counts the updates of a display that
 * the kernel has accepted from it, by its system calls (ptrace): page flips, modes set, atomic commits that are no tests,
 * damage reports. At the end: a line "flips: FLIPS pages, MODES modes, COMMITS commits, DAMAGES damages" on stderr, and the
 * program's exit status.
 *
 * With -s, all threads of the program stand still once the given number of page flips and commits has been accepted, and
 * the shell runs HOOK with that number as its argument. So a picture can be taken of a program that shows another one in each
 * frame.
 */
#include <drm/drm.h>
#include <drm/drm_mode.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 256
#define STOPS 16

struct thread {
	pid_t pid;
	bool inside; /* of a system call */
	bool waits;  /* has stopped, and is not to go on before the hook is done */
	int signal;  /* that it gets when it goes on */
};

static struct thread threads[THREADS];
static unsigned long pages, modes, commits, damages;
static unsigned long stops[STOPS];
static int stop_count, stop_next;
static const char *hook;

static struct thread *find(pid_t pid)
{
	struct thread *free_one = NULL;

	for (int i = 0; i < THREADS; i++) {
		if (threads[i].pid == pid)
			return &threads[i];
		if (threads[i].pid == 0 && free_one == NULL)
			free_one = &threads[i];
	}
	if (free_one == NULL)
		exit(125);
	*free_one = (struct thread){.pid = pid};
	return free_one;
}

static void go_on(struct thread *thread)
{
	int number = thread->signal;

	thread->signal = 0;
	thread->waits = false;
	ptrace(PTRACE_SYSCALL, thread->pid, NULL, (void *)(uintptr_t)number);
}

/* A system call of the thread has returned. True: the hook's turn. */
static bool count(pid_t pid)
{
	struct user_regs_struct registers;
	struct drm_mode_atomic atomic;
	struct iovec to = {&atomic, sizeof(atomic)}, from = {NULL, sizeof(atomic)};

	if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) != 0 || registers.orig_rax != SYS_ioctl || registers.rax != 0)
		return false;
	switch ((uint32_t)registers.rsi) {
	case DRM_IOCTL_MODE_PAGE_FLIP:
		pages++;
		break;
	case DRM_IOCTL_MODE_SETCRTC:
		modes++;
		return false;
	case DRM_IOCTL_MODE_DIRTYFB:
		damages++;
		return false;
	case DRM_IOCTL_MODE_ATOMIC:
		from.iov_base = (void *)(uintptr_t)registers.rdx;
		if (syscall(SYS_process_vm_readv, pid, &to, 1, &from, 1, 0) != sizeof(atomic) ||
		    (atomic.flags & DRM_MODE_ATOMIC_TEST_ONLY) != 0)
			return false;
		commits++;
		break;
	default:
		return false;
	}
	return stop_next < stop_count && pages + commits == stops[stop_next];
}

/* Takes a change of a thread's state. True: the hook's turn; the thread waits. */
static bool take(struct thread *thread, int status)
{
	int signal_number = WSTOPSIG(status);

	if (signal_number == (SIGTRAP | 0x80)) {
		thread->inside = !thread->inside;
		return !thread->inside && count(thread->pid);
	}
	/* Events, and the first stop of a new thread, are of no interest to the program. */
	if (status >> 16 == 0 && signal_number != SIGTRAP)
		thread->signal = signal_number;
	return false;
}

/* Stops every thread that still runs, calls the hook, and lets all go on. */
static void show(pid_t group)
{
	char command[256];

	for (int i = 0; i < THREADS; i++) {
		struct thread *thread = &threads[i];
		int status;

		if (thread->pid == 0 || thread->waits)
			continue;
		if (syscall(SYS_tgkill, group, thread->pid, SIGSTOP) != 0)
			continue;
		while (waitpid(thread->pid, &status, __WALL) == thread->pid && WIFSTOPPED(status)) {
			if (status >> 16 == 0 && WSTOPSIG(status) == SIGSTOP) {
				thread->waits = true;
				break;
			}
			/* A flip that another thread made meanwhile is counted, but is no reason to stop again. */
			take(thread, status);
			go_on(thread);
		}
		if (!thread->waits)
			thread->pid = 0;
	}
	snprintf(command, sizeof(command), "%s %lu", hook, stops[stop_next]);
	stop_next++;
	if (system(command) != 0)
		fprintf(stderr, "pbd-flips: the hook fails\n");
	for (int i = 0; i < THREADS; i++)
		if (threads[i].pid != 0 && threads[i].waits)
			go_on(&threads[i]);
}

/* Follows the program to its end. */
static int follow(pid_t group)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	int status, result = 126;
	pid_t pid;

	if (waitpid(group, &status, 0) != group || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, group, NULL, (void *)options) != 0)
		return result;
	go_on(find(group));
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		struct thread *thread = find(pid);

		if (!WIFSTOPPED(status)) {
			thread->pid = 0;
			if (pid == group)
				result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
			continue;
		}
		/* A new thread begins with a stop that no process has sent. */
		if (status >> 16 == 0 && WSTOPSIG(status) == SIGSTOP) {
			go_on(thread);
			continue;
		}
		if (take(thread, status)) {
			thread->waits = true;
			show(group);
		} else {
			go_on(thread);
		}
	}
	return result;
}

int main(int argc, char **argv)
{
	pid_t pid;
	int result;

	if (argc > 4 && strcmp(argv[1], "-s") == 0) {
		for (char *next = strtok(argv[2], ","); next != NULL && stop_count < STOPS; next = strtok(NULL, ","))
			stops[stop_count++] = strtoul(next, NULL, 10);
		hook = argv[3];
		argv += 3;
	}
	if (argv[1] == NULL)
		return 125;
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	result = follow(pid);
	fprintf(stderr, "flips: %lu pages, %lu modes, %lu commits, %lu damages\n", pages, modes, commits, damages);
	return result;
}
