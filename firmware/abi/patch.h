/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The two lists of a submission and the built-in patch formats.
 */
#ifndef PB_FIRMWARE_ABI_PATCH_H
#define PB_FIRMWARE_ABI_PATCH_H

#include "firmware/abi/base.h"

/*
 * Allocation.flags: the word of DXGK_ALLOCATIONLIST, whose SegmentId is bits
 * 1..5 (its public mask 0x2E is a misprint of 0x3E), and one bit of our own.
 *
 *   31                              9 8 7 6 5       1 0
 *  +---------------------------------+-+---+---------+-+
 *  |            reserved, 0          |U| 0 |SegmentId|W|
 *  +---------------------------------+-+---+---------+-+
 *  W WriteOperation  U unbind: names no memory; patches through it write nothing
 *
 * SegmentId 0 goes with U and with nothing else (NOT_RESIDENT): system memory
 * holds DMA buffers and lists, an allocation lives in a segment of its own.
 */
#define PB_ALLOCATION_WRITE         0x001u
#define PB_ALLOCATION_SEGMENT_SHIFT 1u
#define PB_ALLOCATION_SEGMENT_MASK  0x03eu
#define PB_ALLOCATION_UNBIND        0x100u
#define PB_ALLOCATION_RESERVED      0xfffffec0u

/**
 * One allocation, 24 bytes, written by the host. Replaces the kernel pointer
 * of DXGK_ALLOCATIONLIST by what the firmware needs to check an offset.
 */
struct pb_allocation {
	uint32_t address_low; /**< OS address, the segment's base included; 0 is a valid address */
	uint32_t address_high;
	uint32_t size_low; /**< bytes, not 0; a patch offset reaches the first 4 GiB - 1 of them */
	uint32_t size_high;
	uint32_t flags; /**< PB_ALLOCATION_* */
	uint32_t id;    /**< the host's name for it; the firmware does not read it so far */
};
PB_SIZE(pb_allocation, 24);
PB_AT(pb_allocation, address_low, 0);
PB_AT(pb_allocation, address_high, 4);
PB_AT(pb_allocation, size_low, 8);
PB_AT(pb_allocation, size_high, 12);
PB_AT(pb_allocation, flags, 16);
PB_AT(pb_allocation, id, 20);

/*
 * PatchLocation.slot:
 *
 *   31      24 23                      0
 *  +----------+------------------------+
 *  | Reserved |         SlotId         |   Reserved must be 0
 *  +----------+------------------------+
 */
#define PB_PATCH_RESERVED_MASK  0xff000000u
#define PB_PATCH_RESERVED_SHIFT 24u

/** D3DDDI_PATCHLOCATIONLIST as it is, 24 bytes, written by the host. */
struct pb_patch_location {
	uint32_t allocation_index;  /**< AllocationIndex into the allocation list */
	uint32_t slot;              /**< SlotId and Reserved; SlotId is the host's */
	uint32_t driver_id;         /**< DriverId: enum pb_patch_format */
	uint32_t allocation_offset; /**< AllocationOffset in bytes */
	uint32_t patch_offset;      /**< PatchOffset in bytes from the start of the DMA buffer */
	uint32_t split_offset;      /**< SplitOffset; the host's, not read by the firmware */
};
PB_SIZE(pb_patch_location, 24);
PB_AT(pb_patch_location, allocation_index, 0);
PB_AT(pb_patch_location, slot, 4);
PB_AT(pb_patch_location, driver_id, 8);
PB_AT(pb_patch_location, allocation_offset, 12);
PB_AT(pb_patch_location, patch_offset, 16);
PB_AT(pb_patch_location, split_offset, 20);

/*
 * Built-in patch formats, the values of DriverId.
 * X(NAME, number, width in bytes, bound, claims a write, meaning)
 *
 * Every format stores 32-bit words at 4-byte aligned places. Bounds:
 *   INSIDE  AllocationOffset < size of the allocation, so that the address
 *           lies in the allocation and in its segment; the address must fit
 *           the width
 *   NONE    the offset is not bounded: its low bits are flags and end
 *           pointers lie at or beyond the size (i915 streams); the sum wraps
 */
#define PB_PATCH_FORMATS(X)                                                                                  \
	X(ADDRESS32, 0, 4, INSIDE, 0, "32-bit address, read")                                                \
	X(ADDRESS64, 1, 8, INSIDE, 0, "64-bit address, read")                                                \
	X(ADDRESS32_WRITE, 2, 4, INSIDE, 1, "32-bit address that the engine writes to")                      \
	X(ADDRESS64_WRITE, 3, 8, INSIDE, 1, "64-bit address that the engine writes to")                      \
	X(SUM32, 4, 4, NONE, 0, "address + offset modulo 2^32 (i915 before gen 8)")                          \
	X(SUM64_SIGNED, 5, 8, NONE, 0, "address + sign-extended offset modulo 2^64 (i915 gen 8)")

enum pb_patch_format {
#define PB_PATCH_FORMAT_ENUM(name, number, width, bound, write, meaning) PB_PATCH_FORMAT_##name = (number),
	PB_PATCH_FORMATS(PB_PATCH_FORMAT_ENUM)
#undef PB_PATCH_FORMAT_ENUM
		PB_PATCH_FORMAT_COUNT
};

#endif
