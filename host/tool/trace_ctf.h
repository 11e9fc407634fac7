/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Export of a trace in the Common Trace Format, version 1.8: a folder with a
 * description, `metadata`, and the records, `stream`. docs/trace.md describes
 * the events.
 */
#ifndef PB_HOST_TOOL_TRACE_CTF_H
#define PB_HOST_TOOL_TRACE_CTF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host/tool/trace_file.h"

/** Number of the event class of a DDI function, enum pb_ddi_function. Those of records have their numbers. */
#define PB_CTF_CALLS 0x100u
/** Number of the event class of a guest's event, enum pb_guest_event_kind. */
#define PB_CTF_GUESTS 0x200u

/** Writes the description of the records, calls and guests' events. @return false: writing failed */
bool pb_trace_ctf_metadata(FILE *file, const struct pb_trace_data *data);
/** Writes the records, calls and guests' events in the order of their times. @return false: writing failed, or out of memory */
bool pb_trace_ctf_stream(FILE *file, const struct pb_trace_data *data);

#endif
