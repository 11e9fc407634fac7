/* SPDX-License-Identifier: MIT */
/*
 * The descriptor. Each of its words is read once, where it is checked; what
 * passes stands in the submission and its job, and no later step reads the ring.
 */
#include "firmware/prepare/admit.h"

#include "firmware/compiler.h"
#include "firmware/prepare/prepare.h"
#include "hal/shared_pair.h"

/** Accepts the timeline value. A value that does not advance is an error; the submission completes at the last one then. */
/*@
  requires \valid(submission) && \valid(queue) && \valid_read(descriptor) && \separated(submission, queue);
  assigns submission->timeline_low, submission->timeline_high, queue->timeline;
  ensures never_back: queue->timeline >= \old(queue->timeline);
  ensures forward: \result == PB_ERROR_OK <==> queue->timeline > \old(queue->timeline);
  ensures as_its_queue: submission->timeline_low + 0x100000000 * submission->timeline_high == queue->timeline;
*/
static PB_CORE_INLINE enum pb_error admit_timeline(struct pb_core_submission *submission,
						   struct pb_core_queue *queue,
						   const struct pb_descriptor *descriptor)
{
	uint32_t low, high;
	uint64_t timeline;

	pb_shared_read_pair(&descriptor->timeline_low, &low, &high);
	timeline = pb_core_wide(low, high);
	if (timeline <= queue->timeline) {
		/* A timeline never goes back: this one completes at the value of the one before. */
		submission->timeline_low = (uint32_t)queue->timeline;
		submission->timeline_high = (uint32_t)(queue->timeline >> 32);
		return PB_ERROR_BAD_TIMELINE;
	}
	submission->timeline_low = low;
	submission->timeline_high = high;
	pb_core_ring_set_timeline(queue, timeline);
	return PB_ERROR_OK;
}

/** Accepts fence id and context. If another one than the last is named, no segment is remembered: that was maybe another channel's. */
/*@
  requires \valid(firmware) && \valid(submission) && \valid_read(descriptor) && channel < PB_LIMIT_CHANNELS;
  requires \separated(submission, &firmware->contexts, &firmware->segment_memo, descriptor);
  requires known: firmware->contexts.known_channel == channel ==> firmware->contexts.known % 0x10000 < PB_LIMIT_CONTEXTS;
  assigns submission->fence_id, submission->context, submission->engine.owner, firmware->contexts.known, firmware->contexts.known_channel, firmware->segment_memo;
  ensures results: \result == PB_ERROR_OK || \result == PB_ERROR_CONTEXT_LOST || \result == PB_ERROR_BAD_CONTEXT;
  ensures none: \result == PB_ERROR_BAD_CONTEXT ==> submission->context == PB_CORE_CONTEXT_NONE && submission->engine.owner == channel;
  ensures some: \result != PB_ERROR_BAD_CONTEXT ==> submission->context < PB_LIMIT_CONTEXTS;
*/
static PB_CORE_INLINE enum pb_error admit_context(struct pb_firmware *firmware,
						  struct pb_core_submission *submission, uint32_t channel,
						  const struct pb_descriptor *descriptor)
{
	enum pb_error error = PB_ERROR_OK;
	uint32_t handle, fence_id;

	pb_shared_read_pair(&descriptor->context, &handle, &fence_id);
	submission->fence_id = fence_id;
	if (!pb_core_context_is_known(&firmware->contexts, channel, handle)) {
		error = pb_core_context_look_up(&firmware->contexts, channel, handle);
		pb_core_segment_forget(&firmware->segment_memo, &firmware->segments);
		if (error == PB_ERROR_BAD_CONTEXT) {
			submission->context = PB_CORE_CONTEXT_NONE;
			submission->engine.owner = channel;
			return error;
		}
	}
	submission->context = (uint16_t)handle;
	submission->engine.owner = channel | handle << 16;
	return error;
}

