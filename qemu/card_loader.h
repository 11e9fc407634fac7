/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The flash of a card that boots by a loader (docs/boot.md): the file that keeps it, the loader's frames on the UART, and
 * the confirmation of an image that came up.
 */
#ifndef PB_QEMU_CARD_LOADER_H
#define PB_QEMU_CARD_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/update.h"
#include "qemu/card_lines.h"
#include "qemu/flash_model.h"
#include "qemu/machines.h"

/** How long an image must run after hosts could attach until it is confirmed, on the card's clock, in microseconds. */
#define PB_CARD_CONFIRM_US 100000u
/** How long an image on trial may take until hosts can attach. */
#define PB_CARD_TRIAL_US 5000000u

/** Longest frame of the loader: PROGRAM. */
#define PB_CARD_FRAME_BYTES 9u

/** The caller's; read-only for everyone but the functions below. */
struct pb_card_loader {
	bool used; /**< the card boots by a loader */
	int file;  /**< of the flash; holds the lock that keeps others away; valid if `used` */
	struct pb_flash_model model;        /**< over the file of the flash */
	struct pb_updater updater;          /**< over the model */
	struct pb_card_lines *lines;        /**< whose UART carries the frames */
	uint8_t frame[PB_CARD_FRAME_BYTES]; /**< what has come of one */
	uint32_t frame_bytes;               /**< of that */
	bool locked;                        /**< the loader has locked the flash */
	uint32_t starts;                    /**< of the MCU */
	uint32_t running;                   /**< slot that was started; PB_SLOT_NONE: none yet */
	bool confirmed;                     /**< that slot is confirmed */
	bool up;                            /**< hosts may attach */
	uint32_t since;                     /**< time of the start, or since when hosts may attach */
	uint32_t reasons[PB_SLOTS];         /**< what the loader reported last */
	bool quiet;                         /**< says nothing of what goes as it should */
};

/** What pb_card_loader_turn() found. */
enum pb_card_loader_news {
	PB_CARD_LOADER_NOTHING = 0,
	PB_CARD_LOADER_LATE = 1, /**< the image on trial has not come up in its time */
};

/**
 * Reads the file of a card's flash, and locks it. Each operation of the flash is in the file when it returns; one fails if
 * the file has another size meanwhile. Says on standard error what is wrong with the file.
 * @param path NULL: the card has no loader, and all functions below do nothing
 */
bool pb_card_loader_open(struct pb_card_loader *loader, const char *path, const struct pb_machine *machine,
			 struct pb_card_lines *lines, bool quiet);
/** Closes the file. */
void pb_card_loader_close(struct pb_card_loader *loader);
/** The MCU starts now. @param clock the card's clock */
void pb_card_loader_start(struct pb_card_loader *loader, uint32_t clock);
/** Takes a byte of the UART. @return false: the flash is locked, and the byte is a line's */
bool pb_card_loader_byte(struct pb_card_loader *loader, uint8_t byte);
/** Hosts may attach from now on. @param clock the card's clock */
void pb_card_loader_up(struct pb_card_loader *loader, uint32_t clock);
/**
 * A turn of the card's loop: confirms an image in its time.
 * @param clock the card's clock @param still for how long the heartbeat has stood
 */
enum pb_card_loader_news pb_card_loader_turn(struct pb_card_loader *loader, uint32_t clock, uint32_t still);
/** Returns the slot that is on trial now; PB_SLOT_NONE: none. */
uint32_t pb_card_loader_trial(const struct pb_card_loader *loader);

#endif
