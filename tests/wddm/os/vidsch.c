/* SPDX-License-Identifier: MIT */
#include "tests/wddm/os/vidsch.h"

#include <stdlib.h>
#include <string.h>

void os_init(struct os_model *os, const struct os_miniport *miniport, uint32_t node_count,
	     uint32_t first_fence, uint32_t depth)
{
	memset(os, 0, sizeof(*os));
	os->miniport = *miniport;
	os->version = PB_DXGKDDI_WDDM1_3;
	os->node_count = node_count;
	os->depth = depth;
	os->fence_step = 1;
	os->tdr_delay = OS_TDR_DELAY_US;
	for (uint32_t n = 0; n < node_count; n++) {
		os->nodes[n].next_fence = first_fence;
		os->nodes[n].last_completed = first_fence - 1;
	}
	/* Preemptions have their own numbers, which may equal the number of a packet. */
	os->next_preemption = first_fence;
}

void os_break(struct os_model *os, enum os_rule rule, uint64_t value)
{
	os_stop_at(&os->stop, rule, value);
	os->bugcheck = os->stop.bugcheck;
	os->parameter = os->stop.parameter;
}

bool os_is_idle(const struct os_model *os)
{
	for (uint32_t n = 0; n < os->node_count; n++) {
		if (os->nodes[n].software.count != 0 || os->nodes[n].hardware.count != 0)
			return false;
	}
	return true;
}

/* ---- queues ---- */

static void pop(struct os_queue *queue)
{
	queue->count--;
	memmove(&queue->packets[0], &queue->packets[1], queue->count * sizeof(queue->packets[0]));
}

bool os_queue(struct os_model *os, const struct os_packet *packet)
{
	struct os_queue *queue = &os->nodes[packet->submit.NodeOrdinal].software;

	/* Room for packets that may be recalled is kept free. */
	if (queue->count >= OS_SOFTWARE_MAX - OS_HARDWARE_MAX)
		return false;
	queue->packets[queue->count++] = *packet;
	return true;
}

void os_insert(struct os_model *os, uint32_t index, const struct os_packet *packet)
{
	struct os_queue *queue = &os->nodes[packet->submit.NodeOrdinal].software;

	memmove(&queue->packets[index + 1], &queue->packets[index],
		(queue->count - index) * sizeof(queue->packets[0]));
	queue->packets[index] = *packet;
	queue->count++;
}

/** Removes a packet from a software queue. */
static void drop(struct os_model *os, struct os_queue *queue, uint32_t index)
{
	const struct os_packet packet = queue->packets[index];

	queue->count--;
	memmove(&queue->packets[index], &queue->packets[index + 1],
		(queue->count - index) * sizeof(queue->packets[0]));
	if (os->miniport.cancel_command != NULL &&
	    os->miniport.cancel_command(os->miniport.context, &packet.submit) != PB_STATUS_SUCCESS)
		os_break(os, OS_RULE_CANCEL, index);
	os->aborted++;
	if (os->retired != NULL)
		os->retired(os->context, &packet, OS_ABORTED);
}

void os_drop(struct os_model *os, const void *context)
{
	for (uint32_t n = 0; n < os->node_count; n++) {
		struct os_queue *queue = &os->nodes[n].software;
		uint32_t index = 0;

		while (index < queue->count) {
			if (context == NULL || queue->packets[index].patch.hContext == context)
				drop(os, queue, index);
			else
				index++;
		}
		os->nodes[n].kept = false;
	}
}

int32_t os_find(const struct os_node *node, uint32_t fence_id)
{
	for (uint32_t i = 0; i < node->hardware.count; i++) {
		if (!node->hardware.packets[i].reported && node->hardware.packets[i].fence_id == fence_id)
			return (int32_t)i;
	}
	return -1;
}

void os_retire(struct os_model *os, struct os_node *node, uint32_t count, enum os_outcome outcome)
{
	for (; count != 0; count--) {
		const struct os_packet packet = node->hardware.packets[0];

		pop(&node->hardware);
		os->completed += outcome == OS_COMPLETED;
		os->aborted += outcome == OS_ABORTED;
		if (os->retired != NULL)
			os->retired(os->context, &packet, outcome);
	}
	node->head_since = os->miniport.now(os->miniport.context);
	node->queried = false;
}

