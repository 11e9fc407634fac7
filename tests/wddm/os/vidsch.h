/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The scheduler of a WDDM kernel, as far as a miniport can break its rules: a
 * software queue and a hardware queue for each node, fence numbers, preemption,
 * timeout detection and recovery. Where Windows would stop the machine, the
 * model notes the bugcheck and does nothing from then on.
 *
 * Time is the miniport's own clock.
 */
#ifndef PB_TESTS_WDDM_OS_VIDSCH_H
#define PB_TESTS_WDDM_OS_VIDSCH_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/wddm/ddi.h"
#include "tests/wddm/os/bugcheck.h"
#include "tests/wddm/os/garbage.h"

#define OS_NODES        4u
#define OS_HARDWARE_MAX 32u  /**< DXGK_START_INFO.RequiredDmaQueueEntry at most */
#define OS_NOTES        8u   /**< words of a packet that are free for the test */
#define OS_ABORTED_KEPT 128u /**< aborted fences that are remembered */
#define OS_SOFTWARE_MAX 128u /**< packets that wait in the software queue */
#define OS_TDR_DELAY_US UINT64_C(2000000)
#define OS_TDR_DDI_US   UINT64_C(5000000)
#define OS_TDR_LIMIT    5u /**< recoveries within OS_TDR_LIMIT_US; one more ends the machine */
#define OS_TDR_LIMIT_US UINT64_C(60000000)
#define OS_STEP_US_MAX  100000u /**< longest step in which a timeout may go unnoticed */

/* DXGK_INTERRUPT_TYPE beside enum pb_dxgk_interrupt_type, and words of their members of the union. */
#define OS_INTERRUPT_CRTC_VSYNC    3u    /**< CrtcVsync */
#define OS_INTERRUPT_OVERLAY_VSYNC 7u    /**< CrtcVSyncWithMultiPlaneOverlay, since WDDM 1.3 */
#define OS_OVERLAY_PLANES_WORD     2u    /**< MultiPlaneOverlayVsyncInfoCount */
#define OS_INTERRUPT_PAGE_FAULTED  9u    /**< DmaPageFaulted, since WDDM 2.0 */
#define OS_FAULT_FLAGS_WORD        6u    /**< PageFaultFlags */
#define OS_FAULT_FATAL             0x10u /**< FatalHardwareError */

/** The functions under test. A miniport need not support those that may be NULL. */
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
	/** CancelCommand of a packet that is dropped before it was submitted; or NULL: not CancelCommandAware. */
	uint32_t (*cancel_command)(void *context, const struct pb_dxgkarg_submitcommand *packet);
	void (*dpc)(void *context);
	/** Runs the device for so long. Its interrupts come meanwhile. */
	void (*run)(void *context, uint64_t microseconds);
	uint64_t (*now)(void *context);
	void *context;
};

/** One DMA buffer, or a part of one, as a packet. */
struct os_packet {
	struct pb_dxgkarg_patch patch;          /**< hContext, buffer, range, lists, flags; not the fence */
	struct pb_dxgkarg_submitcommand submit; /**< flags, and NodeOrdinal; the rest comes from `patch` */
	bool skip_patch;                        /**< fully patched at Render, and nothing has moved */
	uint32_t priority;                      /**< of its context: the greatest one first */
	uint32_t tag;                           /**< free for the test */
	uint32_t note[OS_NOTES];                /**< free for the test */
	/* private to the model */
	bool has_fence; /**< keeps its id: a paging packet that was recalled */
	uint32_t fence_id;
	bool submitted; /**< it is on the hardware queue */
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
	bool kept;           /**< the head stays the head until it is submitted */
	bool used;           /**< something was submitted */
	uint64_t head_since; /**< when the current head became the head */
	bool queried;        /**< QueryCurrentFence was called for this head */
	bool resetting;      /**< its interrupts are ignored */
	struct {
		bool pending;
		uint32_t fence_id;
		uint64_t since;
		bool queried;   /**< QueryCurrentFence was called for this preemption */
		bool cancelled; /**< by a reset: an answer is a rule violation from now on */
		uint32_t cancelled_id;
	} preemption;
	uint32_t aborted[OS_ABORTED_KEPT]; /**< fences that resets of the engine aborted, the last ones */
	uint32_t aborted_count;            /**< fences aborted, modulo 2^32 */
};

/** The end of a packet. */
enum os_outcome {
	OS_COMPLETED,
	OS_FAULTED, /**< its device is in error */
	OS_ABORTED, /**< by a reset; its device is in error */
};

