/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The card as a host of its own firmware: attached to the admin channel, it
 * gives every client's channel the privilege to page, and closes the channels
 * of clients that have left. It never waits; the event loop calls
 * pb_card_admin_poll when something may have changed, and now and then, in
 * case an interrupt got lost.
 */
#ifndef PB_HAL_CARD_ADMIN_H
#define PB_HAL_CARD_ADMIN_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/abi/channel.h"

enum pb_card_admin_state {
	PB_CARD_ADMIN_OFF = 0,       /**< no firmware runs */
	PB_CARD_ADMIN_ATTACHING = 1, /**< the firmware has not answered yet */
	PB_CARD_ADMIN_ATTACHED = 2,
	PB_CARD_ADMIN_LOST = 3, /**< refused, or the firmware's words made no sense; until it is restarted */
};

/** What the admin needs from the card. */
struct pb_card_admin_config {
	uint8_t *memory;
	uint32_t memory_bytes;
	void (*ring)(void *context); /**< the admin channel's doorbell */
	/** A channel has been closed and has its privileges again: the next client may come. */
	void (*closed)(void *context, uint32_t channel);
	/** The firmware refused a command about a channel. The admin goes on as if it had not. */
	void (*refused)(void *context, uint32_t code, uint32_t channel, uint32_t error);
	void *context;
};

/** The caller's; only the functions below touch it. */
struct pb_card_admin {
	struct pb_card_admin_config config;
	enum pb_card_admin_state state;
	struct pb_channel_entry *entry; /**< in card memory */
	uint32_t request;               /**< what was asked for last */
	uint32_t control_offset;
	uint32_t reply_offset;
	uint32_t entries; /**< of both rings */
	uint32_t control_put;
	uint32_t reply_get;
	uint32_t closes;   /**< mask of channels to close */
	uint32_t closing;  /**< mask of those whose reply is not there yet */
	uint32_t grants;   /**< mask of channels to give their privileges */
	uint32_t granting; /**< mask of those whose reply is not there yet */
	uint32_t leaving;  /**< mask of channels that are closed but for their privileges */
};

void pb_card_admin_init(struct pb_card_admin *admin, const struct pb_card_admin_config *config);
/** The firmware has come up: asks to attach. */
void pb_card_admin_start(struct pb_card_admin *admin);
/** The firmware is gone, and all that was asked of it. */
void pb_card_admin_stop(struct pb_card_admin *admin);
/** Asks for a channel to be closed, now or once attached. */
void pb_card_admin_close(struct pb_card_admin *admin, uint32_t channel);
/** Goes on as far as the firmware has got. */
void pb_card_admin_poll(struct pb_card_admin *admin);
/** Whether the firmware has given all clients their privileges, or will not: hosts may come. */
bool pb_card_admin_settled(const struct pb_card_admin *admin);

#endif
