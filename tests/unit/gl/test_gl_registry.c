/* SPDX-License-Identifier: MIT */
/*
 * Who gets what at a server of OpenGL programs: real processes that register, connect, leave children behind, and end.
 * What a process is expected to get follows from how the test started it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/tool/gl_peer.h"
#include "host/tool/gl_registry.h"
#include "host/tool/gl_serve.h"
#include "tests/unit/patience.h"
#include "tests/unit/unit.h"

#define DEFAULT_WEIGHT 2u

static struct {
	char folder[32];
	char path[64];    /* where programs connect */
	char control[80]; /* where they register */
	int listener;
	struct pb_gl_registry registry;
} server;

static int start(void **state)
{
	const struct pb_gl_card_options defaults = {.socket = "card",
						    .priority = PB_PRIORITY_LOW,
						    .weight = DEFAULT_WEIGHT,
						    .memory_bytes = 1u << 20};
	int listener;

	(void)state;
	strcpy(server.folder, "/tmp/gl-registry-XXXXXX");
	assert_non_null(mkdtemp(server.folder));
	(void)snprintf(server.path, sizeof(server.path), "%s/gl", server.folder);
	(void)snprintf(server.control, sizeof(server.control), "%s" PB_GL_REGISTRY_SUFFIX, server.path);
	server.listener = pb_gl_listen("test", server.path, SOCK_STREAM | SOCK_CLOEXEC);
	listener = pb_gl_listen("test", server.control, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK);
	assert_true(server.listener >= 0 && listener >= 0);
	pb_gl_registry_start(&server.registry, listener, &defaults);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	pb_gl_registry_end(&server.registry);
	(void)close(server.listener);
	(void)unlink(server.path);
	(void)unlink(server.control);
	(void)rmdir(server.folder);
	return 0;
}

/* ---- programs ---- */

/* In a child: connects as a program does, or ends it. */
static int connect_to(const char *path, int kind)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int connection = socket(AF_UNIX, kind, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connection < 0 || connect(connection, (const struct sockaddr *)&address, sizeof(address)) != 0)
		_exit(1);
	return connection;
}

static int enter(uint32_t weight)
{
	const struct pb_gl_card_options options = {
		.priority = PB_PRIORITY_HIGH, .weight = weight, .hang_us = 50000, .memory_bytes = 3u << 20};

	return pb_gl_register("test", server.path, &options);
}

/* In a child: connects, and stays until it is killed. */
static _Noreturn void be_program(void)
{
	(void)connect_to(server.path, SOCK_STREAM);
	for (;;)
		(void)pause();
}

/* Polls the registry until a program connects. */
static int await_program(void)
{
	struct pollfd pollers[PB_GL_REGISTRATIONS + 2u];
	size_t count;

	do {
		count = pb_gl_registry_pollers(&server.registry, pollers);
		pollers[count] = (struct pollfd){.fd = server.listener, .events = POLLIN};
		assert_true(poll(pollers, count + 1, UNIT_PATIENCE_US / 1000) > 0);
		pb_gl_registry_poll(&server.registry);
	} while (pollers[count].revents == 0);
	return accept4(server.listener, NULL, NULL, SOCK_CLOEXEC);
}

/* Waits for a program, and checks what it gets. @return who speaks for it */
static pid_t expect_weight(uint32_t weight)
{
	struct pb_gl_card_options options;
	const int connection = await_program();
	const pid_t id = pb_gl_registry_find(&server.registry, connection, &options);
	const bool registered = weight != DEFAULT_WEIGHT;

	assert_int_equal(options.weight, weight);
	assert_string_equal(options.socket, "card");
	assert_int_equal(options.priority, registered ? PB_PRIORITY_HIGH : PB_PRIORITY_LOW);
	assert_int_equal(options.memory_bytes, registered ? 3u << 20 : 1u << 20);
	assert_int_equal(options.hang_us, registered ? 50000 : 0);
	(void)close(connection);
	return id;
}

/* Ends a process and all that it has started. */
static void end(pid_t process)
{
	assert_int_equal(kill(-process, SIGKILL), 0);
	assert_int_equal(waitpid(process, NULL, 0), process);
}

