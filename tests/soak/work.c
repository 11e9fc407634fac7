/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "tests/e2e/e2e.h"
#include "tests/soak/soak.h"

#define BUFFER_BYTES 4096u
#define PATCHES      8u
#define TARGET_BYTES 1024u
#define PIECES       4u
#define PIECE_BYTES  (TARGET_BYTES / PIECES)
/* Engine time of a submission that has some; a preemption finds it running. */
#define BUSY_US 3000u
/* One round of so many is work that must fail, and one has work taken back. */
#define BAD_ROUNDS     12u
#define PREEMPT_ROUNDS 8u

uint32_t pb_soak_draw(struct pb_soak_work *work, uint32_t below)
{
	work->random = work->random * 1664525u + 1013904223u;
	return (work->random >> 16) % below;
}

/* ---- what it works with ---- */

/* The host's queues have no history, by which the library accounts for what was lost. */
static bool exchange_queue(struct pb_soak_work *work, uint32_t node)
{
	struct e2e_host *host = &work->host;
	const struct pb_queue_request request = {.node = node,
						 .entries = E2E_RING_ENTRIES,
						 .priority = PB_PRIORITY_NORMAL,
						 .history = work->history[node]};

	return e2e_ok("old queue", pb_queue_destroy(&host->queues[node])) &&
	       e2e_ok("queue",
		      pb_queue_create_with(&host->queues[node], &host->channel, &host->system, &request));
}

static bool open_slot(struct pb_soak_work *work, struct pb_soak_slot *slot)
{
	struct e2e_host *host = &work->host;

	*slot = (struct pb_soak_slot){.value = 0};
	return e2e_ok("builder", pb_dma_open(&slot->dma, &host->queues[0], host->context, &host->system,
					     &host->system, BUFFER_BYTES, PATCHES)) &&
	       e2e_ok("target",
		      pb_memory_allocate(&host->video, TARGET_BYTES, PB_LINE_BYTES, &slot->target)) &&
	       e2e_ok("wait", pb_memory_allocate(&host->system, PB_LINE_BYTES, PB_LINE_BYTES, &slot->wait));
}

bool pb_soak_furnish(struct pb_soak_work *work)
{
	bool good = e2e_host_furnish(&work->host, E2E_SYSTEM_BYTES);

	memset(work->errors, 0, sizeof(work->errors));
	for (uint32_t n = 0; good && n < E2E_NODES; n++)
		good = exchange_queue(work, n);
	for (uint32_t i = 0; good && i < PB_SOAK_SLOTS; i++)
		good = open_slot(work, &work->slots[i]);
	return good;
}

/* ---- one submission ---- */

static uint32_t *target_words(const struct pb_soak_slot *slot)
{
	return (uint32_t *)(void *)slot->target.bytes_host;
}

static bool target_is(const struct pb_soak_slot *slot, uint32_t value)
{
	for (uint32_t i = 0; i < TARGET_BYTES / sizeof(uint32_t); i++) {
		const uint32_t found = pb_shared_read32(&target_words(slot)[i]);

		if (found != value)
			return e2e_fail("fence %u, word %u: 0x%08x, not 0x%08x", (unsigned)slot->fence_id,
					(unsigned)i, (unsigned)found, (unsigned)value);
	}
	return true;
}

static void begin(struct pb_soak_work *work, struct pb_soak_slot *slot, uint32_t node, uint32_t value)
{
	slot->node = node;
	slot->value = value;
	slot->dma.queue = &work->host.queues[node];
	slot->dma.wait_count = 0;
	pb_dma_begin(&slot->dma);
	for (uint32_t i = 0; i < TARGET_BYTES / sizeof(uint32_t); i++)
		pb_shared_write32(&target_words(slot)[i], ~value);
}

