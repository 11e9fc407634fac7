/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Patch formats: how one address is written into a DMA buffer. An entry's
 * DriverId names one, either built in or one of the channel's own.
 *
 * The value of an entry, in 64 bits:
 *
 *   v = source + AllocationOffset          offset zero- or sign-extended (SIGNED); modulo 2^64,
 *                                          but with a bound a carry out of bit 63 is PATCH_VALUE
 *   v = v | pre_or
 *   v = bit 47 of v repeated above it      only with CANONICAL
 *   v = v >> shift_right << shift_left     logical; what is shifted out is gone
 *   with FITS every set bit of v is under `mask` or `high_mask`: else PATCH_VALUE
 *   v = v | or_value[k]                    into the low word; or_by chooses k
 *
 * What is stored at PatchOffset, `step` words from each other:
 *
 *   word 0          v's low word under `mask`; outside it the old bits with KEEP, else `background`
 *   word 1 (WIDE)   v's high word under `high_mask`; outside it the old bits with KEEP, else 0
 *
 * No bit under a mask depends on what was there before, so that patching again
 * gives the same bytes. An engine format that adds to what stands in the
 * buffer is served by the host, which lifts that addend into AllocationOffset.
 *
 * A format uses the entry's allocation if its source is ADDRESS or ID, or if
 * or_by is not FIRST. Otherwise AllocationIndex may be any value. The checks of one
 * entry, in this order: reserved bits, format, index, alignment, the whole
 * target (from the first of its words to the last), then nothing more through
 * an unbound allocation, which writes nothing; write, offset, value.
 */
#ifndef PB_FIRMWARE_ABI_FORMAT_H
#define PB_FIRMWARE_ABI_FORMAT_H

#include "patchbay/abi/base.h"

/** Source of a value. */
enum pb_format_source {
	PB_FORMAT_ADDRESS = 0,  /**< the allocation's GPU address */
	PB_FORMAT_ID = 1,       /**< the allocation's `id`: a surface or memory object number */
	PB_FORMAT_CONSTANT = 2, /**< 0 */
	PB_FORMAT_FENCE = 3,    /**< the SubmissionFenceId */
	PB_FORMAT_SELF = 4,     /**< the GPU address of the DMA buffer's byte 0 */
	PB_FORMAT_SOURCES       /**< their number */
};

/**
 * What AllocationOffset, as 32 bits without a sign, is checked against. Sources other than ADDRESS and SELF accept
 * NONE only. A size beyond 2^32 - 1 counts as that.
 */
enum pb_format_bound {
	PB_FORMAT_INSIDE = 0, /**< below the size (of the allocation, or of the DMA buffer) */
	PB_FORMAT_END = 1,    /**< the size at most: end pointers */
	PB_FORMAT_PAGE = 2,   /**< its low 12 bits are flags; the rest is below the size */
	PB_FORMAT_NONE = 3,   /**< nothing */
	PB_FORMAT_BOUNDS      /**< their number */
};

/** How or_value is chosen. */
enum pb_format_or {
	PB_FORMAT_OR_FIRST = 0, /**< or_value[0] */
	PB_FORMAT_OR_SEGMENT =
		1, /**< by the kind of the allocation's segment: 0 linear or outer memory, 1 aperture or host memory */
	PB_FORMAT_OR_ATTRIBUTE = 2, /**< by the allocation's attribute, 0 to 3 */
	PB_FORMAT_ORS               /**< their number */
};

#define PB_FORMAT_WRITE                                                                                      \
	0x01u /**< the engine writes there: the allocation must be listed with WriteOperation */
#define PB_FORMAT_SIGNED    0x02u /**< AllocationOffset is sign-extended to 64 bits */
#define PB_FORMAT_CANONICAL 0x04u /**< bit 47 is repeated above it */
#define PB_FORMAT_FITS      0x08u /**< a bit outside the masks is PATCH_VALUE */
#define PB_FORMAT_KEEP      0x10u /**< bits outside the masks stay as they are in the buffer */
#define PB_FORMAT_WIDE      0x20u /**< two words, `step` words apart */
#define PB_FORMAT_FLAGS     0x3fu /**< all of them; others are refused */

