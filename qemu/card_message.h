/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Messages of the card to its hosts and observers (host/link_protocol.h).
 */
#ifndef PB_QEMU_CARD_MESSAGE_H
#define PB_QEMU_CARD_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

/** Sends a number. Never blocks. @param fd goes with it; -1: none @return false: it could not be sent whole */
bool pb_card_message(int socket, int64_t value, int fd);

#endif
