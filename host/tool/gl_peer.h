/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which process is at the other end of a connection, and which processes it descends from.
 */
#ifndef PB_HOST_TOOL_GL_PEER_H
#define PB_HOST_TOOL_GL_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** Processes of a chain at most: what is above them is not looked at. */
#define PB_GL_ANCESTORS_MAX 64u

/**
 * Reads which process has connected.
 * @param user out: whose process it is
 * @return its id; 0: it has ended, or this process does not see it
 */
pid_t pb_gl_peer(int connection, uid_t *user);
/**
 * Finds a process and its ancestors, the process first, as they are at one moment: each runs, and is the parent of the
 * one before.
 * @param chain out: PB_GL_ANCESTORS_MAX ids
 * @return how many; 0: the process has ended
 */
size_t pb_gl_ancestors(pid_t process, pid_t *chain);
/**
 * Opens a descriptor that stays with a process when its id is used again.
 * @return the descriptor; -1: errno
 */
int pb_gl_process_open(pid_t process);
/** Returns whether the process of such a descriptor runs. */
bool pb_gl_process_runs(int descriptor);

#endif
