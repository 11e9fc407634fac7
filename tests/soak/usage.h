/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a process uses, sampled over a long time, and whether it grows.
 */
#ifndef PB_TESTS_SOAK_USAGE_H
#define PB_TESTS_SOAK_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Samples that a series holds. When it is full, every other one is dropped and half as many come in. */
#define PB_SERIES_SAMPLES 4096u

/** Evenly spaced samples of one figure. */
struct pb_series {
	uint32_t count;
	uint32_t stride;  /**< one sample in so many is kept; 0 counts as 1 */
	uint32_t offered; /**< since the last sample that was kept */
	uint32_t samples[PB_SERIES_SAMPLES];
};

/** Offers the next sample. */
void pb_series_add(struct pb_series *series, uint32_t sample);
/** The median of one quarter, 0 to 3, of the samples; of fewer than 8 of them 0. */
uint32_t pb_series_quarter(const struct pb_series *series, uint32_t quarter);
/** Whether the last quarter's median is at most `margin` above the second's. The first quarter is warm-up. */
bool pb_series_is_flat(const struct pb_series *series, uint32_t margin);

/** Memory of a process, in KiB. */
struct pb_usage {
	uint32_t all; /**< mapped file pages included that it has touched: of the program, and of the card */
	uint32_t own; /**< heap, stack, variables */
};
/** Reads Rss and Anonymous of smaps_rollup. @return false: the process is gone */
bool pb_usage_memory(pid_t pid, struct pb_usage *usage);
/** Counts the open files of a process. @return false: the process is gone */
bool pb_usage_files(pid_t pid, uint32_t *count);
/**
 * Finds a shared-memory file, or a file of a card in /tmp, that a process has open or mapped and that is not
 * in `folder`. @return false: there is none
 */
bool pb_usage_stray(pid_t pid, const char *folder, char *path, size_t bytes);

#endif
