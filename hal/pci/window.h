/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A device behind PCI whose memory is a window for the MCU. Reference: PCI
 * Local Bus Specification 3.0, section 6; PCI Express Base Specification 3.0,
 * section 7.2.2 (configuration space as memory).
 */
#ifndef PB_HAL_PCI_WINDOW_H
#define PB_HAL_PCI_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/** The window: a 64-bit memory BAR of the first such device of bus 0. */
struct pb_pci_window {
	uintptr_t configuration; /**< address of the configuration space of bus 0 */
	uint32_t identity;       /**< of the device: vendor in the low half, device in the high one */
	uint32_t bar;            /**< number of its first base address register, 0..4 */
	uint32_t address;        /**< where the window is placed; aligned to its size */
};

/** Places the window and enables it. Called by the board, once, in thread context. @return false: there is no such device */
bool pb_pci_window_open(const struct pb_pci_window *window);

/**
 * Places the windows of all such devices from a device number on, one behind the other, each at a multiple of its size,
 * and enables them. Called by the board, once, in thread context.
 * @param first device number to begin at @param start where the first window may begin @param end where the last one must end
 * @return where the last one ends; `start`: there is none
 */
uint32_t pb_pci_windows_place(const struct pb_pci_window *window, uint32_t first, uint32_t start,
			      uint32_t end);

#endif
