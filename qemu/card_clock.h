/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The card's clock, boot.clock: microseconds that the card's event loop counts
 * turn by turn, about as fast as the clock on the wall. Whoever is late on it
 * is late by itself: it stands still while the card or its MCU gets no
 * processor, because the machine that emulates them has other things to do.
 *
 *   - A turn adds PB_CARD_CLOCK_TURN_US at most: a card that was not run for a
 *     while loses that time.
 *   - Firmware that lives moves its heartbeat every 5 ms or less. Once it has
 *     stood still for PB_CARD_CLOCK_DOUBT_US, the clock goes on only by
 *     PB_CARD_CLOCK_PROOF_US for each proof that the MCU has been run.
 */
#ifndef PB_QEMU_CARD_CLOCK_H
#define PB_QEMU_CARD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/boot.h"

/** More than the millisecond that the loop sleeps, so that the clock keeps pace with the wall. */
#define PB_CARD_CLOCK_TURN_US 1200u
/** More than the 5 ms between two heartbeats, less than PB_HEARTBEAT_US. */
#define PB_CARD_CLOCK_DOUBT_US 6000u
/**
 * What one proof is worth: little while hosts have not given the firmware up, so that it takes eight of them, for on a
 * machine that is very busy an emulator may answer twice and still not have got round to the tick.
 */
#define PB_CARD_CLOCK_PROOF_US 250u
/** What it is worth once they have: the supervisor waits for seconds. */
#define PB_CARD_CLOCK_LATE_PROOF_US 1000u

/** The caller's; only the functions below touch it. */
struct pb_card_clock {
	struct pb_boot_block *block; /**< in card memory */
	uint64_t then;               /**< the wall's microseconds at the last turn */
	uint32_t time;               /**< what boot.clock says */
	uint32_t beat;               /**< the heartbeat as last seen */
	uint32_t still;              /**< microseconds of this clock since it moved */
};

/** Microseconds on the wall: they never go back. */
uint64_t pb_card_wall_us(void);

void pb_card_clock_init(struct pb_card_clock *clock, struct pb_boot_block *block, uint64_t now);
/** An MCU starts now: whatever stands in the heartbeat, it has just moved. */
void pb_card_clock_start(struct pb_card_clock *clock, uint64_t now);
/**
 * A turn of the loop.
 * @param now the wall's microseconds
 * @param proven the MCU has been run since the clock began to doubt it, and since the last proof
 */
void pb_card_clock_turn(struct pb_card_clock *clock, uint64_t now, bool proven);
/** Whether it stands until there is a proof. */
bool pb_card_clock_doubts(const struct pb_card_clock *clock);

#endif
