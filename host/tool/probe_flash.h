/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The flash and the fuses of a card behind a debug probe, as drivers for the updater (hal/flash.h, hal/fuses.h). Words of an
 * image are collected and programmed together; a word of a slot's record is permanent when its operation returns.
 */
#ifndef PB_HOST_TOOL_PROBE_FLASH_H
#define PB_HOST_TOOL_PROBE_FLASH_H

#include "hal/flash.h"
#include "hal/fuses.h"
#include "host/link_gdb_remote.h"
#include "loader/slot.h"

/** Words that are programmed together at most. */
#define PB_PROBE_FLASH_WORDS 256u

/** A flash. The caller owns it; pb_probe_flash_init() fills it in. */
struct pb_probe_flash {
	struct pb_gdb *gdb;                   /**< the stub; the MCU is halted */
	uint32_t address;                     /**< where the MCU has the flash */
	uint32_t first;                       /**< offset of the first word that waits */
	uint32_t count;                       /**< words that wait */
	uint32_t words[PB_PROBE_FLASH_WORDS]; /**< those */
	enum pb_error error; /**< of the first operation that failed; none is tried behind it */
	struct pb_flash flash;
	struct pb_fuses fuses;
	struct pb_slots slots;
};

/** @param flash out @param gdb greeted */
void pb_probe_flash_init(struct pb_probe_flash *flash, struct pb_gdb *gdb, uint32_t address);
/** Programs what waits. @return whether all operations so far were carried out */
bool pb_probe_flash_flush(struct pb_probe_flash *flash);

#endif
