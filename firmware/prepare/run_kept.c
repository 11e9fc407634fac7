/* SPDX-License-Identifier: MIT */
/*
 * Allocations that the host lists where its patches presume them (struct
 * pb_presumed, include/patchbay/abi/patch.h), as i915's presumed offsets have
 * it. Nothing is written through these, so nothing of them is checked or
 * resolved: what the buffer holds for them is its client's own, or was written
 * for this channel once. A presumption that is wrong costs the client its own
 * addresses; the engine holds every access against the channel's ranges.
 */
#include "firmware/compiler.h"
#include "firmware/prepare/resolve.h"
#include "hal/shared_pair.h"

/** Whether an allocation is presumed where it is listed. */
/*@
  requires \valid_read(allocation) && \valid_read(presumed);
  assigns \nothing;
*/
static PB_CORE_INLINE bool is_kept(const struct pb_allocation *allocation, const struct pb_presumed *presumed)
{
	uint32_t listed[2], expected[2];

	pb_shared_read_pair(&allocation->address_low, &listed[0], &listed[1]);
	pb_shared_read_pair(&presumed->address_low, &expected[0], &expected[1]);
	return ((listed[0] ^ expected[0]) | (listed[1] ^ expected[1]) |
		(pb_shared_read32(&allocation->flags) ^ pb_shared_read32(&presumed->flags))) == 0;
}

PB_CORE_STEP bool pb_core_run_kept(struct pb_core_job *job, uint32_t end, const uint32_t *pending)
{
	uint32_t i = job->resolved;
	uint32_t shut = 0;

	PB_CORE_KEEP(shut); /* a register that holds 0 */
	/*@
	  loop invariant at: \at(job->resolved, Pre) <= i <= end;
	  loop invariant shut: \forall integer k; \at(job->resolved, Pre) <= k < i ==>
	    job->slots[k].limit[0] == 0 && job->slots[k].limit[1] == 0 && job->tags[k] == PB_CORE_TAG_KEPT;
	  loop invariant others: \forall integer k; 0 <= k < PB_LIMIT_ALLOCATIONS &&
	    !(\at(job->resolved, Pre) <= k < i) ==>
	    job->slots[k] == \at(job->slots[k], Pre) && job->tags[k] == \at(job->tags[k], Pre);
	  loop assigns i, job->slots[0 .. PB_LIMIT_ALLOCATIONS - 1], job->tags[0 .. PB_LIMIT_ALLOCATIONS - 1];
	  loop variant end - i;
	*/
	do {
		const uint32_t slice = end - i > PB_SLICE_KEPT ? i + PB_SLICE_KEPT : end;

		/*@
		  loop invariant at: \at(job->resolved, Pre) <= i <= slice <= end;
		  loop invariant shut: \forall integer k; \at(job->resolved, Pre) <= k < i ==>
		    job->slots[k].limit[0] == 0 && job->slots[k].limit[1] == 0 && job->tags[k] == PB_CORE_TAG_KEPT;
		  loop invariant others: \forall integer k; 0 <= k < PB_LIMIT_ALLOCATIONS &&
		    !(\at(job->resolved, Pre) <= k < i) ==>
		    job->slots[k] == \at(job->slots[k], Pre) && job->tags[k] == \at(job->tags[k], Pre);
		  loop assigns i, job->slots[0 .. PB_LIMIT_ALLOCATIONS - 1], job->tags[0 .. PB_LIMIT_ALLOCATIONS - 1];
		  loop variant slice - i;
		*/
		for (; i != slice; i++) {
			if (!is_kept(&job->allocations[i], &job->presumed[i])) {
				job->resolved = i;
				return true;
			}
			job->slots[i].limit[0] = shut;
			job->slots[i].limit[1] = shut;
			job->tags[i] = PB_CORE_TAG_KEPT;
		}
	} while (i != end && !pb_lines_waiting(pending));
	job->resolved = i;
	return false;
}
