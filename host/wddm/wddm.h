/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a WDDM 1.x display miniport exports for work, on top of the host
 * library. A driver's DxgkDdi functions find the adapter or context behind
 * their handle and call these; docs/wddm.md has the rules.
 *
 * Patching is done by the firmware: Patch converts the lists and keeps them,
 * SubmitCommand sends them along. Patch and SubmitCommand cannot fail, because
 * an error from them stops the machine. What goes wrong there shows where the
 * contract has a place for it: bad work completes, and the next Render of its
 * context says that the device is lost. Where that would be a lie (a paging
 * buffer failed, the firmware is dead) the fence does not come, and the OS
 * finds a hang.
 *
 * No heap, no operating system, no lock. Render, RenderKm and Present of
 * different contexts may run at the same time as anything else. All other
 * functions of an adapter are called one at a time: the OS sees to that for
 * Patch, SubmitCommand, PreemptCommand, BuildPagingBuffer and the resets, and a
 * driver calls SubmitCommand, PreemptCommand, QueryCurrentFence and the
 * interrupt under its interrupt lock. The functions of tdr.c wait for the card,
 * at PASSIVE_LEVEL: a driver keeps the card's interrupt off meanwhile, and they
 * look themselves for what has come.
 *
 * The OS decides what a node runs next, so its nodes are PB_NODE_HOST_ORDERED:
 * who has the admin channel sets that before pb_wddm_start.
 */
#ifndef PB_HOST_WDDM_WDDM_H
#define PB_HOST_WDDM_WDDM_H

#include <stdbool.h>
#include <stdint.h>

#include "host/patchbay.h"
#include "host/wddm/ddi.h"

/** Nodes of an adapter, at most. */
#define PB_WDDM_NODES 2u
/** RequiredDmaQueueEntry at most: buffers that a node holds at once. */
#define PB_WDDM_PACKETS 64u
/** Buffers of a node that are patched and not submitted yet. One more forgets the oldest. */
#define PB_WDDM_PATCHED_MAX 4u
#define PB_WDDM_SLOTS       (PB_WDDM_PACKETS + PB_WDDM_PATCHED_MAX)
/**
 * Segment id that the adapter makes for itself: its addresses exist, no engine
 * reaches them. The OS must not be told of it.
 */
#define PB_WDDM_TRAP_SEGMENT 31u

/** What hDeviceSpecificAllocation points to. The driver's, constant while it is open. */
struct pb_wddm_allocation {
	uint64_t size;  /**< bytes, not 0 */
	uint32_t pitch; /**< bytes from row to row, if it is ever presented */
};

/** What the OS is told. */
struct pb_wddm_callbacks {
	/** DxgkCbNotifyInterrupt */
	void (*notify_interrupt)(void *context, const struct pb_dxgkargcb_notify_interrupt_data *data);
	/** DxgkCbQueueDpc: something was notified; pb_wddm_dpc is to be called soon. */
	void (*queue_dpc)(void *context);
	/** DxgkCbNotifyDpc */
	void (*notify_dpc)(void *context);
	void *context;
};

/** What an adapter is made of. All of it lives as long as the adapter. */
struct pb_wddm_config {
	struct pb_channel *channel; /**< attached; nobody else takes its events or uses its contexts */
	/** By id; [0] is system memory, NULL where there is none. PB_WDDM_TRAP_SEGMENT is NULL. */
	struct pb_segment *segments[PB_WDDM_TRAP_SEGMENT + 1];
	uint32_t node_count;    /**< 1 to PB_WDDM_NODES */
	uint32_t queue_entries; /**< RequiredDmaQueueEntry: a power of two, PB_WDDM_PACKETS at most */
	uint32_t allocations;   /**< entries of the longest allocation list, within the card's capability */
	uint32_t patches;       /**< entries of the longest patch list, within the card's capability */
	struct pb_wddm_callbacks callbacks;
};

struct pb_wddm_adapter;

/** What hContext points to. The driver's memory; read-only for it. */
struct pb_wddm_context {
	struct pb_wddm_adapter *adapter;
	uint32_t handle; /**< the firmware's */
	uint32_t node;
	void *staging;
	uint32_t staging_size;
	bool lost; /**< its work went wrong; Render refuses more */
};

