/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The loops in assembly against the C that they replace, on the target: both
 * get the same state, and must leave the same.
 */
#ifndef PB_TESTS_BENCH_TWINS_H
#define PB_TESTS_BENCH_TWINS_H

#include "firmware/patch.h"
#include "firmware/resolve.h"

/* The C files, built once more with these names (twins.cmake). */
enum pb_core_run pb_twin_run_list_64(struct pb_core_cursor *cursor);
enum pb_core_run pb_twin_run_compact_64(struct pb_core_cursor *cursor);
bool pb_twin_run_resolve(struct pb_core_job *job, const struct pb_core_window *window, uint32_t end,
			 const uint32_t *pending, struct pb_core_listed *tripped);

/** First address behind card memory: lists end there, so that a read beyond one faults. */
#define PB_TWINS_MEMORY_END 0x61000000u

/** The submission, with words around it that nobody may write. */
#define PB_TWINS_BUFFER_WORDS 320u
#define PB_TWINS_MARGIN_WORDS 16u

/** How runs ended, to see that every way was taken. */
struct pb_twins_ends {
	uint32_t runs;
	uint32_t entries;     /**< carried out */
	uint32_t tripped[24]; /**< by place in the slice */
	uint32_t raised;      /**< left before the end */
	uint32_t finished;    /**< at the end */
};

/** Any 32-bit number. */
uint32_t pb_twins_random(void);
/** One below a bound, which is not 0. */
uint32_t pb_twins_below(uint32_t bound);
/** One that likely is near some edge. */
uint32_t pb_twins_odd_number(void);
/** Ends with an error unless `good`. */
void pb_twins_require(bool good, const char *what);
/** Whether so many words are equal. */
bool pb_twins_equal(const void *a, const void *b, uint32_t words);
/** Ends with an error unless every way was taken, and prints the number of entries. */
void pb_twins_report(const char *key, const struct pb_twins_ends *ends);

/* The tests. */
void pb_twins_list(void);
void pb_twins_compact(void);
void pb_twins_resolve(void);

/** A cursor on an empty list, with slots, places and a buffer at random; lines are not raised. */
void pb_twins_cursor(struct pb_core_cursor *cursor);
/** An AllocationIndex whose limit is not 0. */
uint32_t pb_twins_bound(const struct pb_core_cursor *cursor);
/** One whose limit is 0. */
uint32_t pb_twins_unbound(const struct pb_core_cursor *cursor);
/**
 * Runs both from the cursor, and compares. The asked-for loop is given by its
 * assembly and C versions.
 * @param entry_words words of an entry
 * @param whole whether all of `tripped` is compared, or the two words of a compact entry
 */
void pb_twins_run(const struct pb_core_cursor *cursor, enum pb_core_run (*assembly)(struct pb_core_cursor *),
		  enum pb_core_run (*c)(struct pb_core_cursor *), uint32_t entry_words, bool whole,
		  struct pb_twins_ends *ends);
/** Lets the line be raised: never, always, or by the patch that writes some word. */
void pb_twins_raise(struct pb_core_cursor *cursor);

#endif
