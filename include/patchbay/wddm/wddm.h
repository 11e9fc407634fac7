/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The WDDM 1.x shim: functions of a display miniport that carry submissions,
 * on top of the host library. A driver's DxgkDdi functions find the adapter or
 * context of their handle and call these; docs/wddm.md has the rules.
 *
 * The firmware patches: Patch converts the lists and keeps them, SubmitCommand
 * submits them. Neither can fail, because an error from them stops the machine.
 * An error is reported where the driver model has room for it: the invalid
 * submission completes, and the next Render of its context returns that the
 * device is lost. If completion would be wrong (a paging buffer failed, the
 * firmware is dead), the fence is not reported, and the OS detects a hang.
 *
 * The shim uses no heap and no operating system. Functions run beside each other
 * as the documents say: those of level zero beside all others; of the GPU
 * scheduler class (Patch, SubmitCommand, PreemptCommand, BuildPagingBuffer,
 * QueryEngineStatus, QueryDependentEngineGroup, ResetEngine) one at a time;
 * ResetFromTimeout and RestartFromTimeout beside the DPC alone; start and stop
 * alone. The interrupt routine only queues the DPC. State that several threads
 * use is the adapter's, under config.lock; CollectDbgInfo, which may come at any
 * level, reads single words without the lock. No function waits under it: the
 * resets take their nodes from the DPC while they wait. Without config.lock the
 * caller makes one call at a time. docs/wddm.md, "Threads", has the table.
 *
 * The OS decides what a node runs next. The host that owns the admin channel
 * must therefore set the nodes to PB_NODE_HOST_ORDERED before pb_wddm_start().
 */
#ifndef PB_HOST_WDDM_WDDM_H
#define PB_HOST_WDDM_WDDM_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/card.h"
#include "patchbay/queue.h"
#include "patchbay/wddm/ddi.h"
#include "patchbay/wddm/ddi_adapter.h"
#include "patchbay/wddm/ddi_gdi.h"
#include "patchbay/wddm/ddi_paging.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Largest number of nodes of an adapter. */
#define PB_WDDM_NODES 4u
/** Largest RequiredDmaQueueEntry: submissions of a node that have not completed. */
#define PB_WDDM_PACKETS 64u
/** Id of a segment that the adapter creates for itself: no engine reaches its addresses. The OS must not know it. */
#define PB_WDDM_TRAP_SEGMENT 31u

/** Private data of each call of BuildPagingBuffer that wrote packets, in bytes. */
#define PB_WDDM_PAGING_RECORD_BYTES 32u
/** Private data of a DMA buffer beside Render's record, its lists, and what it presumes, in bytes. */
#define PB_WDDM_BLOCK_HEAD_BYTES 64u
/** Of it for each entry of the longest allocation list: what the buffer presumes, in bytes. */
#define PB_WDDM_PRESUMPTION_BYTES 24u

/** Target of hDeviceSpecificAllocation. The driver owns it and keeps it unchanged while the allocation is open. */
struct pb_wddm_allocation {
	uint64_t size;   /**< bytes, not 0 */
	uint32_t pitch;  /**< bytes from one row to the next; used by Present only */
	uint32_t width;  /**< pixels of a surface; used by DescribeAllocation only */
	uint32_t height; /**< rows of a surface; used by DescribeAllocation only */
	uint32_t format; /**< D3DDDIFORMAT; used by DescribeAllocation only */
	/** 0 to 3: the driver's own, by which a patch format may choose a value (PB_ALLOCATION_ATTRIBUTE_MASK). */
	uint32_t attribute;
};

#define PB_WDDM_ALLOCATION_MAGIC 0x4c415042u /**< "BPAL" */
/** Longest allocation: AllocationOffset has 32 bits. */
#define PB_WDDM_ALLOCATION_BYTES_MAX UINT64_C(0x100000000)

