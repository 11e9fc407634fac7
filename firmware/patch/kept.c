/* SPDX-License-Identifier: MIT */
/*
 * Lists of which little is carried out, as most allocations are kept (struct
 * pb_presumed): entries of the 24-byte list are passed by their index alone,
 * groups of a grouped list by their heads. What is left is the other loops'.
 *
 * An index may be read twice: first to skip an entry or not, then by the loop
 * that carries it out, which checks what it has read. The slots of allocations
 * that are kept have limit 0, so that no path writes through them.
 */
#include "firmware/patch/loops.h"

#define SKIP_WORDS (PB_SLICE_SKIPPED * PB_CORE_ENTRY_WORDS)
/** What a slice of groups counts for in a pass, in words. */
#define SLICE_GROUPS_WORDS (PB_SLICE_PATCHES * 3u / 2u * PB_COMPACT_SHORT_WORDS)
/** Entries that are skipped together. */
#define SKIP_AT_ONCE       6u
#define SKIP_WORDS_AT_ONCE (SKIP_AT_ONCE * PB_CORE_ENTRY_WORDS)

/** Whether an entry, or a group, is skipped: the index names an allocation that is kept. */
/*@
  requires \valid_read(job) && job->allocation_count <= PB_LIMIT_ALLOCATIONS;
  assigns \nothing;
  ensures \result <==> index < job->allocation_count && job->tags[index] >= PB_CORE_TAG_KEPT;
*/
static PB_CORE_INLINE bool is_kept(const struct pb_core_job *job, uint32_t index)
{
	return index < job->allocation_count && job->tags[index] >= PB_CORE_TAG_KEPT;
}

/** Passes entries that are skipped, or those that are not. @return the first other one, or the end of the slice */
/*@
  requires \valid_read(job) && job->allocation_count <= PB_LIMIT_ALLOCATIONS && pb_list_entries <= 0x20000;
  requires slice == words + 6 * pb_list_entries && \valid_read(words + (0 .. 6 * pb_list_entries - 1));
  assigns \result \from words, slice;
  ensures inside: words <= \result <= slice;
*/
static PB_CORE_STEP const uint32_t *pass_all(const struct pb_core_job *job, const uint32_t *words,
					     const uint32_t *slice, bool kept)
{
	/*@ ghost uint32_t done = 0; */

	/*@
	  loop invariant at: words == \at(words, Pre) + 6 * done && done <= pb_list_entries;
	  loop assigns words, done;
	  loop variant pb_list_entries - done;
	*/
	while (words != slice && is_kept(job, pb_shared_read32(words)) == kept) {
		words += PB_CORE_ENTRY_WORDS;
		/*@ ghost done++; */
	}
	return words;
}

/** Whether all of so many entries are skipped. An index is compared with the power of two above all others at once. */
/*@
  requires \valid_read(tags + (0 .. PB_LIMIT_ALLOCATIONS - 1)) && \valid_read(words + (0 .. 6 * SKIP_AT_ONCE - 1));
  assigns \nothing;
*/
static PB_CORE_INLINE bool all_kept(const uint8_t *tags, const uint32_t *words)
{
	const uint32_t first = pb_shared_read32(words);
	const uint32_t second = pb_shared_read32(words + PB_CORE_ENTRY_WORDS);
	const uint32_t third = pb_shared_read32(words + 2u * PB_CORE_ENTRY_WORDS);
	const uint32_t fourth = pb_shared_read32(words + 3u * PB_CORE_ENTRY_WORDS);
	const uint32_t fifth = pb_shared_read32(words + 4u * PB_CORE_ENTRY_WORDS);
	const uint32_t sixth = pb_shared_read32(words + 5u * PB_CORE_ENTRY_WORDS);

	return (first | second | third | fourth | fifth | sixth) < PB_LIMIT_ALLOCATIONS &&
	       (tags[first] & tags[second] & tags[third] & tags[fourth] & tags[fifth] & tags[sixth]) >=
		       PB_CORE_TAG_KEPT;
}

/** As pass_all(), of entries that are skipped, but may stop up to 2 * SKIP_AT_ONCE - 1 entries before. */
/*@
  requires \valid_read(job) && pb_list_entries <= 0x20000;
  requires slice == words + 6 * pb_list_entries && \valid_read(words + (0 .. 6 * pb_list_entries - 1));
  assigns \result \from words, slice;
  ensures inside: words <= \result <= slice;
*/
static PB_CORE_STEP const uint32_t *skip(const struct pb_core_job *job, const uint32_t *words,
					 const uint32_t *slice)
{
	const uint8_t *tags = job->tags;
	uint32_t left = (uint32_t)(slice - words);
	/*@ ghost uint32_t done = 0; */

	PB_CORE_KEEP(tags); /* not computed again for each entry */
	/*@
	  loop invariant at: words == \at(words, Pre) + 6 * done && left == 6 * (pb_list_entries - done) &&
	    done <= pb_list_entries;
	  loop assigns words, left, done;
	  loop variant pb_list_entries - done;
	*/
	while (left >= 2u * SKIP_WORDS_AT_ONCE) {
		if (!all_kept(tags, words))
			break;
		words += SKIP_WORDS_AT_ONCE;
		if (!all_kept(tags, words))
			break;
		words += SKIP_WORDS_AT_ONCE;
		left -= 2u * SKIP_WORDS_AT_ONCE;
		/*@ ghost done += 2 * SKIP_AT_ONCE; */
	}
	return words;
}

