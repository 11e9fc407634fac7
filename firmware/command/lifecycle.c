/* SPDX-License-Identifier: MIT */
#include "firmware/command/lifecycle.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"

static enum pb_error check_priority(const struct pb_firmware *firmware, const uint32_t *arguments,
				    struct pb_core_queue_plan *plan)
{
	const uint32_t quantum = arguments[5] != 0 ? arguments[5] : PB_QUANTUM_MICROSECONDS;

	if (arguments[4] >= PB_PRIORITIES || quantum > PB_QUANTUM_MICROSECONDS_MAX)
		return PB_ERROR_BAD_ARGUMENT;
	plan->priority = arguments[4];
	plan->quantum = (quantum + PB_CORE_QUANTUM_UNIT - 1u) / PB_CORE_QUANTUM_UNIT;
	return plan->priority > firmware->channels[plan->channel].grants.priority_cap ? PB_ERROR_NO_PERMISSION
										      : PB_ERROR_OK;
}

static enum pb_error check_ring(struct pb_firmware *firmware, const uint32_t *arguments,
				struct pb_core_queue_plan *plan)
{
	const uint32_t entries = arguments[1];
	const uint64_t address = pb_core_wide(arguments[2], arguments[3]);
	const struct pb_core_segment *system = pb_core_segment_of(
		&firmware->segments, &firmware->channels[plan->channel].memory, PB_SEGMENT_SYSTEM);
	uint32_t offset;

	if (arguments[0] >= firmware->config->node_count || address % PB_LINE_BYTES != 0 ||
	    entries < PB_LIMIT_RING_MIN || entries > PB_LIMIT_RING_MAX || (entries & (entries - 1u)) != 0)
		return PB_ERROR_BAD_ARGUMENT;
	offset = pb_core_segment_memory(
		system, address, sizeof(struct pb_queue_page) + entries * sizeof(struct pb_descriptor));
	if (offset == 0)
		return PB_ERROR_BAD_ARGUMENT;
	plan->node = arguments[0];
	plan->entries = entries;
	plan->page = pb_core_at(firmware, offset);
	return PB_ERROR_OK;
}

enum pb_error pb_core_queue_create(struct pb_firmware *firmware, uint32_t channel, const uint32_t *arguments,
				   uint32_t *handle)
{
	struct pb_core_queue_plan plan = {.channel = channel};
	enum pb_error error = check_ring(firmware, arguments, &plan);
	struct pb_core_queue *queue;
	const struct pb_core_node *node;

	if (error == PB_ERROR_OK)
		error = check_priority(firmware, arguments, &plan);
	if (error != PB_ERROR_OK)
		return error;
	node = &firmware->nodes[plan.node];
	if (pb_core_node_is_dead(&node->machine))
		return PB_ERROR_ENGINE_DEAD;
	if (pb_core_schedule_mode(node) == PB_NODE_HOST_ORDERED && node->queues != 0)
		return PB_ERROR_NO_SPACE;
	error = pb_core_quota_claim(firmware, channel, PB_RESOURCE_QUEUES, 1);
	if (error != PB_ERROR_OK)
		return error;
	queue = pb_core_table_open(firmware, &plan);
	pb_core_links_reset(queue);
	pb_core_ring_init(queue);
	pb_core_wait_init(queue);
	pb_core_stop_init(queue);
	pb_core_fence_init(queue, firmware->channels[channel].endpoint.epoch);
	*handle = pb_core_table_handle(firmware, queue);
	PB_CORE_TRACE_QUEUE(firmware, QUEUE, queue, channel, plan.node);
	pb_core_trace_handle(firmware, queue, PB_TRACE_HANDLE);
	return PB_ERROR_OK;
}

/** Frees a closing queue, and sends the reply that is due. Pre: no queue waits for it, and nothing of it is in flight. */
static void free_queue(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	const uint32_t tag = (uint32_t)queue->awaited;
	const bool reply = pb_core_table_reply_is_due(queue);

	pb_core_trace_handle(firmware, queue, PB_TRACE_FREE);
	pb_core_table_free(firmware, queue);
	pb_core_quota_release(firmware, queue->channel, PB_RESOURCE_QUEUES, 1);
	if (reply)
		pb_core_reply_deferred(firmware, queue->channel, PB_COMMAND_QUEUE_DESTROY, tag, PB_ERROR_OK,
				       NULL);
}

void pb_core_queue_close(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	struct pb_core_node *node = pb_core_node_of(firmware, queue);

	/* Before it closes: a queue that waits for itself is not drained by that. */
	pb_core_wait_leave(firmware, queue);
	if (pb_core_table_step(queue, PB_CORE_QUEUE_EVENT_CLOSE) == PB_CORE_QUEUE_ACTION_NOTHING)
		return;
	pb_core_timeslice_remove(firmware, node, queue);
	pb_core_stop_abandon(firmware, queue);
	if (pb_core_staged_is_of(node, queue)) {
		pb_core_charge_unsubmitted(firmware, node);
		pb_core_staged_drop_closing(firmware, node);
	}
	pb_core_wait_wake(firmware, queue);
	if (queue->in_flight == 0 && !pb_core_wait_is_awaited(queue))
		free_queue(firmware, queue);
}

