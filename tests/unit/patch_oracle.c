/* SPDX-License-Identifier: MIT */
#include "tests/unit/patch_oracle.h"

#include <string.h>

#define PAGES_BYTES (ORACLE_BUFFER_MAX + 2u * CARD_DMA_STRIDE)
#define OWN_END     (PB_FORMAT_OWN + ORACLE_OWN_FORMATS)

struct place {
	uint64_t os_base;
	uint64_t gpu_base;
	uint64_t size;
	uint32_t kind;
};
static const struct place segments[] = {
	{CARD_SYSTEM_OS, CARD_SYSTEM_GPU, CARD_SYSTEM_BYTES, PB_SEGMENT_LINEAR},
	{CARD_VIDEO_OS, CARD_VIDEO_GPU, CARD_VIDEO_BYTES, PB_SEGMENT_LINEAR},
	{CARD_EDGE_OS, CARD_EDGE_GPU, CARD_EDGE_BYTES, PB_SEGMENT_LINEAR},
	{0, 0, CARD_WIDE_BYTES, PB_SEGMENT_LINEAR},
	{ORACLE_SIGN_OS, ORACLE_SIGN_GPU, ORACLE_SMALL_BYTES, PB_SEGMENT_LINEAR},
	{ORACLE_BIT48_OS, ORACLE_BIT48_GPU, ORACLE_SMALL_BYTES, PB_SEGMENT_LINEAR},
	{ORACLE_TOP_OS, ORACLE_TOP_GPU, ORACLE_TOP_BYTES, PB_SEGMENT_LINEAR},
	{ORACLE_BIT40_OS, ORACLE_BIT40_GPU, ORACLE_SMALL_BYTES, PB_SEGMENT_LINEAR},
	{ORACLE_LOW_OS, ORACLE_LOW_GPU, ORACLE_SMALL_BYTES, PB_SEGMENT_LINEAR},
	{ORACLE_APERTURE_OS, ORACLE_APERTURE_GPU, ORACLE_SMALL_BYTES, PB_SEGMENT_APERTURE},
};

/* ---- one entry ---- */

struct pb_allocation oracle_allocation(uint64_t os_address, uint64_t size, uint32_t flags)
{
	return (struct pb_allocation){
		.address_low = (uint32_t)os_address,
		.address_high = (uint32_t)(os_address >> 32),
		.size_low = (uint32_t)size,
		.size_high = (uint32_t)(size >> 32),
		.flags = flags,
	};
}

static uint64_t join(uint32_t low, uint32_t high)
{
	return (uint64_t)high * 0x100000000 + low;
}

static uint32_t buffer_bytes(const struct oracle_list *list)
{
	return list->buffer_bytes != 0 ? list->buffer_bytes : ORACLE_BUFFER_BYTES;
}

struct pb_presumed oracle_presumed(const struct pb_allocation *allocation)
{
	return (struct pb_presumed){allocation->address_low, allocation->address_high, allocation->flags};
}

/** Nothing is written through an allocation that is presumed where it is listed. */
static bool is_kept(const struct oracle_list *list, uint32_t index)
{
	struct pb_presumed listed;

	if (list->presumed == NULL || index >= list->allocation_count)
		return false;
	listed = oracle_presumed(&list->allocations[index]);
	return memcmp(&listed, &list->presumed[index], sizeof(listed)) == 0;
}

static struct format_target target_of(const struct oracle_list *list, const struct pb_patch_format *format,
				      uint32_t allocation_index, uint32_t fence_id)
{
	struct format_target target = {
		.fence_id = fence_id,
		.self = ORACLE_SELF,
		.self_bytes = buffer_bytes(list),
	};

	if (format_uses_allocation(format)) {
		const struct pb_allocation *allocation = &list->allocations[allocation_index];
		const struct place *segment = &segments[allocation->flags / 2 % 32];

		target.address = join(allocation->address_low, allocation->address_high) - segment->os_base +
				 segment->gpu_base;
		target.size = join(allocation->size_low, allocation->size_high);
		target.id = allocation->id;
		target.kind = segment->kind;
		target.attribute = allocation->flags / 512 % 4;
		target.writable = allocation->flags % 2 != 0;
		target.unbound = allocation->flags / 256 % 2 != 0 || is_kept(list, allocation_index);
	}
	return target;
}

const struct pb_patch_format *oracle_format(const struct oracle_list *list, uint32_t driver_id)
{
	if (driver_id < PB_PATCH_FORMAT_COUNT)
		return &format_built_in[driver_id];
	if (driver_id < PB_FORMAT_OWN || driver_id >= OWN_END || list->own == NULL ||
	    !list->own->set[driver_id - PB_FORMAT_OWN])
		return NULL;
	return &list->own->format[driver_id - PB_FORMAT_OWN];
}

