/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Takes all queues, contexts and segments that the card has, and checks what the card reports of other
 * channels. An assertion fails on a difference, unless a function returns an error.
 */
#ifndef PB_TESTS_E2E_E2E_QUEUES_H
#define PB_TESTS_E2E_E2E_QUEUES_H

#include "patchbay/patchbay.h"

/** Descriptors in the ring of each queue made here. */
#define E2E_SMALL_RING 4u
/** Memory of one such queue, in bytes. */
#define E2E_SMALL_QUEUE_BYTES                                                                                \
	((uint32_t)(sizeof(struct pb_queue_page) + E2E_SMALL_RING * sizeof(struct pb_descriptor)))

/**
 * Creates queues side by side in one piece of memory, over all nodes and priorities in rotation, with many
 * commands in flight. Closing the channel ends them.
 */
void e2e_queues_create(struct pb_queue *queues, uint32_t count, struct pb_channel *channel,
		       const struct pb_memory *memory);
/** Fails unless a channel owns nothing. */
void e2e_channel_is_empty(struct pb_channel *asker, uint32_t number);

/**
 * Attaches, takes all that the card has but for what one other host of tests/e2e/e2e_host.h holds, checks
 * that no more is granted, and detaches.
 */
void e2e_all_is_free(struct pb_link *link);

#endif
