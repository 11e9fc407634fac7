/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Symbols of a firmware image's ELF file: functions and source lines of
 * addresses, and whether a call instruction stands before an address. The
 * caller compares the build id to find out whether the file is the right one.
 */
#ifndef PB_HOST_TOOL_CRASH_SYMBOLS_H
#define PB_HOST_TOOL_CRASH_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#define PB_SYMBOL_TEXT_BYTES 160u /**< size of the buffer for an error, in bytes */
#define PB_SYMBOL_NAME_BYTES 64u  /**< longest function name with its zero, in bytes */
#define PB_SYMBOL_FILE_BYTES 128u /**< longest file name with its zero, in bytes */

/** Location of an address. Empty text and 0: unknown. */
struct pb_code_location {
	char function[PB_SYMBOL_NAME_BYTES]; /**< function that contains the address */
	char inlined[PB_SYMBOL_NAME_BYTES];  /**< innermost inlined function at the address */
	char file[PB_SYMBOL_FILE_BYTES];     /**< source file, relative to the project */
	uint32_t line;                       /**< source line, from 1 */
	uint32_t offset;                     /**< bytes from the function's start */
};

struct pb_symbols;

/** Opens an ELF file. @param text out: the error, PB_SYMBOL_TEXT_BYTES @return NULL: the file cannot be used */
struct pb_symbols *pb_symbols_open(const char *path, char *text);
/** Frees the symbols. */
void pb_symbols_close(struct pb_symbols *symbols);

/** Copies the build id. @return false: the file has no build id of 20 bytes */
bool pb_symbols_build_id(struct pb_symbols *symbols, uint8_t id[20]);
/** Finds the location of an address. @return false: it lies in no function; the location is empty */
bool pb_symbols_find(struct pb_symbols *symbols, uint32_t address, struct pb_code_location *location);
/**
 * Checks whether a word of a stack may be a return address: it points behind a call instruction in a function.
 * @param address in: the word; out: an address inside the call
 */
bool pb_symbols_called_from(struct pb_symbols *symbols, uint32_t *address);

#endif
