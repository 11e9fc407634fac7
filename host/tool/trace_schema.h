/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The schema of a trace, as an image carries it: what the events are called
 * and how their arguments are written.
 */
#ifndef PB_HOST_TOOL_TRACE_SCHEMA_H
#define PB_HOST_TOOL_TRACE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/abi/trace.h"

/** Bytes that any record takes as text, with the zero. */
#define PB_TRACE_TEXT_BYTES 160u

struct pb_trace_argument {
	char name[16];
	char format; /**< as firmware/abi/trace.h has them; '-': there is no such argument */
};

struct pb_trace_kind {
	bool known;
	char name[24];
	char category[16];
	uint32_t level;
	/** enum pb_trace_event that has this name here, whatever its number is there; 0: none */
	uint32_t event;
	struct pb_trace_argument arguments[2];
};

struct pb_trace_schema {
	struct pb_trace_kind kinds[256]; /**< by number of the event */
};

/**
 * Reads a schema, which may be of another version of the firmware, or nonsense.
 * @return 0, or the line that cannot be read, from 1
 */
uint32_t pb_trace_schema_parse(const char *text, struct pb_trace_schema *schema);
/** A record without its time, in words. @param text PB_TRACE_TEXT_BYTES */
void pb_trace_schema_print(const struct pb_trace_schema *schema, const struct pb_trace_record *record,
			   char *text);
/** "off", "default", "all", or names of categories with a level each, "PACKET=2,LINE=3", the others as by default. */
bool pb_trace_levels_parse(const char *text, uint32_t *levels);

#endif