/** Private driver data of an allocation: what the process asks for. */
struct pb_wddm_allocation_data {
	uint32_t magic;  /**< PB_WDDM_ALLOCATION_MAGIC */
	uint32_t pitch;  /**< bytes from one row to the next; 0: no surface */
	uint64_t size;   /**< bytes, not 0 */
	uint32_t width;  /**< pixels */
	uint32_t height; /**< rows */
	uint32_t format; /**< D3DDDIFORMAT */
	uint32_t flags;  /**< 0 */
};

/** Functions of the OS that the shim calls. */
struct pb_wddm_callbacks {
	/**
	 * DxgkCbNotifyInterrupt, through DxgkCbSynchronizeExecution: it is called at DISPATCH_LEVEL, under config.lock.
	 * Without config.lock it may call SubmitCommand and PreemptCommand.
	 */
	void (*notify_interrupt)(void *context, const struct pb_dxgkargcb_notify_interrupt_data *data);
	/** DxgkCbQueueDpc: the OS was notified, or the card has interrupted; pb_wddm_dpc() must be called soon. */
	void (*queue_dpc)(void *context);
	/** DxgkCbNotifyDpc. */
	void (*notify_dpc)(void *context);
	void *context; /**< first argument of the callbacks */
};

/** Configuration of an adapter. Copied; what it points to must exist as long as the adapter. */
struct pb_wddm_config {
	struct pb_channel *channel; /**< attached; no other code reads its events or uses its contexts */
	/** By id; [0] is system memory; NULL: there is no such segment. [PB_WDDM_TRAP_SEGMENT] must be NULL. */
	struct pb_segment *segments[PB_WDDM_TRAP_SEGMENT + 1];
	/**
	 * The lower of DRIVER_INITIALIZATION_DATA.Version and DXGKRNL_INTERFACE.Version: at least PB_DXGKDDI_VISTA.
	 * Fields of later versions are neither read nor written. What is behind PB_DXGKDDI_WDDM1_3 is not used.
	 */
	uint32_t interface_version;
	uint32_t node_count;    /**< 1 to PB_WDDM_NODES */
	uint32_t paging_node;   /**< before Windows 8: runs paging buffers, as DXGK_VIDMMCAPS.PagingNode */
	uint32_t queue_entries; /**< RequiredDmaQueueEntry: a power of two, PB_WDDM_PACKETS at most */
	/** Entries of the longest allocation list, PB_CAPABILITY_ALLOCATIONS_MAX at most. */
	uint32_t allocations;
	uint32_t patches; /**< entries of the longest patch list, PB_CAPABILITY_PATCHES_MAX at most */
	/** Physical address at which the CPU sees the card's memory (its PCI memory bar); 0: it does not. */
	uint64_t cpu_address;
	struct pb_wddm_callbacks callbacks; /**< functions of the OS */
	/**
	 * Lock of the adapter, which is taken at DISPATCH_LEVEL or below, and under which the shim takes the short locks
	 * of the channel's link: both are set, or neither. NULL: the caller makes one call at a time.
	 */
	struct pb_lock *lock;
};

struct pb_wddm_adapter;

/** Target of hContext. The driver owns the memory and keeps it in place; only the shim writes it. */
struct pb_wddm_context {
	struct pb_wddm_adapter *adapter; /**< its adapter */
	uint32_t handle;                 /**< the firmware's handle of the context */
	uint32_t node;                   /**< node of its submissions */
	void *staging;                   /**< private memory for Render, the driver's */
	uint32_t staging_size;           /**< size of `staging`, in bytes */
	bool lost;                       /**< a submission failed: Render refuses further ones */
};

/** A submission whose end has not been reported to the OS. */
struct pb_wddm_packet {
	uint32_t fence_id;               /**< SubmissionFenceId */
	uint64_t timeline;               /**< timeline value of the queue when the submission has completed */
	struct pb_wddm_context *context; /**< NULL: none, as for paging buffers */
	bool paging;                     /**< it is a paging buffer */
	bool failed;                     /**< an event reported that it failed */
};

