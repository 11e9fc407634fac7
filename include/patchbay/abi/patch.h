/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The two lists of a submission. Patch formats: include/patchbay/abi/format.h.
 */
#ifndef PB_FIRMWARE_ABI_PATCH_H
#define PB_FIRMWARE_ABI_PATCH_H

#include "patchbay/abi/base.h"
#include "patchbay/abi/format.h"

/*
 * Allocation.flags: the word of DXGK_ALLOCATIONLIST, whose SegmentId is bits
 * 1..5 (its public mask 0x2E is a misprint of 0x3E), and three bits of our own.
 *
 *   31                         11 10  9 8 7 6 5       1 0
 *  +-----------------------------+-----+-+---+---------+-+
 *  |          reserved, 0        |  A  |U| 0 |SegmentId|W|
 *  +-----------------------------+-----+-+---+---------+-+
 *  W WriteOperation  U unbind: names no memory; patches through it write nothing
 *  A attribute of the host's, which a format may write (tiling, for example)
 *
 * SegmentId 0 is valid with U only (else NOT_RESIDENT): system memory
 * holds DMA buffers and lists, an allocation lives in a segment of its own.
 */
#define PB_ALLOCATION_WRITE           0x001u      /**< W */
#define PB_ALLOCATION_SEGMENT_SHIFT   1u          /**< of SegmentId */
#define PB_ALLOCATION_SEGMENT_MASK    0x03eu      /**< of SegmentId, where it stands */
#define PB_ALLOCATION_UNBIND          0x100u      /**< U */
#define PB_ALLOCATION_ATTRIBUTE_SHIFT 9u          /**< of A */
#define PB_ALLOCATION_ATTRIBUTE_MASK  0x600u      /**< of A, where it stands */
#define PB_ALLOCATION_RESERVED        0xfffff8c0u /**< 0: else BAD_ALLOCATION */

/**
 * One allocation, 24 bytes, written by the host. Replaces the kernel pointer
 * of DXGK_ALLOCATIONLIST by what the firmware needs to check an offset.
 */
struct pb_allocation {
	uint32_t address_low;  /**< OS address, the segment's base included; 0 is a valid address */
	uint32_t address_high; /**< high word */
	uint32_t size_low;     /**< bytes, not 0; a patch offset reaches the first 4 GiB - 1 of them */
	uint32_t size_high;    /**< high word */
	uint32_t flags;        /**< PB_ALLOCATION_* */
	uint32_t id;           /**< the host's name for the allocation; formats of source ID write it */
};
PB_SIZE(pb_allocation, 24);
PB_AT(pb_allocation, address_low, 0);
PB_AT(pb_allocation, address_high, 4);
PB_AT(pb_allocation, size_low, 8);
PB_AT(pb_allocation, size_high, 12);
PB_AT(pb_allocation, flags, 16);
PB_AT(pb_allocation, id, 20);

/**
 * Where the patches in the buffer presume one allocation, 12 bytes, written by the host: with PB_PATCH_PRESUMED, as many
 * of these follow the allocation list as it has entries, right behind the last of them. An allocation that is presumed
 * where it is listed, all three words equal, is kept: it is not checked, and nothing is written through it. So a host
 * names here the words that the allocation was listed with when its patches were last carried out, or written by the host
 * itself; and 0 for the flags if they were not, or if since then its id or its segment is another. Entries of different
 * allocations that write one bit do not go with presuming: the last one of the list would not be the last one carried
 * out. The firmware does not change the lists. A host that presumes wrongly runs its own buffer with its own stale addresses.
 */
struct pb_presumed {
	uint32_t address_low;  /**< as pb_allocation.address_low */
	uint32_t address_high; /**< as pb_allocation.address_high */
	uint32_t flags;        /**< as pb_allocation.flags; 0: nothing is presumed */
};
PB_SIZE(pb_presumed, 12);
PB_AT(pb_presumed, address_low, 0);
PB_AT(pb_presumed, address_high, 4);
PB_AT(pb_presumed, flags, 8);

/*
 * PatchLocation.slot:
 *
 *   31      24 23                      0
 *  +----------+------------------------+
 *  | Reserved |         SlotId         |   Reserved must be 0
 *  +----------+------------------------+
 */
#define PB_PATCH_RESERVED_MASK  0xff000000u /**< 0: else PATCH_RESERVED */
#define PB_PATCH_RESERVED_SHIFT 24u         /**< of Reserved */

/**
 * D3DDDI_PATCHLOCATIONLIST as it is, 24 bytes, written by the host. With PB_PATCH_PRESUMED an entry is skipped, and no
 * other word of it read, if AllocationIndex names an allocation that is kept, whatever its format: an entry whose format
 * uses no allocation has an AllocationIndex at or above AllocationListSize then.
 */
