/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A link: how a host reaches one card. The library above it is free of the
 * operating system; what a kernel driver would replace is here.
 */
#ifndef PB_HOST_LINK_H
#define PB_HOST_LINK_H

#include <stdint.h>

#include "firmware/abi/errors.h"

struct pb_link;

/** What a kind of link does. All are called by the thread that uses the channel. */
struct pb_link_ops {
	/** Rings this channel's doorbell. The caller has put a barrier before it. */
	void (*doorbell)(struct pb_link *link);
	/**
	 * Waits until the card has interrupted this channel since the last call,
	 * or until timeout_us have gone by. Wakes up for no reason at times. What
	 * the card had stored before it interrupted is visible afterwards.
	 * @retval PB_ERROR_OK look again
	 * @retval PB_ERROR_TIMEOUT nothing came
	 * @retval PB_ERROR_NO_CARD the card is gone for good
	 */
	enum pb_error (*wait)(struct pb_link *link, uint64_t timeout_us);
	/** Microseconds on a clock that never goes back, for timeouts. */
	uint64_t (*now)(struct pb_link *link);
	/**
	 * NULL where link->memory is the card's own. Else it is a copy, which a wait brings up to date, and this
	 * does too if it is old: called before something is looked for that the caller may not have waited for.
	 * @return PB_ERROR_OK, or why the copy will never be up to date again
	 */
	enum pb_error (*look)(struct pb_link *link);
	/** Leaves the card and frees the link. */
	void (*close)(struct pb_link *link);
};

/** Filled by the function that opens it; read-only for everyone else. */
struct pb_link {
	const struct pb_link_ops *ops; /**< of its kind */
	uint8_t *memory;               /**< card memory, mapped */
	uint32_t memory_bytes;         /**< its size */
	uint32_t channel;              /**< this host's entry in the channel directory */
};

/**
 * Connects to an emulated card (`patchbay card`) over its Unix socket, in the
 * ivshmem server protocol.
 * @retval PB_ERROR_NO_CARD nobody listens there, or the card is full
 * @retval PB_ERROR_PROTOCOL what answers is no card
 * @retval PB_ERROR_SYSTEM see errno
 */
enum pb_error pb_link_open_socket(const char *path, struct pb_link **link);

struct pb_sim;
/**
 * Attaches to a card simulated in this process (qemu/sim.h) as the given
 * channel; waiting on the link lets the simulation run.
 */
enum pb_error pb_link_open_sim(struct pb_sim *sim, uint32_t channel, struct pb_link **link);

#endif