/** One format, 48 bytes: arguments 1 to 12 of FORMAT_SET, written by the host, and a row of the built-in table. */
struct pb_patch_format {
	uint8_t source;       /**< enum pb_format_source */
	uint8_t bound;        /**< enum pb_format_bound */
	uint8_t flags;        /**< PB_FORMAT_* */
	uint8_t align;        /**< PatchOffset is a multiple of it: 1, 4 or 8 */
	uint8_t shift_right;  /**< 0 to 63 */
	uint8_t shift_left;   /**< 0 to 31 */
	uint8_t step;         /**< 1 to 4 with WIDE, else 0 */
	uint8_t or_by;        /**< enum pb_format_or */
	uint32_t mask;        /**< not 0 */
	uint32_t high_mask;   /**< not 0 with WIDE, else 0 */
	uint32_t background;  /**< no bit under `mask`; 0 with KEEP */
	uint32_t pre_or_low;  /**< bits set before the shifts, low word */
	uint32_t pre_or_high; /**< high word */
	uint32_t or_value[4]; /**< values that or_by cannot choose are 0 */
	uint32_t reserved;    /**< 0 */
};
PB_SIZE(pb_patch_format, 48);
PB_AT(pb_patch_format, source, 0);
PB_AT(pb_patch_format, bound, 1);
PB_AT(pb_patch_format, flags, 2);
PB_AT(pb_patch_format, align, 3);
PB_AT(pb_patch_format, shift_right, 4);
PB_AT(pb_patch_format, shift_left, 5);
PB_AT(pb_patch_format, step, 6);
PB_AT(pb_patch_format, or_by, 7);
PB_AT(pb_patch_format, mask, 8);
PB_AT(pb_patch_format, high_mask, 12);
PB_AT(pb_patch_format, background, 16);
PB_AT(pb_patch_format, pre_or_low, 20);
PB_AT(pb_patch_format, pre_or_high, 24);
PB_AT(pb_patch_format, or_value, 28);
PB_AT(pb_patch_format, reserved, 44);

/*
 * Why FORMAT_SET refused a format: result 0 of its reply.
 * X(NAME, number, meaning)
 */
#define PB_FORMAT_REASONS(X)                                                                                 \
	X(NONE, 0, "the format was accepted")                                                                \
	X(NUMBER, 1, "the channel has no format of that number")                                             \
	X(SOURCE, 2, "no such source")                                                                       \
	X(BOUND, 3, "no such bound, or one that the source cannot have")                                     \
	X(FLAGS, 4, "unknown flags, or WRITE and a source other than ADDRESS")                               \
	X(ALIGN, 5, "not 1, 4 or 8")                                                                         \
	X(SHIFT, 6, "a shift out of its range")                                                              \
	X(STEP, 7, "not 1 to 4 with WIDE, or not 0 without")                                                 \
	X(OR, 8, "no such or_by, or a value that it cannot choose")                                          \
	X(MASK, 9, "mask 0, or high_mask that does not go with WIDE")                                        \
	X(BACKGROUND, 10, "bits under the mask, or together with KEEP")                                      \
	X(RESERVED, 11, "the reserved word is not 0")

/** Why FORMAT_SET refused a format: result 0 of its reply. */
enum pb_format_reason {
#define PB_FORMAT_REASON_ENUM(name, number, meaning) PB_FORMAT_REASON_##name = (number),
	PB_FORMAT_REASONS(PB_FORMAT_REASON_ENUM)
#undef PB_FORMAT_REASON_ENUM
};

/** DriverId of a channel's first own format; those below are built in. */
#define PB_FORMAT_OWN 128u

#define PB_FORMAT_ONES 0xffffffffu /**< a mask that leaves nothing out */

/*
 * Built-in formats, the values of DriverId below PB_FORMAT_OWN.
 * X(NAME, number, meaning, source, bound, flags, align, shift_right, shift_left, step, or_by,
 *   mask, high_mask, background, pre_or_low, pre_or_high, or 0, or 1, or 2, or 3)
 */
