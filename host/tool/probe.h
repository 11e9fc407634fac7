/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A board at a debug probe, made ready for a command.
 */
#ifndef PB_HOST_TOOL_PROBE_H
#define PB_HOST_TOOL_PROBE_H

#include "host/link_gdb.h"

/**
 * Opens a link. A board that nobody supervises has no admin: this does what the supervisor of an emulated card
 * does for its clients. It closes the channel, which a host that ended badly may have left open, and gives it
 * the privileges that commands need. Firmware that does not run is left as it is, so that it can be looked at.
 * @param message after an error: what went wrong, and what to do about it
 * @return errors of pb_link_open_gdb, or why the firmware gives no channel
 */
enum pb_error pb_open_probe(const struct pb_gdb_place *place, struct pb_link **link,
			    char message[PB_GDB_MESSAGE_BYTES]);

#endif