enum pb_wddm_slot_state {
	PB_WDDM_SLOT_FREE = 0,
	PB_WDDM_SLOT_PATCHED = 1,   /**< waits for its SubmitCommand */
	PB_WDDM_SLOT_SUBMITTED = 2, /**< the firmware may read it */
};

/** The lists of one submission, and whose they are. */
struct pb_wddm_slot {
	enum pb_wddm_slot_state state;
	bool refused; /**< the lists are longer than any that Render makes */
	uint32_t age; /**< Patch calls of the node before this one */
	const struct pb_wddm_context *context;
	uint64_t address;
	uint32_t start;
	uint32_t end;
	uint32_t fence_id;
	uint32_t allocation_count;
	uint32_t patch_count;
};

/** One submission that the OS has not been told the end of. */
struct pb_wddm_packet {
	uint32_t fence_id;
	uint64_t timeline;               /**< of the queue, when it is done */
	struct pb_wddm_context *context; /**< NULL: none */
	struct pb_wddm_slot *slot;       /**< NULL: it has no lists */
	bool paging;
	bool failed;
};

/** A PreemptCommand that is not answered. */
struct pb_wddm_preemption {
	bool pending;   /**< the OS waits for DMA_PREEMPTED */
	bool begun;     /**< the firmware was asked; till then an earlier one's reply is awaited */
	uint32_t id;    /**< PreemptionFenceId */
	uint32_t count; /**< of the firmware's record that answers it */
};

/** When a node's engine was seen to get on last. */
struct pb_wddm_progress {
	uint32_t counter;   /**< the engine's */
	uint32_t completed; /**< by the node */
	uint64_t time;      /**< of the link, in microseconds */
};

struct pb_wddm_node {
	struct pb_queue queue;
	struct pb_memory lists; /**< of all slots */
	struct pb_wddm_slot slots[PB_WDDM_SLOTS];
	struct pb_wddm_packet packets[PB_WDDM_PACKETS]; /**< by submission, modulo queue_entries */
	uint32_t patches;                               /**< calls of Patch */
	uint32_t submitted;                             /**< submissions so far */
	uint32_t reported;                              /**< of these, the OS has been told */
	uint32_t current_fence;   /**< of the last one completed or aborted that it was told of */
	uint32_t submitted_fence; /**< of the last SubmitCommand */
	struct pb_wddm_preemption preemption;
	struct pb_wddm_progress progress;
};

/** One card. */
struct pb_wddm_adapter {
	struct pb_wddm_config config;
	struct pb_segment trap;
	struct pb_wddm_node nodes[PB_WDDM_NODES];
	uint32_t events_dropped; /**< the channel's count, as last seen */
	enum pb_error error;     /**< the first that ended it: nothing is submitted any more */
	bool stopped;            /**< from ResetFromTimeout to RestartFromTimeout */
};

/* ---- adapter.c: what StartDevice and CreateContext need ---- */

/**
 * Makes queues, list memory and the trap segment.
 * @retval PB_ERROR_BAD_ARGUMENT the configuration is not within its limits
 */
enum pb_error pb_wddm_start(struct pb_wddm_adapter *adapter, const struct pb_wddm_config *config);
/** Gives all of it back. No context may be left. */
enum pb_error pb_wddm_stop(struct pb_wddm_adapter *adapter);

/** Bytes of staging memory that a context needs for command buffers and lists of these sizes. */
uint64_t pb_wddm_staging_bytes(uint32_t command_length, uint32_t allocation_count, uint32_t location_count);
/**
 * For CreateContext: one for each hContext that the OS knows.
 * @param staging private memory for Render, 8-byte aligned, the context's alone
 */
enum pb_error pb_wddm_context_create(struct pb_wddm_adapter *adapter, struct pb_wddm_context *context,
				     uint32_t node, void *staging, uint32_t staging_size);
/** @retval PB_ERROR_BUSY work of the adapter is not done: wait for its fences */
enum pb_error pb_wddm_context_destroy(struct pb_wddm_context *context);

/* ---- render.c: returns an NTSTATUS, the only place that refuses bad work ---- */

