/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Hosts that live on the MCU: a client, and the card's admin. They store into
 * a channel's rings and read the firmware's answers there, as any other does,
 * and never wait.
 */
#ifndef PB_BOARDS_STM32F405_LOCAL_HOST_H
#define PB_BOARDS_STM32F405_LOCAL_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/abi/channel.h"
#include "firmware/abi/submission.h"
#include "hal/card/admin.h"

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
	uint32_t refused; /**< enum pb_error of the last command that was */
};

/** Has it attach. pb_card_admin_poll gets it on. The firmware runs. */
void pb_local_admin_start(struct pb_local_admin *admin, uint8_t *memory, uint32_t memory_bytes);

/** Asks to attach; the firmware runs. */
void pb_local_host_attach(struct pb_local_host *host);
/** Asks to leave: the firmware frees all that the channel has. */
void pb_local_host_detach(struct pb_local_host *host);
/** Whether the firmware has answered that. @param state set to enum pb_channel_state then */
bool pb_local_host_answered(const struct pb_local_host *host, uint32_t *state);
/** Asks one command, with PB_COMMAND_ARGUMENTS arguments. The one before it has been answered. */
void pb_local_host_ask(struct pb_local_host *host, uint32_t code, const uint32_t *arguments);
/** Takes the reply. @return false: it is not there yet */
bool pb_local_host_reply(struct pb_local_host *host, struct pb_reply *reply);
/** Writes a descriptor, which has a place in the ring, and the kick. */
void pb_local_host_submit(struct pb_local_host *host, struct pb_local_queue *queue,
			  const struct pb_descriptor *descriptor);

#endif
