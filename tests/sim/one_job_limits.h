/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Tables of a small board for schedules and contests: one job, few wakes and stop requests, and as many clients as
 * these need.
 */
#ifndef PB_TESTS_SIM_ONE_JOB_LIMITS_H
#define PB_TESTS_SIM_ONE_JOB_LIMITS_H

#define PB_LIMIT_NODES           4u
#define PB_LIMIT_CLIENTS         6u
#define PB_LIMIT_QUEUES          2048u
#define PB_LIMIT_CONTEXTS        64u
#define PB_LIMIT_SEGMENTS        32u
#define PB_LIMIT_SEGMENTS_TOTAL  32u
#define PB_LIMIT_HOST_GRANTS     10u
#define PB_LIMIT_APERTURE_PAGES  1024u
#define PB_LIMIT_FORMATS_OWN     8u
#define PB_LIMIT_FORMATS_TOTAL   8u
#define PB_LIMIT_ALLOCATIONS     256u
#define PB_LIMIT_PATCHES         8192u
#define PB_LIMIT_RING_MIN        4u
#define PB_LIMIT_RING_MAX        64u
#define PB_LIMIT_JOBS            1u
#define PB_LIMIT_WAKES           8u
#define PB_LIMIT_STOPS           8u
#define PB_LIMIT_IN_FLIGHT       3u
#define PB_LIMIT_CONTROL_ENTRIES 16u
#define PB_LIMIT_KICK_ENTRIES    256u
#define PB_LIMIT_EVENT_ENTRIES   64u
#define PB_LIMIT_PATCHED         4u

#endif