/** Checks the options. An engine that cannot stop resumes nothing. */
/*@
  requires \valid(submission) && \valid_read(engine);
  assigns submission->resumes;
  ensures \result == PB_ERROR_OK || \result == PB_ERROR_BAD_OPTIONS;
*/
static PB_CORE_INLINE enum pb_error admit_options(struct pb_core_submission *submission, uint32_t options,
						  const struct pb_engine *engine)
{
	if (options == 0)
		return PB_ERROR_OK;
	if ((options & ~PB_OPTION_RESUME) != 0 || engine->preempt == NULL)
		return PB_ERROR_BAD_OPTIONS;
	submission->resumes = true;
	return PB_ERROR_OK;
}

/** Where the engine finds the range. @param offset of the range in its segment */
/*@
  requires \valid(submission) && \valid_read(segment) && \separated(submission, segment);
  assigns submission->engine.address_low, submission->engine.address_high;
  ensures segment->gpu_base + offset <= UINT64_MAX ==>
    submission->engine.address_low + 0x100000000 * submission->engine.address_high == segment->gpu_base + offset;
*/
static PB_CORE_INLINE void place_buffer(struct pb_core_submission *submission,
					const struct pb_core_segment *segment, uint32_t offset)
{
	const uint64_t gpu_address = segment->gpu_base + offset;

	submission->engine.address_low = (uint32_t)gpu_address;
	submission->engine.address_high = (uint32_t)(gpu_address >> 32);
}

/** A buffer that does not begin a page of backed memory: page by page in an aperture, or an error. */
/*@
  requires \valid_read(segment) && pb_core_is_segment(segment);
  assigns \nothing;
  ensures \result == PB_ERROR_OK <==> segment->size != 0 && segment->kind == PB_SEGMENT_APERTURE &&
    address % PB_PAGE_BYTES == 0 && segment->os_base <= address && address + size <= segment->os_base + segment->size;
  ensures segment->size == 0 ==> \result == PB_ERROR_BAD_SEGMENT;
*/
static PB_CORE_COLD enum pb_error check_paged_buffer(const struct pb_core_segment *segment, uint64_t address,
						     uint32_t size)
{
	const uint64_t offset = address - segment->os_base; /* wraps to a large one below the base */

	if (segment->size == 0)
		return PB_ERROR_BAD_SEGMENT;
	if (segment->kind != PB_SEGMENT_APERTURE || address % PB_PAGE_BYTES != 0 || offset > segment->size ||
	    size > segment->size - offset)
		return PB_ERROR_BAD_BUFFER;
	return PB_ERROR_OK;
}

/** How far an address is from a base; a large number below it. */
/*@
  assigns \nothing;
  ensures behind: base <= address ==> \result == address - base;
  ensures below: address < base ==> \result == address - base + 0x10000000000000000;
*/
static PB_CORE_INLINE uint64_t distance(uint64_t base, uint64_t address)
{
	return address - base;
}

