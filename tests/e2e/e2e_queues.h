/* SPDX-License-Identifier: MIT */
/**
 * @file
 * As many queues, contexts and segments as the card has, and what the card
 * says of other channels. An assertion fails if something is not as it should
 * be, unless a function returns an error.
 */
#ifndef PB_TESTS_E2E_E2E_QUEUES_H
#define PB_TESTS_E2E_E2E_QUEUES_H

#include "host/patchbay.h"

/** Descriptors in the ring of each queue made here. */
#define E2E_SMALL_RING 4u
/** Memory that such a queue takes. */
#define E2E_SMALL_QUEUE_BYTES                                                                                \
	((uint32_t)(sizeof(struct pb_queue_page) + E2E_SMALL_RING * sizeof(struct pb_descriptor)))

/**
 * Makes queues side by side in one piece of memory, on all nodes and levels in
 * turn, with many commands under way at once. End them by closing the channel.
 */
void e2e_queues_make(struct pb_queue *queues, uint32_t count, struct pb_channel *channel,
		     const struct pb_memory *memory);
/** Fails unless a channel has nothing at all. */
void e2e_channel_is_empty(struct pb_channel *asker, uint32_t number);

/**
 * Attaches, takes all that the card has but for what one other host of
 * tests/e2e/e2e_host.h holds, finds that there is no more of it, and detaches.
 */
void e2e_all_is_free(struct pb_link *link);

#endif