/** A PreemptCommand that has not been answered. */
struct pb_wddm_preemption {
	bool pending; /**< the OS waits for DMA_PREEMPTED */
	bool begun;   /**< the firmware has the request; until then the reply of an earlier one is awaited */
	uint32_t id;  /**< PreemptionFenceId */
	uint32_t count; /**< count of the preemption record that will answer it */
};

/** The last progress seen of a node's engine. */
struct pb_wddm_progress {
	uint32_t counter;   /**< the engine's progress counter */
	uint32_t completed; /**< submissions that the node has completed */
	uint64_t time;      /**< microseconds on the link's clock */
};

/** State of one node. */
struct pb_wddm_node {
	struct pb_queue queue;  /**< the node's only queue */
	struct pb_memory lists; /**< lists of the submissions in flight, by number */
	/** By number of the submission, modulo queue_entries. */
	struct pb_wddm_packet packets[PB_WDDM_PACKETS];
	uint32_t submitted;       /**< submissions made, modulo 2^32 */
	uint32_t reported;        /**< submissions whose end was reported, or will never be; modulo 2^32 */
	uint32_t current_fence;   /**< fence id of the last submission reported as completed or aborted */
	uint32_t submitted_fence; /**< fence id of the last SubmitCommand */
	struct pb_wddm_preemption preemption; /**< present PreemptCommand */
	struct pb_wddm_progress progress;     /**< for QueryEngineStatus, which alone uses it */
	bool resetting; /**< a reset waits for the card: the interrupt leaves the node alone */
};

/** One card. The driver owns the memory and keeps it in place; only the shim writes it. */
struct pb_wddm_adapter {
	struct pb_wddm_config config;             /**< a copy of the driver's */
	struct pb_segment trap;                   /**< segment PB_WDDM_TRAP_SEGMENT */
	struct pb_wddm_node nodes[PB_WDDM_NODES]; /**< the first config.node_count are used */
	uint32_t events_dropped;                  /**< the channel's count of lost events, as last read */
	uint32_t
		error; /**< enum pb_error: first fatal error; from then on nothing is submitted or reported */
	bool stopped;  /**< between ResetFromTimeout and RestartFromTimeout */
	bool asleep;   /**< SetPowerState has left D0 */
};

/* ---- for StartDevice and CreateContext ---- */

/**
 * Creates the queues, the memory for lists, and the trap segment. Blocks.
 * @param adapter out
 * @param config copied
 * @retval PB_ERROR_BAD_ARGUMENT the configuration is out of its limits
 * @retval PB_ERROR_NO_SPACE segment 0 is too small for queues and lists
 */
enum pb_error pb_wddm_start(struct pb_wddm_adapter *adapter, const struct pb_wddm_config *config);
/**
 * Destroys the queues, frees the memory and destroys the trap segment. Blocks.
 * @pre all contexts are destroyed
 */
enum pb_error pb_wddm_stop(struct pb_wddm_adapter *adapter);

/** Returns the staging memory that a context needs for command buffers and lists of these sizes, in bytes. */
uint64_t pb_wddm_staging_bytes(uint32_t command_length, uint32_t allocation_count, uint32_t location_count);
/**
 * Returns the private data that a DMA buffer needs for lists of these sizes, in bytes. DmaBufferPrivateDataSize of
 * DXGK_CONTEXTINFO is that for config.allocations and config.patches. With less room for patches, Render builds shorter
 * buffers; with less for allocations, none.
 */
uint64_t pb_wddm_private_bytes(uint32_t allocation_count, uint32_t patch_count);
/**
 * Starts the private data of a DMA buffer that the driver's own Render wrote, for a command set that pb_wddm_render()
 * does not know. Patch and SubmitCommand take the buffer as one of pb_wddm_render() that knew no address. Never blocks.
 * @param size room in bytes: pb_wddm_private_bytes() for config.allocations and the longest patch list of the buffer
 * @return the byte behind it; NULL: too little room
 */
