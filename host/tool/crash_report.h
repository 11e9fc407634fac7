/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Report of a crash record: the output of `patchbay crash`.
 */
#ifndef PB_HOST_TOOL_CRASH_REPORT_H
#define PB_HOST_TOOL_CRASH_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "host/tool/crash_symbols.h"
#include "patchbay/abi/crash.h"

/** A record and the symbols to decode it. */
struct pb_crash_view {
	const struct pb_crash_record *record; /**< checked by pb_crash_read() */
	uint32_t incarnation;                 /**< of the present firmware */
	struct pb_symbols *symbols;           /**< of the image that crashed; NULL: none */
};

/** Finds the location of the crash; of a failed assertion its line. @return false: the location is unknown */
bool pb_crash_where(const struct pb_crash_view *view, struct pb_code_location *location);

/** Largest number of calls reported. */
#define PB_CRASH_CALLS 24u
/**
 * Finds the chain of calls in the saved part of the stack: each word that points behind a call instruction. Stale words
 * cannot be told apart, so the chain is a guess.
 * @param calls out: addresses inside the calls, the innermost first
 * @return number of calls
 */
uint32_t pb_crash_calls(const struct pb_crash_view *view, uint32_t calls[PB_CRASH_CALLS]);

/** Returns the meaning of the fault status, such as "a division by 0"; "" if it is unknown. */
const char *pb_crash_status(const struct pb_crash_record *record);
/** Returns the name of a register, such as "sp"; NULL: the CPU has no register of that number. */
const char *pb_crash_register(uint32_t cpu, uint32_t number);
/** Size of the buffer for a note, in bytes. */
#define PB_CRASH_NOTE_BYTES 64u
/**
 * Formats a note.
 * @param index 0 is the oldest note kept
 * @param heartbeat out: the firmware's heartbeat at the note
 * @param text out
 * @return false: there is no such note
 */
bool pb_crash_note(const struct pb_crash_record *record, uint32_t index, uint32_t *heartbeat,
		   char text[PB_CRASH_NOTE_BYTES]);
/** Formats the build id as 40 hex digits. @param text out */
void pb_crash_build_id(const struct pb_crash_record *record, char text[41]);

/** Prints the report as text. */
void pb_crash_print(FILE *stream, const struct pb_crash_view *view);
/** Prints the report as one JSON object. @return false: out of memory */
bool pb_crash_print_json(FILE *stream, const struct pb_crash_view *view);

#endif
