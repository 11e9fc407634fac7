/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What one patch format makes of one entry, written from the text of
 * include/patchbay/abi/format.h: a value is 64 separate bits, which are moved, looked
 * at and stored one by one. Nothing here is shared with the firmware.
 */
#ifndef PB_TESTS_UNIT_FORMAT_ORACLE_H
#define PB_TESTS_UNIT_FORMAT_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/errors.h"
#include "patchbay/abi/patch.h"

/** The built-in formats, by number. */
extern const struct pb_patch_format format_built_in[PB_PATCH_FORMAT_COUNT];

/** What a value can be made of, besides the format and AllocationOffset. */
struct format_target {
	uint64_t address;    /**< the allocation's GPU address */
	uint64_t size;       /**< its bytes */
	uint32_t id;         /**< */
	uint32_t kind;       /**< of its segment */
	uint32_t attribute;  /**< 0 to 3 */
	bool unbound;        /**< it names no memory */
	bool writable;       /**< listed with WriteOperation */
	uint32_t fence_id;   /**< of the submission */
	uint64_t self;       /**< GPU address of the DMA buffer's byte 0 */
	uint32_t self_bytes; /**< of the DMA buffer */
};

/** A value, bit 0 first. */
struct format_bits {
	bool bit[64];
};

/** Whether the format looks at the entry's allocation at all. */
bool format_uses_allocation(const struct pb_patch_format *format);
/** Bytes from PatchOffset to the end of what the format owns. */
uint32_t format_width(const struct pb_patch_format *format);
/**
 * The value of an entry whose place is good and whose allocation, if the format uses it, is bound.
 * @return PB_ERROR_OK, PATCH_WRITE, PATCH_OFFSET or PATCH_VALUE
 */
enum pb_error format_value(const struct pb_patch_format *format, const struct format_target *target,
			   uint32_t allocation_offset, struct format_bits *value);
/** Stores a value at PatchOffset. */
void format_store(const struct pb_patch_format *format, const struct format_bits *value, uint8_t *place);

/** Why FORMAT_SET refuses a format: the reason with the lowest number. */
enum pb_format_reason format_reason(const struct pb_patch_format *format);

#endif
