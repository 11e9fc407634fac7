/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Hosts that run on the MCU: a client, and the card's administrator. They write
 * a channel's rings and read the firmware's replies there, as every host does.
 * No function waits. Thread context only.
 */
#ifndef PB_BOARDS_STM32F405_APP_LOCAL_HOST_H
#define PB_BOARDS_STM32F405_APP_LOCAL_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/card_admin/admin.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/submission.h"

/** One channel of the card. The caller fills in the first two. */
struct pb_local_host {
	uint8_t *memory; /**< card memory */
	uint32_t channel;
	struct pb_channel_entry *entry; /**< private, as are the others */
	uint32_t request;               /**< the last attach or detach */
	uint32_t control_put;
	uint32_t reply_get;
	uint32_t kick_put;
};

/** A queue of such a host. */
struct pb_local_queue {
	struct pb_queue_page *page; /**< in card memory; the ring is right behind it */
	uint32_t entries;           /**< of the ring */
	uint32_t handle;
	uint32_t put; /**< descriptors written */
};

/** The admin, which gives clients their privileges. */
struct pb_local_admin {
	struct pb_card_admin admin;
	uint32_t refused; /**< enum pb_error of the last command that was refused */
};

/** Starts the administrator; pb_card_admin_poll() continues it. Pre: the firmware has booted. */
void pb_local_admin_start(struct pb_local_admin *admin, uint8_t *memory, uint32_t memory_bytes);

/** Requests to attach. Pre: the firmware has booted. */
void pb_local_host_attach(struct pb_local_host *host);
/** Requests to detach: the firmware frees all that the channel has. */
void pb_local_host_detach(struct pb_local_host *host);
/** Returns whether the firmware has answered the last request. @param state set to enum pb_channel_state if so */
bool pb_local_host_answered(const struct pb_local_host *host, uint32_t *state);
/** Sends one command, with PB_COMMAND_ARGUMENTS arguments. Pre: the command before it has been answered. */
void pb_local_host_ask(struct pb_local_host *host, uint32_t code, const uint32_t *arguments);
/** Reads the next reply. @return false: there is none yet */
bool pb_local_host_reply(struct pb_local_host *host, struct pb_reply *reply);
/** Writes a descriptor and the kick of its queue. Pre: the queue's ring has a free entry. */
void pb_local_host_submit(struct pb_local_host *host, struct pb_local_queue *queue,
			  const struct pb_descriptor *descriptor);

#endif