void os_retire_reported(struct os_model *os, struct os_node *node)
{
	uint32_t done = 0;

	while (done < node->hardware.count && node->hardware.packets[done].reported)
		done++;
	if (done != 0)
		os_retire(os, node, done, OS_COMPLETED);
}

/** Appends the packets of one kind; a paging packet that was submitted keeps its id. */
static void append_kind(struct os_queue *to, const struct os_queue *from, bool paging)
{
	for (uint32_t i = 0; i < from->count; i++) {
		if (os_is_paging(&from->packets[i]) != paging)
			continue;
		to->packets[to->count] = from->packets[i];
		to->packets[to->count].submitted = false;
		to->packets[to->count++].has_fence = paging;
	}
}

void os_recall(struct os_model *os, struct os_node *node)
{
	struct os_queue *software = &node->software;
	struct os_queue queue;
	uint32_t first = 0;

	for (uint32_t i = 0; i < node->hardware.count && os->recalled != NULL; i++)
		os->recalled(os->context, &node->hardware.packets[i]);
	queue.count = 0;
	append_kind(&queue, &node->hardware, true);
	/* A packet that is prepared again refers to memory as it will be after the queued paging. */
	for (; first < software->count && os_is_paging(&software->packets[first]); first++)
		queue.packets[queue.count++] = software->packets[first];
	append_kind(&queue, &node->hardware, false);
	for (; first < software->count; first++)
		queue.packets[queue.count++] = software->packets[first];
	*software = queue;
	node->hardware.count = 0;
}

/* ---- submission ---- */

void os_ddi_done(struct os_model *os, uint64_t since)
{
	if (os->miniport.now(os->miniport.context) - since > OS_TDR_DDI_US)
		os_break(os, OS_RULE_SLOW, 0);
}

static void fill_in(struct os_packet *packet)
{
	struct pb_dxgkarg_patch *patch = &packet->patch;
	struct pb_dxgkarg_submitcommand *submit = &packet->submit;

	patch->SubmissionFenceId = packet->fence_id;
	submit->hContext = patch->hContext;
	submit->DmaBufferSegmentId = patch->DmaBufferSegmentId;
	submit->DmaBufferPhysicalAddress = patch->DmaBufferPhysicalAddress;
	submit->DmaBufferSize = patch->DmaBufferSize;
	submit->DmaBufferSubmissionStartOffset = patch->DmaBufferSubmissionStartOffset;
	submit->DmaBufferSubmissionEndOffset = patch->DmaBufferSubmissionEndOffset;
	submit->pDmaBufferPrivateData = patch->pDmaBufferPrivateData;
	submit->DmaBufferPrivateDataSize = patch->DmaBufferPrivateDataSize;
	submit->DmaBufferPrivateDataSubmissionStartOffset = patch->DmaBufferPrivateDataSubmissionStartOffset;
	submit->DmaBufferPrivateDataSubmissionEndOffset = patch->DmaBufferPrivateDataSubmissionEndOffset;
	submit->SubmissionFenceId = patch->SubmissionFenceId;
}

/** What a miniport may not rely on: fields that are not used, and what is behind the last one. */
#define GARBAGE      0xa5
#define GARBAGE_WORD 0xa5a5a5a5u
/** DXGKARG_SUBMITCOMMAND of a system with pointers of 8 and of 4 bytes. */
#define SUBMIT_BYTES_WIN8  (sizeof(void *) == 8 ? 96u : 80u)
#define SUBMIT_BYTES_WIN7  (sizeof(void *) == 8 ? 88u : 72u)
#define SUBMIT_BYTES_VISTA (sizeof(void *) == 8 ? 80u : 64u)

static void patch_it(struct os_model *os, const struct os_packet *packet)
{
	const uint64_t since = os->miniport.now(os->miniport.context);
	struct pb_dxgkarg_patch patch = packet->patch;

	if (packet->skip_patch)
		return;
	patch.EngineOrdinal = GARBAGE_WORD;
	if (os->miniport.patch(os->miniport.context, &patch) != PB_STATUS_SUCCESS)
		os_break(os, OS_RULE_PATCH, packet->fence_id);
	os_ddi_done(os, since);
}

