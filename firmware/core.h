/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the firmware's files offer each other. One file a step of the way of a
 * submission: doorbell, schedule, admit, resolve, patch, feed, retire.
 */
#ifndef PB_FIRMWARE_CORE_H
#define PB_FIRMWARE_CORE_H

#include "firmware/assert.h"
#include "firmware/state.h"
#include "firmware/telemetry.h"
#include "firmware/trace.h"
#include "hal/shared.h"

/**
 * Keeps a value in a register: else GCC works a pointer out again, from an
 * array's base and an index, at each of its uses, or reads a value again.
 */
#define PB_CORE_KEEP(value) __asm__("" : "+r"(value))

/* ---- boot.c ---- */

/** Fills the boot block but for the stage. */
void pb_core_boot_publish(struct pb_firmware *firmware);
/** Moves on towards RUNNING. Called in each pass until then. */
void pb_core_boot_continue(struct pb_firmware *firmware);

/** Says which step the main loop is in. */
static inline void pb_core_waypoint(struct pb_firmware *firmware, enum pb_waypoint waypoint)
{
	pb_shared_write32(&firmware->boot->waypoint, waypoint);
}

/** Raises a channel's host interrupt. What was stored before is visible to the host. */
static inline void pb_core_interrupt(const struct pb_firmware *firmware, uint32_t channel)
{
	const struct pb_lines *lines = firmware->lines;

	pb_shared_release();
	lines->ops->raise(lines->context, PB_LINE_CHANNEL(channel));
}

/** The same for completions that were held back. */
static inline void pb_core_report(struct pb_firmware *firmware, uint32_t channel)
{
	firmware->moderated &= ~(1u << channel);
	firmware->channels[channel].unreported = 0;
	pb_core_interrupt(firmware, channel);
	PB_CORE_TRACE(firmware, INTERRUPT, PB_TRACE_NONE, channel, 0);
}

/* ---- channel.c: attach and close ---- */

/** Wires the directory entries; every channel is closed. */
void pb_core_channel_init(struct pb_firmware *firmware);
/** Answers an attach or detach request. */
void pb_core_channel_request(struct pb_firmware *firmware, uint32_t channel, uint32_t request);
/** Starts to close a channel: no more of its work is read. It ends some passes later, in pb_core_channel_step. */
void pb_core_channel_close(struct pb_firmware *firmware, uint32_t channel);
/** What a channel has that nobody granted anything. */
void pb_core_channel_revoke(struct pb_core_channel *channel);
/** None of a closing channel's work is left: what it had may be freed. */
void pb_core_channel_drained(struct pb_firmware *firmware, uint32_t channel);
/** The host that asked for something is gone: what it asked must not open the channel behind its close. */
void pb_core_channel_forget(struct pb_core_channel *channel);
/** Closes a slice of a closing channel's queues, or frees a slice of what it had. */
void pb_core_channel_step(struct pb_firmware *firmware, uint32_t channel);
/** Stops serving a channel whose ring index broke its rule. */
void pb_core_channel_fault(struct pb_firmware *firmware, uint32_t channel);

/* ---- doorbell.c: what a host asked for ---- */

/** Looks at everything that the channel's host may have written. @return true: look again in the next pass */
bool pb_core_doorbell(struct pb_firmware *firmware, uint32_t channel);
/** Whether a doorbell would find anything, without doing it. */
bool pb_core_doorbell_waiting(struct pb_firmware *firmware, uint32_t channel);

/* ---- control.c ---- */

/**
 * Carries out the channel's oldest command, given its put; that is a slice of its own.
 * @return true: look again in the next pass; false: nothing was done, and the host will ring when something can be
 */
bool pb_core_control(struct pb_firmware *firmware, uint32_t channel, uint32_t put);
/** Whether one more reply fits beside those owed, as far as the host has shown. */
/*@
  requires \valid_read(channel);
  requires (uint32_t)(channel->reply_put - channel->reply_get) <= PB_LIMIT_CONTROL_ENTRIES;
  requires channel->replies_owed <= PB_LIMIT_QUEUES;
  assigns \nothing;
  ensures \result <==>
    (uint32_t)(channel->reply_put - channel->reply_get) + channel->replies_owed + 1 <= PB_LIMIT_CONTROL_ENTRIES;
*/
static inline bool pb_core_control_room(const struct pb_core_channel *channel)
{
	return channel->reply_put - channel->reply_get + channel->replies_owed < PB_LIMIT_CONTROL_ENTRIES;
}
struct pb_core_outcome;
/** Sends a reply that was owed. @param outcome its first results, or NULL: all are 0 */
void pb_core_control_reply(struct pb_firmware *firmware, uint32_t channel, uint32_t code, uint32_t tag,
			   enum pb_error error, const struct pb_core_outcome *outcome);

