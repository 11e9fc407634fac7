/* SPDX-License-Identifier: MIT */
/*
 * Step 3 for the compact list (firmware/abi/patch.h). In a short entry every
 * index has its slot and every place is aligned, so that two compares are all.
 * An escape's prefix is beyond the last place that a short entry may name.
 */
#include "firmware/patch.h"

#define SHORT_WORDS PB_COMPACT_SHORT_WORDS
#define SLICE_WORDS (PB_SLICE_PATCHES * SHORT_WORDS)
#define UNROLL      4u

PB_STATIC_ASSERT(PB_COMPACT_INDEX_MASK == PB_LIMIT_ALLOCATIONS - 1u, "every index has its slot");

/** What an entry's place is checked and found by; places stand where a short entry has them. */
struct ground {
	const struct pb_core_slot *slots;
	uintptr_t target; /**< address of the submission's byte 0 */
	uint32_t start;
	uint32_t places;
};

/** The number of places that a short entry may name, as it names them. */
static uint32_t short_places(const struct pb_core_cursor *cursor, enum pb_core_class class)
{
	const uint32_t end = cursor->start < PB_COMPACT_PLACE_END ? PB_COMPACT_PLACE_END - cursor->start : 0;
	const uint32_t count = cursor->places[class];

	return (count < end / 4u ? count : end / 4u) << PB_COMPACT_PLACE_SHIFT;
}

/** Carries out the entry at `words` if it is a short and ordinary one of the format. */
static inline __attribute__((always_inline)) bool apply(const struct ground *ground, const uint32_t *words,
							struct pb_core_entry *entry, struct pb_core_fast fast)
{
	const uint32_t word = entry->slot = pb_shared_read32(&words[0]);
	const uint32_t offset = entry->allocation_offset = pb_shared_read32(&words[1]);
	const uint32_t place = word - ground->start;
	const struct pb_core_slot *slot;

	if (place >= ground->places)
		return false;
	slot = &ground->slots[word & PB_COMPACT_INDEX_MASK];
	PB_CORE_KEEP(slot);
	return pb_core_store(slot, offset,
			     (uint32_t *)(ground->target + (place >> PB_COMPACT_PLACE_SHIFT) * 4u), fast);
}

static inline __attribute__((always_inline)) enum pb_core_run run(struct pb_core_cursor *cursor,
								  struct pb_core_fast fast)
{
	const struct ground ground = {cursor->slots, cursor->origin + cursor->start,
				      cursor->start << (PB_COMPACT_PLACE_SHIFT - 2u),
				      short_places(cursor, fast.places)};
	const uint32_t *words = cursor->words;
	const uint32_t *slice;
	struct pb_core_entry entry;

	do {
		const uint32_t left = (uint32_t)(cursor->end - words);
		const uint32_t *rest;

		slice = left > SLICE_WORDS ? words + SLICE_WORDS : cursor->end;
		rest = left > SLICE_WORDS ? slice
					  : words + left / (UNROLL * SHORT_WORDS) * (UNROLL * SHORT_WORDS);
		while (words != rest) {
			if (!apply(&ground, words, &entry, fast))
				goto tripped_0;
			if (!apply(&ground, words + SHORT_WORDS, &entry, fast))
				goto tripped_1;
			if (!apply(&ground, words + 2u * SHORT_WORDS, &entry, fast))
				goto tripped_2;
			if (!apply(&ground, words + 3u * SHORT_WORDS, &entry, fast))
				goto tripped_3;
			words += UNROLL * SHORT_WORDS;
		}
		for (; (uint32_t)(slice - words) >= SHORT_WORDS; words += SHORT_WORDS) {
			if (!apply(&ground, words, &entry, fast))
				goto tripped_0;
		}
	} while (words < cursor->pass && words + 1 < cursor->end && !pb_lines_waiting(cursor->pending));
	cursor->words = words;
	return PB_CORE_DONE;
tripped_3:
	PB_CORE_KEEP(words);
	words += SHORT_WORDS;
tripped_2:
	PB_CORE_KEEP(words);
	words += SHORT_WORDS;
tripped_1:
	PB_CORE_KEEP(words);
	words += SHORT_WORDS;
tripped_0:
	cursor->tripped = entry;
	cursor->words = words;
	return PB_CORE_TRIPPED;
}

