/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Resolves the allocation list of a job: prepare/resolve.c, and the loop over
 * ordinary allocations in prepare/run_resolve.c. This module has no state of
 * its own; main loop only.
 */
#ifndef PB_FIRMWARE_RESOLVE_H
#define PB_FIRMWARE_RESOLVE_H

#include "firmware/instance.h"
#include "firmware/prepare/listed.h"

/** A segment as seen by its ordinary allocations: no address in it crosses a multiple of 4 GiB. */
struct pb_core_window {
	uint32_t flags; /**< of those allocations; all ones, which no legal one has, and `bytes` 0: closed */
	uint32_t os_high;
	uint32_t os_end; /**< low word of the address behind it */
	uint32_t bytes;
	uint32_t gpu_delta; /**< from OS address to GPU address, low words */
	uint32_t gpu_high;
	uint32_t writable; /**< all ones, or 0 */
	uint8_t tag;
};

#define PB_CORE_WINDOW_CLOSED UINT32_MAX

/*@
  // Neither of its two sides crosses a multiple of 4 GiB.
  logic integer pb_core_window_low(struct pb_core_window *window) =
    (uint32_t)((uint32_t)(window->os_end - window->bytes) + window->gpu_delta);
  predicate pb_core_window_whole(struct pb_core_window *window) =
    (uint32_t)(window->os_end - window->bytes) + window->bytes <= 0x100000000 &&
    pb_core_window_low(window) + window->bytes <= 0x100000000;
*/

/**
 * Resolves ordinary allocations of a window, slice after slice, from
 * job->resolved on, which it moves; there is one at least. Slots and ids are
 * filled, tags are not. May be replaced by a file of a CPU, see firmware/CMakeLists.txt.
 * @param end where to stop
 * @param irregular the allocation at job->resolved, if that is not ordinary
 * @return whether there is such a one; else a line is raised, or this is the end
 */
bool pb_core_run_resolve(struct pb_core_job *job, const struct pb_core_window *window, uint32_t end,
			 const uint32_t *pending, struct pb_core_listed *irregular);

/**
 * Passes allocations that are kept, slice after slice, from job->resolved on, which it moves: to `end`, to the first one
 * that is not presumed where it is listed, or until a line is raised. Their slots get limit 0, so that no path writes
 * through them. Pre: job->presumed is not NULL.
 * @return whether the allocation at job->resolved is one that is not kept
 */
/*@
  requires \valid(job) && job->resolved <= end <= PB_LIMIT_ALLOCATIONS && \valid_read(pending);
  requires listed: \valid_read(job->allocations + (0 .. end - 1)) && \valid_read(job->presumed + (0 .. end - 1));
  requires \separated(job, job->allocations + (0 .. end - 1)) && \separated(job, job->presumed + (0 .. end - 1)) &&
    \separated(job, pending);
  assigns job->resolved, job->slots[0 .. PB_LIMIT_ALLOCATIONS - 1], job->tags[0 .. PB_LIMIT_ALLOCATIONS - 1];
  ensures forward: \old(job->resolved) <= job->resolved <= end;
  ensures one: \result ==> job->resolved < end;
  ensures shut: \forall integer i; \old(job->resolved) <= i < job->resolved ==>
    job->slots[i].limit[0] == 0 && job->slots[i].limit[1] == 0 && job->tags[i] == PB_CORE_TAG_KEPT;
  ensures others: \forall integer i; 0 <= i < PB_LIMIT_ALLOCATIONS && !(\old(job->resolved) <= i < job->resolved) ==>
    job->slots[i] == \old(job->slots[i]) && job->tags[i] == \old(job->tags[i]);
*/
bool pb_core_run_kept(struct pb_core_job *job, uint32_t end, const uint32_t *pending);

/**
 * Resolves slices of the job's allocation list; at its end the job moves on to PATCH.
 * @return what is wrong with the allocation at job->resolved
 */
enum pb_error pb_core_resolve(struct pb_firmware *firmware, struct pb_core_job *job);

#endif
