/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The header of a firmware image, at a fixed offset of every image: what it is,
 * which board it is for, and whether it is complete. Tools that flash an image,
 * the image itself at boot, and hosts behind a debug probe read it.
 */
#ifndef PB_FIRMWARE_ABI_IMAGE_H
#define PB_FIRMWARE_ABI_IMAGE_H

#include "patchbay/abi/base.h"

/** "PBIM", little-endian. */
#define PB_IMAGE_MAGIC 0x4d494250u
/** Version of the header's layout. */
#define PB_IMAGE_VERSION 1u
/** Where the header stands, in bytes from the image's first: behind every vector table in use. */
#define PB_IMAGE_HEADER_OFFSET 0x200u

/** Written by the build: the compiler and the linker, and scripts/seal where the word `sealed` stands. */
struct pb_image_header {
	uint32_t magic;             /**< PB_IMAGE_MAGIC */
	uint32_t version;           /**< PB_IMAGE_VERSION */
	uint32_t load_address;      /**< of the image's first byte, as the MCU sees it; sealed */
	uint32_t image_bytes;       /**< from there, initial data included; a multiple of 4; sealed */
	uint32_t crc;               /**< CRC-32 (ISO 3309, as of zlib) of those bytes, this word 0; sealed */
	uint32_t abi_oldest;        /**< oldest PB_ABI_VERSION of a host that it serves */
	uint32_t abi_newest;        /**< newest */
	uint32_t card_memory;       /**< address of the boot block, as the MCU sees it */
	uint32_t card_memory_bytes; /**< from there on */
	uint32_t build_id[5]; /**< SHA-1 that the linker made of the image, as bytes in their order; sealed */
	uint32_t reserved[2]; /**< 0 */
	char board[32];       /**< a folder of boards/, zero-terminated ASCII */
	char release[32];     /**< version of the project, zero-terminated ASCII */
};
PB_SIZE(pb_image_header, 128);
PB_AT(pb_image_header, magic, 0);
PB_AT(pb_image_header, version, 4);
PB_AT(pb_image_header, load_address, 8);
PB_AT(pb_image_header, image_bytes, 12);
PB_AT(pb_image_header, crc, 16);
PB_AT(pb_image_header, abi_oldest, 20);
PB_AT(pb_image_header, abi_newest, 24);
PB_AT(pb_image_header, card_memory, 28);
PB_AT(pb_image_header, card_memory_bytes, 32);
PB_AT(pb_image_header, build_id, 36);
PB_AT(pb_image_header, reserved, 56);
PB_AT(pb_image_header, board, 64);
PB_AT(pb_image_header, release, 96);

#endif
