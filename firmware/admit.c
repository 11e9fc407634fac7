/* SPDX-License-Identifier: MIT */
/*
 * Step 1: the descriptor. Each of its words is read once, where it is checked;
 * what passes stands in the job, and nothing later looks at the ring again.
 */
#include "firmware/admit.h"

/** For what paging buffers share with other work: the ordinary submission does not pay for that. */
#define INLINE inline __attribute__((always_inline))

void pb_core_job_fail(struct pb_firmware *firmware, struct pb_core_job *job, enum pb_error error,
		      uint32_t index)
{
	pb_core_work_fail(job->work, error, index, 0);
	job->state = PB_CORE_JOB_READY;
	PB_CORE_TRACE_QUEUE(firmware, REFUSE, job->work->queue, job->work->fence_id, error);
	pb_core_context_lose(firmware, job->work);
}

/*@
  requires \valid(work) && \valid(queue) && \valid_read(descriptor) && \separated(work, queue);
  assigns work->fence_id, work->timeline_low, work->timeline_high, queue->timeline;
  ensures never_back: queue->timeline >= \old(queue->timeline);
  ensures forward: \result == PB_ERROR_OK <==> queue->timeline > \old(queue->timeline);
  ensures as_its_queue: work->timeline_low + 0x100000000 * work->timeline_high == queue->timeline;
*/
static INLINE enum pb_error admit_timeline(struct pb_core_work *work, struct pb_core_queue *queue,
					   const struct pb_descriptor *descriptor)
{
	const uint32_t low = pb_shared_read32(&descriptor->timeline_low);
	const uint32_t high = pb_shared_read32(&descriptor->timeline_high);
	const uint64_t timeline = pb_core_wide(low, high);

	work->fence_id = pb_shared_read32(&descriptor->fence_id);
	if (timeline <= queue->timeline) {
		/* It completes like the one before it: a timeline never goes back. */
		work->timeline_low = (uint32_t)queue->timeline;
		work->timeline_high = (uint32_t)(queue->timeline >> 32);
		return PB_ERROR_BAD_TIMELINE;
	}
	work->timeline_low = low;
	work->timeline_high = high;
	queue->timeline = timeline;
	return PB_ERROR_OK;
}

/** The context that a submission names, if its channel has it. */
/*@
  requires \valid_read(firmware) && \valid(work) && \valid_read(descriptor) && channel < PB_LIMIT_CHANNELS;
  requires \separated(work, firmware->contexts + (0 .. PB_LIMIT_CONTEXTS - 1));
  assigns work->context, work->engine.owner;
  ensures results: \result == PB_ERROR_OK || \result == PB_ERROR_CONTEXT_LOST || \result == PB_ERROR_BAD_CONTEXT;
  ensures none: \result == PB_ERROR_BAD_CONTEXT ==> work->context == PB_CORE_CONTEXT_NONE && work->engine.owner == channel;
  ensures some: \result != PB_ERROR_BAD_CONTEXT ==> work->context < PB_LIMIT_CONTEXTS;
*/
static INLINE enum pb_error admit_context(struct pb_firmware *firmware, struct pb_core_work *work,
					  uint32_t channel, const struct pb_descriptor *descriptor)
{
	const uint32_t handle = pb_shared_read32(&descriptor->context);
	const uint32_t index = handle % PB_LIMIT_CONTEXTS;
	/* The same as in pb_core_context_find, with what is lost told apart by one comparison. */
	const uint32_t difference = firmware->contexts[index] -
				    (handle - index + PB_CORE_CONTEXT(0, channel) + PB_CORE_CONTEXT_USED);

	if (PB_HANDLE_INDEX(handle) != index || (difference & ~PB_CORE_CONTEXT_LOST) != 0) {
		work->context = PB_CORE_CONTEXT_NONE;
		work->engine.owner = channel;
		return PB_ERROR_BAD_CONTEXT;
	}
	work->context = (uint16_t)index;
	work->engine.owner = PB_ENGINE_OWNER(channel, index);
	return difference != 0 ? PB_ERROR_CONTEXT_LOST : PB_ERROR_OK;
}

