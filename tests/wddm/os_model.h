/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The scheduler of a WDDM kernel, as far as a miniport can break its rules: a
 * software queue and a hardware queue for each node, fence numbers, preemption,
 * timeout detection and recovery. Where Windows would stop the machine, the
 * model notes the bugcheck and does nothing from then on.
 *
 * All time is the miniport's own clock.
 */
#ifndef PB_TESTS_WDDM_OS_MODEL_H
#define PB_TESTS_WDDM_OS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "host/wddm/ddi.h"

#define OS_NODES        2u
#define OS_HARDWARE_MAX 32u  /**< DXGK_START_INFO.RequiredDmaQueueEntry at most */
#define OS_SOFTWARE_MAX 128u /**< packets that wait for their turn */
#define OS_TDR_DELAY_US UINT64_C(2000000)
#define OS_TDR_DDI_US   UINT64_C(5000000)
#define OS_TDR_LIMIT    5u /**< recoveries within OS_TDR_LIMIT_US; one more is the end */
#define OS_TDR_LIMIT_US UINT64_C(60000000)
#define OS_STEP_US_MAX  100000u /**< longest step in which a timeout may go unseen */

/** VIDEO_SCHEDULER_INTERNAL_ERROR; its first parameter: */
#define OS_BUGCHECK_SCHEDULER 0x119u
#define OS_INVALID_FENCE      0x1u /**< completed or preempted what was not outstanding */
#define OS_SUBMIT_FAILED      0x2u /**< SubmitCommand or PreemptCommand returned an error */
#define OS_PATCH_FAILED       0x3u /**< Patch returned an error */
#define OS_PAGING_FAULTED     0x5u /**< DMA_FAULTED names a paging packet */
#define OS_NODE_UNKNOWN       0x8u /**< a notification, or a group of dependent nodes, is of the wrong nodes */
#define OS_ABORTED_FENCE      0xau  /**< LastAbortedFenceId is not from last completed to last submitted */
#define OS_AFTER_RESET        0x10u /**< a notification of what a reset of the engine had aborted */
/** VIDEO_TDR_FAILURE; its first parameter is one of ours: */
#define OS_BUGCHECK_TDR  0x116u
#define OS_TDR_NO_RESET  1u /**< the adapter could not be reset */
#define OS_TDR_TOO_OFTEN 2u
#define OS_TDR_DDI       3u /**< a DDI function did not return in time */

/** The functions under test; those that may be NULL are things that a miniport need not support. */
struct os_miniport {
	uint32_t (*patch)(void *context, const struct pb_dxgkarg_patch *patch);
	uint32_t (*submit_command)(void *context, const struct pb_dxgkarg_submitcommand *submit);
	uint32_t (*query_current_fence)(void *context, struct pb_dxgkarg_querycurrentfence *query);
	uint32_t (*preempt_command)(void *context,
				    const struct pb_dxgkarg_preemptcommand *preempt); /**< or NULL */
	uint32_t (*query_dependent_engine_group)(
		void *context, struct pb_dxgkarg_querydependentenginegroup *group); /**< or NULL: itself */
	uint32_t (*query_engine_status)(void *context,
					struct pb_dxgkarg_queryenginestatus *status);  /**< or NULL */
	uint32_t (*reset_engine)(void *context, struct pb_dxgkarg_resetengine *reset); /**< or NULL */
	uint32_t (*reset_from_timeout)(void *context);                                 /**< or NULL */
	uint32_t (*restart_from_timeout)(void *context); /**< or NULL: nothing to do */
	void (*dpc)(void *context);
	/** The device runs for so long; its interrupts come meanwhile. */
	void (*run)(void *context, uint64_t microseconds);
	uint64_t (*now)(void *context);
	void *context;
};

/** One DMA buffer, or a part of one, on its way. */
struct os_packet {
	struct pb_dxgkarg_patch patch;          /**< hContext, buffer, range, lists, flags; not the fence */
	struct pb_dxgkarg_submitcommand submit; /**< flags, and NodeOrdinal; the rest is taken from `patch` */
	bool skip_patch;                        /**< fully patched at Render, and nothing has moved */
	uint32_t tag;                           /**< the test's */
	/* the model's */
	bool has_fence; /**< keeps its id: a paging packet that was withdrawn */
	uint32_t fence_id;
	bool reported;
};

struct os_queue {
	struct os_packet packets[OS_SOFTWARE_MAX];
	uint32_t count;
};

