/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a schedule may contain, by name, and what is left out to shorten it. Leaving something out does
 * not change the rest: each action has its own random numbers.
 */
#ifndef PB_TESTS_SIM_OPTIONS_H
#define PB_TESTS_SIM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Actions of a schedule, at most. */
#define PB_ACTIONS_MAX 216u

/* X(NAME, "name", meaning): what a schedule may contain. */
#define PB_RATES(X)                                                                                          \
	X(BAD, "bad", "bad submissions, and some that fault")                                                \
	X(HANG, "hang", "submissions that hang the engine")                                                  \
	X(WAITS, "waits", "submissions that wait for other queues")                                          \
	X(STOPS, "stops", "preempt, suspend, reset of queues")                                               \
	X(ROOMS, "rooms", "queues and channels that come and go")                                            \
	X(CARD, "card", "suspend of the card")                                                               \
	X(DEAF, "deaf", "engines that ignore commands at times")                                             \
	X(SLOW, "slow", "engines at a fraction of their speed")                                              \
	X(DEAD, "dead", "an engine that dies for good")                                                      \
	X(INTERRUPT_LOST, "interrupt-lost", "engine interrupts that get lost")                               \
	X(INTERRUPT_LATE, "interrupt-late", "engine interrupts that come late")                              \
	X(INTERRUPT_SPURIOUS, "interrupt-spurious", "engine interrupts for nothing")                         \
	X(DOORBELL_LOST, "doorbell-lost", "doorbells that get lost")                                         \
	X(DOORBELL_TWICE, "doorbell-twice", "doorbells that come twice")                                     \
	X(DOORBELL_LATE, "doorbell-late", "doorbells that come late")                                        \
	X(DIES, "dies", "hosts that die without a word, while garbage is written to what was theirs")        \
	X(HOSTILE, "hostile", "one more channel, whose host writes garbage to its own share at any time")    \
	X(RESTART, "restart", "the firmware starts again, also in the middle of a pass")                     \
	X(UNREAD, "unread", "hosts that never read their events")                                            \
	X(MOVES, "moves", "segments created again at other addresses, under recalled submissions")           \
	X(ORDERED, "ordered", "nodes whose host decides the order: one queue")                               \
	X(QUERY, "query", "queries of state")                                                                \
	X(MODERATE, "moderate", "interrupts that wait for more completions")

enum pb_rate_bit {
#define PB_RATE_BIT(name, text, meaning) PB_RATE_BIT_##name,
	PB_RATES(PB_RATE_BIT)
#undef PB_RATE_BIT
		PB_RATE_COUNT
};

enum pb_rate {
#define PB_RATE_MASK(name, text, meaning) PB_RATE_##name = 1 << PB_RATE_BIT_##name,
	PB_RATES(PB_RATE_MASK)
#undef PB_RATE_MASK
};

struct pb_options {
	uint32_t hosts;            /**< at most so many; 0: as many as the seed chooses */
	uint32_t actions;          /**< only the first so many; 0: all */
	bool host_memory;          /**< some segments lie in host memory, which is revoked at times */
	uint32_t without;          /**< bits of PB_RATE_* that do not happen */
	bool skip[PB_ACTIONS_MAX]; /**< actions that are left out */
};

/** Finds the bit of a name. @return false: no such name */
bool pb_options_rate(const char *name, uint32_t *bit);
/** Parses a list like "3,7-9" into `skip`. @return false: not such a list */
bool pb_options_skip(struct pb_options *options, const char *list);
/** Prints the options as command-line arguments, a space before each; empty if nothing is left out. */
void pb_options_print(const struct pb_options *options, char *text, size_t bytes);

#endif