/* ---- memory.c, segment.c, aperture.c, format.c, context.c ---- */

enum pb_core_search {
	PB_CORE_SEARCH_MORE = 0,
	PB_CORE_SEARCH_FOUND = 1,
	PB_CORE_SEARCH_NONE = 2,
};

/**
 * Looks for a free piece of the pool, a slice at a time.
 * @param start where to go on; at first the start of the pool. FOUND: where the piece is
 */
enum pb_core_search pb_core_memory_search(const struct pb_firmware *firmware, uint32_t *start,
					  uint32_t bytes);
/** Takes what the search has just found. */
void pb_core_memory_take(struct pb_firmware *firmware, uint32_t place, uint32_t offset, uint32_t bytes);
/** Gives back what a place has of the pool, if anything. */
void pb_core_memory_give(struct pb_firmware *firmware, uint32_t place);
/** @return the place that has this byte of card memory, or 0 */
uint32_t pb_core_memory_owner(const struct pb_firmware *firmware, uint32_t offset);

/** Whether an id is that of the segment that the channel has in the making. */
static inline bool pb_core_segment_being_made(const struct pb_core_channel *channel, uint32_t id)
{
	return channel->make.step != PB_CORE_MAKE_NONE && channel->make.id == id;
}
/** Starts to make a segment, unless another of the channel is being made. @return OK: the reply comes from pb_core_segment_step */
enum pb_error pb_core_segment_create(struct pb_firmware *firmware, uint32_t channel, uint32_t tag,
				     const uint32_t *arguments);
/** The engines know of no segment any more, whatever an earlier incarnation has told them. */
void pb_core_segment_init(struct pb_firmware *firmware);
/** Moves the channel's segment on by one slice. */
void pb_core_segment_step(struct pb_firmware *firmware, uint32_t channel);
/** Ends the making of a segment; nothing of it is left. */
void pb_core_segment_abandon(struct pb_firmware *firmware, uint32_t channel);
enum pb_error pb_core_segment_destroy(struct pb_firmware *firmware, uint32_t channel, uint32_t segment);
/** Removes a segment that nothing uses. */
void pb_core_segment_free(struct pb_firmware *firmware, uint32_t channel, uint32_t segment);
/**
 * Where a piece of backed memory lies.
 * @return its offset in card memory, or 0 (which is never in the pool) if any byte of it is not backed
 */
/*@
  requires \valid_read(segment) && pb_core_is_segment(segment);
  requires segment->memory_offset + segment->memory_bytes <= UINT32_MAX;
  assigns \nothing;
  ensures backed: \result != 0 ==> segment->os_base <= os_address &&
    os_address + bytes <= segment->os_base + segment->memory_bytes &&
    \result == segment->memory_offset + (os_address - segment->os_base);
  ensures not_backed: \result == 0 && segment->memory_offset != 0 ==> os_address < segment->os_base ||
    os_address + bytes > segment->os_base + segment->memory_bytes;
*/
uint32_t pb_core_segment_memory(const struct pb_core_segment *segment, uint64_t os_address, uint64_t bytes);

/** Sets one of a channel's own patch formats. @param reason set to enum pb_format_reason */
enum pb_error pb_core_format_set(struct pb_firmware *firmware, uint32_t channel, const uint32_t *arguments,
				 uint32_t *reason);
/** A channel has no formats of its own any more. */
void pb_core_format_forget(struct pb_firmware *firmware, uint32_t channel);
/** Clears a slice of an aperture's page table from page `at` on. @return the first page that is left */
uint32_t pb_core_aperture_clear(const struct pb_firmware *firmware, const struct pb_core_segment *aperture,
				uint32_t at);
/**
 * Where a word of an aperture lies in card memory just now.
 * @param offset from the aperture's start, a multiple of 4, inside it
 * @return NULL: its page is not mapped, or not to backed memory of the channel's linear segments
 */
