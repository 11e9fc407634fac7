/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/gl_server.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/tool/gl_serve.h"

/* How long an end of a process may go unnoticed. */
#define WAIT_MS    100
#define PATH_BYTES 128u

static bool control_path(char *path, const char *socket)
{
	return snprintf(path, PATH_BYTES, "%s" PB_GL_REGISTRY_SUFFIX, socket) < (int)PATH_BYTES;
}

bool pb_gl_server_start(struct pb_gl_server *server, const char *path,
			const struct pb_gl_card_options *defaults)
{
	char control[PATH_BYTES];
	int listener;

	if (!control_path(control, path)) {
		fprintf(stderr, "%s: %s: the path is too long for a socket\n", server->name, path);
		return false;
	}
	server->listener = pb_gl_listen(server->name, path, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (server->listener < 0)
		return false;
	listener = pb_gl_listen(server->name, control, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (listener >= 0) {
		pb_gl_registry_start(&server->registry, listener, defaults);
		return true;
	}
	(void)close(server->listener);
	(void)unlink(path);
	return false;
}

/* ---- connections ---- */

/* Collects processes that have ended. */
static void collect(struct pb_gl_server *server)
{
	pid_t process;

	while ((process = waitpid(-1, NULL, WNOHANG)) > 0) {
		for (uint32_t i = 0; i < PB_GL_CONNECTIONS; i++) {
			if (server->connections[i].process == process)
				server->connections[i] = (struct pb_gl_connection){.process = 0};
		}
	}
}

static struct pb_gl_connection *find_free(struct pb_gl_server *server)
{
	for (uint32_t i = 0; i < PB_GL_CONNECTIONS; i++) {
		if (server->connections[i].process == 0)
			return &server->connections[i];
	}
	return NULL;
}

static uint32_t count_of(const struct pb_gl_server *server, pid_t program)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < PB_GL_CONNECTIONS; i++) {
		if (server->connections[i].process != 0 && server->connections[i].program == program)
			count++;
	}
	return count;
}

/* One message for each program: it may try for ever. */
static void refuse(struct pb_gl_server *server, pid_t program)
{
	if (server->refused == program)
		return;
	server->refused = program;
	fprintf(stderr, "%s: process %d has %u connections, and gets no more\n", server->name, (int)program,
		(unsigned)server->each);
}

static void serve(struct pb_gl_server *server, struct pb_gl_connection *free, int connection)
{
	struct pb_gl_program program = {
		.server = server->name, .connection = connection, .tells = server->tells};
	pid_t process;

	program.id = pb_gl_registry_find(&server->registry, connection, &program.options);
	if (count_of(server, program.id) >= server->each) {
		refuse(server, program.id);
		return;
	}
	process = pb_gl_start(&program);
	if (process > 0)
		*free = (struct pb_gl_connection){.process = process, .program = program.id};
}

static void accept_all(struct pb_gl_server *server)
{
	struct pb_gl_connection *free;

	/* A few at a time: registrations are read, and ends noticed, between them. */
	for (uint32_t i = 0; i < PB_GL_CONNECTIONS && (free = find_free(server)) != NULL; i++) {
		const int connection = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);

		if (connection < 0)
			return;
		serve(server, free, connection);
		(void)close(connection);
	}
}

void pb_gl_server_poll(struct pb_gl_server *server)
{
	struct pollfd pollers[PB_GL_REGISTRATIONS + 2u];
	size_t count = pb_gl_registry_pollers(&server->registry, pollers);

	collect(server);
	/* While there is no room, connections wait in the socket. */
	if (find_free(server) != NULL)
		pollers[count++] = (struct pollfd){.fd = server->listener, .events = POLLIN};
	(void)poll(pollers, count, WAIT_MS);
	/* A connection that has ended leaves its room to the next one. */
	collect(server);
	/* Whoever registers waits for its answer before it starts a program, so registrations come first. */
	pb_gl_registry_poll(&server->registry);
	accept_all(server);
}

void pb_gl_server_end(struct pb_gl_server *server, const char *path)
{
	char control[PATH_BYTES];

	(void)close(server->listener);
	(void)unlink(path);
	if (control_path(control, path))
		(void)unlink(control);
	pb_gl_registry_end(&server->registry);
	/* Each leaves the card, or ends with this process. */
	for (uint32_t i = 0; i < PB_GL_CONNECTIONS; i++) {
		if (server->connections[i].process != 0)
			(void)kill(server->connections[i].process, SIGTERM);
	}
}
