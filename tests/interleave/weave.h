/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Agents that share card memory, one access at a time.
 *
 * The firmware, each engine, the card's supervisor and each host are agents:
 * coroutines in one process, on virtual time. Each access that one of them makes
 * to card memory is a point at which the seed may let another agent run, so that
 * every order of accesses can occur.
 *
 * The memory model. It is the weakest that hal/shared.h allows:
 *
 *   stores   go into a buffer of the agent that made them. They leave it in any
 *            order, at any time, but that two to the same word keep their order,
 *            and none passes a release or full barrier. The agent itself reads what
 *            it has stored. Ringing an interrupt line is such a store: it passes stores that no
 *            barrier stands behind.
 *   reads    may return what a word held some time ago, but nothing older than at
 *            the agent's last acquire or full barrier, and nothing older than what the
 *            agent has read or written of that word since. An agent that receives an
 *            interrupt sees all that had left the buffers when it was raised.
 *   release  reads and stores before it come before stores after it.
 *   acquire  reads before it come before reads and stores after it.
 *   barrier  all before it comes before all after it: it empties the buffer.
 *   early    a store that no barrier keeps from that may come before a read that the
 *            program makes before it. This takes two runs of a seed: the first finds
 *            what will be stored, the second stores it early, and counts only if the
 *            program then makes that store.
 *
 * All agents see the stores that have left a buffer in one order, because they are in the card's memory.
 * Addresses and conditions that depend on a read do not order later accesses, although they do on most
 * processors. This makes the model weaker than real hardware.
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
	uint32_t run;   /**< mean number of accesses that an agent makes in a row */
	uint32_t drain; /**< mean number of accesses between two stores that leave a buffer */
	uint32_t stale; /**< one read in so many returns an old value, if there is one; 0: none */
};

/** What a second run of a seed does at a point found by the first: an early store, or a pause. */
struct pb_weave_plan {
	bool made;
	bool pauses; /**< a pause of `agent`, before its access `read` */
	uint32_t agent;
	uint32_t read;  /**< number of the agent's access that the store or pause precedes */
	uint32_t store; /**< number of the store */
	uint32_t word;
	uint32_t value;
	uint32_t mask;
	uint32_t gaps;      /**< times that a barrier that is left out was passed */
	uint32_t gap_agent; /**< one of them: the agent, and its next access */
	uint32_t gap;
};

/** What surrounds the agents. */
struct pb_weave_ground {
	uint32_t *memory; /**< PB_WEAVE_WORDS of card memory */
	/** Called when the ring of an interrupt line has left the buffer. */
	void (*rung)(uint32_t line);
	/** Called when time has advanced. */
	void (*clock)(uint64_t microseconds);
	/** Called when no agent can run and only the clock can change that. */
	void (*quiet)(void);
	uint64_t limit;      /**< accesses of a schedule, at most */
	const char *without; /**< file of a barrier that is left out, or NULL */
	uint32_t without_line;
	bool verbose; /**< print each access */
};

/* ---- agents.c ---- */

/** Resets: no agents, empty buffers, time 0. */
void pb_weave_reset(const struct pb_weave_ground *ground, uint64_t seed);
void pb_weave_set_rates(const struct pb_weave_rates *rates);
/** Starts or restarts an agent. Of its buffered stores some leave, in order. */
void pb_weave_start(uint32_t agent, void (*run)(void));
/** Stops an agent for good. */
void pb_weave_kill(uint32_t agent);
/** Runs agents until one of them calls pb_weave_end or pb_weave_fail. */
void pb_weave_run(void);
_Noreturn void pb_weave_end(void);
/** Ends the schedule: a rule is broken. Keeps the first message. */
_Noreturn void pb_weave_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** The message of the broken rule, or NULL. */
const char *pb_weave_failure(void);
/** Prints what the running agent does, if `verbose`. */
void pb_weave_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** A point at which other agents may run. */
void pb_weave_point(void);
/** Suspends the running agent until it is woken or the moment has come. @return false: it was not woken */
bool pb_weave_wait(uint64_t until);
void pb_weave_wake(uint32_t agent);
/** Whether an agent waits for something other than a moment. */
bool pb_weave_is_blocked(uint32_t agent);
/** The index of the running agent. */
uint32_t pb_weave_self(void);
/** Virtual time, in moments. */
uint64_t pb_weave_now(void);
/** The seed's next choice. */
struct pb_random *pb_weave_random(void);
/** Lets other agents run for some time, if any can. */
void pb_weave_yield(uint32_t accesses);

/* ---- memory.c ---- */

void pb_weave_memory_reset(const struct pb_weave_ground *ground);
void pb_weave_memory_rates(const struct pb_weave_rates *rates);
/** Rings an interrupt line, after the stores that the last barrier keeps before it. */
void pb_weave_ring(uint32_t line);
/** A barrier of the hardware itself, not one of the source. */
void pb_weave_order(void);
/** The running agent sees all stores that had left the buffers at this point. */
void pb_weave_see(uint32_t point);
/** The current point. */
uint32_t pb_weave_seen(void);
/**
 * Lets one store leave a buffer. @param held also one that is held back @return false: with `held`, all are
 * empty
 */
bool pb_weave_drain(bool held);
/** An agent's buffered stores leave in order, up to a point that the seed chooses. The rest is lost. */
void pb_weave_break_off(uint32_t agent);
/** Stores at once, as hardware does. */
void pb_weave_poke(uint32_t *address, uint32_t value);
/** Reads memory directly. */
uint32_t pb_weave_peek(const uint32_t *address);

/* ---- plan.c ---- */

/** Begins a run: carries out the plan that was made, or collects what a plan needs. */
void pb_weave_plan_reset(struct pb_weave_plan *plan, const struct pb_weave_ground *ground, uint64_t seed);
/** Called before each access of the running agent. */
void pb_weave_plan_read(uint32_t word);
/** @return true: the store was made early */
bool pb_weave_plan_store(uint32_t word, uint32_t value, uint32_t mask);
void pb_weave_plan_barrier(void);
/** Called where a barrier is left out. */
void pb_weave_plan_gap(void);
/** After the first run: makes the plan for the second. @return false: there is none */
bool pb_weave_plan_make(struct pb_weave_plan *plan);
/** Whether the program did not make the early store: the run has no result. */
bool pb_weave_plan_void(void);
/** Stores early (memory.c). @return false: not possible */
bool pb_weave_store_early(uint32_t word, uint32_t value, uint32_t mask);

#endif
