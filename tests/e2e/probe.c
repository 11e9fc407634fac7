/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/e2e/probe.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREFIXED_BYTES (E2E_PATH_BYTES + 60u)
#define ANSWER_BYTES   100u

/* Replaces this process. qtest accesses memory independently of the machine's processor. */
static _Noreturn void run(const struct probe_options *options)
{
	char image[E2E_PATH_BYTES], path[E2E_PATH_BYTES];
	char serial[PREFIXED_BYTES], qtest[PREFIXED_BYTES], loader[PREFIXED_BYTES];
	const char *arguments[] = {
		"qemu-system-arm",
		"-M",
		options->machine,
		"-display",
		"none",
		"-monitor",
		"none",
		"-serial",
		serial,
		"-qtest",
		qtest,
		"-qtest-log",
		"none",
		"-kernel",
		image,
		NULL,
		loader,
		NULL,
	};

	e2e_path(image, "image.bin");
	e2e_path(path, "serial");
	snprintf(serial, sizeof(serial), "file:%s", path);
	e2e_path(path, "qtest");
	snprintf(qtest, sizeof(qtest), "unix:%s,server=on,wait=off", path);
	if (options->memory != NULL) {
		e2e_path(path, "memory.bin");
		snprintf(loader, sizeof(loader), "loader,file=%s,addr=0x%x,force-raw=on", path,
			 options->memory_start);
		arguments[15] = "-device";
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execvp(arguments[0], (char *const *)(uintptr_t)arguments);
	_exit(127);
}

static int connect_to(const struct probe *probe, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const uint64_t start = e2e_now();
	const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(made >= 0);
	assert_true(strlen(path) < sizeof(address.sun_path));
	memcpy(address.sun_path, path, strlen(path) + 1);
	while (connect(made, (const struct sockaddr *)&address, sizeof(address)) != 0) {
		assert_int_equal(waitpid(probe->pid, NULL, WNOHANG), 0);
		assert_true(e2e_patience(start));
	}
	return made;
}

void probe_start(struct probe *probe, const struct probe_options *options)
{
	char path[E2E_PATH_BYTES];

	e2e_path(path, "image.bin");
	e2e_write_file(path, options->image, options->image_bytes);
	if (options->memory != NULL) {
		e2e_path(path, "memory.bin");
		e2e_write_file(path, options->memory, options->memory_bytes);
	}
	/* The line of an earlier emulator is not read for one of this emulator, which may open the file later. */
	e2e_path(path, "serial");
	(void)unlink(path);
	probe->pid = fork();
	assert_true(probe->pid >= 0);
	if (probe->pid == 0)
		run(options);
	e2e_path(path, "qtest");
	probe->socket = connect_to(probe, path);
}

void probe_stop(struct probe *probe)
{
	char path[E2E_PATH_BYTES];

	kill(probe->pid, SIGKILL);
	waitpid(probe->pid, NULL, 0);
	close(probe->socket);
	e2e_path(path, "qtest");
	unlink(path);
}

/* One command, one line of answer. */
static void ask(const struct probe *probe, const char *command, char answer[ANSWER_BYTES])
{
	const ssize_t bytes = (ssize_t)strlen(command);
	size_t length = 0;

	assert_int_equal(send(probe->socket, command, (size_t)bytes, MSG_NOSIGNAL), bytes);
	do {
		assert_true(length < ANSWER_BYTES - 1);
		assert_int_equal(recv(probe->socket, &answer[length], 1, 0), 1);
	} while (answer[length++] != '\n');
	answer[length] = '\0';
	assert_memory_equal(answer, "OK", 2);
}

uint32_t probe_read(const struct probe *probe, uint32_t address)
{
	char command[ANSWER_BYTES], answer[ANSWER_BYTES];

	snprintf(command, sizeof(command), "readl 0x%x\n", address);
	ask(probe, command, answer);
	return (uint32_t)strtoull(answer + 3, NULL, 16);
}

void probe_write(const struct probe *probe, uint32_t address, uint32_t value)
{
	char command[ANSWER_BYTES], answer[ANSWER_BYTES];

	snprintf(command, sizeof(command), "writel 0x%x 0x%x\n", address, value);
	ask(probe, command, answer);
}

void probe_await(const struct probe *probe, uint32_t address, uint32_t value)
{
	const uint64_t start = e2e_now();

	while (probe_read(probe, address) != value)
		assert_true(e2e_patience(start));
}

void probe_line(char *text, size_t bytes)
{
	const uint64_t start = e2e_now();
	char path[E2E_PATH_BYTES];
	char *end = NULL;

	e2e_path(path, "serial");
	do {
		FILE *file = fopen(path, "rb");

		assert_true(e2e_patience(start));
		if (file == NULL)
			continue;
		text[fread(text, 1, bytes - 1, file)] = '\0';
		fclose(file);
		end = strstr(text, "\r\n");
	} while (end == NULL);
	*end = '\0';
}
