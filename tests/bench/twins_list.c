/* SPDX-License-Identifier: MIT */
/* The run of ADDRESS64 in the 24-byte list. */
#include "tests/bench/twins.h"

#define ENTRIES_MAX 100u

enum kind {
	INDEX,
	RESERVED,
	FORMAT,
	UNBOUND,
	LIMIT,
	BEYOND_LIMIT,
	BEFORE_START,
	BEHIND_END,
	FAR_AWAY,
	UNALIGNED,
	ANYTHING,
	KINDS
};

static struct pb_twins_ends ends;

static struct pb_patch_location *list(uint32_t entries)
{
	return (struct pb_patch_location *)PB_TWINS_MEMORY_END - entries;
}

/** Whatever a host may write, with numbers at the edges of the regular ones. */
static struct pb_patch_location regular(const struct pb_core_cursor *cursor)
{
	const uint32_t index = pb_twins_bound(cursor);
	const uint32_t limit = cursor->slots[index].limit[0];
	const uint32_t places = cursor->places[PB_CORE_CLASS_WIDE];
	const uint32_t at = places != 0 ? pb_twins_below(places) : 0;

	return (struct pb_patch_location){
		.allocation_index = index,
		.slot = pb_twins_random() & ~PB_PATCH_RESERVED_MASK,
		.driver_id = PB_PATCH_FORMAT_ADDRESS64,
		.allocation_offset = pb_twins_below(4) == 0 ? limit - 1u : pb_twins_below(limit),
		.patch_offset =
			cursor->start + 4u * (pb_twins_below(8) == 0 && places != 0 ? places - 1u : at),
		.split_offset = pb_twins_random(),
	};
}

static uint32_t other_format(void)
{
	const uint32_t format = pb_twins_below(2) != 0 ? pb_twins_below(8) : pb_twins_edge_number();

	return format != PB_PATCH_FORMAT_ADDRESS64 ? format : PB_PATCH_FORMAT_ADDRESS32;
}

static void spoil(const struct pb_core_cursor *cursor, struct pb_patch_location *entry, uint32_t kind)
{
	const uint32_t limit = cursor->slots[entry->allocation_index % PB_LIMIT_ALLOCATIONS].limit[0];
	const uint32_t end = cursor->start + 4u * cursor->places[PB_CORE_CLASS_WIDE];

	if (kind == INDEX)
		entry->allocation_index |= 1u << (PB_CORE_INDEX_BITS + pb_twins_below(22));
	else if (kind == RESERVED)
		entry->slot |= 1u << (PB_PATCH_RESERVED_SHIFT + pb_twins_below(8));
	else if (kind == FORMAT)
		entry->driver_id = other_format();
	else if (kind == UNBOUND)
		entry->allocation_index = pb_twins_unbound(cursor);
	else if (kind == LIMIT)
		entry->allocation_offset = limit;
	else if (kind == BEYOND_LIMIT)
		entry->allocation_offset = limit + pb_twins_below(0u - limit);
	else if (kind == BEFORE_START)
		entry->patch_offset = cursor->start - 4u;
	else if (kind == BEHIND_END)
		entry->patch_offset = end;
	else if (kind == FAR_AWAY)
		entry->patch_offset = pb_twins_edge_number();
	else if (kind == UNALIGNED)
		entry->patch_offset += 1u + pb_twins_below(3);
	else
		*entry = (struct pb_patch_location){pb_twins_edge_number(), pb_twins_edge_number(),
						    other_format(),         pb_twins_edge_number(),
						    pb_twins_edge_number(), pb_twins_edge_number()};
}

static void set_list(struct pb_core_cursor *cursor, uint32_t entries)
{
	pb_twins_cursor(cursor);
	for (uint32_t i = 0; i < entries; i++)
		list(entries)[i] = regular(cursor);
	cursor->words = &list(entries)->allocation_index;
	cursor->end = cursor->words + entries * PB_CORE_ENTRY_WORDS;
	cursor->pass = cursor->end;
}

static void run(const struct pb_core_cursor *cursor)
{
	pb_twins_run(cursor, pb_core_run_list_64, pb_twin_run_list_64, PB_CORE_ENTRY_WORDS, true, &ends);
}

/** Each kind of irregular entry, at each index of lists around one slice's and two slices' length. */
static void every_kind_at_every_index(void)
{
	static const uint32_t lengths[] = {1, 7, 8, 9, 23, 24, 25, 33, 47, 48, 49, 57};
	struct pb_core_cursor cursor;

	for (uint32_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
		for (uint32_t at = 0; at < lengths[l]; at++) {
			for (uint32_t kind = 0; kind < KINDS; kind++) {
				set_list(&cursor, lengths[l]);
				spoil(&cursor, &list(lengths[l])[at], kind);
				run(&cursor);
			}
		}
	}
}

/**
 * Lists of any length, starting and ending anywhere, with random irregular entries, and an interrupt that may
 * be raised.
 */
static void random_lists(void)
{
	struct pb_core_cursor cursor;

	for (uint32_t i = 0; i < 4000u; i++) {
		const uint32_t entries = pb_twins_below(ENTRIES_MAX);
		const uint32_t rarity = 1u << pb_twins_below(9);
		const uint32_t pass = pb_twins_below(5) * PB_SLICE_PATCHES;

		set_list(&cursor, entries);
		for (uint32_t e = 0; e < entries; e++) {
			while (pb_twins_below(rarity) == 0 && rarity != 1u)
				spoil(&cursor, &list(entries)[e], pb_twins_below(KINDS - 1u));
		}
		if (pass < entries)
			cursor.pass = cursor.words + pass * PB_CORE_ENTRY_WORDS;
		pb_twins_raise(&cursor);
		if (entries != 0)
			run(&cursor);
	}
}

void pb_twins_list(void)
{
	every_kind_at_every_index();
	random_lists();
	pb_twins_report("list_64", &ends);
}