static void add_fill(struct pb_soak_slot *slot)
{
	for (uint32_t i = 0; i < PIECES; i++) {
		pb_dma_packet(&slot->dma, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
		pb_dma_address(&slot->dma, &slot->target, i * PIECE_BYTES, true);
		pb_dma_word(&slot->dma, PIECE_BYTES);
		pb_dma_word(&slot->dma, slot->value);
	}
}

static void add_busy(struct pb_soak_work *work, struct pb_soak_slot *slot)
{
	pb_dma_packet(&slot->dma, PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
	pb_dma_word(&slot->dma, pb_soak_draw(work, BUSY_US));
}

/* Copies what an earlier one made, for which it waits if that is another queue's. */
static void add_copy(struct pb_soak_slot *slot, const struct pb_soak_slot *source)
{
	pb_dma_packet(&slot->dma, PB_PACKET_COPY, PB_PACKET_COPY_WORDS);
	pb_dma_address(&slot->dma, &source->target, 0, false);
	pb_dma_address(&slot->dma, &slot->target, 0, true);
	pb_dma_word(&slot->dma, TARGET_BYTES);
	if (source->node == slot->node)
		return;
	pb_wait_on((struct pb_wait *)(void *)slot->wait.bytes_host, source->dma.queue, source->dma.timeline);
	slot->dma.waits = &slot->wait;
	slot->dma.wait_count = 1;
}

static void build(struct pb_soak_work *work, uint32_t index)
{
	struct pb_soak_slot *slot = &work->slots[index];
	const uint32_t node = pb_soak_draw(work, E2E_NODES);

	if (index != 0 && pb_soak_draw(work, 3) == 0) {
		const struct pb_soak_slot *source = &work->slots[pb_soak_draw(work, index)];

		begin(work, slot, node, source->value);
		add_copy(slot, source);
		return;
	}
	begin(work, slot, node, work->random);
	if (pb_soak_draw(work, 4) == 0)
		add_busy(work, slot);
	add_fill(slot);
}

static enum pb_error submit(struct pb_soak_work *work, uint32_t index)
{
	struct pb_soak_slot *slot = &work->slots[index];

	slot->fence_id = ++work->fence_id;
	pb_soak_count(&work->book->submitted, 1);
	work->under_way[slot->node][work->last[slot->node]++] = index;
	return pb_dma_submit(&slot->dma, slot->fence_id);
}

/* ---- the firmware dies ---- */

/* What the library hands back must be the last ones of the queue, in order. */
static bool mourn_queue(struct pb_soak_work *work, uint32_t node)
{
	const uint32_t *under_way = work->under_way[node];
	uint32_t first = work->first[node], handed[PB_SOAK_SLOTS + 1u], count = 0;
	struct pb_descriptor descriptor;

	while (count <= PB_SOAK_SLOTS &&
	       pb_queue_unfinished(&work->host.queues[node], &descriptor) != PB_ERROR_OK)
		handed[count++] = descriptor.fence_id;
	/* The one that found the firmware dead was not submitted. */
	if (work->last[node] != first &&
	    work->slots[under_way[work->last[node] - 1u]].dma.error != PB_ERROR_OK) {
		work->last[node]--;
		pb_soak_count(&work->book->lost, 1);
	}
	if (count > work->last[node] - first)
		return e2e_fail("%u submissions handed back of %u", (unsigned)count,
				(unsigned)(work->last[node] - first));
	pb_soak_count(&work->book->unseen, work->last[node] - first - count);
	first = work->last[node] - count;
	for (uint32_t i = 0; i < count; i++) {
		if (handed[i] != work->slots[under_way[first + i]].fence_id)
			return e2e_fail("fence %u handed back, not %u", (unsigned)handed[i],
					(unsigned)work->slots[under_way[first + i]].fence_id);
	}
	pb_soak_count(&work->book->lost, count);
	work->first[node] = work->last[node];
	return true;
}

bool pb_soak_mourn(struct pb_soak_work *work)
{
	bool good = true;

	for (uint32_t n = 0; n < E2E_NODES; n++)
		good = mourn_queue(work, n) && good;
	return good;
}

/* What an error comes to. */
static enum pb_soak_end end_of(struct pb_soak_work *work, const char *what, enum pb_error error)
{
	if (error == PB_ERROR_OK)
		return PB_SOAK_GOOD;
	if (error == PB_ERROR_FIRMWARE_DEAD || error == PB_ERROR_DETACHED)
		return pb_soak_mourn(work) ? PB_SOAK_GONE : PB_SOAK_BAD;
	(void)e2e_ok(what, error);
	return PB_SOAK_BAD;
}

/* ---- work that is taken back ---- */

/* The last `count` under way of a queue go again, in their order. */
static enum pb_error submit_again(struct pb_soak_work *work, uint32_t node, uint32_t count)
{
	uint32_t again[PB_SOAK_SLOTS];
	enum pb_error error = PB_ERROR_OK;

	work->last[node] -= count;
	memcpy(again, &work->under_way[node][work->last[node]], count * sizeof(again[0]));
	pb_soak_count(&work->book->returned, count);
	for (uint32_t i = 0; i < count && error == PB_ERROR_OK; i++)
		error = submit(work, again[i]);
	return error;
}

static enum pb_soak_end take_back(struct pb_soak_work *work, uint32_t node)
{
	struct pb_queue *queue = &work->host.queues[node];
	const uint64_t start = e2e_now();
	struct pb_preempt result;
	enum pb_error error =
		pb_queue_preempt(queue, work->fence_id, pb_soak_draw(work, 2) ? PB_STOP_INSIDE : 0, &result);

	while (error == PB_ERROR_TIMEOUT && e2e_patience(start))
		error = pb_queue_preempt_finish(queue, &result);
	if (error == PB_ERROR_OK && result.returned > work->last[node] - work->first[node]) {
		(void)e2e_fail("%u submissions returned of %u", (unsigned)result.returned,
			       (unsigned)(work->last[node] - work->first[node]));
		return PB_SOAK_BAD;
	}
	if (error == PB_ERROR_OK)
		error = submit_again(work, node, result.returned);
	return end_of(work, "preempt", error);
}

/* ---- a round ---- */

static bool fence_is_good(const struct pb_soak_work *work, uint32_t node, const struct pb_fence *fence)
{
	return (fence->error == PB_ERROR_OK && fence->errors == work->errors[node]) ||
	       e2e_fail("fence %u: %u errors, not %u; %s of fence %u", (unsigned)fence->fence_id,
			(unsigned)fence->errors, (unsigned)work->errors[node], pb_error_name(fence->error),
			(unsigned)fence->error_fence_id);
}

/* Waits for the oldest of a queue. Whatever the fence says is complete must be done. */
static enum pb_soak_end await_one(struct pb_soak_work *work, uint32_t node)
{
	const struct pb_soak_slot *slot = &work->slots[work->under_way[node][work->first[node]]];
	struct pb_fence fence;
	const enum pb_error error =
		pb_queue_wait(slot->dma.queue, slot->dma.timeline, E2E_PATIENCE_US, &fence);

	if (error != PB_ERROR_OK)
		return end_of(work, "wait", error);
	if (!fence_is_good(work, node, &fence) || !target_is(slot, slot->value))
		return PB_SOAK_BAD;
	work->first[node]++;
	pb_soak_count(&work->book->completed, 1);
	return PB_SOAK_GOOD;
}

static enum pb_soak_end good_round(struct pb_soak_work *work)
{
	const uint32_t count = 1u + pb_soak_draw(work, PB_SOAK_SLOTS);
	enum pb_soak_end end = PB_SOAK_GOOD;

	for (uint32_t i = 0; i < count && end == PB_SOAK_GOOD; i++) {
		build(work, i);
		end = end_of(work, "submit", submit(work, i));
	}
	if (end == PB_SOAK_GOOD && pb_soak_draw(work, PREEMPT_ROUNDS) == 0)
		end = take_back(work, pb_soak_draw(work, E2E_NODES));
	for (uint32_t n = 0; n < E2E_NODES; n++) {
		while (end == PB_SOAK_GOOD && work->first[n] != work->last[n])
			end = await_one(work, n);
	}
	return end;
}

/* ---- work that must fail ---- */

/* An offset behind the allocation's end: nothing of it may run. */
static void add_stray_fill(struct pb_soak_slot *slot)
{
	pb_dma_packet(&slot->dma, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
	pb_dma_address(&slot->dma, &slot->target, TARGET_BYTES, true);
	pb_dma_word(&slot->dma, PIECE_BYTES);
	pb_dma_word(&slot->dma, slot->value);
}

static enum pb_soak_end await_failure(struct pb_soak_work *work, const struct pb_soak_slot *slot,
				      enum pb_error expected, uint32_t mark)
{
	struct pb_fence fence;
	enum pb_error error = pb_queue_wait(slot->dma.queue, slot->dma.timeline, E2E_PATIENCE_US, &fence);

	if (error != PB_ERROR_OK)
		return end_of(work, "wait", error);
	if (fence.status != (uint32_t)expected || fence.error_fence_id != slot->fence_id) {
		(void)e2e_fail("fence %u: %s, not %s", (unsigned)slot->fence_id, pb_error_name(fence.status),
			       pb_error_name(expected));
		return PB_SOAK_BAD;
	}
	if (!target_is(slot, mark))
		return PB_SOAK_BAD;
	work->first[slot->node]++;
	work->errors[slot->node]++;
	pb_soak_count(&work->book->failed, 1);
	error = pb_context_clear(&work->host.channel, work->host.context);
	if (error == PB_ERROR_OK)
		error = pb_queue_clear(slot->dma.queue);
	return end_of(work, "clear", error);
}

/* Either the engine faults behind the marks, or the firmware refuses all of it. */
static enum pb_soak_end bad_round(struct pb_soak_work *work)
{
	struct pb_soak_slot *slot = &work->slots[0];
	const bool fault = pb_soak_draw(work, 2) != 0;
	enum pb_soak_end end;

	begin(work, slot, pb_soak_draw(work, E2E_NODES), work->random);
	add_fill(slot);
	if (fault)
		pb_dma_packet(&slot->dma, PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS);
	else
		add_stray_fill(slot);
	end = end_of(work, "submit", submit(work, 0));
	if (end != PB_SOAK_GOOD)
		return end;
	return fault ? await_failure(work, slot, PB_ERROR_ENGINE_FAULT, slot->value)
		     : await_failure(work, slot, PB_ERROR_PATCH_OFFSET, ~slot->value);
}

/* Nobody reads the events but to keep the ring free. */
static void read_events(struct pb_soak_work *work)
{
	struct pb_event event;

	while (pb_channel_event(&work->host.channel, &event))
		continue;
}

enum pb_soak_end pb_soak_round(struct pb_soak_work *work)
{
	enum pb_soak_end end;

	memset(work->first, 0, sizeof(work->first));
	memset(work->last, 0, sizeof(work->last));
	end = pb_soak_draw(work, BAD_ROUNDS) == 0 ? bad_round(work) : good_round(work);
	if (end != PB_SOAK_GOOD)
		return end;
	read_events(work);
	pb_soak_count(&work->book->rounds, 1);
	__atomic_store_n(&work->book->incarnation, work->host.channel.card.incarnation, __ATOMIC_SEQ_CST);
	return end;
}
