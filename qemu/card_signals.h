/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The signals that end a card, as something to wait for.
 */
#ifndef PB_QEMU_CARD_SIGNALS_H
#define PB_QEMU_CARD_SIGNALS_H

#include <signal.h>

/** The caller's. */
struct pb_card_signals {
	int file; /**< readable when one has come; -1: they could not be blocked */
	sigset_t former;
};

/** Blocks them in the calling thread. */
void pb_card_signals_block(struct pb_card_signals *signals);
/** Takes those that have come, and gives the thread its mask back. */
void pb_card_signals_unblock(struct pb_card_signals *signals);

#endif