/*@
  requires \valid(work) && \valid_read(descriptor);
  assigns work->resumes, work->shown;
  ensures \result == PB_ERROR_OK || \result == PB_ERROR_BAD_OPTIONS;
*/
static INLINE enum pb_error admit_options(struct pb_core_work *work, const struct pb_descriptor *descriptor)
{
	const uint32_t options = pb_shared_read32(&descriptor->options);

	work->shown = pb_shared_read32(&descriptor->shown);
	if (options == 0)
		return PB_ERROR_OK;
	if ((options & ~PB_OPTION_RESUME) != 0)
		return PB_ERROR_BAD_OPTIONS;
	work->resumes = true;
	return PB_ERROR_OK;
}

/** Where the engine finds the range. @param offset of the range in its segment */
/*@
  requires \valid(work) && \valid_read(segment) && \separated(work, segment);
  assigns work->engine.address_low, work->engine.address_high;
  ensures segment->gpu_base + offset <= UINT64_MAX ==>
    work->engine.address_low + 0x100000000 * work->engine.address_high == segment->gpu_base + offset;
*/
static INLINE void place_buffer(struct pb_core_work *work, const struct pb_core_segment *segment,
				uint32_t offset)
{
	const uint64_t gpu_address = segment->gpu_base + offset;

	work->engine.address_low = (uint32_t)gpu_address;
	work->engine.address_high = (uint32_t)(gpu_address >> 32);
}

/** A buffer that does not begin a page of backed memory: page by page in an aperture, or an error. */
/*@
  requires \valid_read(segment) && pb_core_is_segment(segment);
  assigns \nothing;
  ensures \result == PB_ERROR_OK <==> segment->size != 0 && segment->kind == PB_SEGMENT_APERTURE &&
    address % PB_PAGE_BYTES == 0 && segment->os_base <= address && address + size <= segment->os_base + segment->size;
  ensures segment->size == 0 ==> \result == PB_ERROR_BAD_SEGMENT;
*/
static __attribute__((noinline)) enum pb_error check_paged_buffer(const struct pb_core_segment *segment,
								  uint64_t address, uint32_t size)
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
static INLINE uint64_t distance(uint64_t base, uint64_t address)
{
	return address - base;
}

