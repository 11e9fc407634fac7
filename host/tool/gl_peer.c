/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/gl_peer.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Since Linux 6.5; older headers do not have it. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* What does not change in a process's life but for the parent, which changes when that one ends. */
struct process {
	pid_t id, parent;
	unsigned long long start;
};

int pb_gl_process_open(pid_t process)
{
	return (int)syscall(SYS_pidfd_open, process, 0);
}

bool pb_gl_process_runs(int descriptor)
{
	struct pollfd poller = {.fd = descriptor, .events = POLLIN};

	return poll(&poller, 1, 0) == 0;
}

/* Whether the kernel says that the process that has connected has ended: its id may be another one's. */
static bool has_ended(int connection)
{
	socklen_t bytes = sizeof(int);
	bool ended;
	int process;

	if (getsockopt(connection, SOL_SOCKET, SO_PEERPIDFD, &process, &bytes) != 0)
		return false;
	ended = !pb_gl_process_runs(process);
	(void)close(process);
	return ended;
}

pid_t pb_gl_peer(int connection, uid_t *user)
{
	struct ucred peer = {.pid = 0, .uid = (uid_t)-1};
	socklen_t bytes = sizeof(peer);

	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0)
		peer.pid = 0;
	*user = peer.uid;
	return peer.pid > 0 && !has_ended(connection) ? peer.pid : 0;
}

/* Reads /proc/PID/stat: the name in it, in parentheses, may hold anything. @return false: there is no such process */
static bool read_process(pid_t id, struct process *process)
{
	char path[32], text[1024];
	const char *at;
	ssize_t got;
	int file, parent;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)id);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	got = read(file, text, sizeof(text) - 1);
	(void)close(file);
	if (got <= 0)
		return false;
	text[got] = '\0';
	at = strrchr(text, ')');
	process->id = id;
	/* Fields 3 and 4 are state and parent, field 22 is when it started. */
	if (at == NULL ||
	    sscanf(at, ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &parent, &process->start) != 2)
		return false;
	process->parent = parent;
	return true;
}

size_t pb_gl_ancestors(pid_t process, pid_t *chain)
{
	struct process known[PB_GL_ANCESTORS_MAX], now;
	size_t count = 0;

	for (pid_t id = process; id > 0 && count < PB_GL_ANCESTORS_MAX; id = known[count++].parent) {
		if (!read_process(id, &known[count]))
			break;
	}
	/* What was so before and is so now was so when the last one was read. */
	for (size_t i = 0; i < count; i++) {
		if (!read_process(known[i].id, &now) || now.parent != known[i].parent ||
		    now.start != known[i].start)
			return i;
		chain[i] = known[i].id;
	}
	return count;
}