#define RUN(name, ...)                                                                                       \
	static __attribute__((noinline)) enum pb_core_run run_##name(struct pb_core_cursor *cursor)          \
	{                                                                                                    \
		return run(cursor, PB_CORE_FAST(name, __VA_ARGS__));                                         \
	}
PB_CORE_FAST_FORMATS(RUN)

#define RUN_ROW(name, ...) [PB_PATCH_FORMAT_##name] = run_##name,
static enum pb_core_run (*const runs[])(struct pb_core_cursor *cursor) = {PB_CORE_FAST_FORMATS(RUN_ROW)};

/**
 * Makes an entry of the two words in `tripped`, and a third for an escape.
 * @param words set to the number of words that it has
 */
static enum pb_error decode(struct pb_core_cursor *cursor, uint32_t left, uint32_t *words)
{
	struct pb_core_entry *entry = &cursor->tripped;
	const uint32_t word = entry->slot;

	*words = PB_COMPACT_SHORT_WORDS;
	entry->slot = 0;
	entry->driver_id = cursor->format_id;
	entry->allocation_index = word & PB_COMPACT_INDEX_MASK;
	entry->patch_offset = (word >> PB_COMPACT_PLACE_SHIFT) * 4u;
	if ((word & PB_COMPACT_ESCAPE) != PB_COMPACT_ESCAPE)
		return PB_ERROR_OK;
	if (left < PB_COMPACT_ESCAPE_WORDS)
		return PB_ERROR_PATCH_ENCODING;
	if ((word & PB_COMPACT_ZERO) != 0)
		return PB_ERROR_PATCH_RESERVED;
	*words = PB_COMPACT_ESCAPE_WORDS;
	entry->driver_id = (word & PB_COMPACT_FORMAT_MASK) >> PB_COMPACT_FORMAT_SHIFT;
	entry->patch_offset = entry->allocation_offset;
	entry->allocation_offset = pb_shared_read32(&cursor->words[2]);
	return PB_ERROR_OK;
}

/** Carries out the entry at `words`, of any kind. @param tripped its first two words have been read */
static enum pb_error carry_out(struct pb_core_cursor *cursor, bool tripped)
{
	const uint32_t left = (uint32_t)(cursor->end - cursor->words);
	enum pb_error error;
	uint32_t words;

	if (left < PB_COMPACT_SHORT_WORDS)
		return PB_ERROR_PATCH_ENCODING;
	if (!tripped) {
		cursor->tripped.slot = pb_shared_read32(&cursor->words[0]);
		cursor->tripped.allocation_offset = pb_shared_read32(&cursor->words[1]);
	}
	error = decode(cursor, left, &words);
	if (error == PB_ERROR_OK)
		error = pb_core_exact(cursor, &cursor->tripped);
	if (error != PB_ERROR_OK)
		return error;
	cursor->format_id = cursor->tripped.driver_id;
	cursor->words += words;
	cursor->escapes += words - PB_COMPACT_SHORT_WORDS;
	return PB_ERROR_OK;
}

enum pb_error pb_core_compact_slices(struct pb_core_cursor *cursor)
{
	uint32_t exact = 0;

	while (cursor->words != cursor->end) {
		bool tripped = false;
		enum pb_error error;

		if (pb_core_is_fast(cursor->format_id)) {
			tripped = runs[cursor->format_id](cursor) == PB_CORE_TRIPPED;
			if (!tripped && cursor->end - cursor->words != 1)
				break;
		}
		error = carry_out(cursor, tripped);
		if (error != PB_ERROR_OK)
			return error;
		exact++;
		if (exact % (PB_SLICE_INSTRUCTIONS / PB_COST_EXACT) == 0 && pb_lines_waiting(cursor->pending))
			break;
		if (cursor->words >= cursor->pass)
			break;
	}
	return PB_ERROR_OK;
}
