/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The simulated card of a schedule, and the link of a host with several threads. Compiled without ThreadSanitizer.
 */
#ifndef PB_TESTS_THREADS_CARD_H
#define PB_TESTS_THREADS_CARD_H

#include <stdbool.h>

#include "patchbay/link.h"
#include "qemu/sim.h"

/** Makes the card ready for a schedule: it is the same one for all, its tick at the same distance. */
void pb_threads_card(void);
/** Opens a link. @param locks NULL: one thread uses it */
struct pb_link *pb_threads_link(uint32_t channel, const struct pb_channel_locks *locks);
/** Lets the card run for a moment. */
void pb_threads_step(void);
/** Takes the interrupt of channel 1, which is the interrupt routine's. */
bool pb_threads_interrupt(void);

#endif
