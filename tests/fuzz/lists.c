/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/lists.h"

#include <string.h>

#define PAGES_BYTES (3u * PB_PAGE_BYTES)
#define STEPS       4000u

void fuzz_lists_init(struct fuzz_lists *lists)
{
	memset(lists, 0, sizeof(*lists));
	lists->list.allocations = lists->allocations;
	lists->list.patches = lists->patches;
	lists->list.words = lists->words;
	lists->list.own = &lists->own;
	lists->list.dma_end = ORACLE_BUFFER_BYTES;
}

/* ---- allocations ---- */

static const struct {
	uint64_t os_base;
	uint64_t size;
} places[] = {
	{CARD_VIDEO_OS, CARD_VIDEO_BYTES},
	{CARD_EDGE_OS, CARD_EDGE_BYTES},
	{0, CARD_WIDE_BYTES},
	{ORACLE_SIGN_OS, ORACLE_SMALL_BYTES},
	{ORACLE_BIT48_OS, ORACLE_SMALL_BYTES},
	{ORACLE_TOP_OS, ORACLE_TOP_BYTES},
	{ORACLE_BIT40_OS, ORACLE_SMALL_BYTES},
	{ORACLE_LOW_OS, ORACLE_SMALL_BYTES},
	{ORACLE_APERTURE_OS, ORACLE_SMALL_BYTES},
};
#define PLACES (sizeof(places) / sizeof(places[0]))

static struct pb_allocation allocation(struct fuzz_input *input)
{
	const uint32_t place = fuzz_below(input, PLACES);
	const uint32_t flags = fuzz_byte(input);
	const uint64_t far = (uint64_t)fuzz_number(input) * (1u + fuzz_byte(input) % 2u * 0xffu);
	const uint64_t offset = far % places[place].size;
	const uint64_t size = 1u + fuzz_number(input) % (places[place].size - offset);
	struct pb_allocation made;

	if (flags >= 0xf0)
		return oracle_allocation(0, 0, PB_ALLOCATION_UNBIND);
	made = oracle_allocation(places[place].os_base + offset, size,
				 (place + 1u) << PB_ALLOCATION_SEGMENT_SHIFT | (flags & PB_ALLOCATION_WRITE) |
					 (flags << 8 & PB_ALLOCATION_ATTRIBUTE_MASK));
	made.id = 0x1d000000u | flags;
	return made;
}

void fuzz_lists_allocations(struct fuzz_input *input, struct fuzz_lists *lists, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		lists->allocations[i] = allocation(input);
	lists->list.allocation_count = count;
}

/* ---- formats ---- */

/** Fields that may well go with each other. */
static void likely_format(struct fuzz_input *input, struct pb_patch_format *format)
{
	static const uint8_t aligns[] = {1, 4, 8, 4};

	format->source = (uint8_t)fuzz_below(input, PB_FORMAT_SOURCES);
	format->flags = (uint8_t)(fuzz_byte(input) & PB_FORMAT_FLAGS);
	format->bound = format->source == PB_FORMAT_ADDRESS || format->source == PB_FORMAT_SELF
				? (uint8_t)fuzz_below(input, PB_FORMAT_BOUNDS)
				: (uint8_t)PB_FORMAT_NONE;
	if (format->source != PB_FORMAT_ADDRESS)
		format->flags &= (uint8_t)~PB_FORMAT_WRITE;
	format->align = aligns[fuzz_below(input, 4)];
	format->shift_right = (uint8_t)fuzz_below(input, 64);
	format->shift_left = (uint8_t)fuzz_below(input, 32);
	format->or_by = (uint8_t)fuzz_below(input, PB_FORMAT_ORS);
	format->mask = fuzz_number(input);
	if ((format->flags & PB_FORMAT_WIDE) != 0) {
		format->step = (uint8_t)(1u + fuzz_below(input, 4));
		format->high_mask = fuzz_number(input);
	}
	if ((format->flags & PB_FORMAT_KEEP) == 0)
		format->background = fuzz_number(input) & ~format->mask;
	format->pre_or_low = fuzz_number(input);
	format->pre_or_high = fuzz_number(input);
	for (uint32_t i = 0; i < 1u << format->or_by; i++)
		format->or_value[i] = fuzz_number(input);
}