/** What can be told without the allocation. */
static enum pb_error check_place(const struct oracle_list *list, const struct pb_patch_format *format,
				 const struct pb_patch_location *patch)
{
	const uint64_t first = patch->patch_offset;

	if (patch->slot >= 0x01000000)
		return PB_ERROR_PATCH_RESERVED;
	if (format == NULL)
		return PB_ERROR_PATCH_FORMAT;
	if (format_uses_allocation(format) && patch->allocation_index >= list->allocation_count)
		return PB_ERROR_PATCH_INDEX;
	if (first % format->align != 0)
		return PB_ERROR_PATCH_ALIGNMENT;
	if (first < list->dma_start || first + format_width(format) > list->dma_end)
		return PB_ERROR_PATCH_RANGE;
	return PB_ERROR_OK;
}

/** Checks one entry and carries it out, unless `buffer` is NULL. */
static enum pb_error carry_out(const struct oracle_list *list, const struct pb_patch_location *patch,
			       uint32_t fence_id, uint8_t *buffer)
{
	const struct pb_patch_format *format = oracle_format(list, patch->driver_id);
	enum pb_error error = check_place(list, format, patch);
	struct format_target target;
	struct format_bits value;

	if (error != PB_ERROR_OK)
		return error;
	target = target_of(list, format, patch->allocation_index, fence_id);
	if (target.unbound)
		return PB_ERROR_OK;
	error = format_value(format, &target, patch->allocation_offset, &value);
	if (error == PB_ERROR_OK && buffer != NULL)
		format_store(format, &value, &buffer[patch->patch_offset]);
	return error;
}

enum pb_error oracle_entry(const struct oracle_list *list, const struct pb_patch_location *patch,
			   uint32_t fence_id)
{
	return carry_out(list, patch, fence_id, NULL);
}

/* ---- a list ---- */

/** Takes the compact entry at `*at` and moves on; an entry that follows it may inherit `*format`. @param end of the list, or of a group */
static enum pb_error take_compact(const struct oracle_list *list, uint32_t *at, uint32_t end,
				  uint32_t *format, struct pb_patch_location *patch)
{
	const uint32_t *words = &list->words[*at];
	const bool escape = words[0] / 0x400000 == 0x3ff;

	*patch = (struct pb_patch_location){.allocation_index = words[0] % 1024};
	*at += escape ? 3 : 2;
	if (*at > end) {
		*at = end;
		return PB_ERROR_PATCH_ENCODING;
	}
	if (escape) {
		if (words[0] / 0x40000 % 16 != 0)
			return PB_ERROR_PATCH_RESERVED;
		*format = words[0] / 1024 % 256;
		patch->patch_offset = words[1];
	} else {
		patch->patch_offset = words[0] / 1024 * 4;
	}
	patch->driver_id = *format;
	patch->allocation_offset = words[escape ? 2 : 1];
	return PB_ERROR_OK;
}

/** Takes the head of a group at `*at`, and all of the group if that is skipped. @param group set to the end of its entries */
static enum pb_error take_head(const struct oracle_list *list, uint32_t *at, uint32_t *group,
			       uint32_t *format)
{
	const uint32_t end = list->patch_start + list->patch_length;
	const uint32_t *head = &list->words[*at];
	const uint32_t left = end - *at;

	if (left < 2 || head[1] > left - 2) {
		*at = end;
		return PB_ERROR_PATCH_ENCODING;
	}
	*at += 2;
	if (head[0] / 0x80000 != 0)
		return PB_ERROR_PATCH_RESERVED;
	*format = head[0] / 1024 % 256;
	*group = *at + head[1];
	if (head[0] / 0x40000 == 0 && is_kept(list, head[0] % 1024))
		*at = *group;
	return PB_ERROR_OK;
}

/** Takes what is next: an entry, or something that is none. @return whether it is an entry */
static bool take(const struct oracle_list *list, struct oracle_result *result, uint32_t *group,
		 uint32_t *format, struct pb_patch_location *patch)
{
	const uint32_t end = list->patch_start + list->patch_length;

	if (list->encoding == PB_PATCH_ENCODING_WDDM) {
		*patch = list->patches[result->next++];
		return !is_kept(list, patch->allocation_index);
	}
	if (list->encoding == PB_PATCH_ENCODING_COMPACT) {
		result->error = take_compact(list, &result->next, end, format, patch);
		return true;
	}
	if (result->next == *group) {
		result->error = take_head(list, &result->next, group, format);
		return result->error != PB_ERROR_OK;
	}
	result->error = take_compact(list, &result->next, *group, format, patch);
	return true;
}

struct oracle_result oracle_run(const struct oracle_list *list, uint32_t fence_id, uint8_t *buffer)
{
	const uint32_t end = list->patch_start + list->patch_length;
	struct oracle_result result = {.next = list->patch_start};
	uint32_t group = list->patch_start;
	uint32_t format = 0;

