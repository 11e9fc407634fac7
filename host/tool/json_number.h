/* SPDX-License-Identifier: MIT */
/**
 * @file
 * JSON: 64-bit numbers, which a double cannot hold, and output.
 */
#ifndef PB_HOST_TOOL_JSON_NUMBER_H
#define PB_HOST_TOOL_JSON_NUMBER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Adds an exact 64-bit number to an object. */
void pb_json_number(cJSON *object, const char *name, uint64_t value);
/** Prints an object and a newline, and deletes the object. @return false: out of memory */
bool pb_json_print(FILE *stream, cJSON *object);

#endif
