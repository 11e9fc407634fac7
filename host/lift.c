/* SPDX-License-Identifier: MIT */
#include "patchbay/lift.h"

/* Bits of an EOP address that radeon's kernel part drops. */
#define EVENT_DROPPED 0x3u
/* Bits 32 to 39 of a split address, in its second word. */
#define SPLIT_HIGH 0xffu

/* How each kind of relocation is converted. */
static const struct {
	uint32_t format;  /* patch format of the entry that carries the addend */
	uint32_t width;   /* bytes that the relocation covers */
	uint32_t align;   /* required alignment of its offset, in bytes */
	uint32_t addend;  /* offset of the addend's low word in the relocation */
	uint32_t shift;   /* left shift that converts the addend to bytes */
	uint32_t dropped; /* bits of the word that do not belong to the addend */
} rules[PB_LIFT_KINDS] = {
	[PB_LIFT_RADEON_BASE] = {PB_PATCH_FORMAT_SHIFT8, 4, 4, 0, 8, 0},
	[PB_LIFT_RADEON_EVENT] = {PB_PATCH_FORMAT_SPLIT40, 8, 4, 0, 0, EVENT_DROPPED},
	[PB_LIFT_RADEON_SPLIT] = {PB_PATCH_FORMAT_SPLIT40, 8, 4, 0, 0, EVENT_DROPPED},
	[PB_LIFT_VC4] = {PB_PATCH_FORMAT_UNALIGNED32, 4, 1, 0, 0, 0},
	[PB_LIFT_VMWGFX_POINTER] = {PB_PATCH_FORMAT_ADDRESS32, 8, 4, 4, 0, 0},
};

static uint32_t get32(const uint8_t *from)
{
	return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/* Returns the addend that user space wrote, in bytes. */
static uint64_t addend_at(enum pb_lift_kind kind, const uint8_t *at)
{
	uint64_t addend = (uint64_t)(get32(at + rules[kind].addend) & ~rules[kind].dropped)
			  << rules[kind].shift;

	if (rules[kind].format == PB_PATCH_FORMAT_SPLIT40)
		addend |= (uint64_t)(get32(at + 4) & SPLIT_HIGH) << 32;
	return addend;
}

enum pb_error pb_lift(enum pb_lift_kind kind, uint32_t allocation_index, uint8_t *commands, uint32_t bytes,
		      uint32_t offset, struct pb_patch_location *entries, uint32_t *count)
{
	uint64_t addend;

	if (kind >= PB_LIFT_KINDS)
		return PB_ERROR_BAD_ARGUMENT;
	if (offset % rules[kind].align != 0)
		return PB_ERROR_PATCH_ALIGNMENT;
	if (offset > bytes || rules[kind].width > bytes - offset)
		return PB_ERROR_PATCH_RANGE;
	addend = addend_at(kind, commands + offset);
	if (addend > UINT32_MAX)
		return PB_ERROR_PATCH_OFFSET;
	if (kind == PB_LIFT_RADEON_EVENT)
		commands[offset] &= (uint8_t)~EVENT_DROPPED;
	*count = 0;
	if (kind == PB_LIFT_VMWGFX_POINTER)
		entries[(*count)++] = (struct pb_patch_location){
			.allocation_index = allocation_index,
			.driver_id = PB_PATCH_FORMAT_ID32,
			.patch_offset = offset,
		};
	entries[(*count)++] = (struct pb_patch_location){
		.allocation_index = allocation_index,
		.driver_id = rules[kind].format,
		.allocation_offset = (uint32_t)addend,
		.patch_offset = offset + rules[kind].addend,
	};
	return PB_ERROR_OK;
}
