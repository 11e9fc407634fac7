/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Who takes part in a soak: one client that lives throughout, workers that are
 * killed and come back, wild ones (tests/e2e/e2e_victim.h) that do anything at
 * all, a card, and the MCU that it starts anew. A function that finds anything
 * wrong fails the test.
 */
#ifndef PB_TESTS_SOAK_CAST_H
#define PB_TESTS_SOAK_CAST_H

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_victim.h"
#include "tests/soak/soak.h"

/** Client 0 is the one that is never killed; the wild ones come last. */
#define PB_SOAK_WITNESS 0u
#define PB_SOAK_WORKERS 3u
#define PB_SOAK_WILD    2u
#define PB_SOAK_CLIENTS (1u + PB_SOAK_WORKERS + PB_SOAK_WILD)

/** What all books came to. */
struct pb_soak_totals {
	uint64_t submitted, completed, failed, returned, unseen, lost;
	uint64_t died; /**< under way when their client was killed */
	uint32_t rounds;
	uint32_t doubts;
	uint32_t client_kills;
	uint32_t mcu_kills;
};

struct pb_soak_cast {
	struct e2e_card card;
	struct pb_link *link; /**< the parent's own, which is only looked through between checkpoints */
	uint32_t witness;     /**< the channel of client 0 */
	uint32_t incarnation; /**< of the firmware that all clients have worked on last */
	uint32_t random;
	struct pb_soak_book *books; /**< shared with the clients */
	uint32_t *steps;            /**< of the wild ones */
	struct {
		struct e2e_process process;
		uint32_t mcu_kills; /**< so many had been when it started */
	} clients[PB_SOAK_CLIENTS];
	struct pb_soak_totals totals;
};

/** A number below a bound. */
uint32_t pb_soak_choose(struct pb_soak_cast *cast, uint32_t below);
/** Starts the card and everybody, and waits until everybody works. */
void pb_soak_open(struct pb_soak_cast *cast, uint32_t seed);
/** Ends everybody; every account must be even. */
void pb_soak_close(struct pb_soak_cast *cast);
/** Starts the workers and the wild ones. */
void pb_soak_enter(struct pb_soak_cast *cast);
/** Ends the workers and the wild ones, some by a kill. */
void pb_soak_leave(struct pb_soak_cast *cast);
/** Kills a worker or a wild one, and starts its successor. */
void pb_soak_kill_client(struct pb_soak_cast *cast, uint32_t client);
/** Kills the MCU, now and then its successor too; returns when all clients but the wild ones work again. */
void pb_soak_kill_mcu(struct pb_soak_cast *cast);
/** Nobody has ended that was not killed. */
void pb_soak_look(struct pb_soak_cast *cast);
/**
 * While only the witness is there: the card has nothing of all the others any
 * more, and died as often as it was killed. @param build of the firmware
 */
void pb_soak_audit(struct pb_soak_cast *cast, char build[33]);

#endif
