/* SPDX-License-Identifier: MIT */
/*
 * Whether what the loops in assembly know of the core's structures is so. Here,
 * because neither the core nor hal/ may know of the other's insides.
 */
#include "hal/cortex_m/loops.h"

#include <stddef.h>

#include "firmware/patch/loops.h"
#include "firmware/prepare/resolve.h"

#define IS(number, value)       PB_STATIC_ASSERT((number) == (value), #number)
#define AT(number, type, field) IS(number, offsetof(struct type, field))

IS(PB_LOOPS_DONE, PB_CORE_DONE);
IS(PB_LOOPS_IRREGULAR, PB_CORE_IRREGULAR);

AT(PB_LOOPS_CURSOR_WORDS, pb_core_cursor, words);
AT(PB_LOOPS_CURSOR_WORDS + 4, pb_core_cursor, slice); /* stored with one instruction */
AT(PB_LOOPS_CURSOR_PASS, pb_core_cursor, pass);
AT(PB_LOOPS_CURSOR_END, pb_core_cursor, end);
AT(PB_LOOPS_CURSOR_SLOTS, pb_core_cursor, slots);
AT(PB_LOOPS_CURSOR_ORIGIN, pb_core_cursor, origin);
AT(PB_LOOPS_CURSOR_START, pb_core_cursor, start);
AT(PB_LOOPS_CURSOR_WIDE_PLACES, pb_core_cursor, places[PB_CORE_CLASS_WIDE]);
AT(PB_LOOPS_CURSOR_PENDING, pb_core_cursor, pending);
AT(PB_LOOPS_CURSOR_IRREGULAR, pb_core_cursor, irregular);
AT(PB_LOOPS_CURSOR_IRREGULAR_SLOT, pb_core_cursor, irregular.slot);
AT(PB_LOOPS_CURSOR_IRREGULAR_ALLOCATION_OFFSET, pb_core_cursor, irregular.allocation_offset);

/* As an entry of the list has them. */
AT(0, pb_core_entry, allocation_index);
AT(4, pb_core_entry, slot);
AT(8, pb_core_entry, driver_id);
AT(12, pb_core_entry, allocation_offset);
AT(16, pb_core_entry, patch_offset);

AT(PB_LOOPS_JOB_ALLOCATIONS, pb_core_job, allocations);
AT(PB_LOOPS_JOB_RESOLVED, pb_core_job, resolved);
AT(PB_LOOPS_JOB_SLOTS, pb_core_job, slots);
AT(PB_LOOPS_JOB_SLOTS + PB_LOOPS_SLOTS_TO_IDS, pb_core_job, ids);

/* In the order in which one instruction loads or stores them. */
AT(0, pb_core_slot, low);
AT(4, pb_core_slot, high);
AT(8, pb_core_slot, limit[0]);
AT(12, pb_core_slot, limit[1]);
AT(0, pb_core_window, flags);
AT(4, pb_core_window, os_high);
AT(8, pb_core_window, os_end);
AT(12, pb_core_window, bytes);
AT(16, pb_core_window, gpu_delta);
AT(20, pb_core_window, gpu_high);
AT(24, pb_core_window, writable);
AT(0, pb_core_listed, address_low);
AT(4, pb_core_listed, address_high);
AT(8, pb_core_listed, size_low);
AT(12, pb_core_listed, size_high);
AT(16, pb_core_listed, flags);
AT(20, pb_core_listed, id);

IS(PB_LOOPS_ENTRY, sizeof(struct pb_patch_location));
IS(PB_LOOPS_SHORT, PB_COMPACT_SHORT_WORDS * sizeof(uint32_t));
IS(PB_LOOPS_ALLOCATION, sizeof(struct pb_allocation));
IS(1u << PB_LOOPS_SLOT_SHIFT, sizeof(struct pb_core_slot));
IS(PB_LOOPS_INDEX_BITS, PB_CORE_INDEX_BITS);
IS(PB_LOOPS_INDEX_BITS, PB_COMPACT_PLACE_SHIFT);
IS(PB_LOOPS_SLICE_SHORT, PB_SLICE_SHORT);
PB_STATIC_ASSERT(PB_LOOPS_SLICE_PATCHES >= PB_SLICE_PATCHES,
		 "a slice of the loop in assembly is none shorter");
IS(PB_LOOPS_SLICE_ALLOCATIONS, PB_SLICE_ALLOCATIONS);
IS(PB_LOOPS_SHORT_END, PB_COMPACT_PLACE_END);
IS(PB_LOOPS_RESERVED_SHIFT, PB_PATCH_RESERVED_SHIFT);
IS(PB_LOOPS_FORMAT, PB_PATCH_FORMAT_ADDRESS64);
/* The top bit of an open window's flags need not be compared. */
IS(PB_ALLOCATION_RESERVED >> 31, 1u);
