/* SPDX-License-Identifier: MIT */
/* Submissions, and what their fence records report. */
#include <string.h>

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "tests/interleave/host.h"

/** More than a ring has entries, so that the library reports a full ring. */
#define SLOTS          (2u * PB_LIMIT_RING_MAX)
#define PLACE_BYTES    64u
#define LISTS_BYTES    64u
#define PATCHES_AT     32u
#define MARK_WORDS     2u
#define BUSY_MICROS    30u
#define ENDLESS_MICROS (PB_HEARTBEAT_US + 2000u)
#define FENCE_FACTOR   0x01010101u
/** The first timeline value: its high word changes soon. */
#define FIRST_TIMELINE 0xfffffffeu

static uint32_t mark_offset(const struct pb_host_lane *lane, uint32_t index)
{
	return lane->marks + index % SLOTS * MARK_WORDS * 4u;
}

static uint32_t *mark_of(const struct pb_host *host, const struct pb_host_lane *lane, uint32_t index)
{
	return (uint32_t *)(void *)((uint8_t *)pb_weave_card_memory() + host->marks.memory_offset +
				    mark_offset(lane, index));
}

static uint32_t *words_of(const struct pb_host_lane *lane, uint32_t index)
{
	return (uint32_t *)(void *)(lane->buffer.bytes_host + index % SLOTS * PLACE_BYTES);
}

bool pb_host_lane_create(struct pb_host *host, uint32_t l)
{
	struct pb_host_lane *lane = &host->lanes[l];
	const struct pb_queue_request request = {
		.node = pb_host_choose(PB_WEAVE_NODES),
		.entries = 2u + 2u * pb_host_choose(2),
		.priority = PB_PRIORITY_NORMAL,
		.history = lane->history,
	};

	memset(lane, 0, sizeof(*lane));
	lane->key = (l + 1u) << 28 | pb_host_choose(256);
	lane->marks = l * 0x100u;
	return pb_host_succeeded(host,
				 pb_queue_create_with(&lane->queue, &host->channel, &host->system, &request),
				 "a queue is created") &&
	       pb_host_succeeded(
		       host, pb_memory_allocate(&host->system, PB_PAGE_BYTES, PB_PAGE_BYTES, &lane->buffer),
		       "memory is allocated") &&
	       pb_host_succeeded(
		       host,
		       pb_memory_allocate(&host->system, SLOTS * LISTS_BYTES, PB_LINE_BYTES, &lane->lists),
		       "memory is allocated");
}

/* ---- submit ---- */

static uint32_t fence_id_of(const struct pb_host_lane *lane, uint32_t index)
{
	return ((index + 1u) * FENCE_FACTOR) ^ lane->key;
}

uint32_t pb_host_find(const struct pb_host_lane *lane, uint32_t fence_id)
{
	const uint32_t number = fence_id ^ lane->key;

	if (number % FENCE_FACTOR != 0 || number == 0 || number / FENCE_FACTOR > lane->queue.put)
		return PB_HOST_SUBMISSIONS;
	return number / FENCE_FACTOR - 1u;
}

static uint32_t status_of(enum pb_host_kind kind)
{
	if (kind == PB_HOST_BAD)
		return PB_ERROR_PATCH_INDEX;
	return kind == PB_HOST_FAULT ? PB_ERROR_ENGINE_FAULT : PB_ERROR_OK;
}

/** @return words of the program; *fill is where its FILL begins */
static uint32_t write_program(const struct pb_host_lane *lane, uint32_t index, enum pb_host_kind kind,
			      uint32_t *fill)
{
	uint32_t *words = words_of(lane, index);
	uint32_t count = 0;

	if (kind == PB_HOST_LONG || kind == PB_HOST_ENDLESS || (kind == PB_HOST_FAULT && index % 2u != 0)) {
		pb_shared_write32(&words[count++], PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS));
		pb_shared_write32(&words[count++], kind == PB_HOST_ENDLESS ? ENDLESS_MICROS : BUSY_MICROS);
	}
	*fill = count;
	pb_shared_write32(&words[count++], PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS));
	pb_shared_write32(&words[count++], kind == PB_HOST_AIMED ? PB_HOST_AIM : 0xbad00000u);
	pb_shared_write32(&words[count++], kind == PB_HOST_AIMED ? 0 : 0xbad00001u);
	pb_shared_write32(&words[count++], MARK_WORDS * 4u);
	pb_shared_write32(&words[count++], lane->submissions[index].value);
	if (kind == PB_HOST_FAULT)
		pb_shared_write32(&words[count++], PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS));
	return count;
}

static void write_words(void *to, const void *from, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes / 4u; i++)
		pb_shared_write32((uint32_t *)to + i, ((const uint32_t *)from)[i]);
}

