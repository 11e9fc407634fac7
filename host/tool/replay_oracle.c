/* SPDX-License-Identifier: MIT */
#include "host/tool/replay_oracle.h"

#include <zlib.h>

/** Returns the value of an i915 relocation. The delta is signed; a 32-bit relocation drops the high word. */
static uint64_t i915_value(const struct pb_subm_relocation *relocation, uint64_t address)
{
	uint64_t value = address + relocation->delta;

	return relocation->delta >= 0x80000000u ? value - UINT64_C(0x100000000) : value;
}

static uint64_t nouveau_value(const struct pb_subm_relocation *relocation, uint64_t address, bool gart)
{
	uint64_t sum = address + relocation->delta;
	uint64_t value = relocation->delta;

	if ((relocation->flags & PB_SUBM_LOW) != 0)
		value = sum;
	else if ((relocation->flags & PB_SUBM_HIGH) != 0)
		value = sum >> 32;
	if ((relocation->flags & PB_SUBM_OR) != 0)
		value |= gart ? relocation->write_domain : relocation->read_domains;
	return value;
}

void pb_oracle_apply(const struct pb_subm_submission *submission, const uint64_t *addresses,
		     const uint32_t *offsets, uint8_t *bytes)
{
	for (uint32_t i = 0; i < submission->relocation_count; i++) {
		const struct pb_subm_relocation *relocation = &submission->relocations[i];
		uint8_t *to = bytes + offsets[submission->objects[relocation->object].contents] +
			      relocation->offset;
		uint64_t address = addresses[relocation->target];
		uint64_t value = submission->driver == PB_SUBM_NOUVEAU
					 ? nouveau_value(relocation, address,
							 submission->objects[relocation->target].gart)
					 : i915_value(relocation, address);

		for (uint32_t b = 0; b < relocation->width; b++)
			to[b] = (uint8_t)(value >> (8 * b));
	}
}

uint32_t pb_oracle_crc(const struct pb_subm_submission *submission, const uint32_t *offsets,
		       const uint8_t *bytes)
{
	uLong crc = crc32(0, NULL, 0);

	for (uint32_t i = 0; i < submission->contents_count; i++)
		crc = crc32_z(crc, bytes + offsets[i], submission->contents[i].bytes);
	return (uint32_t)crc;
}
