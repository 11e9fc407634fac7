/* SPDX-License-Identifier: MIT */
/**
 * @file
 * malloc, calloc and free of <stdlib.h> for suites on the target: over the part of DATA that the image
 * leaves, and over one more memory that the board may have. A suite that starts a card needs one block as
 * large as all of that memory, so the bookkeeping lies outside the blocks.
 */
#ifndef PB_TESTS_TARGET_HEAP_H
#define PB_TESTS_TARGET_HEAP_H

#include <stddef.h>

/** Call before the first allocation. */
void heap_start(void);
/** Bytes that are allocated and not freed. */
size_t heap_used(void);
/** The most bytes in use at once, since the start. */
size_t heap_most(void);

#endif
