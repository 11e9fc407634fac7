/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A timeline for people: as Chrome trace events, which Perfetto and speedscope
 * open, and as a page of its own.
 */
#ifndef PB_HOST_TOOL_TRACE_EXPORT_H
#define PB_HOST_TOOL_TRACE_EXPORT_H

#include "host/tool/trace_timeline.h"

/**
 * Writes Chrome trace event JSON. A track for each node has what its engine ran, one for each queue its patching and
 * marks; what a packet takes in all is an asynchronous span beside its queue.
 * @return false: the file cannot be written
 */
bool pb_trace_export_events(FILE *file, const struct pb_trace_data *data, const struct pb_timeline *timeline);
/** Writes a page that needs no network and nothing beside it. @return false: the file cannot be written */
bool pb_trace_export_page(FILE *file, const struct pb_trace_data *data, const struct pb_timeline *timeline);

#endif