/** Opens the channel for a host: rings, counts and formats begin anew. */
static void open_channel(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	struct pb_channel_entry *entry = channel->endpoint.entry;

	pb_core_control_open(&channel->commands, entry);
	pb_core_reply_open(&channel->replies, entry);
	pb_core_kicks_open(&channel->kicks, entry);
	pb_core_event_open(&channel->events, entry);
	pb_core_ring_open(&channel->usage, entry);
	pb_core_interrupt_open(firmware, c);
	pb_core_format_forget(&firmware->formats, &channel->formats);
	pb_core_endpoint_new_epoch(&channel->endpoint);
}

/** An admin that left waits for no reply; the next one must not get it in place of its own. Its card runs again. */
static void forget_admin(struct pb_firmware *firmware)
{
	for (uint32_t c = 0; c < PB_LIMIT_CHANNELS; c++)
		firmware->channels[c].closing.reply_is_due = false;
	pb_core_power_abandon(firmware);
}

static void begin_closing(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];

	pb_core_endpoint_new_epoch(&channel->endpoint);
	pb_core_endpoint_show(firmware, c, PB_ERROR_OK);
	if (c == PB_CHANNEL_ADMIN)
		forget_admin(firmware);
	pb_core_schedule_hold_channel(firmware, c, true);
	for (uint32_t n = 0; n < firmware->config->node_count; n++)
		pb_core_staged_drop_closing(firmware, &firmware->nodes[n]);
	channel->closing.at = 0;
	pb_core_mark_deferred(&firmware->marks, c);
}

/** Answers what the host wrote into the request word, whatever it is: it must not open the channel behind its close. */
static void answer_request(struct pb_core_endpoint *endpoint)
{
	pb_core_endpoint_answer(endpoint, pb_shared_read32(&endpoint->entry->attach_request));
}

/**
 * Returns the error in the reply to the command that closed a channel: HOST_REVOKE has failed if an engine may still
 * reach the pages.
 */
static enum pb_error closing_error(const struct pb_firmware *firmware, uint32_t c)
{
	return firmware->channels[c].closing.command == PB_COMMAND_HOST_REVOKE &&
			       pb_core_node_reaches(firmware, c)
		       ? PB_ERROR_ENGINE_DEAD
		       : PB_ERROR_OK;
}

static void end_closing(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];

	pb_core_format_forget(&firmware->formats, &channel->formats);
	pb_core_quota_release_all(firmware, c, PB_RESOURCE_FORMATS);
	for (uint32_t n = 0; n < firmware->config->node_count; n++)
		pb_core_ready_halt(&firmware->nodes[n].ready, c, false);
	pb_core_schedule_hold_channel(firmware, c, false);
	pb_core_unmark_deferred(&firmware->marks, c);
	pb_core_endpoint_show(firmware, c, PB_ERROR_OK);
	if (channel->closing.reply_is_due) {
		channel->closing.reply_is_due = false;
		answer_request(&channel->endpoint);
		pb_core_reply_deferred(firmware, PB_CHANNEL_ADMIN, channel->closing.command,
				       channel->closing.tag, closing_error(firmware, c), NULL);
	}
	/* Its host, or the next one, may be waiting to attach. */
	pb_core_mark_channel(&firmware->marks, c);
}

/** Moves a channel on. @return enum pb_core_channel_action; OPEN and ANSWER are left to the caller, which has the request */
static uint32_t on_event(struct pb_firmware *firmware, uint32_t c, enum pb_core_channel_event event)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	const uint32_t action = pb_core_endpoint_step(&channel->endpoint, event);

	if (action == PB_CORE_CHANNEL_ACTION_CLOSE) {
		begin_closing(firmware, c);
	} else if (action == PB_CORE_CHANNEL_ACTION_WAIT) {
		pb_core_unmark_deferred(&firmware->marks, c);
	} else if (action == PB_CORE_CHANNEL_ACTION_SWEEP) {
		channel->closing.at = 0;
		pb_core_mark_deferred(&firmware->marks, c);
		pb_core_mark_channel(&firmware->marks, c);
	} else if (action == PB_CORE_CHANNEL_ACTION_END) {
		end_closing(firmware, c);
	}
	return action;
}

bool pb_core_channel_close(struct pb_firmware *firmware, uint32_t c, uint32_t tag, uint32_t command)
{
	struct pb_core_channel *channel = &firmware->channels[c];

	pb_core_grants_reset(&channel->grants);
	pb_core_host_forget(&firmware->host, c);
	pb_core_quota_reset(firmware, c);
	(void)on_event(firmware, c, PB_CORE_CHANNEL_EVENT_CLOSE);
	if (channel->endpoint.state == PB_CORE_CHANNEL_CLOSED) {
		answer_request(&channel->endpoint);
		return false;
	}
	channel->closing.reply_is_due = true;
	channel->closing.tag = tag;
	channel->closing.command = (uint8_t)command;
	return true;
}

