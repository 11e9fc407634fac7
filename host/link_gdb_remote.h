/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Client of a debug probe's gdb stub (OpenOCD, pyOCD, J-Link, QEMU), reduced to
 * what access to an MCU's memory needs: halt, read, write, resume.
 */
#ifndef PB_HOST_LINK_GDB_REMOTE_H
#define PB_HOST_LINK_GDB_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/link_gdb_packet.h"

/** A stub after pb_gdb_greet(). Only the functions below access it. */
struct pb_gdb {
	struct pb_gdb_wire wire; /**< connection */
	uint32_t packet_bytes;   /**< longest packet in either direction, in bytes */
	bool binary;             /**< the stub accepts writes of binary data, not only of hex digits */
	bool halted;             /**< the MCU is halted; the stub reads and writes memory only then */
};

/**
 * Connects a stream socket.
 * @param address HOST:PORT, [HOST]:PORT, or the path of a Unix socket, which begins with '/' or '.'
 * @param socket out: the caller closes it; -1 after an error
 * @retval PB_ERROR_BAD_ARGUMENT the address has none of these forms
 * @retval PB_ERROR_NO_CARD no server listens there, or the host name is unknown
 * @retval PB_ERROR_SYSTEM a system call failed; errno holds the reason
 */
enum pb_error pb_gdb_connect(const char *address, int *socket);

/**
 * Negotiates with the stub behind a connected socket and halts the MCU.
 * @param gdb out
 * @param patience_us time for one packet, in microseconds
 * @retval PB_ERROR_TIMEOUT the other side does not answer
 * @retval PB_ERROR_PROTOCOL the other side is no stub, or has no MCU
 * @retval PB_ERROR_NO_CARD the other side closed the connection
 */
enum pb_error pb_gdb_greet(struct pb_gdb *gdb, int socket, uint64_t patience_us);
/** Detaches from the stub, which resumes the MCU. The socket stays open. */
void pb_gdb_leave(struct pb_gdb *gdb);

/**
 * Asks the stub, and receives its answer into gdb->wire.packet; what it prints meanwhile is left out. Pre: the MCU is halted.
 * Errors as for pb_gdb_greet().
 */
enum pb_error pb_gdb_ask(struct pb_gdb *gdb, const void *question, size_t bytes);
/** Halts the MCU, if it runs. Errors as for pb_gdb_greet(). */
enum pb_error pb_gdb_halt(struct pb_gdb *gdb);
/** Resumes the MCU, if it is halted. Errors as for pb_gdb_greet(). */
enum pb_error pb_gdb_resume(struct pb_gdb *gdb);

/**
 * Reads memory. Pre: the MCU is halted.
 * @retval PB_ERROR_BAD_RANGE the stub cannot read there
 */
enum pb_error pb_gdb_read(struct pb_gdb *gdb, uint32_t address, void *to, uint32_t bytes);
/**
 * Writes memory. Pre: the MCU is halted.
 * @retval PB_ERROR_BAD_RANGE the stub cannot write there
 */
enum pb_error pb_gdb_write(struct pb_gdb *gdb, uint32_t address, const void *from, uint32_t bytes);

#endif