void fuzz_lists_format(struct fuzz_input *input, struct fuzz_lists *lists)
{
	const uint32_t kind = fuzz_byte(input);
	const uint32_t id = kind < 0xf0 ? PB_FORMAT_OWN + kind % ORACLE_OWN_FORMATS : fuzz_number(input);
	struct pb_patch_format format = {0};
	enum pb_format_reason expected;
	uint32_t reason;
	enum pb_error error;

	if (fuzz_byte(input) < 0xc0)
		likely_format(input, &format);
	else
		fuzz_bytes(input, &format, sizeof(format));
	expected = id - PB_FORMAT_OWN < ORACLE_OWN_FORMATS ? format_reason(&format) : PB_FORMAT_REASON_NUMBER;
	error = oracle_format_set(&fuzz_card.guest.channel, id, &format, &reason);
	FUZZ_CHECK(reason == expected);
	FUZZ_CHECK(error == (expected == PB_FORMAT_REASON_NONE ? PB_ERROR_OK : PB_ERROR_BAD_FORMAT));
	if (error != PB_ERROR_OK)
		return;
	lists->own.format[id - PB_FORMAT_OWN] = format;
	lists->own.set[id - PB_FORMAT_OWN] = true;
}

/* ---- entries ---- */

void fuzz_lists_range(struct fuzz_input *input, struct fuzz_lists *lists)
{
	lists->list.dma_start = 4u * fuzz_byte(input);
	lists->list.dma_end = ORACLE_BUFFER_BYTES - 4u * fuzz_byte(input);
}

void fuzz_lists_part(struct fuzz_lists *lists, uint32_t kind, uint32_t count)
{
	lists->list.patch_count = count;
	lists->list.patch_start = kind < 0xe0 ? 0 : kind % (count + 1u);
	lists->list.patch_length = count - lists->list.patch_start;
	if (kind >= 0xf0)
		lists->list.patch_length /= 2u;
}

struct pb_patch_location fuzz_lists_patch(struct fuzz_input *input, const struct fuzz_lists *lists)
{
	const uint32_t kind = fuzz_byte(input);
	const uint32_t format = fuzz_byte(input);
	struct pb_patch_location patch = {0};

	if (kind >= 0xf8) {
		fuzz_bytes(input, &patch, sizeof(patch));
		return patch;
	}
	patch.allocation_index = fuzz_below(input, lists->list.allocation_count + 1u);
	patch.slot = kind >= 0xf0 ? fuzz_number(input) : kind;
	patch.driver_id = format < 0xa0   ? format % PB_PATCH_FORMAT_COUNT
			  : format < 0xf0 ? PB_FORMAT_OWN + format % ORACLE_OWN_FORMATS
					  : fuzz_number(input);
	patch.allocation_offset = fuzz_number(input);
	patch.patch_offset = kind < 0xc0 ? lists->list.dma_start + 4u * fuzz_byte(input) : fuzz_number(input);
	return patch;
}

void fuzz_lists_presume(struct fuzz_input *input, struct fuzz_lists *lists)
{
	for (uint32_t i = 0; i < lists->list.allocation_count; i++) {
		const uint32_t kind = fuzz_byte(input);

		lists->presumed[i] = oracle_presumed(&lists->allocations[i]);
		if (kind >= 0xa0)
			(&lists->presumed[i].address_low)[kind % 3u] ^= 1u << kind % 32u;
	}
	lists->list.presumed = lists->presumed;
}

/* ---- both carry them out ---- */

void fuzz_lists_fill(void)
{
	uint32_t *words = (uint32_t *)(void *)fuzz_guest_bytes(FUZZ_PAGES);

	for (uint32_t i = 0; i < PAGES_BYTES / 4u; i++)
		words[i] = 0xa5a50000u + i * 0x9e37u;
}

