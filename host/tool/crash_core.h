/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A crash record as an ELF core file, which gdb opens beside the image that crashed: registers, and the part of the stack
 * that the record holds.
 */
#ifndef PB_HOST_TOOL_CRASH_CORE_H
#define PB_HOST_TOOL_CRASH_CORE_H

#include <stdbool.h>
#include <stdio.h>

#include "patchbay/abi/crash.h"

/** Returns whether the record has the registers of a CPU that gdb knows. */
bool pb_crash_has_core(const struct pb_crash_record *record);
/**
 * Writes the core.
 * @param record checked by pb_crash_read(). Pre: pb_crash_has_core()
 * @return false: errno says why the file could not be written
 */
bool pb_crash_write_core(FILE *file, const struct pb_crash_record *record);

#endif
