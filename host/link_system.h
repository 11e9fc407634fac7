/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Functions of the host's operating system that several links use.
 */
#ifndef PB_HOST_LINK_SYSTEM_H
#define PB_HOST_LINK_SYSTEM_H

#include <stdint.h>

#include "patchbay/abi/errors.h"

/** Returns microseconds of a monotonic clock. */
uint64_t pb_clock_us(void);

/**
 * Connects a stream socket to a Unix socket.
 * @param path of the Unix socket
 * @param to out: the caller closes it, also after an error; -1: it was not created
 * @retval PB_ERROR_NO_CARD no server listens there
 * @retval PB_ERROR_SYSTEM a system call failed, or the path is too long; errno holds the reason
 */
enum pb_error pb_connect_unix(const char *path, int *to);

#endif
