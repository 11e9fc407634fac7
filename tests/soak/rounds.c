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
/* Engine time of a submission that is not instant, so that a preemption finds it running. */
#define BUSY_US 3000u
/* One round in so many has a submission that must fail, and one a preemption. */
#define BAD_ROUNDS     12u
#define PREEMPT_ROUNDS 8u

uint32_t pb_soak_draw(struct pb_soak_state *state, uint32_t below)
{
	state->random = state->random * 1664525u + 1013904223u;
	return (state->random >> 16) % below;
}

/* ---- objects of a client ---- */

/* The host's queues have no history, which the library needs to account for lost submissions. */
static bool exchange_queue(struct pb_soak_state *state, uint32_t node)
{
	struct e2e_host *host = &state->host;
	const struct pb_queue_request request = {.node = node,
						 .entries = E2E_RING_ENTRIES,
						 .priority = PB_PRIORITY_NORMAL,
						 .history = state->history[node]};

	return e2e_ok("old queue", pb_queue_destroy(&host->queues[node])) &&
	       e2e_ok("queue",
		      pb_queue_create_with(&host->queues[node], &host->channel, &host->system, &request));
}

static bool open_slot(struct pb_soak_state *state, struct pb_soak_slot *slot)
{
	struct e2e_host *host = &state->host;

	*slot = (struct pb_soak_slot){.value = 0};
	return e2e_ok("builder", pb_dma_open(&slot->dma, &host->queues[0], host->context, &host->system,
					     &host->system, BUFFER_BYTES, PATCHES)) &&
	       e2e_ok("target",
		      pb_memory_allocate(&host->video, TARGET_BYTES, PB_LINE_BYTES, &slot->target)) &&
	       e2e_ok("wait", pb_memory_allocate(&host->system, PB_LINE_BYTES, PB_LINE_BYTES, &slot->wait));
}

