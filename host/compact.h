/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The compact encoding of a patch list: a third of its size. firmware/abi/patch.h
 * has the layout, docs/formats.md an example.
 *
 * A submission carries it with patch_encoding COMPACT; its patch_count,
 * patch_start and patch_length count words then. Every submission starts from
 * format 0: a list that is submitted in parts is encoded part by part, behind
 * each other if they are to share one list.
 */
#ifndef PB_HOST_COMPACT_H
#define PB_HOST_COMPACT_H

#include "host/patchbay.h"

/** Words that any list of this many entries fits into. */
#define PB_COMPACT_WORDS_MAX(entries) (PB_COMPACT_ESCAPE_WORDS * (entries))

/**
 * Encodes a list in as few words as it can be. SlotId and SplitOffset are the
 * host's own and are left out.
 * @param list memory of the driver's own, which does not change meanwhile
 * @param words card memory or plain memory
 * @param room its words
 * @param used out: words written, whole entries always
 * @param taken out: entries encoded; after an error the entry that it befell, and those before it stand in
 *   `words` and may be submitted
 * @retval PB_ERROR_NO_SPACE no room for the entry
 * @retval PB_ERROR_PATCH_RESERVED the entry has reserved bits, which the encoding cannot carry
 * @retval PB_ERROR_PATCH_FORMAT its DriverId is above 255
 * @retval PB_ERROR_PATCH_INDEX its AllocationIndex is above 1023
 */
enum pb_error pb_compact_encode(const struct pb_patch_location *list, uint32_t count, uint32_t *words,
				uint32_t room, uint32_t *used, uint32_t *taken);

/**
 * Which entry of the list the index of an error means.
 * @param words an encoded list, or several behind each other; `used` of them
 * @param word_index as the fence record or an event has it
 * @return the entry, from 0; PB_INDEX_NONE: the list has no such word
 */
uint32_t pb_compact_index(const uint32_t *words, uint32_t used, uint32_t word_index);

#endif
