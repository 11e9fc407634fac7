/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Lifting: converts relocations whose addend stands in the command buffer,
 * where the driver's kernel part would add the address to it. A patch format
 * overwrites the target word and never adds to it, because adding again at the
 * next patch would be wrong. Render therefore takes the addend out of the
 * buffer, once, and puts it into AllocationOffset.
 *
 * The built-in formats then write, byte for byte, what that kernel would have
 * written, however often the allocation moves.
 */
#ifndef PB_HOST_LIFT_H
#define PB_HOST_LIFT_H

#include <stdint.h>

#include "patchbay/abi/errors.h"
#include "patchbay/abi/patch.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of relocation. Words are little-endian; the addend is the value that user space wrote. */
enum pb_lift_kind {
	/**
	 * radeon, a base register: word + (address >> 8). The addend counts units of 256 bytes. Becomes format
	 * SHIFT8; no bit of the word is kept.
	 */
	PB_LIFT_RADEON_BASE,
	/**
	 * radeon, EVENT_WRITE_EOP: 40 bits in two words. Bits 0 and 1 of the first word are dropped from the sum and
	 * cleared; bits 8 to 31 of the second word belong to the packet and are kept. Becomes format SPLIT40, which
	 * keeps both groups of bits; bits 0 and 1 are cleared in the commands by pb_lift().
	 */
	PB_LIFT_RADEON_EVENT,
	/**
	 * radeon, CP_DMA and WAIT_REG_MEM: 40 bits in two words. Bits 0 and 1 of the first word and bits 8 to 31 of
	 * the second are kept. Addresses are multiples of 4, so that bits 0 and 1 never take part in the sum. Becomes
	 * format SPLIT40.
	 */
	PB_LIFT_RADEON_SPLIT,
	/** vc4: address + word, at any byte offset. Becomes format UNALIGNED32; no bit of the word is kept. */
	PB_LIFT_VC4,
	/**
	 * vmwgfx, an SVGA guest pointer {gmrId, offset}: the first word becomes the allocation's id, the address is
	 * added to the second. Becomes formats ID32 and ADDRESS32; no bit is kept. In video memory the id is
	 * SVGA_GMR_FRAMEBUFFER; a buffer in a GMR of its own has that GMR's id and address 0.
	 */
	PB_LIFT_VMWGFX_POINTER,
	PB_LIFT_KINDS /**< number of kinds */
};

/** Largest number of patch locations that one relocation becomes. */
#define PB_LIFT_ENTRIES_MAX 2u

/**
 * Converts one relocation into patch locations. After an error nothing was written.
 * @param allocation_index index of the target in the allocation list, for the entries
 * @param commands the driver's private copy of the commands as user space wrote them. The relocation at `offset` must
 *   neither be patched nor lifted before: its word would hold an address instead of the addend.
 * @param bytes size of the commands
 * @param offset of the first byte that the relocation changes; the entries' patch offsets count from byte 0 as well
 * @param entries out: room for PB_LIFT_ENTRIES_MAX; their SlotId and SplitOffset are 0
 * @param count out: entries written
 * @retval PB_ERROR_BAD_ARGUMENT the kind does not exist
 * @retval PB_ERROR_PATCH_ALIGNMENT the offset is no multiple of 4, which only vc4 allows
 * @retval PB_ERROR_PATCH_RANGE the relocation does not lie in the commands as a whole
 * @retval PB_ERROR_PATCH_OFFSET the addend does not fit AllocationOffset. The firmware checks later whether it lies in
 *   the allocation.
 */
enum pb_error pb_lift(enum pb_lift_kind kind, uint32_t allocation_index, uint8_t *commands, uint32_t bytes,
		      uint32_t offset, struct pb_patch_location *entries, uint32_t *count);

#ifdef __cplusplus
}
#endif

#endif
