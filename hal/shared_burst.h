/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reads and writes adjacent words of shared memory in one transfer, where the
 * CPU has an instruction for that: LDM and STM on Arm. Elsewhere they are
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

#include "hal/shared_pair.h"

/** Reads six words. @param from 4-byte aligned @return the address behind them */
/*@
  requires \valid_read(from + (0 .. 5)) && \valid(words + (0 .. 5));
  assigns \result \from from;
  assigns words[0 .. 5];
  ensures \result == from + 6;
*/
static inline const uint32_t *pb_shared_read_six(const uint32_t *from, uint32_t *words)
{
#if PB_SHARED_BURSTS
	/* Registers of ascending numbers, as LDM wants them. */
	register const uint32_t *behind __asm__("r0");
	register uint32_t first __asm__("r1");
	register uint32_t second __asm__("r2");
	register uint32_t third __asm__("r3");
	register uint32_t fourth __asm__("r4");
	register uint32_t fifth __asm__("r5");
	register uint32_t sixth __asm__("r6");

	__asm__ volatile("ldmia %0!, {%1, %2, %3, %4, %5, %6}"
			 : "=r"(behind), "=r"(first), "=r"(second), "=r"(third), "=r"(fourth), "=r"(fifth),
			   "=r"(sixth)
			 : "0"(from)
			 : "memory");
	words[0] = first;
	words[1] = second;
	words[2] = third;
	words[3] = fourth;
	words[4] = fifth;
	words[5] = sixth;
	return behind;
#else
	words[0] = pb_shared_read32(&from[0]);
	words[1] = pb_shared_read32(&from[1]);
	words[2] = pb_shared_read32(&from[2]);
	words[3] = pb_shared_read32(&from[3]);
	words[4] = pb_shared_read32(&from[4]);
	words[5] = pb_shared_read32(&from[5]);
	return from + 6;
#endif
}

/**
 * Reads five words, which are followed by a word of no use: that one is read only where this saves an instruction.
 * @param from 4-byte aligned, six words @param words room for six, the last without meaning
 * @return the address behind the six
 */
/*@
  requires \valid_read(from + (0 .. 4)) && \valid(words + (0 .. 5));
  assigns \result \from from;
  assigns words[0 .. 5];
  ensures \result == from + 6;
*/
static inline const uint32_t *pb_shared_read_five_of_six(const uint32_t *from, uint32_t *words)
{
#if PB_SHARED_BURSTS
	return pb_shared_read_six(from, words);
#else
	words[0] = pb_shared_read32(&from[0]);
	words[1] = pb_shared_read32(&from[1]);
	words[2] = pb_shared_read32(&from[2]);
	words[3] = pb_shared_read32(&from[3]);
	words[4] = pb_shared_read32(&from[4]);
	return from + 6;
#endif
}

/** Reads two words. @param from 4-byte aligned @return the address behind them */
/*@
  requires \valid_read(from + (0 .. 1)) && \valid(words + (0 .. 1));
  assigns \result \from from;
  assigns words[0 .. 1];
  ensures \result == from + 2;
*/
static inline const uint32_t *pb_shared_read_two(const uint32_t *from, uint32_t *words)
{
#if PB_SHARED_BURSTS
	register const uint32_t *behind __asm__("r0");
	register uint32_t first __asm__("r1");
	register uint32_t second __asm__("r4");

	__asm__ volatile("ldmia %0!, {%1, %2}"
			 : "=r"(behind), "=r"(first), "=r"(second)
			 : "0"(from)
			 : "memory");
	words[0] = first;
	words[1] = second;
	return behind;
#else
	words[0] = pb_shared_read32(&from[0]);
	words[1] = pb_shared_read32(&from[1]);
	return from + 2;
#endif
}

/** Reads three words. @param from 4-byte aligned @return the address behind them */
/*@
  requires \valid_read(from + (0 .. 2)) && \valid(words + (0 .. 2));
  assigns \result \from from;
  assigns words[0 .. 2];
  ensures \result == from + 3;
*/
static inline const uint32_t *pb_shared_read_three(const uint32_t *from, uint32_t *words)
{
#if PB_SHARED_BURSTS
	/* Beside those of pb_shared_read_six(). */
	register uint32_t first __asm__("r8");
	register uint32_t second __asm__("r9");
	register uint32_t third __asm__("r10");

	__asm__ volatile("ldmia %0!, {%1, %2, %3}"
			 : "+r"(from), "=&r"(first), "=&r"(second), "=&r"(third)
			 :
			 : "memory");
	words[0] = first;
	words[1] = second;
	words[2] = third;
	return from;
#else
	words[0] = pb_shared_read32(&from[0]);
	words[1] = pb_shared_read32(&from[1]);
	words[2] = pb_shared_read32(&from[2]);
	return from + 3;
#endif
}

/** Writes four adjacent words of private memory. @param to 4-byte aligned @return the address behind them */
static inline uint32_t *pb_burst_put_four(uint32_t *to, uint32_t first, uint32_t second, uint32_t third,
					  uint32_t fourth)
{
#if PB_SHARED_BURSTS
	/* Last first: what they are made of is often in the registers of a burst that was read. */
	register uint32_t in_r4 __asm__("r4") = fourth;
	register uint32_t in_r3 __asm__("r3") = third;
	register uint32_t in_r2 __asm__("r2") = second;
	register uint32_t in_r1 __asm__("r1") = first;

	__asm__ volatile("stmia %0!, {%1, %2, %3, %4}"
			 : "+r"(to)
			 : "r"(in_r1), "r"(in_r2), "r"(in_r3), "r"(in_r4)
			 : "memory");
#else
	*to++ = first;
	*to++ = second;
	*to++ = third;
	*to++ = fourth;
#endif
	return to;
}

/** Reads three adjacent words of private memory. @param from 4-byte aligned */
/*@
  requires \valid_read(from + (0 .. 2)) && \valid(first) && \valid(second) && \valid(third);
  assigns *first, *second, *third;
*/
static inline void pb_burst_get_three(const uint32_t *from, uint32_t *first, uint32_t *second,
				      uint32_t *third)
{
#if PB_SHARED_BURSTS
	/*
	 * The address's own register is loaded, too: LDM in 16 bits. Not R7: that is the frame pointer, of which GCC
	 * takes for granted that it is not 0, so that a comparison with 0 is left out.
	 */
	register uint32_t in_r2 __asm__("r2") = (uint32_t)from;
	register uint32_t in_r3 __asm__("r3");
	register uint32_t in_r6 __asm__("r6");

	__asm__ volatile("ldmia %0, {%0, %1, %2}" : "+r"(in_r2), "=r"(in_r3), "=r"(in_r6) : : "memory");
	*first = in_r2;
	*second = in_r3;
	*third = in_r6;
#else
	*first = from[0];
	*second = from[1];
	*third = from[2];
#endif
}

/** As pb_shared_read_pair(), of words that a patch replaces: the range of allowed stores holds them. */
/*@
  requires in_range: pb_in_range((uint32_t)from, 8) && pb_range_at + pb_range_bytes <= 0x100000000;
  requires \valid(first) && \valid(second);
  assigns *first, *second;
*/
static inline void pb_shared_read_both(const uint32_t *from, uint32_t *first, uint32_t *second)
{
	if (PB_SHARED_BURSTS) {
		pb_shared_read_pair(from, first, second);
		return;
	}
	*first = pb_shared_read32(from);
	*second = pb_shared_read32((const uint32_t *)((uintptr_t)from + 4u));
}

#endif
