/* SPDX-License-Identifier: MIT */
/*
 * Timeout detection and recovery: the firmware resets the engine of the node's queue, and the shim drops all
 * submissions of the node. Completions that were not reported by then are never reported.
 */
#include "host/wddm/internal.h"

/** Time without progress after which a busy engine counts as unresponsive, in microseconds. */
#define RESPONSE_US 10000u

uint32_t pb_wddm_query_dependent_engine_group(const struct pb_wddm_adapter *adapter,
					      struct pb_dxgkarg_querydependentenginegroup *group)
{
	(void)adapter;
	group->DependentNodeOrdinalMask = UINT64_C(1) << (group->NodeOrdinal & 63u);
	return PB_STATUS_SUCCESS;
}

/** Returns whether the node is idle, or made progress within RESPONSE_US. */
static bool made_progress(struct pb_wddm_progress *progress, const struct pb_node_status *status,
			  uint64_t now)
{
	if (status->in_flight != 0 && status->progress == progress->counter &&
	    status->completed == progress->completed)
		return now - progress->time < RESPONSE_US;
	*progress = (struct pb_wddm_progress){
		.counter = status->progress, .completed = status->completed, .time = now};
	return true;
}

uint32_t pb_wddm_query_engine_status(struct pb_wddm_adapter *adapter,
				     struct pb_dxgkarg_queryenginestatus *status)
{
	struct pb_channel *channel = adapter->config.channel;
	struct pb_node_status node;

	status->EngineStatus = 0;
	if (pb_wddm_get(&adapter->error) != PB_ERROR_OK ||
	    status->NodeOrdinal >= adapter->config.node_count ||
	    pb_node_query(channel, status->NodeOrdinal, &node) != PB_ERROR_OK)
		return PB_STATUS_SUCCESS;
	if (node.state == PB_NODE_STATE_RUNNING &&
	    made_progress(&adapter->nodes[status->NodeOrdinal].progress, &node,
			  channel->link->ops->now(channel->link)))
		status->EngineStatus = PB_DXGK_ENGINE_RESPONSIVE;
	(void)pb_wddm_interrupt(adapter);
	return PB_STATUS_SUCCESS;
}

/* ---- resets ---- */

static enum pb_error check_alive(struct pb_wddm_adapter *adapter, uint32_t n)
{
	struct pb_node_status status;
	enum pb_error error = pb_node_query(adapter->config.channel, n, &status);

	return error == PB_ERROR_OK && status.state == PB_NODE_STATE_DEAD ? PB_ERROR_ENGINE_DEAD : error;
}

static enum pb_error finish_preemption(struct pb_queue *queue, void *unused)
{
	(void)unused;
	return pb_queue_preempt_finish(queue, NULL);
}

/**
 * Returns how many submissions a preemption or a reset returned that had not begun. One that had begun has changed
 * memory, and must not run again from its beginning: it counts as aborted.
 */
static uint32_t untouched(const struct pb_preempt *report)
{
	return report->started ? report->returned - 1u : report->returned;
}

/**
 * Resets a node and releases it. Pre: the node is marked as resetting, so that no other function uses its queue.
 * @param done out: number behind the last submission completed or aborted; later ones were returned, and had not begun
 */
static enum pb_error clear(struct pb_wddm_adapter *adapter, uint32_t n, uint32_t *done)
{
	struct pb_wddm_node *node = &adapter->nodes[n];
	struct pb_preempt reset;
	const struct pb_preempt *preempt = &node->queue.stop.last;
	enum pb_error error = pb_queue_reset(&node->queue, &reset);

	if (error != PB_ERROR_OK)
		return error;
	*done = reset.completed - untouched(&reset);
	/*
	 * The reset ends a preemption, too. What the preemption returned may lie right before what the reset returned; it is
	 * aborted if the first one that the reset returned had begun.
	 */
	if (node->queue.stop.pending)
		error = pb_patiently(&node->queue, finish_preemption, NULL);
	if (pb_wddm_is_refusal(error)) {
		node->preemption.begun = false;
		error = PB_ERROR_OK;
	}
	if (error == PB_ERROR_OK && node->preemption.begun && preempt->completed == *done)
		*done -= untouched(preempt);
	if (error == PB_ERROR_OK)
		error = pb_node_release(adapter->config.channel, n);
	return error == PB_ERROR_OK ? check_alive(adapter, n) : error;
}

