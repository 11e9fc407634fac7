/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Firmware images that go wrong at a place that a test chooses.
 */
#ifndef PB_TESTS_E2E_E2E_IMAGE_H
#define PB_TESTS_E2E_E2E_IMAGE_H

#include <stdint.h>

/** UDF #0, undefined on every Thumb processor. */
#define E2E_IMAGE_FAULTS 0xde00u
/** A branch to itself. */
#define E2E_IMAGE_LOOPS 0xe7feu

/**
 * Writes the firmware image to a file, with another instruction where one of
 * its functions begins, and seals it again.
 * @return the address of that instruction
 */
uint32_t e2e_image_write(const char *path, const char *function, uint16_t instruction);

#endif
