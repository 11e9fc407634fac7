/* SPDX-License-Identifier: MIT */
#include "patchbay/compact.h"

#include <stdbool.h>

#include "hal/shared.h"
#include "hal/shared_copy.h"

/* Returns PB_ERROR_OK if the encoding can carry an entry, else the reason. */
static enum pb_error check_entry(const struct pb_patch_location *entry)
{
	if ((entry->slot & PB_PATCH_RESERVED_MASK) != 0)
		return PB_ERROR_PATCH_RESERVED;
	if (entry->driver_id > PB_COMPACT_FORMAT_MASK >> PB_COMPACT_FORMAT_SHIFT)
		return PB_ERROR_PATCH_FORMAT;
	if (entry->allocation_index > PB_COMPACT_INDEX_MASK)
		return PB_ERROR_PATCH_INDEX;
	return PB_ERROR_OK;
}

/* Returns whether an entry fits the short form after an entry of `format`. */
static bool is_short(const struct pb_patch_location *entry, uint32_t format)
{
	return entry->driver_id == format && entry->patch_offset % 4 == 0 &&
	       entry->patch_offset < PB_COMPACT_PLACE_END;
}

/* Writes an entry in short or in escape form. @return words written */
static uint32_t write_entry(const struct pb_patch_location *entry, bool compact, uint32_t *to)
{
	if (compact) {
		pb_shared_write32(&to[0], entry->patch_offset / 4 << PB_COMPACT_PLACE_SHIFT |
						  entry->allocation_index);
		pb_shared_write32(&to[1], entry->allocation_offset);
		return PB_COMPACT_SHORT_WORDS;
	}
	pb_shared_write32(&to[0], PB_COMPACT_ESCAPE | entry->driver_id << PB_COMPACT_FORMAT_SHIFT |
					  entry->allocation_index);
	pb_shared_write32(&to[1], entry->patch_offset);
	pb_shared_write32(&to[2], entry->allocation_offset);
	return PB_COMPACT_ESCAPE_WORDS;
}

enum pb_error pb_compact_encode(const struct pb_patch_location *list, uint32_t count, uint32_t *words,
				uint32_t room, uint32_t *used, uint32_t *encoded)
{
	uint32_t format = 0;

	*used = 0;
	for (*encoded = 0; *encoded < count; (*encoded)++) {
		const struct pb_patch_location *entry = &list[*encoded];
		const bool compact = is_short(entry, format);
		const enum pb_error error = check_entry(entry);

		if (error != PB_ERROR_OK)
			return error;
		if (room - *used < (compact ? PB_COMPACT_SHORT_WORDS : PB_COMPACT_ESCAPE_WORDS))
			return PB_ERROR_NO_SPACE;
		*used += write_entry(entry, compact, &words[*used]);
		format = entry->driver_id;
	}
	return PB_ERROR_OK;
}

/* Writes the head of a group that begins with an entry, and has no words yet. */
static void write_head(const struct pb_patch_location *entry, uint32_t *head)
{
	pb_shared_write32(&head[0], (entry->allocation_index == PB_INDEX_NONE ? PB_GROUP_FIXED
									      : entry->allocation_index) |
					    entry->driver_id << PB_GROUP_FORMAT_SHIFT);
	pb_shared_write32(&head[1], 0);
}

enum pb_error pb_grouped_encode(const struct pb_patch_location *list, uint32_t count, uint32_t *words,
				uint32_t room, uint32_t *used, uint32_t *encoded)
{
	uint32_t format = 0;
	uint32_t head = 0; /* index of the head of the last entry's group */

	*used = 0;
	for (*encoded = 0; *encoded < count; (*encoded)++) {
		struct pb_patch_location entry = list[*encoded];
		const bool begins =
			*encoded == 0 || entry.allocation_index != list[*encoded - 1].allocation_index;
		const uint32_t at = *used + (begins ? PB_GROUP_HEAD_WORDS : 0);
		const bool compact = is_short(&entry, begins ? entry.driver_id : format);
		enum pb_error error;

		if (entry.allocation_index == PB_INDEX_NONE)
			entry.allocation_index = 0;
		error = check_entry(&entry);
		if (error != PB_ERROR_OK)
			return error;
		if (at > room || room - at < (compact ? PB_COMPACT_SHORT_WORDS : PB_COMPACT_ESCAPE_WORDS))
			return PB_ERROR_NO_SPACE;
		if (begins) {
			head = *used;
			write_head(&list[*encoded], &words[head]);
		}
		*used = at + write_entry(&entry, compact, &words[at]);
		pb_shared_write32(&words[head + 1], *used - head - PB_GROUP_HEAD_WORDS);
		format = entry.driver_id;
	}
	return PB_ERROR_OK;
}