/* Starts a process that leads a group of its own. @return 0 in it */
static pid_t lead(void)
{
	const pid_t process = fork();

	if (process == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)setpgid(0, 0);
	} else {
		(void)setpgid(process, process);
	}
	return process;
}

static _Noreturn void stay(void)
{
	for (;;)
		(void)pause();
}

/* In a child: its descendant of this generation is a program; 0: it is one itself. */
static _Noreturn void descend(uint32_t generations)
{
	for (; generations != 0; generations--) {
		if (fork() != 0)
			stay();
	}
	be_program();
}

/* ---- who gets what ---- */

static void a_stranger_gets_what_everyone_gets(void **state)
{
	const pid_t program = lead();

	(void)state;
	if (program == 0)
		be_program();
	assert_int_equal(expect_weight(DEFAULT_WEIGHT), program);
	end(program);
}

static void descendants_get_what_their_ancestor_registered(void **state)
{
	(void)state;
	for (uint32_t generations = 0; generations < 4; generations++) {
		const pid_t first = lead();
		pid_t stranger;

		if (first == 0) {
			if (enter(5) < 0)
				_exit(1);
			descend(generations);
		}
		assert_int_equal(expect_weight(5), first);
		stranger = lead();
		if (stranger == 0)
			descend(generations);
		(void)expect_weight(DEFAULT_WEIGHT);
		end(stranger);
		end(first);
	}
}

/* The nearest of two that have registered counts. */
static void a_registration_within_another(void **state)
{
	const pid_t first = lead();

	(void)state;
	if (first == 0) {
		if (enter(5) < 0 || fork() != 0)
			stay();
		if (enter(7) < 0)
			_exit(1);
		descend(2);
	}
	assert_int_not_equal(expect_weight(7), first);
	end(first);
}

/* In a child: has a child that connects when this one has ended. */
static _Noreturn void leave_orphan(void)
{
	const pid_t parent = getpid();
	const uint64_t start = unit_now();

	if (fork() != 0)
		_exit(0);
	while (getppid() == parent) {
		if (!unit_patience(start))
			_exit(1);
	}
	be_program();
}

/* A process whose parent has ended descends from its ancestor if that adopts it. */
static void an_orphan(void **state)
{
	(void)state;
	for (int adopts = 0; adopts < 2; adopts++) {
		const pid_t first = lead();

		if (first == 0) {
			(void)prctl(PR_SET_CHILD_SUBREAPER, adopts);
			if (enter(5) < 0)
				_exit(1);
			if (fork() == 0)
				leave_orphan();
			stay();
		}
		(void)expect_weight(adopts != 0 ? 5 : DEFAULT_WEIGHT);
		end(first);
	}
}

/* What was registered ends with the connection, although the process runs, and with the process. */
static void a_registration_ends(void **state)
{
	(void)state;
	for (int leaves = 0; leaves < 2; leaves++) {
		const pid_t first = lead();
		int registration;

		if (first == 0) {
			registration = enter(5);
			if (registration < 0)
				_exit(1);
			if (leaves == 0)
				(void)close(registration);
			else if (fork() == 0)
				leave_orphan();
			else
				/* Its child keeps the connection. */
				_exit(0);
			be_program();
		}
		(void)expect_weight(DEFAULT_WEIGHT);
		end(first);
	}
}

/* ---- a process id that is used again ---- */

/* In a namespace of processes: the next one gets this id. @return false: that is not allowed here */
static bool set_next_id(pid_t id)
{
	const int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	const bool good = file >= 0 && dprintf(file, "%d", (int)id - 1) > 0;

	if (file >= 0)
		(void)close(file);
	return good;
}

#define CANNOT 77

/* Serves registrations until there is something to read. @return false: nothing comes */
static bool serve_until(int readable)
{
	const uint64_t start = unit_now();

	while (poll(&(struct pollfd){.fd = readable, .events = POLLIN}, 1, 0) == 0) {
		pb_gl_registry_poll(&server.registry);
		if (!unit_patience(start))
			return false;
	}
	return true;
}

