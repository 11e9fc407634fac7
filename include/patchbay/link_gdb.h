/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A link to a board over its debug probe, through any gdb stub. It needs no
 * wire to the board but the probe's, and no other firmware than Patchbay.
 *
 * Each exchange halts the MCU, writes what this host changed, reads what it
 * polls, and resumes the MCU. A probe carries neither doorbell nor interrupt:
 * the firmware polls all channels at each tick, and the host polls the board.
 */
#ifndef PB_HOST_LINK_GDB_H
#define PB_HOST_LINK_GDB_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/link.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A board behind a gdb stub. */
struct pb_gdb_target {
	/** HOST:PORT, [HOST]:PORT, or the path of a Unix socket, which begins with '/' or '.'. */
	const char *stub;
	uint32_t address; /**< card memory as the MCU addresses it; unused if `bytes` is 0 */
	/** Size of card memory; 0: take address and size from the header of the board's image. */
	uint32_t bytes;
};

/** Size of the buffer for a message of pb_link_open_gdb(), in bytes. */
#define PB_GDB_MESSAGE_BYTES 400u

/**
 * Connects to a board. Halts its MCU for a moment, then resumes it, even if it was halted before. The link uses the
 * board's last channel; the caller may change link->channel before it attaches. Blocks for some seconds at most.
 * @param link out; the caller closes it with link->ops->close
 * @param message out, after an error only: one sentence that says what failed and what to do
 * @retval PB_ERROR_NO_CARD no stub answers at target->stub
 * @retval PB_ERROR_BAD_ARGUMENT target->stub is no address, or the range cannot be card memory
 * @retval PB_ERROR_PROTOCOL what answers is no gdb stub, or the board has no Patchbay image
 * @retval PB_ERROR_FIRMWARE_DEAD the image is there, but its firmware does not finish its boot
 * @retval PB_ERROR_SYSTEM a system call failed; errno holds the reason
 * @retval PB_ERROR_HOST_MEMORY the host is out of memory
 */
enum pb_error pb_link_open_gdb(const struct pb_gdb_target *target, struct pb_link **link,
			       char message[PB_GDB_MESSAGE_BYTES]);

/** Cost of a link since it was opened. */
struct pb_gdb_figures {
	uint64_t halts;     /**< times that the MCU was halted */
	uint64_t halted_us; /**< microseconds that the MCU was halted, in all */
	uint64_t bytes_in;  /**< bytes read from the MCU's memory */
	uint64_t bytes_out; /**< bytes written to the MCU's memory */
};

/**
 * Returns what a link has cost.
 * @param link from pb_link_open_gdb()
 */
struct pb_gdb_figures pb_link_gdb_figures(const struct pb_link *link);

/**
 * Parses "STUB" or "STUB,ADDRESS,BYTES", with numbers as in C.
 * @param text is changed; target->stub points into it, so it must live as long as `target`
 * @param target out
 * @return false: the text has neither form
 */
bool pb_gdb_target_parse(char *text, struct pb_gdb_target *target);

#ifdef __cplusplus
}
#endif

#endif