static const void *entries_of(const struct oracle_list *list, uint32_t *bytes)
{
	const bool compact = list->encoding != PB_PATCH_ENCODING_WDDM;

	*bytes = list->patch_count * (uint32_t)(compact ? sizeof(*list->words) : sizeof(*list->patches));
	return compact ? (const void *)list->words : (const void *)list->patches;
}

static void write_lists(const struct oracle_list *list)
{
	uint32_t bytes;
	const void *entries = entries_of(list, &bytes);

	memcpy(fuzz_guest_bytes(FUZZ_ALLOCATIONS), list->allocations,
	       list->allocation_count * sizeof(*list->allocations));
	if (list->presumed != NULL)
		memcpy(fuzz_guest_bytes(FUZZ_ALLOCATIONS) +
			       list->allocation_count * sizeof(*list->allocations),
		       list->presumed, list->allocation_count * sizeof(*list->presumed));
	memcpy(fuzz_guest_bytes(FUZZ_PATCHES), entries, bytes);
}

static bool lists_are_as_written(const struct oracle_list *list)
{
	uint32_t bytes;
	const void *entries = entries_of(list, &bytes);

	return memcmp(fuzz_guest_bytes(FUZZ_ALLOCATIONS), list->allocations,
		      list->allocation_count * sizeof(*list->allocations)) == 0 &&
	       memcmp(fuzz_guest_bytes(FUZZ_PATCHES), entries, bytes) == 0;
}

static struct pb_fence run(const struct fuzz_lists *lists)
{
	const struct oracle_list *list = &lists->list;
	struct pb_queue *queue = &fuzz_card.guest.queues[0];
	const struct pb_descriptor descriptor = {
		.flags = PB_FLAG_NULL_RENDERING,
		.context = fuzz_card.guest.context,
		.fence_id = 0xf0000000u + queue->put,
		.dma_address_low = (uint32_t)FUZZ_SYSTEM_OS + FUZZ_BUFFER,
		.dma_size = ORACLE_BUFFER_BYTES,
		.dma_start = list->dma_start,
		.dma_end = list->dma_end,
		.allocation_count = list->allocation_count,
		.allocation_address_low = (uint32_t)FUZZ_SYSTEM_OS + FUZZ_ALLOCATIONS,
		.patch_address_low = (uint32_t)FUZZ_SYSTEM_OS + FUZZ_PATCHES,
		.patch_count = list->patch_count,
		.patch_start = list->patch_start,
		.patch_length = list->patch_length,
		.patch_encoding = list->encoding | (list->presumed != NULL ? PB_PATCH_PRESUMED : 0),
		.cookie = lists->cookie,
	};
	struct pb_fence fence = {0};

	FUZZ_CHECK(pb_queue_submit(queue, &descriptor) == PB_ERROR_OK);
	for (uint32_t i = 0; i < STEPS && fence.completed != queue->put; i++) {
		fuzz_card_step();
		FUZZ_CHECK(pb_queue_fence(queue, &fence) == PB_ERROR_OK);
	}
	FUZZ_CHECK(fence.completed == queue->put && fence.fence_id == descriptor.fence_id);
	return fence;
}

struct oracle_result fuzz_lists_check(const struct fuzz_lists *lists)
{
	static uint8_t expected[PAGES_BYTES];
	const uint8_t *pages = fuzz_guest_bytes(FUZZ_PAGES);
	struct oracle_result result;
	struct pb_fence fence;

	memcpy(expected, pages, sizeof(expected));
	write_lists(&lists->list);
	fence = run(lists);
	result = oracle_run(&lists->list, fence.fence_id, &expected[PB_PAGE_BYTES]);
	FUZZ_CHECK(memcmp(pages, expected, sizeof(expected)) == 0);
	FUZZ_CHECK(lists_are_as_written(&lists->list));
	FUZZ_CHECK(fence.status == result.error);
	FUZZ_CHECK(result.error == PB_ERROR_OK || fence.error_index == result.index);
	return result;
}
