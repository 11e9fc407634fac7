/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A server of OpenGL programs: listens, and gives each connection a process of its own, with a channel of the card.
 */
#ifndef PB_HOST_TOOL_GL_SERVE_H
#define PB_HOST_TOOL_GL_SERVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "host/tool/gl_card.h"

/** Where Mesa's virpipe connects. */
#define PB_GL_SOCKET "/tmp/.virgl_test"

/** Listens at a path. @return the socket; -1: the error was printed */
int pb_gl_listen(const char *program, const char *path);
/** Accepts one connection and serves it in a new process. @return its id; -1: none; the error was printed */
pid_t pb_gl_accept(const char *program, int listener, const struct pb_gl_card_options *options);
/** Serves one connection in this process, and prints why it ended if not because the program left. @return exit code */
int pb_gl_serve(const char *program, int connection, const struct pb_gl_card_options *options);

#endif
