/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Packets of the gdb remote serial protocol over a connected socket: framing,
 * checksums, acknowledgements, escapes and run lengths. The other side is not
 * trusted: whatever it sends becomes a packet or an error, in bounded memory.
 */
#ifndef PB_HOST_LINK_GDB_PACKET_H
#define PB_HOST_LINK_GDB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "patchbay/abi/errors.h"

/** Longest contents of a packet in either direction, in bytes, also if the stub accepts more. */
#define PB_GDB_PACKET_BYTES 16384u
/** Default time for the other side to send or acknowledge one packet, in microseconds. */
#define PB_GDB_PATIENCE_US 5000000u
/** Attempts to send or to receive a packet that arrives damaged. */
#define PB_GDB_TRIES 5u

/** One connection. The caller owns it, zeroes it, and fills in the first three fields. */
struct pb_gdb_wire {
	int socket;           /**< connected stream socket */
	uint64_t patience_us; /**< time for one packet: PB_GDB_PATIENCE_US, or less in a test */
	bool acknowledge;     /**< true until both sides agree on no acknowledgements */
	uint8_t input[4096];  /**< received bytes */
	size_t input_at;      /**< first unread byte of `input` */
	size_t input_bytes;   /**< unread bytes of `input` */
	uint8_t packet[PB_GDB_PACKET_BYTES +
		       1u];  /**< contents of the last packet received, zero-terminated */
	size_t packet_bytes; /**< length of `packet` */
	uint8_t output[2u * PB_GDB_PACKET_BYTES + 4u]; /**< the framed packet being sent */
};

/**
 * Sends one packet and waits for its acknowledgement, if those are on.
 * @param bytes at most PB_GDB_PACKET_BYTES; any byte may occur, and is escaped
 * @retval PB_ERROR_NO_CARD the connection is closed
 * @retval PB_ERROR_TIMEOUT no acknowledgement came
 * @retval PB_ERROR_PROTOCOL the packet was refused PB_GDB_TRIES times
 */
enum pb_error pb_gdb_send(struct pb_gdb_wire *wire, const void *contents, size_t bytes);
/** Sends the break byte, which halts the MCU and stands outside packets. */
enum pb_error pb_gdb_send_break(struct pb_gdb_wire *wire);
/**
 * Receives the next packet into wire->packet.
 * @retval PB_ERROR_NO_CARD the connection is closed
 * @retval PB_ERROR_TIMEOUT no packet came
 * @retval PB_ERROR_PROTOCOL the packet was damaged PB_GDB_TRIES times or is too long, or the bytes are no packet
 */
enum pb_error pb_gdb_receive(struct pb_gdb_wire *wire);

#endif
