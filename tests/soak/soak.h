/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The soak: clients that submit work and verify it, and the book in which each
 * writes down, in memory that outlives it, what became of every submission.
 */
#ifndef PB_TESTS_SOAK_SOAK_H
#define PB_TESTS_SOAK_SOAK_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/e2e/e2e_host.h"

/** Submissions that a client has under way at once, at most. */
#define PB_SOAK_SLOTS 12u

/**
 * One client's account of its submissions, in memory that it shares with its
 * parent. Each is counted in `submitted` before it is made, and in one of the
 * others once the client knows what became of it.
 */
struct pb_soak_book {
	uint32_t submitted;
	uint32_t completed; /**< with all marks right */
	uint32_t failed; /**< on purpose, with the documented error and nothing done that must not be done */
	uint32_t returned; /**< by a preemption; submitting it again counts anew */
	uint32_t
		unseen; /**< completed when the MCU died, or going to be, before the client had looked at the marks */
	uint32_t lost;        /**< with the MCU: the library handed it back */
	uint32_t rounds;      /**< of work in which nothing was wrong */
	uint32_t doubts;      /**< times that it took living firmware for dead */
	uint32_t incarnation; /**< of the firmware that the last round ran on; 0: none since it attached */
	uint32_t stop;        /**< written by the parent: end when the round is over */
	uint32_t anew; /**< written by the parent: detach and attach again; cleared when that is done */
};

/** What a client is told by its parent. */
struct pb_soak_client {
	const char *socket;
	uint32_t seed;
	struct pb_soak_book *book;
};

/** Adds to a count of a book. */
void pb_soak_count(uint32_t *count, uint32_t more);
/** How many submissions a book says have ended, one way or another. */
uint32_t pb_soak_ended(const struct pb_soak_book *book);

/**
 * A client's life: attaches, works, and starts anew whenever the MCU was
 * restarted, until it is told to stop. @return exit code: 1 if anything was not as documented
 */
int pb_soak_client_live(const struct pb_soak_client *client);

/* ---- work.c: submissions whose result shows whether they were done right ---- */

/** What can come of a round of work. */
enum pb_soak_end {
	PB_SOAK_GOOD, /**< every submission ended as it should */
	PB_SOAK_GONE, /**< the firmware has died, and all that was under way is accounted for */
	PB_SOAK_BAD,  /**< something is wrong; standard error says what */
};

/** One submission under way. */
struct pb_soak_slot {
	struct pb_dma dma;
	struct pb_memory target;
	struct pb_memory wait;
	uint32_t value; /**< what its target must hold when it is done */
	uint32_t fence_id;
	uint32_t node;
};

/** A client's work. */
struct pb_soak_work {
	struct e2e_host host;
	struct pb_soak_book *book;
	uint32_t random;
	uint32_t fence_id; /**< of the last submission */
	struct pb_soak_slot slots[PB_SOAK_SLOTS];
	struct pb_descriptor history[E2E_NODES][E2E_RING_ENTRIES];
	uint32_t under_way[E2E_NODES][PB_SOAK_SLOTS]; /**< slots of each queue, oldest first */
	uint32_t errors[E2E_NODES];                   /**< of each queue so far, all on purpose */
	uint32_t first[E2E_NODES];                    /**< the oldest that has not ended */
	uint32_t last[E2E_NODES];                     /**< behind the newest */
};

/** A number below a bound. */
uint32_t pb_soak_draw(struct pb_soak_work *work, uint32_t below);
/** Makes what work needs on a channel that is attached. @return false: something failed; the firmware may have died */
bool pb_soak_furnish(struct pb_soak_work *work);
/** Submits a few, takes some back perhaps, waits for all, and verifies each. */
enum pb_soak_end pb_soak_round(struct pb_soak_work *work);
/** Writes into the book what was lost with the firmware. @return false: it does not add up */
bool pb_soak_mourn(struct pb_soak_work *work);

#endif