/**
 * Drops all submissions of a node. Those before number `aborted` count as failed, and their fence ids as reached.
 * Pre: the caller holds the adapter's lock.
 */
static void forget(struct pb_wddm_adapter *adapter, struct pb_wddm_node *node, uint32_t aborted)
{
	for (uint32_t p = node->reported; p != aborted; p++) {
		pb_wddm_fail(pb_wddm_packet(adapter, node, p));
		pb_wddm_put(&node->current_fence, pb_wddm_packet(adapter, node, p)->fence_id);
	}
	pb_wddm_put(&node->reported, node->submitted);
	node->preemption = (struct pb_wddm_preemption){.pending = false};
}

/**
 * Takes nodes from the interrupt, or gives them back: interrupts of a node that is reset are ignored.
 * @return false: the adapter has ended
 */
static bool mark(struct pb_wddm_adapter *adapter, uint32_t first, uint32_t behind, bool resetting)
{
	bool alive;

	pb_wddm_lock(adapter);
	for (uint32_t n = first; n < behind; n++)
		adapter->nodes[n].resetting = resetting;
	alive = adapter->error == PB_ERROR_OK;
	pb_wddm_unlock(adapter);
	return alive;
}

uint32_t pb_wddm_reset_engine(struct pb_wddm_adapter *adapter, struct pb_dxgkarg_resetengine *reset)
{
	const uint32_t n = reset->NodeOrdinal;
	struct pb_wddm_node *node = &adapter->nodes[n % PB_WDDM_NODES];
	bool cleared;
	uint32_t done;

	if (n >= adapter->config.node_count)
		return PB_STATUS_UNSUCCESSFUL;
	cleared = mark(adapter, n, n + 1, true) && clear(adapter, n, &done) == PB_ERROR_OK;
	if (cleared) {
		pb_wddm_lock(adapter);
		pb_wddm_read_events(adapter);
		forget(adapter, node, done);
		reset->LastAbortedFenceId = node->current_fence;
		pb_wddm_unlock(adapter);
	}
	(void)mark(adapter, n, n + 1, false);
	if (!cleared)
		return PB_STATUS_UNSUCCESSFUL;
	/* Report completions of the other nodes. */
	(void)pb_wddm_interrupt(adapter);
	return pb_wddm_get(&adapter->error) == PB_ERROR_OK ? PB_STATUS_SUCCESS : PB_STATUS_UNSUCCESSFUL;
}

/** Drops all submissions of all nodes. Pre: all nodes are cleared, and the caller holds the adapter's lock. */
static void forget_all(struct pb_wddm_adapter *adapter)
{
	pb_wddm_read_events(adapter);
	for (uint32_t n = 0; n < adapter->config.node_count; n++) {
		struct pb_wddm_node *node = &adapter->nodes[n];

		forget(adapter, node, node->submitted);
		/* Also if an engine reset or a preemption dropped that submission before. */
		if (node->submitted != 0)
			pb_wddm_put(&node->current_fence, node->submitted_fence);
	}
	adapter->stopped = true;
}

uint32_t pb_wddm_reset_from_timeout(struct pb_wddm_adapter *adapter)
{
	const uint32_t count = adapter->config.node_count;
	bool cleared = mark(adapter, 0, count, true);
	uint32_t done;

	for (uint32_t n = 0; n < count && cleared; n++)
		cleared = clear(adapter, n, &done) == PB_ERROR_OK;
	if (cleared) {
		pb_wddm_lock(adapter);
		forget_all(adapter);
		pb_wddm_unlock(adapter);
	}
	(void)mark(adapter, 0, count, false);
	return cleared ? PB_STATUS_SUCCESS : PB_STATUS_UNSUCCESSFUL;
}

uint32_t pb_wddm_restart_from_timeout(struct pb_wddm_adapter *adapter)
{
	bool alive;

	pb_wddm_lock(adapter);
	adapter->stopped = false;
	alive = adapter->error == PB_ERROR_OK;
	pb_wddm_unlock(adapter);
	return alive ? PB_STATUS_SUCCESS : PB_STATUS_UNSUCCESSFUL;
}
