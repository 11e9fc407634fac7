/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The board's window on host memory: where the MCU and the engines see memory
 * that hosts own. The window is fixed. The board maps it before the firmware
 * starts, at a fixed distance from card memory, and keeps it. So a byte of host
 * memory has an offset as a byte of card memory has, and costs the firmware no
 * instruction more; what an access takes is the bus's matter.
 *
 * The board maps, the admin grants (HOST_GRANT), the firmware checks: it lets a
 * channel name granted pages only, hands out no page by itself, and accesses
 * none that no channel has named. A board without such memory has bytes 0.
 *
 * A window that moves is for hosts with more memory than the MCU has addresses
 * for. None of the boards needs one: what an admin grants is chosen by the
 * admin, so the board moves its window, if it can, before the grant is made.
 */
#ifndef PB_HAL_HOST_WINDOW_H
#define PB_HAL_HOST_WINDOW_H

#include <stdint.h>

/** What the MCU and the engines see of host memory. Whole pages. */
struct pb_host_window {
	/** From the first byte of card memory, for the MCU's addresses and the engines' offsets alike; behind card memory. */
	uint32_t offset;
	uint32_t bytes; /**< 0: there is none. offset + bytes is below 2^32 */
};

#endif
