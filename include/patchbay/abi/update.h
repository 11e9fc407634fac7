/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A signed firmware image, as an update file and a slot of the flash hold it: this header, then the image byte for
 * byte. The loader (docs/boot.md) starts nothing else. scripts/sign writes it.
 */
#ifndef PB_FIRMWARE_ABI_UPDATE_H
#define PB_FIRMWARE_ABI_UPDATE_H

#include "patchbay/abi/base.h"

/** "PBSI", little-endian. */
#define PB_SIGNED_MAGIC 0x49534250u
/** Version of the header's layout. */
#define PB_SIGNED_VERSION 1u

/** Written by the build: scripts/sign. Every bit before the signature is covered by the signature, and the image by its digest. */
struct pb_signed_header {
	uint32_t magic;            /**< PB_SIGNED_MAGIC */
	uint32_t version;          /**< PB_SIGNED_VERSION */
	uint32_t image_bytes;      /**< of the image behind this header; a multiple of 4 */
	uint32_t load_address;     /**< of the image's first byte, as the MCU sees it */
	uint32_t security_version; /**< refused if less than the card's counter */
	uint32_t reserved[3];      /**< 0 */
	uint8_t digest[32];        /**< SHA-256 of the image */
	char board[32];            /**< a folder of boards/, zero-terminated ASCII */
	uint8_t signature[64];     /**< ECDSA over P-256: r and s, most significant byte first */
};
PB_SIZE(pb_signed_header, 160);
PB_AT(pb_signed_header, magic, 0);
PB_AT(pb_signed_header, version, 4);
PB_AT(pb_signed_header, image_bytes, 8);
PB_AT(pb_signed_header, load_address, 12);
PB_AT(pb_signed_header, security_version, 16);
PB_AT(pb_signed_header, reserved, 20);
PB_AT(pb_signed_header, digest, 32);
PB_AT(pb_signed_header, board, 64);
PB_AT(pb_signed_header, signature, 96);

/** Bytes of the header that are signed. */
#define PB_SIGNED_BYTES 96u

/* X(NAME, number, meaning) */
#define PB_LOADER_REASONS(X)                                                                                 \
	X(NONE, 0, "the loader has not looked at the slot")                                                  \
	X(STARTED, 1, "the image was verified and started")                                                  \
	X(EMPTY, 2, "no update was written to the slot to its end")                                          \
	X(BAD_HEADER, 3, "magic number, layout, size or load address are wrong")                             \
	X(BAD_BOARD, 4, "the image is for another board")                                                    \
	X(BAD_SIGNATURE, 5, "the header was not signed with the card's key")                                 \
	X(BAD_DIGEST, 6, "the image is not the one that was signed")                                         \
	X(OLD_VERSION, 7, "the security version is less than the card's counter")                            \
	X(BAD_FLASH, 8, "the flash could not be read or written")                                            \
	X(BAD_VERDICT, 9, "two checks of one image had different results")

/** What the loader decided about a slot. */
enum pb_loader_reason {
#define PB_LOADER_REASON_ENUM(name, number, meaning) PB_LOADER_##name = (number),
	PB_LOADER_REASONS(PB_LOADER_REASON_ENUM)
#undef PB_LOADER_REASON_ENUM
};

#endif