/* The first process of a namespace: registers by a child that ends, whose id another one gets then. */
static int use_an_id_again(void)
{
	pid_t first, second;
	int registered[2];
	char byte;

	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) != 0 || pipe(registered) != 0)
		return CANNOT;
	first = fork();
	if (first == 0) {
		if (enter(5) < 0)
			_exit(1);
		/* Its child keeps the connection. */
		if (fork() == 0)
			stay();
		_exit(write(registered[1], "", 1) == 1 ? 0 : 1);
	}
	(void)close(registered[1]);
	if (!serve_until(registered[0]))
		return 1;
	if (read(registered[0], &byte, 1) != 1 || waitpid(first, NULL, 0) != first || !set_next_id(first))
		return CANNOT;
	second = fork();
	if (second == 0)
		be_program();
	if (second != first)
		return CANNOT;
	return expect_weight(DEFAULT_WEIGHT) == second ? 0 : 1;
}

static void an_id_that_is_used_again_has_nothing_of_the_first_one(void **state)
{
	const pid_t outside = lead();
	int status;
	pid_t init;

	(void)state;
	if (outside == 0) {
		if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0)
			_exit(CANNOT);
		init = fork();
		if (init == 0)
			_exit(use_an_id_again());
		_exit(waitpid(init, &status, 0) == init && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	}
	assert_int_equal(waitpid(outside, &status, 0), outside);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == CANNOT) {
		print_message("skipped: no namespace of processes here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- what is refused ---- */

static const struct refusal {
	struct pb_gl_registration_request request;
	uint32_t bytes;
	uint32_t answer;
} refusals[] = {
	{{1, 4, 64, 128, 10000}, 20, PB_GL_REGISTRATION_DONE},
	{{1, 0, 1, 1, 0}, 20, PB_GL_REGISTRATION_DONE},
	{{2, 2, 1, 64, 0}, 20, PB_GL_REGISTRATION_WRONG},
	{{1, 5, 1, 64, 0}, 20, PB_GL_REGISTRATION_WRONG},
	{{1, 2, 0, 64, 0}, 20, PB_GL_REGISTRATION_WRONG},
	{{1, 2, 1, 0, 0}, 20, PB_GL_REGISTRATION_WRONG},
	{{1, 2, 1, 129, 0}, 20, PB_GL_REGISTRATION_WRONG},
	{{1, 2, 1, 64, 10001}, 20, PB_GL_REGISTRATION_WRONG},
	{{1, 2, 1, 64, 0}, 19, PB_GL_REGISTRATION_WRONG},
	{{1, 2, 1, 64, 0}, 24, PB_GL_REGISTRATION_WRONG},
};

/* Sends a request and has it answered. @return the answer; -1: none */
static int64_t ask(int connection, const void *request, size_t bytes)
{
	uint32_t word;
	assert_int_equal(send(connection, request, bytes, MSG_NOSIGNAL), (ssize_t)bytes);
	/* Accepted, then read. */
	pb_gl_registry_poll(&server.registry);
	pb_gl_registry_poll(&server.registry);
	return recv(connection, &word, sizeof(word), MSG_DONTWAIT) == (ssize_t)sizeof(word) ? (int64_t)word
											    : -1;
}

static void wrong_requests_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *row = &refusals[i];
		const int connection = connect_to(server.control, SOCK_SEQPACKET);
		uint8_t bytes[32] = {0};

		memcpy(bytes, &row->request, sizeof(row->request));
		assert_int_equal(ask(connection, bytes, row->bytes), row->answer);
		/* A second registration ends the first one. */
		if (row->answer == PB_GL_REGISTRATION_DONE)
			assert_int_equal(ask(connection, bytes, row->bytes), PB_GL_REGISTRATION_WRONG);
		assert_int_equal(recv(connection, bytes, sizeof(bytes), 0), 0);
		(void)close(connection);
		pb_gl_registry_poll(&server.registry);
	}
}

