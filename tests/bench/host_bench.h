/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The parts of the bench of the host library.
 */
#ifndef PB_TESTS_BENCH_HOST_BENCH_H
#define PB_TESTS_BENCH_HOST_BENCH_H

#include <stdbool.h>
#include <stdint.h>

/** Ends the bench with an error unless `good`. */
void pb_host_bench_require(bool good, const char *what);
/** Nanoseconds on a monotonic clock. */
uint64_t pb_host_bench_now_ns(void);

/**
 * Repeats a frame's commands through pb_render. @param times filled in: nanoseconds of each call
 * @return commands in a call
 */
uint32_t pb_host_bench_render(uint64_t *times, uint32_t repeats);
/**
 * Bursts of submissions to the simulated card, which completes each burst before the next.
 * @param times filled in: nanoseconds of each burst @return submissions in a burst
 */
uint32_t pb_host_bench_submit(uint64_t *times, uint32_t repeats);
/**
 * Placements in a segment that half of the allocations fill.
 * @param times filled in: nanoseconds of each run of placements @param allocations at most 10,000
 * @return placements in a run
 */
uint32_t pb_host_bench_residency(uint64_t *times, uint32_t repeats, uint32_t allocations);
/**
 * Submits a buffer of 200 allocations and 400 patch locations again and again. @param times filled in: nanoseconds of each
 * submission @return 1
 */
uint32_t pb_host_bench_resubmit_whole(uint64_t *times, uint32_t repeats);
/** As pb_host_bench_resubmit_whole(), with a record of what the patches presume. */
uint32_t pb_host_bench_resubmit_presumed(uint64_t *times, uint32_t repeats);
/** One such submission: the function whose instructions scripts/bench counts. */
void pb_host_bench_resubmit(void);
/** One placement: the function whose instructions scripts/bench counts. */
void pb_host_bench_place(void);

#endif
