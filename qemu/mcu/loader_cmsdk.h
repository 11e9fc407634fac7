/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The loader's end of an Arm CMSDK APB UART, polled: pb_loader_serial_put() and pb_loader_serial_get(). Reference: Arm
 * Cortex-M System Design Kit Technical Reference Manual, section 4.3.
 */
#ifndef PB_QEMU_MCU_LOADER_CMSDK_H
#define PB_QEMU_MCU_LOADER_CMSDK_H

#include <stdint.h>

/** Enables the UART. Called by the board's loader, once, before it sends. */
void pb_loader_cmsdk_start(uintptr_t base);

#endif