/** The DMA buffer and the range submitted. */
/*@
  requires \valid(firmware) && \valid(submission) && \valid_read(channel) && \valid_read(descriptor) && \valid(range);
  requires pb_core_has_segments(firmware, channel) && \separated(range, submission, channel, &firmware->segment_memo, firmware->segments.at + (0 .. PB_CORE_SEGMENT_SLOTS - 1));
  requires \separated(&channel->memory, &firmware->segments);
  requires remembered: ordinary ==> pb_core_remembers(&firmware->segment_memo, &firmware->segments, &channel->memory);
  assigns *range, firmware->segment_memo, submission->engine.bytes, submission->engine.address_low, submission->engine.address_high;
  ensures words: \result == PB_ERROR_OK ==> range->start <= range->end <= range->size &&
    range->start % 4 == 0 && range->end % 4 == 0 && submission->engine.bytes == range->end - range->start;
  ensures nowhere: \result == PB_ERROR_OK && range->start == range->end ==> range->segment == \null;
  ensures its_segment: \result == PB_ERROR_OK && range->start < range->end ==> \exists integer slot; 0 <= slot < PB_CORE_SEGMENT_SLOTS && range->segment == firmware->segments.at + slot;
  ensures inside: \result == PB_ERROR_OK && range->start < range->end ==> range->segment->size != 0 &&
    range->offset + range->size <= pb_core_bytes_seen(range->segment);
  ensures paged: \result == PB_ERROR_OK && range->start < range->end ==> range->offset % PB_PAGE_BYTES == 0 &&
    (range->paged <==> range->segment->kind == PB_SEGMENT_APERTURE);
  ensures address: \result == PB_ERROR_OK && range->start < range->end ==>
    submission->engine.address_low + 0x100000000 * submission->engine.address_high ==
    range->segment->gpu_base + range->offset + range->start;
*/
static PB_CORE_INLINE enum pb_error admit_buffer(struct pb_firmware *firmware,
						 struct pb_core_submission *submission,
						 const struct pb_core_channel *channel,
						 const struct pb_descriptor *descriptor,
						 struct pb_core_range *range, bool ordinary)
{
	const struct pb_core_segment *segment;
	enum pb_error error = PB_ERROR_OK;
	uint32_t size, start, end, segment_id, low, high;
	uint64_t address, offset;

	pb_shared_read_pair(&descriptor->dma_segment, &segment_id, &size);
	pb_shared_read_pair(&descriptor->dma_start, &start, &end);
	pb_shared_read_pair(&descriptor->dma_address_low, &low, &high);
	address = pb_core_wide(low, high);
	*range = (struct pb_core_range){
		.start = start, .end = end, .size = size, .segment = NULL, .offset = 0, .paged = false};
	range->paged = false; /* once more for WP, which does not follow a bool in a literal: no code */
	if (start > end || end > size || (start | end) % 4u != 0)
		return PB_ERROR_BAD_RANGE;
	submission->engine.bytes = end - start;
	if (start == end)
		return PB_ERROR_OK; /* an empty one need not have a buffer (docs/wddm.md) */
	/*@ assert memo: firmware->segment_memo == \at(firmware->segment_memo, Pre); */
	/*@ assert slots: \forall integer id; 0 <= id < PB_LIMIT_SEGMENTS ==> channel->memory.segment_of[id] == \at(channel->memory.segment_of[id], Pre); */
	/*@ assert same: \forall integer k; 0 <= k < PB_CORE_SEGMENT_SLOTS ==> firmware->segments.at[k] == \at(firmware->segments.at[k], Pre); */ /*@ assert sound: \forall integer k; 0 <= k < PB_CORE_SEGMENT_SLOTS ==> pb_core_is_segment(firmware->segments.at + k); */
	/*@ assert remembered: ordinary ==> pb_core_remembers(&firmware->segment_memo, &firmware->segments, &channel->memory); */
	segment = ordinary ? pb_core_segment_again(&firmware->segment_memo, &firmware->segments,
						   &channel->memory, segment_id)
			   : pb_core_segment_of(&firmware->segments, &channel->memory, segment_id);
	PB_CORE_KEEP(segment);
	/*@ assert still_sound: \forall integer k; 0 <= k < PB_CORE_SEGMENT_SLOTS ==> pb_core_is_segment(firmware->segments.at + k); */
	/*@ assert found: pb_core_is_found(segment, &firmware->segments, &channel->memory, segment_id); */
	/*@ assert slot: \exists integer slot; 0 <= slot < PB_CORE_SEGMENT_SLOTS && segment == firmware->segments.at + slot; */ /*@ assert segment: pb_core_is_segment(segment); */
	/*@ assert apart: \separated(submission, segment) && \separated(range, segment) && \valid_read(segment); */ /*@ assert copied: range->start == start < end == range->end <= size == range->size && submission->engine.bytes == end - start; */
	offset = distance(segment->os_base, address);
	/*@ assert cut: (uint32_t)offset == offset % 0x100000000; */
	/*@ assert shifted: (offset >> 32) == offset / 0x100000000; */
	/*@ assert small: (offset >> 32) == 0 ==> offset < 0x100000000; */ /*@ assert short: (offset >> 32) == 0 ==> (uint32_t)offset == offset; */
	if (offset >> 32 != 0 || (uint32_t)offset > segment->memory_bytes ||
	    size > segment->memory_bytes - (uint32_t)offset || low % PB_PAGE_BYTES != 0) {
		error = check_paged_buffer(segment, address, size);
		/*@ assert page: error == PB_ERROR_OK ==> segment->os_base <= address && offset == address - segment->os_base && segment->kind == PB_SEGMENT_APERTURE && segment->size != 0 && address % PB_PAGE_BYTES == 0 && offset + size <= segment->size; */
		range->paged = true;
	}
	/*@ assert unpaged: error == PB_ERROR_OK && !range->paged ==> offset < 0x100000000 && low % PB_PAGE_BYTES == 0 && offset + size <= segment->memory_bytes; */
	/*@ assert paged: error == PB_ERROR_OK && range->paged ==> segment->kind == PB_SEGMENT_APERTURE && segment->size != 0 && address % PB_PAGE_BYTES == 0 && offset + size <= segment->size; */
	/*@ assert inside: error == PB_ERROR_OK ==> segment->size != 0 && offset < 0x100000000 && offset + size <= pb_core_bytes_seen(segment) && pb_core_bytes_seen(segment) <= segment->size; */
	/*@ assert whole: error == PB_ERROR_OK ==> offset % PB_PAGE_BYTES == 0; */ /*@ assert kind: error == PB_ERROR_OK ==> (range->paged <==> segment->kind == PB_SEGMENT_APERTURE); */
	range->segment = segment;
	range->offset = (uint32_t)offset;
	place_buffer(submission, segment, (uint32_t)offset + start);
	/*@ assert still: range->start == start && range->end == end && range->size == size && submission->engine.bytes == end - start; */ /*@ assert there: range->segment == segment && range->offset == offset % 0x100000000 && (error == PB_ERROR_OK ==> (range->paged <==> segment->kind == PB_SEGMENT_APERTURE)); */
	return error;
}

