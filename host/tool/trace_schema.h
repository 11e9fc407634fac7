/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The schema of a trace, which the firmware's image carries: names of events and
 * formats of their arguments.
 */
#ifndef PB_HOST_TOOL_TRACE_SCHEMA_H
#define PB_HOST_TOOL_TRACE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "patchbay/abi/trace.h"

/** Longest text of a record with its zero, in bytes. */
#define PB_TRACE_TEXT_BYTES 160u

/** An argument of an event. */
struct pb_trace_argument {
	char name[16]; /**< zero-terminated */
	char format;   /**< as in include/patchbay/abi/trace.h; '-': the argument is unused */
};

/** An event. */
struct pb_trace_kind {
	bool known;        /**< the schema has the event */
	char name[24];     /**< zero-terminated */
	char category[16]; /**< zero-terminated */
	uint32_t level;    /**< trace level from which it is written */
	/** The enum pb_trace_event with this name, which may have another number in the schema; 0: none. */
	uint32_t event;
	struct pb_trace_argument arguments[2]; /**< of a record */
};

/** A schema. */
struct pb_trace_schema {
	struct pb_trace_kind kinds[256]; /**< by number of the event in the schema */
};

/**
 * Parses a schema. It is not trusted and may be of another version of the firmware.
 * @param schema out
 * @return 0, or the number of the first invalid line, from 1
 */
uint32_t pb_trace_schema_parse(const char *text, struct pb_trace_schema *schema);
/** Formats a record without its time. @param text out: PB_TRACE_TEXT_BYTES */
void pb_trace_schema_print(const struct pb_trace_schema *schema, const struct pb_trace_record *record,
			   char *text);
/**
 * Parses "off", "default", "all", or categories with levels such as "PACKET=2,LINE=3"; the others keep their defaults.
 * @param levels out: PB_TRACE_LEVELS_*
 * @return false: the text has none of these forms
 */
bool pb_trace_levels_parse(const char *text, uint32_t *levels);

#endif
