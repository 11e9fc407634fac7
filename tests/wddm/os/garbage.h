/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Chance: the decisions of the OS, and the contents of everything that a driver
 * may not rely on. One state; the same seed makes the same run.
 */
#ifndef PB_TESTS_WDDM_OS_GARBAGE_H
#define PB_TESTS_WDDM_OS_GARBAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct os_chance {
	uint64_t state; /**< not 0 */
};

/** Starts the sequence of a seed. */
void os_chance_start(struct os_chance *chance, uint64_t seed);
/** Returns a random word. */
uint32_t os_word(struct os_chance *chance);
/** Returns a random number below `bound`, which is not 0. */
uint32_t os_below(struct os_chance *chance, uint32_t bound);
/** Returns true once in `count` times. */
bool os_one_in(struct os_chance *chance, uint32_t count);
/** Fills memory with garbage. */
void os_garbage(struct os_chance *chance, void *memory, size_t bytes);

#endif
