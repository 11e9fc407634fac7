/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The compact encoding of a patch list, about a third of its size.
 * include/patchbay/abi/patch.h has the layout, docs/formats.md an example.
 *
 * A submission selects it with patch_encoding COMPACT; its patch_count,
 * patch_start and patch_length then count words. Decoding starts from format 0
 * in every submission: a list that is submitted in parts must be encoded part
 * by part. The encoded parts may follow each other in one list.
 */
#ifndef PB_HOST_COMPACT_H
#define PB_HOST_COMPACT_H

#include <stdint.h>

#include "patchbay/abi/channel.h"
#include "patchbay/abi/errors.h"
#include "patchbay/abi/patch.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Words that are enough for any list of this many entries. */
#define PB_COMPACT_WORDS_MAX(entries) (PB_COMPACT_ESCAPE_WORDS * (entries))

/**
 * Encodes a patch list in as few words as possible. SlotId and SplitOffset, which only the host uses, are left out.
 * After an error the first `*encoded` entries stand in `words` and may be submitted.
 * @param list private memory of the driver
 * @param count entries of the list
 * @param words out: card memory or plain memory
 * @param room size of `words`, in words
 * @param used out: words written, always whole entries
 * @param encoded out: entries encoded; after an error also the index of the entry that caused it
 * @retval PB_ERROR_NO_SPACE no room is left for the entry
 * @retval PB_ERROR_PATCH_RESERVED the entry has reserved bits set, which the encoding cannot carry
 * @retval PB_ERROR_PATCH_FORMAT the entry's DriverId is above 255
 * @retval PB_ERROR_PATCH_INDEX the entry's AllocationIndex is above 1023
 */
enum pb_error pb_compact_encode(const struct pb_patch_location *list, uint32_t count, uint32_t *words,
				uint32_t room, uint32_t *used, uint32_t *encoded);

/** Words that are enough for any grouped list of this many entries. */
#define PB_GROUPED_WORDS_MAX(entries) ((PB_COMPACT_ESCAPE_WORDS + PB_GROUP_HEAD_WORDS) * (entries))

/**
 * As pb_compact_encode(), for patch_encoding GROUPED: entries that follow each other and name one allocation are a group.
 * A list that is sorted by allocation has fewest groups. Entries whose format uses no allocation have an AllocationIndex
 * of PB_INDEX_NONE: their groups are never skipped. `used` counts whole entries, and heads only of groups that have some.
 */
enum pb_error pb_grouped_encode(const struct pb_patch_location *list, uint32_t count, uint32_t *words,
				uint32_t room, uint32_t *used, uint32_t *encoded);

/** What pb_grouped_sort() keeps of one allocation. */
struct pb_group_cursor {
	uint32_t at;     /**< the next word of its group */
	uint32_t format; /**< of its last entry */
};

/**
 * As pb_grouped_encode() of the list sorted by allocation, where the entries of one allocation keep their order: one group
 * for each allocation that is named. Each entry's AllocationIndex is below `allocations`. O(count + allocations).
 * @param list private memory of the driver, unchanged meanwhile
 * @param cursors private memory, one for each allocation; what they hold afterwards has no meaning
 * @param allocations entries of the allocation list
 * @param groups out: groups written
 * @retval PB_ERROR_PATCH_INDEX an AllocationIndex is at or above `allocations`, or above 1023
 * @return else as pb_grouped_encode(); after an error nothing in `words` has a meaning
 */
enum pb_error pb_grouped_sort(const struct pb_patch_location *list, uint32_t count,
			      struct pb_group_cursor *cursors, uint32_t allocations, uint32_t *words,
			      uint32_t room, uint32_t *used, uint32_t *groups);

/**
 * Converts a word index, as a fence record or an event reports it, to the index of the entry.
 * @param words one encoded list, or several that follow each other
 * @param used words in all of them
 * @param word_index reported index
 * @return the entry's index, from 0; PB_INDEX_NONE: the list has no such word
 */
uint32_t pb_compact_index(const uint32_t *words, uint32_t used, uint32_t word_index);
/** As pb_compact_index(), for one list of pb_grouped_encode(). The words of a head have no entry: PB_INDEX_NONE. */
uint32_t pb_grouped_index(const uint32_t *words, uint32_t used, uint32_t word_index);

#ifdef __cplusplus
}
#endif

#endif