uint32_t *pb_core_aperture_word(struct pb_firmware *firmware, const struct pb_core_channel *channel,
				const struct pb_core_segment *aperture, uint32_t offset);

enum pb_error pb_core_context_create(struct pb_firmware *firmware, uint32_t channel, uint32_t *handle);
/** The context that a handle names, or NULL. Inline, as is pb_core_queue_find: each submission comes by. */
static inline uint32_t *pb_core_context_find(struct pb_firmware *firmware, uint32_t channel, uint32_t handle)
{
	uint32_t *context = &firmware->contexts[PB_HANDLE_INDEX(handle) % PB_LIMIT_CONTEXTS];

	if (PB_HANDLE_INDEX(handle) >= PB_LIMIT_CONTEXTS ||
	    (*context & ~PB_CORE_CONTEXT_LOST) !=
		    (PB_CORE_CONTEXT(PB_HANDLE_GENERATION(handle), channel) | PB_CORE_CONTEXT_USED))
		return NULL;
	return context;
}
/** Whether work is of a context that is lost. */
static inline bool pb_core_context_is_lost(const struct pb_firmware *firmware,
					   const struct pb_core_work *work)
{
	return work->context < PB_LIMIT_CONTEXTS &&
	       (firmware->contexts[work->context] & PB_CORE_CONTEXT_LOST) != 0;
}
/** Whether a context is there, and this channel's. */
bool pb_core_context_is_of(uint32_t context, uint32_t channel);
enum pb_error pb_core_context_destroy(struct pb_firmware *firmware, uint32_t channel, uint32_t handle);

/* ---- queue.c ---- */

/** Takes the board's memory for queues; all of them are free. */
void pb_core_queue_init(struct pb_firmware *firmware);
enum pb_error pb_core_queue_create(struct pb_firmware *firmware, uint32_t channel, const uint32_t *arguments,
				   uint32_t *handle);