/** The DMA buffer and the range submitted. */
/*@
  requires \valid(firmware) && \valid(work) && \valid_read(channel) && \valid_read(descriptor) && \valid(range);
  requires pb_core_has_segments(firmware, channel) && \separated(range, work, channel, firmware->segments + (0 .. PB_CORE_PLACES - 1));
  assigns *range, work->engine.bytes, work->engine.address_low, work->engine.address_high;
  ensures words: \result == PB_ERROR_OK ==> range->start <= range->end <= range->size &&
    range->start % 4 == 0 && range->end % 4 == 0 && work->engine.bytes == range->end - range->start;
  ensures nowhere: \result == PB_ERROR_OK && range->start == range->end ==> range->segment == \null;
  ensures its_segment: \result == PB_ERROR_OK && range->start < range->end ==> \exists integer place; 0 <= place < PB_CORE_PLACES && range->segment == firmware->segments + place;
  ensures inside: \result == PB_ERROR_OK && range->start < range->end ==> range->segment->size != 0 &&
    range->offset + range->size <= pb_core_bytes_seen(range->segment);
  ensures paged: \result == PB_ERROR_OK && range->start < range->end ==> range->offset % PB_PAGE_BYTES == 0 &&
    (range->paged <==> range->segment->kind == PB_SEGMENT_APERTURE);
  ensures address: \result == PB_ERROR_OK && range->start < range->end ==>
    work->engine.address_low + 0x100000000 * work->engine.address_high ==
    range->segment->gpu_base + range->offset + range->start;
*/
static INLINE enum pb_error admit_buffer(struct pb_firmware *firmware, struct pb_core_work *work,
					 const struct pb_core_channel *channel,
					 const struct pb_descriptor *descriptor, struct pb_core_range *range)
{
	const uint32_t size = pb_shared_read32(&descriptor->dma_size);
	const uint32_t start = pb_shared_read32(&descriptor->dma_start);
	const uint32_t end = pb_shared_read32(&descriptor->dma_end);
	const uint32_t segment_id = pb_shared_read32(&descriptor->dma_segment);
	const uint32_t low = pb_shared_read32(&descriptor->dma_address_low);
	const uint64_t address = pb_core_wide(low, pb_shared_read32(&descriptor->dma_address_high));
	const struct pb_core_segment *segment;
	enum pb_error error = PB_ERROR_OK;
	uint64_t offset;

	/*@ ghost uint32_t place = segment_id < PB_LIMIT_SEGMENTS ? channel->segment_of[segment_id] : 0; */
	/*@ ghost struct pb_core_segment *at = firmware->segments + place; */
	/*@ assert place: place < PB_CORE_PLACES && pb_core_is_segment(at); */
	/*@ assert apart: \separated(work, at) && \separated(range, at) && \valid_read(at); */
	*range = (struct pb_core_range){.start = start, .end = end, .size = size};
	if (start > end || end > size || (start | end) % 4u != 0)
		return PB_ERROR_BAD_RANGE;
	work->engine.bytes = end - start;
	if (start == end)
		return PB_ERROR_OK; /* an empty one need not have a buffer (docs/wddm.md) */
	segment = pb_core_segment_of(firmware, channel, segment_id);
	PB_CORE_KEEP(segment);
	/*@ assert segment: segment == at && pb_core_is_segment(segment); */
	offset = distance(segment->os_base, address);
	/*@ assert cut: (uint32_t)offset == offset % 0x100000000; */
	/*@ assert shifted: (offset >> 32) == offset / 0x100000000; */ /*@ assert small: (offset >> 32) == 0 ==> offset < 0x100000000; */
	/*@ assert short: (offset >> 32) == 0 ==> (uint32_t)offset == offset; */
	if (offset >> 32 != 0 || (uint32_t)offset > segment->memory_bytes ||
	    size > segment->memory_bytes - (uint32_t)offset || low % PB_PAGE_BYTES != 0) {
		error = check_paged_buffer(segment, address, size);
		range->paged = true;
	}
	/*@ assert unpaged: error == PB_ERROR_OK && !range->paged ==> offset < 0x100000000 && low % PB_PAGE_BYTES == 0 &&
	      offset + size <= segment->memory_bytes; */
	/*@ assert paged: error == PB_ERROR_OK && range->paged ==> segment->kind == PB_SEGMENT_APERTURE &&
	      segment->size != 0 && address % PB_PAGE_BYTES == 0 && offset + size <= segment->size; */
	/*@ assert inside: error == PB_ERROR_OK ==> segment->size != 0 && offset < 0x100000000 &&
	      offset + size <= pb_core_bytes_seen(segment) && pb_core_bytes_seen(segment) <= segment->size; */
	range->segment = segment;
	range->offset = (uint32_t)offset;
	place_buffer(work, segment, (uint32_t)offset + start);
	return error;
}

/*@
  requires \valid(firmware) && \valid_read(channel) && \valid_read(descriptor);
  requires pb_core_has_segments(firmware, channel);
  assigns \nothing;
  ensures \result == PB_ERROR_OK || \result == PB_ERROR_BAD_PRIVATE_DATA;
  ensures \result == PB_ERROR_OK ==> start <= end <= size;
*/
static __attribute__((noinline)) enum pb_error check_private(struct pb_firmware *firmware,
							     const struct pb_core_channel *channel,
							     const struct pb_descriptor *descriptor,
							     uint32_t size, uint32_t start, uint32_t end)
{
	const uint32_t low = pb_shared_read32(&descriptor->private_address_low);
	const uint64_t address = pb_core_wide(low, pb_shared_read32(&descriptor->private_address_high));

	if (start > end || end > size)
		return PB_ERROR_BAD_PRIVATE_DATA;
	if (size != 0 && pb_core_segment_memory(pb_core_segment_of(firmware, channel, PB_SEGMENT_SYSTEM),
						address, size) == 0)
		return PB_ERROR_BAD_PRIVATE_DATA;
	return PB_ERROR_OK;
}

