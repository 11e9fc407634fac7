/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The part of a WDDM kernel that calls a miniport: a scheduler with a software
 * and a hardware queue for each node, fence ids, preemption, timeout detection
 * and recovery. It drives the shim (include/patchbay/wddm/wddm.h) over any
 * link, in one thread. Memory is the client's matter (wddm_memory.h).
 *
 * Where Windows would stop the machine, the scheduler notes the bugcheck as its
 * failure; from then on all functions return false.
 */
#ifndef PB_HOST_TOOL_WDDM_OS_H
#define PB_HOST_TOOL_WDDM_OS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/tool/ddi_calls.h"
#include "patchbay/wddm/wddm.h"

/** Size of the message of a failure, in bytes. */
#define PB_OS_MESSAGE_BYTES 200u
/**
 * TdrDelay in microseconds. Windows has two seconds; an emulated MCU on a busy machine may need longer for a packet
 * that is right.
 */
#define PB_OS_TDR_DELAY_US UINT64_C(60000000)

/** RequiredDmaQueueEntry, at least: more than the scheduler has on a hardware queue. */
#define PB_OS_QUEUE_ENTRIES 4u

/** One DMA buffer, or a part of one, on its way. Whoever queues it keeps it in place until it has left. */
struct pb_os_packet {
	struct pb_os_packet *next; /**< in its queue */
	/** Buffer, range, private data, lists. The scheduler fills in SubmissionFenceId. hContext NULL: paging. */
	struct pb_dxgkarg_patch arguments;
	uint32_t node;         /**< where it runs */
	uint32_t flags;        /**< DXGK_SUBMITCOMMANDFLAGS */
	bool patch;            /**< Patch is called before SubmitCommand */
	bool has_fence;        /**< keeps its fence id: a recalled paging packet */
	bool reported;         /**< the miniport reported its end */
	uint64_t tdr_delay_us; /**< TdrDelay; 0: PB_OS_TDR_DELAY_US */
	size_t built;          /**< first call of Render or BuildPagingBuffer that built it, in the record */
	size_t built_behind;   /**< place behind the last one */
	void *owner;           /**< the client's */
};

/** How a packet has left the hardware queue. */
enum pb_os_end {
	PB_OS_COMPLETED, /**< its fence was reported */
	PB_OS_ABORTED,   /**< a reset aborted it: its context is in error */
	PB_OS_RECALLED,  /**< back in the software queue; it will be prepared again */
	PB_OS_DROPPED,   /**< the kernel has stopped */
};

/** What the scheduler calls. */
struct pb_os_client {
	/**
	 * Makes resident what a packet needs and refreshes its lists. Called before each submission of a packet that
	 * is not a paging packet; may call pb_os_step(). @return false: a failure, for which pb_os_fail() was called
	 */
	bool (*prepare)(void *context, struct pb_os_packet *packet);
	/** A packet has left the hardware queue, was prepared in vain, or is dropped from any queue. */
	void (*left)(void *context, struct pb_os_packet *packet, enum pb_os_end end);
	void *context; /**< first argument of both */
};

/** Packets in order. */
struct pb_os_queue {
	struct pb_os_packet *first; /**< NULL: empty */
	struct pb_os_packet *last;  /**< valid if the queue is not empty */
	uint32_t count;             /**< packets in it */
};

/** A node. */
struct pb_os_node {
	struct pb_os_queue software; /**< to be submitted */
	struct pb_os_queue hardware; /**< submitted */
	uint32_t next_fence;         /**< id of the next new packet */
	uint32_t last_completed;     /**< id of the last packet reported, or aborted */
	uint32_t last_submitted;     /**< id of the last packet submitted */
	uint32_t recalls;            /**< times that packets were recalled, modulo 2^32 */
	bool resetting;              /**< its notifications are ignored */
	uint64_t head_since;         /**< when the present head became the head, on the link's clock */
	uint64_t queried;            /**< when QueryCurrentFence was called last for it */
	struct {
		bool pending;      /**< PreemptCommand is not answered */
		uint32_t fence_id; /**< PreemptionFenceId */
		uint64_t since;    /**< time of the call */
	} preemption;
};

