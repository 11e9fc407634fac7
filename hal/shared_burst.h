/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reads and writes adjacent words of shared memory in one transfer, where the
 * CPU has an instruction for that: LDM, LDRD and STRD on Arm. Elsewhere they are
 * accesses of one word. For the loops over lists, whose time on a card is that
 * of their transfers.
 *
 * Each word that a function returns is one that was read in one access, and the
 * compiler reads none again. An interrupt in the middle of an LDM makes the CPU
 * start it anew, so a word may go over the bus twice: only the last value
 * counts, and shared memory is not mapped as a device's on Arm.
 */
#ifndef PB_HAL_SHARED_BURST_H
#define PB_HAL_SHARED_BURST_H

#include "hal/shared.h"

#if defined(__thumb2__) && !defined(PB_SHARED_NO_BURSTS)
#define PB_SHARED_BURSTS 1
#else
#define PB_SHARED_BURSTS 0
#endif

/**
 * Reads five words, which are followed by a word of no use: that one is read only where this saves an instruction.
 * @param from 4-byte aligned, six words
 * @return the address behind the six
 */
/*@
  requires \valid_read(from + (0 .. 4)) && \valid(words + (0 .. 4));
  requires \separated(words + (0 .. 4), from + (0 .. 4));
  assigns words[0 .. 4];
  ensures \result == from + 6;
*/
static inline const uint32_t *pb_shared_read_five_of_six(const uint32_t *from, uint32_t *words)
{
#if PB_SHARED_BURSTS
	struct six {
		uint32_t words[6];
	};
	/* Registers of ascending numbers, as LDM wants them. */
	register const uint32_t *at __asm__("r12") = from;
	register uint32_t first __asm__("r1");
	register uint32_t second __asm__("r2");
	register uint32_t third __asm__("r3");
	register uint32_t fourth __asm__("r4");
	register uint32_t fifth __asm__("r5");
	register uint32_t sixth __asm__("r6");

	__asm__ volatile("ldmia %0!, {%1, %2, %3, %4, %5, %6}"
			 : "+r"(at), "=r"(first), "=r"(second), "=r"(third), "=r"(fourth), "=r"(fifth),
			   "=r"(sixth)
			 :
			 : "memory");
	words[0] = first;
	words[1] = second;
	words[2] = third;
	words[3] = fourth;
	words[4] = fifth;
	return at;
#else
	words[0] = pb_shared_read32(&from[0]);
	words[1] = pb_shared_read32(&from[1]);
	words[2] = pb_shared_read32(&from[2]);
	words[3] = pb_shared_read32(&from[3]);
	words[4] = pb_shared_read32(&from[4]);
	return from + 6;
#endif
}

/**
 * Reads six words.
 * @param from 4-byte aligned
 * @return the address behind them
 */
/*@
  requires \valid_read(from + (0 .. 5)) && \valid(words + (0 .. 5));
  requires \separated(words + (0 .. 5), from + (0 .. 5));
  assigns words[0 .. 5];
  ensures \result == from + 6;
*/
static inline const uint32_t *pb_shared_read_six(const uint32_t *from, uint32_t *words)
{
#if PB_SHARED_BURSTS
	struct six {
		uint32_t words[6];
	};
	/* Registers of ascending numbers, as LDM wants them. */
	register uint32_t first __asm__("r1");
	register uint32_t second __asm__("r2");
	register uint32_t third __asm__("r3");
	register uint32_t fourth __asm__("r4");
	register uint32_t fifth __asm__("r5");
	register uint32_t sixth __asm__("r6");

	__asm__ volatile("ldmia %0!, {%1, %2, %3, %4, %5, %6}"
			 : "+r"(from), "=r"(first), "=r"(second), "=r"(third), "=r"(fourth), "=r"(fifth),
			   "=r"(sixth)
			 : "m"(*(const struct six *)(const void *)from));
	words[0] = first;
	words[1] = second;
	words[2] = third;
	words[3] = fourth;
	words[4] = fifth;
	words[5] = sixth;
#else
	for (uint32_t i = 0; i < 6u; i++)
		words[i] = pb_shared_read32(&from[i]);
	from += 6;
#endif
	return from;
}

/** Writes two adjacent words, in any order. @param to 4-byte aligned */
/*@
  requires in_range: pb_in_range((uint32_t)to, 8) && pb_range_at + pb_range_bytes <= 0x100000000;
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures pb_stores == (uint32_t)(\old(pb_stores) + 2);
  ensures pb_earlier_at == (uint32_t)to && pb_earlier_value == first;
  ensures pb_last_at == (uint32_t)to + 4 && pb_last_value == second;
*/
static inline void pb_shared_write_two(uint32_t *to, uint32_t first, uint32_t second)
{
#if PB_SHARED_BURSTS
	struct two {
		uint32_t words[2];
	};

	__asm__ volatile("strd %1, %2, %0" : "=Q"(*(struct two *)(void *)to) : "r"(first), "r"(second));
#else
	pb_shared_write32(to, first);
	pb_shared_write32((uint32_t *)((uintptr_t)to + 4u), second);
#endif
}

#endif