static void write_lists(const struct pb_host *host, const struct pb_host_lane *lane, uint32_t index,
			enum pb_host_kind kind, uint32_t fill)
{
	uint8_t *lists = lane->lists.bytes_host + index % SLOTS * LISTS_BYTES;
	const struct pb_allocation allocation = {
		.address_low = (uint32_t)host->marks.request.os_base + mark_offset(lane, index),
		.size_low = MARK_WORDS * 4u,
		.flags = PB_ALLOCATION_WRITE | 1u << PB_ALLOCATION_SEGMENT_SHIFT,
	};
	const struct pb_patch_location patch = {
		.allocation_index = kind == PB_HOST_BAD ? 7u : 0,
		.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
		.patch_offset = index % SLOTS * PLACE_BYTES + (fill + 1u) * 4u,
	};

	write_words(lists, &allocation, sizeof(allocation));
	write_words(lists + PATCHES_AT, &patch, sizeof(patch));
}

static void write_descriptor(const struct pb_host *host, const struct pb_host_lane *lane, uint32_t index,
			     uint32_t words, struct pb_descriptor *descriptor)
{
	const uint32_t start = index % SLOTS * PLACE_BYTES;
	const uint32_t lists = (uint32_t)lane->lists.os_address + index % SLOTS * LISTS_BYTES;

	*descriptor = (struct pb_descriptor){
		.context = host->context,
		.fence_id = lane->submissions[index].fence_id,
		.timeline_low = index == 0 ? FIRST_TIMELINE : 0,
		.dma_address_low = (uint32_t)lane->buffer.os_address,
		.dma_segment = PB_SEGMENT_SYSTEM,
		.dma_size = PB_PAGE_BYTES,
		.dma_start = start,
		.dma_end = start + words * 4u,
		.allocation_count = 1,
		.allocation_address_low = lists,
		.patch_address_low = lists + PATCHES_AT,
		.patch_count = 1,
		.patch_length = lane->submissions[index].aimed ? 0 : 1,
	};
}

bool pb_host_submit(struct pb_host *host, struct pb_host_lane *lane, enum pb_host_kind kind)
{
	const uint32_t index = lane->queue.put;
	struct pb_host_submission *submission = &lane->submissions[index % PB_HOST_SUBMISSIONS];
	struct pb_descriptor descriptor;
	uint32_t words, fill;
	enum pb_error error;

	if (index == PB_HOST_SUBMISSIONS || index - lane->settled >= SLOTS)
		return true;
	*submission = (struct pb_host_submission){
		.fence_id = fence_id_of(lane, index),
		.value = 0x40000000u + host->index * 0x01000000u + ++host->serial,
		.status = status_of(kind),
		.aimed = kind == PB_HOST_AIMED,
		.resets = pb_weave_card_resets(lane->queue.node),
	};
	for (uint32_t i = 0; i < MARK_WORDS; i++)
		pb_shared_write32(mark_of(host, lane, index) + i, 0);
	words = write_program(lane, index, kind, &fill);
	write_lists(host, lane, index, kind, fill);
	write_descriptor(host, lane, index, words, &descriptor);
	error = pb_queue_submit(&lane->queue, &descriptor);
	if (error == PB_ERROR_NO_SPACE)
		return true;
	if (!pb_host_succeeded(host, error, "a submission"))
		return false;
	submission->timeline = lane->queue.timeline;
	return true;
}

/* ---- judge ---- */

/** Its stores stand, and its patches are in place. */
static void check_done(const struct pb_host *host, const struct pb_host_lane *lane, uint32_t index)
{
	const struct pb_host_submission *submission = &lane->submissions[index];
	const uint32_t *mark = mark_of(host, lane, index);
	const uint32_t *words = words_of(lane, index);
	const uint32_t target = (uint32_t)host->marks.request.gpu_base + mark_offset(lane, index);
	const uint32_t fill = PB_PACKET_OPCODE(pb_shared_read32(&words[0])) == PB_PACKET_BUSY ? 2u : 0;

	if (submission->status == PB_ERROR_PATCH_INDEX || submission->aimed)
		return;
	for (uint32_t i = 0; i < MARK_WORDS; i++) {
		const uint32_t is = pb_shared_read32(&mark[i]);

		if (is != submission->value)
			pb_weave_fail("host %u: submission %u has completed, and word %u of its mark is 0x%x",
				      host->index, index, i, is);
	}
	if (pb_shared_read32(&words[fill + 1u]) != target || pb_shared_read32(&words[fill + 2u]) != 0)
		pb_weave_fail("host %u: submission %u has completed, and is not patched", host->index, index);
}

static void settle_to(const struct pb_host *host, struct pb_host_lane *lane, uint32_t end)
{
	for (; (int32_t)(end - lane->settled) > 0; lane->settled++) {
		const struct pb_host_submission *submission = &lane->submissions[lane->settled];

		if (submission->returned)
			continue;
		check_done(host, lane, lane->settled);
		lane->failed += submission->status != PB_ERROR_OK;
	}
}

