/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Tables as small as a board may have them, or nearly: the tests of the core
 * run with these, too.
 */
#ifndef PB_TESTS_UNIT_SMALL_LIMITS_H
#define PB_TESTS_UNIT_SMALL_LIMITS_H

#define PB_LIMIT_NODES           4u
#define PB_LIMIT_CLIENTS         2u
#define PB_LIMIT_QUEUES          16u
#define PB_LIMIT_CONTEXTS        16u
#define PB_LIMIT_SEGMENTS        32u
#define PB_LIMIT_SEGMENTS_TOTAL  32u
#define PB_LIMIT_HOST_GRANTS     10u
#define PB_LIMIT_APERTURE_PAGES  1024u
#define PB_LIMIT_FORMATS_OWN     8u
#define PB_LIMIT_FORMATS_TOTAL   10u
#define PB_LIMIT_ALLOCATIONS     256u
#define PB_LIMIT_PATCHES         8192u
#define PB_LIMIT_RING_MIN        4u
#define PB_LIMIT_RING_MAX        64u
#define PB_LIMIT_JOBS            1u
#define PB_LIMIT_STOPS           4u
#define PB_LIMIT_IN_FLIGHT       3u
#define PB_LIMIT_CONTROL_ENTRIES 8u
#define PB_LIMIT_KICK_ENTRIES    32u
#define PB_LIMIT_EVENT_ENTRIES   16u
#define PB_LIMIT_PATCHED         4u

#endif