/*@
  requires \valid(firmware) && \valid_read(channel) && \valid_read(descriptor);
  requires pb_core_has_segments(firmware, channel);
  assigns \nothing;
  ensures \result == PB_ERROR_OK || \result == PB_ERROR_BAD_PRIVATE_DATA;
  ensures \result == PB_ERROR_OK ==> start <= end <= size;
*/
static PB_CORE_COLD enum pb_error check_private(struct pb_firmware *firmware,
						const struct pb_core_channel *channel,
						const struct pb_descriptor *descriptor, uint32_t size,
						uint32_t start, uint32_t end)
{
	const uint32_t low = pb_shared_read32(&descriptor->private_address_low);
	const uint64_t address = pb_core_wide(low, pb_shared_read32(&descriptor->private_address_high));

	if (start > end || end > size)
		return PB_ERROR_BAD_PRIVATE_DATA;
	if (size != 0 && pb_core_segment_memory(
				 pb_core_segment_of(&firmware->segments, &channel->memory, PB_SEGMENT_SYSTEM),
				 address, size) == 0)
		return PB_ERROR_BAD_PRIVATE_DATA;
	return PB_ERROR_OK;
}

static PB_CORE_INLINE enum pb_error admit_private(struct pb_firmware *firmware,
						  const struct pb_core_channel *channel,
						  const struct pb_descriptor *descriptor)
{
	uint32_t size, start, end;

	pb_shared_read_pair(&descriptor->private_size, &size, &start);
	end = pb_shared_read32(&descriptor->private_end);
	if ((size | start | end) == 0)
		return PB_ERROR_OK;
	return check_private(firmware, channel, descriptor, size, start, end);
}

