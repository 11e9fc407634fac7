/* SPDX-License-Identifier: MIT */
#include "tests/unit/patch_random.h"

#include <assert.h>

/** Of the widest format. */
#define WIDTH_MAX 20u

static uint32_t draw(struct random_world *world)
{
	return oracle_random(&world->seed);
}

static uint64_t draw_64(struct random_world *world)
{
	const uint64_t high = draw(world);

	return high << 32 | draw(world);
}

uint32_t random_below(struct random_world *world, uint32_t bound)
{
	return (uint32_t)((uint64_t)draw(world) * bound >> 32);
}

bool random_once_in(struct random_world *world, uint32_t odds)
{
	return random_below(world, odds) == 0;
}

/* ---- formats ---- */

/** Ones in a row at either end, one bit, or anything; never 0. */
static uint32_t mask(struct random_world *world)
{
	switch (random_below(world, 5)) {
	case 0:
		return 0xffffffffu >> random_below(world, 32);
	case 1:
		return 0xffffffffu << random_below(world, 32);
	case 2:
		return 1u << random_below(world, 32);
	case 3:
		return draw(world) | 1u;
	default:
		return 0xffffffff;
	}
}

static void choose_flags(struct random_world *world, struct pb_patch_format *format)
{
	const bool addresses = format->source == PB_FORMAT_ADDRESS || format->source == PB_FORMAT_SELF;
	uint32_t flags = random_below(world, PB_FORMAT_FLAGS + 1u);

	format->bound = PB_FORMAT_NONE;
	if (addresses)
		format->bound = (uint8_t)random_below(world, PB_FORMAT_BOUNDS);
	if (format->source != PB_FORMAT_ADDRESS)
		flags &= ~PB_FORMAT_WRITE;
	/* Few values would fit most masks. */
	if (!random_once_in(world, 3))
		flags &= ~PB_FORMAT_FITS;
	format->flags = (uint8_t)flags;
}

static void choose_masks(struct random_world *world, struct pb_patch_format *format)
{
	format->mask = mask(world);
	if ((format->flags & PB_FORMAT_WIDE) != 0) {
		format->high_mask = mask(world);
		format->step = (uint8_t)(1u + random_below(world, 4));
	}
	if ((format->flags & PB_FORMAT_FITS) != 0)
		format->mask = 0xffffffff;
	if ((format->flags & PB_FORMAT_KEEP) == 0)
		format->background = draw(world) & ~format->mask;
}

static struct pb_patch_format own_format(struct random_world *world)
{
	static const uint8_t aligns[] = {1, 4, 8};
	static const uint32_t ors[PB_FORMAT_ORS] = {1, 2, 4};
	struct pb_patch_format format = {
		.source = (uint8_t)random_below(world, PB_FORMAT_SOURCES),
		.align = aligns[random_below(world, 3)],
		.or_by = (uint8_t)random_below(world, PB_FORMAT_ORS),
	};

	if (random_once_in(world, 2))
		format.shift_right = (uint8_t)random_below(world, 64);
	if (random_once_in(world, 3))
		format.shift_left = (uint8_t)random_below(world, 32);
	if (random_once_in(world, 4))
		format.pre_or_low = draw(world);
	if (random_once_in(world, 4))
		format.pre_or_high = draw(world);
	for (uint32_t i = 0; i < ors[format.or_by] && random_once_in(world, 2); i++)
		format.or_value[i] = draw(world);
	choose_flags(world, &format);
	choose_masks(world, &format);
	return format;
}

void random_formats(struct random_world *world)
{
	world->own = (struct oracle_formats){0};
	for (uint32_t i = 0; i < RANDOM_FORMATS; i++) {
		world->own.format[i] = own_format(world);
		world->own.set[i] = true;
		assert(format_reason(&world->own.format[i]) == PB_FORMAT_REASON_NONE);
	}
}

uint32_t random_format(struct random_world *world)
{
	const uint32_t number = random_below(world, PB_PATCH_FORMAT_COUNT + RANDOM_FORMATS);

	return number < PB_PATCH_FORMAT_COUNT ? number : PB_FORMAT_OWN + number - PB_PATCH_FORMAT_COUNT;
}

/* ---- lists ---- */

static const struct {
	uint64_t os_base;
	uint64_t gpu_base;
	uint64_t size;
} segments[] = {
	{0, 0, CARD_WIDE_BYTES}, /* the fixture's fourth, more often than the others */
	{CARD_VIDEO_OS, CARD_VIDEO_GPU, CARD_VIDEO_BYTES},
	{CARD_EDGE_OS, CARD_EDGE_GPU, CARD_EDGE_BYTES},
	{0, 0, CARD_WIDE_BYTES},
	{ORACLE_SIGN_OS, ORACLE_SIGN_GPU, ORACLE_SMALL_BYTES},
	{ORACLE_BIT48_OS, ORACLE_BIT48_GPU, ORACLE_SMALL_BYTES},
	{ORACLE_TOP_OS, ORACLE_TOP_GPU, ORACLE_TOP_BYTES},
	{ORACLE_BIT40_OS, ORACLE_BIT40_GPU, ORACLE_SMALL_BYTES},
	{ORACLE_LOW_OS, ORACLE_LOW_GPU, ORACLE_SMALL_BYTES},
	{ORACLE_APERTURE_OS, ORACLE_APERTURE_GPU, ORACLE_SMALL_BYTES},
};
#define SEGMENTS ((uint32_t)(sizeof(segments) / sizeof(segments[0])))

