/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the self-test submits, and what must come of it.
 *
 *   0  copy  fills the target            24-byte list
 *   1  copy  fills the copy              compact list
 *   2  3D    draws the texture, mirrored, onto the target   waits for 1
 *   3  copy  copies 12 rows of the target to the copy       waits for 2
 *   4  copy  fills the copy, but names an allocation that there is not: must not be executed
 *   5  copy  copies a square of the target into the copy
 *   6  copy  a paging buffer: the texture's contents matter no more
 */
#ifndef PB_BOARDS_STM32F405_APP_SELF_TEST_WORK_H
#define PB_BOARDS_STM32F405_APP_SELF_TEST_WORK_H

#include "boards/stm32f405/app/self_test.h"

/** Segments of the test, in bytes. */
#define PB_SELF_TEST_SYSTEM_BYTES 0x2000u
#define PB_SELF_TEST_VIDEO_BYTES  0x1000u
/** The video segment's name. */
#define PB_SELF_TEST_VIDEO 1u
/** Where they are: for the host, and the second for the engines, too. All words of an address matter. */
#define PB_SELF_TEST_SYSTEM_ADDRESS   UINT64_C(0x0000000140000000)
#define PB_SELF_TEST_VIDEO_ADDRESS    UINT64_C(0x0000001230000000)
#define PB_SELF_TEST_VIDEO_AT_ENGINES UINT64_C(0x0000000456789000)

/** Queue pages and their rings, one behind the other at the start of segment 0. */
#define PB_SELF_TEST_RING_ENTRIES 4u
#define PB_SELF_TEST_QUEUE_BYTES                                                                             \
	((uint32_t)(sizeof(struct pb_queue_page) + PB_SELF_TEST_RING_ENTRIES * sizeof(struct pb_descriptor)))

/** Behind submission 3, 4, 5 and 6 the test waits for fences. Submissions before each wait. */
#define PB_SELF_TEST_FIRST_WAIT 4u
#define PB_SELF_TEST_BAD        4u
#define PB_SELF_TEST_COUNT      7u

/** Writes texture, vertices, allocation list and waits. The segments and queues are there. */
void pb_self_test_prepare(const struct pb_self_test *test);
/** Writes buffer and patch list of the next submission, and submits it. */
void pb_self_test_submit(struct pb_self_test *test);
/**
 * Works out the CRC of all that the engines have made.
 * @return false: a word is not as it must be: got and wanted
 */
bool pb_self_test_compare(struct pb_self_test *test);

#endif
