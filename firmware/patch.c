/* SPDX-License-Identifier: MIT */
/*
 * Step 3: the patch list. Each word of an entry is read once, checked, and the
 * address is written in place. Old bits are never an addend, so patching again
 * gives the same bytes.
 */
#include "firmware/patch.h"

/** 4-byte aligned places at which so many bytes fit; of an aperture only the exact way finds any. */
static uint32_t places(const struct pb_core_job *job, uint32_t bytes)
{
	return job->aperture != NULL || job->bytes < bytes ? 0 : (job->bytes - bytes) / 4u + 1u;
}

static void set_places(struct pb_core_cursor *cursor, const struct pb_core_job *job)
{
	const uint32_t words = places(job, 4);
	const uint32_t pairs = places(job, 8);

	cursor->places[PB_CORE_CLASS_ANY] = words;
	cursor->places[PB_CORE_CLASS_ANY_WIDE] = pairs;
	cursor->places[PB_CORE_CLASS_WORD] = job->crossing ? 0 : words;
	cursor->places[PB_CORE_CLASS_WIDE] = job->crossing ? 0 : pairs;
	cursor->places[PB_CORE_CLASS_LOW] = job->crossing || job->high ? 0 : words;
}

/** What of a slice no single loop can do. @return what is wrong with the entry before `words` */
static enum pb_error finish_slice(struct pb_core_cursor *cursor, bool tripped)
{
	enum pb_error error;

	/* Each turn carries out one entry at least: what trips the mixed loop goes the general way. */
	do {
		if (tripped && pb_core_list_mixed(cursor) == PB_CORE_DONE)
			return PB_ERROR_OK;
		error = pb_core_list_general(cursor, &tripped);
	} while (error == PB_ERROR_OK && tripped);
	return error;
}

/** Slices, until the list ends, an entry fails, a line is raised, or the other nodes have waited long enough. */
static enum pb_error list_slices(struct pb_core_cursor *cursor)
{
	do {
		bool tripped = false;
		enum pb_error error;

		if (pb_core_is_fast(cursor->format_id)) {
			tripped = pb_core_list_run(cursor) == PB_CORE_TRIPPED;
			if (!tripped)
				return PB_ERROR_OK;
		}
		error = finish_slice(cursor, tripped);
		if (error != PB_ERROR_OK) {
			cursor->words -= PB_CORE_ENTRY_WORDS;
			return error;
		}
	} while (cursor->words < cursor->pass && !pb_lines_waiting(cursor->pending));
	return PB_ERROR_OK;
}

/** Entries before a word of the list. */
static uint32_t entries(const struct pb_core_job *job, const struct pb_core_cursor *cursor, uint32_t words)
{
	if (!job->compact)
		return words / PB_CORE_ENTRY_WORDS;
	return (words - cursor->escapes) / PB_COMPACT_SHORT_WORDS;
}

static void set_list(struct pb_core_cursor *cursor, const struct pb_core_job *job)
{
	const uint32_t entry_words = job->compact ? PB_COMPACT_SHORT_WORDS : PB_CORE_ENTRY_WORDS;
	const uint32_t pass_words = PB_PASS_SLICES * PB_SLICE_PATCHES * entry_words;

	cursor->words = job->list;
	cursor->end = job->list + job->list_words;
	cursor->pass = job->list_words < pass_words ? cursor->end : job->list + pass_words;
}

/** Moves the job on to where the cursor is. */
static void advance(struct pb_core_job *job, const struct pb_core_cursor *cursor)
{
	const uint32_t words = (uint32_t)(cursor->words - job->list);
	const uint32_t done = entries(job, cursor, words);

	/* Another submission of it gets other bytes, or its place has moved without a word to the firmware. */
	if (cursor->fenced || job->aperture != NULL)
		job->cookie = 0;
	job->format_id = cursor->format_id;
	job->work->patches += done;
	job->list += words;
	job->list_words -= words;
	job->list_index += job->compact ? words : done;
}

void pb_core_patch(struct pb_firmware *firmware, struct pb_core_job *job)
{
	struct pb_core_cursor cursor = {
		.slots = job->slots,
		.origin = (uintptr_t)job->target - job->start,
		.start = job->start,
		.pending = firmware->config->lines->pending,
		.format_id = job->format_id,
		.firmware = firmware,
		.job = job,
	};
	enum pb_error error;

	set_list(&cursor, job);
	set_places(&cursor, job);
	error = job->compact ? pb_core_compact_slices(&cursor) : list_slices(&cursor);
	advance(job, &cursor);
	if (error != PB_ERROR_OK) {
		pb_core_job_fail(firmware, job, error, job->list_index);
	} else if (job->list_words == 0) {
		job->state = PB_CORE_JOB_READY;
		if (job->cookie != 0)
			pb_core_compare_remember(firmware, job);
	}
}