	while (result.next < end) {
		struct pb_patch_location patch;

		result.index = result.next;
		if (!take(list, &result, &group, &format, &patch))
			continue;
		if (result.error == PB_ERROR_OK)
			result.error = carry_out(list, &patch, fence_id, buffer);
		if (result.error != PB_ERROR_OK)
			return result;
		result.done++;
	}
	result.index = PB_INDEX_NONE;
	return result;
}

uint32_t oracle_random(uint32_t *seed)
{
	/* xorshift32: never 0 when it does not start with 0 */
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* ---- the card ---- */

static void add_segments(struct card *card)
{
	for (uint32_t id = 4; id < sizeof(segments) / sizeof(segments[0]); id++) {
		const struct place *place = &segments[id];
		const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
			id,
			place->kind,
			(uint32_t)place->os_base,
			(uint32_t)(place->os_base >> 32),
			(uint32_t)place->gpu_base,
			(uint32_t)(place->gpu_base >> 32),
			(uint32_t)place->size,
			(uint32_t)(place->size >> 32),
		};

		assert_int_equal(
			pb_channel_command(&card->channel, PB_COMMAND_SEGMENT_CREATE, arguments, NULL),
			PB_ERROR_OK);
	}
}

void oracle_start(struct card *card)
{
	card_start(card);
	add_segments(card);
}

void oracle_start_on(struct card *card, struct pb_link *link)
{
	card_start_on(card, link);
	add_segments(card);
}

enum pb_error oracle_format_set(struct pb_channel *channel, uint32_t driver_id,
				const struct pb_patch_format *format, uint32_t *reason)
{
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {driver_id};
	const struct pb_reply *replies;
	enum pb_error error;

	memcpy(&arguments[1], format, sizeof(*format));
	error = pb_channel_command(channel, PB_COMMAND_FORMAT_SET, arguments, NULL);
	/* The library keeps results of what was carried out only; this one is in the ring still. */
	replies = (const struct pb_reply *)(const void *)(channel->link->memory + channel->reply_offset);
	*reason = replies[(channel->reply_get - 1u) % channel->control_entries].results[0];
	return error;
}

void oracle_own(struct card *card, struct oracle_formats *own, uint32_t driver_id,
		const struct pb_patch_format *format)
{
	uint32_t reason;

	card_equal("FORMAT_SET", oracle_format_set(&card->channel, driver_id, format, &reason), PB_ERROR_OK);
	card_equal("FORMAT_SET", reason, PB_FORMAT_REASON_NONE);
	own->format[driver_id - PB_FORMAT_OWN] = *format;
	own->set[driver_id - PB_FORMAT_OWN] = true;
}

uint8_t *oracle_pages(const struct card *card)
{
	return card_bytes(card, 0, CARD_DMA);
}

static const void *entries_of(const struct oracle_list *list, uint32_t *bytes)
{
	if (list->encoding != PB_PATCH_ENCODING_WDDM) {
		*bytes = list->patch_count * (uint32_t)sizeof(*list->words);
		return list->words;
	}
	*bytes = list->patch_count * (uint32_t)sizeof(*list->patches);
	return list->patches;
}

static struct pb_descriptor describe(const struct card *card, const struct oracle_list *list)
{
	struct pb_descriptor descriptor =
		card_descriptor(card, 1, buffer_bytes(list), list->allocation_count, list->patch_count);
	uint32_t bytes;
	const void *entries = entries_of(list, &bytes);

	assert_true(buffer_bytes(list) <= ORACLE_BUFFER_MAX &&
		    CARD_PATCHES + bytes <= card->segments[0].request.backing_bytes);
	if (list->allocation_count != 0)
		memcpy(card_bytes(card, 0, CARD_ALLOCATIONS), list->allocations,
		       list->allocation_count * sizeof(*list->allocations));
	if (list->presumed != NULL)
		memcpy(card_bytes(card, 0, CARD_ALLOCATIONS + list->allocation_count * 24), list->presumed,
		       list->allocation_count * sizeof(*list->presumed));
	memcpy(card_bytes(card, 0, CARD_PATCHES), entries, bytes);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	descriptor.fence_id = list->fence_id != 0 ? list->fence_id : 0xf0000000u + card->queues[0].put;
	descriptor.dma_size = buffer_bytes(list);
	descriptor.dma_start = list->dma_start;
	descriptor.dma_end = list->dma_end;
	descriptor.patch_start = list->patch_start;
	descriptor.patch_length = list->patch_length;
	descriptor.patch_encoding = list->encoding | (list->presumed != NULL ? PB_PATCH_PRESUMED : 0);
	return descriptor;
}

