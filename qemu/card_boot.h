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

#include "firmware/abi/boot.h"

/** The caller's. */
struct pb_card_boot {
	struct pb_boot_block *block; /**< in card memory */
	uint32_t former;             /**< incarnation when the MCU was started */
	uint32_t deaths;
	bool published; /**< the firmware of this start has published itself */
	bool running;   /**< it has reached RUNNING */
};

void pb_card_boot_init(struct pb_card_boot *boot, struct pb_boot_block *block);
/** An MCU starts now. */
void pb_card_boot_start(struct pb_card_boot *boot);
/** Looks how far it is. @return whether it has reached RUNNING since the last call */
bool pb_card_boot_poll(struct pb_card_boot *boot);
/** The MCU has died: writes where, for hosts. */
void pb_card_boot_died(struct pb_card_boot *boot);
/** Where it died last, by name. */
const char *pb_card_boot_dead_stage(const struct pb_card_boot *boot);
const char *pb_card_boot_dead_waypoint(const struct pb_card_boot *boot);

#endif
