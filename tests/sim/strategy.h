/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a rival of a contest does beside its own submissions: only words that an ordinary host may write, chosen to cost
 * the others as much as possible.
 */
#ifndef PB_TESTS_SIM_STRATEGY_H
#define PB_TESTS_SIM_STRATEGY_H

#include "tests/sim/player.h"

/* X(NAME, "name", meaning) */
#define PB_STRATEGIES(X)                                                                                     \
	X(WORK, "work", "a full ring on every node")                                                         \
	X(LISTS, "lists", "the longest patch lists on every node")                                           \
	X(CHAIN, "chain", "queues that wait for one another in a long chain")                                \
	X(FLIPS, "flips", "a wait that begins and ends all the time")                                        \
	X(FANOUT, "fanout", "many queues that wait for a few, which are signalled at the same time")         \
	X(CHURN, "churn", "queues that are created, submit, and are destroyed at once")                      \
	X(REUSE, "reuse", "a waiting queue that is destroyed as it wakes, and its slot used at once")        \
	X(CYCLES, "cycles", "queues that wait for each other")                                               \
	X(KICKS, "kicks", "as many kicks and rescans as there is room for")                                  \
	X(STOPS, "stops", "preemptions, suspensions and resets of its own queues, busy or idle")             \
	X(IDLE, "idle", "preemptions of queues that have nothing")                                           \
	X(QUERIES, "queries", "as many queries as there is room for")                                        \
	X(HOARD, "hoard", "all queues and contexts that it can get")                                         \
	X(LONG, "long", "a full ring of the longest buffers on every node")                                  \
	X(TRAIN, "train", "three of the longest buffers on every node, as many as the firmware takes ahead") \
	X(SHIELD, "shield", "a preemption that lets the longest buffers end, all the time")                  \
	X(WRONG, "wrong", "a submission that must fail behind one of the longest buffers")                   \
	X(CREDIT, "credit", "queues that are served and wait again for a while, then the longest buffers")   \
	X(LOW, "low", "the longest buffers at every priority below the others")                              \
	X(HANGS, "hangs", "submissions that hang the engine")

enum pb_strategy_bit {
#define PB_STRATEGY_BIT(name, text, meaning) PB_STRATEGY_BIT_##name,
	PB_STRATEGIES(PB_STRATEGY_BIT)
#undef PB_STRATEGY_BIT
		PB_STRATEGY_COUNT
};

enum pb_strategy {
#define PB_STRATEGY_MASK(name, text, meaning) PB_STRATEGY_##name = 1 << PB_STRATEGY_BIT_##name,
	PB_STRATEGIES(PB_STRATEGY_MASK)
#undef PB_STRATEGY_MASK
};

/** Strategies with submissions that take far longer than a judged client's. */
#define PB_STRATEGIES_LONG                                                                                   \
	((uint32_t)PB_STRATEGY_LONG | (uint32_t)PB_STRATEGY_TRAIN | (uint32_t)PB_STRATEGY_SHIELD |           \
	 (uint32_t)PB_STRATEGY_WRONG | (uint32_t)PB_STRATEGY_CREDIT | (uint32_t)PB_STRATEGY_LOW)

/** A player that competes with those that are judged. */
struct pb_rival {
	struct pb_player player;
	uint32_t strategies; /**< PB_STRATEGY_* */
	uint32_t nodes;      /**< of the contest: 0 up to this */
	uint32_t priority;   /**< of its queues */
	uint32_t patches;    /**< entries of its long lists */
	uint32_t chain;      /**< queues of its chain */
	uint32_t linked;     /**< those of them that wait */
	uint32_t cycle;      /**< what its queues for CYCLES do next */
	uint32_t saved;      /**< times that it has acted for CREDIT */
	uint64_t awaited;    /**< timeline value that its queue for REUSE waits for */
};

/** Does some of what its strategies say. */
void pb_strategy_act(struct pb_rival *rival, struct pb_random *random);
/** Finds the bit of a name. @return false: no such name */
bool pb_strategy_find(const char *name, uint32_t *bit);
/** Writes the names of the strategies in the mask, commas between them. */
void pb_strategy_print(uint32_t strategies, char *text, size_t bytes);

#endif
