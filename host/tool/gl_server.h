/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A server of many OpenGL programs: a process for each connection (host/tool/gl_serve.h), and what each program gets
 * (host/tool/gl_registry.h). One program cannot take the connections of the others, whatever it opens.
 */
#ifndef PB_HOST_TOOL_GL_SERVER_H
#define PB_HOST_TOOL_GL_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/tool/gl_registry.h"

/** Connections of all programs at once. */
#define PB_GL_CONNECTIONS 64u
/** Connections of one program at once, unless the server is told otherwise. */
#define PB_GL_CONNECTIONS_EACH 4u

/** One connection that is served. */
struct pb_gl_connection {
	pid_t process; /**< that serves it; 0: none */
	pid_t program; /**< the process that registered it, else its own; 0: not known */
};

/** The caller's; only the functions below touch it. */
struct pb_gl_server {
	const char *name; /**< in messages */
	int listener;
	uint32_t each; /**< connections of one program at once */
	bool tells;    /**< as in struct pb_gl_program */
	pid_t refused; /**< the last program of which a connection was refused */
	struct pb_gl_registry registry;
	struct pb_gl_connection connections[PB_GL_CONNECTIONS];
};

/**
 * Starts to listen at a path, and beside it for registrations.
 * @param server name, each and tells are set; all else is 0
 * @param defaults what a program gets that is not registered
 * @return false: the error was printed
 */
bool pb_gl_server_start(struct pb_gl_server *server, const char *path,
			const struct pb_gl_card_options *defaults);
/** Waits a while for something to do, and does it. Interrupted by signals. */
void pb_gl_server_poll(struct pb_gl_server *server);
/** Ends all connections, and removes both sockets. */
void pb_gl_server_end(struct pb_gl_server *server, const char *path);

#endif
