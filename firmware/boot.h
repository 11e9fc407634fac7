/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The boot: the boot block that hosts read, and the stages up to RUNNING. The
 * owner of struct pb_core_boot; main loop only.
 */
#ifndef PB_FIRMWARE_BOOT_H
#define PB_FIRMWARE_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/boot.h"

struct pb_firmware;

/** The state of this module. */
struct pb_core_boot {
	struct pb_boot_block *block; /**< shared */
	uint32_t incarnation;        /**< of this boot, never 0 */
	uint32_t stage;              /**< enum pb_boot_stage */
	bool booting;                /**< until the stage is RUNNING */
};

/** Starts a boot. @param block where the boot block lies */
void pb_core_boot_begin(struct pb_core_boot *boot, struct pb_boot_block *block);
/** Fills the boot block but for the stage. */
void pb_core_boot_publish(struct pb_firmware *firmware);
/** Advances towards RUNNING. Called in each pass until then. @return whether the stage is RUNNING now */
bool pb_core_boot_step(struct pb_firmware *firmware);

#endif
