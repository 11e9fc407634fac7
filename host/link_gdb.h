/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A link to a board over its debug probe, through any gdb stub: no wire to the
 * board but the probe's, no firmware but Patchbay's own.
 *
 * Each exchange halts the MCU, writes what this host changed, reads what it
 * looks at, and lets the MCU run on. No doorbell and no interrupt goes over a
 * probe: the firmware looks at all channels at each tick, and the host asks.
 */
#ifndef PB_HOST_LINK_GDB_H
#define PB_HOST_LINK_GDB_H

#include <stdbool.h>
#include <stdint.h>

#include "host/link.h"
#include "host/link_gdb_memory.h"

/** Where a board's card memory is to be had. */
struct pb_gdb_place {
	const char *stub; /**< as of pb_gdb_connect */
	uint32_t address; /**< of card memory, as the MCU sees it */
	uint32_t bytes;   /**< of card memory; 0: the header of the board's image says where it is */
};

/** Room for what pb_link_open_gdb says. */
#define PB_GDB_MESSAGE_BYTES 400u

/**
 * Connects to a board. Its MCU is halted for a moment, and runs from then on,
 * even if it was halted before. The channel is the last one that the board
 * has, once its boot block is there; the caller may choose another.
 * @param message after an error: one sentence, and what to do about it
 * @retval PB_ERROR_NO_CARD nobody listens there
 * @retval PB_ERROR_PROTOCOL what listens there is no gdb stub, or the board has no Patchbay image
 * @retval PB_ERROR_FIRMWARE_DEAD the image is there, and its firmware does not come up
 */
enum pb_error pb_link_open_gdb(const struct pb_gdb_place *place, struct pb_link **link,
			       char message[PB_GDB_MESSAGE_BYTES]);

/** What the link has cost since it was opened. */
struct pb_gdb_figures pb_link_gdb_figures(const struct pb_link *link);

/**
 * Takes "ADDRESS" or "ADDRESS,START,BYTES" apart, numbers as in C.
 * @param text changed: place->stub points into it
 * @return false: it is neither
 */
bool pb_gdb_place_parse(char *text, struct pb_gdb_place *place);

#endif