struct pb_fence oracle_submit(struct card *card, const struct oracle_list *list)
{
	const struct pb_descriptor descriptor = describe(card, list);
	const struct pb_fence fence = card_execute(card, 0, &descriptor);

	assert_int_equal(fence.fence_id, descriptor.fence_id);
	return fence;
}

static void expect_failure(struct card *card, const char *row, const struct pb_fence *fence,
			   const struct oracle_result *result)
{
	struct pb_event event = {
		.type = PB_EVENT_SUBMISSION_FAILED,
		.queue = card->queues[0].handle,
		.fence_id = fence->fence_id,
		.error = result->error,
		.index = result->index,
	};

	card_equal(row, fence->error_fence_id, fence->fence_id);
	card_equal(row, fence->error_index, result->index);
	card_expect_event(&card->channel, row, &event);
	event.type = PB_EVENT_CONTEXT_LOST;
	event.detail = card->context;
	card_expect_event(&card->channel, row, &event);
	assert_int_equal(pb_context_clear(&card->channel, card->context), PB_ERROR_OK);
	assert_int_equal(pb_queue_clear(&card->queues[0]), PB_ERROR_OK);
}

static void compare_pages(const char *row, const uint8_t *actual, const uint8_t *expected, uint32_t bytes)
{
	if (memcmp(actual, expected, bytes) == 0)
		return;
	for (uint32_t i = 0; i < bytes; i++) {
		if (actual[i] != expected[i])
			fail_msg("%s: byte %d is %02x, expected %02x", row, (int)i - (int)CARD_DMA_STRIDE,
				 actual[i], expected[i]);
	}
}

/** The lists are the host's: the card only reads them. */
static void compare_lists(const struct card *card, const char *row, const struct oracle_list *list)
{
	uint32_t bytes;
	const void *entries = entries_of(list, &bytes);

	card_equal(row, memcmp(card_bytes(card, 0, CARD_PATCHES), entries, bytes), 0);
	if (list->allocation_count != 0)
		card_equal(row,
			   memcmp(card_bytes(card, 0, CARD_ALLOCATIONS), list->allocations,
				  list->allocation_count * sizeof(*list->allocations)),
			   0);
}

static void fill(uint8_t *bytes, uint32_t count, uint32_t seed)
{
	for (uint32_t i = 0; i < count; i += 4u) {
		const uint32_t word = oracle_random(&seed);

		memcpy(&bytes[i], &word, sizeof(word));
	}
}

struct oracle_result oracle_check(struct card *card, const char *row, const struct oracle_list *list,
				  uint32_t seed)
{
	static uint8_t expected[PAGES_BYTES];
	const uint32_t bytes = buffer_bytes(list) + 2u * CARD_DMA_STRIDE;
	const struct pb_fence before = card_wait(card, 0, card->queues[0].put);
	uint8_t *pages = oracle_pages(card);
	struct oracle_result result;
	struct pb_fence fence;

	fill(expected, bytes, seed);
	memcpy(pages, expected, bytes);
	fence = oracle_submit(card, list);
	result = oracle_run(list, fence.fence_id, &expected[CARD_DMA_STRIDE]);
	compare_pages(row, pages, expected, bytes);
	compare_lists(card, row, list);
	card_equal(row, fence.status, result.error);
	card_equal(row, fence.error, result.error);
	card_equal(row, fence.patches - before.patches, result.done);
	card_equal(row, fence.errors - before.errors, result.error != PB_ERROR_OK);
	if (result.error != PB_ERROR_OK)
		expect_failure(card, row, &fence, &result);
	card_expect_no_event(&card->channel, row);
	return result;
}

static bool has_compact_form(const struct oracle_list *list)
{
	for (uint32_t i = 0; i < list->patch_count; i++) {
		const struct pb_patch_location *patch = &list->patches[i];
		const struct pb_patch_format *format = oracle_format(list, patch->driver_id);

		if (patch->slot >= 0x01000000 || patch->driver_id >= 256 ||
		    (patch->allocation_index >= 1024 && (format == NULL || format_uses_allocation(format))))
			return false;
	}
	return true;
}

enum pb_error oracle_check_both(struct card *card, const char *row, const struct oracle_list *list,
				uint32_t seed)
{
	const enum pb_error error = oracle_check(card, row, list, seed).error;
	uint32_t words[64 * PB_COMPACT_ESCAPE_WORDS];
	struct oracle_list compact = *list;

	assert_true(list->patch_count <= 64);
	if (!has_compact_form(list))
		return error;
	compact.encoding = PB_PATCH_ENCODING_COMPACT;
	compact.words = words;
	for (uint32_t loose = 0; loose < 2; loose++) {
		compact.patch_count = oracle_compact(list->patches, list->patch_count, 0u - loose, words);
		compact.patch_length = compact.patch_count;
		card_equal(row, oracle_check(card, row, &compact, seed).error, error);
	}
	return error;
}
