/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Requests of the program on the target to the debugger or emulator around it ("Semihosting for AArch32 and
 * AArch64"; RISC-V has the same calls).
 */
#ifndef PB_TESTS_TARGET_SEMIHOST_H
#define PB_TESTS_TARGET_SEMIHOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One call, in semihost_CPU.c: `arguments` are its parameter block. @return the call's result */
uint32_t semihost_call(uint32_t operation, const void *arguments);

/** Writes to the standard output of the debugger. */
void semihost_write(const char *text, size_t bytes);
/** Reads the command line, 0-terminated. @return false: there is none, or it is longer than `bytes` - 1 */
bool semihost_command_line(char *line, size_t bytes);
/** Ends the debugger with an exit status from 0 to 255. */
_Noreturn void semihost_exit(uint32_t status);

#endif
