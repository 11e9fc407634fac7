/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Small tables, so that short schedules reach their limits.
 */
#ifndef PB_TESTS_INTERLEAVE_LIMITS_H
#define PB_TESTS_INTERLEAVE_LIMITS_H

#define PB_LIMIT_NODES           2u
#define PB_LIMIT_CLIENTS         3u
#define PB_LIMIT_QUEUES          8u
#define PB_LIMIT_CONTEXTS        16u
#define PB_LIMIT_SEGMENTS        8u
#define PB_LIMIT_SEGMENTS_TOTAL  32u
#define PB_LIMIT_HOST_GRANTS     10u
#define PB_LIMIT_APERTURE_PAGES  16u
#define PB_LIMIT_FORMATS_OWN     1u
#define PB_LIMIT_FORMATS_TOTAL   1u
#define PB_LIMIT_ALLOCATIONS     16u
#define PB_LIMIT_PATCHES         16u
#define PB_LIMIT_RING_MIN        2u
#define PB_LIMIT_RING_MAX        4u
#define PB_LIMIT_JOBS            1u
#define PB_LIMIT_STOPS           4u
#define PB_LIMIT_IN_FLIGHT       3u
#define PB_LIMIT_CONTROL_ENTRIES 4u
#define PB_LIMIT_KICK_ENTRIES    2u
#define PB_LIMIT_EVENT_ENTRIES   1u
#define PB_LIMIT_PATCHED         2u

#endif
