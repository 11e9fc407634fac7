/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Stands in for hal/shared.h in the proofs: the same accessors by contract.
 *
 * Card memory is other people's: a read gives any value, each time anew, and a
 * store is an event with an address and a value. What the firmware believes of
 * card memory can thus come from no earlier read and from no earlier store.
 * The contracts are the interface's specification. That the bodies in
 * hal/shared.h, one volatile access each, do what they say is assumed, as is
 * that no byte of card memory is private memory of the firmware.
 */
#ifndef PB_HAL_SHARED_H
#define PB_HAL_SHARED_H

#include <stdint.h>

/* Where stores may go. Nobody sets it, so that what is proved holds for every such range. */
/*@ ghost uint32_t pb_range_at; */
/*@ ghost uint32_t pb_range_bytes; */

/* How long a patch list is from where a loop begins, in entries, or in words if it is compact. Nobody sets that either. */
/*@ ghost uint32_t pb_list_entries; */
/*@ ghost uint32_t pb_list_words; */

/* The stores so far: how many, and the last two. */
/*@ ghost uint32_t pb_stores; */
/*@ ghost uint32_t pb_last_at; */
/*@ ghost uint32_t pb_last_value; */
/*@ ghost uint32_t pb_earlier_at; */
/*@ ghost uint32_t pb_earlier_value; */

/*@
  predicate pb_in_range(integer at, integer bytes) =
    pb_range_at <= at && at + bytes <= pb_range_at + pb_range_bytes;
*/

/*@
  requires private_or_in_range: \valid_read(address) || pb_in_range((uint32_t)address, 4);
  assigns \result \from \nothing;
*/
uint32_t pb_shared_read32(const uint32_t *address);

/*@
  requires in_range: pb_in_range((uint32_t)address, 4);
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures pb_stores == (uint32_t)(\old(pb_stores) + 1);
  ensures pb_last_at == (uint32_t)address && pb_last_value == value;
  ensures pb_earlier_at == \old(pb_last_at) && pb_earlier_value == \old(pb_last_value);
*/
void pb_shared_write32(uint32_t *address, uint32_t value);

/*@
  requires private_or_in_range: \valid_read(address) || pb_in_range((uint32_t)address, 1);
  assigns \result \from \nothing;
*/
uint8_t pb_shared_read8(const uint8_t *address);

/*@
  requires in_range: pb_in_range((uint32_t)address, 1);
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures pb_stores == (uint32_t)(\old(pb_stores) + 1);
  ensures pb_last_at == (uint32_t)address && pb_last_value == value;
  ensures pb_earlier_at == \old(pb_last_at) && pb_earlier_value == \old(pb_last_value);
*/
void pb_shared_write8(uint8_t *address, uint8_t value);

/*@
  requires in_range: pb_in_range((uint32_t)address, 16);
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures pb_stores == (uint32_t)(\old(pb_stores) + 4);
*/
void pb_shared_write_four(uint32_t *address, uint32_t first, uint32_t second, uint32_t third,
			  uint32_t fourth);

/*@ assigns \nothing; */
void pb_shared_acquire(void);
/*@ assigns \nothing; */
void pb_shared_release(void);
/*@ assigns \nothing; */
void pb_shared_barrier(void);

#endif
