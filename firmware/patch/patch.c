/* SPDX-License-Identifier: MIT */
/*
 * Step 3: the patch list. Each word of an entry is read once, checked, and the
 * address is written in place. Old bits are never an addend, so patching again
 * gives the same bytes.
 */
#include "firmware/patch/patch.h"

#include "firmware/instance.h"
#include "firmware/patch/loops.h"

/** 4-byte aligned places at which so many bytes fit; of an aperture only the slow path finds any. */
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

/** Words of an entry, if that is no escape. */
static uint32_t entry_words(const struct pb_core_job *job)
{
	return job->compact ? PB_COMPACT_SHORT_WORDS : PB_CORE_ENTRY_WORDS;
}

static void set_list(struct pb_core_cursor *cursor, const struct pb_core_job *job)
{
	const uint32_t pass_words = PB_PASS_PATCHES * entry_words(job);

	cursor->words = job->list;
	cursor->end = job->list + job->list_words;
	cursor->pass = job->list_words < pass_words ? cursor->end : job->list + pass_words;
}

/** Moves the job on to where the cursor is. */
static void advance(struct pb_core_job *job, const struct pb_core_cursor *cursor)
{
	const uint32_t words = (uint32_t)(cursor->words - job->list);

	/* Not remembered: a FENCE entry depends on this submission, and an aperture may map the buffer elsewhere later. */
	if (cursor->fenced || job->aperture != NULL)
		job->cookie = 0;
	job->format_id = cursor->format_id;
	job->submission->patches += (words - cursor->escapes) / entry_words(job);
	job->list += words;
	job->list_words -= words;
	job->list_index += job->compact ? words : words / PB_CORE_ENTRY_WORDS;
}

/** Sets what lasts for this pass, or counts in it. The loops set `slice` and `irregular`. */
static void start(struct pb_core_cursor *cursor, struct pb_firmware *firmware, struct pb_core_job *job)
{
	cursor->slots = job->slots;
	cursor->origin = (uintptr_t)job->target - job->start;
	cursor->start = job->start;
	cursor->pending = firmware->lines->pending;
	cursor->format_id = job->format_id;
	cursor->escapes = 0;
	cursor->mixed_slices = 0;
	cursor->fenced = false;
	cursor->firmware = firmware;
	cursor->job = job;
}

/** The next slices of the list, by its encoding. */
static enum pb_error carry_out(struct pb_core_cursor *cursor)
{
	const struct pb_core_job *job = cursor->job;

	if (job->grouped)
		return pb_core_group_slices(cursor);
	if (job->compact)
		return pb_core_compact_slices(cursor);
	return job->presumed != NULL ? pb_core_kept_slices(cursor) : pb_core_list_slices(cursor);
}

PB_CORE_STEP enum pb_error pb_core_patch(struct pb_firmware *firmware, struct pb_core_job *job)
{
	struct pb_core_cursor cursor;
	enum pb_error error;

	start(&cursor, firmware, job);
	set_list(&cursor, job);
	set_places(&cursor, job);
	error = carry_out(&cursor);
	advance(job, &cursor);
	if (error == PB_ERROR_OK && job->list_words == 0)
		job->state = PB_CORE_JOB_READY;
	return error;
}
