/* SPDX-License-Identifier: MIT */
/* Shared by the two kinds of patch list: the state before a run, and the comparison after it. */
#include <string.h>

#include "tests/bench/twins.h"

#define MARGIN PB_TWINS_MARGIN_WORDS
#define BUFFER (PB_TWINS_BUFFER_WORDS + 2u * MARGIN)

static struct pb_core_slot slots[PB_LIMIT_ALLOCATIONS];
static uint32_t buffer[BUFFER];
static uint32_t before[BUFFER];
static uint32_t by_c[BUFFER];
static uint32_t line;

static void fill_slots(void)
{
	for (uint32_t i = 0; i < PB_LIMIT_ALLOCATIONS; i++) {
		const uint32_t limit = i % 8u == 7u ? 0 : pb_twins_edge_number();

		slots[i] = (struct pb_core_slot){
			.low = pb_twins_edge_number(),
			.high = pb_twins_edge_number(),
			.limit = {limit, pb_twins_below(2) != 0 ? limit : 0},
		};
	}
}

uint32_t pb_twins_bound(const struct pb_core_cursor *cursor)
{
	for (;;) {
		const uint32_t i = pb_twins_below(16) != 0 ? pb_twins_below(PB_LIMIT_ALLOCATIONS)
							   : PB_LIMIT_ALLOCATIONS - 2u;

		if (cursor->slots[i].limit[0] != 0)
			return i;
	}
}

uint32_t pb_twins_unbound(const struct pb_core_cursor *cursor)
{
	(void)cursor;
	return pb_twins_below(PB_LIMIT_ALLOCATIONS / 8u) * 8u + 7u;
}

/** Start of a submission in its buffer: mostly near 0, sometimes near the end of the 32-bit range. */
static uint32_t any_start(void)
{
	switch (pb_twins_below(8)) {
	case 0:
	case 6:
	case 7:
		return 0;
	case 1:
		return PB_COMPACT_PLACE_END - 4u * pb_twins_below(PB_TWINS_BUFFER_WORDS * 2u);
	case 2:
		return PB_COMPACT_PLACE_END + 4u * pb_twins_below(64);
	case 3:
		return 0u - 4u * (PB_TWINS_BUFFER_WORDS + pb_twins_below(64));
	default:
		return 4u * pb_twins_below(0x10000);
	}
}

void pb_twins_cursor(struct pb_core_cursor *cursor)
{
	memset(cursor, 0, sizeof(*cursor));
	if (pb_twins_below(64) == 0 || slots[0].limit[0] == 0)
		fill_slots();
	for (uint32_t i = 0; i < BUFFER; i++)
		buffer[i] = pb_twins_random();
	line = 0;
	cursor->slots = slots;
	cursor->start = any_start();
	cursor->origin = (uintptr_t)&buffer[MARGIN] - cursor->start;
	for (uint32_t i = 0; i < PB_CORE_CLASSES; i++)
		cursor->places[i] = pb_twins_random();
	cursor->places[PB_CORE_CLASS_WIDE] =
		pb_twins_below(16) == 0 ? pb_twins_below(3) : PB_TWINS_BUFFER_WORDS - 1u - pb_twins_below(8);
	cursor->pending = &line;
	cursor->format_id = PB_PATCH_FORMAT_ADDRESS64;
	cursor->slice = &line;
	cursor->irregular = (struct pb_core_entry){1, 2, 3, 4, 5};
}

void pb_twins_raise(struct pb_core_cursor *cursor)
{
	switch (pb_twins_below(4)) {
	case 0:
		line = 1;
		break;
	case 1:
		cursor->pending = &buffer[MARGIN + pb_twins_below(PB_TWINS_BUFFER_WORDS)];
		buffer[cursor->pending - buffer] = 0;
		break;
	default:
		break;
	}
}

static void count(const struct pb_core_cursor *cursor, const struct pb_core_cursor *end, enum pb_core_run run,
		  uint32_t entry_words, bool whole, struct pb_twins_ends *ends)
{
	uint32_t done = (uint32_t)(end->words - cursor->words) / entry_words;

	if (run == PB_CORE_IRREGULAR && whole)
		done--;
	ends->runs++;
	ends->entries += done;
	if (run == PB_CORE_IRREGULAR)
		ends->irregular[done % PB_SLICE_PATCHES]++;
	else if ((uint32_t)(end->end - end->words) >= entry_words && end->words < end->pass)
		ends->raised++;
	else
		ends->finished++;
}

void pb_twins_run(const struct pb_core_cursor *cursor, enum pb_core_run (*assembly)(struct pb_core_cursor *),
		  enum pb_core_run (*c)(struct pb_core_cursor *), uint32_t entry_words, bool whole,
		  struct pb_twins_ends *ends)
{
	struct pb_core_cursor one = *cursor, other = *cursor;
	enum pb_core_run run;

	memcpy(before, buffer, sizeof(buffer));
	run = c(&one);
	memcpy(by_c, buffer, sizeof(buffer));
	memcpy(buffer, before, sizeof(buffer));
	pb_twins_require(assembly(&other) == run, "the result differs");
	pb_twins_require(pb_twins_equal(buffer, by_c, BUFFER), "the patched words differ");
	count(cursor, &one, run, entry_words, whole, ends);
	if (whole) {
		one.irregular.slot &= PB_PATCH_RESERVED_MASK;
		other.irregular.slot &= PB_PATCH_RESERVED_MASK;
	} else if (run == PB_CORE_IRREGULAR) {
		pb_twins_require(one.irregular.slot == other.irregular.slot, "the irregular word differs");
		pb_twins_require(one.irregular.allocation_offset == other.irregular.allocation_offset,
				 "the irregular offset differs");
		one.irregular = other.irregular;
	}
	pb_twins_require(pb_twins_equal(&one, &other, sizeof(one) / sizeof(uint32_t)), "the cursor differs");
}
