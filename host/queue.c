/* SPDX-License-Identifier: MIT */
/* Contexts, queues, submissions and fences. */
#include <string.h>

#include "host/internal.h"

/*
 * Attempts in a row to read a consistent record, which a short lock may cover, and rounds of attempts without a wait.
 * The writer of a record needs a few dozen instructions.
 */
#define RECORD_TRIES  8u
#define RECORD_ROUNDS 125u
/*
 * Time for which a record may stay half written, in microseconds. The host may deschedule an emulated MCU in the middle
 * of a write, so that failed attempts alone do not prove an error.
 */
#define RECORD_PATIENCE_US 100000u
#define RECORD_SLICE_US    1000u

/* Parts of a submission, which is compiled twice: without locks it costs a test of the link, and nothing else. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Executes a command whose first result is a handle. */
static enum pb_error create(struct pb_channel *channel, uint32_t code, const uint32_t *arguments,
			    uint32_t *handle)
{
	uint32_t results[PB_REPLY_RESULTS];
	enum pb_error error = pb_channel_command(channel, code, arguments, results);

	if (error != PB_ERROR_OK)
		return error;
	if (PB_HANDLE_GENERATION(results[0]) == 0)
		return pb_diagnose(channel, PB_ERROR_PROTOCOL);
	*handle = results[0];
	return PB_ERROR_OK;
}

enum pb_error pb_context_create(struct pb_channel *channel, uint32_t *context)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0};

	return create(channel, PB_COMMAND_CONTEXT_CREATE, arguments, context);
}

enum pb_error pb_context_destroy(struct pb_channel *channel, uint32_t context)
{
	return pb_command_about(channel, PB_COMMAND_CONTEXT_DESTROY, context, 0);
}

enum pb_error pb_context_clear(struct pb_channel *channel, uint32_t context)
{
	return pb_command_about(channel, PB_COMMAND_CONTEXT_CLEAR, context, 0);
}

/* Allocates a zeroed queue page and ring. */
static enum pb_error allocate_queue(struct pb_queue *queue, struct pb_segment *system)
{
	uint64_t bytes =
		sizeof(struct pb_queue_page) + (uint64_t)queue->entries * sizeof(struct pb_descriptor);
	enum pb_error error;

	if (bytes > system->request.backing_bytes)
		return PB_ERROR_NO_SPACE;
	error = pb_memory_allocate(system, (uint32_t)bytes, PB_LINE_BYTES, &queue->memory);
	if (error != PB_ERROR_OK)
		return error;
	for (uint32_t i = 0; i < bytes; i += (uint32_t)sizeof(uint32_t))
		pb_shared_write32((uint32_t *)(void *)(queue->memory.bytes_host + i), 0);
	return PB_ERROR_OK;
}

static bool queue_is_possible(const struct pb_channel *channel, const struct pb_segment *system,
			      const struct pb_queue_request *request)
{
	const uint32_t *capabilities = channel->card.capabilities;

	return pb_is_power_of_two(request->entries) &&
	       request->entries >= capabilities[PB_CAPABILITY_RING_ENTRIES_MIN] &&
	       request->entries <= capabilities[PB_CAPABILITY_RING_ENTRIES_MAX] &&
	       system->channel == channel && system->request.id == PB_SEGMENT_SYSTEM;
}

enum pb_error pb_queue_create_with(struct pb_queue *queue, struct pb_channel *channel,
				   struct pb_segment *system, const struct pb_queue_request *request)
{
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		[0] = request->node,
		[1] = request->entries,
		[4] = request->priority,
		[5] = request->quantum_us,
	};
	enum pb_error error;

	memset(queue, 0, sizeof(*queue));
	if (!channel->attached)
		return PB_ERROR_DETACHED;
	if (!queue_is_possible(channel, system, request))
		return PB_ERROR_BAD_ARGUMENT;
	queue->channel = channel;
	queue->node = request->node;
	queue->entries = request->entries;
	queue->history = request->history;
	queue->lock = request->lock;
	error = allocate_queue(queue, system);
	if (error != PB_ERROR_OK)
		return error;
	arguments[2] = (uint32_t)queue->memory.os_address;
	arguments[3] = (uint32_t)(queue->memory.os_address >> 32);
	error = create(channel, PB_COMMAND_QUEUE_CREATE, arguments, &queue->handle);
	/* Free the memory only if the firmware refused: after a lost reply it may still write there. */
	if (error != PB_ERROR_OK && error < PB_ERROR_TIMEOUT)
		pb_memory_free(&queue->memory);
	return error;
}

