/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A miniport without a card: each packet takes a fixed time. On request it breaks one rule, otherwise it is
 * correct.
 */
#ifndef PB_TESTS_WDDM_PUPPET_H
#define PB_TESTS_WDDM_PUPPET_H

#include "tests/wddm/os/vidsch.h"

#define PUPPET_PACKET_US 100u

/** The rule that it breaks. */
enum puppet_defect {
	PUPPET_CORRECT,
	PUPPET_PATCH_FAILS,
	PUPPET_SUBMIT_FAILS,
	PUPPET_PREEMPT_FAILS,
	PUPPET_TWICE,            /**< reports each completion twice */
	PUPPET_REVERSED,         /**< reports the second before the first */
	PUPPET_ONE_LEDGER,       /**< reports the last fence of any node on every node */
	PUPPET_AHEAD,            /**< reports a fence that was not submitted yet */
	PUPPET_INLINE,           /**< completes an empty packet in SubmitCommand */
	PUPPET_NO_SUCH_NODE,     /**< completes on node 7 */
	PUPPET_FAULTS,           /**< DMA_FAULTED instead of completions */
	PUPPET_DEAF,             /**< does not answer a preemption */
	PUPPET_OTHER_PREEMPTION, /**< reports the packet's fence as the preemption's */
	PUPPET_PREEMPT_AHEAD,    /**< last completed is a fence that was never submitted */
	PUPPET_PREEMPT_THEN_COMPLETE,
	PUPPET_HANGS,        /**< runs nothing; resets work */
	PUPPET_RESET_AHEAD,  /**< LastAbortedFenceId beyond what was submitted */
	PUPPET_RESET_BEHIND, /**< LastAbortedFenceId before what was completed */
	PUPPET_LATE,         /**< an interrupt of an aborted packet */
	PUPPET_RESET_FAILS,  /**< the reset of the engine fails, that of the adapter succeeds */
	PUPPET_DEAD,         /**< both resets fail */
	PUPPET_SLOW,         /**< six seconds in SubmitCommand */
	PUPPET_SILENT,       /**< no interrupt at all, but QueryCurrentFence polls */
	PUPPET_QUERY_LIES, /**< no interrupt at all, and QueryCurrentFence returns another fence than it notifies */
	PUPPET_NO_DPC, /**< never calls NotifyDpc */
	PUPPET_PREEMPTED_TWICE,
	PUPPET_PREEMPT_BEHIND, /**< last completed is a fence before the last completion */
	PUPPET_LATE_PREEMPTED, /**< answers the preemption after the reset of its engine */
	PUPPET_LATE_ADAPTER, /**< no engine reset; an interrupt of a packet that the reset of the adapter aborted */
	PUPPET_NOT_IN_GROUP,  /**< a node does not depend on itself */
	PUPPET_STRANGE_GROUP, /**< a node depends on one that does not exist */
	PUPPET_ONE_GROUP,     /**< all nodes are reset together; hangs */
	PUPPET_RESTART_FAILS, /**< the restart of the adapter fails after a reset that succeeded */
};

struct puppet_node {
	uint32_t fences[OS_HARDWARE_MAX];
	uint32_t count;
	uint64_t started;
	uint32_t done;      /**< last fence completed */
	uint32_t submitted; /**< last fence submitted */
};

struct puppet {
	struct os_model *os;
	enum puppet_defect defect;
	uint64_t now;
	struct puppet_node nodes[OS_NODES];
	uint32_t last_done; /**< last fence completed on any node */
	uint32_t coalesce;  /**< reports one completion in so many; 0, 1: each */
	uint32_t patches;
	uint32_t submissions;
	uint32_t late_fence;
	bool late;
	uint32_t preemption; /**< id of the last one of node 0 */
};

/**
 * @param defect the rule that it breaks; @param preempts whether it is PreemptionAware; @param first_fence of
 * each node
 */
void puppet_start(struct puppet *puppet, struct os_model *os, enum puppet_defect defect, bool preempts,
		  uint32_t first_fence);

#endif
