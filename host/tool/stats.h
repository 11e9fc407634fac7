/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Output of a card's counters for people, for programs, and for Prometheus.
 */
#ifndef PB_HOST_TOOL_STATS_H
#define PB_HOST_TOOL_STATS_H

#include <stdbool.h>
#include <stdio.h>

#include "patchbay/telemetry.h"

/** Prints tables. */
void pb_stats_print(FILE *file, const struct pb_telemetry_snapshot *snapshot);
/**
 * Prints the counters with the keys of a DRM driver's fdinfo: of the whole card, as client 0, the engine time of each kind
 * of node; of each client's channel its video memory. Clients are separated by an empty line.
 */
void pb_stats_fdinfo(FILE *file, const struct pb_telemetry_snapshot *snapshot);
/** Formats one JSON object. @param line on one line @return text that the caller frees; NULL: out of memory */
char *pb_stats_json(const struct pb_telemetry_snapshot *snapshot, bool line);
/**
 * Prints the text format of Prometheus, for the textfile collector of node_exporter.
 * @param error result of pb_telemetry_read(): after PB_ERROR_UNSUPPORTED the counters are left out; after any other
 *   error only patchbay_up 0 is printed
 */
void pb_stats_prometheus(FILE *file, const struct pb_telemetry_snapshot *snapshot, enum pb_error error);

#endif
