/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Contexts, queues, submissions and fences.
 */
#ifndef PB_HOST_QUEUE_H
#define PB_HOST_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/patch.h"
#include "patchbay/abi/submission.h"
#include "patchbay/segment.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- contexts ---- */

/**
 * Creates a context. Blocks for at most PB_COMMAND_TIMEOUT_US.
 * Threads: commands; waits.
 * @param context out: its handle
 */
enum pb_error pb_context_create(struct pb_channel *channel, uint32_t *context);
/**
 * Destroys a context. Blocks for at most PB_COMMAND_TIMEOUT_US.
 * Threads: commands; waits.
 * @retval PB_ERROR_BUSY an admitted submission names the context
 */
enum pb_error pb_context_destroy(struct pb_channel *channel, uint32_t context);
/**
 * Clears the lost state of a context: its submissions run again instead of being cancelled. Blocks for at most
 * PB_COMMAND_TIMEOUT_US.
 * Threads: commands; waits.
 */
enum pb_error pb_context_clear(struct pb_channel *channel, uint32_t context);

/* ---- queues ---- */

/** Result of a preemption or of a reset of one queue. */
struct pb_preempt {
	uint32_t count;         /**< preemptions of the queue reported so far; 0 for a reset */
	uint32_t preemption_id; /**< id that the host gave the request; 0 for a reset */
	/** SubmissionFenceId of the last submission completed; of a reset, of the last submission aborted, if any. */
	uint32_t fence_id;
	bool valid; /**< false: fence_id has no meaning, no submission has completed */
	/** Consumer index behind the last submission completed or returned, modulo 2^32. */
	uint32_t completed;
	uint32_t returned; /**< submissions returned to the host: the last ones before `completed` */
	/**
	 * The first returned one had begun, and may have changed memory; PB_OPTION_RESUME continues where it stopped. Of a
	 * reset: the engine had stopped inside it before, at the end of its queue's timeslice or for a suspension.
	 */
	bool started;
};

/** State of a queue's preemption request. Only the library writes it. */
struct pb_stop {
	bool pending;           /**< a preemption was begun, and has not been finished */
	bool replied;           /**< its reply was read: only the fence record is awaited */
	uint32_t tag;           /**< tag of its command */
	uint32_t id;            /**< preemption id given by the host */
	uint32_t cutoff;        /**< the queue's put index when the request was made */
	uint32_t earliest;      /**< consumer index at the request: earlier submissions cannot be returned */
	struct pb_preempt last; /**< result of the last preemption reported; all 0: none */
};

/** A host's side of one queue. The caller owns the memory and keeps it in place; only the library writes it. */
struct pb_queue {
	struct pb_channel *channel;    /**< owner of the queue */
	struct pb_memory memory;       /**< queue page, then the ring */
	uint32_t handle;               /**< PB_HANDLE */
	uint32_t node;                 /**< node that the queue runs on */
	uint32_t entries;              /**< descriptors that the ring holds */
	uint32_t put;                  /**< descriptors written, modulo 2^32 */
	uint32_t completed;            /**< consumer index as last read from the card, modulo 2^32 */
	uint64_t timeline;             /**< value of the last submission that was not returned */
	struct pb_descriptor *history; /**< as in the request; NULL: no history */
	struct pb_stop stop;           /**< preemption request */
	uint32_t returns;     /**< reports of submissions returned, modulo 2^32; one may count twice */
	struct pb_lock *lock; /**< as in the request: of `put` to `returns` */
};

/** Parameters of pb_queue_create_with(). */
struct pb_queue_request {
	uint32_t node;       /**< node to run on, from 0 */
	uint32_t entries;    /**< of the ring: power of two, PB_CAPABILITY_RING_ENTRIES_MIN to _MAX */
	uint32_t priority;   /**< enum pb_priority */
	uint32_t quantum_us; /**< engine time of one timeslice, in microseconds; 0: the card's default */
	/**
	 * NULL, or room for `entries` descriptors in private memory. The caller owns the array and keeps it until the
	 * queue is destroyed. pb_queue_unfinished() needs it.
	 */
	struct pb_descriptor *history;
	/** Short lock of the queue (patchbay/lock.h), which must exist as long as the queue. NULL: one thread uses it. */
	struct pb_lock *lock;
};

/**
 * Creates a queue: allocates its page and ring, and has the firmware poll them. Blocks for at most
 * PB_COMMAND_TIMEOUT_US.
 * Threads: alone, commands, mutex; waits.
 * @param queue out; must stay in place until pb_queue_destroy() or the detach
 * @param channel attached
 * @param system segment 0 of the channel, with room for the queue page and the ring
 * @param request copied
 * @retval PB_ERROR_BAD_ARGUMENT entries are out of range, or `system` is not segment 0 of the channel
 * @retval PB_ERROR_NO_PERMISSION the priority is above the channel's cap
 * @retval PB_ERROR_NO_SPACE the segment, or the firmware's queue table, is full
 * @retval PB_ERROR_ENGINE_DEAD the node's engine does not answer any more, or did not at boot
 */