struct os_node {
	struct os_queue software;
	struct os_queue hardware;
	uint32_t next_fence;
	uint32_t last_completed;
	uint32_t last_submitted;
	bool used;           /**< something was submitted */
	uint64_t head_since; /**< when what is first now became first */
	bool asked;          /**< QueryCurrentFence, for this head */
	bool resetting;      /**< its interrupts are ignored */
	struct {
		bool pending;
		uint32_t fence_id;
		uint64_t since;
		bool asked;     /**< QueryCurrentFence, for this one */
		bool cancelled; /**< by a reset: an answer is a crime from now on */
		uint32_t cancelled_id;
	} preemption;
	uint32_t aborted[OS_HARDWARE_MAX]; /**< what the last reset of the engine took away */
	uint32_t aborted_count;
};

/** What became of a packet. */
enum os_outcome {
	OS_COMPLETED,
	OS_FAULTED, /**< its device is in error */
	OS_ABORTED, /**< by a reset; its device is in error */
};

struct os_model {
	struct os_miniport miniport;
	uint32_t node_count;
	uint32_t depth; /**< packets on a hardware queue */
	uint32_t fence_step;
	uint64_t tdr_delay; /**< TdrDelay in microseconds; OS_TDR_DELAY_US at first */
	bool unlimited;     /**< any number of recoveries will do: TdrLimitCount */
	bool eager;         /**< submits from within DMA_PREEMPTED what needs no Patch */
	struct os_node nodes[OS_NODES];
	uint32_t next_preemption;
	bool dpc_queued;
	/** Before each submission: the packet's lists are what they are now. NULL: nothing to do. */
	void (*prepare)(void *context, struct os_packet *packet);
	/** A packet has left the scheduler. NULL: nobody cares. */
	void (*retired)(void *context, const struct os_packet *packet, enum os_outcome outcome);
	void *context; /**< of these two */

	uint32_t bugcheck;  /**< 0: none */
	uint32_t parameter; /**< its first */
	uint32_t completed;
	uint32_t faulted;
	uint32_t aborted;
	uint32_t preempted;    /**< packets given back */
	uint32_t preemptions;  /**< answered */
	uint32_t implied;      /**< completions that only LastCompletedFenceId of DMA_PREEMPTED spoke of */
	uint32_t late_answers; /**< preemptions of a node that had nothing left, not answered at once */
	uint32_t responsive;   /**< engines that were reset in spite of that */
	uint32_t engine_resets;
	uint32_t tdr_count;
	uint32_t adapter_resets;
	uint64_t tdr_times[OS_TDR_LIMIT];
};

/** @param first_fence of each node; @param depth packets that it submits ahead, OS_HARDWARE_MAX at most */
void os_init(struct os_model *os, const struct os_miniport *miniport, uint32_t node_count,
	     uint32_t first_fence, uint32_t depth);
/** Puts a packet behind all others of its node. @return false: the software queue is full */
bool os_queue(struct os_model *os, const struct os_packet *packet);
/** Submits what it can, lets the device run, and looks at the time. */
void os_step(struct os_model *os, uint64_t microseconds);
/** Asks a node to stop at its next boundary; nothing is submitted until it has. */
void os_preempt(struct os_model *os, uint32_t node);
/** What a timeout leads to: resets the engine, if it has ever had work, or, if that fails, the adapter. */
void os_recover(struct os_model *os, uint32_t node);
/** Resets the adapter, whatever state it is in. */
void os_reset_adapter(struct os_model *os);
/** Nothing is waiting or running. */
bool os_is_idle(const struct os_model *os);
/** Stops the machine, unless it has stopped. */
void os_bugcheck(struct os_model *os, uint32_t code, uint32_t parameter);

/* The callbacks. */
void os_notify_interrupt(void *os, const struct pb_dxgkargcb_notify_interrupt_data *data);
void os_queue_dpc(void *os);
void os_notify_dpc(void *os);

/* ---- shared by os_model.c and os_tdr.c ---- */

/** Checks a call's time against TdrDdiDelay. */
void os_ddi_done(struct os_model *os, uint64_t since);
/** Place of an outstanding fence in the hardware queue; -1: none. */
int32_t os_find(const struct os_node *node, uint32_t fence_id);
/** Takes the first packets off the hardware queue. */
void os_retire(struct os_model *os, struct os_node *node, uint32_t count, enum os_outcome outcome);
/** Takes off what has been reported. */
void os_retire_reported(struct os_model *os, struct os_node *node);
/** The rest goes back to the front of the software queue: paging packets first, with the ids they have. */
void os_withdraw(struct os_node *node);
/** Looks for what takes too long. */
void os_check_time(struct os_model *os);

#endif
