/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Export of a timeline: as Chrome trace events, which Perfetto and speedscope
 * open, and as an HTML page.
 */
#ifndef PB_HOST_TOOL_TRACE_EXPORT_H
#define PB_HOST_TOOL_TRACE_EXPORT_H

#include "host/tool/trace_timeline.h"

/**
 * Writes Chrome trace event JSON. The track of a node shows the packets that its engine ran; the track of a queue shows
 * patching and marks, and the whole life of each packet as an asynchronous span. The queues of a node are one group.
 * @return false: writing failed
 */
bool pb_trace_export_events(FILE *file, const struct pb_trace_data *data, const struct pb_timeline *timeline);
/** Writes a self-contained page. @return false: writing failed */
bool pb_trace_export_page(FILE *file, const struct pb_trace_data *data, const struct pb_timeline *timeline);

#endif
