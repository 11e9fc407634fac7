/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A /tmp of this process's own: Mesa looks for its server at one path there, which another server may have.
 */
#ifndef PB_HOST_TOOL_GL_PRIVATE_H
#define PB_HOST_TOOL_GL_PRIVATE_H

#include <stdbool.h>

/**
 * Moves this process and those that it starts into a mount namespace whose /tmp is new and holds everything that is in
 * /tmp now, but for one entry. Files that are made directly in it are gone with the last of these processes.
 * @param program name in messages @param without name of the entry that is left out
 * @return false: the error was printed; it names the namespace
 */
bool pb_gl_private_tmp(const char *program, const char *without);
/**
 * Shows a socket under another name, for this process and those that it starts. Pre: pb_gl_private_tmp()
 * @param path of the socket @param name new, in /tmp
 * @return false: the error was printed
 */
bool pb_gl_private_socket(const char *program, const char *path, const char *name);

#endif
