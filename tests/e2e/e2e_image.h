/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Firmware images that go wrong at a place that a test chooses.
 */
#ifndef PB_TESTS_E2E_E2E_IMAGE_H
#define PB_TESTS_E2E_E2E_IMAGE_H

#include <stdint.h>

/** How. */
enum e2e_image_defect {
	E2E_IMAGE_FAULTS, /**< an instruction that no such CPU has */
	E2E_IMAGE_LOOPS,  /**< a branch to itself */
};

/**
 * Writes the firmware image to a file, with another instruction where one of
 * its functions begins, two bytes long, and seals it again.
 * @return the address of that instruction
 */
uint32_t e2e_image_write(const char *path, const char *function, enum e2e_image_defect defect);
/** What the fatal record's status says of E2E_IMAGE_FAULTS. */
uint32_t e2e_image_fault_status(void);

#endif
