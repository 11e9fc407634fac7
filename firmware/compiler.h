/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the loops of patch/ and prepare/ ask of the compiler where its own choice
 * is measurably worse (scripts/bench).
 */
#ifndef PB_FIRMWARE_COMPILER_H
#define PB_FIRMWARE_COMPILER_H

/** For functions that ordinary submissions do not pass: small rather than quick, and never inlined into their way. */
#define PB_CORE_COLD __attribute__((cold, noinline))

/** For a step or a loop that is better off with all registers to itself than inlined into its caller. */
#define PB_CORE_STEP __attribute__((noinline))

/** For a function that is inlined into every caller, so that its constant arguments specialise it. */
#define PB_CORE_INLINE inline __attribute__((always_inline))

/**
 * Keeps a value in a register: otherwise GCC computes a pointer again, from an
 * array's base and an index, at each of its uses, or reads a value again.
 */
#define PB_CORE_KEEP(value) __asm__("" : "+r"(value))

/** Has two adjacent words read side by side, which makes one instruction of two loads. */
#define PB_CORE_PAIR(first, second) __asm__ volatile("" ::"r"(first), "r"(second))

#endif
