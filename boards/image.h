/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The header of this image (include/patchbay/abi/image.h): a board fills it in, and the
 * image checks itself by it.
 */
#ifndef PB_BOARDS_IMAGE_H
#define PB_BOARDS_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/image.h"

/** From linker/sections.ld: the image's first word where it is loaded, and the first word behind it. */
extern const uint32_t pb_image_start[], pb_image_end[];

/**
 * The header, once in every board.c. What is left out here is scripts/seal's.
 * @param name   the board's folder, at most 31 characters
 * @param memory address of card memory as the MCU sees it
 * @param bytes  its size
 * Both are integers, or arrays that stand for symbols of the linker with those values.
 */
#define PB_BOARD_IMAGE(name, memory, bytes)                                                                  \
	static const struct pb_image_header image_header __attribute__((section(".image_header"), used)) = { \
		.magic = PB_IMAGE_MAGIC,                                                                     \
		.version = PB_IMAGE_VERSION,                                                                 \
		.abi_oldest = PB_ABI_MAJOR << 16,                                                            \
		.abi_newest = PB_ABI_MAJOR << 16 | 0xffffu,                                                  \
		.card_memory = (uint32_t)(uintptr_t)(memory),                                                \
		.card_memory_bytes = (uint32_t)(uintptr_t)(bytes),                                           \
		.board = name,                                                                               \
		.release = PB_VERSION,                                                                       \
	}

/**
 * CRC-32 (ISO 3309, as of zlib) of whole words, least significant byte first.
 * @param skip index of a word that counts as 0
 */
uint32_t pb_image_crc(const uint32_t *words, uint32_t count, uint32_t skip);

/**
 * Whether an image in memory is what was sealed. The bounds are the caller's, so that a damaged header cannot lead out
 * of it; they hold a header.
 * @param crc the CRC that the image has now
 */
bool pb_image_whole(const uint32_t *start, const uint32_t *end, uint32_t *crc);

#endif
