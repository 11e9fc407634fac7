/* SPDX-License-Identifier: MIT */
#include "host/tool/wddm_os.h"

#include <stdarg.h>
#include <stdio.h>

#include "patchbay/names.h"

/** Longest wait for an interrupt in one step, in microseconds: how long a timeout may go unnoticed. */
#define SLICE_US 2000u
/** Packets on a hardware queue: what runs, what is next, and one that a preemption returns for sure. */
#define DEPTH 3u
/** SubmissionFenceId of a node's first packet. It wraps soon. */
#define FIRST_FENCE      0xfffffff0u
#define FIRST_PREEMPTION 1u

bool pb_os_fail(struct pb_os *os, const char *format, ...)
{
	va_list arguments;

	if (os->failed)
		return false;
	os->failed = true;
	va_start(arguments, format);
	(void)vsnprintf(os->message, sizeof(os->message), format, arguments);
	va_end(arguments);
	return false;
}

static struct pb_link *link_of(const struct pb_os *os)
{
	return os->adapter.config.channel->link;
}

static uint64_t now(const struct pb_os *os)
{
	struct pb_link *link = link_of(os);

	return link->ops->now(link);
}

/* ---- queues ---- */

static void append(struct pb_os_queue *queue, struct pb_os_packet *packet)
{
	packet->next = NULL;
	if (queue->first == NULL)
		queue->first = packet;
	else
		queue->last->next = packet;
	queue->last = packet;
	queue->count++;
}

static struct pb_os_packet *pop(struct pb_os_queue *queue)
{
	struct pb_os_packet *packet = queue->first;

	queue->first = packet->next;
	queue->count--;
	return packet;
}

void pb_os_enqueue(struct pb_os *os, struct pb_os_packet *packet)
{
	append(&os->nodes[packet->node].software, packet);
}

void pb_os_split(struct pb_os *os, struct pb_os_packet *packet, struct pb_os_packet *rest)
{
	struct pb_os_queue *queue = &os->nodes[packet->node].software;

	rest->next = packet->next;
	packet->next = rest;
	if (queue->last == packet)
		queue->last = rest;
	queue->count++;
}

void pb_os_retire(struct pb_os *os, struct pb_os_node *node, uint32_t count, enum pb_os_end end)
{
	for (; count != 0; count--) {
		struct pb_os_packet *packet = pop(&node->hardware);

		os->figures.completed += end == PB_OS_COMPLETED ? 1u : 0u;
		os->figures.aborted += end == PB_OS_ABORTED ? 1u : 0u;
		os->client.left(os->client.context, packet, end);
	}
	node->head_since = now(os);
	node->queried = node->head_since;
}

uint32_t pb_os_reported(const struct pb_os_node *node)
{
	uint32_t count = 0;

	for (const struct pb_os_packet *packet = node->hardware.first; packet != NULL && packet->reported;
	     packet = packet->next)
		count++;
	return count;
}

void pb_os_recall(struct pb_os *os, struct pb_os_node *node)
{
	struct pb_os_queue recalled = node->hardware;

	node->recalls++;
	node->hardware = (struct pb_os_queue){.first = NULL};
	for (struct pb_os_packet *packet = recalled.first; packet != NULL; packet = packet->next) {
		/* A paging packet is submitted again with its id, any other with a new one. */
		packet->has_fence = (packet->flags & PB_FLAG_PAGING) != 0;
		os->client.left(os->client.context, packet, PB_OS_RECALLED);
	}
	if (recalled.count == 0)
		return;
	recalled.last->next = node->software.first;
	if (node->software.count == 0)
		node->software.last = recalled.last;
	node->software.first = recalled.first;
	node->software.count += recalled.count;
}

/* ---- notifications of the miniport ---- */

/** The miniport reports each packet, in order. */
static void completed(struct pb_os *os, struct pb_os_node *node, uint32_t n, uint32_t fence_id)
{
	struct pb_os_packet *packet = node->hardware.first;

	while (packet != NULL && packet->reported)
		packet = packet->next;
	if (packet == NULL || packet->arguments.SubmissionFenceId != fence_id) {
		(void)pb_os_fail(os, "bugcheck 0x119, 0x1: node %u completed fence 0x%x, which is not next",
				 (unsigned)n, (unsigned)fence_id);
		return;
	}
	packet->reported = true;
	node->last_completed = fence_id;
}