enum pb_error pb_core_kept_slices(struct pb_core_cursor *cursor)
{
	const struct pb_core_job *job = cursor->job;
	const uint32_t *const end = cursor->end;
	const uint32_t *const pass = cursor->pass;
	enum pb_error error = PB_ERROR_OK;

	do {
		const uint32_t *const slice =
			(uint32_t)(end - cursor->words) > SKIP_WORDS ? cursor->words + SKIP_WORDS : end;
		const uint32_t *const words = pass_all(job, skip(job, cursor->words, slice), slice, true);

		cursor->escapes += (uint32_t)(words - cursor->words);
		cursor->words = words;
		if (words == slice)
			continue;
		/* A run of entries that are not skipped, as if it were the list. The first stays one. */
		cursor->end = pass_all(job, words + PB_CORE_ENTRY_WORDS, slice, false);
		cursor->pass = cursor->end;
		error = pb_core_list_slices(cursor);
		cursor->end = end;
	} while (error == PB_ERROR_OK && cursor->words < pass && !pb_lines_waiting(cursor->pending));
	return error;
}

/** Passes a slice of groups that are skipped, and the head of one that is not: its entries are next. */
static PB_CORE_STEP enum pb_error skip_groups(struct pb_core_cursor *cursor)
{
	struct pb_core_job *job = cursor->job;
	const uint8_t *tags = job->tags;
	const uint32_t *words = cursor->words;
	uint32_t left = (uint32_t)(cursor->end - words);
	uint32_t groups = PB_SLICE_GROUPS;
	uint32_t word[PB_GROUP_HEAD_WORDS];
	uint32_t head, size, rest, skipped;
	enum pb_error error = PB_ERROR_OK;

	PB_CORE_KEEP(tags);
	while (left >= PB_GROUP_HEAD_WORDS) {
		words = pb_shared_read_two(words, word);
		head = word[0];
		size = word[1];
		left -= PB_GROUP_HEAD_WORDS;
		if (head >= PB_GROUP_FIXED || tags[head & PB_GROUP_INDEX_MASK] < PB_CORE_TAG_KEPT)
			goto other;
		rest = left - size;
		if (rest > left) /* wraps: size > left */
			goto other;
		left = rest;
		words += size;
		if (--groups == 0)
			goto out;
	}
	if (left != 0)
		error = PB_ERROR_PATCH_ENCODING;
	goto out;
other:
	cursor->format_id = (head & PB_GROUP_FORMAT_MASK) >> PB_GROUP_FORMAT_SHIFT;
	if (size > left)
		error = PB_ERROR_PATCH_ENCODING;
	else if ((head & PB_GROUP_ZERO) != 0)
		error = PB_ERROR_PATCH_RESERVED;
	else
		job->group = size;
	if (error != PB_ERROR_OK)
		words -= PB_GROUP_HEAD_WORDS;
out:
	skipped = (uint32_t)(words - cursor->words);
	/* Counts as a slice and a half of patches: a pass reaches further by the rest. */
	left = skipped > SLICE_GROUPS_WORDS ? skipped - SLICE_GROUPS_WORDS : 0;
	cursor->pass = (uint32_t)(cursor->end - cursor->pass) > left ? cursor->pass + left : cursor->end;
	cursor->escapes += skipped;
	cursor->words = words;
	return error;
}

/** The next slices of the group at hand, as if it were the list. */
static enum pb_error run_group(struct pb_core_cursor *cursor)
{
	struct pb_core_job *job = cursor->job;
	const uint32_t *const end = cursor->end;
	const uint32_t *const pass = cursor->pass;
	enum pb_error error;

	cursor->end = cursor->words + job->group;
	if (cursor->end < pass)
		cursor->pass = cursor->end;
	error = pb_core_compact_slices(cursor);
	job->group = (uint32_t)(cursor->end - cursor->words);
	cursor->end = end;
	cursor->pass = pass;
	return error;
}

enum pb_error pb_core_group_slices(struct pb_core_cursor *cursor)
{
	enum pb_error error;

	do {
		error = cursor->job->group != 0 ? run_group(cursor) : skip_groups(cursor);
	} while (error == PB_ERROR_OK && cursor->words < cursor->pass && !pb_lines_waiting(cursor->pending));
	return error;
}