static bool within_reach(const struct random_world *world, uint64_t gpu_address, uint64_t size)
{
	const uint64_t most = size < 0xffffffff ? size : 0xffffffff;

	if (world->reach == RANDOM_ANYWHERE)
		return true;
	return (gpu_address + most - 1) >> 32 == gpu_address >> 32 &&
	       (world->reach == RANDOM_UNCROSSED || gpu_address >> 32 == 0);
}

static uint64_t size_up_to(struct random_world *world, uint64_t most)
{
	uint64_t size = most;

	if (!random_once_in(world, 4))
		size = 1 + draw_64(world) % most;
	if (random_once_in(world, 2) && size >> 20 != 0)
		size = 1 + size % 0x100000;
	if (random_once_in(world, 4) && size > 64)
		size = 1 + size % 64;
	return size;
}

static void choose_segment(struct random_world *world)
{
	world->segment = random_below(world, SEGMENTS);
	world->flags = random_below(world, 4) << PB_ALLOCATION_ATTRIBUTE_SHIFT;
	if (!random_once_in(world, 4))
		world->flags |= PB_ALLOCATION_WRITE;
}

struct pb_allocation random_allocation(struct random_world *world)
{
	const bool same = !random_once_in(world, 3);

	if (random_once_in(world, 8))
		return oracle_allocation(draw_64(world), draw_64(world),
					 PB_ALLOCATION_UNBIND |
						 (world->flags & PB_ALLOCATION_ATTRIBUTE_MASK));
	for (uint32_t tries = 0;; tries++) {
		uint64_t offset, size;

		if (!same || tries % 8 == 7)
			choose_segment(world);
		offset = draw_64(world) % segments[world->segment].size;
		if (world->segment == 0)
			offset %= UINT64_C(0x100000000);
		if (random_once_in(world, 8))
			offset = 0;
		size = size_up_to(world, segments[world->segment].size - offset);
		if (within_reach(world, segments[world->segment].gpu_base + offset, size)) {
			struct pb_allocation allocation = oracle_allocation(
				segments[world->segment].os_base + offset, size,
				CARD_SEGMENT(world->segment == 0 ? 3 : world->segment) | world->flags);

			allocation.id = draw(world) >> random_below(world, 32);
			return allocation;
		}
	}
}

void random_range(struct random_world *world, uint32_t most)
{
	struct oracle_list *list = &world->list;
	uint32_t words;

	list->buffer_bytes = 256u + random_below(world, (most - 256u) / 4u + 1u) * 4u;
	words = (list->buffer_bytes - 64u) / 4u;
	list->dma_start = random_once_in(world, 3) ? 0 : random_below(world, words) * 4u;
	words = (list->buffer_bytes - list->dma_start - 64u) / 4u + 1u;
	list->dma_end = random_once_in(world, 3) ? list->buffer_bytes
						 : list->dma_start + 64u + random_below(world, words) * 4u;
}

static uint32_t offset_in(struct random_world *world, const struct pb_allocation *allocation)
{
	const uint64_t size = (uint64_t)allocation->size_high << 32 | allocation->size_low;

	if (size == 0 || random_once_in(world, 8))
		return draw(world);
	if (random_once_in(world, 4))
		return (uint32_t)(size - random_below(world, 2));
	return (uint32_t)(draw_64(world) % size);
}

struct pb_patch_location random_entry(struct random_world *world, uint32_t format)
{
	const struct oracle_list *list = &world->list;
	const uint32_t align = oracle_format(list, format)->align;
	const uint32_t width = format_width(oracle_format(list, format));
	const uint32_t first = (list->dma_start + align - 1u) / align;
	struct pb_patch_location patch = {
		.allocation_index = random_below(world, list->allocation_count),
		.slot = draw(world) >> 8,
		.driver_id = format,
		.patch_offset =
			(first + random_below(world, (list->dma_end - width) / align - first + 1u)) * align,
		.split_offset = draw(world),
	};

	patch.allocation_offset = oracle_format(list, format)->source == PB_FORMAT_SELF
					  ? random_below(world, list->buffer_bytes)
					  : offset_in(world, &world->allocations[patch.allocation_index]);
	return patch;
}

