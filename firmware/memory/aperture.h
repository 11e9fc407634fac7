/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Apertures: pages of linear segments seen at other addresses. Engines write
 * their page tables as they run paging buffers, so that an entry is a foreign
 * word here. This module has no state; main loop only.
 */
#ifndef PB_FIRMWARE_MEMORY_APERTURE_H
#define PB_FIRMWARE_MEMORY_APERTURE_H

#include "firmware/memory/segment.h"

/** Clears a slice of an aperture's page table from page `at` on. @return the first page that is left */
uint32_t pb_core_aperture_clear(const struct pb_firmware *firmware, const struct pb_core_segment *aperture,
				uint32_t at);
/**
 * Finds where a word of an aperture lies in card memory just now.
 * @param channel whose aperture it is @param offset from the aperture's start, a multiple of 4, inside it
 * @return NULL: its page is not mapped, or not to backed memory of the channel's linear segments
 */
uint32_t *pb_core_aperture_word(struct pb_firmware *firmware, uint32_t channel,
				const struct pb_core_segment *aperture, uint32_t offset);

#endif
