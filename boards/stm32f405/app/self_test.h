/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The self-test of a card that is an MCU, at boot: as the card's administrator
 * it grants clients their privileges, and as a client it has buffers patched,
 * executed and fenced, and compares the memory that the engines have written.
 * It runs in steps between the passes of the firmware and never waits.
 */
#ifndef PB_BOARDS_STM32F405_APP_SELF_TEST_H
#define PB_BOARDS_STM32F405_APP_SELF_TEST_H

#include "boards/stm32f405/app/local_host.h"

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
	bool begun; /**< the step has begun, and waits for the firmware */
	uint32_t context;
	uint32_t system;    /**< offset of the backing of segment 0 in card memory */
	uint32_t video;     /**< of the segment that the submissions use */
	uint32_t submitted; /**< submissions, of both queues */
	uint32_t crc;       /**< of the memory that the engines have written */
	uint32_t got;       /**< after a failure: a word of memory, a state or an error */
	uint32_t wanted;
};

/** Runs one step. Pre: there is no verdict yet. */
void pb_self_test_step(struct pb_self_test *test);

#define PB_SELF_TEST_TEXT_BYTES 128u
/** Formats the verdict as one line of text, with its line end. @param board name of the board */
void pb_self_test_format(const struct pb_self_test *test, const char *board,
			 char text[PB_SELF_TEST_TEXT_BYTES]);

#endif