/** Whether a host may have the channel. */
static enum pb_error attach_error(const struct pb_firmware *firmware, uint32_t c, uint32_t request)
{
	const struct pb_channel_entry *entry = firmware->channels[c].endpoint.entry;

	if ((request & PB_ATTACH_OP_MASK) != PB_ATTACH_OP_ATTACH)
		return PB_ERROR_BAD_ARGUMENT;
	if (pb_shared_read32(&entry->host_version) >> 16 != PB_ABI_MAJOR)
		return PB_ERROR_BAD_VERSION;
	/* A host that saw another incarnation has not seen that its submissions are gone. */
	if (pb_shared_read32(&entry->incarnation) != firmware->boot.incarnation)
		return PB_ERROR_BAD_ARGUMENT;
	return pb_core_node_reaches(firmware, c) ? PB_ERROR_ENGINE_DEAD : PB_ERROR_OK;
}

PB_CORE_COLD void pb_core_channel_request(struct pb_firmware *firmware, uint32_t c, uint32_t request)
{
	struct pb_core_endpoint *endpoint = &firmware->channels[c].endpoint;
	const bool leaves = (request & PB_ATTACH_OP_MASK) == PB_ATTACH_OP_DETACH;
	const enum pb_error error = leaves ? PB_ERROR_OK : attach_error(firmware, c, request);
	const uint32_t action = on_event(firmware, c,
					 leaves || error != PB_ERROR_OK ? PB_CORE_CHANNEL_EVENT_DETACH
									: PB_CORE_CHANNEL_EVENT_ATTACH);

	if (action != PB_CORE_CHANNEL_ACTION_OPEN && action != PB_CORE_CHANNEL_ACTION_ANSWER)
		return; /* answered when it has closed */
	if (action == PB_CORE_CHANNEL_ACTION_OPEN)
		open_channel(firmware, c);
	pb_core_endpoint_show(firmware, c, error);
	pb_core_endpoint_answer(endpoint, request);
	pb_core_interrupt_raise(firmware, c);
}

/** Moves a closing channel on if nothing of it is in flight any more. */
static void drain_channel(struct pb_firmware *firmware, uint32_t c)
{
	if (firmware->channels[c].usage.in_flight == 0 &&
	    firmware->channels[c].endpoint.state == PB_CORE_CHANNEL_CLOSING_SUBMISSIONS)
		(void)on_event(firmware, c, PB_CORE_CHANNEL_EVENT_EMPTY);
}

/** Closes a slice of a channel's queues, from a slice of the table. */
static void close_queues(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	struct pb_core_queue *queue;
	uint32_t closed = 0;

	while (channel->quota.used[PB_RESOURCE_QUEUES] != 0) {
		queue = pb_core_table_next(&firmware->table, c, &channel->closing.at);
		if (queue == NULL)
			break;
		pb_core_table_forget_reply(queue); /* its host reads no reply any more */
		pb_core_queue_close(firmware, queue);
		if (++closed == PB_SLICE_QUEUES || channel->closing.at % PB_SLICE_SEARCH == 0)
			break;
	}
	if (channel->quota.used[PB_RESOURCE_QUEUES] != 0 && channel->closing.at < firmware->table.count)
		return;
	(void)on_event(firmware, c, PB_CORE_CHANNEL_EVENT_SWEPT);
	drain_channel(firmware, c);
}

static void free_contexts(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_closing *closing = &firmware->channels[c].closing;
	const uint32_t end = closing->at + PB_SLICE_CONTEXTS;

	pb_core_context_free_some(&firmware->contexts, c, closing->at, end);
	closing->at = (uint16_t)end;
	if (end < PB_LIMIT_CONTEXTS)
		return;
	pb_core_quota_release_all(firmware, c, PB_RESOURCE_CONTEXTS);
	pb_core_segment_cancel(firmware, c);
	(void)on_event(firmware, c, PB_CORE_CHANNEL_EVENT_SWEPT);
}

void pb_core_channel_step(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];

	if (channel->endpoint.state == PB_CORE_CHANNEL_CLOSING_QUEUES)
		close_queues(firmware, c);
	else if (channel->endpoint.state == PB_CORE_CHANNEL_CLOSING_CONTEXTS)
		free_contexts(firmware, c);
	else if (pb_core_node_reaches(firmware, c) ||
		 !pb_core_segment_free_next(firmware, c, &channel->closing.at))
		(void)on_event(firmware, c, PB_CORE_CHANNEL_EVENT_SWEPT);
}

void pb_core_lifecycle_settle(struct pb_firmware *firmware)
{
	const uint32_t c = pb_core_next_drained(&firmware->marks);
	struct pb_core_queue *queue = pb_core_table_claim_drained(firmware, c);

	if (queue != NULL) {
		free_queue(firmware, queue);
		return;
	}
	pb_core_unmark_drained(&firmware->marks, c);
	drain_channel(firmware, c);
}
