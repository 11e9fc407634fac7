/* SPDX-License-Identifier: MIT */
/*
 * Segment tables: made and destroyed with any numbers. The firmware takes and
 * refuses what the rules of include/patchbay/abi/channel.h say, and what the engine is
 * told never overlaps, in addresses or in memory.
 *
 * Aims at: firmware/memory/segment.c firmware/memory/pool.c firmware/memory/aperture.c
 */
#include <string.h>

#include "tests/fuzz/card.h"

#define SETTLE_STEPS 4000u
#define SEGMENTS     PB_LIMIT_SEGMENTS
/** Segments that the fixture has made. */
#define FIXED 10u

/** What the guest has, by id. */
static struct segment {
	bool made;
	bool aperture;
	uint64_t os_base;
	uint64_t gpu_base;
	uint64_t size;
	uint32_t backing;
} segments[SEGMENTS];

static const struct segment fixed[FIXED] = {
	{true, false, FUZZ_SYSTEM_OS, FUZZ_SYSTEM_GPU, FUZZ_SYSTEM_BYTES, FUZZ_SYSTEM_BYTES},
	{true, false, CARD_VIDEO_OS, CARD_VIDEO_GPU, CARD_VIDEO_BYTES, CARD_VIDEO_BACKED},
	{true, false, CARD_EDGE_OS, CARD_EDGE_GPU, CARD_EDGE_BYTES, 0},
	{true, false, 0, 0, CARD_WIDE_BYTES, 0},
	{true, false, ORACLE_SIGN_OS, ORACLE_SIGN_GPU, ORACLE_SMALL_BYTES, 0},
	{true, false, ORACLE_BIT48_OS, ORACLE_BIT48_GPU, ORACLE_SMALL_BYTES, 0},
	{true, false, ORACLE_TOP_OS, ORACLE_TOP_GPU, ORACLE_TOP_BYTES, 0},
	{true, false, ORACLE_BIT40_OS, ORACLE_BIT40_GPU, ORACLE_SMALL_BYTES, 0},
	{true, false, ORACLE_LOW_OS, ORACLE_LOW_GPU, ORACLE_SMALL_BYTES, 0},
	{true, true, ORACLE_APERTURE_OS, ORACLE_APERTURE_GPU, ORACLE_SMALL_BYTES, 0},
};

/* ---- what the engine was told ---- */

static const struct pb_engine_range_entry *range_of(uint32_t channel, uint32_t id)
{
	const struct pb_engine_range_entry *table = (const void *)(fuzz_card.memory + PB_CARD_RANGES_OFFSET);

	return &table[channel * PB_ENGINE_RANGES + id];
}

/** Its piece of the pool: memory, or a page table. */
static uint32_t piece_bytes(const struct pb_engine_range_entry *range)
{
	const uint32_t table =
		(range->bytes / PB_PAGE_BYTES * 4u + PB_PAGE_BYTES - 1u) / PB_PAGE_BYTES * PB_PAGE_BYTES;

	return (range->memory_offset & PB_ENGINE_RANGE_PAGED) != 0 ? table : range->bytes;
}

static uint32_t piece_offset(const struct pb_engine_range_entry *range)
{
	return range->memory_offset & ~PB_ENGINE_RANGE_PAGED;
}

