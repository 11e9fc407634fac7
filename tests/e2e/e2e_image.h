/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Firmware images that fail at a place that a test chooses.
 */
#ifndef PB_TESTS_E2E_E2E_IMAGE_H
#define PB_TESTS_E2E_E2E_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/** How an image fails. */
enum e2e_image_defect {
	E2E_IMAGE_FAULTS, /**< an instruction that the CPU does not have */
	E2E_IMAGE_LOOPS,  /**< a branch to itself */
};

/**
 * Writes the firmware image to a file, with another instruction of two bytes at the start of one of its
 * functions, and updates its CRC.
 * @return the address of that instruction
 */
uint32_t e2e_image_write(const char *path, const char *function, enum e2e_image_defect defect);
/**
 * As e2e_image_write(), with any bytes at an offset from any symbol.
 * @return the address of the first of them
 */
uint32_t e2e_image_write_at(const char *path, const char *symbol, uint32_t offset, const void *bytes,
			    size_t count);

/** As e2e_image_write(), with a board table that leaves its channels no room: an assertion fails at boot. */
void e2e_image_write_asserting(const char *path);

enum e2e_image_cpu {
	E2E_IMAGE_ARM,
	E2E_IMAGE_RISCV32,
	E2E_IMAGE_RISCV64,
};

/** The machine that the image runs on. */
enum e2e_image_cpu e2e_image_cpu(void);
/** Value of a symbol of the image. */
uint32_t e2e_image_symbol(const char *name);

/** How an image uses an address wrongly. */
enum e2e_stray {
	E2E_STRAY_STORE, /**< stores a word */
	E2E_STRAY_LOAD,  /**< loads a word */
	E2E_STRAY_JUMP,  /**< jumps to the address */
	E2E_STRAY_PUSH, /**< sets the stack pointer to the address, and pushes 56 bytes (RISC-V: a register) */
};

#define E2E_STRAY_BYTES 32u
/**
 * Machine code that uses an address wrongly.
 * @param at receives the offset of the failing instruction, in bytes
 * @return its length in bytes
 */
size_t e2e_stray_code(enum e2e_stray stray, uint32_t address, uint8_t code[E2E_STRAY_BYTES], uint32_t *at);

/** Status in the fatal record after E2E_IMAGE_FAULTS. */
uint32_t e2e_image_fault_status(void);

#endif
