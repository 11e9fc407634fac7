/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How a loader hands the CPU over to an image.
 */
#ifndef PB_HAL_START_IMAGE_H
#define PB_HAL_START_IMAGE_H

#include <stdint.h>

/** The word without which pb_hal_start_image() starts nothing. */
#define PB_START_IMAGE_TOKEN 0x99aacccfu

/**
 * Copies an image to where it is loaded, and starts it as a reset would. Stops if the token is wrong, which is compared
 * twice.
 * @param load   address of the image's first byte
 * @param staged the image in private memory
 * @param words  its size
 * @param token  PB_START_IMAGE_TOKEN
 */
_Noreturn void pb_hal_start_image(uintptr_t load, const uint32_t *staged, uint32_t words, uint32_t token);

#endif
