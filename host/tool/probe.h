/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A board at a debug probe, made ready for a command.
 */
#ifndef PB_HOST_TOOL_PROBE_H
#define PB_HOST_TOOL_PROBE_H

#include "host/link_gdb.h"

/**
 * Opens a link. A board that nobody supervises may have no admin either: if the channel lacks the privileges
 * that commands need, this attaches as the admin, gives them, and detaches. Where an admin is attached, it is given
 * time first. Firmware that does not run is left as it is, so that it can be looked at.
 * @param message after an error: what went wrong, and what to do about it
 * @return errors of pb_link_open_gdb, or why the firmware gives no channel
 */
enum pb_error pb_open_probe(const struct pb_gdb_place *place, struct pb_link **link,
			    char message[PB_GDB_MESSAGE_BYTES]);

#endif
