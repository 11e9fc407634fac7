/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Protocol between the emulated card and its administrator, over a Unix socket of its own beside the one of its hosts
 * (SOCKET.admin). A host of the other socket, such as a virtual machine, does not reach it.
 *
 * A request is a struct pb_admin_request, for WRITE with `bytes` bytes of a signed image behind it. Each has one answer, a
 * struct pb_admin_answer. Words are little-endian.
 */
#ifndef PB_HOST_UPDATE_PROTOCOL_H
#define PB_HOST_UPDATE_PROTOCOL_H

#include <stdint.h>

/** "PBAD", little-endian. */
#define PB_ADMIN_MAGIC 0x44414250u
/** What is behind the path of the hosts' socket. */
#define PB_ADMIN_SUFFIX ".admin"

/** What is asked for. */
enum pb_admin_operation {
	PB_ADMIN_STATUS = 1,  /**< nothing */
	PB_ADMIN_WRITE = 2,   /**< write a signed image to a slot */
	PB_ADMIN_RESTART = 3, /**< start the MCU again */
};

/** A request. */
struct pb_admin_request {
	uint32_t magic;     /**< PB_ADMIN_MAGIC */
	uint32_t operation; /**< enum pb_admin_operation */
	uint32_t slot;      /**< of WRITE: 0 or 1; any other value: the slot that is not needed */
	uint32_t bytes;     /**< of WRITE: what follows; else 0 */
};

/** An answer: what became of the request, and what the card runs. */
struct pb_admin_answer {
	uint32_t magic;      /**< PB_ADMIN_MAGIC */
	uint32_t error;      /**< enum pb_update_error; 0 but for WRITE */
	uint32_t slot;       /**< of WRITE: where it was written */
	uint32_t starts;     /**< of the MCU, since the card was started */
	uint32_t running;    /**< slot that was started last; PB_SLOT_NONE: none yet */
	uint32_t up;         /**< 1: hosts may attach */
	uint32_t confirmed;  /**< 1: the slot that was started last is confirmed */
	uint32_t counter;    /**< the card's counter */
	uint32_t reasons[2]; /**< enum pb_loader_reason of each slot, at the last start */
};

#endif
