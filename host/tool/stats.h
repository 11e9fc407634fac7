/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The counters of a card for people, for programs, and for Prometheus.
 */
#ifndef PB_HOST_TOOL_STATS_H
#define PB_HOST_TOOL_STATS_H

#include <stdbool.h>
#include <stdio.h>

#include "host/telemetry.h"

/** Tables. */
void pb_stats_print(FILE *file, const struct pb_telemetry_snapshot *snapshot);
/** One JSON object, from malloc; NULL: out of memory. @param line on one line */
char *pb_stats_json(const struct pb_telemetry_snapshot *snapshot, bool line);
/**
 * The text format of Prometheus, for the textfile collector of node_exporter.
 * @param error of pb_telemetry_read: what could not be read is not there, and of a card that could not be, all there is
 *   is that it is not up
 */
void pb_stats_prometheus(FILE *file, const struct pb_telemetry_snapshot *snapshot, enum pb_error error);

#endif
