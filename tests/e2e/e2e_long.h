/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Work that lasts until its host lets it end, however fast the engine is: a
 * FILL of one word, a long time, the next word, and so on.
 */
#ifndef PB_TESTS_E2E_E2E_LONG_H
#define PB_TESTS_E2E_E2E_LONG_H

#include "tests/e2e/e2e_host.h"

/** Words that it fills, one after the other, from the start of the target. */
#define E2E_LONG_WORDS 16u

struct e2e_long {
	struct pb_dma dma;
	struct pb_memory delay; /**< what it runs between two words */
	const struct e2e_host *host;
	uint32_t target;
	uint32_t value; /**< of the first word; the next has one more */
};

/** Builds it for a queue. It fails the test if that does not work, as do the others here. */
void e2e_long_open(struct e2e_long *work, struct e2e_host *host, struct pb_queue *queue, uint32_t target,
		   uint32_t value);
/** Submits it. @param options PB_OPTION_* */
void e2e_long_submit(struct e2e_long *work, uint32_t fence_id, uint32_t options);
/** Waits until its first word is stored. */
void e2e_long_await_start(const struct e2e_long *work);
/** From now on it takes next to no time. */
void e2e_long_shorten(struct e2e_long *work);
/** How many words of it are stored, from the first on. */
uint32_t e2e_long_done(const struct e2e_long *work);
/** A word of its target. */
uint32_t *e2e_long_word(const struct e2e_long *work, uint32_t index);

#endif