static INLINE enum pb_error admit_private(struct pb_firmware *firmware, const struct pb_core_channel *channel,
					  const struct pb_descriptor *descriptor)
{
	const uint32_t size = pb_shared_read32(&descriptor->private_size);
	const uint32_t start = pb_shared_read32(&descriptor->private_start);
	const uint32_t end = pb_shared_read32(&descriptor->private_end);

	if ((size | start | end) == 0)
		return PB_ERROR_OK;
	return check_private(firmware, channel, descriptor, size, start, end);
}

/** Both lists. If there is nothing to patch, the host did it, and the node's next work is prepared. */
static INLINE enum pb_error look_at_lists(struct pb_firmware *firmware, struct pb_core_node *node,
					  const struct pb_core_channel *channel,
					  const struct pb_descriptor *descriptor,
					  const struct pb_core_range *range, uint32_t length)
{
	const uint32_t allocation_count = pb_shared_read32(&descriptor->allocation_count);
	const uint32_t start = pb_shared_read32(&descriptor->patch_start);

	if ((allocation_count | start | length) != 0) {
		struct pb_core_lists lists = {NULL, allocation_count, 0, start, length};
		const struct pb_core_range kept = *range;

		return pb_core_admit_lists(firmware, node, channel, descriptor, &kept, &lists);
	}
	node->next = PB_CORE_NEXT_PREPARED;
	return PB_ERROR_OK;
}

/** A submission on its way into the node. */
struct admission {
	struct pb_core_node *node;
	struct pb_core_queue *queue;
	struct pb_core_channel *channel;
	struct pb_core_work *work; /**< the node's next */
	const struct pb_descriptor *descriptor;
	uint32_t length; /**< of its patch list */
};

static INLINE enum pb_error admit_parts(struct pb_firmware *firmware, const struct admission *admission,
					struct pb_core_range *range)
{
	const struct pb_core_channel *channel = admission->channel;
	const struct pb_descriptor *descriptor = admission->descriptor;
	enum pb_error error = admit_options(admission->work, descriptor);

	if (error == PB_ERROR_OK)
		error = admit_buffer(firmware, admission->work, channel, descriptor, range);
	if (error == PB_ERROR_OK)
		error = admit_private(firmware, channel, descriptor);
	return error;
}

/** The same, once for all that are not ordinary. */
static __attribute__((noinline)) enum pb_error admit_parts_of_special(struct pb_firmware *firmware,
								      const struct admission *admission,
								      struct pb_core_range *range)
{
	return admit_parts(firmware, admission, range);
}

/** Checks in the order in which the parts depend on each other; the first error counts. */
static INLINE enum pb_error admit_all(struct pb_firmware *firmware, const struct admission *admission,
				      bool ordinary)
{
	const struct pb_core_channel *channel = admission->channel;
	const struct pb_descriptor *descriptor = admission->descriptor;
	const enum pb_error timeline_error = admit_timeline(admission->work, admission->queue, descriptor);
	enum pb_error error = admit_context(firmware, admission->work, admission->queue->channel, descriptor);
	struct pb_core_range range;

	if (error == PB_ERROR_OK)
		error = timeline_error;
	if (error == PB_ERROR_OK)
		error = ordinary ? admit_parts(firmware, admission, &range)
				 : admit_parts_of_special(firmware, admission, &range);
	if (error == PB_ERROR_OK)
		error = look_at_lists(firmware, admission->node, channel, descriptor, &range,
				      admission->length);
	return error;
}

