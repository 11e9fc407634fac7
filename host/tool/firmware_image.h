/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A firmware image in a file, ELF or raw: its loaded bytes, and the check of its
 * header (include/patchbay/abi/image.h). The file is not trusted.
 */
#ifndef PB_HOST_TOOL_FIRMWARE_IMAGE_H
#define PB_HOST_TOOL_FIRMWARE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "patchbay/abi/image.h"

/** Largest image accepted, in bytes. */
#define PB_FIRMWARE_IMAGE_BYTES_MAX (16u << 20)
/** Size of the buffer for a defect in one phrase, in bytes. */
#define PB_FIRMWARE_IMAGE_TEXT_BYTES 160u

/** An image in private memory. */
struct pb_firmware_image {
	uint8_t *bytes;        /**< contents of the MCU's memory from the load address on */
	uint32_t size;         /**< number of bytes */
	uint32_t load_address; /**< address of the first byte, if `addressed` */
	bool addressed;        /**< the file was an ELF file, which has addresses */
};

/**
 * Extracts an image from a file's contents.
 * @param image out: pb_firmware_image_free() frees it
 * @param text out: the defect, if the function returns false
 */
bool pb_firmware_image_parse(const uint8_t *data, size_t bytes, struct pb_firmware_image *image, char *text);
/** Extracts an image from a file. Parameters as for pb_firmware_image_parse(). */
bool pb_firmware_image_read(const char *path, struct pb_firmware_image *image, char *text);
/** Frees an image and clears it. */
void pb_firmware_image_free(struct pb_firmware_image *image);

/**
 * Copies the header.
 * @param header out; all 0 if the function returns false
 * @param text out: the defect, if the function returns false
 * @return false: the image has no header of the known version
 */
bool pb_firmware_image_header(const struct pb_firmware_image *image, struct pb_image_header *header,
			      char *text);
/**
 * Checks that the image is complete and serves hosts of this version.
 * @param header from pb_firmware_image_header()
 * @param board NULL, or the name of the board that the image must be for
 * @param text out: the defect, if the function returns false
 */
bool pb_firmware_image_check(const struct pb_firmware_image *image, const struct pb_image_header *header,
			     const char *board, char *text);

#endif
