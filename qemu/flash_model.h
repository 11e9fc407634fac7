/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A model of the flash and the fuses of an emulated card, in memory of the caller: erase, program, power cut.
 */
#ifndef PB_QEMU_FLASH_MODEL_H
#define PB_QEMU_FLASH_MODEL_H

#include "hal/flash.h"
#include "hal/fuses.h"
#include "loader/slot.h"

/** What a power cut leaves of the operation in which it comes. */
enum pb_flash_tear {
	PB_FLASH_TEAR_NONE = 0, /**< nothing of it was done */
	PB_FLASH_TEAR_ALL = 1,  /**< all of it was done, but the caller was not told */
	PB_FLASH_TEAR_SOME = 2, /**< some of its bits, chosen by the seed */
};

/** The caller's; read-only but for `power`, `tear` and `seed`. */
struct pb_flash_model {
	uint8_t *
		bytes; /**< PB_CARD_FLASH_BYTES, or as large as the test's slots need; as `words` of 4 bytes */
	struct pb_flash flash;
	struct pb_fuses fuses;
	struct pb_slots slots;
	uint32_t power;          /**< operations until a power cut; UINT32_MAX: none comes */
	enum pb_flash_tear tear; /**< how it ends the operation in which it comes */
	uint32_t seed;           /**< of the bits that PB_FLASH_TEAR_SOME chooses */
	uint32_t operations;     /**< erases and programs so far */
	/** Makes a range permanent that has changed; NULL: `bytes` are all there is. @return whether it is permanent */
	bool (*save)(void *context, uint32_t offset, uint32_t bytes);
	void *context; /**< of `save` */
};

/**
 * Sets up a model of the emulated card's size (qemu/mcu/flash.h), with power that is never cut.
 * @param bytes PB_CARD_FLASH_BYTES at an address for words; stays the caller's
 */
void pb_flash_model_init(struct pb_flash_model *model, uint8_t *bytes);
/** Has each operation make permanent what it has changed, and fail where that fails. */
void pb_flash_model_keep(struct pb_flash_model *model,
			 bool (*save)(void *context, uint32_t offset, uint32_t bytes), void *context);
/** Restores the power: the next operation is carried out. */
void pb_flash_model_power_on(struct pb_flash_model *model);
/** Makes a new card: everything erased, the fuses with a public key, the counter 0. */
void pb_flash_model_new(struct pb_flash_model *model, const uint8_t key[PB_FUSES_KEY_BYTES]);

#endif
