/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The pictures of displays in card memory (patchbay/scanout.h).
 */
#ifndef PB_HOST_TOOL_SCREENSHOT_H
#define PB_HOST_TOOL_SCREENSHOT_H

#include <stdbool.h>

#include "host/tool/image.h"
#include "patchbay/link.h"
#include "patchbay/scanout.h"

/**
 * Finds the record of a display. A record that does not fit card memory is none.
 * @param number from 1, in the order of card memory
 * @param record out: a copy
 * @return false: card memory has fewer of them
 */
bool pb_screenshot_find(const struct pb_link *link, uint32_t number, struct pb_scanout *record);
/**
 * Copies a picture. A display that updates it meanwhile may leave a mixture of two updates.
 * @param record as pb_screenshot_find() returned it
 * @param image out: the caller frees its pixels
 * @return false: there is not enough memory
 */
bool pb_screenshot_copy(const struct pb_link *link, const struct pb_scanout *record, struct pb_image *image);

#endif
