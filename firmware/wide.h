/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Numbers of 64 bits that hosts write as two words.
 */
#ifndef PB_FIRMWARE_WIDE_H
#define PB_FIRMWARE_WIDE_H

#include <stdint.h>

/** Two words as one number. */
/*@
  assigns \nothing;
  ensures \result == low + 0x100000000 * high;
*/
static inline uint64_t pb_core_wide(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

#endif
