/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Agents that share card memory, one access at a time.
 *
 * The firmware, each engine, the card's supervisor and each host are agents:
 * coroutines in one process, on virtual time. Each access that one of them makes
 * to card memory is a point at which the seed may let another one run, so that
 * every order of accesses can come about.
 *
 * The memory model. It is the weakest that hal/shared.h allows:
 *
 *   stores   go into a buffer of the agent that made them. They leave it in any
 *            order, at any time, but that two to the same word keep their order,
 *            and none passes a release or full barrier. The agent itself reads what
 *            it has stored. Ringing a line is such a store: it passes stores that no
 *            barrier stands behind.
 *   reads    may return what a word held some time ago, but nothing older than at
 *            the agent's last acquire or full barrier, and nothing older than what it
 *            has read or written of that word since. Who takes a line sees all that
 *            had left the buffers when it was raised.
 *   release  reads and stores before it come before stores after it.
 *   acquire  reads before it come before reads and stores after it.
 *   barrier  all before it comes before all after it: it empties the buffer.
 *   early    a store that no barrier keeps from that may come before a read that the
 *            program makes before it. This takes two runs of a seed: the first says
 *            what will be stored, the second stores it early, and counts only if the
 *            program then stores just that.
 *
 * All agents see the stores that have left a buffer in one order (they are in
 * the card's memory). Addresses and conditions that depend on a read do not order
 * what comes behind them, although most processors do: what holds here holds there.
 *
 * One seed is one schedule. There is one set of agents in a process.
 */
#ifndef PB_TESTS_INTERLEAVE_WEAVE_H
#define PB_TESTS_INTERLEAVE_WEAVE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/random.h"

#define PB_WEAVE_AGENTS 8u
#define PB_WEAVE_WORDS  0x10000u
/** Moments of virtual time in a microsecond: each access takes one. */
#define PB_WEAVE_MOMENTS 32u
#define PB_WEAVE_NEVER   UINT64_MAX

/** How the seed treats agents and memory. */
struct pb_weave_rates {
	uint32_t run;   /**< accesses that an agent makes in a row, in the mean */
	uint32_t drain; /**< accesses from one store that leaves a buffer to the next, in the mean */
	uint32_t stale; /**< one read in so many returns an old value, if there is one; 0: none */
};

/** What a second run of a seed does at a point that the first has found: a store before its time, or a pause. */
struct pb_weave_plan {
	bool made;
	bool pauses; /**< it is a pause: of `agent`, before its access `read` */
	uint32_t agent;
	uint32_t read;  /**< of the agent's accesses, the one that it comes before */
	uint32_t store; /**< the one that it is */
	uint32_t word;
	uint32_t value;
	uint32_t mask;
	uint32_t gaps;      /**< how often it has come by a barrier that is left out */
	uint32_t gap_agent; /**< at one of these times: who, and its next access */
	uint32_t gap;
};

/** What is around the agents. */
struct pb_weave_ground {
	uint32_t *memory; /**< PB_WEAVE_WORDS of card memory */
	/** A line that was rung has left the buffer. */
	void (*rung)(uint32_t line);
	/** Time has gone by. */
	void (*clock)(uint64_t microseconds);
	/** No agent can run: only the clock can change that. */
	void (*quiet)(void);
	uint64_t limit;      /**< accesses of a schedule, at most */
	const char *without; /**< file of a barrier that is left out, or NULL */
	uint32_t without_line;
	bool verbose; /**< print each access */
};

/* ---- agents.c ---- */

/** Starts anew: no agents, empty buffers, time 0. */
void pb_weave_reset(const struct pb_weave_ground *ground, uint64_t seed);
void pb_weave_set_rates(const struct pb_weave_rates *rates);
/** Makes an agent that begins to run, or begins anew: what it had buffered leaves in part, in order. */
void pb_weave_start(uint32_t agent, void (*run)(void));
/** It runs no more. */
void pb_weave_kill(uint32_t agent);
/** Runs agents until one calls pb_weave_end or pb_weave_fail. */
void pb_weave_run(void);
_Noreturn void pb_weave_end(void);
/** The schedule has broken a rule: keeps the first text, and ends it. */
_Noreturn void pb_weave_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** What broke, or NULL. */
const char *pb_weave_failure(void);
/** Prints what the running agent does, if asked to. */
void pb_weave_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** A point at which others may run. */
void pb_weave_point(void);
/** The running agent waits until it is woken or until a moment. @return false: it was not woken */
bool pb_weave_wait(uint64_t until);
void pb_weave_wake(uint32_t agent);
/** Whether it waits for something other than a moment. */
bool pb_weave_rests(uint32_t agent);
/** The agent that runs. */
uint32_t pb_weave_self(void);
/** Virtual time, in moments. */
uint64_t pb_weave_now(void);
/** The seed's next choice. */
struct pb_random *pb_weave_random(void);
/** Lets others run for some time, if any can. */
void pb_weave_stand_back(uint32_t accesses);

/* ---- memory.c ---- */

void pb_weave_memory_reset(const struct pb_weave_ground *ground);
void pb_weave_memory_rates(const struct pb_weave_rates *rates);
/** Rings a line, behind what the last barrier keeps before it. */
void pb_weave_ring(uint32_t line);
/** A barrier of the hardware's own: not one of the source. */
void pb_weave_order(void);
/** The running agent sees all that had left the buffers at this point. */
void pb_weave_see(uint32_t point);
/** Such a point: now. */
uint32_t pb_weave_seen(void);
/** Lets one store leave a buffer. @param held also one that is held back @return false: with `held`: all are empty */
bool pb_weave_drain(bool held);
/** What an agent has buffered leaves in order, up to a point that the seed chooses; the rest is lost. */
void pb_weave_break_off(uint32_t agent);
/** Stores what hardware stores: at once. */
void pb_weave_poke(uint32_t *address, uint32_t value);
/** What memory holds. */
uint32_t pb_weave_peek(const uint32_t *address);

/* ---- plan.c ---- */

/** Begins a run: with a plan that was made, or to make one. */
void pb_weave_plan_reset(struct pb_weave_plan *plan, const struct pb_weave_ground *ground, uint64_t seed);
/** An access of the running agent is about to be made. */
void pb_weave_plan_read(uint32_t word);
/** @return true: it has been stored early */
bool pb_weave_plan_store(uint32_t word, uint32_t value, uint32_t mask);
void pb_weave_plan_barrier(void);
/** A barrier that is left out stood here. */
void pb_weave_plan_gap(void);
/** After the first run: makes the plan for a second one. @return false: there is none to make */
bool pb_weave_plan_make(struct pb_weave_plan *plan);
/** Whether the early store turned out not to be what the program stores: the run says nothing. */
bool pb_weave_plan_void(void);
/** In memory.c: stores early. @return false: that cannot be */
bool pb_weave_store_early(uint32_t word, uint32_t value, uint32_t mask);

#endif
