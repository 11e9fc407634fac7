/* SPDX-License-Identifier: MIT */
/*
 * Step 3 for the compact list (include/patchbay/abi/patch.h). In a short entry every
 * index has its slot, where lists are as long as that allows, and every place is
 * aligned, so that two compares are all.
 * An escape's prefix is beyond the last place that a short entry may name.
 */
#include "firmware/patch/run_compact.h"

#define RUN(name, ...)                                                                                       \
	static PB_CORE_STEP enum pb_core_run run_##name(struct pb_core_cursor *cursor)                       \
	{                                                                                                    \
		return pb_core_short_loop(cursor, PB_CORE_FAST(name, __VA_ARGS__));                          \
	}
PB_CORE_COMMON_FORMATS(RUN)

#define RUN_ROW(name, ...) [PB_PATCH_FORMAT_##name] = run_##name,
static enum pb_core_run (*const runs[])(struct pb_core_cursor *cursor) = {
	PB_CORE_COMMON_FORMATS(RUN_ROW)[PB_PATCH_FORMAT_ADDRESS64] = pb_core_run_compact_64,
};

/**
 * Makes an entry of the two words in `irregular`, and a third for an escape.
 * @param words set to the number of words that it has
 */
static enum pb_error decode(struct pb_core_cursor *cursor, uint32_t left, uint32_t *words)
{
	struct pb_core_entry *entry = &cursor->irregular;
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

/** Carries out the entry at `words`, of any kind. @param irregular its first two words have been read */
static enum pb_error carry_out(struct pb_core_cursor *cursor, bool irregular)
{
	const uint32_t left = (uint32_t)(cursor->end - cursor->words);
	enum pb_error error;
	uint32_t words;

	if (left < PB_COMPACT_SHORT_WORDS)
		return PB_ERROR_PATCH_ENCODING;
	if (!irregular) {
		cursor->irregular.slot = pb_shared_read32(&cursor->words[0]);
		cursor->irregular.allocation_offset = pb_shared_read32(&cursor->words[1]);
	}
	error = decode(cursor, left, &words);
	if (error == PB_ERROR_OK)
		error = pb_core_slow_path(cursor, &cursor->irregular);
	if (error != PB_ERROR_OK)
		return error;
	cursor->format_id = cursor->irregular.driver_id;
	cursor->words += words;
	cursor->escapes += words - PB_COMPACT_SHORT_WORDS;
	return PB_ERROR_OK;
}

enum pb_error pb_core_compact_slices(struct pb_core_cursor *cursor)
{
	while (cursor->words != cursor->end) {
		bool irregular = false;
		enum pb_error error;

		if (pb_core_is_fast(cursor->format_id)) {
			irregular = runs[cursor->format_id](cursor) == PB_CORE_IRREGULAR;
			if (!irregular && cursor->end - cursor->words != 1)
				break;
		}
		error = carry_out(cursor, irregular);
		if (error != PB_ERROR_OK)
			return error;
		if (cursor->words >= cursor->pass || pb_lines_waiting(cursor->pending))
			break;
	}
	return PB_ERROR_OK;
}
