/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Queries: what the firmware reports of queues, nodes, contexts and channels;
 * and settings of nodes and channels. Each function sends one control command
 * and blocks for at most PB_COMMAND_TIMEOUT_US.
 */
#ifndef PB_HOST_QUERY_H
#define PB_HOST_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/queue.h"
#include "patchbay/stop.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A queue as the firmware reports it. */
struct pb_queue_state {
	uint32_t why;             /**< enum pb_why: why no submission of the queue runs, or RUNNING */
	uint32_t waits_for_queue; /**< handle of the awaited queue; only with why WAITING */
	uint64_t waits_for_value; /**< timeline value awaited; only with why WAITING */
	uint32_t put;             /**< submissions seen by the firmware since creation, modulo 2^32 */
	uint32_t admitted;        /**< submissions read and checked, modulo 2^32 */
	uint32_t completed;       /**< submissions completed or returned, modulo 2^32 */
	uint64_t timeline;        /**< value reached */
	bool failed;              /**< the fence record holds an error that was not acknowledged */
	bool suspended;           /**< suspended by its host, or with the whole card */
	uint32_t node;            /**< node that the queue runs on */
	uint32_t priority;        /**< enum pb_priority */
};

/** A node as the firmware reports it. */
struct pb_node_status {
	uint32_t state;        /**< enum pb_node_state */
	uint32_t mode;         /**< enum pb_node_mode */
	uint32_t depth;        /**< largest number of submissions in flight */
	uint32_t in_flight;    /**< submissions fed and not retired */
	uint32_t progress;     /**< the engine's progress counter */
	uint32_t engine_us;    /**< engine time in microseconds, modulo 2^32 */
	uint32_t idle_times;   /**< times that the engine went idle */
	uint32_t unpatched_us; /**< microseconds of idle time during which no submission was patched yet */
	uint32_t stops;        /**< times that the engine was stopped */
	uint32_t resets;       /**< times that the engine was reset */
	/** Handle of the queue at the head of the engine's ring, if the asker owns it; else 0. */
	uint32_t head;
	uint32_t completed; /**< submissions completed, modulo 2^32 */
};

/** A channel as the firmware reports it. */
struct pb_channel_status {
	uint32_t privileges;     /**< PB_PRIVILEGE_* */
	uint32_t weight;         /**< 1 to PB_WEIGHT_MAX */
	uint32_t priority_cap;   /**< enum pb_priority: highest priority of its queues */
	uint32_t queues;         /**< queues that exist */
	uint32_t contexts;       /**< contexts that exist */
	uint32_t segments;       /**< segments that exist */
	uint32_t admitted;       /**< submissions read and not completed */
	uint32_t events_dropped; /**< events lost since the channel attached */
};

/**
 * Queries a queue of the caller's own.
 * Threads: commands, queue; waits.
 * @param state out
 */
enum pb_error pb_queue_query(struct pb_queue *queue, struct pb_queue_state *state);
/**
 * Queries any queue by its handle.
 * Threads: commands; waits.
 * @param channel the asker's
 * @param owner number of the queue's channel, or 0 for the asker's own; others need PB_PRIVILEGE_QUERY
 * @param handle with generation 0: the queue that has this index now
 * @param state out
 * @retval PB_ERROR_BAD_HANDLE the owner has no such queue
 * @retval PB_ERROR_NO_PERMISSION the asker may not query other channels
 */
enum pb_error pb_handle_query(struct pb_channel *channel, uint32_t owner, uint32_t handle,
			      struct pb_queue_state *state);
/**
 * Queries a node.
 * Threads: commands; waits.
 * @param status out
 */
enum pb_error pb_node_query(struct pb_channel *channel, uint32_t node, struct pb_node_status *status);
/**
 * Queries a context.
 * Threads: commands; waits.
 * @param lost out: its submissions are cancelled until pb_context_clear()
 */
enum pb_error pb_context_query(struct pb_channel *channel, uint32_t context, bool *lost);
/**
 * Queries the channel itself.
 * Threads: commands; waits.
 * @param status out
 */
enum pb_error pb_channel_query(struct pb_channel *channel, struct pb_channel_status *status);

/** What a channel has of a resource, as the firmware reports it. */
struct pb_quota_status {
	uint32_t used;    /**< what the channel has; of a resource that is not used up, 0 */
	uint32_t limit;   /**< what it may have */
	uint32_t minimum; /**< what every channel is guaranteed; the least limit */
	uint32_t total;   /**< the card's; of a resource that is not used up, the default limit */
};

/**
 * Queries what a channel has of a resource.
 * Threads: commands; waits.
 * @param channel the asker's
 * @param owner number of the channel asked about; another than the asker's needs PB_PRIVILEGE_QUERY
 * @param resource enum pb_resource
 * @param status out
 * @retval PB_ERROR_NO_PERMISSION the asker may not query other channels
 */
enum pb_error pb_quota_query(struct pb_channel *channel, uint32_t owner, uint32_t resource,
			     struct pb_quota_status *status);
/**
 * Limits what a channel may have of a resource, until CHANNEL_CLOSE. What it has already stays. A command that would
 * exceed the limit fails with PB_ERROR_NO_QUOTA; its first result is the resource.
 * Threads: commands; waits.
 * @param channel the admin's
 * @param owner number of the channel to limit
 * @param resource enum pb_resource
 * @param limit not below the resource's guaranteed minimum; more than the card has: no limit
 * @retval PB_ERROR_NO_PERMISSION the channel is not the admin's
 */
enum pb_error pb_quota_set(struct pb_channel *channel, uint32_t owner, uint32_t resource, uint32_t limit);

/** All that events report of a queue, read without them. */
struct pb_queue_resync {
	struct pb_fence fence;       /**< failed, faulted, hung: see error and errors */
	struct pb_preempt preempt;   /**< preempted: `count` differs from the count known before */
	struct pb_queue_state state; /**< queue fault, halted, node dead: see why */
};

/**
 * Reads the present state of a queue after pb_channel_dropped() reported lost events.
 * Threads: commands, queue; waits.
 * @param now out
 */
enum pb_error pb_queue_resync(struct pb_queue *queue, struct pb_queue_resync *now);

/** Settings of a node. */
struct pb_node_request {
	uint32_t mode;  /**< enum pb_node_mode; may change only while the node has no queue */
	uint32_t depth; /**< submissions in flight, 1 to the card's limit; 0: unchanged */
	/** Engine time without progress that counts as a hang, in microseconds; 0: unchanged. */
	uint32_t hang_us;
	/** Time for the engine to answer a stop or a reset, in microseconds; 0: unchanged. */
	uint32_t answer_us;
};

/**
 * Sets how a node works.
 * Threads: commands; waits.
 * @param channel the admin's
 * @param request copied
 * @retval PB_ERROR_NO_PERMISSION the channel is not the admin's
 * @retval PB_ERROR_BUSY another mode was asked for while the node has a queue
 */
enum pb_error pb_node_set(struct pb_channel *channel, uint32_t node, const struct pb_node_request *request);
/**
 * Moderates the channel's completion interrupts: the card interrupts when `count` completions are pending, or the
 * oldest of them is `microseconds` old. Waits on a fence take up to `microseconds` longer.
 * Threads: commands; waits.
 */
enum pb_error pb_channel_moderate(struct pb_channel *channel, uint32_t count, uint32_t microseconds);

#ifdef __cplusplus
}
#endif

#endif
