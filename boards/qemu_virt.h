/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the boards of QEMU's RISC-V machine `virt` have in common, which is all
 * but the width of their registers. Such a board lists boards/qemu_virt.c in
 * its board.cmake.
 */
#ifndef PB_BOARDS_QEMU_VIRT_H
#define PB_BOARDS_QEMU_VIRT_H

/** Where the boot code places the window of card memory. */
#define PB_QEMU_VIRT_CARD_MEMORY 0x41000000u

/** Name of the board, at most 16 characters. The board has it. */
extern const char pb_qemu_virt_name[];

#endif
