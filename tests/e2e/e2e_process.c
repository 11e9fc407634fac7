/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/e2e/e2e_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"

#define CHILDREN 64u

/* Reads a file of a process in /proc. @return false: there is no process */
static bool read_proc(const char *pid, const char *name, char text[2048])
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	text[fread(text, 1, 2047, file)] = '\0';
	fclose(file);
	return true;
}

/* The state of a process, and its parent. @return 'X': it does not live */
static char state_of(const char *pid, int *parent)
{
	char text[2048];
	const char *end;
	char state;

	if (!read_proc(pid, "stat", text))
		return 'X';
	/* The name before the field is in parentheses and may hold anything. */
	end = strrchr(text, ')');
	return end == NULL || sscanf(end + 1, " %c %d", &state, parent) != 2 || state == 'Z' ? 'X' : state;
}

/* The parent of a living process; 0 if it does not live. */
static pid_t living_parent(const char *pid)
{
	int parent = 0;

	return state_of(pid, &parent) == 'X' ? 0 : parent;
}

/* Whether the kernel has a socket that listens there. */
static bool listens(const char *path)
{
	FILE *file = fopen("/proc/net/unix", "r");
	bool found = false;
	unsigned long flags;
	char line[512];

	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		found = sscanf(line, "%*s %*s %*s %lx", &flags) == 1 && flags != 0 &&
			strlen(line) > strlen(path) && strcmp(line + strlen(line) - strlen(path), path) == 0;
	}
	fclose(file);
	return found;
}

void e2e_await_listener(const char *path)
{
	const uint64_t start = e2e_now();

	while (!listens(path))
		assert_true(e2e_patience(start));
}

void e2e_await_state(pid_t pid, char process_state)
{
	const uint64_t start = e2e_now();
	char name[16];
	int parent;

	snprintf(name, sizeof(name), "%d", (int)pid);
	while (state_of(name, &parent) != process_state)
		assert_true(e2e_patience(start));
}

/* How often a process has gone to sleep. */
static uint32_t sleeps_of(pid_t pid)
{
	static const char field[] = "\nvoluntary_ctxt_switches:";
	char name[16], text[2048];
	const char *found;

	snprintf(name, sizeof(name), "%d", (int)pid);
	assert_true(read_proc(name, "status", text));
	found = strstr(text, field);
	assert_non_null(found);
	return (uint32_t)strtoul(found + sizeof(field) - 1u, NULL, 10);
}

void e2e_await_sleeps(pid_t pid, uint32_t count)
{
	const uint64_t start = e2e_now();
	const uint32_t before = sleeps_of(pid);

	while (sleeps_of(pid) - before < count)
		assert_true(e2e_patience(start));
}

size_t e2e_children(pid_t parent, pid_t *children, size_t most)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(processes);
	while (count < most && (entry = readdir(processes)) != NULL) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    living_parent(entry->d_name) == parent)
			children[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
	}
	closedir(processes);
	return count;
}

size_t e2e_end_children(void)
{
	pid_t children[CHILDREN];
	size_t all = 0;

	for (;;) {
		size_t count = e2e_children(getpid(), children, CHILDREN);

		for (size_t i = 0; i < count; i++) {
			fprintf(stderr, "still running: process %d\n", (int)children[i]);
			kill(children[i], SIGKILL);
		}
		/* Each process that ends may leave orphans. */
		while (waitpid(-1, NULL, count != 0 ? 0 : WNOHANG) > 0)
			continue;
		if (count == 0)
			return all;
		all += count;
	}
}

/* ---- clients ---- */

void e2e_process_start(struct e2e_process *process, int (*body)(struct e2e_process *self, void *argument),
		       void *argument)
{
	pid_t parent = getpid();
	int there[2], back[2];

	assert_int_equal(pipe2(there, O_CLOEXEC), 0);
	assert_int_equal(pipe2(back, O_CLOEXEC), 0);
	fflush(NULL);
	process->pid = fork();
	assert_true(process->pid >= 0);
	if (process->pid == 0) {
		struct e2e_process self = {.pid = parent, .to = back[1], .from = there[0]};

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(there[1]);
		close(back[0]);
		_exit(getppid() == parent ? body(&self, argument) : 1);
	}
	close(there[0]);
	close(back[1]);
	process->to = there[1];
	process->from = back[0];
}

void e2e_send(const struct e2e_process *process, char word)
{
	/* A process that has ended gets no word. The test finds that out by its exit code. */
	if (write(process->to, &word, 1) != 1)
		fprintf(stderr, "process %d has ended\n", (int)process->pid);
}

char e2e_receive(const struct e2e_process *process)
{
	char word;
	ssize_t got;

	do {
		got = read(process->from, &word, 1);
	} while (got < 0 && errno == EINTR);
	return got == 1 ? word : '\0';
}

int e2e_process_end(struct e2e_process *process)
{
	int status;

	assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
	close(process->to);
	close(process->from);
	return status;
}

void e2e_process_kill(struct e2e_process *process)
{
	int status;

	assert_int_equal(kill(process->pid, SIGKILL), 0);
	status = e2e_process_end(process);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* ---- the command ---- */

static void redirect(const char *name, int to)
{
	char path[E2E_PATH_BYTES];
	int fd;

	e2e_path(path, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || dup2(fd, to) < 0)
		_exit(126);
}

pid_t e2e_spawn(const char *program, const char *const *arguments, const char *search)
{
	char *argv[E2E_ARGUMENTS + 4] = {NULL};
	pid_t parent = getpid();
	const char *more[2];
	size_t count = 0, more_count;
	pid_t pid;

	argv[0] = strdup(program);
	while (count < E2E_ARGUMENTS && arguments[count] != NULL) {
		argv[count + 1] = strdup(arguments[count]);
		count++;
	}
	more_count = e2e_board_arguments(arguments, count, more);
	for (size_t i = 0; i < more_count; i++)
		argv[count + 1 + i] = strdup(more[i]);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		redirect("out", STDOUT_FILENO);
		redirect("err", STDERR_FILENO);
		if (getppid() == parent && (search == NULL || setenv("PATH", search, 1) == 0))
			execv(program, argv);
		_exit(127);
	}
	for (size_t i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	return pid;
}

static void read_text(const char *name, char *text, size_t room)
{
	char path[E2E_PATH_BYTES];
	size_t bytes;
	uint8_t *data;

	e2e_path(path, name);
	data = e2e_read_file(path, &bytes);
	snprintf(text, room, "%s", (const char *)data);
	free(data);
}

void e2e_collect(pid_t pid, struct e2e_output *output)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	output->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	read_text("out", output->out, sizeof(output->out));
	read_text("err", output->err, sizeof(output->err));
}

void e2e_check_refusals(const struct e2e_refusal *cases, size_t count)
{
	static struct e2e_output output;

	for (size_t i = 0; i < count; i++) {
		const struct e2e_refusal *refusal = &cases[i];

		e2e_collect(e2e_spawn(E2E_PATCHBAY, refusal->arguments, NULL), &output);
		if (output.code != refusal->code || strstr(output.err, refusal->message) == NULL)
			fail_msg("case %zu: code %d, not \"%s\" but \"%s\"", i, output.code, refusal->message,
				 output.err);
		assert_string_equal(output.out, "");
	}
}

const char *e2e_last_line(char *text)
{
	size_t length = strlen(text);
	const char *newline;

	if (length != 0 && text[length - 1] == '\n')
		text[length - 1] = '\0';
	newline = strrchr(text, '\n');
	return newline != NULL ? newline + 1 : text;
}
