/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Eight clients whose lines are pending again at each check, and the card they are on: for suites about what a pass of
 * the main loop does, and for whom. Work is measured in words of shared memory that are read. Links with the stepped
 * core, whose reads it counts.
 */
#ifndef PB_TEST_FIRMWARE_FLOOD_H
#define PB_TEST_FIRMWARE_FLOOD_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/unit/card_queues.h"

#define FLOOD_CLIENTS 8u
#define FLOOD_NODES   4u
/** Passes within which a channel is served, of eight and the admin's: two in each, but for a tick's and two that end early. */
#define FLOOD_CHANNEL_WAIT 8u
/** Passes within which a node has a slice: each of four in turn, in at least every fourth pass, and ticks. */
#define FLOOD_NODE_WAIT 20u
/** Passes within which the end of a stop, or of a wait, is reported: the command's, and turns of infrequent work. */
#define FLOOD_REPORT_WAIT 32u
/** Passes after which a suite gives up. */
#define FLOOD_PASSES 2000u

/** The state of the flood. */
struct flood {
	struct card card;                              /**< with the first client on its own channel */
	struct card_client others[FLOOD_CLIENTS - 1u]; /**< the other clients */
	uint32_t clients; /**< how many of them ring at each check; a suite may lower it */
	bool paused; /**< reads are not counted, and no line is raised: while a suite sets something up */
};
extern struct flood flood;

/** Starts the card and its clients, and the flood. */
void flood_start(void);
/** Ends it, the clients and the card. */
void flood_end(void);
/** A client's channel, from 0 on. */
struct pb_channel *flood_channel(uint32_t client);
/** One pass; asserts what it reads at most. @param from the first client that asks for everything @param all stops, too */
void flood_pass(uint32_t from, bool all);
/** Which clients had kicks or commands read since the last call. @param progress the suite's, 0 at first */
uint32_t flood_served(uint32_t progress[FLOOD_CLIENTS]);

#endif
