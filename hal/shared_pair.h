/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reads and writes pairs of adjacent words of shared memory by one instruction, where the CPU has one for that: LDRD
 * and STRD on Arm. Elsewhere they are two accesses of one word. For the path of each submission: an instruction less
 * there, and on a bus one burst instead of two transfers.
 *
 * Each word is accessed once, in either order, as by pb_shared_read32() and pb_shared_write32(). An interrupt in the
 * middle makes the CPU start the instruction anew, so that a word may go over the bus twice: of what was read only the
 * last value counts, and shared memory is not mapped as a device's on Arm.
 */
#ifndef PB_HAL_SHARED_PAIR_H
#define PB_HAL_SHARED_PAIR_H

#include "hal/shared.h"

/** 1: the CPU has LDM, STM, LDRD and STRD, and they are used; 0: each word is an access of its own. */
#if defined(__thumb2__) && !defined(PB_SHARED_NO_BURSTS)
#define PB_SHARED_BURSTS 1
#else
#define PB_SHARED_BURSTS 0
#endif

#if PB_SHARED_BURSTS
/** Both words: for this type the compiler chooses an address that the instructions have. */
typedef uint64_t __attribute__((may_alias, aligned(4))) pb_shared_pair;
#endif

/** Reads two adjacent words. @param address 4-byte aligned */
/*@
  requires \valid_read(address + (0 .. 1)) && \valid(first) && \valid(second);
  requires \separated(first, second) && \separated(first, address + (0 .. 1)) && \separated(second, address + (0 .. 1));
  assigns *first, *second;
*/
static inline void pb_shared_read_pair(const uint32_t *address, uint32_t *first, uint32_t *second)
{
#if PB_SHARED_BURSTS
	__asm__ volatile("ldrd %0, %1, %2"
			 : "=r"(*first), "=r"(*second)
			 : "m"(*(const pb_shared_pair *)(const void *)address));
#else
	*first = pb_shared_read32(address);
	*second = pb_shared_read32(address + 1);
#endif
}

/** Writes two adjacent words. @param address 4-byte aligned */
/*@
  requires in_range: pb_in_range((uint32_t)address, 8) && pb_range_at + pb_range_bytes <= 0x100000000;
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures pb_stores == (uint32_t)(\old(pb_stores) + 2);
  ensures pb_earlier_at == (uint32_t)address && pb_earlier_value == first;
  ensures pb_last_at == (uint32_t)address + 4 && pb_last_value == second;
*/
static inline void pb_shared_write_pair(uint32_t *address, uint32_t first, uint32_t second)
{
#if PB_SHARED_BURSTS
	__asm__ volatile("strd %1, %2, %0"
			 : "=m"(*(pb_shared_pair *)(void *)address)
			 : "r"(first), "r"(second));
#else
	pb_shared_write32(address, first);
	pb_shared_write32((uint32_t *)((uintptr_t)address + 4u), second);
#endif
}

#endif
