/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The card's administrator on its own socket (host/update_protocol.h): writes updates and has the MCU started again. One
 * at a time; it never blocks the card.
 */
#ifndef PB_QEMU_CARD_UPDATE_H
#define PB_QEMU_CARD_UPDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/update_protocol.h"
#include "qemu/card_loader.h"
#include "qemu/mcu/flash.h"

/** The caller's; only the functions below touch it. */
struct pb_card_update {
	struct pb_card_loader *loader;
	int epoll;
	int listener;                    /**< -1: there is no such socket */
	int socket;                      /**< of the administrator that is connected; -1: none */
	struct pb_admin_request request; /**< what has come of it */
	uint32_t got;                    /**< bytes of the request and of what follows */
	uint64_t heard_us;               /**< when it sent something last, on the wall clock */
	uint32_t file[PB_CARD_SLOT_BYTES / sizeof(uint32_t)]; /**< what follows */
};

/** Listens. @param listener stays the caller's; -1: there is none */
bool pb_card_update_start(struct pb_card_update *update, struct pb_card_loader *loader, int listener,
			  int epoll);
/** Closes the connection. */
void pb_card_update_stop(struct pb_card_update *update);
/**
 * PB_CARD_WATCH_ADMIN: takes in an administrator that waits, or reads.
 * @param now the wall clock @return whether the MCU is to be started again
 */
bool pb_card_update_handle(struct pb_card_update *update, uint64_t now);
/** A turn of the card's loop: leaves an administrator that has sent nothing for 10 s. @param now the wall clock */
void pb_card_update_turn(struct pb_card_update *update, uint64_t now);

#endif