static void preempted(struct pb_os *os, struct pb_os_node *node, uint32_t n, uint32_t preemption_id,
		      uint32_t last_completed)
{
	if (!node->preemption.pending || node->preemption.fence_id != preemption_id ||
	    node->last_completed != last_completed) {
		(void)pb_os_fail(os,
				 "bugcheck 0x119, 0x1: node %u answered preemption 0x%x, last completed 0x%x",
				 (unsigned)n, (unsigned)preemption_id, (unsigned)last_completed);
		return;
	}
	node->preemption.pending = false;
	pb_os_retire(os, node, pb_os_reported(node), PB_OS_COMPLETED);
	os->figures.preemptions++;
	os->figures.recalled += node->hardware.count;
	pb_os_recall(os, node);
}

static void notify_interrupt(void *context, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	struct pb_os *os = context;
	const bool preemption = data->InterruptType == PB_DXGK_INTERRUPT_DMA_PREEMPTED;
	const uint32_t n = preemption ? data->DmaPreempted.NodeOrdinal : data->DmaCompleted.NodeOrdinal;
	const uint32_t id =
		preemption ? data->DmaPreempted.PreemptionFenceId : data->DmaCompleted.SubmissionFenceId;

	(void)pb_ddi_began_with(&os->record, preemption ? PB_DDI_PREEMPTED : PB_DDI_COMPLETED, n, id);
	if ((!preemption && data->InterruptType != PB_DXGK_INTERRUPT_DMA_COMPLETED) || n >= os->node_count) {
		(void)pb_os_fail(os, "bugcheck 0x119, 0x8: notification %u of node %u",
				 (unsigned)data->InterruptType, (unsigned)n);
		return;
	}
	if (os->nodes[n].resetting)
		return;
	if (preemption)
		preempted(os, &os->nodes[n], n, id, data->DmaPreempted.LastCompletedFenceId);
	else
		completed(os, &os->nodes[n], n, id);
}

static void queue_dpc(void *context)
{
	struct pb_os *os = context;

	os->dpc_queued = true;
}

/** Packets leave the hardware queue only in the DPC. */
static void notify_dpc(void *context)
{
	struct pb_os *os = context;

	for (uint32_t n = 0; n < os->node_count; n++) {
		const uint32_t count = pb_os_reported(&os->nodes[n]);

		if (count != 0)
			pb_os_retire(os, &os->nodes[n], count, PB_OS_COMPLETED);
	}
}

/* ---- submission ---- */

static struct pb_dxgkarg_submitcommand submit_arguments(const struct pb_os_packet *packet)
{
	const struct pb_dxgkarg_patch *patch = &packet->arguments;

	return (struct pb_dxgkarg_submitcommand){
		.hContext = patch->hContext,
		.DmaBufferSegmentId = patch->DmaBufferSegmentId,
		.DmaBufferPhysicalAddress = patch->DmaBufferPhysicalAddress,
		.DmaBufferSize = patch->DmaBufferSize,
		.DmaBufferSubmissionStartOffset = patch->DmaBufferSubmissionStartOffset,
		.DmaBufferSubmissionEndOffset = patch->DmaBufferSubmissionEndOffset,
		.pDmaBufferPrivateData = patch->pDmaBufferPrivateData,
		.DmaBufferPrivateDataSize = patch->DmaBufferPrivateDataSize,
		.DmaBufferPrivateDataSubmissionStartOffset = patch->DmaBufferPrivateDataSubmissionStartOffset,
		.DmaBufferPrivateDataSubmissionEndOffset = patch->DmaBufferPrivateDataSubmissionEndOffset,
		.SubmissionFenceId = patch->SubmissionFenceId,
		.Flags = packet->flags,
		.NodeOrdinal = packet->node,
	};
}

