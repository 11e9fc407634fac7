/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a process takes, sampled over a long time, and whether it stays the same.
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
	uint32_t stride;  /**< every how many of those offered is taken; 0 counts as 1 */
	uint32_t offered; /**< since the last that was taken */
	uint32_t samples[PB_SERIES_SAMPLES];
};

/** Offers the next sample. */
void pb_series_add(struct pb_series *series, uint32_t sample);
/** The median of one quarter, 0 to 3, of the samples; of fewer than 8 of them 0. */
uint32_t pb_series_quarter(const struct pb_series *series, uint32_t quarter);
/** Whether the last quarter's median is at most `margin` above the second's: the first one warms up. */
bool pb_series_is_flat(const struct pb_series *series, uint32_t margin);

/** What a process has in memory, in KiB. */
struct pb_usage {
	uint32_t
		all; /**< with the pages of files that it maps, and has touched: of the program, and of the card */
	uint32_t own; /**< heap, stack, variables */
};
/** Rss and Anonymous of smaps_rollup. @return false: it is gone */
bool pb_usage_memory(pid_t pid, struct pb_usage *usage);
/** How many files it has open. @return false: it is gone */
bool pb_usage_files(pid_t pid, uint32_t *count);
/**
 * Finds a shared-memory file, or one of a card in /tmp, that a process has open
 * or mapped and that does not lie in `folder`. @return false: there is none
 */
bool pb_usage_stray(pid_t pid, const char *folder, char *path, size_t bytes);

#endif
