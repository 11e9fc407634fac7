/* SPDX-License-Identifier: MIT */
#include "boards/image.h"

#define CRC_WORD                                                                                             \
	((PB_IMAGE_HEADER_OFFSET + (uint32_t)offsetof(struct pb_image_header, crc)) / sizeof(uint32_t))

/** Of each value of four bits: 64 bytes, and a third of the instructions that single bits would take. */
static const uint32_t nibbles[16] = {
	0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
	0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

uint32_t pb_image_crc(const uint32_t *words, uint32_t count, uint32_t skip)
{
	uint32_t crc = ~0u;

	for (uint32_t i = 0; i < count; i++) {
		if (i != skip)
			crc ^= words[i];
		for (uint32_t n = 0; n < 2u * sizeof(*words); n++)
			crc = crc >> 4 ^ nibbles[crc & 15u];
	}
	return ~crc;
}

bool pb_image_whole(const uint32_t *start, const uint32_t *end, uint32_t *crc)
{
	*crc = pb_image_crc(start, (uint32_t)(end - start), CRC_WORD);
	return *crc == start[CRC_WORD];
}
