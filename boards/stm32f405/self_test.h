/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The board tests itself at boot: as the card's admin it gives clients their
 * privileges, and as a client it has buffers patched, executed and fenced, and
 * compares what the engines have made of memory. It takes turns with the
 * firmware and never waits.
 */
#ifndef PB_BOARDS_STM32F405_SELF_TEST_H
#define PB_BOARDS_STM32F405_SELF_TEST_H

#include "boards/stm32f405/local_host.h"

enum pb_self_test_verdict {
	PB_SELF_TEST_RUNS = 0,
	PB_SELF_TEST_PASSED = 1,
	PB_SELF_TEST_FAILED = 2,
};

/** Queues of the test, by node. */
enum pb_self_test_queue { PB_SELF_TEST_3D = 0, PB_SELF_TEST_COPY = 1, PB_SELF_TEST_QUEUES };

/** The board fills in the first two; the rest is 0 at first. */
struct pb_self_test {
	uint8_t *memory; /**< card memory */
	uint32_t memory_bytes;
	enum pb_self_test_verdict verdict;
	struct pb_local_admin admin; /**< private, as are the others */
	struct pb_local_host host;
	struct pb_local_queue queues[PB_SELF_TEST_QUEUES];
	struct pb_reply reply; /**< to the last command */
	uint32_t step;
	bool begun; /**< the step has been, and waits for the firmware */
	uint32_t context;
	uint32_t system;    /**< offset of the backing of segment 0 in card memory */
	uint32_t video;     /**< of the segment that the work is about */
	uint32_t submitted; /**< submissions, of both queues */
	uint32_t crc;       /**< of what the engines have made */
	uint32_t got;       /**< after a failure: a word of memory, a state or an error */
	uint32_t wanted;
};

/** One turn. Not after the verdict. */
void pb_self_test_turn(struct pb_self_test *test);

#define PB_SELF_TEST_TEXT_BYTES 128u
/** The verdict as one line of text, its end included. @param board its name */
void pb_self_test_say(const struct pb_self_test *test, const char *board, char text[PB_SELF_TEST_TEXT_BYTES]);

#endif
