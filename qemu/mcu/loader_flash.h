/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The MCU's end of an emulated card's flash (qemu/mcu/flash.h), for the loader: reads from the window, programs over the
 * UART, reports. Nothing of it is used once the flash is locked.
 */
#ifndef PB_QEMU_MCU_LOADER_FLASH_H
#define PB_QEMU_MCU_LOADER_FLASH_H

#include "hal/flash.h"
#include "hal/fuses.h"

/** Defined by the machine: sends a byte; waits until there is room. */
void pb_loader_serial_put(uint8_t byte);
/** Defined by the machine: waits for a byte. */
uint8_t pb_loader_serial_get(void);

/** A flash. The board fills in the first. */
struct pb_loader_flash {
	uint32_t *window; /**< where the MCU has its copy of the flash */
};

/** Their context is a struct pb_loader_flash. */
extern const struct pb_flash_ops pb_loader_flash_ops;
/** Likewise. */
extern const struct pb_fuses_ops pb_loader_fuses_ops;

/** Reports what was decided about a slot. */
void pb_loader_flash_report(uint32_t slot, uint32_t reason);
/** Locks the flash: the UART is the lines' from then on. */
void pb_loader_flash_lock(void);

#endif
