/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The parts of the bench of isolation: eight equal clients, of which six attack the other two. The card runs on virtual
 * time, which is the number of instructions that the firmware has executed, at 25 MHz (victim_card.c); the attacks are
 * those of the contests (tests/sim/strategy.h) and some more (victim_attacks.c); victim_judge.c measures.
 */
#ifndef PB_TESTS_BENCH_VICTIM_H
#define PB_TESTS_BENCH_VICTIM_H

#include "tests/sim/strategy.h"

#define PB_VICTIM_CLIENTS 8u
/** Nodes on which every client has work; on the last one of the card strategies have things happen at once. */
#define PB_VICTIM_NODES 2u
/** Length of a window in which a share is measured, and the steps by which windows begin, in microseconds. */
#define PB_VICTIM_WINDOW_US 500000u
#define PB_VICTIM_SAMPLE_US 10000u
/** Windows that begin one after another: the last one begins as the first one has ended. */
#define PB_VICTIM_WINDOW_SAMPLES (PB_VICTIM_WINDOW_US / PB_VICTIM_SAMPLE_US)

/* ---- victim_BOARD.c ---- */

/**
 * Starts the counter and a timer whose interrupt calls `interrupt`. @param interrupt what the others do; is called with
 * interrupts masked by their priority, with the counter as the interrupt was accepted
 */
void pb_victim_board_start(void (*interrupt)(uint32_t counter));
/** The counter now: counts down, modulo 2^24. */
uint32_t pb_victim_board_counter(void);
/** Lets the timer ring once, after so many instructions. */
void pb_victim_board_ring_after(uint32_t instructions);
/** Calls the handler of the timer, as the interrupt does. */
void pb_victim_board_ring(void);
/** Counts of the counter for 10 instructions. */
#define PB_VICTIM_BOARD_COUNTS 256u

/* ---- victim_card.c ---- */

/** The card, as the strategies reach it: its memory and its clock. */
extern struct pb_world pb_victim_world;
/** Boots the firmware on a card that is as after its power came. */
void pb_victim_boot(void);
/** One pass of the firmware, or its sleep. */
void pb_victim_settle(struct pb_world *world);
/** Lets everybody run until that time. @param act what the hosts do, every some tens of microseconds */
void pb_victim_run(uint64_t until, void (*act)(void));
/** Engine time of a node that went to a channel's submissions, in microseconds. */
uint64_t pb_victim_engine_time(uint32_t node, uint32_t channel);

/* ---- victim_attacks.c ---- */

/** An attack: what each of the six attackers does beside submissions like those of the victims. */
struct pb_victim_attack {
	const char *name;
	uint32_t strategies; /**< PB_STRATEGY_* */
	/** What else it does; NULL: nothing. */
	void (*act)(struct pb_rival *rival, struct pb_random *random);
};

extern const struct pb_victim_attack pb_victim_attacks[];
extern const uint32_t pb_victim_attack_count;

/* ---- victim_judge.c ---- */

/** What one attack did to the victims at most. */
struct pb_victim_result {
	uint32_t share;     /**< least part of its fair share that the victim got in a window, permille */
	uint32_t anywhere;  /**< the same of windows that begin at any sample */
	uint32_t wake;      /**< longest wake, in microseconds */
	uint32_t reply;     /**< longest time to a reply, in microseconds */
	uint32_t preempt;   /**< longest preemption, in microseconds */
	uint32_t counts[3]; /**< wakes, replies and preemptions measured */
};

/** Carries out one attack. @param number of the attack: roles change from one to the next */
void pb_victim_judge(uint32_t number, struct pb_victim_result *result);

#endif