static size_t submit_bytes(uint32_t version)
{
	if (version >= PB_DXGKDDI_WIN8)
		return SUBMIT_BYTES_WIN8;
	return version >= PB_DXGKDDI_WIN7 ? SUBMIT_BYTES_WIN7 : SUBMIT_BYTES_VISTA;
}

/** Calls SubmitCommand with an argument that ends where that of this OS does. */
static uint32_t call_submit(const struct os_model *os, const struct os_packet *packet)
{
	const size_t bytes = submit_bytes(os->version);
	struct pb_dxgkarg_submitcommand submit = packet->submit;
	void *argument = malloc(bytes);
	uint32_t status = PB_STATUS_UNSUCCESSFUL;

	submit.VidPnSourceId = GARBAGE_WORD;
	submit.FlipInterval = GARBAGE_WORD;
	submit.EngineOrdinal = GARBAGE_WORD;
	memset(&submit.DmaBufferVirtualAddress, GARBAGE, sizeof(submit.DmaBufferVirtualAddress));
	if (argument != NULL) {
		memcpy(argument, &submit, bytes);
		status = os->miniport.submit_command(os->miniport.context, argument);
	}
	free(argument);
	return status;
}

/** The packet is on the hardware queue before the call, because its interrupt may come during the call. */
static void submit_it(struct os_model *os, struct os_node *node, const struct os_packet *packet)
{
	const uint64_t since = os->miniport.now(os->miniport.context);

	if (node->hardware.count == 0)
		os_retire(os, node, 0, OS_COMPLETED); /* the packet is the head from now on */
	node->used = true;
	node->last_submitted = packet->fence_id;
	node->hardware.packets[node->hardware.count++] = *packet;
	if (call_submit(os, packet) != PB_STATUS_SUCCESS)
		os_break(os, OS_RULE_SUBMIT, packet->fence_id);
	os_ddi_done(os, since);
}

static void submit_next(struct os_model *os, struct os_node *node)
{
	struct os_packet packet = node->software.packets[0];

	pop(&node->software);
	if (os->prepare != NULL)
		os->prepare(os->context, &packet);
	if (!packet.has_fence) {
		packet.fence_id = node->next_fence;
		node->next_fence += os->fence_step;
	}
	packet.submitted = true;
	packet.reported = false;
	fill_in(&packet);
	patch_it(os, &packet);
	if (!os_has_stopped(os))
		submit_it(os, node, &packet);
}

/** Contexts of which a queue has packets, at most. */
#define CONTEXTS_MAX 32u
/** One choice in so many is that of a context which has waited for long, whatever its priority. */
#define BOOSTS 8u

/** Whether a packet is the first of its context in the queue. @param seen contexts of the packets before it */
static bool is_oldest(const struct os_packet *packet, const void *seen[CONTEXTS_MAX], uint32_t *count)
{
	for (uint32_t c = 0; c < *count; c++) {
		if (seen[c] == packet->patch.hContext)
			return false;
	}
	if (*count == CONTEXTS_MAX)
		return false;
	seen[(*count)++] = packet->patch.hContext;
	return true;
}

/**
 * Chooses the context whose oldest packet is the next one: of the highest priority, and by chance among equals.
 * @return its index; the queue's count: all must wait
 */
static uint32_t choose(const struct os_model *os, uint32_t n)
{
	const struct os_queue *queue = &os->nodes[n].software;
	const bool boost = os_one_in(os->chance, BOOSTS);
	const void *seen[CONTEXTS_MAX];
	uint32_t seen_count = 0;
	uint32_t equals = 0;
	uint32_t best = queue->count;

	for (uint32_t i = 0; i < queue->count; i++) {
		const struct os_packet *packet = &queue->packets[i];

		if (!is_oldest(packet, seen, &seen_count) ||
		    (os->waits != NULL && os->waits(os->context, n, packet)))
			continue;
		if (best != queue->count && !boost && packet->priority > queue->packets[best].priority)
			equals = 0;
		else if (best != queue->count && !boost && packet->priority < queue->packets[best].priority)
			continue;
		if (os_below(os->chance, ++equals) == 0)
			best = i;
	}
	return best;
}