/** The queue of this channel that a handle names and that is not closing, or NULL. */
static inline struct pb_core_queue *pb_core_queue_find(struct pb_firmware *firmware, uint32_t channel,
						       uint32_t handle)
{
	struct pb_core_queue *queue = &firmware->queues[PB_HANDLE_INDEX(handle)];

	if (PB_HANDLE_INDEX(handle) >= firmware->queue_count || queue->channel != channel ||
	    queue->generation != PB_HANDLE_GENERATION(handle) ||
	    (pb_core_queue_state(queue) - PB_CORE_QUEUE_OPEN) > PB_CORE_QUEUE_FAULTED - PB_CORE_QUEUE_OPEN)
		return NULL;
	return queue;
}
/** Takes no more of its work; frees it at once if none is left. */
void pb_core_queue_close(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** Frees a closing queue whose last work is gone, and sends the reply owed, unless others still wait for it. */
void pb_core_queue_drained(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** After a stop or a suspension: what it has is admitted again. */
void pb_core_queue_go_on(struct pb_firmware *firmware, struct pb_core_queue *queue);
bool pb_core_queue_is_there(const struct pb_core_queue *queue);
/** Its put index broke its rule. */
void pb_core_queue_put_fault(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** Its turn, for which it waited, begins. It is in no list. */
static inline void pb_core_schedule_begin_turn(struct pb_core_node *node, struct pb_core_queue *queue)
{
	node->current = queue;
	node->used = 0;
	pb_core_queue_set_place(queue, PB_CORE_PLACE_CURRENT);
}
/** It waits for its turn, behind the others of its flow. It is in no list. */
void pb_core_schedule_append(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** A queue that is in no list has work: its turn begins, if nobody has work or waits, or is kept from that. */
static inline void pb_core_schedule_add(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	struct pb_core_node *node = &firmware->nodes[queue->node];
	struct pb_core_queue *current;

	PB_CORE_KEEP(node);
	current = node->current;
	firmware->awake |= node->bit;
	if ((node->levels | node->held) != 0) {
		pb_core_schedule_append(firmware, queue);
		return;
	}
	if (current != NULL) {
		if (pb_core_queue_has_more(current)) {
			pb_core_schedule_append(firmware, queue);
			return;
		}
		pb_core_queue_set_place(current, PB_CORE_PLACE_NONE);
	}
	pb_core_schedule_begin_turn(node, queue);
}
/** As pb_core_queue_look does (firmware/queue_look.h), small rather than quick. */
bool pb_core_queue_look_again(struct pb_firmware *firmware, struct pb_core_queue *queue);
uint32_t pb_core_queue_handle(const struct pb_firmware *firmware, const struct pb_core_queue *queue);
static inline uint16_t pb_core_queue_index(const struct pb_firmware *firmware,
					   const struct pb_core_queue *queue)
{
	return (uint16_t)(queue - firmware->queues);
}

/* ---- record.c, event.c: what hosts read ---- */

/** Publishes that all before the cutoff were given back. */
void pb_core_record_returned(struct pb_core_queue *queue, uint32_t cutoff);
/** The fence id of the last one completed. @param valid set to 1 if there is one */
uint32_t pb_core_record_last(const struct pb_core_queue *queue, uint32_t *valid);

/** What a PREEMPT, SUSPEND or RESET came to, as the results of its reply. */
struct pb_core_outcome {
	uint32_t words[5];
};
void pb_core_record_preempted(struct pb_core_queue *queue, const struct pb_core_stop *stop,
			      const struct pb_core_outcome *outcome);
/** Publishes a queue's first error since it was cleared; later ones only count. */
void pb_core_record_error(struct pb_core_queue *queue, uint32_t error, uint32_t fence_id, uint32_t index);
void pb_core_record_clear(struct pb_core_queue *queue);
void pb_core_record_init(struct pb_core_queue *queue, uint32_t epoch);

/** Writes an event, or counts it as dropped. Fills in epoch and number. */
void pb_core_event(struct pb_firmware *firmware, uint32_t channel, const struct pb_event *event);

/* ---- crash.c ---- */

/** Whose records those of a crash are; there is a boot block from here on. */
void pb_core_crash_of(const struct pb_firmware *firmware);
/** Notes what a crash record is to tell. Not where submissions pass: it takes about 15 instructions. */
void pb_core_note(struct pb_firmware *firmware, enum pb_crash_note_kind kind, uint32_t subject,
		  uint32_t value);

/* ---- schedule.c, admit.c, resolve.c, patch.c, feed.c, retire.c: the way of a submission ---- */

/** Work of a queue was withdrawn: it is the first of its flow, or the last if its turn is over. Not if it is in a list. */
void pb_core_schedule_return(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** It has no turn, nor waits for one. */
void pb_core_schedule_remove(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** Works out which channels are held on a node, after `halted`, `closing` or `suspended` has changed. */
void pb_core_schedule_hold(struct pb_firmware *firmware, struct pb_core_node *node);
/** The queue whose turn it is. @return NULL: none has work */
struct pb_core_queue *pb_core_schedule_take(struct pb_firmware *firmware, struct pb_core_node *node);
/** Whether a queue's turn is over, when it has used so many microseconds: others of its level wait. */
bool pb_core_schedule_turn_over(const struct pb_core_node *node, const struct pb_core_queue *queue,
				uint32_t used);
/** Work has used time of its node, maybe while others waited. */
void pb_core_schedule_charge(struct pb_core_node *node, const struct pb_core_work *work,
			     uint32_t microseconds);

/**
 * Reads and checks the queue's next descriptor: then the node has prepared it or a job that does, or the queue waits
 * for another. @param error OK, or what became of its waits: it is to fail with that
 * @return false: it takes a job, and none is free; the node is woken when one is
 */
bool pb_core_admit(struct pb_firmware *firmware, struct pb_core_node *node, struct pb_core_queue *queue,
		   enum pb_error error);
/** The node's job, if it has one, is free again; so is the node's next work then. */
void pb_core_job_release(struct pb_firmware *firmware, struct pb_core_node *node);
/** The node has no next work any more. */
void pb_core_next_clear(struct pb_firmware *firmware, struct pb_core_node *node);
/** Resolves slices of the job's allocation list. */
void pb_core_resolve(struct pb_firmware *firmware, struct pb_core_job *job);
/** Finds out whether the buffer of a job with a cookie is patched like this already. */
void pb_core_compare(struct pb_firmware *firmware, struct pb_core_job *job);
/** Before a job writes to its range: what stands there is not what any cookie says. */
void pb_core_compare_forget(struct pb_firmware *firmware, const struct pb_core_job *job);
/** Notes that the job's buffer is patched as its cookie says. */
void pb_core_compare_remember(struct pb_firmware *firmware, const struct pb_core_job *job);
/** Carries out slices of the job's patch list. */
void pb_core_patch(struct pb_firmware *firmware, struct pb_core_job *job);
/** Work will not be executed, its fence is. @param index list entry that is wrong, or PB_INDEX_NONE */
static inline void pb_core_work_fail(struct pb_core_work *work, enum pb_error error, uint32_t index,
				     uint32_t detail)
{
	work->status = error;
	work->index = index;
	work->detail = detail;
	work->engine.bytes = 0;
}
/** Ends a job's preparation with an error: it will be fed empty, and its context is lost. */
void pb_core_job_fail(struct pb_firmware *firmware, struct pb_core_job *job, enum pb_error error,
		      uint32_t index);
/** From here on the context's work is cancelled, until its host clears it. */
void pb_core_context_lose(struct pb_firmware *firmware, const struct pb_core_work *work);
/** A bad paging buffer: from here on nothing of its channel is admitted on the node, until RESET. */
void pb_core_halt(struct pb_firmware *firmware, struct pb_core_node *node, const struct pb_core_work *work);
/** Work of a closing queue is gone: if it was the last, the queue, and a closing channel, go on with that. */
void pb_core_drained(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** Tells the host of a halt, if that is what this work led to. */
void pb_core_halt_report(struct pb_firmware *firmware, const struct pb_core_work *work);
/** Its context may have been lost since it was admitted: by earlier work, or on another node. */
static inline void pb_core_cancel_if_lost(const struct pb_firmware *firmware, struct pb_core_work *work)
{
	if (work->status == PB_ERROR_OK && pb_core_context_is_lost(firmware, work))
		pb_core_work_fail(work, PB_ERROR_CONTEXT_LOST, PB_INDEX_NONE, 0);
}
/** Hands what is prepared to the engine, or has it stop first. The node is RUNNING and has room. */
void pb_core_feed(struct pb_firmware *firmware, struct pb_core_node *node);
/** Has the engine stop if what is in flight is less urgent than what is prepared. The node is RUNNING. */
void pb_core_feed_urgent(struct pb_firmware *firmware, struct pb_core_node *node);
/** Gives the engine one work of the node's. */
void pb_core_feed_again(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t sequence);
/** Completes what the node's engine has finished; deals with its faults and answers. */
void pb_core_retire(struct pb_firmware *firmware, struct pb_core_node *node);
/** The first work in the engine's ring has used its time, up to what its clock says. */
void pb_core_charge(struct pb_firmware *firmware, struct pb_core_node *node, const struct pb_core_work *head,
		    uint32_t time);
/** Completes all up to a sequence number. */
void pb_core_retire_to(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t sequence);
/** Work whose patches were carried out is complete, or given back. */
void pb_core_count_patches(struct pb_firmware *firmware, const struct pb_core_work *work);
/** Drops what is prepared, if its queue or channel is closing. */
void pb_core_job_drop(struct pb_firmware *firmware, struct pb_core_node *node);

/** A work in flight, or with the number behind the last, the next one. */
static inline struct pb_core_work *pb_core_work_at(struct pb_core_node *node, uint32_t sequence)
{
	return &node->works[sequence % PB_CORE_WORKS];
}

static inline bool pb_core_has_next(const struct pb_core_node *node)
{
	return node->next == PB_CORE_NEXT_JOB || node->next == PB_CORE_NEXT_PREPARED;
}

/* ---- wait.c ---- */

/** Whether a submission's waits let it go. @param parked set to whether its queue waits now; then the result is OK */
enum pb_error pb_core_wait(struct pb_firmware *firmware, struct pb_core_queue *queue,
			   const struct pb_descriptor *descriptor, uint32_t count, bool *parked);
/** It does not wait any longer, if it did. */
void pb_core_wait_leave(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** A queue got on, or will not: those that wait for it are to be looked at. */
void pb_core_wait_wake(struct pb_firmware *firmware, struct pb_core_queue *target);
/** Looks at some of those. */
void pb_core_wait_step(struct pb_firmware *firmware);

enum pb_core_walk {
	PB_CORE_WALK_MORE = 0,
	PB_CORE_WALK_FREE = 1,  /**< no cycle */
	PB_CORE_WALK_CYCLE = 2, /**< the queue does not wait any longer: its submission is to fail */
};
/** Follows some of the chain of waits that the node's walker has begun. */
enum pb_core_walk pb_core_wait_walk(struct pb_firmware *firmware, struct pb_core_node *node);

/* ---- node.c, withdraw.c: what an engine is asked ---- */

/** Nothing is known of its engine but that it is being reset. */
void pb_core_node_init(struct pb_core_node *node, const struct pb_engine *engine);

/** The first work in flight is to blame, if any is and has not failed: it fails, and its context's goes with it. */
void pb_core_node_blame(struct pb_firmware *firmware, struct pb_core_node *node, enum pb_error error,
			uint32_t detail);
/** Has the engine stop, so that work can be withdrawn. @param inside it may be inside a buffer */
void pb_core_node_withdraw(struct pb_firmware *firmware, struct pb_core_node *node,
			   enum pb_core_stop_reason reason, bool inside);
void pb_core_node_reset(struct pb_firmware *firmware, struct pb_core_node *node);
/** The engine has answered what it was asked; `state` is what it says. */
void pb_core_node_answered(struct pb_firmware *firmware, struct pb_core_node *node,
			   enum pb_engine_state state);
/** The engine faulted, or with READY: reported nonsense. */
void pb_core_node_fault(struct pb_firmware *firmware, struct pb_core_node *node, enum pb_engine_state state);
/** The tick: what is complete, hangs, answers that do not come, turns that are over. */
void pb_core_node_check(struct pb_firmware *firmware, struct pb_core_node *node);
/** Fails the next work of a dead node. @return false: there is none */
bool pb_core_node_fail_next(struct pb_firmware *firmware, struct pb_core_node *node);
/** Takes back what is to be, and feeds the rest again. The engine's ring is empty. */
void pb_core_withdraw(struct pb_firmware *firmware, struct pb_core_node *node);
/** The first work of the queue that is in flight. @return its place from the ring's head, from 1 on, or 0 */
uint32_t pb_core_first_in_flight(struct pb_core_node *node, const struct pb_core_queue *queue);
/** Whether the next work of a node, prepared or not yet, is this queue's. */
bool pb_core_next_is(struct pb_core_node *node, const struct pb_core_queue *queue);
/** Takes back a node's next work, which has not failed: its queue's ring has it. */
void pb_core_drop_next(struct pb_firmware *firmware, struct pb_core_node *node);

/* ---- stop.c: PREEMPT, SUSPEND and RESET of a queue ---- */

/**
 * Whether a channel may have one more under way. One is kept for each channel that has none: who holds many keeps
 * nobody else from the first.
 */
bool pb_core_stop_has_room(const struct pb_firmware *firmware, uint32_t channel);
/** Whether one may begin beside what is under way: a reset beside a preemption, which it forces. */
bool pb_core_stop_may_begin(struct pb_firmware *firmware, const struct pb_core_queue *queue,
			    const struct pb_core_stop *asked);
/** Begins one; there is room. @return true: it is done, and `outcome` is what it came to; false: the reply is owed */
bool pb_core_stop_begin(struct pb_firmware *firmware, const struct pb_core_stop *asked, uint32_t flags,
			struct pb_core_outcome *outcome);
/** Work of a queue with PB_CORE_QUEUE_STOPPING is gone: perhaps it was the last. */
void pb_core_stop_progress(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** The same for all queues of a node. */
void pb_core_stop_settle(struct pb_firmware *firmware, const struct pb_core_node *node);
/** Ends a suspension. @return BUSY while one of them is under way */
enum pb_error pb_core_stop_resume(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** The queue closes: who asked for a stop of it hears CANCELLED, if he is still there. */
void pb_core_stop_abandon(struct pb_firmware *firmware, struct pb_core_queue *queue);

/* ---- power.c ---- */

/** Begins to suspend the card. The admin's reply is owed. */
void pb_core_card_suspend(struct pb_firmware *firmware, uint32_t tag, uint32_t flags);
/** While that reply is owed: perhaps the last work is gone, and queues are told so, a slice in each pass. @return true: there is more to do now */
bool pb_core_card_progress(struct pb_firmware *firmware);
enum pb_error pb_core_card_resume(struct pb_firmware *firmware);

/* ---- query.c ---- */

enum pb_error pb_core_query(struct pb_firmware *firmware, uint32_t channel, const uint32_t *arguments,
			    uint32_t *results);

#endif