/** Counters. */
struct pb_os_figures {
	uint32_t submitted;      /**< calls of SubmitCommand */
	uint32_t patched;        /**< of them behind a call of Patch */
	uint32_t completed;      /**< packets reported as completed */
	uint32_t preemptions;    /**< preemptions answered */
	uint32_t recalled;       /**< packets that they returned */
	uint32_t aborted;        /**< packets that resets aborted */
	uint32_t engine_resets;  /**< timeouts ended by ResetEngine */
	uint32_t adapter_resets; /**< timeouts ended by ResetFromTimeout */
};

/** The kernel. The caller owns the memory and keeps it in place. */
struct pb_os {
	struct pb_wddm_adapter adapter; /**< the miniport's */
	struct pb_os_client client;     /**< set by the caller before anything is queued */
	struct pb_os_node nodes[PB_WDDM_NODES];
	uint32_t node_count;          /**< nodes in use */
	uint32_t depth;               /**< packets on a hardware queue */
	uint32_t next_preemption;     /**< id of the next preemption */
	bool preparing;               /**< the client's `prepare` runs: only paging packets are submitted */
	bool dpc_queued;              /**< DxgkCbQueueDpc was called */
	bool failed;                  /**< see `message` */
	struct pb_os_figures figures; /**< counted since pb_os_start() */
	struct pb_ddi_record record;  /**< all DDI calls */
	char message[PB_OS_MESSAGE_BYTES]; /**< the first failure */
};

/**
 * Starts the adapter. Blocks.
 * @param config copied; its callbacks and queue_entries are the scheduler's
 * @return false: see os->message
 */
bool pb_os_start(struct pb_os *os, const struct pb_wddm_config *config);
/**
 * Drops all packets, stops the adapter unless the kernel has failed, and frees the record. Blocks. Pre: the contexts are
 * destroyed, if the kernel has not failed.
 */
void pb_os_stop(struct pb_os *os);
/** Records a failure, unless there is one. @return false */
__attribute__((format(printf, 2, 3))) bool pb_os_fail(struct pb_os *os, const char *format, ...);

/** Appends a packet to the software queue of its node. */
void pb_os_enqueue(struct pb_os *os, struct pb_os_packet *packet);
/** Puts the rest of a packet that was split right behind it. Pre: the packet is at the head of its software queue. */
void pb_os_split(struct pb_os *os, struct pb_os_packet *packet, struct pb_os_packet *rest);
/** Submits what it can, without waiting for an interrupt. @return false: see os->message */
bool pb_os_submit(struct pb_os *os);
/**
 * Submits what it can, waits for an interrupt for some milliseconds at most, runs interrupt routine and DPC, and checks
 * for timeouts. @return false: see os->message
 */
bool pb_os_step(struct pb_os *os);
/** Steps until no packet is left. @return false: see os->message */
bool pb_os_drain(struct pb_os *os);
/** Returns whether a node has no packet. */
bool pb_os_is_idle(const struct pb_os *os, uint32_t node);
/**
 * Preempts a node, and steps until the preemption is answered or ended by a reset. The packets that it returns are
 * submitted again by later steps. @return false: see os->message
 */
bool pb_os_preempt(struct pb_os *os, uint32_t node);

/* ---- between wddm_os.c and wddm_tdr.c ---- */

/** Calls PreemptCommand. Pre: no preemption of the node is pending. */
void pb_os_begin_preemption(struct pb_os *os, uint32_t node);
/** Removes the first `count` packets of the hardware queue. */
void pb_os_retire(struct pb_os *os, struct pb_os_node *node, uint32_t count, enum pb_os_end end);
/** Returns how many packets at the front of the hardware queue were reported. */
uint32_t pb_os_reported(const struct pb_os_node *node);
/** Returns what is left on the hardware queue to the front of the software queue. */
void pb_os_recall(struct pb_os *os, struct pb_os_node *node);
/** Checks for timeouts, and recovers from them. */
void pb_os_check_time(struct pb_os *os);

#endif
