/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A debug probe's gdb stub (OpenOCD, pyOCD, J-Link, QEMU), as far as reaching
 * an MCU's memory takes it: halt, read, write, resume.
 */
#ifndef PB_HOST_LINK_GDB_REMOTE_H
#define PB_HOST_LINK_GDB_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/link_gdb_packet.h"

/** A stub that was greeted. Only the functions below touch it. */
struct pb_gdb {
	struct pb_gdb_wire wire;
	uint32_t packet_bytes; /**< longest packet that the stub takes, and that it may send */
	bool binary;           /**< it takes bytes as they are, not as digits */
	bool halted;           /**< the MCU is; only then does the stub read and write */
};

/**
 * Connects a stream socket.
 * @param address HOST:PORT, [HOST]:PORT, or the path of a Unix socket, which begins with '/' or '.'
 * @param socket the caller closes it
 * @retval PB_ERROR_BAD_ARGUMENT it is no such address
 * @retval PB_ERROR_NO_CARD nobody listens there, or there is no such host
 * @retval PB_ERROR_SYSTEM see errno
 */
enum pb_error pb_gdb_connect(const char *address, int *socket);

/**
 * Greets the stub behind a connected socket, and halts the MCU.
 * @retval PB_ERROR_TIMEOUT what listens there says nothing
 * @retval PB_ERROR_PROTOCOL what answers is no stub, or has no MCU
 * @retval PB_ERROR_NO_CARD it closed the connection
 */
enum pb_error pb_gdb_greet(struct pb_gdb *gdb, int socket, uint64_t patience_us);
/** Lets the MCU run, so far as it was halted, and takes leave of the stub. The socket stays open. */
void pb_gdb_leave(struct pb_gdb *gdb);

/** Halts the MCU, if it runs. Errors as of pb_gdb_greet. */
enum pb_error pb_gdb_halt(struct pb_gdb *gdb);
/** Lets it run, if it is halted. */
enum pb_error pb_gdb_resume(struct pb_gdb *gdb);

/**
 * Reads memory of the halted MCU.
 * @retval PB_ERROR_BAD_RANGE the stub cannot read there
 */
enum pb_error pb_gdb_read(struct pb_gdb *gdb, uint32_t address, void *to, uint32_t bytes);
/**
 * Writes memory of the halted MCU.
 * @retval PB_ERROR_BAD_RANGE the stub cannot write there
 */
enum pb_error pb_gdb_write(struct pb_gdb *gdb, uint32_t address, const void *from, uint32_t bytes);

#endif