/** Words of a descriptor that decide how it is admitted: each of them is 0 in an ordinary one, but for some flags. */
struct first_words {
	uint32_t flags;
	uint32_t options;
	uint32_t allocation_count;
	uint32_t patch_start;
	uint32_t patch_length;
	uint32_t wait_count;
};

/** A submission that is being admitted. */
struct admission {
	struct pb_core_node *node;
	struct pb_core_queue *queue;
	struct pb_core_channel *channel;
	struct pb_core_submission *submission; /**< the node's next */
	const struct pb_descriptor *descriptor;
	const struct first_words *words; /**< of the descriptor; those of an ordinary one are of no use */
};

/** Checks options, DMA buffer and private data: one copy for all submissions that are not ordinary. */
static PB_CORE_STEP enum pb_error admit_parts(struct pb_firmware *firmware, const struct admission *admission,
					      struct pb_core_range *range)
{
	enum pb_error error =
		admit_options(admission->submission, admission->words->options, admission->node->engine);

	if (error == PB_ERROR_OK)
		error = admit_buffer(firmware, admission->submission, admission->channel,
				     admission->descriptor, range, false);
	if (error == PB_ERROR_OK)
		error = admit_private(firmware, admission->channel, admission->descriptor);
	return error;
}

/** Checks both lists. @param job stays NULL if there is nothing to patch, or the host did it */
static enum pb_error admit_both_lists(struct pb_firmware *firmware, const struct admission *admission,
				      const struct pb_core_range *range, struct pb_core_job **job)
{
	const struct first_words *words = admission->words;
	struct pb_core_lists lists = {NULL, words->allocation_count, 0, words->patch_start,
				      words->patch_length};

	if ((lists.allocation_count | lists.start | lists.length) == 0)
		return PB_ERROR_OK;
	return pb_core_admit_lists(firmware, admission->channel, admission->descriptor, range, &lists,
				   pb_core_ring_is_prepared(admission->queue) ? NULL : job);
}

/** Checks in the order in which the parts depend on each other; the first error counts. @param job as admit_both_lists() */
static PB_CORE_STEP enum pb_error admit_all(struct pb_firmware *firmware, const struct admission *admission,
					    struct pb_core_job **job)
{
	const enum pb_error timeline_error =
		admit_timeline(admission->submission, admission->queue, admission->descriptor);
	enum pb_error error = admit_context(firmware, admission->submission, admission->queue->channel,
					    admission->descriptor);
	struct pb_core_range range;

	if (error == PB_ERROR_OK)
		error = timeline_error;
	if (error == PB_ERROR_OK)
		error = admit_parts(firmware, admission, &range);
	if (error == PB_ERROR_OK)
		error = admit_both_lists(firmware, admission, &range, job);
	return error;
}

static enum pb_error check_paging(struct pb_firmware *firmware, const struct admission *admission)
{
	const struct pb_descriptor *descriptor = admission->descriptor;
	struct pb_core_range range;

	if (!pb_core_grants_has(&admission->channel->grants, PB_PRIVILEGE_PAGING))
		return PB_ERROR_NO_PERMISSION;
	if ((pb_shared_read32(&descriptor->context) | admission->words->allocation_count |
	     pb_shared_read32(&descriptor->patch_count) | admission->words->patch_length) != 0)
		return PB_ERROR_BAD_PAGING;
	admission->submission->engine.owner |= PB_ENGINE_OWNER_PRIVILEGED;
	return admit_parts(firmware, admission, &range);
}

/** A paging buffer has neither a context nor lists. */
static enum pb_error admit_paging(struct pb_firmware *firmware, const struct admission *admission)
{
	struct pb_core_submission *submission = admission->submission;
	const enum pb_error timeline_error =
		admit_timeline(submission, admission->queue, admission->descriptor);
	enum pb_error error;

