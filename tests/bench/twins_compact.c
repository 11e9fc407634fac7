/* SPDX-License-Identifier: MIT */
/* The run of ADDRESS64 in the compact list. */
#include "tests/bench/twins.h"

#define ENTRIES_MAX 100u
#define WORDS       PB_COMPACT_SHORT_WORDS

enum kind { ESCAPE, UNBOUND, LIMIT, BEYOND_LIMIT, BEFORE_START, BEHIND_END, LAST_SHORT, ANYTHING, KINDS };

static struct pb_twins_ends ends;

/** @param rest words after the last whole entry: 0 or 1 */
static uint32_t *list(uint32_t entries, uint32_t rest)
{
	return (uint32_t *)PB_TWINS_MEMORY_END - entries * WORDS - rest;
}

/** PatchOffset and index as a short entry has them. */
static uint32_t short_word(uint32_t patch_offset, uint32_t index)
{
	return patch_offset / 4u << PB_COMPACT_PLACE_SHIFT | index;
}

static void write_regular(const struct pb_core_cursor *cursor, uint32_t *words)
{
	const uint32_t index = pb_twins_bound(cursor);
	const uint32_t limit = cursor->slots[index].limit[0];
	const uint32_t places = cursor->places[PB_CORE_CLASS_WIDE];
	const uint32_t at = places == 0 ? 0 : pb_twins_below(8) == 0 ? places - 1u : pb_twins_below(places);

	words[0] = short_word(cursor->start + 4u * at, index);
	words[1] = pb_twins_below(4) == 0 ? limit - 1u : pb_twins_below(limit);
}

static void spoil(const struct pb_core_cursor *cursor, uint32_t *words, uint32_t kind)
{
	const uint32_t index = words[0] & PB_COMPACT_INDEX_MASK;
	const uint32_t limit = cursor->slots[index].limit[0];

	if (kind == ESCAPE)
		words[0] = PB_COMPACT_ESCAPE | (pb_twins_random() & ~PB_COMPACT_ESCAPE);
	else if (kind == UNBOUND)
		words[0] = (words[0] & ~PB_COMPACT_INDEX_MASK) | pb_twins_unbound(cursor);
	else if (kind == LIMIT)
		words[1] = limit;
	else if (kind == BEYOND_LIMIT)
		words[1] = limit + pb_twins_below(0u - limit);
	else if (kind == BEFORE_START)
		words[0] = short_word(cursor->start - 4u, index);
	else if (kind == BEHIND_END)
		words[0] = short_word(cursor->start + 4u * cursor->places[PB_CORE_CLASS_WIDE], index);
	else if (kind == LAST_SHORT)
		words[0] = short_word(PB_COMPACT_PLACE_END - 4u * pb_twins_below(3), index);
	else
		words[0] = pb_twins_edge_number(), words[1] = pb_twins_edge_number();
}

static void set_list(struct pb_core_cursor *cursor, uint32_t entries, uint32_t rest)
{
	pb_twins_cursor(cursor);
	for (uint32_t i = 0; i < entries; i++)
		write_regular(cursor, list(entries, rest) + i * WORDS);
	cursor->words = list(entries, rest);
	cursor->end = cursor->words + entries * WORDS + rest;
	cursor->pass = cursor->end;
}

static void run(const struct pb_core_cursor *cursor)
{
	pb_twins_run(cursor, pb_core_run_compact_64, pb_twin_run_compact_64, WORDS, false, &ends);
}

/** Each kind of irregular entry, at each index of lists around one slice's and two slices' length. */
static void every_kind_at_every_index(void)
{
	static const uint32_t lengths[] = {1, 11, 12, 13, 23, 24, 25, 37, 47, 48, 49, 61};
	struct pb_core_cursor cursor;

	for (uint32_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
		for (uint32_t at = 0; at < lengths[l]; at++) {
			for (uint32_t kind = 0; kind < KINDS; kind++) {
				const uint32_t rest = pb_twins_below(2);

				set_list(&cursor, lengths[l], rest);
				spoil(&cursor, list(lengths[l], rest) + at * WORDS, kind);
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
		const uint32_t rest = pb_twins_below(2);
		const uint32_t rarity = 1u << pb_twins_below(9);
		const uint32_t pass = pb_twins_below(5) * PB_SLICE_PATCHES + pb_twins_below(2);

		set_list(&cursor, entries, rest);
		for (uint32_t e = 0; e < entries; e++) {
			while (pb_twins_below(rarity) == 0 && rarity != 1u)
				spoil(&cursor, list(entries, rest) + e * WORDS, pb_twins_below(KINDS - 1u));
		}
		if (pass < entries)
			cursor.pass = cursor.words + pass * WORDS;
		pb_twins_raise(&cursor);
		run(&cursor);
	}
}

void pb_twins_compact(void)
{
	every_kind_at_every_index();
	random_lists();
	pb_twins_report("compact_64", &ends);
}
