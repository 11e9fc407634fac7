/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The participants of a soak: one client that lives throughout, workers that are killed and replaced, wild
 * ones (tests/e2e/e2e_victim.h) that do anything at all, a card, and the MCU that the card restarts. A
 * function that finds an error fails the test.
 */
#ifndef PB_TESTS_SOAK_CAST_H
#define PB_TESTS_SOAK_CAST_H

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_victim.h"
#include "tests/soak/soak.h"

/** Client 0 is never killed. The wild ones come last. */
#define PB_SOAK_WITNESS 0u
#define PB_SOAK_WORKERS 3u
#define PB_SOAK_WILD    2u
#define PB_SOAK_CLIENTS (1u + PB_SOAK_WORKERS + PB_SOAK_WILD)

/** The sum of all books. */
struct pb_soak_totals {
	uint64_t submitted, completed, failed, returned, unseen, lost;
	uint64_t died; /**< in flight when their client was killed */
	uint32_t rounds;
	uint32_t doubts;
	uint32_t client_kills;
	uint32_t mcu_kills;
};

struct pb_soak_cast {
	struct e2e_card card;
	struct pb_link *link; /**< the parent's own, which only reads between checkpoints */
	uint32_t witness;     /**< the channel of client 0 */
	uint32_t incarnation; /**< of the firmware that all clients have run on last */
	uint32_t random;
	struct pb_soak_book *books; /**< shared with the clients */
	uint32_t *steps;            /**< of the wild ones */
	struct {
		struct e2e_process process;
		uint32_t mcu_kills; /**< number of kills when it started */
	} clients[PB_SOAK_CLIENTS];
	struct pb_soak_totals totals;
};

/** A random number below a bound. */
uint32_t pb_soak_choose(struct pb_soak_cast *cast, uint32_t below);
/** Starts the card and all clients, and waits until all of them run. */
void pb_soak_open(struct pb_soak_cast *cast, uint32_t seed);
/** Ends all clients. Every book must balance. */
void pb_soak_close(struct pb_soak_cast *cast);
/** Starts the workers and the wild ones. */
void pb_soak_enter(struct pb_soak_cast *cast);
/** Ends the workers and the wild ones, some by a kill. */
void pb_soak_leave(struct pb_soak_cast *cast);
/** Lets a worker or a wild one die at a doorbell that the seed chooses, and starts a new one. */
void pb_soak_kill_client(struct pb_soak_cast *cast, uint32_t client);
/** Rounds of all clients so far, the clock of a soak. */
uint32_t pb_soak_rounds(const struct pb_soak_cast *cast);
/** Waits for so many more rounds. */
void pb_soak_await_rounds(struct pb_soak_cast *cast, uint32_t rounds);
/** Kills the MCU, now and then twice. Returns when all clients but the wild ones run again. */
void pb_soak_kill_mcu(struct pb_soak_cast *cast);
/** Fails if a client has ended that was not killed. */
void pb_soak_check_alive(struct pb_soak_cast *cast);
/**
 * The card holds nothing of the other clients, and has died as often as it was killed. Pre: only the witness
 * runs. @param build of the firmware
 */
void pb_soak_audit(struct pb_soak_cast *cast, char build[33]);

#endif