/* clang-format off */
#define PB_PATCH_FORMATS(X) \
	X(ADDRESS32, 0, "32-bit address, read (WDDM, VirtualBox, etnaviv)", \
	  ADDRESS, INSIDE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, PB_FORMAT_ONES, 0, 0, 0, 0, 0, 0, 0, 0) \
	X(ADDRESS64, 1, "64-bit address, read (WDDM, qxl)", \
	  ADDRESS, INSIDE, PB_FORMAT_WIDE, 4, 0, 0, 1, FIRST, PB_FORMAT_ONES, PB_FORMAT_ONES, 0, 0, 0, 0, 0, 0, 0) \
	X(ADDRESS32_WRITE, 2, "32-bit address that the engine writes to", \
	  ADDRESS, INSIDE, PB_FORMAT_FITS | PB_FORMAT_WRITE, 4, 0, 0, 0, FIRST, PB_FORMAT_ONES, 0, 0, 0, 0, 0, 0, 0, 0) \
	X(ADDRESS64_WRITE, 3, "64-bit address that the engine writes to", \
	  ADDRESS, INSIDE, PB_FORMAT_WIDE | PB_FORMAT_WRITE, 4, 0, 0, 1, FIRST, PB_FORMAT_ONES, PB_FORMAT_ONES, 0, 0, 0, \
	  0, 0, 0, 0) \
	X(SUM32, 4, "address + offset modulo 2^32 (i915 before gen 8, nouveau LOW, msm)", \
	  ADDRESS, NONE, 0, 4, 0, 0, 0, FIRST, PB_FORMAT_ONES, 0, 0, 0, 0, 0, 0, 0, 0) \
	X(SUM64_SIGNED, 5, "address + sign-extended offset modulo 2^64", \
	  ADDRESS, NONE, PB_FORMAT_WIDE | PB_FORMAT_SIGNED, 4, 0, 0, 1, FIRST, PB_FORMAT_ONES, PB_FORMAT_ONES, 0, 0, 0, \
	  0, 0, 0, 0) \
	X(SUM64_CANONICAL, 6, "address + sign-extended offset, sign-extended from bit 47 (i915 from gen 8)", \
	  ADDRESS, NONE, PB_FORMAT_WIDE | PB_FORMAT_SIGNED | PB_FORMAT_CANONICAL, 4, 0, 0, 1, FIRST, \
	  PB_FORMAT_ONES, PB_FORMAT_ONES, 0, 0, 0, 0, 0, 0, 0) \
	X(HIGH32, 7, "high word of address + offset (nouveau HIGH, UVD and VCE)", \
	  ADDRESS, NONE, 0, 4, 32, 0, 0, FIRST, PB_FORMAT_ONES, 0, 0, 0, 0, 0, 0, 0, 0) \
	X(NOUVEAU_DMA, 8, "nouveau OR: handle of the DMA object for video memory or for GART", \
	  CONSTANT, NONE, 0, 4, 0, 0, 0, SEGMENT, PB_FORMAT_ONES, 0, 0, 0, 0, 0xbeef0201u, 0xbeef0202u, 0, 0) \
	X(NOUVEAU_OR, 9, "nouveau OR: offset with bit 0 for video memory, bit 1 for GART", \
	  CONSTANT, NONE, 0, 4, 0, 0, 0, SEGMENT, PB_FORMAT_ONES, 0, 0, 0, 0, 1, 2, 0, 0) \
	X(NOUVEAU_LOW_OR, 10, "nouveau LOW and OR: address with bit 0 for video memory, bit 1 for GART", \
	  ADDRESS, NONE, 0, 4, 0, 0, 0, SEGMENT, PB_FORMAT_ONES, 0, 0, 0, 0, 1, 2, 0, 0) \
	X(SHIFT1, 11, "address >> 1 (msm: a colour buffer of adreno 3xx)", \
	  ADDRESS, NONE, 0, 4, 1, 0, 0, FIRST, PB_FORMAT_ONES, 0, 0, 0, 0, 0, 0, 0, 0) \
	X(SHIFT8, 12, "address >> 8 (radeon base registers, host1x)", \
	  ADDRESS, INSIDE, PB_FORMAT_FITS, 4, 8, 0, 0, FIRST, PB_FORMAT_ONES, 0, 0, 0, 0, 0, 0, 0, 0) \
	X(SHIFT8_SECTOR, 13, "address with bit 39, >> 8 (tegra sector layout)", \
	  ADDRESS, NONE, 0, 4, 8, 0, 0, FIRST, PB_FORMAT_ONES, 0, 0, 0, 0x80u, 0, 0, 0, 0) \
	X(SPLIT40, 14, "40-bit address, bits 0, 1 and 40 up are the packet's (radeon EOP, CP_DMA)", \
	  ADDRESS, INSIDE, PB_FORMAT_WIDE | PB_FORMAT_KEEP | PB_FORMAT_FITS, 4, 0, 0, 1, FIRST, 0xfffffffcu, 0xffu, \
	  0, 0, 0, 0, 0, 0, 0) \
	X(TILING, 15, "array mode, bits 8 to 11, by the allocation's attribute (radeon CB_COLOR_INFO)", \
	  CONSTANT, NONE, PB_FORMAT_KEEP, 4, 0, 0, 0, ATTRIBUTE, 0x00000f00u, 0, 0, 0, 0, 0, 0x100u, 0x200u, 0x400u) \
	X(ID32, 16, "the allocation's id (vmwgfx, qxl surfaces, VirtualBox DX)", \
	  ID, NONE, 0, 4, 0, 0, 0, FIRST, PB_FORMAT_ONES, 0, 0, 0, 0, 0, 0, 0, 0) \
	X(FIELD28, 17, "28-bit address under a block header of 4 bits (psb 2D)", \
	  ADDRESS, INSIDE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, 0x0fffffffu, 0, 0xa0000000u, 0, 0, 0, 0, 0, 0) \
	X(UNALIGNED32, 18, "32-bit address at any byte (vc4)", \
	  ADDRESS, INSIDE, PB_FORMAT_FITS, 1, 0, 0, 0, FIRST, PB_FORMAT_ONES, 0, 0, 0, 0, 0, 0, 0, 0) \
	X(LOW24, 19, "low 24 bits below a register number (via)", \
	  ADDRESS, NONE, PB_FORMAT_KEEP, 4, 0, 0, 0, FIRST, 0x00ffffffu, 0, 0, 0, 0, 0, 0, 0, 0) \
	X(HIGH8_0, 20, "bits 24 to 31 into byte 0 (via)", \
	  ADDRESS, NONE, PB_FORMAT_KEEP, 4, 24, 0, 0, FIRST, 0x000000ffu, 0, 0, 0, 0, 0, 0, 0, 0) \
	X(HIGH8_1, 21, "bits 24 to 31 into byte 1 (via)", \
	  ADDRESS, NONE, PB_FORMAT_KEEP, 4, 24, 8, 0, FIRST, 0x0000ff00u, 0, 0, 0, 0, 0, 0, 0, 0) \
	X(HIGH8_2, 22, "bits 24 to 31 into byte 2 (via)", \
	  ADDRESS, NONE, PB_FORMAT_KEEP, 4, 24, 16, 0, FIRST, 0x00ff0000u, 0, 0, 0, 0, 0, 0, 0, 0) \
	X(FENCE_ID, 23, "SubmissionFenceId + offset: a fence command in the buffer", \
	  FENCE, NONE, 0, 4, 0, 0, 0, FIRST, PB_FORMAT_ONES, 0, 0, 0, 0, 0, 0, 0, 0) \
	X(SELF32, 24, "32-bit address in the DMA buffer itself", \
	  SELF, INSIDE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, PB_FORMAT_ONES, 0, 0, 0, 0, 0, 0, 0, 0) \
	X(SELF64, 25, "64-bit address in the DMA buffer itself", \
	  SELF, INSIDE, PB_FORMAT_WIDE, 4, 0, 0, 1, FIRST, PB_FORMAT_ONES, PB_FORMAT_ONES, 0, 0, 0, 0, 0, 0, 0)
