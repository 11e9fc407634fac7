/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the program on the target asks of the debugger or emulator around it
 * ("Semihosting for AArch32 and AArch64"; RISC-V has the same calls).
 */
#ifndef PB_TESTS_TARGET_SEMIHOST_H
#define PB_TESTS_TARGET_SEMIHOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One call, in semihost_CPU.c: `arguments` are its parameter block. @return what the call says of it */
uint32_t semihost_call(uint32_t operation, const void *arguments);

/** Writes to the standard output of the debugger. */
void semihost_write(const char *text, size_t bytes);
/** The command line, with a 0 behind it; false if there is none, or if it is longer than `bytes` - 1. */
bool semihost_command_line(char *line, size_t bytes);
/** Ends the debugger with this exit status, 0 to 255. */
_Noreturn void semihost_exit(uint32_t status);

#endif