void *pb_wddm_private_start(const struct pb_wddm_adapter *adapter, void *private_data, uint32_t size);
/**
 * Creates a context: one for each hContext of the OS. Blocks.
 * @param context out
 * @param node below config.node_count
 * @param staging private memory for Render, 8-byte aligned; no other context may use it
 * @param staging_size in bytes
 * @retval PB_ERROR_BAD_ARGUMENT the node does not exist
 */
enum pb_error pb_wddm_context_create(struct pb_wddm_adapter *adapter, struct pb_wddm_context *context,
				     uint32_t node, void *staging, uint32_t staging_size);
/**
 * Destroys a context. Blocks.
 * @retval PB_ERROR_BUSY a submission of the context has not been reported as completed: wait for its fence
 */
enum pb_error pb_wddm_context_destroy(struct pb_wddm_context *context);

/* ---- description of the adapter, contexts and allocations: returns an NTSTATUS; never blocks but for contexts ---- */

/**
 * DxgkDdiQueryAdapterInfo: what the OS's version knows of DRIVERCAPS, QUERYSEGMENT, QUERYSEGMENT3. Segments are those of
 * the configuration, whose ids must be 1 to n without a gap.
 * @retval PB_STATUS_NOT_SUPPORTED another type, which may be the driver's
 * @retval PB_STATUS_BUFFER_TOO_SMALL pOutputData does not hold the struct of the OS's version, or the segments
 */
uint32_t pb_wddm_query_adapter_info(const struct pb_wddm_adapter *adapter,
				    const struct pb_dxgkarg_queryadapterinfo *query);
/**
 * DxgkDdiCreateContext: pb_wddm_context_create(), and fills in hContext and ContextInfo. Blocks.
 * @retval PB_STATUS_INVALID_PARAMETER no such node or engine, or a GDI context where config.allocations is below 256
 */
uint32_t pb_wddm_create_context(struct pb_wddm_adapter *adapter, struct pb_wddm_context *context,
				struct pb_dxgkarg_createcontext *create, void *staging,
				uint32_t staging_size);
/**
 * DxgkDdiCreateAllocation. The driver owns the objects.
 * @param objects one for each element of pAllocationInfo, written here
 * @retval PB_STATUS_INVALID_PARAMETER private data that is not struct pb_wddm_allocation_data; nothing was created
 */
uint32_t pb_wddm_create_allocation(const struct pb_wddm_adapter *adapter,
				   struct pb_dxgkarg_createallocation *create,
				   struct pb_wddm_allocation *const *objects);
/** DxgkDdiOpenAllocation. @param objects what DxgkCbGetHandleData returns for each element's hAllocation */
uint32_t pb_wddm_open_allocation(const struct pb_dxgkarg_openallocation *open,
				 struct pb_wddm_allocation *const *objects);
/** DxgkDdiDescribeAllocation. */
uint32_t pb_wddm_describe_allocation(struct pb_dxgkarg_describeallocation *describe);

#define PB_WDDM_DEBUG_MAGIC 0x47445042u /**< "BPDG" */

/** A node in a debug report. */
struct pb_wddm_debug_node {
	uint32_t submitted;       /**< submissions made, modulo 2^32 */
	uint32_t reported;        /**< submissions reported, modulo 2^32 */
	uint32_t current_fence;   /**< fence id of the last one reported */
	uint32_t submitted_fence; /**< fence id of the last one submitted */
};

/** What CollectDbgInfo writes. The newest records of the firmware's trace follow, the oldest of them first. */
struct pb_wddm_debug {
	uint32_t magic;   /**< PB_WDDM_DEBUG_MAGIC */
	uint32_t bytes;   /**< size of this struct */
	uint32_t reason;  /**< Reason of the call */
	uint32_t error;   /**< enum pb_error that ended the adapter; 0: none */
	uint32_t dropped; /**< events of the channel that were lost, modulo 2^32 */
	uint32_t
		records; /**< struct pb_trace_record behind this struct; 0: no room, or the board has no trace */
	struct pb_wddm_debug_node nodes[PB_WDDM_NODES]; /**< by node; 0 behind the last one */
	struct pb_crash_record crash;                   /**< of the firmware; 0: it did not crash */
};

