/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Eight channels of different weights that keep one node busy, the last of
 * which may be hostile, and how much engine time each of the others had.
 */
#ifndef PB_TESTS_UNIT_SHARES_BENCH_H
#define PB_TESTS_UNIT_SHARES_BENCH_H

#include "tests/unit/card_queues.h"

#define SHARES_CLIENTS 8u
/** The hostile one; without one it works like the others. */
#define SHARES_HOSTILE (SHARES_CLIENTS - 1u)
/** Queues of each of the others. */
#define SHARES_QUEUES 3u
/** Most queues of the hostile one. */
#define SHARES_HOSTILE_QUEUES 400u
/** Where its segment has room for patch lists, and how many entries. */
#define SHARES_LIST         0x80000u
#define SHARES_LIST_ENTRIES 20000u

struct shares_client {
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_segment addresses; /**< segment 1, without backing */
	uint32_t context;
	struct pb_queue queues[SHARES_QUEUES];
	struct pb_descriptor work[SHARES_QUEUES];
	uint32_t microseconds[SHARES_QUEUES]; /**< that a submission of the queue takes */
	uint32_t before[SHARES_QUEUES];       /**< completed when the measurement began */
};

struct shares {
	struct card card; /**< its simulation only */
	struct pb_channel admin;
	struct shares_client clients[SHARES_CLIENTS];
	struct pb_queue hostile[SHARES_HOSTILE_QUEUES];
	uint32_t hostile_queues;
	uint32_t pending[PB_COMMANDS_PENDING]; /**< tags of commands that the hostile one does not wait for */
	uint32_t pending_count;
	uint32_t answered; /**< of its commands, with PB_ERROR_OK */
	uint32_t steps;    /**< of the simulation */
};

void shares_start(struct shares *shares);
void shares_stop(struct shares *shares);
/** Weight of a channel, and that of all together. */
uint32_t shares_weight(uint32_t client);
uint32_t shares_weights(void);

/** What the hostile one does before each step of the card; NULL: it works like the others. */
typedef void (*shares_act)(struct shares *shares);
/** Lets all of them work so long, and forgets what was before. */
void shares_run(struct shares *shares, shares_act act, uint64_t microseconds);
/** Engine time of a client's completed work since shares_run began. */
uint64_t shares_time(struct shares *shares, uint32_t client);

/** Makes queues of the hostile one, on node 0 or in turn on all of them. */
void shares_hostile_queues(struct shares *shares, uint32_t count, uint32_t level, bool all_nodes);
/** A submission of words that it writes at a place of its buffer, 64 bytes each. */
struct pb_descriptor shares_hostile_work(struct shares *shares, uint32_t place, const uint32_t *words,
					 uint32_t count);
/** Submits to all its queues until their rings are full. */
void shares_hostile_flood(struct shares *shares, const struct pb_descriptor *descriptor);
/** Begins a command of it, if one more may be under way, and takes replies that are there. */
void shares_hostile_ask(struct shares *shares, uint32_t code, uint32_t a, uint32_t b, uint32_t c, uint32_t d);

#endif
