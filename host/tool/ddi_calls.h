/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A record of the DDI calls of a WDDM kernel, for timelines: each call with its
 * time on the clock of the host's link.
 */
#ifndef PB_HOST_TOOL_DDI_CALLS_H
#define PB_HOST_TOOL_DDI_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "patchbay/link.h"

/* X(NAME, number, text) */
#define PB_DDI_CALLS(X)                                                                                      \
	X(RENDER, 1, "Render")                                                                               \
	X(BUILD_PAGING_BUFFER, 2, "BuildPagingBuffer")                                                       \
	X(PATCH, 3, "Patch")                                                                                 \
	X(SUBMIT_COMMAND, 4, "SubmitCommand")                                                                \
	X(INTERRUPT, 5, "InterruptRoutine")                                                                  \
	X(COMPLETED, 6, "DMA_COMPLETED")                                                                     \
	X(PREEMPTED, 7, "DMA_PREEMPTED")                                                                     \
	X(DPC, 8, "DpcRoutine")                                                                              \
	X(PREEMPT_COMMAND, 9, "PreemptCommand")                                                              \
	X(QUERY_CURRENT_FENCE, 10, "QueryCurrentFence")                                                      \
	X(QUERY_ENGINE_STATUS, 11, "QueryEngineStatus")                                                      \
	X(QUERY_DEPENDENT_ENGINE_GROUP, 12, "QueryDependentEngineGroup")                                     \
	X(RESET_ENGINE, 13, "ResetEngine")                                                                   \
	X(RESET_FROM_TIMEOUT, 14, "ResetFromTimeout")                                                        \
	X(RESTART_FROM_TIMEOUT, 15, "RestartFromTimeout")

/** DDI functions, and the notifications that the miniport makes from its interrupt routine. */
enum pb_ddi_function {
#define PB_DDI_CALL_ENUM(name, number, text) PB_DDI_##name = (number),
	PB_DDI_CALLS(PB_DDI_CALL_ENUM)
#undef PB_DDI_CALL_ENUM
};

/** The node of a call that concerns all nodes. */
#define PB_DDI_NONE UINT32_MAX

/** What the id of a call names. Every number is a valid id. */
enum pb_ddi_names {
	PB_DDI_NAMES_NOTHING = 0,    /**< there is no id, or none yet */
	PB_DDI_NAMES_PACKET = 1,     /**< SubmissionFenceId */
	PB_DDI_NAMES_PREEMPTION = 2, /**< PreemptionFenceId */
};

/** One call. */
struct pb_ddi_call {
	uint64_t host_us;  /**< the clock of the link when the call began, in microseconds */
	uint32_t function; /**< enum pb_ddi_function */
	uint32_t node;     /**< NodeOrdinal, or PB_DDI_NONE */
	uint32_t names;    /**< enum pb_ddi_names */
	uint32_t id;       /**< fence id of a packet or of a preemption */
	uint32_t status;   /**< NTSTATUS that the call returned; 0 of a notification */
};

/** Calls in the order in which they began. */
struct pb_ddi_record {
	struct pb_link *link;      /**< to the card; has the clock */
	struct pb_ddi_call *calls; /**< heap memory; freed by pb_ddi_record_free() */
	size_t count;              /**< number of calls */
	bool incomplete;           /**< the host was out of memory: calls are missing */
};

/** Returns the name of a function; "?": an unknown one. */
const char *pb_ddi_name(uint32_t function);
/**
 * Appends a call that begins now.
 * @return its place, for the functions below; of a call that there was no memory for, any place
 */
size_t pb_ddi_began(struct pb_ddi_record *record, enum pb_ddi_function function, uint32_t node);
/** As pb_ddi_began(), for a call with an id. */
size_t pb_ddi_began_with(struct pb_ddi_record *record, enum pb_ddi_function function, uint32_t node,
			 uint32_t id);
/** Notes what a call has returned. @return the status */
uint32_t pb_ddi_ended(struct pb_ddi_record *record, size_t place, uint32_t status);
/** Notes the fence id that a call has returned. */
void pb_ddi_name_fence(struct pb_ddi_record *record, size_t place, uint32_t fence_id);
/**
 * Names the packet that calls of Render or BuildPagingBuffer have built: its fence id is known only when it is submitted.
 * Other calls from `from` to before `to` stay as they are.
 */
void pb_ddi_name_built(struct pb_ddi_record *record, size_t from, size_t to, uint32_t fence_id);
/** Frees the calls. */
void pb_ddi_record_free(struct pb_ddi_record *record);

#endif
