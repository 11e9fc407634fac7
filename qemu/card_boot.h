/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The boot block as the card's supervisor sees it: it reads how far the
 * firmware came, and writes the line that the firmware cannot write itself.
 */
#ifndef PB_QEMU_CARD_BOOT_H
#define PB_QEMU_CARD_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/boot.h"

/** The caller's. */
struct pb_card_boot {
	struct pb_boot_block *block; /**< in card memory */
	uint32_t former;             /**< incarnation when the MCU was started */
	uint32_t deaths;
	bool former_fatal; /**< stage FATAL is the former firmware's, as far as the card can determine */
	bool running;      /**< it has reached RUNNING */
};

/** What pb_card_boot_poll has seen. */
enum pb_card_boot_news {
	PB_CARD_BOOT_NOTHING = 0,
	PB_CARD_BOOT_RUNS = 1,  /**< it has reached RUNNING since the last call */
	PB_CARD_BOOT_FATAL = 2, /**< it has stopped with a fatal record */
};

/** Room for the text of pb_card_boot_fatal. */
#define PB_CARD_BOOT_FATAL_BYTES 64u

void pb_card_boot_init(struct pb_card_boot *boot, struct pb_boot_block *block);
/** An MCU starts now; hosts wait for pb_card_boot_open. */
void pb_card_boot_start(struct pb_card_boot *boot);
/** Looks how far it is. */
enum pb_card_boot_news pb_card_boot_poll(struct pb_card_boot *boot);
/** What the fatal record says, in words. */
void pb_card_boot_fatal(const struct pb_card_boot *boot, char text[PB_CARD_BOOT_FATAL_BYTES]);
/** Hosts may attach to the firmware that runs: says so. */
void pb_card_boot_open(struct pb_card_boot *boot);
/** The MCU has died: writes where, for hosts. @param again it is going to be started again */
void pb_card_boot_died(struct pb_card_boot *boot, bool again);
/** The MCU has been ended for good, alive or dead. */
void pb_card_boot_end(struct pb_card_boot *boot);
/** Where it died last, by name. */
const char *pb_card_boot_dead_stage(const struct pb_card_boot *boot);
const char *pb_card_boot_dead_waypoint(const struct pb_card_boot *boot);

#endif
