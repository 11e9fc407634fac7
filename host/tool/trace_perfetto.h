/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Export of a timeline as a Perfetto trace: TracePackets with TrackDescriptors,
 * TrackEvents, ClockSnapshots and interned names. docs/trace.md describes the
 * tracks.
 */
#ifndef PB_HOST_TOOL_TRACE_PERFETTO_H
#define PB_HOST_TOOL_TRACE_PERFETTO_H

#include "host/tool/trace_timeline.h"

/** Writes a Perfetto trace. @return false: writing failed, or the host was out of memory */
bool pb_trace_export_perfetto(FILE *file, const struct pb_trace_data *data,
			      const struct pb_timeline *timeline);

#endif
