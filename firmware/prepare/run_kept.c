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
#include "firmware/prepare/listed.h"
#include "firmware/prepare/resolve.h"

/** What differs between an allocation as it is listed and as it is presumed; 0: nothing. Moves on to the next one. */
/*@
  requires \valid(allocation) && \valid(presumed) && \separated(allocation, presumed);
  requires \valid_read(*allocation) && \valid_read(*presumed);
  assigns *allocation, *presumed;
  ensures *allocation == \old(*allocation) + 1 && *presumed == \old(*presumed) + 1;
*/
static PB_CORE_INLINE uint32_t compare(const struct pb_allocation **allocation,
				       const struct pb_presumed **presumed)
{
	struct pb_core_listed listed;
	uint32_t expected[sizeof(struct pb_presumed) / sizeof(uint32_t)];

	*allocation = (const void *)pb_core_read_listed(&(*allocation)->address_low, &listed);
	*presumed = (const void *)pb_shared_read_three(&(*presumed)->address_low, expected);
	return (listed.address_low ^ expected[0]) | (listed.address_high ^ expected[1]) |
	       (listed.flags ^ expected[2]);
}

PB_CORE_STEP bool pb_core_run_kept(struct pb_core_job *job, uint32_t end, const uint32_t *pending)
{
	const struct pb_allocation *allocation = &job->allocations[job->resolved];
	const struct pb_allocation *const last = &job->allocations[end];
	const struct pb_presumed *presumed = &job->presumed[job->resolved];
	struct pb_core_slot *slot = &job->slots[job->resolved];
	uint8_t *tag = &job->tags[job->resolved];
	uint32_t differ = 0;
	/*@ ghost uint32_t i = job->resolved; */

	/*@
	  loop invariant at: \at(job->resolved, Pre) <= i <= end;
	  loop invariant words: allocation == job->allocations + i && presumed == job->presumed + i;
	  loop invariant places: slot == &job->slots[i] && tag == &job->tags[i];
	  loop invariant shut: \forall integer k; \at(job->resolved, Pre) <= k < i ==>
	    job->slots[k].limit[0] == 0 && job->slots[k].limit[1] == 0 && job->tags[k] == PB_CORE_TAG_KEPT;
	  loop invariant others: \forall integer k; 0 <= k < PB_LIMIT_ALLOCATIONS &&
	    !(\at(job->resolved, Pre) <= k < i) ==>
	    job->slots[k] == \at(job->slots[k], Pre) && job->tags[k] == \at(job->tags[k], Pre);
	  loop assigns i, allocation, presumed, slot, tag, differ, job->slots[0 .. PB_LIMIT_ALLOCATIONS - 1],
	    job->tags[0 .. PB_LIMIT_ALLOCATIONS - 1];
	  loop variant end - i;
	*/
	do {
		const struct pb_allocation *const slice =
			(uint32_t)(last - allocation) > PB_SLICE_KEPT ? allocation + PB_SLICE_KEPT : last;
		/*@ ghost uint32_t stop = end - i > PB_SLICE_KEPT ? (uint32_t)(i + PB_SLICE_KEPT) : end; */
		/*@ assert slice: slice == job->allocations + stop; */

		/*@
		  loop invariant at: \at(job->resolved, Pre) <= i <= stop <= end;
		  loop invariant words: allocation == job->allocations + i && presumed == job->presumed + i;
		  loop invariant places: slot == &job->slots[i] && tag == &job->tags[i];
		  loop invariant shut: \forall integer k; \at(job->resolved, Pre) <= k < i ==>
		    job->slots[k].limit[0] == 0 && job->slots[k].limit[1] == 0 && job->tags[k] == PB_CORE_TAG_KEPT;
		  loop invariant others: \forall integer k; 0 <= k < PB_LIMIT_ALLOCATIONS &&
		    !(\at(job->resolved, Pre) <= k < i) ==>
		    job->slots[k] == \at(job->slots[k], Pre) && job->tags[k] == \at(job->tags[k], Pre);
		  loop assigns i, allocation, presumed, slot, tag, differ, job->slots[0 .. PB_LIMIT_ALLOCATIONS - 1],
		    job->tags[0 .. PB_LIMIT_ALLOCATIONS - 1];
		  loop variant stop - i;
		*/
		while (allocation != slice) {
			differ = compare(&allocation, &presumed);
			if (differ != 0)
				goto out;
			PB_CORE_KEEP(differ); /* a register that holds 0 */
			slot->limit[0] = differ;
			slot->limit[1] = differ;
			PB_CORE_KEEP(slot); /* both by one instruction */
			slot++;
			*tag++ = PB_CORE_TAG_KEPT;
			/*@ ghost i++; */
		}
	} while (allocation != last && !pb_lines_waiting(pending));
out:
	job->resolved = (uint32_t)(tag - job->tags);
	return differ != 0;
}
