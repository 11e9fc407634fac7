/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A submission that runs until its host lets it end, however fast the engine is: a FILL of one word, a long
 * delay, the next word, and so on.
 */
#ifndef PB_TESTS_E2E_E2E_LONG_H
#define PB_TESTS_E2E_E2E_LONG_H

#include "tests/e2e/e2e_host.h"

/** Words that the submission fills in order, from the start of the target. */
#define E2E_LONG_WORDS 16u

struct e2e_long {
	struct pb_dma dma;
	struct pb_memory delay; /**< run between two words */
	const struct e2e_host *host;
	uint32_t target;
	uint32_t value; /**< of the first word; each next one is greater by one */
};

/** Builds the submission for a queue. Fails the test on an error, as do the functions below. */
void e2e_long_open(struct e2e_long *submission, struct e2e_host *host, struct pb_queue *queue,
		   uint32_t target, uint32_t value);
/** Submits it. @param options PB_OPTION_* */
void e2e_long_submit(struct e2e_long *submission, uint32_t fence_id, uint32_t options);
/** Waits until the first word is stored. */
void e2e_long_await_start(const struct e2e_long *submission);
/** Shortens the delay, so that the submission ends soon. */
void e2e_long_shorten(struct e2e_long *submission);
/** The number of words stored, counted from the first. */
uint32_t e2e_long_done(const struct e2e_long *submission);
/** A word of the submission's target. */
uint32_t *e2e_long_word(const struct e2e_long *submission, uint32_t index);

#endif
