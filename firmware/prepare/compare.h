/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Buffers that are known to be patched: a submission of one with the same lists
 * and segments is neither resolved nor patched again. The owner of struct pb_core_patched_set;
 * main loop only.
 */
#ifndef PB_FIRMWARE_PREPARE_COMPARE_H
#define PB_FIRMWARE_PREPARE_COMPARE_H

#include "firmware/patch/job.h"

struct pb_firmware;

/** A buffer that was patched to its end, and how. */
struct pb_core_patched {
	uint32_t cookie;  /**< the host's name for its contents; 0: none */
	uint32_t channel; /**< whose it is */
	uint64_t digest;  /**< of all that the patched bytes depend on */
	uintptr_t target; /**< where its range is */
	uint32_t bytes;   /**< of the range */
};

/** The state of this module. */
struct pb_core_patched_set {
	struct pb_core_patched at[PB_LIMIT_PATCHED]; /**< by hash of the cookie */
	uint32_t end;                                /**< entries from here on hold no buffer */
};

/**
 * Finds out, slice by slice, whether the buffer of a job with a cookie is patched like this already: READY if it is, else
 * RESOLVE. Reads the words of the allocation list, which resolving reads anew: an equal digest makes the firmware write
 * nothing, so a host that changes them in between reaches no more than its own buffer's stale addresses.
 */
void pb_core_compare(struct pb_firmware *firmware, struct pb_core_job *job);
/** Forgets every buffer that the job is about to write to. */
void pb_core_compare_forget(struct pb_core_patched_set *patched, const struct pb_core_job *job);
/** Forgets every buffer of a channel: memory of it is free, and may be of another segment next. */
void pb_core_compare_forget_channel(struct pb_core_patched_set *patched, uint32_t channel);
/** Remembers that the job's buffer is patched as its cookie says. */
void pb_core_compare_remember(struct pb_core_patched_set *patched, const struct pb_core_job *job);

#endif