/** Calls Patch, if the packet needs it, then SubmitCommand. */
static void call_miniport(struct pb_os *os, struct pb_os_packet *packet)
{
	const struct pb_dxgkarg_submitcommand submit = submit_arguments(packet);
	const uint32_t fence_id = packet->arguments.SubmissionFenceId;
	struct pb_ddi_record *record = &os->record;
	size_t call;

	if (packet->patch) {
		call = pb_ddi_began_with(record, PB_DDI_PATCH, packet->node, fence_id);
		os->figures.patched++;
		if (pb_ddi_ended(record, call, pb_wddm_patch(&os->adapter, &packet->arguments)) !=
		    PB_STATUS_SUCCESS)
			(void)pb_os_fail(os, "bugcheck 0x119, 0x3: Patch failed");
	}
	call = pb_ddi_began_with(record, PB_DDI_SUBMIT_COMMAND, packet->node, fence_id);
	os->figures.submitted++;
	if (pb_ddi_ended(record, call, pb_wddm_submit_command(&os->adapter, &submit)) != PB_STATUS_SUCCESS)
		(void)pb_os_fail(os, "bugcheck 0x119, 0x2: SubmitCommand failed");
}

/** The packet is on the hardware queue before the calls, because its interrupt may come during them. */
static void submit(struct pb_os *os, struct pb_os_node *node)
{
	struct pb_os_packet *packet = pop(&node->software);

	if (!packet->has_fence)
		packet->arguments.SubmissionFenceId = node->next_fence++;
	node->last_submitted = packet->arguments.SubmissionFenceId;
	packet->reported = false;
	pb_ddi_name_built(&os->record, packet->built, packet->built_behind,
			  packet->arguments.SubmissionFenceId);
	append(&node->hardware, packet);
	if (node->hardware.count == 1)
		node->queried = node->head_since = now(os);
	call_miniport(os, packet);
}

/** Prepares the first packet. @return false: a failure, or the queue has changed meanwhile */
static bool prepare(struct pb_os *os, struct pb_os_node *node)
{
	struct pb_os_packet *packet = node->software.first;
	const uint32_t recalls = node->recalls;
	bool prepared;

	if ((packet->flags & PB_FLAG_PAGING) != 0)
		return true;
	os->preparing = true;
	prepared = os->client.prepare(os->client.context, packet);
	os->preparing = false;
	if (!prepared || (node->recalls == recalls && !node->preemption.pending))
		return prepared;
	/* Packets of before were recalled: they go first, and may need other memory. */
	os->client.left(os->client.context, packet, PB_OS_RECALLED);
	return false;
}

static bool may_submit(const struct pb_os *os, const struct pb_os_node *node)
{
	const struct pb_os_packet *packet = node->software.first;

	return !os->failed && packet != NULL && !node->preemption.pending &&
	       node->hardware.count < os->depth && (!os->preparing || (packet->flags & PB_FLAG_PAGING) != 0);
}

static void submit_ready(struct pb_os *os, struct pb_os_node *node)
{
	while (may_submit(os, node) && prepare(os, node))
		submit(os, node);
}

/* ---- steps ---- */

static void interrupt(struct pb_os *os)
{
	const size_t call = pb_ddi_began(&os->record, PB_DDI_INTERRUPT, PB_DDI_NONE);

	(void)pb_ddi_ended(&os->record, call, PB_STATUS_SUCCESS);
	(void)pb_wddm_interrupt(&os->adapter);
}

static void run_dpc(struct pb_os *os)
{
	if (!os->dpc_queued)
		return;
	os->dpc_queued = false;
	(void)pb_ddi_began(&os->record, PB_DDI_DPC, PB_DDI_NONE);
	pb_wddm_dpc(&os->adapter);
}

bool pb_os_submit(struct pb_os *os)
{
	for (uint32_t n = 0; n < os->node_count; n++)
		submit_ready(os, &os->nodes[n]);
	run_dpc(os);
	return !os->failed;
}

