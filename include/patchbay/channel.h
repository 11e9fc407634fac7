/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A host's side of one channel: attach and detach, liveness of the firmware,
 * events, and control commands.
 */
#ifndef PB_HOST_CHANNEL_H
#define PB_HOST_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/channel.h"
#include "patchbay/card.h"
#include "patchbay/link.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Time after which a control command without a reply counts as lost, in microseconds of the link's clock. Firmware that runs
 * answers in microseconds; an emulated one on a busy machine may get no processor for seconds. Firmware that has died is
 * noticed before, by the card's clock.
 */
#define PB_COMMAND_TIMEOUT_US 60000000u
/** Commands of a channel that can be unfinished at once. The control ring may have room for fewer. */
#define PB_COMMANDS_PENDING 16u

/** A command between pb_channel_begin() and the end of pb_channel_finish(). Only the library writes it. */
struct pb_pending {
	/** Where the command stands. */
	enum {
		PB_PENDING_FREE = 0,      /**< the slot holds no command */
		PB_PENDING_SENT = 1,      /**< the command is in the ring, its reply has not come */
		PB_PENDING_REPLIED = 2,   /**< the reply is here, for pb_channel_finish() */
		PB_PENDING_ABANDONED = 3, /**< the caller has given up; a late reply frees the slot */
	} state;                          /**< the present state */
	uint32_t code;                    /**< enum pb_command_code */
	uint32_t tag;                     /**< chosen by the library; the reply carries the same number */
	struct pb_reply reply;            /**< valid in state PB_PENDING_REPLIED */
};

/**
 * A host's side of one channel. The caller owns the memory and keeps it in place from attach to detach; only the
 * library writes it. One thread uses a channel at a time, unless the link has locks.
 */
struct pb_channel {
	struct pb_link *link;           /**< the caller's; stays open until the detach */
	struct pb_card_info card;       /**< the boot block as read by the attach */
	struct pb_channel_entry *entry; /**< entry of the channel directory, in card memory */
	uint32_t epoch;                 /**< number of this attachment */
	uint32_t control_offset;  /**< control ring, bytes from the start of card memory; range-checked */
	uint32_t reply_offset;    /**< reply ring, bytes from the start of card memory; range-checked */
	uint32_t kick_offset;     /**< kick ring, bytes from the start of card memory; range-checked */
	uint32_t event_offset;    /**< event ring, bytes from the start of card memory; range-checked */
	uint32_t control_entries; /**< entries of the control ring and of the reply ring */
	uint32_t kick_entries;    /**< entries of the kick ring */
	uint32_t event_entries;   /**< entries of the event ring */
	uint32_t control_put;     /**< commands written, modulo 2^32 */
	uint32_t reply_get;       /**< replies read, modulo 2^32 */
	uint32_t kick_put;        /**< kicks written, modulo 2^32 */
	uint32_t rescan;          /**< value last stored in the entry's rescan word */
	uint32_t event_get;       /**< events read, modulo 2^32 */
	uint32_t events_dropped;  /**< the firmware's count at the last pb_channel_dropped() */
	uint32_t next_tag;        /**< tag of the next command */
	bool attached;            /**< true from a successful attach until the detach */
	struct pb_pending pending[PB_COMMANDS_PENDING]; /**< unfinished commands */
};

/* ---- attach and liveness ---- */

/**
 * Waits until the firmware runs, checks its version, and attaches. The firmware first drains and frees whatever an
 * earlier attachment of this channel left. A supervisor's restart of dead firmware is waited for. Blocks.
 * Threads: alone; waits.
 * @param channel out; the previous contents are overwritten
 * @param link open; must stay open until the detach
 * @param timeout_us for the whole call, in microseconds
 * @retval PB_ERROR_FIRMWARE_DEAD the firmware died: returned at once if no supervisor restarts it, else at the timeout
 * @retval PB_ERROR_BAD_VERSION firmware and library do not fit; card.abi_version holds the firmware's version
 * @retval PB_ERROR_TIMEOUT the firmware does not answer; card.boot_stage shows how far its boot came
 * @retval PB_ERROR_NO_SPACE the card has no channel of number link->channel
 */