	submission->fence_id = pb_shared_read32(&admission->descriptor->fence_id);
	submission->context = PB_CORE_CONTEXT_PAGING;
	submission->engine.owner = PB_ENGINE_OWNER(admission->queue->channel, PB_ENGINE_CONTEXT_NONE);
	error = check_paging(firmware, admission);
	return error != PB_ERROR_OK ? error : timeline_error;
}

/** Fails the node's next submission: it is fed empty, when nothing of its queue is before it. */
static PB_CORE_COLD void fail(struct pb_firmware *firmware, struct pb_core_node *node, enum pb_error error)
{
	pb_core_submission_fail(pb_core_in_flight_next(&node->flight), error, PB_INDEX_NONE, 0);
	pb_core_staged_fail(firmware, node);
}

/** Counts a queue's next submission as admitted. */
static PB_CORE_INLINE void begin(const struct admission *admission)
{
	struct pb_core_submission *submission = admission->submission;
	struct pb_core_queue *queue = admission->queue;

	submission->queue = queue;
	submission->protected = false;
	submission->resumes = false;
	submission->status = PB_ERROR_OK;
	submission->patches = 0;
	submission->doorbell = pb_core_telemetry_doorbell_of(queue->page, pb_core_ring_next(queue));
	pb_core_ring_admit(queue, &admission->channel->usage);
}

/** Stages a submission that has nothing to patch. If it was recalled, it is patched, and may have begun. */
static void make_ready(const struct admission *admission)
{
	if (pb_core_ring_is_prepared(admission->queue)) {
		admission->submission->doorbell = 0; /* its first feed was measured */
		admission->submission->resumes |= pb_core_ring_claim_prepared(admission->queue);
	}
	pb_core_staged_ready_at_once(&admission->node->staged);
}

/** Flags that a trace tells of, as no other record does. */
#define KIND_FLAGS (PB_FLAG_PAGING | PB_FLAG_PRESENT | PB_FLAG_REDIRECTED_PRESENT | PB_FLAG_NULL_RENDERING)

/** Admits a submission that has patches or waits, was recalled before, is protected, or has flags that mean something. */
static PB_CORE_STEP enum pb_core_admitted
admit_special(struct pb_firmware *firmware, struct pb_core_node *node, struct pb_core_queue *queue,
	      const struct pb_descriptor *descriptor, struct first_words words)
{
	const struct admission *admission = &(struct admission){
		node,       queue, &firmware->channels[queue->channel], pb_core_in_flight_next(&node->flight),
		descriptor, &words};
	const uint32_t flags = words.flags, length = words.patch_length;
	enum pb_error error, failed = PB_ERROR_OK;
	struct pb_core_job *job = NULL;
	bool parked = false;

	if (length != 0 && !pb_core_ring_is_prepared(queue) &&
	    !pb_core_jobs_has(firmware, &firmware->jobs, node, queue))
		return PB_CORE_ADMITTED_NOT;
	/* If it was recalled, it has waited before. */
	if (pb_core_ring_claim_deadlock(queue))
		failed = PB_ERROR_DEADLOCK;
	else if (words.wait_count != 0 && !pb_core_ring_is_prepared(queue))
		failed = pb_core_wait(firmware, queue, descriptor, words.wait_count, &parked);
	if (parked) {
		pb_core_jobs_pass_on(firmware, node);
		return PB_CORE_ADMITTED_STAGED;
	}
	begin(admission);
	admission->submission->protected = pb_core_timeslice_claim_protect(&node->slice, queue);
	error = (flags & PB_FLAG_PAGING) != 0 ? admit_paging(firmware, admission)
					      : admit_all(firmware, admission, &job);
	error = error != PB_ERROR_OK ? error : failed;
	if (error != PB_ERROR_OK)
		fail(firmware, node, error);
	else if (job != NULL)
		pb_core_prepare_begin(firmware, node, job, length);
	else
		make_ready(admission);
	if (length != 0 && node->asks.granted)
		pb_core_jobs_pass_on(firmware, node);
	if ((flags & PB_FLAG_NULL_RENDERING) != 0)
		admission->submission->engine.bytes = 0;
	if ((flags & KIND_FLAGS) != 0)
		PB_CORE_TRACE_QUEUE(firmware, KIND, queue, admission->submission->fence_id, flags);
	return PB_CORE_ADMITTED_STAGED;
}

