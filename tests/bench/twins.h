/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The loops in assembly against the C that they replace, on the target: both get equal states, and must leave
 * equal states.
 */
#ifndef PB_TESTS_BENCH_TWINS_H
#define PB_TESTS_BENCH_TWINS_H

#include "firmware/patch/loops.h"
#include "firmware/prepare/resolve.h"

/* The C files, built once more with these names (twins.cmake). */
enum pb_core_run pb_twin_run_list_64(struct pb_core_cursor *cursor);
enum pb_core_run pb_twin_run_compact_64(struct pb_core_cursor *cursor);
bool pb_twin_run_resolve(struct pb_core_job *job, const struct pb_core_window *window, uint32_t end,
			 const uint32_t *pending, struct pb_core_listed *irregular);

/** First address after card memory: lists end there, so that a read beyond one faults. */
#define PB_TWINS_MEMORY_END 0x61000000u

/** The submission, with words around it that must not be written. */
#define PB_TWINS_BUFFER_WORDS 320u
#define PB_TWINS_MARGIN_WORDS 16u

/** How runs ended, to check that every path was taken. */
struct pb_twins_ends {
	uint32_t runs;
	uint32_t entries;       /**< processed */
	uint32_t irregular[24]; /**< by index in the slice */
	uint32_t raised;        /**< ended by an interrupt */
	uint32_t finished;      /**< ended at the end of the list */
};

/** Any 32-bit number. */
uint32_t pb_twins_random(void);
/** A random number below a bound. Pre: the bound is not 0. */
uint32_t pb_twins_below(uint32_t bound);
/** A random number that is likely near some edge. */
uint32_t pb_twins_edge_number(void);
/** Ends with an error unless `good`. */
void pb_twins_require(bool good, const char *what);
/** Whether so many words are equal. */
bool pb_twins_equal(const void *a, const void *b, uint32_t words);
/** Ends with an error unless every path was taken, and prints the number of entries. */
void pb_twins_report(const char *key, const struct pb_twins_ends *ends);

/* The tests. */
void pb_twins_list(void);
void pb_twins_compact(void);
void pb_twins_resolve(void);

/** A cursor on an empty list, with random slots, target words and buffer. No interrupt is pending. */
void pb_twins_cursor(struct pb_core_cursor *cursor);
/** An AllocationIndex whose limit is not 0. */
uint32_t pb_twins_bound(const struct pb_core_cursor *cursor);
/** An AllocationIndex whose limit is 0. */
uint32_t pb_twins_unbound(const struct pb_core_cursor *cursor);
/**
 * Runs both loops from the cursor, and compares. The loop is given by its assembly and C versions.
 * @param entry_words words of an entry
 * @param whole all of `irregular` is compared; else the two words of a compact entry
 */
void pb_twins_run(const struct pb_core_cursor *cursor, enum pb_core_run (*assembly)(struct pb_core_cursor *),
		  enum pb_core_run (*c)(struct pb_core_cursor *), uint32_t entry_words, bool whole,
		  struct pb_twins_ends *ends);
/** Chooses when the interrupt is raised: never, always, or by the patch that writes some word. */
void pb_twins_raise(struct pb_core_cursor *cursor);

#endif
