/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The loader's end of a 16550 UART, polled: pb_loader_serial_put() and pb_loader_serial_get(). Reference: National
 * Semiconductor PC16550D data sheet, section 8.
 */
#ifndef PB_QEMU_MCU_LOADER_16550_H
#define PB_QEMU_MCU_LOADER_16550_H

#include <stdint.h>

/** Enables the UART, without interrupts. Called by the board's loader, once, before it sends. */
void pb_loader_16550_start(uintptr_t base);

#endif
