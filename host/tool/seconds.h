/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Times on the command line.
 */
#ifndef PB_HOST_TOOL_SECONDS_H
#define PB_HOST_TOOL_SECONDS_H

#include <stdbool.h>

/** Parses a number of seconds. @param seconds out @return false: the text is no number in [least, most] */
bool pb_seconds_parse(const char *text, double least, double most, double *seconds);

#endif