/**
 * DxgkDdiCollectDbgInfo: writes struct pb_wddm_debug and the trace, as much of them as fits, and 0 behind. Reads memory
 * of the card, and waits for nothing. Beside another function it may find some words older than others.
 */
uint32_t pb_wddm_collect_dbg_info(const struct pb_wddm_adapter *adapter,
				  const struct pb_dxgkarg_collectdbginfo *collect);

/* ---- Render: returns an NTSTATUS; the only functions that refuse invalid commands ---- */

/**
 * DxgkDdiRender.
 * @param context of the device that the OS passes
 * @return an NTSTATUS of PB_RENDER_STATUSES, or PB_STATUS_GPU_EXCEPTION_ON_DEVICE: the context or the adapter is lost
 */
uint32_t pb_wddm_render(struct pb_wddm_context *context, struct pb_dxgkarg_render *render);
/**
 * DxgkDdiRenderKm: translates drawing commands of the kernel (struct pb_dxgk_renderkm_command). Each call checks the whole
 * command buffer. The context's staging memory must be that of a command buffer of 56 bytes or more.
 * @retval PB_STATUS_INVALID_PARAMETER a command that engines cannot do, or one that breaks a rule; nothing was written
 * @return else as pb_wddm_render(), but neither PRIVILEGED_INSTRUCTION nor ILLEGAL_INSTRUCTION
 */
uint32_t pb_wddm_render_km(struct pb_wddm_context *context, struct pb_dxgkarg_render *render);
/**
 * DxgkDdiPresent, for colour fills, and for blits without scaling whose rectangles do not overlap. Each sub-rectangle
 * becomes a DMA buffer of its own: all calls but that for the last sub-rectangle return
 * PB_STATUS_INSUFFICIENT_DMA_BUFFER.
 * @return as pb_wddm_render()
 */
uint32_t pb_wddm_present(struct pb_wddm_context *context, struct pb_dxgkarg_present *present);

/* ---- submission: always returns PB_STATUS_SUCCESS; never blocks ---- */

/**
 * DxgkDdiPatch: keeps the lists in the DMA buffer's private data, for each SubmitCommand of the same range until Patch
 * or Render is called for the buffer again. An allocation that no entry of the range names is not read. An entry is left out,
 * and not checked, if its allocation is listed as at Render, and no submission of the buffer has listed it otherwise since.
 */
uint32_t pb_wddm_patch(struct pb_wddm_adapter *adapter, const struct pb_dxgkarg_patch *patch);
/**
 * DxgkDdiSubmitCommand: submits the buffer with the lists kept by Patch; without such lists it runs unpatched. Private
 * data that Render and Patch cannot have left, or whose lists of this range were overwritten by those of another: the
 * range does not run, and its context is lost. A paging buffer with such private data ends the adapter.
 */
uint32_t pb_wddm_submit_command(struct pb_wddm_adapter *adapter,
				const struct pb_dxgkarg_submitcommand *submit);

/**
 * DxgkDdiPreemptCommand: notifies DMA_PREEMPTED at once if no submission is in flight, else from the interrupt routine,
 * when the running buffer has completed. SubmitCommand may be called at any time, also from within the notification.
 */
uint32_t pb_wddm_preempt_command(struct pb_wddm_adapter *adapter,
				 const struct pb_dxgkarg_preemptcommand *preempt);

/* ---- timeout detection and recovery: returns PB_STATUS_SUCCESS or PB_STATUS_UNSUCCESSFUL; blocks ---- */

/** DxgkDdiQueryDependentEngineGroup: a reset of a node affects no other node. Never blocks. */
uint32_t pb_wddm_query_dependent_engine_group(const struct pb_wddm_adapter *adapter,
					      struct pb_dxgkarg_querydependentenginegroup *group);
