/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The part of start-up that does not depend on the CPU.
 */
#ifndef PB_HAL_START_H
#define PB_HAL_START_H

/**
 * Sets up the program's variables (linker/sections.ld), calls main(), and halts
 * if that returns. Called once, by the reset code of a CPU, on the program's
 * stack and with interrupts masked.
 */
_Noreturn void pb_start(void);

#endif
