/* SPDX-License-Identifier: MIT */
/*
 * Step 3 for the list as WDDM has it, 24 bytes an entry. A run of one format
 * has a loop of its own, with that format's checks and no other. Where formats
 * change, the rest of the slice takes a loop that chooses for each entry.
 */
#include "firmware/patch.h"

#define SLICE_WORDS (PB_SLICE_PATCHES * PB_CORE_ENTRY_WORDS)
/** Entries between two looks at the end of the slice. */
#define UNROLL 4u

PB_STATIC_ASSERT(PB_SLICE_PATCHES % UNROLL == 0, "only the last slice of a list has a rest");
/* An index that has bits above these is out of range; one that has none hits a slot, which may have limit 0. */
#define INDEX_BITS 10u
PB_STATIC_ASSERT(PB_LIMIT_ALLOCATIONS == 1u << INDEX_BITS, "every index of that many bits has a slot");

static inline uint32_t rotate_right_2(uint32_t value)
{
	return value >> 2 | value << 30;
}

static inline __attribute__((always_inline)) void read_entry(const uint32_t *words,
							     struct pb_core_entry *entry)
{
	entry->allocation_index = pb_shared_read32(&words[0]);
	entry->slot = pb_shared_read32(&words[1]);
	entry->driver_id = pb_shared_read32(&words[2]);
	entry->allocation_offset = pb_shared_read32(&words[3]);
	entry->patch_offset = pb_shared_read32(&words[4]);
}

/** Bits that only an entry has which is not ordinary. */
static inline uint32_t odd_bits(const struct pb_core_entry *entry)
{
	return entry->slot >> PB_PATCH_RESERVED_SHIFT | entry->allocation_index >> INDEX_BITS;
}

/** What an entry's place is checked and found by; in registers all through a loop. */
struct ground {
	const struct pb_core_slot *slots;
	uintptr_t origin;
	uint32_t start;
	uint32_t places;
};

/**
 * Reads the entry at `words` and carries it out if it is an ordinary one of the given format.
 * @return false: it is not; nothing was written
 */
static inline __attribute__((always_inline)) bool apply(const struct ground *ground, const uint32_t *words,
							struct pb_core_entry *entry, struct pb_core_fast fast)
{
	const struct pb_core_slot *slot;
	uint32_t odd;

	read_entry(words, entry);
	odd = (entry->driver_id ^ fast.id) | entry->slot >> PB_PATCH_RESERVED_SHIFT;
	PB_CORE_KEEP(odd); /* in this order each shift is part of an OR */
	if ((odd | entry->allocation_index >> INDEX_BITS) != 0)
		return false;
	/* Known, or of no use, from here on, which frees their registers. */
	entry->driver_id = fast.id;
	entry->slot = 0;
	/* One compare for range, width and alignment: low bits that are set rotate to the top. */
	if (rotate_right_2(entry->patch_offset - ground->start) >= ground->places)
		return false;
	slot = &ground->slots[entry->allocation_index];
	PB_CORE_KEEP(slot); /* computed once, not anew for each field */
	return pb_core_store(slot, entry->allocation_offset,
			     (uint32_t *)(ground->origin + entry->patch_offset), fast);
}

static inline __attribute__((always_inline)) const uint32_t *end_of_slice(const uint32_t *words,
									  const uint32_t *end)
{
	return (uint32_t)(end - words) > SLICE_WORDS ? words + SLICE_WORDS : end;
}

/** Runs ordinary entries of one format, slice after slice. */
static inline __attribute__((always_inline)) enum pb_core_run run(struct pb_core_cursor *cursor,
								  struct pb_core_fast fast)
{
	const struct ground ground = {cursor->slots, cursor->origin, cursor->start,
				      cursor->places[fast.places]};
	const uint32_t *words = cursor->words;
	const uint32_t
		*unrolled; /* no further than this an unrolled turn may start; the slice's end is behind it */
	struct pb_core_entry entry;

