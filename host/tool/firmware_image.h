/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A firmware image in a file, ELF or raw: what it holds once it is loaded, and
 * whether its header (firmware/abi/image.h) is right. The file is not trusted.
 */
#ifndef PB_HOST_TOOL_FIRMWARE_IMAGE_H
#define PB_HOST_TOOL_FIRMWARE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/abi/image.h"

/** Larger than any image: what is longer is none. */
#define PB_FIRMWARE_IMAGE_BYTES_MAX (16u << 20)
/** Room for what is wrong with an image, in one phrase. */
#define PB_FIRMWARE_IMAGE_TEXT_BYTES 160u

struct pb_firmware_image {
	uint8_t *bytes;        /**< as they lie in the MCU's memory, from the load address on */
	uint32_t size;         /**< how many */
	uint32_t load_address; /**< of the first, if the file says so */
	bool addressed;        /**< it does: an ELF file */
};

/**
 * Takes an image out of a file's contents. pb_firmware_image_free frees it.
 * @param text what is wrong, if it returns false
 */
bool pb_firmware_image_parse(const uint8_t *data, size_t bytes, struct pb_firmware_image *image, char *text);
/** The same of a file. */
bool pb_firmware_image_read(const char *path, struct pb_firmware_image *image, char *text);
void pb_firmware_image_free(struct pb_firmware_image *image);

/** Copies the header. @return false: there is none of this version, as the text says; it is zeroed then */
bool pb_firmware_image_header(const struct pb_firmware_image *image, struct pb_image_header *header,
			      char *text);
/**
 * Whether the image is whole, and one for hosts of this version.
 * @param header of pb_firmware_image_header
 * @param board  NULL, or the board that it must be for
 * @param text   what is wrong, if it returns false
 */
bool pb_firmware_image_check(const struct pb_firmware_image *image, const struct pb_image_header *header,
			     const char *board, char *text);

#endif
