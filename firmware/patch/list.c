/* SPDX-License-Identifier: MIT */
/*
 * Step 3 for the list as WDDM has it, 24 bytes an entry. A run of one format
 * has a loop of its own, with that format's checks and no other. Where formats
 * change, entries take a loop that chooses for each of them (patch/mixed.c), until
 * a run begins.
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

enum pb_error pb_core_list_slices(struct pb_core_cursor *cursor)
{
	enum pb_error error;

	do {
		const uint32_t *const first = cursor->words;
		bool search = true;

		if (!pb_core_is_fast(cursor->format_id)) {
			cursor->slice = cursor->end;
			cursor->words = pb_core_read_entry(first, &cursor->irregular);
		} else if (runs[cursor->format_id](cursor) == PB_CORE_DONE) {
			return PB_ERROR_OK;
		} else {
			/* Of this job its loop can do no entry of the format: a run of them is not to be searched for. */
			search = cursor->irregular.driver_id != cursor->format_id ||
				 cursor->words != first + PB_CORE_ENTRY_WORDS;
		}
		error = pb_core_list_mixed(cursor, search);
	} while (error == PB_ERROR_OK && cursor->words < cursor->pass && !pb_lines_waiting(cursor->pending));
	if (error != PB_ERROR_OK)
		cursor->words -= PB_CORE_ENTRY_WORDS;
	return error;
}
