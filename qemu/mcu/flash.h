/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The flash of an emulated card: what the MCU's loader (qemu/mcu/loader_flash.h), the card and the tools agree on.
 *
 *   0x00000  fuses: never erased, no slot
 *   0x01000  slot A: its record, then the signed image (loader/slot.h)
 *   0x21000  slot B
 *
 * The MCU reads it at an address of its own memory, where the emulator puts a copy of it at each start. No host reaches
 * that memory, nor the file that the card keeps. Until the loader locks the flash, the UART of the interrupt lines
 * carries frames to the card; the card sends no line meanwhile:
 *
 *   PROGRAM offset word   four bytes each, least significant first; the card answers with one byte, DONE or REFUSED
 *   REPORT slot reason    a byte each; no answer
 *   LOCK                  from now on there are lines only, until the MCU starts again
 */
#ifndef PB_QEMU_MCU_FLASH_H
#define PB_QEMU_MCU_FLASH_H

#include "loader/slot.h"
#include "patchbay/abi/base.h"

#define PB_CARD_FLASH_BYTES        0x41000u
#define PB_CARD_FLASH_SECTOR_BYTES 0x1000u
#define PB_CARD_SLOT_A_OFFSET      0x1000u
#define PB_CARD_SLOT_B_OFFSET      0x21000u
#define PB_CARD_SLOT_BYTES         0x20000u

/** First byte of a frame, and the answers. Lines have lower numbers (qemu/mcu/lines.h). */
#define PB_CARD_FLASH_PROGRAM 0x81u
#define PB_CARD_FLASH_REPORT  0x82u
#define PB_CARD_FLASH_LOCK    0x83u
#define PB_CARD_FLASH_DONE    0x84u
#define PB_CARD_FLASH_REFUSED 0x85u

/** Words of the counter: its value is the number of bits that are clear. */
#define PB_CARD_COUNTER_WORDS 32u

/** The fuses, at offset 0. */
struct pb_card_fuses {
	uint8_t key[64];                         /**< the public key, as hal/fuses.h has it; all ones: none */
	uint32_t counter[PB_CARD_COUNTER_WORDS]; /**< see PB_CARD_COUNTER_WORDS */
};
PB_SIZE(pb_card_fuses, 192);
PB_AT(pb_card_fuses, key, 0);
PB_AT(pb_card_fuses, counter, 64);

/** Returns the value of a counter. */
static inline uint32_t pb_card_counter_value(const uint32_t words[PB_CARD_COUNTER_WORDS])
{
	uint32_t value = 0;

	for (uint32_t i = 0; i < PB_CARD_COUNTER_WORDS; i++) {
		for (uint32_t clear = ~words[i]; clear != 0; clear &= clear - 1u)
			value++;
	}
	return value;
}

/**
 * Raises the value of a counter by one: clears the lowest bit that is set, also where a bit above it is clear already.
 * Pre: some bit is set.
 * @return the word that has changed
 */
static inline uint32_t pb_card_counter_raise(uint32_t words[PB_CARD_COUNTER_WORDS])
{
	uint32_t i = 0;

	while (words[i] == 0)
		i++;
	words[i] &= words[i] - 1u;
	return i;
}

#endif