void random_fault(struct random_world *world, struct pb_patch_location *patch)
{
	switch (random_below(world, 8)) {
	case 0:
		patch->slot |= 0x01000000u << random_below(world, 8);
		break;
	case 1:
		patch->driver_id = random_once_in(world, 2) ? draw(world) : random_below(world, 256);
		break;
	case 2:
		patch->allocation_index = world->list.allocation_count +
					  random_below(world, 4) * random_below(world, 0x40000000);
		break;
	case 3:
		patch->patch_offset += 1 + random_below(world, 3);
		break;
	case 4:
		patch->patch_offset = random_once_in(world, 2)
					      ? draw(world)
					      : world->list.dma_end - random_below(world, WIDTH_MAX + 1u);
		break;
	case 5:
		patch->driver_id = random_once_in(world, 4)
					   ? random_format(world)
					   : PB_PATCH_FORMAT_ADDRESS32_WRITE + random_below(world, 2);
		for (uint32_t tries = 0; tries < 8; tries++) {
			patch->allocation_index = random_below(world, world->list.allocation_count);
			if ((world->allocations[patch->allocation_index].flags &
			     (PB_ALLOCATION_UNBIND | PB_ALLOCATION_WRITE)) == 0)
				break;
		}
		break;
	case 6:
		patch->allocation_index = random_below(world, world->list.allocation_count);
		break;
	default:
		patch->allocation_offset = draw(world);
		break;
	}
}

/** An entry that obeys every rule: tried until one does. An own format or a small range may leave none. */
static struct pb_patch_location good_entry(struct random_world *world, uint32_t format)
{
	struct pb_patch_location patch;

	for (uint32_t tries = 0; tries < 12; tries++) {
		patch = random_entry(world, format);
		if (oracle_entry(&world->list, &patch, 0) == PB_ERROR_OK)
			return patch;
	}
	return random_entry(world, PB_PATCH_FORMAT_SUM32);
}

/** Presumes some of the allocations where they are, the others almost there. */
static void presume(struct random_world *world)
{
	struct oracle_list *list = &world->list;

	for (uint32_t i = 0; i < list->allocation_count; i++) {
		uint32_t *words = &world->presumed[i].address_low;

		world->presumed[i] = oracle_presumed(&world->allocations[i]);
		if (random_once_in(world, 2))
			words[random_below(world, 3)] ^= 1u << random_below(world, 32);
	}
	list->presumed = world->presumed;
}

/** The same as words, or a part of them, with a bit changed now and then. */
static void make_words(struct random_world *world)
{
	struct oracle_list *list = &world->list;
	const uint32_t loose = random_once_in(world, 3) ? world->seed : 0;

	if (list->encoding == PB_PATCH_ENCODING_GROUPED)
		list->patch_count = oracle_grouped(list, list->patch_count, 8, world->words);
	else
		list->patch_count = oracle_compact(list->patches, list->patch_count, loose, world->words);
	if (random_once_in(world, 3))
		world->words[random_below(world, list->patch_count)] ^= 1u << random_below(world, 32);
	if (random_once_in(world, 8))
		list->patch_count -= 1;
}

void random_list(struct random_world *world, uint32_t seed)
{
	static const uint32_t runs[] = {1, 3, 20, 2000};
	const bool is_long = (world->seed = seed * 2654435761u | 1u, random_once_in(world, 8));
	const uint32_t run = runs[random_below(world, 4)];
	struct oracle_list *list = &world->list;
	uint32_t format = 0;

	world->reach = random_below(world, RANDOM_REACHES);
	world->segment = world->flags = 0;
	random_formats(world);
	*list = (struct oracle_list){
		.allocations = world->allocations,
		.patches = world->patches,
		.own = &world->own,
		.allocation_count = 1 + random_below(world, is_long ? RANDOM_ALLOCATIONS : 40),
		.patch_count = 1 + (is_long ? RANDOM_PATCHES / 2 + random_below(world, RANDOM_PATCHES / 2)
					    : random_below(world, 160)),
		.words = world->words,
		.encoding = random_below(world, is_long ? 2 : 3),
	};
	world->entries = list->patch_count;
	random_range(world, is_long ? ORACLE_BUFFER_MAX : ORACLE_BUFFER_BYTES);
	for (uint32_t i = 0; i < list->allocation_count; i++)
		world->allocations[i] = random_allocation(world);
	for (uint32_t i = 0; i < list->patch_count; i++) {
		if (random_once_in(world, run))
			format = random_format(world);
		world->patches[i] = good_entry(world, format);
	}
	for (uint32_t faults = random_below(world, 6); faults > 1; faults--)
		random_fault(world, &world->patches[random_below(world, list->patch_count)]);
	if (list->encoding != PB_PATCH_ENCODING_COMPACT && random_once_in(world, 2))
		presume(world);
	if (list->encoding != PB_PATCH_ENCODING_WDDM)
		make_words(world);
}

void random_start(struct random_world *world)
{
	if (random_once_in(world, 4))
		world->list.patch_start = random_below(world, world->list.patch_count);
}

void random_length(struct random_world *world)
{
	struct oracle_list *list = &world->list;

	list->patch_length = list->patch_count - list->patch_start;
	if (random_once_in(world, 8))
		list->patch_length = random_below(world, list->patch_length + 1u);
}