enum pb_error pb_queue_create(struct pb_queue *queue, struct pb_channel *channel, struct pb_segment *system,
			      uint32_t node, uint32_t entries)
{
	const struct pb_queue_request request = {
		.node = node, .entries = entries, .priority = PB_PRIORITY_NORMAL};

	return pb_queue_create_with(queue, channel, system, &request);
}

enum pb_error pb_queue_destroy(struct pb_queue *queue)
{
	enum pb_error error = pb_command_about(queue->channel, PB_COMMAND_QUEUE_DESTROY, queue->handle, 0);

	if (error == PB_ERROR_OK)
		pb_memory_free(&queue->memory);
	return error;
}

enum pb_error pb_queue_clear(struct pb_queue *queue)
{
	return pb_command_about(queue->channel, PB_COMMAND_QUEUE_CLEAR, queue->handle, 0);
}

void pb_queue_set_limits(struct pb_queue *queue, uint32_t hang_us, uint32_t stop_us)
{
	struct pb_queue_page *page = pb_queue_page(queue);

	pb_shared_write32(&page->hang_us, hang_us);
	pb_shared_write32(&page->stop_us, stop_us);
}

/* ---- submit ---- */

/* Accepts a consumer index that the firmware wrote. @return false: it moved back, or beyond the put index */
static ALWAYS_INLINE bool accept_completed(struct pb_queue *queue, uint32_t completed)
{
	if (completed - queue->completed > queue->put - queue->completed)
		return false;
	queue->completed = completed;
	return true;
}

/** Writes a descriptor. @return its timeline value */
static ALWAYS_INLINE uint64_t write_descriptor(struct pb_queue *queue, const struct pb_descriptor *descriptor)
{
	struct pb_queue_page *page = pb_queue_page(queue);
	struct pb_descriptor *ring = (struct pb_descriptor *)(void *)(page + 1);
	struct pb_descriptor copy = *descriptor;
	uint64_t timeline = (uint64_t)copy.timeline_high << 32 | copy.timeline_low;

	if (timeline == 0) {
		timeline = queue->timeline + 1;
		copy.timeline_low = (uint32_t)timeline;
		copy.timeline_high = (uint32_t)(timeline >> 32);
	}
	if (timeline > queue->timeline)
		queue->timeline = timeline;
	copy.reserved = 0; /* a returned descriptor may still hold a time from firmware of ABI 1.0 */
	pb_shared_copy_out(&ring[queue->put & (queue->entries - 1)], &copy, sizeof(copy));
	if (queue->history != NULL)
		queue->history[queue->put & (queue->entries - 1)] = copy;
	pb_shared_release();
	pb_shared_write32(&page->put, ++queue->put);
	pb_shared_release();
	return timeline;
}

/* Returns the kicks that the firmware has not read; more than the ring holds: it broke the contract. */
static uint32_t unread_kicks(const struct pb_channel *channel)
{
	return channel->kick_put - pb_shared_read32(&channel->entry->kick_get);
}

/* Adds the queue to the kick ring, or requests a rescan if the ring is full. Pre: the caller holds the kicks' lock. */
static ALWAYS_INLINE void write_kick(const struct pb_queue *queue, bool room)
{
	struct pb_channel *channel = queue->channel;
	uint32_t *ring = pb_at(channel->link, channel->kick_offset);

	if (room) {
		pb_shared_write32(&ring[channel->kick_put & (channel->kick_entries - 1)], queue->handle);
		pb_shared_release();
		pb_shared_write32(&channel->entry->kick_put, ++channel->kick_put);
	} else {
		pb_shared_write32(&channel->entry->rescan, ++channel->rescan);
	}
}

static ALWAYS_INLINE void ring_doorbell(const struct pb_channel *channel)
{
	pb_shared_barrier();
	channel->link->ops->doorbell(channel->link);
}

void pb_wait_on(struct pb_wait *wait, const struct pb_queue *queue, uint64_t timeline)
{
	const struct pb_wait words = {
		.queue = queue->handle,
		.timeline_low = (uint32_t)timeline,
		.timeline_high = (uint32_t)(timeline >> 32),
	};

	pb_shared_copy_out(wait, &words, sizeof(words));
}

/*
 * Writes the descriptor, if there is room. Pre: the caller holds the queue's lock. @param kicks that are unread
 * @param submitted NULL, or out: the indices, unless the error is PB_ERROR_PROTOCOL; the value if there is no error
 */
