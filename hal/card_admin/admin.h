/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The card's administrator, a host of the card's own firmware: attached to the
 * admin channel, it grants every client's channel the privilege to page, the weight that the client asked for and its
 * part of host memory, and closes the channels of clients that have left. It runs beside an emulated
 * card and in the image of a board that is a card by itself. No function
 * blocks; the owner calls pb_card_admin_poll() when something may have changed,
 * and from time to time, in case an interrupt was lost.
 */
#ifndef PB_HAL_CARD_ADMIN_ADMIN_H
#define PB_HAL_CARD_ADMIN_ADMIN_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/channel.h"
#include "patchbay/abi/errors.h"

enum pb_card_admin_state {
	PB_CARD_ADMIN_OFF = 0,       /**< no firmware runs */
	PB_CARD_ADMIN_ATTACHING = 1, /**< the firmware has not answered yet */
	PB_CARD_ADMIN_ATTACHED = 2,
	PB_CARD_ADMIN_LOST = 3, /**< refused, or the firmware's words were invalid; until it is restarted */
};

/** Channels whose part of host memory a card may choose: more than any card has. */
#define PB_CARD_ADMIN_SHARES 16u

/** The host memory of clients, from host address 0 on. */
struct pb_card_admin_shares {
	uint32_t offset[PB_CARD_ADMIN_SHARES]; /**< by channel: where it begins in the card's window */
	uint32_t bytes[PB_CARD_ADMIN_SHARES];  /**< by channel: 0: none */
	bool chosen;                           /**< false: each client has an equal part instead */
};

/** Channels whose weight can be chosen: a mask has a bit for each. */
#define PB_CARD_ADMIN_CHANNELS 32u

/** Questions of others that may be unanswered at once: a mask has a bit for each. */
#define PB_CARD_ADMIN_QUESTIONS 32u

/** What the administrator needs from the card. Its functions are called from those below. */
struct pb_card_admin_config {
	uint8_t *memory;
	uint32_t memory_bytes;
	const struct pb_card_admin_shares *host; /**< NULL: each client has an equal part of host memory */
	uint32_t slow_nodes; /**< mask of nodes with limits of their own, for a hang and for an answer */
	uint32_t slow_us;    /**< those limits, in microseconds; also what queues may ask for then */
	void (*ring)(void *context); /**< rings the admin channel's doorbell */
	/** Reports that a channel has been closed and has its privileges again: the next client may attach. */
	void (*closed)(void *context, uint32_t channel);
	/** Reports that the firmware refused a command about a channel, or about a node. The administrator continues as if it had succeeded. */
	void (*refused)(void *context, uint32_t code, uint32_t channel, uint32_t error);
	/** Reports the reply to a question of pb_card_admin_ask(). NULL: there are no questions. */
	void (*answered)(void *context, uint32_t question, const struct pb_reply *reply);
	void *context;
};

/** Memory of the caller; only the functions below access it. */
struct pb_card_admin {
	struct pb_card_admin_config config;
	enum pb_card_admin_state state;
	struct pb_channel_entry *entry; /**< in card memory */
	uint32_t request;               /**< the last attach or detach request */
	uint32_t control_offset;
	uint32_t reply_offset;
	uint32_t entries; /**< of both rings */
	uint32_t control_put;
	uint32_t reply_get;
	uint32_t closes;   /**< mask of channels to close */
	uint32_t closing;  /**< mask of those whose reply is not there yet */
	uint32_t grants;   /**< mask of channels to give their privileges */
	uint32_t granting; /**< mask of those that do not have all of that yet */
	uint32_t share;    /**< an equal part of host memory, in bytes; 0: there is none */
	uint32_t slow;     /**< mask of nodes to give their limits */
	uint32_t slowing;  /**< mask of those whose reply is not there yet */
	uint32_t leaving;  /**< mask of channels that are closed but for their privileges */
	uint32_t asking;   /**< mask of questions whose reply is not there yet */
	uint8_t grant[PB_CARD_ADMIN_CHANNELS];  /**< by channel: what is granted now, or first */
	uint8_t weight[PB_CARD_ADMIN_CHANNELS]; /**< by channel: what its client asked for; 0: 1 */
};

/** Initialises the administrator, in state OFF. The configuration is copied. */
void pb_card_admin_init(struct pb_card_admin *admin, const struct pb_card_admin_config *config);
/** Requests to attach. Call when the firmware has reached stage RUNNING. */
void pb_card_admin_start(struct pb_card_admin *admin);
/** Drops all requests. Call when the firmware is gone. */
void pb_card_admin_stop(struct pb_card_admin *admin);
/**
 * Gives a channel another weight beside the others of its priority, now or once attached, until it is closed.
 * @param weight 1 to PB_WEIGHT_MAX
 */
void pb_card_admin_weigh(struct pb_card_admin *admin, uint32_t channel, uint32_t weight);
/** Requests that a channel be closed, now or once attached. */
void pb_card_admin_close(struct pb_card_admin *admin, uint32_t channel);
/**
 * Sends a command for another process, which never takes more than half of the ring.
 * @param question number below PB_CARD_ADMIN_QUESTIONS, without an unanswered command; the report of the reply has it
 * @param arguments PB_COMMAND_ARGUMENTS words
 * @retval PB_ERROR_OK the reply will be reported, unless pb_card_admin_stop() is called before, or the state becomes LOST
 * @retval PB_ERROR_BUSY there is no room, or the firmware has not answered the attach: try again later
 * @retval PB_ERROR_FIRMWARE_DEAD no firmware runs that would answer
 */
enum pb_error pb_card_admin_ask(struct pb_card_admin *admin, uint32_t question, uint32_t code,
				const uint32_t *arguments);
/** Handles the firmware's replies and sends the next commands. Never waits. */
void pb_card_admin_poll(struct pb_card_admin *admin);
/** Returns whether the firmware has granted all clients their privileges, or refused to: hosts may attach. */
bool pb_card_admin_settled(const struct pb_card_admin *admin);

#endif