/** Fails an ordinary submission whose timeline value is wrong; an error of its context counts before that. */
static PB_CORE_COLD void fail_timeline(struct pb_firmware *firmware, struct pb_core_node *node,
				       uint32_t channel, const struct pb_descriptor *descriptor)
{
	const enum pb_error error =
		admit_context(firmware, pb_core_in_flight_next(&node->flight), channel, descriptor);

	fail(firmware, node, error != PB_ERROR_OK ? error : PB_ERROR_BAD_TIMELINE);
}

/** Admits the others, at no cost but their own: checks as admit_all() does, with the options and lists that are none. */
static PB_CORE_INLINE enum pb_core_admitted admit_ordinary(struct pb_firmware *firmware,
							   const struct admission *admission)
{
	const uint32_t channel = admission->queue->channel;
	struct pb_core_range range;
	enum pb_error error;

	begin(admission);
	if (admit_timeline(admission->submission, admission->queue, admission->descriptor) != PB_ERROR_OK) {
		fail_timeline(firmware, admission->node, channel, admission->descriptor);
		return PB_CORE_ADMITTED_STAGED;
	}
	error = admit_context(firmware, admission->submission, channel, admission->descriptor);
	if (error == PB_ERROR_OK)
		error = admit_buffer(firmware, admission->submission, admission->channel,
				     admission->descriptor, &range, true);
	if (error == PB_ERROR_OK)
		error = admit_private(firmware, admission->channel, admission->descriptor);
	if (error != PB_ERROR_OK) {
		fail(firmware, admission->node, error);
		return PB_CORE_ADMITTED_STAGED;
	}
	return PB_CORE_ADMITTED_AT_ONCE;
}

/** Reads those of the first words that say something of lists and waits. @return whether one of them is not 0 */
static PB_CORE_INLINE bool has_lists(const struct pb_descriptor *descriptor, struct first_words *words)
{
	pb_shared_read_pair(&descriptor->patch_start, &words->patch_start, &words->patch_length);
	words->allocation_count = pb_shared_read32(&descriptor->allocation_count);
	words->wait_count = pb_shared_read32(&descriptor->wait_count);
	return (words->patch_start | words->patch_length | words->allocation_count | words->wait_count) != 0;
}

PB_CORE_STEP enum pb_core_admitted pb_core_admit(struct pb_firmware *firmware, struct pb_core_node *node,
						 struct pb_core_queue *queue)
{
	const struct pb_descriptor *descriptor =
		(const struct pb_descriptor *)(const void *)(queue->page + 1) +
		(pb_core_ring_next(queue) & queue->mask);
	struct first_words words;
	struct pb_core_submission *submission;
	struct pb_core_channel *channel;

	PB_CORE_KEEP(descriptor);
	pb_shared_read_pair(&descriptor->flags, &words.flags, &words.options);
	if (((words.flags & KIND_FLAGS) | words.options | queue->prepared | (uint32_t)node->slice.protect) !=
	    0) {
		(void)has_lists(descriptor, &words);
		return admit_special(firmware, node, queue, descriptor, words);
	}
	if (has_lists(descriptor, &words))
		return admit_special(firmware, node, queue, descriptor, words);
	/* What follows is of no use above, where registers are scarce. */
	PB_CORE_KEEP(node);
	submission = pb_core_in_flight_next(&node->flight);
	channel = &firmware->channels[queue->channel];
	PB_CORE_KEEP(submission);
	PB_CORE_KEEP(channel);
	return admit_ordinary(firmware,
			      &(struct admission){node, queue, channel, submission, descriptor, NULL});
}
