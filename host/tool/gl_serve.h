/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Serves one OpenGL program: a process for its connection, with a channel of the card from the moment that the program
 * tells its name.
 */
#ifndef PB_HOST_TOOL_GL_SERVE_H
#define PB_HOST_TOOL_GL_SERVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "host/tool/gl_card.h"

/** Where Mesa's virpipe connects. */
#define PB_GL_SOCKET "/tmp/.virgl_test"

/** A connection of a program. */
struct pb_gl_program {
	const char *server;                /**< name of the server in messages */
	int connection;                    /**< the caller's */
	pid_t id;                          /**< of the program's process; 0: not known */
	bool tells;                        /**< prints what the program gets, and at its end what it did */
	struct pb_gl_card_options options; /**< what it gets */
};

/**
 * Listens at a path. A socket that a server has left there when it was killed is replaced.
 * @param kind SOCK_STREAM or SOCK_SEQPACKET, and flags
 * @return the socket; -1: the error was printed
 */
int pb_gl_listen(const char *program, const char *path, int kind);
/**
 * Serves a program in a new process, which ends with the program or with the calling thread.
 * @param program copied
 * @return the new process's id; -1: the error was printed
 */
pid_t pb_gl_start(const struct pb_gl_program *program);
/**
 * Opens a share of a card, asks its engine for what it can do, and closes the share again, so that a wrong card is found
 * before a program depends on it.
 * @param program name of this program in the message
 * @return false: what is wrong with the card was printed
 */
bool pb_gl_try(const char *program, const struct pb_gl_card_options *options);

#endif