/** Moves the packet that is the next one to the front. @return false: all must wait */
static bool take_turns(struct os_model *os, uint32_t n)
{
	struct os_queue *queue = &os->nodes[n].software;
	struct os_packet packet;
	uint32_t index;

	if (os_is_paging(&queue->packets[0]))
		return true;
	index = choose(os, n);
	if (index == queue->count)
		return false;
	if (index != 0) {
		packet = queue->packets[index];
		memmove(&queue->packets[1], &queue->packets[0], index * sizeof(packet));
		queue->packets[0] = packet;
	}
	return true;
}

/** Whether the head of the software queue can be submitted. */
static bool is_ready(struct os_model *os, uint32_t n)
{
	struct os_node *node = &os->nodes[n];
	const bool paging = os_is_paging(&node->software.packets[0]);
	bool ready;

	if (os->suspended && !paging)
		return false;
	if (os->chance != NULL && !node->kept && !take_turns(os, n))
		return false;
	ready = os->ready == NULL || os->ready(os->context, n);
	/* What was paged in for it would be in vain. Paging that comes before it changes nothing. */
	if (!paging)
		node->kept = !ready || os_is_paging(&node->software.packets[0]);
	return ready;
}

/** Calls the DPC that was queued. A notification needs one, and the DPC passes it on. */
static void run_dpc(struct os_model *os)
{
	if (os->strict && os->notified && !os->dpc_queued)
		os_break(os, OS_RULE_NO_DPC, 0);
	os->notified = false;
	if (os_has_stopped(os) || !os->dpc_queued)
		return;
	os->dpc_queued = false;
	os->dpc_called = false;
	os->miniport.dpc(os->miniport.context);
	if (os->strict && !os->dpc_called)
		os_break(os, OS_RULE_NO_NOTIFY_DPC, 0);
}

void os_step(struct os_model *os, uint64_t microseconds)
{
	for (uint32_t n = 0; n < os->node_count; n++) {
		struct os_node *node = &os->nodes[n];

		while (!os_has_stopped(os) && !node->preemption.pending && node->software.count != 0 &&
		       node->hardware.count < os->depth && is_ready(os, n))
			submit_next(os, node);
	}
	if (!os_has_stopped(os))
		os->miniport.run(os->miniport.context, microseconds);
	run_dpc(os);
	if (!os_has_stopped(os))
		os_check_time(os);
}

/** Whether all submitted packets have been reported. */
static bool is_done(const struct os_node *node)
{
	return node->hardware.count == 0 || node->hardware.packets[node->hardware.count - 1].reported;
}

void os_preempt(struct os_model *os, uint32_t n)
{
	struct os_node *node = &os->nodes[n];
	const uint64_t since = os->miniport.now(os->miniport.context);
	const struct pb_dxgkarg_preemptcommand preempt = {.PreemptionFenceId = os->next_preemption,
							  .NodeOrdinal = n};

	const bool idle = is_done(node);

	/* The OS preempts no node that has never had a packet. */
	if (os_has_stopped(os) || node->preemption.pending || !node->used)
		return;
	node->preemption.pending = true;
	node->preemption.queried = false;
	node->preemption.cancelled = false;
	node->preemption.fence_id = os->next_preemption++;
	node->preemption.since = since;
	if (os->miniport.preempt_command(os->miniport.context, &preempt) != PB_STATUS_SUCCESS)
		os_break(os, OS_RULE_PREEMPT, preempt.PreemptionFenceId);
	os->late_answers += idle && node->preemption.pending;
	if (os->strict && idle && node->preemption.pending)
		os_break(os, OS_RULE_LATE_ANSWER, preempt.PreemptionFenceId);
	os_ddi_done(os, since);
}

void os_submit_eagerly(struct os_model *os, struct os_node *node)
{
	while (os->eager && !os_has_stopped(os) && node->software.count != 0 &&
	       node->hardware.count < os->depth && os_is_paging(&node->software.packets[0]) &&
	       node->software.packets[0].skip_patch)
		submit_next(os, node);
}