/* Returns an entry of a list, and checks it. */
static enum pb_error read_entry(const struct pb_patch_location *list, uint32_t i, uint32_t allocations,
				struct pb_patch_location *entry)
{
	enum pb_error error;

	pb_shared_copy_in(entry, &list[i], sizeof(*entry));
	error = check_entry(entry);
	return error == PB_ERROR_OK && entry->allocation_index >= allocations ? PB_ERROR_PATCH_INDEX : error;
}

/* Counts the words of each group, heads included, in its cursor. */
static enum pb_error measure_groups(const struct pb_patch_location *list, uint32_t count,
				    struct pb_group_cursor *cursors, uint32_t allocations)
{
	for (uint32_t i = 0; i < allocations; i++)
		cursors[i] = (struct pb_group_cursor){.at = 0};
	for (uint32_t i = 0; i < count; i++) {
		struct pb_patch_location entry;
		const enum pb_error error = read_entry(list, i, allocations, &entry);
		struct pb_group_cursor *cursor;

		if (error != PB_ERROR_OK)
			return error;
		cursor = &cursors[entry.allocation_index];
		if (cursor->at == 0)
			*cursor = (struct pb_group_cursor){PB_GROUP_HEAD_WORDS, entry.driver_id};
		cursor->at +=
			is_short(&entry, cursor->format) ? PB_COMPACT_SHORT_WORDS : PB_COMPACT_ESCAPE_WORDS;
		cursor->format = entry.driver_id;
	}
	return PB_ERROR_OK;
}

/* Places the groups one behind the other, and writes their sizes. @return groups */
static uint32_t place_groups(struct pb_group_cursor *cursors, uint32_t allocations, uint32_t *words,
			     uint32_t room, uint32_t *used)
{
	uint32_t groups = 0;

	*used = 0;
	for (uint32_t i = 0; i < allocations; i++) {
		const uint32_t size = cursors[i].at;

		cursors[i] = (struct pb_group_cursor){*used, PB_INDEX_NONE};
		if (size == 0)
			continue;
		if (*used <= room && room - *used >= size)
			pb_shared_write32(&words[*used + 1], size - PB_GROUP_HEAD_WORDS);
		*used += size;
		groups++;
	}
	return groups;
}

enum pb_error pb_grouped_sort(const struct pb_patch_location *list, uint32_t count,
			      struct pb_group_cursor *cursors, uint32_t allocations, uint32_t *words,
			      uint32_t room, uint32_t *used, uint32_t *groups)
{
	enum pb_error error = measure_groups(list, count, cursors, allocations);

	if (error != PB_ERROR_OK)
		return error;
	*groups = place_groups(cursors, allocations, words, room, used);
	if (*used > room)
		return PB_ERROR_NO_SPACE;
	for (uint32_t i = 0; i < count; i++) {
		struct pb_patch_location entry;
		struct pb_group_cursor *cursor;

		(void)read_entry(list, i, allocations, &entry);
		cursor = &cursors[entry.allocation_index];
		if (cursor->format == PB_INDEX_NONE) {
			pb_shared_write32(&words[cursor->at],
					  entry.allocation_index | entry.driver_id << PB_GROUP_FORMAT_SHIFT);
			*cursor = (struct pb_group_cursor){cursor->at + PB_GROUP_HEAD_WORDS, entry.driver_id};
		}
		cursor->at += write_entry(&entry, is_short(&entry, cursor->format), &words[cursor->at]);
		cursor->format = entry.driver_id;
	}
	return PB_ERROR_OK;
}

uint32_t pb_grouped_index(const uint32_t *words, uint32_t used, uint32_t word_index)
{
	uint32_t entry = 0;

	for (uint32_t head = 0; head < used;) {
		const uint32_t first = head + PB_GROUP_HEAD_WORDS;
		const uint32_t size = pb_shared_read32(&words[head + 1]);

		if (word_index < first)
			return PB_INDEX_NONE;
		if (word_index - first < size)
			return entry + pb_compact_index(&words[first], size, word_index - first);
		if (size != 0)
			entry += pb_compact_index(&words[first], size, size - 1) + 1;
		head = first + size;
	}
	return PB_INDEX_NONE;
}

uint32_t pb_compact_index(const uint32_t *words, uint32_t used, uint32_t word_index)
{
	uint32_t entry = 0;

	if (word_index >= used)
		return PB_INDEX_NONE;
	for (uint32_t at = 0;; entry++) {
		const uint32_t first = pb_shared_read32(&words[at]);
		const bool escape = (first & PB_COMPACT_ESCAPE) == PB_COMPACT_ESCAPE;
		const uint32_t length = escape ? PB_COMPACT_ESCAPE_WORDS : PB_COMPACT_SHORT_WORDS;

		if (word_index - at < length)
			return entry;
		at += length;
	}
}
