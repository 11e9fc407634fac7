/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Offsets and sizes of the firmware's structures for the loops in assembly, as
 * plain numbers. boards/loops.c checks each of them.
 */
#ifndef PB_HAL_CORTEX_M_LOOPS_H
#define PB_HAL_CORTEX_M_LOOPS_H

/* enum pb_core_run */
#define PB_LOOPS_DONE      0
#define PB_LOOPS_IRREGULAR 1

/* struct pb_core_cursor */
#define PB_LOOPS_CURSOR_WORDS                       0
#define PB_LOOPS_CURSOR_PASS                        8
#define PB_LOOPS_CURSOR_END                         12
#define PB_LOOPS_CURSOR_SLOTS                       16
#define PB_LOOPS_CURSOR_ORIGIN                      20
#define PB_LOOPS_CURSOR_START                       24
#define PB_LOOPS_CURSOR_WIDE_PLACES                 36
#define PB_LOOPS_CURSOR_PENDING                     48
#define PB_LOOPS_CURSOR_IRREGULAR                   56
#define PB_LOOPS_CURSOR_IRREGULAR_SLOT              60
#define PB_LOOPS_CURSOR_IRREGULAR_ALLOCATION_OFFSET 68

/* struct pb_core_job */
#define PB_LOOPS_JOB_ALLOCATIONS 28
#define PB_LOOPS_JOB_RESOLVED    44
#define PB_LOOPS_JOB_SLOTS       104
#define PB_LOOPS_SLOTS_TO_IDS    16384

/* Sizes in bytes, and what depends on them; limits. */
#define PB_LOOPS_ENTRY             24 /* struct pb_patch_location */
#define PB_LOOPS_SHORT             8  /* entry of a compact list */
#define PB_LOOPS_ALLOCATION        24
#define PB_LOOPS_SLOT_SHIFT        4 /* of an index, to the slot's offset */
#define PB_LOOPS_INDEX_BITS        10
#define PB_LOOPS_SLICE_SHORT       32
#define PB_LOOPS_SLICE_PATCHES     24
#define PB_LOOPS_SLICE_ALLOCATIONS 20
#define PB_LOOPS_SHORT_END         0x00ffc000
#define PB_LOOPS_RESERVED_SHIFT    24
#define PB_LOOPS_FORMAT            1 /* ADDRESS64 */

#endif
