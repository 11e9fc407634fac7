/* SPDX-License-Identifier: MIT */
#include "tests/unit/patch_oracle.h"

#include <string.h>

#define PAGES_BYTES (3u * ORACLE_BUFFER_BYTES)

/** Wide enough that no sum below can wrap. */
__extension__ typedef __int128 wide;

struct place {
	uint64_t os_base;
	uint64_t gpu_base;
};
static const struct place segments[4] = {
	{CARD_SYSTEM_OS, CARD_SYSTEM_GPU},
	{CARD_VIDEO_OS, CARD_VIDEO_GPU},
	{CARD_EDGE_OS, CARD_EDGE_GPU},
	{0, 0},
};

static uint32_t width_of(uint32_t format)
{
	return format == PB_PATCH_FORMAT_ADDRESS64 || format == PB_PATCH_FORMAT_ADDRESS64_WRITE ||
			       format == PB_PATCH_FORMAT_SUM64_SIGNED
		       ? 8
		       : 4;
}

static bool writes(uint32_t format)
{
	return format == PB_PATCH_FORMAT_ADDRESS32_WRITE || format == PB_PATCH_FORMAT_ADDRESS64_WRITE;
}

static bool is_sum(uint32_t format)
{
	return format == PB_PATCH_FORMAT_SUM32 || format == PB_PATCH_FORMAT_SUM64_SIGNED;
}

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

static wide join(uint32_t low, uint32_t high)
{
	return ((wide)high << 32) + low;
}

/** The number that a good entry stands for, before it is cut to its width. */
static wide value_of(const struct pb_allocation *allocation, const struct pb_patch_location *patch)
{
	const struct place *segment = &segments[allocation->flags >> 1 & 3u];
	const wide address = join(allocation->address_low, allocation->address_high);
	wide offset = patch->allocation_offset;

	if (patch->driver_id == PB_PATCH_FORMAT_SUM64_SIGNED && offset >= join(0x80000000, 0))
		offset -= join(0, 1);
	return address - segment->os_base + segment->gpu_base + offset;
}

static uint32_t address_errors(const struct pb_allocation *allocation, const struct pb_patch_location *patch)
{
	const wide size = join(allocation->size_low, allocation->size_high);
	uint32_t errors = 0;

	if (writes(patch->driver_id) && (allocation->flags & PB_ALLOCATION_WRITE) == 0)
		errors |= ORACLE_ERROR(PB_ERROR_PATCH_WRITE);
	if (is_sum(patch->driver_id))
		return errors;
	/* The documents give an offset the first 4 GiB - 1 of an allocation. */
	if (patch->allocation_offset >= size || patch->allocation_offset == 0xffffffff)
		errors |= ORACLE_ERROR(PB_ERROR_PATCH_OFFSET);
	if (width_of(patch->driver_id) == 4 && value_of(allocation, patch) >= join(0, 1))
		errors |= ORACLE_ERROR(PB_ERROR_PATCH_VALUE);
	return errors;
}

uint32_t oracle_errors(const struct oracle_list *list, const struct pb_patch_location *patch)
{
	const wide place = patch->patch_offset;
	uint32_t errors = 0;

	if (patch->slot >= 0x01000000)
		errors |= ORACLE_ERROR(PB_ERROR_PATCH_RESERVED);
	if (patch->driver_id > 5)
		errors |= ORACLE_ERROR(PB_ERROR_PATCH_FORMAT);
	if (patch->allocation_index >= list->allocation_count)
		errors |= ORACLE_ERROR(PB_ERROR_PATCH_INDEX);
	if (place % 4 != 0)
		errors |= ORACLE_ERROR(PB_ERROR_PATCH_ALIGNMENT);
	if (place < list->dma_start || place + width_of(patch->driver_id) > list->dma_end)
		errors |= ORACLE_ERROR(PB_ERROR_PATCH_RANGE);
	if (errors == 0 && (list->allocations[patch->allocation_index].flags & PB_ALLOCATION_UNBIND) == 0)
		errors = address_errors(&list->allocations[patch->allocation_index], patch);
	return errors;
}

