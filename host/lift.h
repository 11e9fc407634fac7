/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Lifting: relocations whose addend stands in the command buffer, where the
 * peer's kernel adds the address to it. A patch format never adds to what
 * stands in the buffer, or patching again would add again; so Render takes the
 * addend out of the buffer, once, and puts it into AllocationOffset.
 *
 * What the built-in formats then write is, byte for byte, what the peer's
 * kernel would have written, and stays so however often the allocation moves.
 */
#ifndef PB_HOST_LIFT_H
#define PB_HOST_LIFT_H

#include "host/patchbay.h"

/** What a relocation of a peer does. Words are little-endian, the addend is what user space wrote. */
enum pb_lift_kind {
	/**
	 * radeon, a base register: word + (address >> 8). The addend counts units of 256 bytes.
	 * Format SHIFT8; no bit is kept.
	 */
	PB_LIFT_RADEON_BASE,
	/**
	 * radeon, EVENT_WRITE_EOP: 40 bits in two words. Bits 0 and 1 of the first are dropped from the sum and
	 * cleared, bits 8 to 31 of the second are the packet's and kept. Format SPLIT40, which keeps both: bits
	 * 0 and 1 are cleared here, in the commands.
	 */
	PB_LIFT_RADEON_EVENT,
	/**
	 * radeon, CP_DMA and WAIT_REG_MEM: the same, but bits 0 and 1 of the first word stay as they are: an
	 * address, a multiple of 4, added to them does not change them. Format SPLIT40.
	 */
	PB_LIFT_RADEON_SPLIT,
	/** vc4: address + word, at any byte. Format UNALIGNED32; no bit is kept. */
	PB_LIFT_VC4,
	/**
	 * vmwgfx, an SVGA guest pointer {gmrId, offset}: the first word becomes the allocation's id, address is
	 * added to the second. Formats ID32 and ADDRESS32; no bit is kept. In video memory the id is
	 * SVGA_GMR_FRAMEBUFFER; a buffer in a GMR of its own has that GMR's id and address 0.
	 */
	PB_LIFT_VMWGFX_POINTER,
	PB_LIFT_KINDS /**< their number */
};

/** Patch locations that one relocation becomes, at most. */
#define PB_LIFT_ENTRIES_MAX 2u

/**
 * Turns one relocation into patch locations.
 * @param commands the driver's private copy of the commands, as user space wrote them: never patched,
 *   nor lifted at this place before, or the addend would be an address
 * @param bytes of the commands
 * @param place of the first byte that the relocation changes; patch offsets are made from it
 * @param entries out: room for PB_LIFT_ENTRIES_MAX, their SlotId and SplitOffset 0
 * @param count out: how many there are
 * @retval PB_ERROR_BAD_ARGUMENT no such kind
 * @retval PB_ERROR_PATCH_ALIGNMENT the place is no multiple of 4, which only vc4 may have
 * @retval PB_ERROR_PATCH_RANGE it does not lie in the commands, whole
 * @retval PB_ERROR_PATCH_OFFSET the addend does not fit AllocationOffset. Whether it lies in the allocation
 *   is for the firmware to say.
 * After an error nothing was written.
 */
enum pb_error pb_lift(enum pb_lift_kind kind, uint32_t allocation_index, uint8_t *commands, uint32_t bytes,
		      uint32_t place, struct pb_patch_location *entries, uint32_t *count);

#endif