/* Those that say nothing keep none out but those that find the table full; once they leave, there is room. */
static void a_full_table(void **state)
{
	const struct pb_gl_registration_request *request = &refusals[0].request;
	int silent[PB_GL_REGISTRATIONS], late;
	uint32_t word;

	(void)state;
	for (uint32_t i = 0; i < PB_GL_REGISTRATIONS; i++) {
		silent[i] = connect_to(server.control, SOCK_SEQPACKET);
		pb_gl_registry_poll(&server.registry);
	}
	late = connect_to(server.control, SOCK_SEQPACKET);
	pb_gl_registry_poll(&server.registry);
	assert_int_equal(recv(late, &word, sizeof(word), MSG_DONTWAIT), sizeof(word));
	assert_int_equal(word, PB_GL_REGISTRATION_FULL);
	(void)close(late);
	(void)close(silent[7]);
	pb_gl_registry_poll(&server.registry);
	late = connect_to(server.control, SOCK_SEQPACKET);
	assert_int_equal(ask(late, request, sizeof(*request)), PB_GL_REGISTRATION_DONE);
	(void)close(late);
	for (uint32_t i = 0; i < PB_GL_REGISTRATIONS; i++)
		(void)(i != 7 ? close(silent[i]) : 0);
}

static bool served_and_ended(pid_t process, int *status)
{
	pb_gl_registry_poll(&server.registry);
	return waitpid(process, status, WNOHANG) != 0;
}

/* Another user may not even connect, unless the socket is opened to it; then it is told so. */
static void another_user(void **state)
{
	const struct pb_gl_registration_request *request = &refusals[0].request;
	uint32_t word = PB_GL_REGISTRATION_DONE;
	int connection, status;
	pid_t other;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(server.control, 0777), 0);
	assert_int_equal(chmod(server.folder, 0755), 0);
	other = lead();
	if (other == 0) {
		if (setuid(65534) != 0)
			_exit(1);
		connection = connect_to(server.control, SOCK_SEQPACKET);
		(void)send(connection, request, sizeof(*request), MSG_NOSIGNAL);
		_exit(recv(connection, &word, sizeof(word), 0) == (ssize_t)sizeof(word) &&
				      word == PB_GL_REGISTRATION_USER
			      ? 0
			      : 1);
	}
	unit_await(served_and_ended(other, &status));
	assert_int_equal(status, 0);
}

/* A socket that a killed server left is replaced; that of one that runs is not. */
static void a_socket_without_a_server_is_replaced(void **state)
{
	char path[64];
	int first, second;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/again", server.folder);
	first = pb_gl_listen("test", path, SOCK_STREAM);
	assert_int_equal(pb_gl_listen("test", path, SOCK_STREAM), -1);
	(void)close(first);
	second = pb_gl_listen("test", path, SOCK_STREAM);
	assert_true(second >= 0);
	(void)close(second);
	(void)unlink(path);
}

/* This process, its parent, and so on, up to one that is not seen here. */
static void the_chain_of_a_process(void **state)
{
	pid_t chain[PB_GL_ANCESTORS_MAX];
	const size_t count = pb_gl_ancestors(getpid(), chain);

	(void)state;
	assert_true(count >= 1 && chain[0] == getpid());
	assert_true(count == 1 || chain[1] == getppid());
	assert_int_equal(pb_gl_ancestors(0x3ffffff, chain), 0);
}

UNIT_SUITE(test_gl_registry)
{
#define registry_test(function) cmocka_unit_test_setup_teardown(function, start, stop)
	const struct CMUnitTest tests[] = {
		registry_test(a_stranger_gets_what_everyone_gets),
		registry_test(descendants_get_what_their_ancestor_registered),
		registry_test(a_registration_within_another),
		registry_test(an_orphan),
		registry_test(a_registration_ends),
		registry_test(an_id_that_is_used_again_has_nothing_of_the_first_one),
		registry_test(wrong_requests_are_refused),
		registry_test(a_full_table),
		registry_test(another_user),
		registry_test(a_socket_without_a_server_is_replaced),
		cmocka_unit_test(the_chain_of_a_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
