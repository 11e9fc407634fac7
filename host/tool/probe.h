/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Preparation of a board at a debug probe for a command.
 */
#ifndef PB_HOST_TOOL_PROBE_H
#define PB_HOST_TOOL_PROBE_H

#include "patchbay/link_gdb.h"

/** What a command needs of a board. */
enum pb_probe_needs {
	PB_PROBE_CHANNEL, /**< a client's channel */
	PB_PROBE_READ,    /**< card memory to read: nothing is written, and no channel is attached */
	PB_PROBE_ASK,     /**< commands by the admin's channel; by a client's if an admin is attached */
};

/**
 * Opens a link to a board, for its last channel or, with PB_PROBE_ASK, for that of the admin. A board without a supervisor may have no admin: if the channel lacks the privileges that
 * commands need, this function attaches as the admin, grants them, and detaches. An attached admin gets time to grant
 * them first. Firmware that does not run is left unchanged, so that it can be examined.
 * @param link out; the caller closes it
 * @param message out, after an error only: what failed and what to do
 * @return as pb_link_open_gdb(), or why no channel could be attached
 */
enum pb_error pb_open_probe(const struct pb_gdb_target *target, enum pb_probe_needs needs,
			    struct pb_link **link, char message[PB_GDB_MESSAGE_BYTES]);

#endif
