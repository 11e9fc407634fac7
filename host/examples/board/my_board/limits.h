/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The sizes of the firmware's tables. firmware/limits_default.h says what each
 * is, and has those of a board without a header of its own.
 */
#ifndef MY_BOARD_LIMITS_H
#define MY_BOARD_LIMITS_H

/* The tables of a small card. */
#define PB_LIMIT_NODES           4u
#define PB_LIMIT_CLIENTS         8u
#define PB_LIMIT_QUEUES          64u
#define PB_LIMIT_CONTEXTS        32u
#define PB_LIMIT_SEGMENTS        32u
#define PB_LIMIT_SEGMENTS_TOTAL  64u
#define PB_LIMIT_HOST_GRANTS     10u
#define PB_LIMIT_APERTURE_PAGES  16384u
#define PB_LIMIT_FORMATS_OWN     16u
#define PB_LIMIT_FORMATS_TOTAL   64u
#define PB_LIMIT_ALLOCATIONS     1024u
#define PB_LIMIT_PATCHES         65536u
#define PB_LIMIT_RING_MIN        4u
#define PB_LIMIT_RING_MAX        256u
#define PB_LIMIT_JOBS            2u
#define PB_LIMIT_STOPS           16u
#define PB_LIMIT_IN_FLIGHT       3u
#define PB_LIMIT_CONTROL_ENTRIES 16u
#define PB_LIMIT_KICK_ENTRIES    256u
#define PB_LIMIT_EVENT_ENTRIES   64u
#define PB_LIMIT_PATCHED         16u

#endif