static ALWAYS_INLINE enum pb_error append(struct pb_queue *queue, const struct pb_descriptor *descriptor,
					  uint32_t kicks, struct pb_submitted *submitted)
{
	const uint32_t before = queue->completed;
	uint64_t value;

	/* A read of one word needs no seqlock. */
	if (kicks > queue->channel->kick_entries ||
	    !accept_completed(queue, pb_shared_read32(&pb_queue_page(queue)->fence.completed)))
		return pb_diagnose(queue->channel, PB_ERROR_PROTOCOL);
	if (submitted != NULL)
		*submitted = (struct pb_submitted){
			.index = queue->put, .before = before, .completed = queue->completed};
	if (queue->put - queue->completed >= queue->entries)
		return PB_ERROR_NO_SPACE;
	pb_shared_acquire();
	value = write_descriptor(queue, descriptor);
	if (submitted != NULL)
		submitted->value = value;
	return PB_ERROR_OK;
}

/* Submits beside other threads. The kick ring is counted again for the kick: others may have used its room. */
static enum pb_error submit_locked(struct pb_queue *queue, const struct pb_descriptor *descriptor,
				   struct pb_submitted *submitted)
{
	struct pb_channel *channel = queue->channel;
	struct pb_lock *kick_lock = channel->link->locks->kicks;
	enum pb_error error;
	uint32_t kicks;

	pb_lock(kick_lock);
	kicks = unread_kicks(channel);
	pb_unlock(kick_lock);
	pb_lock(queue->lock);
	error = append(queue, descriptor, kicks, submitted);
	pb_unlock(queue->lock);
	if (error != PB_ERROR_OK)
		return error;
	pb_lock(kick_lock);
	write_kick(queue, unread_kicks(channel) < channel->kick_entries);
	pb_unlock(kick_lock);
	ring_doorbell(channel);
	return PB_ERROR_OK;
}

static ALWAYS_INLINE enum pb_error submit(struct pb_queue *queue, const struct pb_descriptor *descriptor,
					  struct pb_submitted *submitted)
{
	struct pb_channel *channel = queue->channel;
	enum pb_error error = pb_channel_check(channel, NULL);
	uint32_t kicks;

	if (error != PB_ERROR_OK)
		return error;
	if (channel->link->locks != NULL)
		return submit_locked(queue, descriptor, submitted);
	kicks = unread_kicks(channel);
	error = append(queue, descriptor, kicks, submitted);
	if (error != PB_ERROR_OK)
		return error;
	write_kick(queue, kicks < channel->kick_entries);
	ring_doorbell(channel);
	return PB_ERROR_OK;
}

/* As submit(), and notes it. The time is read first: the firmware cannot see the descriptor before. */
static __attribute__((__noinline__)) enum pb_error submit_noted(struct pb_queue *queue,
							    const struct pb_descriptor *descriptor)
{
	struct pb_link *link = queue->channel->link;
	const uint64_t time_us = link->ops->now(link);
	struct pb_submitted submitted = {0};
	const enum pb_error error = submit(queue, descriptor, &submitted);

	if (error == PB_ERROR_OK)
		pb_note_submitted(queue, descriptor->fence_id, time_us, &submitted);
	pb_note_seen(queue, submitted.before, submitted.completed); /* the ring may have been full */
	return error;
}

enum pb_error pb_queue_submit(struct pb_queue *queue, const struct pb_descriptor *descriptor)
{
	if (queue->channel->link->trace != NULL)
		return submit_noted(queue, descriptor);
	return submit(queue, descriptor, NULL);
}

/* ---- fences ---- */

enum pb_error pb_try_record(const struct pb_queue *queue, const void *shared, void *record)
{
	const uint32_t *lock = shared;

	for (uint32_t i = 0; i < RECORD_TRIES; i++) {
		uint32_t sequence = pb_shared_read32(lock);

		if (sequence % 2 != 0)
			continue;
		pb_shared_acquire();
		pb_shared_copy_in(record, shared, PB_LINE_BYTES);
		pb_shared_acquire();
		if (pb_shared_read32(lock) == sequence)
			return pb_still_owns(queue->channel);
	}
	return PB_ERROR_TIMEOUT;
}

enum pb_error pb_patiently(struct pb_queue *queue, enum pb_error (*read)(struct pb_queue *queue, void *out),
			   void *out)
{
	struct pb_link *link = queue->channel->link;
	uint64_t deadline = pb_deadline(link, RECORD_PATIENCE_US);
	uint32_t rounds = 0;

	for (;;) {
		enum pb_error error = read(queue, out);

		if (error != PB_ERROR_TIMEOUT)
			return error;
		if (++rounds % RECORD_ROUNDS != 0)
			continue;
		error = pb_alive(queue->channel);
		if (error != PB_ERROR_OK)
			return error;
		error = pb_pause(link, deadline, RECORD_SLICE_US);
		if (error != PB_ERROR_OK)
			return error == PB_ERROR_TIMEOUT ? PB_ERROR_PROTOCOL : error;
	}
}

