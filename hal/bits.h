/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Bit positions in a mask, by the fastest means that the CPU has.
 */
#ifndef PB_HAL_BITS_H
#define PB_HAL_BITS_H

#include <stdint.h>

#if defined(__riscv) && !defined(__riscv_zbb)
/** Of hal/riscv/bits.c. Entry: the top five bits of PB_BITS_SEQUENCE shifted left by the entry's value. */
extern const uint8_t pb_bits_places[32];
/** A de Bruijn sequence: any five adjacent bits occur once. */
#define PB_BITS_SEQUENCE 0x077cb531u
#endif

/** Returns the number of the lowest bit that is set, 0..31. @param mask not 0 */
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

/**
 * Returns the number of the bit that follows a bit in rotation: the lowest set bit above it, or the lowest of all.
 * @param mask not 0 @param bit 0..31
 */
/*@
  requires mask != 0 && bit < 32;
  assigns \nothing;
  ensures \result < 32 && ((mask >> \result) & 1) == 1;
*/
static inline uint32_t pb_bits_next(uint32_t mask, uint32_t bit)
{
	const uint32_t above = mask & ~((2u << bit) - 1u);

	return pb_bits_lowest(above != 0 ? above : mask);
}

/** Returns the number of leading zeros of a word; 32 if it is 0. */
static inline uint32_t pb_bits_leading_zeros(uint32_t word)
{
	return word != 0 ? (uint32_t)__builtin_clz(word) : 32u;
}

#endif
