/* SPDX-License-Identifier: MIT */
#include "host/tool/replay_oracle.h"

#include <zlib.h>

void pb_oracle_apply(const struct pb_subm_submission *submission, const uint64_t *addresses,
		     const uint32_t *places, uint8_t *bytes)
{
	for (uint32_t i = 0; i < submission->relocation_count; i++) {
		const struct pb_subm_relocation *relocation = &submission->relocations[i];
		uint8_t *to =
			bytes + places[submission->objects[relocation->object].contents] + relocation->offset;
		uint64_t value = addresses[relocation->target] + relocation->delta;

		/* The delta of a wide relocation is signed; a narrow one loses the difference anyway. */
		if (relocation->delta >= 0x80000000u)
			value -= UINT64_C(0x100000000);
		for (uint32_t b = 0; b < relocation->width; b++)
			to[b] = (uint8_t)(value >> (8 * b));
	}
}

uint32_t pb_oracle_crc(const struct pb_subm_submission *submission, const uint32_t *places,
		       const uint8_t *bytes)
{
	uLong crc = crc32(0, NULL, 0);

	for (uint32_t i = 0; i < submission->contents_count; i++)
		crc = crc32_z(crc, bytes + places[i], submission->contents[i].bytes);
	return (uint32_t)crc;
}