/** The longest run of free pages between two pages of the pool. */
static uint32_t longest_run(const bool *taken, uint32_t from, uint32_t to)
{
	uint32_t run = 0, longest = 0;

	for (uint32_t p = from; p < to; p++) {
		run = taken[p] ? 0 : run + 1u;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/**
 * Marks the pages of the pool that are in use, none twice. A quarter of the pool, at its end, is kept for the channels,
 * an equal part for each.
 * @return the longest free run that the guest may have, in bytes
 */
static uint32_t longest_hole(void)
{
	static bool taken[FUZZ_MEMORY_BYTES / PB_PAGE_BYTES];
	const uint32_t end = FUZZ_MEMORY_BYTES / PB_PAGE_BYTES, begin = PB_CARD_POOL_OFFSET / PB_PAGE_BYTES;
	const uint32_t own = (end - begin) / 4u / PB_LIMIT_CHANNELS;
	const uint32_t kept = end - PB_LIMIT_CHANNELS * own;
	uint32_t shared, home;

	memset(taken, 0, sizeof(taken));
	for (uint32_t i = 0; i < 3u * PB_ENGINE_RANGES; i++) {
		const struct pb_engine_range_entry *range = range_of(0, i);
		const uint32_t first = piece_offset(range) / PB_PAGE_BYTES;

		FUZZ_CHECK(range->bytes == 0 ||
			   (piece_offset(range) >= PB_CARD_POOL_OFFSET &&
			    piece_offset(range) % PB_PAGE_BYTES == 0 &&
			    piece_offset(range) + piece_bytes(range) <= FUZZ_MEMORY_BYTES));
		for (uint32_t p = 0; range->bytes != 0 && p < piece_bytes(range) / PB_PAGE_BYTES; p++) {
			FUZZ_CHECK(!taken[first + p]);
			taken[first + p] = true;
		}
	}
	shared = longest_run(taken, begin, kept);
	home = longest_run(taken, kept + own, kept + 2u * own);
	return (shared > home ? shared : home) * PB_PAGE_BYTES;
}

/** How much of a segment the engine sees. */
static uint64_t seen_bytes(const struct segment *segment)
{
	return segment->aperture ? segment->size : segment->backing;
}

static void check_ranges(void)
{
	for (uint32_t id = 0; id < SEGMENTS; id++) {
		const struct segment *segment = &segments[id];
		const struct pb_engine_range_entry *range = range_of(1, id);
		const bool paged = (range->memory_offset & PB_ENGINE_RANGE_PAGED) != 0;

		if (!segment->made || seen_bytes(segment) == 0) {
			FUZZ_CHECK(range->bytes == 0);
			continue;
		}
		FUZZ_CHECK(range->bytes == seen_bytes(segment) && paged == segment->aperture);
		FUZZ_CHECK(((uint64_t)range->gpu_base_high << 32 | range->gpu_base_low) == segment->gpu_base);
	}
	(void)longest_hole();
}

/* ---- commands ---- */

static uint64_t base(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);
	const uint64_t number = fuzz_number(input);

	if (kind < 0x60)
		return 0x100000000000u + kind * UINT64_C(0x1000000) + number * PB_PAGE_BYTES % 0x1000000u;
	if (kind < 0xa0) /* around one that is there */
		return segments[kind % SEGMENTS].gpu_base + number;
	return kind < 0xe0 ? number << 12 : (uint64_t)fuzz_number(input) << 32 | number;
}

static struct segment wanted_segment(struct fuzz_input *input, uint32_t *kind)
{
	struct segment wanted = {.made = true};

	*kind = fuzz_byte(input) < 0xf0 ? fuzz_below(input, 2) : fuzz_number(input);
	wanted.aperture = *kind == PB_SEGMENT_APERTURE;
	wanted.os_base = base(input);
	wanted.gpu_base = base(input);
	wanted.size = fuzz_byte(input) < 0xe0 ? (uint64_t)fuzz_number(input) * PB_PAGE_BYTES : base(input);
	wanted.backing = fuzz_byte(input) < 0xc0 ? fuzz_below(input, 24) * PB_PAGE_BYTES : fuzz_number(input);
	return wanted;
}

static bool whole(uint64_t value)
{
	return value % PB_PAGE_BYTES == 0;
}

static bool numbers_are_good(const struct segment *wanted)
{
	return wanted->size != 0 && whole(wanted->size) && whole(wanted->os_base) &&
	       whole(wanted->gpu_base) && whole(wanted->backing) && wanted->backing <= wanted->size &&
	       wanted->os_base + wanted->size >= wanted->os_base &&
	       wanted->gpu_base + wanted->size >= wanted->gpu_base &&
	       (!wanted->aperture ||
		(wanted->backing == 0 && wanted->size <= PB_LIMIT_APERTURE_PAGES * PB_PAGE_BYTES));
}

static bool overlaps(const struct segment *wanted)
{
	for (uint32_t id = 0; id < SEGMENTS; id++) {
		const struct segment *other = &segments[id];

		if (other->made && seen_bytes(other) != 0 && seen_bytes(wanted) != 0 &&
		    wanted->gpu_base < other->gpu_base + seen_bytes(other) &&
		    other->gpu_base < wanted->gpu_base + seen_bytes(wanted))
			return true;
	}
	return false;
}

static enum pb_error expected_error(uint32_t id, uint32_t kind, const struct segment *wanted)
{
	const uint64_t bytes = wanted->aperture ? (wanted->size / PB_PAGE_BYTES * 4u + PB_PAGE_BYTES - 1u) /
							  PB_PAGE_BYTES * PB_PAGE_BYTES
						: wanted->backing;

	if (id >= SEGMENTS)
		return PB_ERROR_BAD_ARGUMENT;
	if (kind > PB_SEGMENT_OUTER)
		return PB_ERROR_UNSUPPORTED;
	if (segments[id].made)
		return PB_ERROR_BUSY;
	/* The MCU of this card sees all of its memory. */
	if (kind == PB_SEGMENT_OUTER)
		return PB_ERROR_UNSUPPORTED;
	if (!numbers_are_good(wanted))
		return PB_ERROR_BAD_ARGUMENT;
	/* This card reaches no host memory. */
	if (kind == PB_SEGMENT_HOST)
		return PB_ERROR_UNSUPPORTED;
	if (overlaps(wanted))
		return PB_ERROR_BAD_ARGUMENT;
	return bytes > longest_hole() ? PB_ERROR_NO_SPACE : PB_ERROR_OK;
}

static void create(struct fuzz_input *input)
{
	uint32_t kind;
	const uint32_t id = fuzz_byte(input) < 0xf0 ? fuzz_below(input, SEGMENTS) : fuzz_number(input);
	const struct segment wanted = wanted_segment(input, &kind);
	const struct pb_segment_request request = {.id = id,
						   .os_base = wanted.os_base,
						   .gpu_base = wanted.gpu_base,
						   .size = wanted.size,
						   .backing_bytes = wanted.backing,
						   .kind = kind};
	const enum pb_error expected = expected_error(id, kind, &wanted);
	struct pb_segment made;

	FUZZ_CHECK(pb_segment_create(&made, &fuzz_card.guest.channel, &request) == expected);
	if (expected == PB_ERROR_OK)
		segments[id] = wanted;
}

static void destroy(struct fuzz_input *input)
{
	const uint32_t id = fuzz_byte(input) < 0xf0 ? fuzz_below(input, SEGMENTS) : fuzz_number(input);
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {id};
	enum pb_error expected = PB_ERROR_OK;

	if (id >= SEGMENTS || !segments[id].made)
		expected = PB_ERROR_BAD_ARGUMENT;
	else if (id == PB_SEGMENT_SYSTEM)
		expected = PB_ERROR_BUSY; /* its queues lie there */
	FUZZ_CHECK(pb_channel_command(&fuzz_card.guest.channel, PB_COMMAND_SEGMENT_DESTROY, arguments,
				      NULL) == expected);
	if (expected == PB_ERROR_OK)
		segments[id].made = false;
}

void fuzz_one(struct fuzz_input *input)
{
	fuzz_card_reset();
	memset(segments, 0, sizeof(segments));
	memcpy(segments, fixed, sizeof(fixed));
	while (fuzz_more(input)) {
		const uint32_t kind = fuzz_below(input, 8);

		if (kind < 5u)
			create(input);
		else if (kind < 7u)
			destroy(input);
		else
			fuzz_witness_submit(fuzz_below(input, FUZZ_NODES));
		check_ranges();
	}
	FUZZ_CHECK(fuzz_card_settle(SETTLE_STEPS));
	fuzz_witness_check();
}
