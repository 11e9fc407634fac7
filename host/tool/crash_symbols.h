/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a firmware image's ELF file knows of addresses in it: functions, source
 * lines, and whether a call stands in front of an address. The file is not
 * trusted to fit; its build id tells.
 */
#ifndef PB_HOST_TOOL_CRASH_SYMBOLS_H
#define PB_HOST_TOOL_CRASH_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#define PB_SYMBOL_TEXT_BYTES 160u
#define PB_SYMBOL_NAME_BYTES 64u
#define PB_SYMBOL_FILE_BYTES 128u

/** What stands at an address. Empty and 0: not known. */
struct pb_place {
	char function[PB_SYMBOL_NAME_BYTES]; /**< whose code it is */
	char inlined[PB_SYMBOL_NAME_BYTES];  /**< the function whose line it is, if that was inlined */
	char file
		[PB_SYMBOL_FILE_BYTES]; /**< as the compiler was given it, but for the folder of the project */
	uint32_t line;
	uint32_t offset; /**< from the function's first byte */
};

struct pb_symbols;

/** @param text what is wrong, if it returns NULL; PB_SYMBOL_TEXT_BYTES */
struct pb_symbols *pb_symbols_open(const char *path, char *text);
void pb_symbols_close(struct pb_symbols *symbols);

/** @return whether the file has a build id of 20 bytes */
bool pb_symbols_build_id(struct pb_symbols *symbols, uint8_t id[20]);
/** @return false: it is in no function; the place is empty then */
bool pb_symbols_find(struct pb_symbols *symbols, uint32_t address, struct pb_place *place);
/**
 * Whether a word of a stack may be a return address: it leads behind a call in a function.
 * @param address in: the word; out: an address inside the call
 */
bool pb_symbols_called_from(struct pb_symbols *symbols, uint32_t *address);

#endif
