/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The place of a bit in a mask, as quickly as the CPU finds it.
 */
#ifndef PB_HAL_BITS_H
#define PB_HAL_BITS_H

#include <stdint.h>

#if defined(__riscv) && !defined(__riscv_zbb)
/** Of hal/riscv/bits.c. Entry: the top five bits of PB_BITS_SEQUENCE shifted left by the entry's value. */
extern const uint8_t pb_bits_places[32];
/** A de Bruijn sequence: each five bits in a row are others than all the rest. */
#define PB_BITS_SEQUENCE 0x077cb531u
#endif

/** The lowest bit that is set. @param mask not 0 */
/*@
  requires mask != 0;
  assigns \nothing;
  ensures \result < 32 && ((mask >> \result) & 1) == 1;
*/
static inline uint32_t pb_bits_lowest(uint32_t mask)
{
#if defined(__riscv) && !defined(__riscv_zbb)
	return pb_bits_places[(mask & (0u - mask)) * PB_BITS_SEQUENCE >> 27];
#else
	return (uint32_t)__builtin_ctz(mask);
#endif
}

/** How many zeros a word begins with; 32 if it is 0. */
static inline uint32_t pb_bits_leading_zeros(uint32_t word)
{
	return word != 0 ? (uint32_t)__builtin_clz(word) : 32u;
}

#endif