bool pb_soak_furnish(struct pb_soak_state *state)
{
	bool good = e2e_host_furnish(&state->host, E2E_SYSTEM_BYTES);

	memset(state->errors, 0, sizeof(state->errors));
	for (uint32_t n = 0; good && n < E2E_NODES; n++)
		good = exchange_queue(state, n);
	for (uint32_t i = 0; good && i < PB_SOAK_SLOTS; i++)
		good = open_slot(state, &state->slots[i]);
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

static void begin(struct pb_soak_state *state, struct pb_soak_slot *slot, uint32_t node, uint32_t value)
{
	slot->node = node;
	slot->value = value;
	slot->dma.queue = &state->host.queues[node];
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

static void add_busy(struct pb_soak_state *state, struct pb_soak_slot *slot)
{
	pb_dma_packet(&slot->dma, PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
	pb_dma_word(&slot->dma, pb_soak_draw(state, BUSY_US));
}

/* Copies the result of an earlier submission. On another queue it waits for that submission. */
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

static void build(struct pb_soak_state *state, uint32_t index)
{
	struct pb_soak_slot *slot = &state->slots[index];
	const uint32_t node = pb_soak_draw(state, E2E_NODES);

	if (index != 0 && pb_soak_draw(state, 3) == 0) {
		const struct pb_soak_slot *source = &state->slots[pb_soak_draw(state, index)];

		begin(state, slot, node, source->value);
		add_copy(slot, source);
		return;
	}
	begin(state, slot, node, state->random);
	if (pb_soak_draw(state, 4) == 0)
		add_busy(state, slot);
	add_fill(slot);
}

static enum pb_error submit(struct pb_soak_state *state, uint32_t index)
{
	struct pb_soak_slot *slot = &state->slots[index];

	slot->fence_id = ++state->fence_id;
	pb_soak_count(&state->book->submitted, 1);
	state->in_flight[slot->node][state->last[slot->node]++] = index;
	return pb_dma_submit(&slot->dma, slot->fence_id);
}

/* ---- the firmware dies ---- */

/* The submissions that the library returns must be the last ones of the queue, in order. */
static bool count_lost_of_queue(struct pb_soak_state *state, uint32_t node)
{
	const uint32_t *in_flight = state->in_flight[node];
	uint32_t first = state->first[node], unfinished[PB_SOAK_SLOTS + 1u], count = 0;
	struct pb_descriptor descriptor;

	while (count <= PB_SOAK_SLOTS &&
	       pb_queue_unfinished(&state->host.queues[node], &descriptor) != PB_ERROR_OK)
		unfinished[count++] = descriptor.fence_id;
	/* The submission that found the firmware dead was not made. */
	if (state->last[node] != first &&
	    state->slots[in_flight[state->last[node] - 1u]].dma.error != PB_ERROR_OK) {
		state->last[node]--;
		pb_soak_count(&state->book->lost, 1);
	}
	if (count > state->last[node] - first)
		return e2e_fail("%u submissions returned by the library of %u", (unsigned)count,
				(unsigned)(state->last[node] - first));
	pb_soak_count(&state->book->unseen, state->last[node] - first - count);
	first = state->last[node] - count;
	for (uint32_t i = 0; i < count; i++) {
		if (unfinished[i] != state->slots[in_flight[first + i]].fence_id)
			return e2e_fail("fence %u returned by the library, not %u", (unsigned)unfinished[i],
					(unsigned)state->slots[in_flight[first + i]].fence_id);
	}
	pb_soak_count(&state->book->lost, count);
	state->first[node] = state->last[node];
	return true;
}

bool pb_soak_count_lost(struct pb_soak_state *state)
{
	bool good = true;

	for (uint32_t n = 0; n < E2E_NODES; n++)
		good = count_lost_of_queue(state, n) && good;
	return good;
}

/* Maps an error to the end of a round. */
static enum pb_soak_end end_of(struct pb_soak_state *state, const char *what, enum pb_error error)
{
	if (error == PB_ERROR_OK)
		return PB_SOAK_GOOD;
	if (error == PB_ERROR_FIRMWARE_DEAD || error == PB_ERROR_DETACHED)
		return pb_soak_count_lost(state) ? PB_SOAK_GONE : PB_SOAK_BAD;
	(void)e2e_ok(what, error);
	return PB_SOAK_BAD;
}

/* ---- preemption ---- */

/* Submits the last `count` submissions of a queue again, in their order. */
static enum pb_error submit_again(struct pb_soak_state *state, uint32_t node, uint32_t count)
{
	uint32_t again[PB_SOAK_SLOTS];
	enum pb_error error = PB_ERROR_OK;

	state->last[node] -= count;
	memcpy(again, &state->in_flight[node][state->last[node]], count * sizeof(again[0]));
	pb_soak_count(&state->book->returned, count);
	for (uint32_t i = 0; i < count && error == PB_ERROR_OK; i++)
		error = submit(state, again[i]);
	return error;
}

static enum pb_soak_end preempt_some(struct pb_soak_state *state, uint32_t node)
{
	struct pb_queue *queue = &state->host.queues[node];
	const uint64_t start = e2e_now();
	struct pb_preempt result;
	enum pb_error error = pb_queue_preempt(queue, state->fence_id,
					       pb_soak_draw(state, 2) ? PB_STOP_INSIDE : 0, &result);

	while (error == PB_ERROR_TIMEOUT && e2e_patience(start))
		error = pb_queue_preempt_finish(queue, &result);
	if (error == PB_ERROR_OK && result.returned > state->last[node] - state->first[node]) {
		(void)e2e_fail("%u submissions returned of %u", (unsigned)result.returned,
			       (unsigned)(state->last[node] - state->first[node]));
		return PB_SOAK_BAD;
	}
	if (error == PB_ERROR_OK)
		error = submit_again(state, node, result.returned);
	return end_of(state, "preempt", error);
}

/* ---- a round ---- */

static bool fence_is_good(const struct pb_soak_state *state, uint32_t node, const struct pb_fence *fence)
{
	return (fence->error == PB_ERROR_OK && fence->errors == state->errors[node]) ||
	       e2e_fail("fence %u: %u errors, not %u; %s of fence %u", (unsigned)fence->fence_id,
			(unsigned)fence->errors, (unsigned)state->errors[node], pb_error_name(fence->error),
			(unsigned)fence->error_fence_id);
}

/* Waits for the oldest submission of a queue. Whatever the fence reports as complete must be done. */
static enum pb_soak_end await_one(struct pb_soak_state *state, uint32_t node)
{
	const struct pb_soak_slot *slot = &state->slots[state->in_flight[node][state->first[node]]];
	struct pb_fence fence;
	const enum pb_error error =
		pb_queue_wait(slot->dma.queue, slot->dma.timeline, E2E_PATIENCE_US, &fence);

	if (error != PB_ERROR_OK)
		return end_of(state, "wait", error);
	if (!fence_is_good(state, node, &fence) || !target_is(slot, slot->value))
		return PB_SOAK_BAD;
	state->first[node]++;
	pb_soak_count(&state->book->completed, 1);
	return PB_SOAK_GOOD;
}

static enum pb_soak_end good_round(struct pb_soak_state *state)
{
	const uint32_t count = 1u + pb_soak_draw(state, PB_SOAK_SLOTS);
	enum pb_soak_end end = PB_SOAK_GOOD;

	for (uint32_t i = 0; i < count && end == PB_SOAK_GOOD; i++) {
		build(state, i);
		end = end_of(state, "submit", submit(state, i));
	}
	if (end == PB_SOAK_GOOD && pb_soak_draw(state, PREEMPT_ROUNDS) == 0)
		end = preempt_some(state, pb_soak_draw(state, E2E_NODES));
	for (uint32_t n = 0; n < E2E_NODES; n++) {
		while (end == PB_SOAK_GOOD && state->first[n] != state->last[n])
			end = await_one(state, n);
	}
	return end;
}

/* ---- submissions that must fail ---- */

/* An offset beyond the allocation's end: nothing of the submission may run. */
static void add_stray_fill(struct pb_soak_slot *slot)
{
	pb_dma_packet(&slot->dma, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
	pb_dma_address(&slot->dma, &slot->target, TARGET_BYTES, true);
	pb_dma_word(&slot->dma, PIECE_BYTES);
	pb_dma_word(&slot->dma, slot->value);
}

static enum pb_soak_end await_failure(struct pb_soak_state *state, const struct pb_soak_slot *slot,
				      enum pb_error expected, uint32_t mark)
{
	struct pb_fence fence;
	enum pb_error error = pb_queue_wait(slot->dma.queue, slot->dma.timeline, E2E_PATIENCE_US, &fence);

	if (error != PB_ERROR_OK)
		return end_of(state, "wait", error);
	if (fence.status != (uint32_t)expected || fence.error_fence_id != slot->fence_id) {
		(void)e2e_fail("fence %u: %s, not %s", (unsigned)slot->fence_id, pb_error_name(fence.status),
			       pb_error_name(expected));
		return PB_SOAK_BAD;
	}
	if (!target_is(slot, mark))
		return PB_SOAK_BAD;
	state->first[slot->node]++;
	state->errors[slot->node]++;
	pb_soak_count(&state->book->failed, 1);
	error = pb_context_clear(&state->host.channel, state->host.context);
	if (error == PB_ERROR_OK)
		error = pb_queue_clear(slot->dma.queue);
	return end_of(state, "clear", error);
}

/* Either the engine faults after the marks, or the firmware refuses the submission. */
static enum pb_soak_end bad_round(struct pb_soak_state *state)
{
	struct pb_soak_slot *slot = &state->slots[0];
	const bool fault = pb_soak_draw(state, 2) != 0;
	enum pb_soak_end end;

	begin(state, slot, pb_soak_draw(state, E2E_NODES), state->random);
	add_fill(slot);
	if (fault)
		pb_dma_packet(&slot->dma, PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS);
	else
		add_stray_fill(slot);
	end = end_of(state, "submit", submit(state, 0));
	if (end != PB_SOAK_GOOD)
		return end;
	return fault ? await_failure(state, slot, PB_ERROR_ENGINE_FAULT, slot->value)
		     : await_failure(state, slot, PB_ERROR_PATCH_OFFSET, ~slot->value);
}

/* Reads the events only to keep the ring free. */
static void read_events(struct pb_soak_state *state)
{
	struct pb_event event;

	while (pb_channel_event(&state->host.channel, &event))
		continue;
}

enum pb_soak_end pb_soak_round(struct pb_soak_state *state)
{
	enum pb_soak_end end;

	memset(state->first, 0, sizeof(state->first));
	memset(state->last, 0, sizeof(state->last));
	end = pb_soak_draw(state, BAD_ROUNDS) == 0 ? bad_round(state) : good_round(state);
	if (end != PB_SOAK_GOOD)
		return end;
	read_events(state);
	pb_soak_count(&state->book->rounds, 1);
	__atomic_store_n(&state->book->incarnation, state->host.channel.card.incarnation, __ATOMIC_SEQ_CST);
	return end;
}
