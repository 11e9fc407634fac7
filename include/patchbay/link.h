/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A link: how a host reaches one card. The rest of the library is free of the
 * operating system; a kernel driver replaces what is declared here.
 */
#ifndef PB_HOST_LINK_H
#define PB_HOST_LINK_H

#include <stdint.h>

#include "patchbay/abi/errors.h"
#include "patchbay/lock.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pb_link;
struct pb_host_trace;
struct pb_command;
struct pb_reply;

/**
 * Operations of one kind of link. The thread that uses the channel calls them. If the link has locks, several threads
 * may call `doorbell`, `wait` and `now` at the same time; the library holds none of its locks meanwhile.
 */
struct pb_link_ops {
	/** Rings the channel's doorbell. The caller has put a memory barrier before the call. Never blocks. */
	void (*doorbell)(struct pb_link *link);
	/**
	 * Waits until the card has interrupted this channel since the last call, or for timeout_us microseconds. May
	 * return early without a reason. What the card stored before the interrupt is visible afterwards.
	 * @retval PB_ERROR_OK read shared memory again
	 * @retval PB_ERROR_TIMEOUT no interrupt came
	 * @retval PB_ERROR_NO_CARD the card is gone for good
	 */
	enum pb_error (*wait)(struct pb_link *link, uint64_t timeout_us);
	/** Returns microseconds of a monotonic clock, for timeouts. */
	uint64_t (*now)(struct pb_link *link);
	/**
	 * NULL if link->memory is card memory itself. Else link->memory is a copy, which `wait` updates, and this
	 * operation updates the copy if it is old. The library calls it before reads for which the caller may not
	 * have waited. NULL if the link has locks.
	 * @return PB_ERROR_OK, or why the copy can never be updated again
	 */
	enum pb_error (*refresh)(struct pb_link *link);
	/** Leaves the card and frees the link. */
	void (*close)(struct pb_link *link);
	/**
	 * NULL, but for an observer's link: it has no channel, so card memory need not be writable, and the card's
	 * supervisor puts the question. Sends one. Never blocks.
	 * @retval PB_ERROR_NO_CARD the card is gone for good
	 */
	enum pb_error (*ask)(struct pb_link *link, const struct pb_command *question);
	/**
	 * NULL, but for an observer's link. Receives the next reply, with the tag of its question. Never blocks.
	 * @retval PB_ERROR_NO_SPACE no reply is here
	 * @retval PB_ERROR_NO_CARD the card is gone for good
	 */
	enum pb_error (*answer)(struct pb_link *link, struct pb_reply *reply);
};

/** An open link. Its opener writes the fields; all others only read them. */
struct pb_link {
	const struct pb_link_ops *ops; /**< operations; NULL if the link holds only saved card memory */
	uint8_t *memory;               /**< card memory, mapped; shared with the firmware */
	uint32_t memory_bytes;         /**< size of `memory`, in bytes */
	uint32_t
		channel; /**< this host's entry in the channel directory, from 0; of an observer PB_CHANNEL_ADMIN */
	/** Short locks of the channel; NULL: one thread uses it at a time. Set after the opening, before the attach. */
	const struct pb_channel_locks *locks;
	/** What the library notes of its submissions and waits (patchbay/host_trace.h); NULL: nothing. Set as `locks`. */
	struct pb_host_trace *trace;
};

/**
 * Connects to an emulated card (`patchbay card`) over its Unix socket, in the ivshmem server protocol. Blocks for at
 * most 10 seconds. Several threads may use the link, if its `locks` are set.
 * @param path of the socket
 * @param link out; the caller closes it with link->ops->close
 * @retval PB_ERROR_NO_CARD no card listens at `path`, or it does not answer in time
 * @retval PB_ERROR_CARD_FULL all channels of the card are in use
 * @retval PB_ERROR_PROTOCOL the process that answers is not a card
 * @retval PB_ERROR_SYSTEM a system call failed; errno holds the reason
 * @retval PB_ERROR_HOST_MEMORY the host is out of memory
 */
enum pb_error pb_link_open_socket(const char *path, struct pb_link **link);

/**
 * Asks an emulated card for a weight of the channel beside the others of its priority; every channel has 1 until its
 * host has asked for another. Returns at once: pb_channel_query() shows when the channel has it.
 * @param link of pb_link_open_socket()
 * @param weight 1 to PB_WEIGHT_MAX
 * @retval PB_ERROR_BAD_ARGUMENT there is no such weight
 * @retval PB_ERROR_NO_CARD the card has left
 * @retval PB_ERROR_UNSUPPORTED another kind of link
 */
enum pb_error pb_link_ask_weight(struct pb_link *link, uint32_t weight);

/**
 * Connects to an emulated card as an observer, at the socket beside that of its hosts. An observer takes no channel, so
 * that it finds room on a card whose channels are all in use; up to 16 observers do. Its mapping of card memory is
 * read-only, and the card refuses it a writable one. A channel on this link asks through the channel of the card's
 * supervisor: PB_COMMAND_QUERY about everything, PB_COMMAND_TRACE, and PB_COMMAND_PING; the card refuses the rest with
 * PB_ERROR_NO_PERMISSION. Trace levels that it has set are restored when it leaves. Blocks for at most 10 seconds.
 * @param path of the socket of the card's hosts
 * @param link out; the caller closes it with link->ops->close
 * @return as pb_link_open_socket()
 */
enum pb_error pb_link_open_observer(const char *path, struct pb_link **link);

/**
 * Opens a link by its name, as programs take it from their users: "vfio:ADDRESS" and "pci:ADDRESS" are
 * pb_link_open_vfio() and pb_link_open_pci() of patchbay/link_pci.h, any other name is the path of a socket.
 * @param name kind and address, or a path
 * @param link out; the caller closes it with link->ops->close
 * @return as the function that opens that kind
 */
enum pb_error pb_link_open(const char *name, struct pb_link **link);

struct pb_sim;
/**
 * Connects to a card simulated in this process (qemu/sim.h). The simulation advances while a host waits on the link.
 * @param sim the caller's; must exist until the link is closed
 * @param channel number of the channel to use
 * @param link out; the caller closes it with link->ops->close
 * @retval PB_ERROR_HOST_MEMORY the host is out of memory
 */
enum pb_error pb_link_open_sim(struct pb_sim *sim, uint32_t channel, struct pb_link **link);

#ifdef __cplusplus
}
#endif

#endif