enum pb_error pb_queue_create_with(struct pb_queue *queue, struct pb_channel *channel,
				   struct pb_segment *system, const struct pb_queue_request *request);
/**
 * Creates a queue as pb_queue_create_with() does, at priority NORMAL, with the default timeslice and no history.
 * Threads: alone, commands, mutex; waits.
 */
enum pb_error pb_queue_create(struct pb_queue *queue, struct pb_channel *channel, struct pb_segment *system,
			      uint32_t node, uint32_t entries);
/**
 * Destroys a queue. Returns when the queue's last submission has left its node, and frees the queue's memory. Blocks
 * for at most PB_COMMAND_TIMEOUT_US; after an error the memory stays allocated.
 * Threads: alone, commands, mutex; waits.
 */
enum pb_error pb_queue_destroy(struct pb_queue *queue);

/* ---- submissions ---- */

/**
 * Fills in one wait: the submission that names it runs when `queue` has reached a timeline value. That value need not
 * have been submitted yet. Waiting and awaited queue must belong to one channel. The submission's wait_address and
 * wait_count name an array of up to PB_WAITS_MAX waits in memory of segment 0, which must stay unchanged until the
 * submission has completed.
 * Threads: none; interrupt.
 * @param wait out: card memory or plain memory
 */
void pb_wait_on(struct pb_wait *wait, const struct pb_queue *queue, uint64_t timeline);
/**
 * Writes one descriptor to the queue's ring, then a kick, then rings the doorbell. Never blocks.
 * Threads: kicks, queue; interrupt.
 * @param descriptor copied. timeline_low and timeline_high both 0: the value after that of the last submission.
 * @retval PB_ERROR_NO_SPACE the ring is full: wait for a fence first
 */
enum pb_error pb_queue_submit(struct pb_queue *queue, const struct pb_descriptor *descriptor);

/* ---- fences ---- */

/** A consistent copy of a queue's fence record. */
struct pb_fence {
	uint32_t completed; /**< submissions completed or returned since the queue was created, modulo 2^32 */
	uint64_t timeline;  /**< value of the last submission completed */
	uint32_t fence_id;  /**< SubmissionFenceId of the last submission completed */
	uint32_t status;    /**< enum pb_error of the last submission completed */
	bool valid;         /**< a submission has completed */
	uint64_t patches;   /**< patches in completed submissions of the whole channel since it attached */
	uint32_t error;     /**< enum pb_error: first error since creation or pb_queue_clear() */
	uint32_t error_fence_id; /**< SubmissionFenceId of the submission with that error */
	uint32_t error_index;    /**< list entry with that error, or PB_INDEX_NONE */
	uint32_t errors;         /**< submissions that failed or were cancelled, modulo 2^32 */
};

/**
 * Reads the consumer index only. Never blocks. Memory written by the completed
 * submissions, and events that they raised, are visible afterwards.
 * Threads: queue; interrupt.
 * @param completed out: submissions completed or returned, modulo 2^32
 */
enum pb_error pb_queue_completed(struct pb_queue *queue, uint32_t *completed);
/**
 * Reads the fence record, as an interrupt routine does. Never blocks.
 * Threads: queue; interrupt.
 * @param fence out
 * @retval PB_ERROR_TIMEOUT the firmware is writing the record: call again, at the latest at the next interrupt
 */
enum pb_error pb_queue_fence_now(struct pb_queue *queue, struct pb_fence *fence);
/**
 * Reads the fence record. May wait some microseconds for a write in progress; a record that stays half written for
 * 100 ms is PB_ERROR_PROTOCOL.
 * Threads: queue; waits.
 * @param fence out
 */
enum pb_error pb_queue_fence(struct pb_queue *queue, struct pb_fence *fence);
/**
 * Waits until the queue's timeline has reached a value. Blocks.
 * Threads: queue; waits.
 * @param timeline value to wait for
 * @param timeout_us in microseconds
 * @param fence NULL, or out: the last record read
 * @retval PB_ERROR_TIMEOUT the value was not reached in time
 */
enum pb_error pb_queue_wait(struct pb_queue *queue, uint64_t timeline, uint64_t timeout_us,
			    struct pb_fence *fence);
/**
 * Asks for other time limits than the node's for the queue's submissions, from now on. The firmware brings each within
 * what the admin allows the channel (PB_RESOURCE_HANG_MICROSECONDS, PB_RESOURCE_STOP_MICROSECONDS). Never blocks.
 * Threads: none; interrupt.
 * @param hang_us microseconds without progress after which a submission counts as hung; 0: the node's limit
 * @param stop_us microseconds that a stop may take, whatever progress the submission makes; 0: the node's limits
 */
void pb_queue_set_limits(struct pb_queue *queue, uint32_t hang_us, uint32_t stop_us);
/**
 * Acknowledges the fence record's first error. Blocks for at most PB_COMMAND_TIMEOUT_US.
 * Threads: commands; waits.
 */
enum pb_error pb_queue_clear(struct pb_queue *queue);

#ifdef __cplusplus
}
#endif

#endif
