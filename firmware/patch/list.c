/* SPDX-License-Identifier: MIT */
/*
 * Step 3 for the list as WDDM has it, 24 bytes an entry. A run of one format
 * has a loop of its own, with that format's checks and no other. Where formats
 * change, the rest of the slice takes a loop that chooses for each entry
 * (patch/mixed.c), and what neither can do the general path.
 */
#include "firmware/patch/run_list.h"

/* Functions of their own, so that each loop has all registers to itself. */
#define RUN(name, ...)                                                                                       \
	static PB_CORE_STEP enum pb_core_run run_##name(struct pb_core_cursor *cursor)                       \
	{                                                                                                    \
		return pb_core_list_loop(cursor, PB_CORE_FAST(name, __VA_ARGS__));                           \
	}
PB_CORE_COMMON_FORMATS(RUN)

#define RUN_ROW(name, ...) [PB_PATCH_FORMAT_##name] = run_##name,
static enum pb_core_run (*const runs[])(struct pb_core_cursor *cursor) = {
	PB_CORE_COMMON_FORMATS(RUN_ROW)[PB_PATCH_FORMAT_ADDRESS64] = pb_core_run_list_64,
};

enum pb_core_run pb_core_list_run(struct pb_core_cursor *cursor)
{
	return runs[cursor->format_id](cursor);
}

/** What is left of a slice, in instructions. */
static uint32_t budget_of_slice(const struct pb_core_cursor *cursor)
{
	const uint32_t left = (uint32_t)(cursor->slice - cursor->words) / PB_CORE_ENTRY_WORDS * PB_COST_FAST;

	return left < PB_SLICE_INSTRUCTIONS ? left : PB_SLICE_INSTRUCTIONS;
}

/** Inverse of budget_of_slice(): sets the slice from the budget. */
static void set_slice(struct pb_core_cursor *cursor)
{
	const uint32_t words = cursor->budget / PB_COST_FAST * PB_CORE_ENTRY_WORDS;

	cursor->slice = (uint32_t)(cursor->end - cursor->words) > words ? cursor->words + words : cursor->end;
}

enum pb_error pb_core_list_general(struct pb_core_cursor *cursor, bool *irregular)
{
	if (*irregular)
		cursor->budget = budget_of_slice(cursor);
	else
		cursor->budget = PB_SLICE_INSTRUCTIONS;
	pb_core_spend(cursor, PB_COST_CHANGE);
	for (;;) {
		if (*irregular) {
			const enum pb_error error = pb_core_slow_path(cursor, &cursor->irregular);

			if (error != PB_ERROR_OK)
				return error;
			cursor->format_id = cursor->irregular.driver_id;
			*irregular = false;
			pb_core_spend(cursor,
				      PB_COST_SLOW + (cursor->job->aperture != NULL ? PB_COST_PAGES : 0));
		}
		if (cursor->words == cursor->end || cursor->budget == 0)
			return PB_ERROR_OK;
		if (pb_core_general_ready(cursor)) {
			if (pb_core_general_run(cursor) == PB_CORE_DONE)
				return PB_ERROR_OK;
		} else {
			cursor->words = pb_core_read_entry(cursor->words, &cursor->irregular);
		}
		*irregular = true;
		if (pb_core_is_fast(cursor->irregular.driver_id) &&
		    cursor->irregular.driver_id != cursor->format_id) {
			set_slice(cursor);
			return PB_ERROR_OK;
		}
	}
}

/** What of a slice no single loop can do. @return what is wrong with the entry before `words` */
static enum pb_error finish_slice(struct pb_core_cursor *cursor, bool irregular)
{
	enum pb_error error;

	/* Each iteration applies one entry at least: an entry that is irregular in the mixed loop takes the general path. */
	do {
		if (irregular && pb_core_list_mixed(cursor) == PB_CORE_DONE)
			return PB_ERROR_OK;
		error = pb_core_list_general(cursor, &irregular);
	} while (error == PB_ERROR_OK && irregular);
	return error;
}

enum pb_error pb_core_list_slices(struct pb_core_cursor *cursor)
{
	do {
		bool irregular = false;
		enum pb_error error;

		if (pb_core_is_fast(cursor->format_id)) {
			irregular = pb_core_list_run(cursor) == PB_CORE_IRREGULAR;
			if (!irregular)
				return PB_ERROR_OK;
		}
		error = finish_slice(cursor, irregular);
		if (error != PB_ERROR_OK) {
			cursor->words -= PB_CORE_ENTRY_WORDS;
			return error;
		}
	} while (cursor->words < cursor->pass && !pb_lines_waiting(cursor->pending));
	return PB_ERROR_OK;
}
