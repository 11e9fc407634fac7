/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The soak: clients that submit and verify submissions, and the book in which each client counts, in memory
 * that outlives the client, how every submission ended.
 */
#ifndef PB_TESTS_SOAK_SOAK_H
#define PB_TESTS_SOAK_SOAK_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/e2e/e2e_host.h"

/** Submissions that a client has in flight, at most. */
#define PB_SOAK_SLOTS 12u

/**
 * One client's count of its submissions, in memory shared with its parent. Each is counted in `submitted`
 * before the call, and in one of the others once the client knows how it ended.
 */
struct pb_soak_book {
	uint32_t submitted;
	uint32_t completed; /**< with all marks right */
	uint32_t
		failed; /**< on purpose, with the documented error and without an effect that must not happen */
	uint32_t returned; /**< by a preemption; a second submission counts again */
	uint32_t
		unseen; /**< completed at or after the death of the MCU, before the client had checked the marks */
	uint32_t lost;        /**< with the MCU: the library returned it */
	uint32_t rounds;      /**< rounds without an error */
	uint32_t doubts;      /**< times that the client took living firmware for dead */
	uint32_t incarnation; /**< of the firmware that the last round ran on; 0: none since it attached */
	uint32_t stop;        /**< written by the parent: end after this round */
	uint32_t points;      /**< written by the parent: where it dies (e2e_victim_dies_at()) */
	uint32_t reattach; /**< written by the parent: detach and attach again; cleared when that is done */
};

/** Arguments of a client from its parent. */
struct pb_soak_client {
	const char *socket;
	uint32_t seed;
	struct pb_soak_book *book;
};

/** Adds to a count of a book. */
void pb_soak_count(uint32_t *count, uint32_t more);
/** The number of submissions that a book counts as ended. */
uint32_t pb_soak_ended(const struct pb_soak_book *book);

/**
 * A client's life: attaches, runs rounds, and attaches again whenever the MCU was restarted, until its parent
 * stops it. @return exit code: 1 if anything was not as documented
 */
int pb_soak_client_live(const struct pb_soak_client *client);

/* ---- rounds.c: submissions whose result shows whether they ran correctly ---- */

/** The end of a round. */
enum pb_soak_end {
	PB_SOAK_GOOD, /**< every submission ended as it should */
	PB_SOAK_GONE, /**< the firmware has died, and all submissions in flight are accounted for */
	PB_SOAK_BAD,  /**< an error; standard error names it */
};

/** One submission in flight. */
struct pb_soak_slot {
	struct pb_dma dma;
	struct pb_memory target;
	struct pb_memory wait;
	uint32_t value; /**< value that its target must hold at the end */
	uint32_t fence_id;
	uint32_t node;
};

/** A client's state. */
struct pb_soak_state {
	struct e2e_host host;
	struct pb_soak_book *book;
	uint32_t random;
	uint32_t fence_id; /**< of the last submission */
	struct pb_soak_slot slots[PB_SOAK_SLOTS];
	struct pb_descriptor history[E2E_NODES][E2E_RING_ENTRIES];
	uint32_t in_flight[E2E_NODES][PB_SOAK_SLOTS]; /**< slots of each queue, oldest first */
	uint32_t errors[E2E_NODES];                   /**< of each queue so far, all on purpose */
	uint32_t first[E2E_NODES];                    /**< the oldest that has not ended */
	uint32_t last[E2E_NODES];                     /**< behind the newest */
};

/** A random number below a bound. */
uint32_t pb_soak_draw(struct pb_soak_state *state, uint32_t below);
/** Creates what rounds need. Pre: the channel is attached. @return false: an error; the firmware may have died */
bool pb_soak_furnish(struct pb_soak_state *state);
/** Submits a few, preempts some at times, waits for all, and verifies each. */
enum pb_soak_end pb_soak_round(struct pb_soak_state *state);
/** Counts in the book what was lost with the firmware. @return false: the book does not balance */
bool pb_soak_count_lost(struct pb_soak_state *state);

#endif
