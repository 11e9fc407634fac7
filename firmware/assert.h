/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Assertions on the firmware's own state. Never on what a host or an engine
 * wrote: that gets an error.
 */
#ifndef PB_FIRMWARE_ASSERT_H
#define PB_FIRMWARE_ASSERT_H

#include <stdint.h>

/** Publishes a fatal record with the caller's address and source line, and stops. */
/*@
  requires never: \false;
  assigns \nothing;
  ensures \false;
*/
_Noreturn void pb_core_assert_failed(uint32_t line);

#define PB_ASSERT(condition) ((condition) ? (void)0 : pb_core_assert_failed(__LINE__))

#endif