static void check_error(const struct pb_host *host, const struct pb_host_lane *lane,
			const struct pb_fence *fence)
{
	uint32_t of;

	if (fence->error == PB_ERROR_OK) {
		if (fence->error_fence_id != 0 || fence->error_index != PB_INDEX_NONE)
			pb_weave_fail("host %u: no error, of fence 0x%x", host->index, fence->error_fence_id);
		return;
	}
	of = pb_host_find(lane, fence->error_fence_id);
	if (of == PB_HOST_SUBMISSIONS || lane->submissions[of].status != fence->error ||
	    fence->error_index != (fence->error == PB_ERROR_PATCH_INDEX ? 0 : PB_INDEX_NONE))
		pb_weave_fail("host %u: error %u of fence 0x%x, entry %u", host->index, fence->error,
			      fence->error_fence_id, fence->error_index);
}

/** The expected status of a submission that may fault. */
static void learn_status(struct pb_host_lane *lane, const struct pb_fence *fence)
{
	const uint32_t index = pb_host_find(lane, fence->fence_id);

	if (fence->valid && index != PB_HOST_SUBMISSIONS && lane->submissions[index].aimed &&
	    fence->status == PB_ERROR_ENGINE_FAULT)
		lane->submissions[index].status = fence->status;
}

/** Everything before the last completion has completed or was returned. */
static void check_fence(struct pb_host *host, struct pb_host_lane *lane, const struct pb_fence *fence)
{
	const uint32_t index = fence->valid ? pb_host_find(lane, fence->fence_id) : 0;
	const struct pb_host_submission *submission = &lane->submissions[index % PB_HOST_SUBMISSIONS];
	const uint32_t end = fence->valid ? index + 1u : 0;

	learn_status(lane, fence);
	check_error(host, lane, fence);
	if (fence->patches < host->patches)
		pb_weave_fail("host %u: %llu patches after %llu", host->index,
			      (unsigned long long)fence->patches, (unsigned long long)host->patches);
	host->patches = fence->patches;
	if (fence->valid &&
	    (index == PB_HOST_SUBMISSIONS || submission->timeline != fence->timeline ||
	     submission->status != fence->status || submission->returned || end > fence->completed))
		pb_weave_fail("host %u: the record has fence 0x%x, value 0x%llx, status %u, completed %u",
			      host->index, fence->fence_id, (unsigned long long)fence->timeline,
			      fence->status, fence->completed);
	if (lane->queue.stop.pending)
		return; /* the returned ones are not known yet */
	for (uint32_t i = end; i < fence->completed; i++) {
		if (!lane->submissions[i].returned)
			pb_weave_fail("host %u: submission %u is neither completed nor returned", host->index,
				      i);
	}
	settle_to(host, lane, fence->completed);
	if (fence->errors < lane->failed)
		pb_weave_fail("host %u: %u errors instead of %u", host->index, fence->errors, lane->failed);
}

bool pb_host_check_fence(struct pb_host *host, struct pb_host_lane *lane)
{
	struct pb_fence fence;

	if (!pb_host_succeeded(host, pb_queue_fence(&lane->queue, &fence), "a fence is read"))
		return false;
	check_fence(host, lane, &fence);
	return true;
}

bool pb_host_count(struct pb_host *host, struct pb_host_lane *lane)
{
	uint32_t completed;

	if (!pb_host_succeeded(host, pb_queue_completed(&lane->queue, &completed), "completions are counted"))
		return false;
	if (!lane->queue.stop.pending)
		settle_to(host, lane, completed);
	return true;
}

bool pb_host_settle(struct pb_host *host, struct pb_host_lane *lane)
{
	struct pb_fence fence;

	if (lane->settled == lane->queue.put)
		return true;
	host->link->doing = "a fence";
	if (!pb_host_succeeded(host, pb_queue_wait(&lane->queue, lane->queue.timeline, 1000000u, &fence),
			       "a fence is waited for"))
		return false;
	check_fence(host, lane, &fence);
	return true;
}

void pb_host_returned(struct pb_host_lane *lane, uint32_t end, uint32_t count, bool started)
{
	for (uint32_t i = end - count; i != end; i++)
		lane->submissions[i].returned = true;
	lane->submissions[(end - count) % PB_HOST_SUBMISSIONS].started = started && count != 0;
}

void pb_host_check_returned(const struct pb_host *host, const struct pb_host_lane *lane)
{
	uint32_t i = lane->queue.put < SLOTS ? 0 : lane->queue.put - SLOTS;

	for (; i < lane->queue.put; i++) {
		const struct pb_host_submission *submission = &lane->submissions[i];

		for (uint32_t word = 0; word < MARK_WORDS; word++) {
			/*
			 * A submission cut off by a reset of the engine for another queue is returned as if
			 * it had not begun.
			 */
			if (submission->returned && !submission->started &&
			    submission->resets == pb_weave_card_resets(lane->queue.node) &&
			    pb_shared_read32(mark_of(host, lane, i) + word) != 0)
				pb_weave_fail("host %u: submission %u was returned, and has run", host->index,
					      i);
		}
	}
}