	do {
		unrolled = end_of_slice(words, cursor->end) - UNROLL * PB_CORE_ENTRY_WORDS;
		PB_CORE_KEEP(unrolled); /* or the slice's end keeps a register of its own */
		while (words <= unrolled) {
			if (!apply(&ground, words, &entry, fast))
				goto tripped_0;
			if (!apply(&ground, words + PB_CORE_ENTRY_WORDS, &entry, fast))
				goto tripped_1;
			if (!apply(&ground, words + 2u * PB_CORE_ENTRY_WORDS, &entry, fast))
				goto tripped_2;
			if (!apply(&ground, words + 3u * PB_CORE_ENTRY_WORDS, &entry, fast))
				goto tripped_3;
			words += UNROLL * PB_CORE_ENTRY_WORDS;
		}
		for (; words != unrolled + UNROLL * PB_CORE_ENTRY_WORDS; words += PB_CORE_ENTRY_WORDS) {
			if (!apply(&ground, words, &entry, fast))
				goto tripped_0;
		}
	} while (words < cursor->pass && !pb_lines_waiting(cursor->pending));
	cursor->words = words;
	return PB_CORE_DONE;
	/* Kept apart from the loop, or the compiler works these addresses out with every entry. */
tripped_3:
	PB_CORE_KEEP(words);
	words += PB_CORE_ENTRY_WORDS;
tripped_2:
	PB_CORE_KEEP(words);
	words += PB_CORE_ENTRY_WORDS;
tripped_1:
	PB_CORE_KEEP(words);
	words += PB_CORE_ENTRY_WORDS;
tripped_0:
	cursor->slice = unrolled + UNROLL * PB_CORE_ENTRY_WORDS;
	cursor->tripped = entry;
	cursor->words = words + PB_CORE_ENTRY_WORDS;
	return PB_CORE_TRIPPED;
}

/* Functions of their own, so that each loop has all registers to itself. */
#define RUN(name, ...)                                                                                       \
	static __attribute__((noinline)) enum pb_core_run run_##name(struct pb_core_cursor *cursor)          \
	{                                                                                                    \
		return run(cursor, PB_CORE_FAST(name, __VA_ARGS__));                                         \
	}
PB_CORE_FAST_FORMATS(RUN)

#define RUN_ROW(name, ...) [PB_PATCH_FORMAT_##name] = run_##name,
static enum pb_core_run (*const runs[])(struct pb_core_cursor *cursor) = {PB_CORE_FAST_FORMATS(RUN_ROW)};

enum pb_core_run pb_core_list_run(struct pb_core_cursor *cursor)
{
	return runs[cursor->format_id](cursor);
}

enum pb_core_run pb_core_list_mixed(struct pb_core_cursor *cursor)
{
	const uint32_t *words = cursor->words;
	struct pb_core_entry entry = cursor->tripped;

	for (;;) {
		const uint32_t place = rotate_right_2(entry.patch_offset - cursor->start);
		const struct pb_core_slot *slot = &cursor->slots[entry.allocation_index];
		uint32_t *at = (uint32_t *)(cursor->origin + entry.patch_offset);
		bool stored = false;

		if (odd_bits(&entry) != 0)
			break;
		PB_CORE_KEEP(slot);
		switch (entry.driver_id) {
#define MIXED(name, class, ...)                                                                              \
	case PB_PATCH_FORMAT_##name:                                                                         \
		if (place < cursor->places[PB_CORE_CLASS_##class])                                           \
			stored = pb_core_store(slot, entry.allocation_offset, at,                            \
					       PB_CORE_FAST(name, class, __VA_ARGS__));                      \
		break;
			PB_CORE_FAST_FORMATS(MIXED)
		default:
			break;
		}
		if (!stored)
			break;
		if (words == cursor->slice) {
			cursor->words = words;
			cursor->format_id = entry.driver_id;
			return PB_CORE_DONE;
		}
		read_entry(words, &entry);
		words += PB_CORE_ENTRY_WORDS;
	}
	cursor->words = words;
	cursor->tripped = entry;
	return PB_CORE_TRIPPED;
}

/** Takes from the slice what a general entry costs more than an ordinary one. */
static void shorten_slice(struct pb_core_cursor *cursor)
{
	const ptrdiff_t cost = (PB_COST_GENERAL - 1u) * PB_CORE_ENTRY_WORDS;

	cursor->slice = cursor->slice - cursor->words > cost ? cursor->slice - cost : cursor->words;
}

enum pb_error pb_core_list_general(struct pb_core_cursor *cursor, bool *tripped)
{
	for (;;) {
		if (*tripped) {
			const enum pb_error error = pb_core_exact(cursor, &cursor->tripped);

			if (error != PB_ERROR_OK)
				return error;
			cursor->format_id = cursor->tripped.driver_id;
			*tripped = false;
			shorten_slice(cursor);
		}
		if (cursor->words == cursor->slice)
			return PB_ERROR_OK;
		read_entry(cursor->words, &cursor->tripped);
		cursor->words += PB_CORE_ENTRY_WORDS;
		*tripped = true;
		if (pb_core_is_fast(cursor->tripped.driver_id))
			return PB_ERROR_OK;
	}
}