static enum pb_error check_paging(struct pb_firmware *firmware, const struct admission *admission)
{
	const struct pb_core_channel *channel = admission->channel;
	const struct pb_descriptor *descriptor = admission->descriptor;
	struct pb_core_range range;

	if ((channel->privileges & PB_PRIVILEGE_PAGING) == 0)
		return PB_ERROR_NO_PERMISSION;
	if ((pb_shared_read32(&descriptor->context) | pb_shared_read32(&descriptor->allocation_count) |
	     pb_shared_read32(&descriptor->patch_count) | admission->length) != 0)
		return PB_ERROR_BAD_PAGING;
	admission->work->engine.owner |= PB_ENGINE_OWNER_PRIVILEGED;
	return admit_parts_of_special(firmware, admission, &range);
}

/** A paging buffer has neither a context nor lists. */
static enum pb_error admit_paging(struct pb_firmware *firmware, const struct admission *admission)
{
	struct pb_core_work *work = admission->work;
	const enum pb_error timeline_error = admit_timeline(work, admission->queue, admission->descriptor);
	enum pb_error error;

	work->context = PB_CORE_CONTEXT_PAGING;
	work->engine.owner = PB_ENGINE_OWNER(admission->queue->channel, PB_ENGINE_OWNER_NOBODY);
	error = check_paging(firmware, admission);
	admission->node->next = PB_CORE_NEXT_PREPARED;
	return error != PB_ERROR_OK ? error : timeline_error;
}

/**
 * It will be fed empty. A wait that failed does not lose the context: the work itself was not wrong. Of other
 * errors, that of a paging buffer halts its channel on the node.
 */
static __attribute__((noinline)) void fail(struct pb_firmware *firmware, struct pb_core_node *node,
					   enum pb_error error)
{
	struct pb_core_work *work = pb_core_work_at(node, node->fed + 1u);

	pb_core_work_fail(work, error, PB_INDEX_NONE, 0);
	pb_core_job_release(firmware, node);
	node->next = PB_CORE_NEXT_PREPARED;
	if (error == PB_ERROR_DEP_FAILED || error == PB_ERROR_DEADLOCK)
		return;
	pb_core_context_lose(firmware, work);
	if (work->context == PB_CORE_CONTEXT_PAGING)
		pb_core_halt(firmware, node, work);
}

/** A queue's next submission counts as admitted from here on. */
static INLINE void begin(const struct admission *admission)
{
	struct pb_core_work *work = admission->work;

	work->queue = admission->queue;
	work->guarded = false;
	work->resumes = false;
	work->status = PB_ERROR_OK;
	work->patches = 0;
	admission->queue->busy++;
	admission->channel->busy++;
}

/** It was withdrawn: it is patched, and may have begun. */
static void take_up(struct pb_firmware *firmware, const struct admission *admission)
{
	struct pb_core_queue *queue = admission->queue;

	queue->patched--;
	admission->work->shown = 0; /* that was counted */
	if ((queue->flags & PB_CORE_QUEUE_STARTED) != 0)
		admission->work->resumes = true;
	queue->flags &= (uint8_t)~PB_CORE_QUEUE_STARTED;
	pb_core_job_release(firmware, admission->node);
	admission->node->next = PB_CORE_NEXT_PREPARED;
}

/** What a trace tells of a submission, as no other record does. */
#define KIND_FLAGS (PB_FLAG_PAGING | PB_FLAG_PRESENT | PB_FLAG_REDIRECTED_PRESENT | PB_FLAG_NULL_RENDERING)

