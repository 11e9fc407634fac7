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
	bool open;         /**< hosts may attach to it */
	uint64_t started;  /**< time when the MCU was started, in microseconds */
};

/** What pb_card_boot_poll has seen. */
enum pb_card_boot_news {
	PB_CARD_BOOT_NOTHING = 0,
	PB_CARD_BOOT_RUNS = 1,  /**< it has reached RUNNING since the last call */
	PB_CARD_BOOT_FATAL = 2, /**< it has stopped with a fatal record */
};

/** Room for the texts of pb_card_boot_fatal and pb_card_boot_hang. */
#define PB_CARD_BOOT_FATAL_BYTES 80u

void pb_card_boot_init(struct pb_card_boot *boot, struct pb_boot_block *block);
/** An MCU starts now; hosts wait for pb_card_boot_open. @param now microseconds */
void pb_card_boot_start(struct pb_card_boot *boot, uint64_t now);
/** Returns whether hosts may not attach yet, although the MCU was started so long ago. */
bool pb_card_boot_late(const struct pb_card_boot *boot, uint64_t now, uint32_t limit_us);
/**
 * Says what firmware that is given up did not do.
 * @param late_us the limit of its boot; 0: its heartbeat stands
 * @param still_us time since the last heartbeat
 * @param heard a byte has come from the MCU
 */
void pb_card_boot_hang(const struct pb_card_boot *boot, uint32_t late_us, uint32_t still_us, bool heard,
		       char text[PB_CARD_BOOT_FATAL_BYTES]);
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
