/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A time that a user gives.
 */
#ifndef PB_HOST_TOOL_SECONDS_H
#define PB_HOST_TOOL_SECONDS_H

#include <stdbool.h>

/** @return false: it is no number of seconds between the two */
bool pb_seconds_parse(const char *text, double least, double most, double *seconds);

#endif
