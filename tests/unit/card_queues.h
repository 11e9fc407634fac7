/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Many queues for the tests of scheduling: rings of four, with a level and a
 * quantum, at fixed places of segment 0, as many as the card holds.
 */
#ifndef PB_TESTS_UNIT_CARD_QUEUES_H
#define PB_TESTS_UNIT_CARD_QUEUES_H

#include "tests/unit/card_fixture.h"

/** Places for queue pages: beside the fixture's queues, lists, and its first sixteen DMA buffers. */
#define CARD_QUEUE_PLACES  5000u
#define CARD_QUEUE_BUFFERS 16u
#define CARD_QUEUE_ENTRIES 4u

struct card_queue_request {
	uint32_t place; /**< below CARD_QUEUE_PLACES */
	uint32_t node;
	uint32_t level;   /**< enum pb_priority */
	uint32_t quantum; /**< microseconds; 0: the default */
};

/** Makes a queue. End it with card_queue_close, not with pb_queue_destroy: its memory is not the allocator's. */
enum pb_error card_queue_open(struct pb_queue *queue, struct pb_channel *channel, struct pb_segment *system,
			      const struct card_queue_request *request);
/** The same, and it is to succeed. */
void card_queue_make(struct pb_queue *queue, struct card *card, const struct card_queue_request *request);
enum pb_error card_queue_close(const struct pb_queue *queue);
void card_queue_submit(struct pb_queue *queue, const struct pb_descriptor *descriptor);
/** Submissions of it that came to their end. */
uint32_t card_queue_completed(struct pb_queue *queue);
/** A submission that runs nothing. */
struct pb_descriptor card_nothing(const struct card *card, uint32_t fence_id);
/** A submission of a DMA buffer that holds one BUSY packet. */
struct pb_descriptor card_busy(const struct card *card, uint32_t slot, uint32_t microseconds);

/** Places for wait lists, PB_WAITS_MAX each. */
#define CARD_WAIT_LISTS 2048u
/** A submission that runs nothing once the waits let it, whose list is at the place given. */
struct pb_descriptor card_waiting(const struct card *card, uint32_t list, const struct pb_wait *waits,
				  uint32_t count);
/** The same with one wait. */
struct pb_descriptor card_waiting_for(const struct card *card, uint32_t list, const struct pb_queue *queue,
				      uint64_t value);
/** A wait, for card_waiting. */
struct pb_wait card_wait_on(const struct pb_queue *queue, uint64_t value);
/** Expects so many completions, after a while in which more could have come, and the status of the last. */
void card_expect_completed(const struct card *card, const char *row, struct pb_queue *queue,
			   uint32_t completed, enum pb_error status);

/** A command with up to five arguments. */
enum pb_error card_command(struct pb_channel *channel, uint32_t code, uint32_t a, uint32_t b, uint32_t c,
			   uint32_t d, uint32_t e);
/** QUERY of an object that is there. */
void card_query(struct pb_channel *channel, uint32_t what, uint32_t object,
		uint32_t results[PB_REPLY_RESULTS]);
/** enum pb_why of a queue. */
uint32_t card_why(const struct pb_queue *queue);

#endif