uint32_t oracle_run(const struct oracle_list *list, uint8_t *buffer, uint32_t *errors)
{
	for (uint32_t i = 0; i < list->patch_length; i++) {
		const struct pb_patch_location *patch = &list->patches[list->patch_start + i];
		const struct pb_allocation *allocation;
		wide value;

		*errors = oracle_errors(list, patch);
		if (*errors != 0)
			return i;
		allocation = &list->allocations[patch->allocation_index];
		if ((allocation->flags & PB_ALLOCATION_UNBIND) != 0)
			continue;
		value = value_of(allocation, patch);
		for (uint32_t byte = 0; byte < width_of(patch->driver_id); byte++, value >>= 8)
			buffer[patch->patch_offset + byte] = (uint8_t)(value & 0xff);
	}
	*errors = 0;
	return list->patch_length;
}

uint32_t oracle_random(uint32_t *seed)
{
	/* xorshift32: never 0 when it does not start with 0 */
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

static void expect_failure(struct card *card, const char *row, uint32_t fence_id, enum pb_error error,
			   uint32_t index)
{
	struct pb_event event = {
		.type = PB_EVENT_SUBMISSION_FAILED,
		.queue = card->queues[0].handle,
		.fence_id = fence_id,
		.error = error,
		.index = index,
	};

	card_expect_event(&card->channel, row, &event);
	event.type = PB_EVENT_CONTEXT_LOST;
	event.detail = card->context;
	card_expect_event(&card->channel, row, &event);
	assert_int_equal(pb_context_clear(&card->channel, card->context), PB_ERROR_OK);
	assert_int_equal(pb_queue_clear(&card->queues[0]), PB_ERROR_OK);
}

static struct pb_descriptor describe(const struct card *card, const struct oracle_list *list)
{
	struct pb_descriptor descriptor =
		card_descriptor(card, 1, ORACLE_BUFFER_BYTES, list->allocation_count, list->patch_count);

	memcpy(card_bytes(card, 0, CARD_ALLOCATIONS), list->allocations,
	       list->allocation_count * sizeof(*list->allocations));
	memcpy(card_bytes(card, 0, CARD_PATCHES), list->patches, list->patch_count * sizeof(*list->patches));
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	descriptor.fence_id = 0xf0000000u + card->queues[0].put;
	descriptor.dma_start = list->dma_start;
	descriptor.dma_end = list->dma_end;
	descriptor.patch_start = list->patch_start;
	descriptor.patch_length = list->patch_length;
	return descriptor;
}

static void compare_pages(const char *row, const uint8_t *actual, const uint8_t *expected)
{
	if (memcmp(actual, expected, PAGES_BYTES) == 0)
		return;
	for (uint32_t i = 0; i < PAGES_BYTES; i++) {
		if (actual[i] != expected[i])
			fail_msg("%s: byte %d is %02x, expected %02x", row, (int)i - (int)ORACLE_BUFFER_BYTES,
				 actual[i], expected[i]);
	}
}

enum pb_error oracle_check(struct card *card, const char *row, const struct oracle_list *list, uint32_t seed)
{
	static uint8_t expected[PAGES_BYTES];
	const struct pb_descriptor descriptor = describe(card, list);
	const struct pb_fence before = card_wait(card, 0, card->queues[0].put);
	uint8_t *pages = (uint8_t *)card_dma(card, 0);
	uint32_t errors, done;
	struct pb_fence fence;

	for (uint32_t i = 0; i < PAGES_BYTES; i += 4u) {
		const uint32_t word = oracle_random(&seed);

		memcpy(&expected[i], &word, sizeof(word));
	}
	memcpy(pages, expected, sizeof(expected));
	done = oracle_run(list, &expected[ORACLE_BUFFER_BYTES], &errors);
	fence = card_execute(card, 0, &descriptor);
	compare_pages(row, pages, expected);
	card_equal(row, fence.fence_id, descriptor.fence_id);
	card_equal(row, fence.patches - before.patches, done);
	card_equal(row, fence.errors - before.errors, errors != 0);
	card_equal(row, fence.error, fence.status);
	if (errors == 0) {
		card_equal(row, fence.status, PB_ERROR_OK);
	} else {
		if (fence.status < PB_ERROR_PATCH_RESERVED || fence.status > PB_ERROR_PATCH_VALUE ||
		    (errors & ORACLE_ERROR(fence.status)) == 0)
			fail_msg("%s: error %s, expected one of set %02x", row, pb_error_name(fence.status),
				 errors);
		card_equal(row, fence.error_fence_id, descriptor.fence_id);
		card_equal(row, fence.error_index, list->patch_start + done);
		expect_failure(card, row, descriptor.fence_id, (enum pb_error)fence.status,
			       list->patch_start + done);
	}
	card_expect_no_event(&card->channel, row);
	return (enum pb_error)fence.status;
}
