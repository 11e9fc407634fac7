/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Messages of an emulated card's sockets (host/link_protocol.h). Everything received is checked before use.
 */
#ifndef PB_HOST_LINK_MESSAGE_H
#define PB_HOST_LINK_MESSAGE_H

#include <stdbool.h>

#include "patchbay/link.h"

/** Time for a whole handshake, in microseconds. */
#define PB_HANDSHAKE_US 10000000u

/** A message of the card. */
struct pb_message {
	int64_t value; /**< the number */
	int fd;        /**< the descriptor that came with it, the receiver's to close; -1: none */
	bool closed;   /**< after PB_ERROR_NO_CARD: the sender closed the connection, between two messages */
};

/** Closes a descriptor, if it is open, and makes it -1. */
void pb_message_drop(int *fd);
/**
 * Receives one message. The caller owns its descriptor.
 * @param deadline on pb_clock_us(); 0: do not wait
 * @retval PB_ERROR_TIMEOUT no message is there (deadline 0 only)
 * @retval PB_ERROR_NO_CARD the card closed the connection, or the deadline has passed
 */
enum pb_error pb_message_receive(int socket, uint64_t deadline, struct pb_message *message);
/**
 * Receives the first message of a connection: the version of the protocol.
 * @retval PB_ERROR_CARD_FULL the card closed the connection instead
 * @retval PB_ERROR_PROTOCOL another message, or another version
 */
enum pb_error pb_message_greeting(int socket, uint64_t deadline);
/** Receives a message that must carry no descriptor, and a value in [low, high]. */
enum pb_error pb_message_number(int socket, uint64_t deadline, int64_t low, int64_t high, int64_t *value);
/**
 * Receives card memory and maps it.
 * @param protection PROT_READ, and PROT_WRITE for a host
 * @param link out: memory and its size; the caller unmaps it
 */
enum pb_error pb_message_memory(int socket, uint64_t deadline, int protection, struct pb_link *link);

#endif