/** DxgkDdiQueryEngineStatus: responsive if the node is idle, or made progress within the last 10 ms. */
uint32_t pb_wddm_query_engine_status(struct pb_wddm_adapter *adapter,
				     struct pb_dxgkarg_queryenginestatus *status);
/**
 * DxgkDdiResetEngine: aborts the submissions that the engine ran, and those that completed without having been
 * reported. Later submissions are dropped, as in a preemption.
 * @return PB_STATUS_UNSUCCESSFUL: the firmware or the engine is dead
 */
uint32_t pb_wddm_reset_engine(struct pb_wddm_adapter *adapter, struct pb_dxgkarg_resetengine *reset);
/**
 * DxgkDdiResetFromTimeout: drops all submissions of all nodes. Their contexts are lost. Nothing can be submitted until
 * pb_wddm_restart_from_timeout().
 */
uint32_t pb_wddm_reset_from_timeout(struct pb_wddm_adapter *adapter);
/** DxgkDdiRestartFromTimeout: allows submissions again. Never blocks. */
uint32_t pb_wddm_restart_from_timeout(struct pb_wddm_adapter *adapter);

/* ---- power ---- */

#define PB_DISPLAY_ADAPTER_HW_ID 0xffffffffu /**< DeviceUid of the adapter itself */
#define PB_DEVICE_POWER_D0       1u          /**< DEVICE_POWER_STATE: PowerDeviceD0 */

/**
 * DxgkDdiSetPowerState of the adapter; children have no power. Outside D0 nothing may be submitted or preempted. What is
 * in flight ends and is reported. Contexts, segments and the memory of the card stay as they are. Never blocks.
 * @param device DeviceUid
 * @param state DEVICE_POWER_STATE
 * @retval PB_STATUS_UNSUCCESSFUL D0 was asked for, and the adapter has failed
 */
uint32_t pb_wddm_set_power_state(struct pb_wddm_adapter *adapter, uint32_t device, uint32_t state);

/* ---- paging ---- */

/**
 * DxgkDdiBuildPagingBuffer. The buffer lies in system memory (segment 0), 4-byte aligned, and is submitted with
 * PB_FLAG_PAGING and with the private data that the calls wrote: PB_WDDM_PAGING_RECORD_BYTES each. No address follows
 * from where the OS maps the buffer. An operation that the card cannot do ends the adapter, because the driver model has
 * no status for it: its fence is never reported. Never blocks.
 * @return PB_STATUS_SUCCESS, or PB_STATUS_INSUFFICIENT_DMA_BUFFER: submit the buffer and call again with a new one
 */
uint32_t pb_wddm_build_paging_buffer(struct pb_wddm_adapter *adapter,
				     struct pb_dxgkarg_buildpagingbuffer *build);

/* ---- interrupt ---- */

/**
 * DxgkDdiInterruptRoutine, at the interrupt's own level: asks for the DPC, which finds what has happened. Touches no
 * state of the adapter, so that it may come in the middle of any other function.
 */
void pb_wddm_interrupt_routine(const struct pb_wddm_adapter *adapter);
/**
 * Polls the card, at DISPATCH_LEVEL or below: notifies the OS of each completed submission, in order, then of a
 * preemption; then asks for the DPC. Never blocks. Where one call is made at a time, it may be the interrupt routine.
 * @return true: the OS was notified
 */
bool pb_wddm_interrupt(struct pb_wddm_adapter *adapter);
/** DxgkDdiDpcRoutine: polls the card as pb_wddm_interrupt() does, then calls notify_dpc. */
void pb_wddm_dpc(struct pb_wddm_adapter *adapter);
/**
 * DxgkDdiQueryCurrentFence: polls the card as pb_wddm_interrupt() does, then returns the fence id of the last
 * submission reported. Before the first one of a node it returns one less than the first fence id.
 * @return PB_STATUS_SUCCESS
 */
uint32_t pb_wddm_query_current_fence(struct pb_wddm_adapter *adapter,
				     struct pb_dxgkarg_querycurrentfence *query);

#ifdef __cplusplus
}
#endif

#endif