bool pb_os_step(struct pb_os *os)
{
	enum pb_error error;

	if (!pb_os_submit(os))
		return false;
	error = link_of(os)->ops->wait(link_of(os), SLICE_US);
	if (error == PB_ERROR_OK)
		interrupt(os);
	else if (error != PB_ERROR_TIMEOUT)
		return pb_os_fail(os, "the card: %s: %s", pb_error_name(error), pb_error_meaning(error));
	run_dpc(os);
	pb_os_check_time(os);
	/* It reports nothing any more: Windows would find a hang, and no reset that works. */
	if (os->adapter.error != PB_ERROR_OK)
		return pb_os_fail(os, "the miniport has given up: %s: %s", pb_error_name(os->adapter.error),
				  pb_error_meaning(os->adapter.error));
	return !os->failed;
}

bool pb_os_is_idle(const struct pb_os *os, uint32_t node)
{
	return os->nodes[node].software.count == 0 && os->nodes[node].hardware.count == 0;
}

bool pb_os_drain(struct pb_os *os)
{
	for (uint32_t n = 0; n < os->node_count; n++) {
		while (!pb_os_is_idle(os, n)) {
			if (!pb_os_step(os))
				return false;
		}
	}
	return !os->failed;
}

void pb_os_begin_preemption(struct pb_os *os, uint32_t n)
{
	struct pb_os_node *node = &os->nodes[n];
	const struct pb_dxgkarg_preemptcommand preempt = {.PreemptionFenceId = os->next_preemption++,
							  .NodeOrdinal = n};
	const size_t call =
		pb_ddi_began_with(&os->record, PB_DDI_PREEMPT_COMMAND, n, preempt.PreemptionFenceId);

	node->preemption.pending = true;
	node->preemption.fence_id = preempt.PreemptionFenceId;
	node->preemption.since = now(os);
	if (pb_ddi_ended(&os->record, call, pb_wddm_preempt_command(&os->adapter, &preempt)) !=
	    PB_STATUS_SUCCESS)
		(void)pb_os_fail(os, "bugcheck 0x119, 0x2: PreemptCommand failed");
}

bool pb_os_preempt(struct pb_os *os, uint32_t n)
{
	if (!os->failed && !os->nodes[n].preemption.pending)
		pb_os_begin_preemption(os, n);
	run_dpc(os);
	while (!os->failed && os->nodes[n].preemption.pending)
		(void)pb_os_step(os);
	return !os->failed;
}

/* ---- start and stop ---- */

bool pb_os_start(struct pb_os *os, const struct pb_wddm_config *config)
{
	const uint32_t least = config->channel->card.capabilities[PB_CAPABILITY_RING_ENTRIES_MIN];
	struct pb_wddm_config own = *config;
	enum pb_error error;

	*os = (struct pb_os){.node_count = config->node_count,
			     .depth = DEPTH,
			     .next_preemption = FIRST_PREEMPTION,
			     .record = {.link = config->channel->link}};
	own.queue_entries = least > PB_OS_QUEUE_ENTRIES ? least : PB_OS_QUEUE_ENTRIES;
	own.callbacks = (struct pb_wddm_callbacks){.notify_interrupt = notify_interrupt,
						   .queue_dpc = queue_dpc,
						   .notify_dpc = notify_dpc,
						   .context = os};
	for (uint32_t n = 0; n < os->node_count; n++) {
		os->nodes[n].next_fence = FIRST_FENCE;
		os->nodes[n].last_completed = os->nodes[n].last_submitted = FIRST_FENCE - 1u;
	}
	error = pb_wddm_start(&os->adapter, &own);
	return error == PB_ERROR_OK ||
	       pb_os_fail(os, "StartDevice: %s: %s", pb_error_name(error), pb_error_meaning(error));
}

static void drop(struct pb_os *os, struct pb_os_queue *queue)
{
	while (queue->count != 0)
		os->client.left(os->client.context, pop(queue), PB_OS_DROPPED);
}

void pb_os_stop(struct pb_os *os)
{
	for (uint32_t n = 0; n < os->node_count; n++) {
		drop(os, &os->nodes[n].hardware);
		drop(os, &os->nodes[n].software);
	}
	if (os->node_count != 0 && !os->failed)
		(void)pb_wddm_stop(&os->adapter);
	pb_ddi_record_free(&os->record);
}