/** One that has patches or waits, was withdrawn before, is guarded, or has flags that say something. */
static __attribute__((noinline)) bool admit_special(struct pb_firmware *firmware,
						    const struct admission *admission, uint32_t flags,
						    uint32_t waits, enum pb_error failed)
{
	struct pb_core_node *node = admission->node;
	struct pb_core_queue *queue = admission->queue;
	enum pb_error error;
	bool parked = false;

	if (admission->length != 0 && firmware->jobs_free == 0) {
		firmware->jobs_wanted |= node->bit;
		return false;
	}
	/* If it was withdrawn, it has waited before. */
	if (waits != 0 && queue->patched == 0 && failed == PB_ERROR_OK)
		failed = pb_core_wait(firmware, queue, admission->descriptor, waits, &parked);
	if (parked)
		return true;
	begin(admission);
	admission->work->guarded = node->guard;
	node->guard = false;
	error = (flags & PB_FLAG_PAGING) != 0 ? admit_paging(firmware, admission)
					      : admit_all(firmware, admission, false);
	if (error == PB_ERROR_OK)
		error = failed;
	if (error != PB_ERROR_OK)
		fail(firmware, node, error);
	if (queue->patched != 0)
		take_up(firmware, admission);
	if ((flags & PB_FLAG_NULL_RENDERING) != 0)
		admission->work->engine.bytes = 0;
	if ((flags & KIND_FLAGS) != 0)
		PB_CORE_TRACE_QUEUE(firmware, KIND, queue, admission->work->fence_id, flags);
	return true;
}

/** The others, at no cost that is theirs only. */
static INLINE void admit_ordinary(struct pb_firmware *firmware, const struct admission *admission)
{
	enum pb_error error;

	begin(admission);
	error = admit_all(firmware, admission, true);
	if (error != PB_ERROR_OK)
		fail(firmware, admission->node, error);
}

bool pb_core_admit(struct pb_firmware *firmware, struct pb_core_node *node, struct pb_core_queue *queue,
		   enum pb_error failed)
{
	const struct pb_descriptor *descriptor =
		(const struct pb_descriptor *)(const void *)(queue->page + 1) +
		((queue->completed + queue->busy) & queue->mask);
	struct pb_core_work *work = pb_core_work_at(node, node->fed + 1u);
	struct pb_core_channel *channel = &firmware->channels[queue->channel];
	uint32_t flags, waits, length;

	PB_CORE_KEEP(descriptor);
	PB_CORE_KEEP(work);
	PB_CORE_KEEP(channel);
	flags = pb_shared_read32(&descriptor->flags);
	waits = pb_shared_read32(&descriptor->wait_count);
	length = pb_shared_read32(&descriptor->patch_length);
	if (((flags & KIND_FLAGS) | waits | queue->patched | (uint32_t)node->guard | (uint32_t)failed |
	     length) == 0) {
		const struct admission ordinary = {node, queue, channel, work, descriptor, 0};

		admit_ordinary(firmware, &ordinary);
	} else {
		const struct admission special = {node, queue, channel, work, descriptor, length};

		return admit_special(firmware, &special, flags, waits, failed);
	}
	return true;
}

void pb_core_job_release(struct pb_firmware *firmware, struct pb_core_node *node)
{
	if (node->next != PB_CORE_NEXT_JOB)
		return;
	node->next = PB_CORE_NEXT_NONE;
	firmware->jobs_free |= 1u << (node->job - firmware->jobs);
	firmware->awake |= firmware->jobs_wanted;
	firmware->jobs_wanted = 0;
}

void pb_core_next_clear(struct pb_firmware *firmware, struct pb_core_node *node)
{
	pb_core_job_release(firmware, node);
	node->next = PB_CORE_NEXT_NONE;
}

void pb_core_job_drop(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_core_work *work = pb_core_work_at(node, node->fed + 1u);
	struct pb_core_queue *queue = work->queue;

	if (!pb_core_has_next(node))
		return;
	if (pb_core_queue_state(queue) != PB_CORE_QUEUE_CLOSING &&
	    (firmware->closing >> queue->channel & 1u) == 0)
		return;
	pb_core_next_clear(firmware, node);
	pb_core_halt_report(firmware, work);
	queue->busy--;
	firmware->channels[queue->channel].busy--;
	firmware->awake |= 1u << queue->node;
}
