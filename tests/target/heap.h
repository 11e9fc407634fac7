/* SPDX-License-Identifier: MIT */
/**
 * @file
 * malloc, calloc and free of <stdlib.h> for suites on the target: over what the
 * image leaves of DATA, and over a memory more that the board may have. A suite
 * that starts a card needs one block as large as all of that memory, so that
 * nothing of the bookkeeping lies in the blocks.
 */
#ifndef PB_TESTS_TARGET_HEAP_H
#define PB_TESTS_TARGET_HEAP_H

#include <stddef.h>

/** Before the first allocation. */
void heap_start(void);
/** Bytes that are allocated and not freed. */
size_t heap_used(void);
/** The most that was in use at once, since the start. */
size_t heap_most(void);

#endif