struct pb_patch_location {
	uint32_t allocation_index; /**< AllocationIndex into the allocation list */
	uint32_t slot;             /**< SlotId and Reserved; the firmware ignores SlotId */
	uint32_t driver_id; /**< DriverId: the patch format, enum pb_patch_format_number or a channel's own */
	uint32_t allocation_offset; /**< AllocationOffset in bytes */
	uint32_t patch_offset;      /**< PatchOffset in bytes from the start of the DMA buffer */
	uint32_t split_offset;      /**< SplitOffset; the firmware ignores it */
};
PB_SIZE(pb_patch_location, 24);
PB_AT(pb_patch_location, allocation_index, 0);
PB_AT(pb_patch_location, slot, 4);
PB_AT(pb_patch_location, driver_id, 8);
PB_AT(pb_patch_location, allocation_offset, 12);
PB_AT(pb_patch_location, patch_offset, 16);
PB_AT(pb_patch_location, split_offset, 20);

/*
 * The compact list, an encoding of the same entries (PB_PATCH_ENCODING_COMPACT):
 * a stream of 32-bit words. An entry takes two of them, or three.
 *
 *   short    31                 10 9          0      31                     0
 *           +---------------------+------------+    +------------------------+
 *           |   PatchOffset / 4   | Allocation |    |    AllocationOffset    |
 *           +---------------------+------------+    +------------------------+
 *
 *   escape   31                 22 21    18 17    10 9          0
 *           +---------------------+--------+--------+------------+
 *           |     all ones        |    0   | format | Allocation |   then PatchOffset, AllocationOffset
 *           +---------------------+--------+--------+------------+
 *
 * A short entry has the format of the entry before it; before the first one of
 * a submission that is format 0. An escape can hold any entry, and sets the format
 * from there on: a run of equal formats pays for it once. Words of an escape's
 * prefix are PatchOffsets of 16 MiB - 16 KiB and up, which no short entry has.
 * List sizes, starts, lengths and the index of a bad entry count words; a
 * fence record counts entries. A submission takes up to three words for each
 * patch location that the card allows. An entry that the end of its part of the
 * list cuts off is PATCH_ENCODING, whatever other error it has.
 */
#define PB_COMPACT_PLACE_SHIFT  10u         /**< of PatchOffset / 4 in a short entry */
#define PB_COMPACT_INDEX_MASK   0x000003ffu /**< of AllocationIndex, in both */
#define PB_COMPACT_ESCAPE       0xffc00000u /**< bits 22 to 31: all ones in an escape, and in nothing else */
#define PB_COMPACT_ZERO         0x003c0000u /**< 0 in an escape: else PATCH_RESERVED */
#define PB_COMPACT_FORMAT_SHIFT 10u         /**< of the format in an escape */
#define PB_COMPACT_FORMAT_MASK  0x0003fc00u /**< of it, where it stands */
#define PB_COMPACT_SHORT_WORDS  2u          /**< of a short entry */
#define PB_COMPACT_ESCAPE_WORDS 3u          /**< of an escape */
/** A short entry's PatchOffset is below this. */
#define PB_COMPACT_PLACE_END 0x00ffc000u

/*
 * The grouped list (PB_PATCH_ENCODING_GROUPED): groups, one behind the other.
 * A group is a head of two words, and entries of the compact list, which begin
 * with the head's format.
 *
 *   head     31            19  18  17    10 9          0      31                     0
 *           +----------------+----+--------+------------+    +------------------------+
 *           |       0        | F  | format | Allocation |    |  words of the entries  |
 *           +----------------+----+--------+------------+    +------------------------+
 *
 * With PB_PATCH_PRESUMED a group whose allocation is kept is skipped whole: its
 * entries are not read. F says that it is not, as for entries whose format uses
 * no allocation. The entries name their allocations themselves; one that names
 * an allocation that is kept writes nothing, as if that were unbound.
 * List sizes, starts, lengths and the index of a bad entry count words, those of
 * heads included; a fence record counts entries that were not skipped. A head or
 * a group that the end of its part of the list cuts off is PATCH_ENCODING.
 */
#define PB_GROUP_INDEX_MASK   0x000003ffu /**< of Allocation */
#define PB_GROUP_FORMAT_SHIFT 10u         /**< of the format */
#define PB_GROUP_FORMAT_MASK  0x0003fc00u /**< of it, where it stands */
#define PB_GROUP_FIXED        0x00040000u /**< F: never skipped */
#define PB_GROUP_ZERO         0xfff80000u /**< 0: else PATCH_RESERVED */
#define PB_GROUP_HEAD_WORDS   2u          /**< of a head */

#endif
