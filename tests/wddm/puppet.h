/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A miniport with no card behind it: each packet takes a fixed time, and it
 * breaks one rule on request. With none, it is a correct one.
 */
#ifndef PB_TESTS_WDDM_PUPPET_H
#define PB_TESTS_WDDM_PUPPET_H

#include "tests/wddm/os_model.h"

#define PUPPET_PACKET_US 100u

/** What it does wrong. */
enum puppet_vice {
	PUPPET_CORRECT,
	PUPPET_PATCH_FAILS,
	PUPPET_SUBMIT_FAILS,
	PUPPET_PREEMPT_FAILS,
	PUPPET_TWICE,            /**< each completion again */
	PUPPET_REVERSED,         /**< the second before the first */
	PUPPET_ONE_LEDGER,       /**< the last fence of any node, on each of them */
	PUPPET_AHEAD,            /**< a fence that is still to come */
	PUPPET_INLINE,           /**< what is empty completes in SubmitCommand */
	PUPPET_NO_SUCH_NODE,     /**< completes on node 7 */
	PUPPET_FAULTS,           /**< DMA_FAULTED instead of completions */
	PUPPET_DEAF,             /**< no answer to a preemption */
	PUPPET_OTHER_PREEMPTION, /**< the packet's fence for the preemption's */
	PUPPET_PREEMPT_AHEAD,    /**< last completed is one that was never submitted */
	PUPPET_PREEMPT_THEN_COMPLETE,
	PUPPET_HANGS,        /**< runs nothing; resets work */
	PUPPET_RESET_AHEAD,  /**< LastAbortedFenceId beyond what was submitted */
	PUPPET_RESET_BEHIND, /**< LastAbortedFenceId before what was completed */
	PUPPET_LATE,         /**< an interrupt of aborted work */
	PUPPET_RESET_FAILS,  /**< of the engine: the adapter's works */
	PUPPET_DEAD,         /**< neither works */
	PUPPET_SLOW,         /**< six seconds in SubmitCommand */
	PUPPET_SILENT,       /**< no interrupt at all, but QueryCurrentFence looks */
	PUPPET_QUERY_LIES,   /**< the same, but it says something else than it notifies */
	PUPPET_NO_DPC,       /**< never calls NotifyDpc */
	PUPPET_PREEMPTED_TWICE,
	PUPPET_PREEMPT_BEHIND, /**< last completed is one before what was completed */
	PUPPET_LATE_PREEMPTED, /**< answers the preemption after the reset of its engine */
	PUPPET_LATE_ADAPTER, /**< no engine reset; an interrupt of work that the reset of the adapter aborted */
	PUPPET_NOT_IN_GROUP,  /**< a node does not depend on itself */
	PUPPET_STRANGE_GROUP, /**< a node depends on one that there is not */
	PUPPET_ONE_GROUP,     /**< all nodes are reset with each of them; hangs */
	PUPPET_RESTART_FAILS, /**< of the adapter, behind a reset that worked */
};

struct puppet_node {
	uint32_t fences[OS_HARDWARE_MAX];
	uint32_t count;
	uint64_t started;
	uint32_t done;      /**< the last one done */
	uint32_t submitted; /**< the last one submitted */
};

struct puppet {
	struct os_model *os;
	enum puppet_vice vice;
	uint64_t now;
	struct puppet_node nodes[OS_NODES];
	uint32_t last_done; /**< of any node */
	uint32_t coalesce;  /**< reports every so many only; 0, 1: each */
	uint32_t patches;
	uint32_t submissions;
	uint32_t late_fence;
	bool late;
	uint32_t preemption; /**< the last one of node 0 */
};

/** @param vice what is wrong with it; @param preempts whether it is PreemptionAware; @param first_fence of each node */
void puppet_start(struct puppet *puppet, struct os_model *os, enum puppet_vice vice, bool preempts,
		  uint32_t first_fence);

#endif
