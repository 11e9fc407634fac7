/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Packets of the gdb remote serial protocol over a connected socket: framing,
 * checksums, acknowledgements, escapes and run lengths. The other side is
 * foreign: whatever it sends ends in a packet or in an error, in bounded room.
 */
#ifndef PB_HOST_LINK_GDB_PACKET_H
#define PB_HOST_LINK_GDB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/abi/errors.h"

/** Longest contents of a packet, in either direction. A stub that takes more is not given more. */
#define PB_GDB_PACKET_BYTES 16384u
/** How long the other side may take for one packet, in microseconds, unless the caller says else. */
#define PB_GDB_PATIENCE_US 5000000u
/** How often a packet is sent, or asked for, again after damage. */
#define PB_GDB_TRIES 5u

/** One connection. The caller's; zero it, then fill the first three. */
struct pb_gdb_wire {
	int socket;           /**< connected, a stream */
	uint64_t patience_us; /**< PB_GDB_PATIENCE_US, or what a test has time for */
	bool acknowledge;     /**< true until both sides have agreed to do without */
	uint8_t input[4096];  /**< received and not looked at yet: from input_at, input_bytes long */
	size_t input_at;
	size_t input_bytes;
	uint8_t packet[PB_GDB_PACKET_BYTES +
		       1u];  /**< contents of the last packet received, zero-terminated */
	size_t packet_bytes; /**< their length */
	uint8_t output[2u * PB_GDB_PACKET_BYTES + 4u]; /**< a packet as it is sent */
};

/** Microseconds on a clock that never goes back. */
uint64_t pb_gdb_clock_us(void);

/**
 * Sends one packet, and waits until the other side has it.
 * @param bytes at most PB_GDB_PACKET_BYTES; any byte may occur, and is escaped
 * @retval PB_ERROR_NO_CARD the connection is closed
 * @retval PB_ERROR_TIMEOUT no acknowledgement came
 * @retval PB_ERROR_PROTOCOL it was refused PB_GDB_TRIES times
 */
enum pb_error pb_gdb_send(struct pb_gdb_wire *wire, const void *contents, size_t bytes);
/** Sends the byte that halts, which stands outside packets. */
enum pb_error pb_gdb_send_break(struct pb_gdb_wire *wire);
/**
 * Receives the next packet into wire->packet.
 * @retval PB_ERROR_NO_CARD the connection is closed
 * @retval PB_ERROR_TIMEOUT none came
 * @retval PB_ERROR_PROTOCOL it is damaged again and again, too long, or no packet
 */
enum pb_error pb_gdb_receive(struct pb_gdb_wire *wire);

#endif