/* Checks that a consistent record belongs to this attachment and has a valid consumer index. */
static enum pb_error accept_record(struct pb_queue *queue, const struct pb_fence_record *record)
{
	if (record->epoch != queue->channel->epoch)
		return pb_diagnose(queue->channel, PB_ERROR_DETACHED);
	if (!accept_completed(queue, record->completed))
		return pb_diagnose(queue->channel, PB_ERROR_PROTOCOL);
	return PB_ERROR_OK;
}

/* Reads the consumer index. Pre: the caller holds the queue's lock. */
static enum pb_error read_completed(struct pb_queue *queue)
{
	/* A read of one word needs no seqlock. */
	if (!accept_completed(queue, pb_shared_read32(&pb_queue_page(queue)->fence.completed)))
		return pb_diagnose(queue->channel, PB_ERROR_PROTOCOL);
	pb_shared_acquire();
	return pb_still_owns(queue->channel);
}

enum pb_error pb_queue_indices(struct pb_queue *queue, uint32_t *put, uint32_t *completed)
{
	enum pb_error error;
	uint32_t before;

	if (!queue->channel->attached)
		return PB_ERROR_DETACHED;
	error = pb_refresh(queue->channel->link);
	if (error != PB_ERROR_OK)
		return error;
	pb_lock(queue->lock);
	before = queue->completed;
	error = read_completed(queue);
	*put = queue->put;
	*completed = queue->completed;
	pb_unlock(queue->lock);
	pb_note_seen(queue, before, *completed);
	return error;
}

enum pb_error pb_queue_completed(struct pb_queue *queue, uint32_t *completed)
{
	uint32_t put;

	return pb_queue_indices(queue, &put, completed);
}

/* Reads a 64-bit counter of two words by the rule of PB_PATCHES_CARRY, in three reads whatever the firmware does. */
static uint64_t read_patches(const struct pb_channel_entry *entry)
{
	const uint32_t before = pb_shared_read32(&entry->patches_high);
	uint32_t low, high;

	pb_shared_acquire();
	low = pb_shared_read32(&entry->patches_low);
	pb_shared_acquire();
	high = pb_shared_read32(&entry->patches_high);
	if (high != before || (high & PB_PATCHES_CARRY) != 0)
		low = 0;
	return (uint64_t)(high & ~PB_PATCHES_CARRY) << 32 | low;
}

enum pb_error pb_queue_read_fence(struct pb_queue *queue, struct pb_fence *fence)
{
	struct pb_fence_record record;
	enum pb_error error = pb_try_record(queue, &pb_queue_page(queue)->fence, &record);

	if (error == PB_ERROR_OK)
		error = accept_record(queue, &record);
	if (error != PB_ERROR_OK)
		return error;
	*fence = (struct pb_fence){
		.completed = record.completed,
		.timeline = (uint64_t)record.timeline_high << 32 | record.timeline_low,
		.fence_id = record.fence_id,
		.status = record.status,
		.valid = record.valid != 0,
		.patches = read_patches(queue->channel->entry),
		.error = record.error,
		.error_fence_id = record.error_fence_id,
		.error_index = record.error_index,
		.errors = record.errors,
	};
	return PB_ERROR_OK;
}

enum pb_error pb_queue_fence_now(struct pb_queue *queue, struct pb_fence *fence)
{
	enum pb_error error;
	uint32_t before, after;

	if (!queue->channel->attached)
		return PB_ERROR_DETACHED;
	error = pb_refresh(queue->channel->link);
	if (error != PB_ERROR_OK)
		return error;
	pb_lock(queue->lock);
	before = queue->completed;
	error = pb_queue_read_fence(queue, fence);
	after = queue->completed;
	pb_unlock(queue->lock);
	pb_note_seen(queue, before, after);
	return error;
}

static enum pb_error fence_now(struct pb_queue *queue, void *out)
{
	return pb_queue_fence_now(queue, out);
}

enum pb_error pb_queue_fence(struct pb_queue *queue, struct pb_fence *fence)
{
	return pb_patiently(queue, fence_now, fence);
}

enum pb_error pb_queue_wait(struct pb_queue *queue, uint64_t timeline, uint64_t timeout_us,
			    struct pb_fence *fence)
{
	uint64_t deadline = pb_deadline(queue->channel->link, timeout_us);
	struct pb_fence now;

	for (;;) {
		enum pb_error error = pb_queue_fence(queue, &now);

		if (error != PB_ERROR_OK)
			return error;
		if (fence != NULL)
			*fence = now;
		if (now.timeline >= timeline)
			return PB_ERROR_OK;
		error = pb_alive(queue->channel);
		if (error == PB_ERROR_OK)
			error = pb_pause(queue->channel->link, deadline, PB_WAIT_SLICE_US);
		if (error != PB_ERROR_OK)
			return error;
	}
}