struct os_model {
	struct os_miniport miniport;
	uint32_t
		version; /**< interface of this OS: PB_DXGKDDI_*; before Windows 8 no engine is reset alone */
	uint32_t node_count;
	uint32_t depth; /**< packets on a hardware queue */
	uint32_t fence_step;
	uint64_t tdr_delay; /**< TdrDelay in microseconds, initially OS_TDR_DELAY_US */
	bool unlimited;     /**< any number of recoveries is allowed: TdrLimitCount */
	bool eager;         /**< submits from within DMA_PREEMPTED packets that need no Patch */
	/** Packets of several contexts of a node take turns by priority and by it; NULL: in order. */
	struct os_chance *chance;
	bool suspended; /**< nothing but paging is submitted */
	bool strict; /**< what `late_answers` and `implied` count stops the machine, and a DPC must follow */
	struct os_node nodes[OS_NODES];
	uint32_t next_preemption;
	bool dpc_queued;
	bool notified;   /**< a notification was accepted since NotifyDpc was called last */
	bool dpc_called; /**< NotifyDpc was called by the present DPC */
	/**
	 * Called before the head of a node's software queue is taken; may put packets before it, or shorten it.
	 * NULL: no call. @return false: the head must wait
	 */
	bool (*ready)(void *context, uint32_t node);
	/** Returns whether a packet must not be submitted yet. NULL: none waits. */
	bool (*waits)(void *context, uint32_t node, const struct os_packet *packet);
	/** Called before each submission to refresh the packet's lists. NULL: nothing to do. */
	void (*prepare)(void *context, struct os_packet *packet);
	/** Called when a packet has left the scheduler. NULL: no call. */
	void (*retired)(void *context, const struct os_packet *packet, enum os_outcome outcome);
	/** Called when a packet returns to the software queue. NULL: no call. */
	void (*recalled)(void *context, const struct os_packet *packet);
	/** Called between ResetFromTimeout and RestartFromTimeout. NULL: no call. */
	void (*between)(void *context);
	void *context; /**< argument of these functions */

	struct os_stop stop; /**< the rule that ended the machine */
	uint32_t bugcheck;   /**< 0: none */
	uint32_t parameter;  /**< the one of its parameters that tells why */
	uint32_t completed;
	uint32_t faulted;
	uint32_t aborted;
	uint32_t preempted;    /**< packets recalled */
	uint32_t preemptions;  /**< preemptions answered */
	uint32_t implied;      /**< completions reported only by LastCompletedFenceId of DMA_PREEMPTED */
	uint32_t late_answers; /**< preemptions of an empty node that were not answered at once */
	uint32_t responsive;   /**< engines that were reset although they made progress */
	uint32_t engine_resets;
	uint32_t tdr_count;
	uint32_t adapter_resets;
	uint64_t tdr_times[OS_TDR_LIMIT];
};

/** @param first_fence of each node; @param depth packets submitted ahead, OS_HARDWARE_MAX at most */
void os_init(struct os_model *os, const struct os_miniport *miniport, uint32_t node_count,
	     uint32_t first_fence, uint32_t depth);
/** Appends a packet to its node's software queue. @return false: the software queue is full */
bool os_queue(struct os_model *os, const struct os_packet *packet);
/** Puts a packet at a place of its node's software queue. Pre: there is room. */
void os_insert(struct os_model *os, uint32_t index, const struct os_packet *packet);
/** Drops the packets that wait in software queues, of one context or (NULL) all; they end as aborted. */
void os_drop(struct os_model *os, const void *context);
/** Submits what it can, runs the device, and checks for timeouts. */
void os_step(struct os_model *os, uint64_t microseconds);
/** Requests a preemption at the next boundary. Nothing is submitted to the node until the answer. */
void os_preempt(struct os_model *os, uint32_t node);
/** Handles a timeout: resets the engine, if it has ever run, or, if that fails, the adapter. */
void os_recover(struct os_model *os, uint32_t node);
/** Resets the adapter, whatever its state. */
void os_reset_adapter(struct os_model *os);
/** Whether nothing waits or runs. */
bool os_is_idle(const struct os_model *os);
/** Stops the machine, unless it has stopped. @param value what was wrong */
void os_break(struct os_model *os, enum os_rule rule, uint64_t value);
/** Whether the machine has stopped. */
static inline bool os_has_stopped(const struct os_model *os)
{
	return os->stop.rule != OS_RULE_NONE;
}

/* The callbacks of the miniport. */
void os_notify_interrupt(void *os, const struct pb_dxgkargcb_notify_interrupt_data *data);
void os_queue_dpc(void *os);
void os_notify_dpc(void *os);

/* ---- shared by vidsch.c, interrupts.c and tdr.c ---- */

/** Checks a call's time against TdrDdiDelay. */
void os_ddi_done(struct os_model *os, uint64_t since);
/** Index of an outstanding fence in the hardware queue; -1: none. */
int32_t os_find(const struct os_node *node, uint32_t fence_id);
/** Removes the first packets from the hardware queue. */
void os_retire(struct os_model *os, struct os_node *node, uint32_t count, enum os_outcome outcome);
/** Removes packets that have been reported. */
void os_retire_reported(struct os_model *os, struct os_node *node);
/** Returns the rest to the front of the software queue: paging packets first, with their ids. */
void os_recall(struct os_model *os, struct os_node *node);
/** Submits from within a notification, as far as no Patch is needed. */
void os_submit_eagerly(struct os_model *os, struct os_node *node);
/** Whether a packet is a paging buffer. */
static inline bool os_is_paging(const struct os_packet *packet)
{
	return (packet->submit.Flags & PB_FLAG_PAGING) != 0;
}
/** Checks for timeouts. */
void os_check_time(struct os_model *os);

#endif