enum pb_error pb_channel_attach(struct pb_channel *channel, struct pb_link *link, uint64_t timeout_us);

/**
 * Detaches: the firmware drains the channel's queues and frees queues, contexts and segments. The link stays open.
 * Blocks for at most PB_COMMAND_TIMEOUT_US. The channel is detached for the library after an error, too.
 * Threads: alone; waits.
 * @retval PB_ERROR_DETACHED the channel was not attached
 */
enum pb_error pb_channel_detach(struct pb_channel *channel);

/**
 * Checks that the firmware is still the boot that the channel attached to, and that the channel is still open. Never
 * blocks.
 * Threads: none; interrupt.
 * @param now NULL, or out: the boot block's changing words as they are now
 * @retval PB_ERROR_OK the channel can be used
 * @retval PB_ERROR_FIRMWARE_DEAD the firmware died or was restarted
 * @retval PB_ERROR_DETACHED the firmware closed or faulted the channel
 */
enum pb_error pb_channel_check(const struct pb_channel *channel, struct pb_card_info *now);

/**
 * Checks that the firmware's main loop makes progress. Never blocks. Every function of the library that waits makes
 * this check at each poll; only a caller that polls by itself has to call it. On a card without a supervisor the card's
 * clock stops together with the firmware: no death is found there.
 * Threads: none; interrupt.
 * @retval PB_ERROR_FIRMWARE_DEAD no pass of the main loop for PB_HEARTBEAT_US of the card's clock
 */
enum pb_error pb_channel_watch(const struct pb_channel *channel);

/* ---- events ---- */

/**
 * Reads and consumes the oldest unread event. Never blocks.
 * Threads: events; interrupt.
 * @param event out
 * @return false: there is no event of this attachment
 */
bool pb_channel_event(struct pb_channel *channel, struct pb_event *event);
/**
 * Counts the events that found the event ring full since the last call. Call it when pb_channel_event() returns false.
 * If it is not 0, recover the lost information with pb_queue_resync() for every queue and pb_context_query() for every
 * context. Never blocks.
 * Threads: events; interrupt.
 * @return events lost, modulo 2^32
 */
uint32_t pb_channel_dropped(struct pb_channel *channel);

/* ---- control commands ---- */

/**
 * Sends a control command without waiting for its reply. Replies may come in any order. The caller must pass each tag
 * to pb_channel_finish() until that returns something other than PB_ERROR_TIMEOUT. Never blocks.
 * Threads: commands; interrupt.
 * @param code enum pb_command_code
 * @param arguments PB_COMMAND_ARGUMENTS words
 * @param tag out: names the command
 * @retval PB_ERROR_NO_SPACE PB_COMMANDS_PENDING commands are unfinished, or the control ring or the reply ring is full
 */
enum pb_error pb_channel_begin(struct pb_channel *channel, uint32_t code, const uint32_t *arguments,
			       uint32_t *tag);
/**
 * Fetches the reply of a command that pb_channel_begin() sent. Never blocks.
 * Threads: commands; interrupt.
 * @param results NULL, or out: PB_REPLY_RESULTS words, filled in by every reply, also by one that reports an error
 * @return the reply's error, or an error of the library. The command is finished unless it is PB_ERROR_TIMEOUT.
 * @retval PB_ERROR_TIMEOUT the reply has not come: call again
 * @retval PB_ERROR_BAD_ARGUMENT no unfinished command has this tag
 */
enum pb_error pb_channel_finish(struct pb_channel *channel, uint32_t tag, uint32_t *results);
/**
 * Sends one control command and waits for its reply, for at most PB_COMMAND_TIMEOUT_US.
 * Threads: commands; waits.
 * @param code enum pb_command_code
 * @param arguments PB_COMMAND_ARGUMENTS words
 * @param results as for pb_channel_finish()
 * @return the reply's error, or an error of the library
 * @retval PB_ERROR_TIMEOUT no reply came, or too many commands are unfinished: the firmware may still execute the
 *   command later
 */
enum pb_error pb_channel_command(struct pb_channel *channel, uint32_t code, const uint32_t *arguments,
				 uint32_t *results);

#ifdef __cplusplus
}
#endif

#endif
