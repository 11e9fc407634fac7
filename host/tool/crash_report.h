/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A crash record in words: what `patchbay crash` prints.
 */
#ifndef PB_HOST_TOOL_CRASH_REPORT_H
#define PB_HOST_TOOL_CRASH_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "firmware/abi/crash.h"
#include "host/tool/crash_symbols.h"

/** A record, and what there is to decode it with. */
struct pb_crash_view {
	const struct pb_crash_record *record;
	uint32_t incarnation;       /**< of the firmware that is there now */
	struct pb_symbols *symbols; /**< of the image that crashed; NULL: there are none */
};

/** Where it happened: of a failed assertion, its line. @return false: nothing is known of it */
bool pb_crash_where(const struct pb_crash_view *view, struct pb_place *place);

/** Return addresses on the stack, at most. */
#define PB_CRASH_CALLS 24u
/**
 * Who called whom, as far as the slice of the stack goes: each word that leads behind a call. Words that
 * nobody needs any more look the same, so it is a guess.
 * @param calls addresses inside the calls, the innermost first @return how many
 */
uint32_t pb_crash_calls(const struct pb_crash_view *view, uint32_t calls[PB_CRASH_CALLS]);

/** What a status says, such as "a store or load that the MPU forbids"; "" if it says nothing. */
const char *pb_crash_status(const struct pb_crash_record *record);
/** Name of a register, such as "sp". @return NULL: this CPU has none of that number */
const char *pb_crash_register(uint32_t cpu, uint32_t number);
#define PB_CRASH_NOTE_BYTES 64u
/** A note in words. @param index 0 is the oldest one kept @return false: there is none */
bool pb_crash_note(const struct pb_crash_record *record, uint32_t index, uint32_t *heartbeat,
		   char text[PB_CRASH_NOTE_BYTES]);
/** The build id as 40 digits. */
void pb_crash_build_id(const struct pb_crash_record *record, char text[41]);

void pb_crash_print(FILE *stream, const struct pb_crash_view *view);
/** @return false: there is no memory for it */
bool pb_crash_print_json(FILE *stream, const struct pb_crash_view *view);

#endif
