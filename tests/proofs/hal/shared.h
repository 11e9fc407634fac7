/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Replaces hal/shared.h in the proofs: the accessors of hal/shared.h by contract.
 *
 * Other parties write card memory: each read gives any value, and a store is an
 * event with an address and a value. A proof can thus rely on no earlier read
 * and on no earlier store. The contracts specify the interface. Two assumptions
 * are not proved: the functions in hal/shared.h, one volatile access each, meet
 * the contracts, and no byte of card memory is private memory of the firmware.
 */
#ifndef PB_HAL_SHARED_H
#define PB_HAL_SHARED_H

#include <stdint.h>

/* The range of allowed stores. It has no assigned value, so proofs hold for every range. */
/*@ ghost uint32_t pb_range_at; */
/*@ ghost uint32_t pb_range_bytes; */

/* Length of a patch list from the start of a loop, in entries, or in words if it is compact. No assigned value. */
/*@ ghost uint32_t pb_list_entries; */
/*@ ghost uint32_t pb_list_words; */

/* The stores so far: their number, and the last two. */
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
