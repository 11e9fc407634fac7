/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Whole reads and writes of a connected stream socket. None raises SIGPIPE.
 */
#ifndef PB_HOST_TOOL_GL_SOCKET_H
#define PB_HOST_TOOL_GL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

/** Waits for something to read, or for the other side to leave. @return false: neither in so many microseconds */
bool pb_gl_await_shortly(int socket, unsigned microseconds);
/** Waits until there is something to read. @return false: the other side has left */
bool pb_gl_await(int socket);
/** Reads so many bytes. @return false: the other side left before */
bool pb_gl_read_all(int socket, void *to, size_t bytes);
/** Writes so many bytes. @return false: the other side has left */
bool pb_gl_write_all(int socket, const void *from, size_t bytes);
/** Sends one byte with a file descriptor. @return false: the other side has left */
bool pb_gl_send_file(int socket, int file);

#endif
