/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Firmware images that go wrong at a place that a test chooses.
 */
#ifndef PB_TESTS_E2E_E2E_IMAGE_H
#define PB_TESTS_E2E_E2E_IMAGE_H

#include <stddef.h>
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
/**
 * The same with any bytes at an offset from any symbol.
 * @return the address of the first of them
 */
uint32_t e2e_image_write_at(const char *path, const char *symbol, uint32_t offset, const void *bytes,
			    size_t count);

/** The same with a board's table that leaves its channels no room: what the firmware asserts of it as it boots does not hold. */
void e2e_image_write_asserting(const char *path);

enum e2e_image_cpu {
	E2E_IMAGE_ARM,
	E2E_IMAGE_RISCV32,
	E2E_IMAGE_RISCV64,
};

/** What the image runs on. */
enum e2e_image_cpu e2e_image_cpu(void);
/** Value of a symbol of the image. */
uint32_t e2e_image_symbol(const char *name);

/** What an image does where it goes wrong. */
enum e2e_stray {
	E2E_STRAY_STORE, /**< stores a word */
	E2E_STRAY_LOAD,  /**< loads one */
	E2E_STRAY_JUMP,  /**< runs what is there */
	E2E_STRAY_PUSH,  /**< makes it the stack pointer, and saves 56 bytes there (RISC-V: a register) */
};

#define E2E_STRAY_BYTES 32u
/**
 * Machine code that uses an address wrongly.
 * @param at where in it the instruction is that does, in bytes from its start
 * @return how many bytes
 */
size_t e2e_stray_code(enum e2e_stray stray, uint32_t address, uint8_t code[E2E_STRAY_BYTES], uint32_t *at);

/** What the fatal record's status says of E2E_IMAGE_FAULTS. */
uint32_t e2e_image_fault_status(void);

#endif