/* clang-format on */

/** A row of the list as the element of an array of struct pb_patch_format (C only). */
#define PB_PATCH_FORMAT_ROW(name, number, meaning, source_, bound_, flags_, align_, right, left, step_,      \
			    or_by_, mask_, high_mask_, background_, pre_or_low_, pre_or_high_, or0, or1,     \
			    or2, or3)                                                                        \
	[(number)] = {                                                                                       \
		.source = PB_FORMAT_##source_,                                                               \
		.bound = PB_FORMAT_##bound_,                                                                 \
		.flags = (flags_),                                                                           \
		.align = (align_),                                                                           \
		.shift_right = (right),                                                                      \
		.shift_left = (left),                                                                        \
		.step = (step_),                                                                             \
		.or_by = PB_FORMAT_OR_##or_by_,                                                              \
		.mask = (mask_),                                                                             \
		.high_mask = (high_mask_),                                                                   \
		.background = (background_),                                                                 \
		.pre_or_low = (pre_or_low_),                                                                 \
		.pre_or_high = (pre_or_high_),                                                               \
		.or_value = {(or0), (or1), (or2), (or3)},                                                    \
	},

/** Built-in formats: the values of DriverId below PB_FORMAT_OWN. */
enum pb_patch_format_number {
#define PB_PATCH_FORMAT_ENUM(name, number, ...) PB_PATCH_FORMAT_##name = (number),
	PB_PATCH_FORMATS(PB_PATCH_FORMAT_ENUM)
#undef PB_PATCH_FORMAT_ENUM
		PB_PATCH_FORMAT_COUNT /**< their number */
};

#endif