/** DxgkDdiRender. hContext is what the OS gives the function. */
uint32_t pb_wddm_render(struct pb_wddm_context *context, struct pb_dxgkarg_render *render);
/** DxgkDdiRenderKm */
uint32_t pb_wddm_render_km(struct pb_wddm_context *context, struct pb_dxgkarg_render *render);
/**
 * DxgkDdiPresent, blits of one size only. With several sub-rectangles each of
 * them is a DMA buffer of its own, and all but the last return
 * INSUFFICIENT_DMA_BUFFER.
 */
uint32_t pb_wddm_present(struct pb_wddm_context *context, struct pb_dxgkarg_present *present);

/* ---- submit.c: returns PB_STATUS_SUCCESS, whatever happens ---- */

/** DxgkDdiPatch: keeps the lists for the SubmitCommand with the same context, buffer, range and fence. */
uint32_t pb_wddm_patch(struct pb_wddm_adapter *adapter, const struct pb_dxgkarg_patch *patch);
/** DxgkDdiSubmitCommand: a buffer that Patch was not called for runs as it is. Never waits. */
uint32_t pb_wddm_submit_command(struct pb_wddm_adapter *adapter,
				const struct pb_dxgkarg_submitcommand *submit);

/**
 * DxgkDdiPreemptCommand: DMA_PREEMPTED comes at once if nothing is on its way,
 * else from the interrupt, when the buffer that runs is done. Never waits.
 * A SubmitCommand is legal at any time, also from within the notification.
 */
uint32_t pb_wddm_preempt_command(struct pb_wddm_adapter *adapter,
				 const struct pb_dxgkarg_preemptcommand *preempt);

/* ---- tdr.c: timeout detection and recovery; returns PB_STATUS_SUCCESS or PB_STATUS_UNSUCCESSFUL ---- */

/** DxgkDdiQueryDependentEngineGroup: each node has an engine of its own. */
uint32_t pb_wddm_query_dependent_engine_group(const struct pb_wddm_adapter *adapter,
					      struct pb_dxgkarg_querydependentenginegroup *group);
/** DxgkDdiQueryEngineStatus: responsive is what is idle, or has got on within the last 10 ms. */
uint32_t pb_wddm_query_engine_status(struct pb_wddm_adapter *adapter,
				     struct pb_dxgkarg_queryenginestatus *status);
/**
 * DxgkDdiResetEngine: what the engine ran is aborted, and all that it has done
 * and the OS was not told of; what stands behind that is given up, as in a
 * preemption. UNSUCCESSFUL: the firmware or the engine is dead.
 */
uint32_t pb_wddm_reset_engine(struct pb_wddm_adapter *adapter, struct pb_dxgkarg_resetengine *reset);
/** DxgkDdiResetFromTimeout: gives up all work of all nodes. Contexts that had some are lost. */
uint32_t pb_wddm_reset_from_timeout(struct pb_wddm_adapter *adapter);
/** DxgkDdiRestartFromTimeout */
uint32_t pb_wddm_restart_from_timeout(struct pb_wddm_adapter *adapter);

/* ---- paging.c ---- */

/**
 * DxgkDdiBuildPagingBuffer. The buffer lies in system memory (segment 0),
 * 4-byte aligned, and is submitted with the flag Paging.
 * @return PB_STATUS_SUCCESS, or PB_STATUS_INSUFFICIENT_DMA_BUFFER: submit it and
 *         call again with a new one. There is no place for another error, so an
 *         operation that this card cannot do ends the adapter: no fence comes.
 */
uint32_t pb_wddm_build_paging_buffer(struct pb_wddm_adapter *adapter,
				     struct pb_dxgkarg_buildpagingbuffer *build);

/* ---- interrupt.c ---- */

/**
 * The interrupt routine, and the poll if one may have been lost: tells the OS of
 * each fence that is done, in order, and then of a preemption. @return whether
 * there was something to tell
 */
bool pb_wddm_interrupt(struct pb_wddm_adapter *adapter);
/** The DPC. */
void pb_wddm_dpc(struct pb_wddm_adapter *adapter);
/**
 * DxgkDdiQueryCurrentFence: looks again, notifies if there is news. Before the
 * first fence of a node is done it says one less than that.
 */
uint32_t pb_wddm_query_current_fence(struct pb_wddm_adapter *adapter,
				     struct pb_dxgkarg_querycurrentfence *query);

#endif
