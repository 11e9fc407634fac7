/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The lists whose patching bench_patch.c measures: what they are made of, and what their patches must have written.
 */
#ifndef PB_TESTS_BENCH_BENCH_LISTS_H
#define PB_TESTS_BENCH_BENCH_LISTS_H

#include "tests/bench/bench.h"

/** The counter wraps after 655,360 instructions: no list may take as many. */
#define ENTRIES       2048u
#define MIXED_ENTRIES 512u /* of lists whose format changes all the time */
#define ALLOCATIONS   200u
#define STRIDE        16u
#define POISON        0xdeadbeefu

/** The four most common formats in practice: low word, both words, high word, address >> 8. */
extern const uint8_t bench_four[4];

/** Gives all entries one format. */
void bench_all_of(uint32_t format);
/** Gives runs of 32 entries each of the four most common formats in turn. */
void bench_runs_of_32(void);
/** Gives the entries formats in random order, each as often as it is listed. */
void bench_any_of(const uint8_t *formats, uint32_t count);
/** Gives the entries formats in the order of a driver's submissions, over and over. */
void bench_in_order(const uint8_t *formats, uint32_t count);
/** Returns the allocation of an entry. */
uint32_t bench_allocation_of(uint32_t i);
/** Returns the offset of an entry in its allocation. */
uint32_t bench_offset_of(uint32_t i);
/** Returns the allocation list. */
struct pb_allocation *bench_allocations(void);
/** Returns the patch list, behind the allocation list. */
void *bench_list(void);
/** Writes the allocation list. */
void bench_write_allocations(void);
/** Writes the patch list, 24 bytes an entry. */
void bench_write_list(void);
/** Writes the patch list in the compact encoding. Pre: all entries have one format. */
void bench_write_compact(void);
/** Overwrites all target words. */
void bench_poison(void);
/** Requires that the first entries are patched, and no other. */
void bench_check(uint32_t count);

#endif
