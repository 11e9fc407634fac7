/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A client that does everything that a client can do, at random, until it is killed.
 */
#ifndef PB_TESTS_E2E_E2E_VICTIM_H
#define PB_TESTS_E2E_E2E_VICTIM_H

#include <stdint.h>

struct pb_link;

/** The client does not end by itself. */
#define E2E_VICTIM_FOREVER UINT32_MAX

struct e2e_victim {
	const char *socket;
	uint32_t seed;
	uint32_t steps;   /**< it kills itself after so many steps; or E2E_VICTIM_FOREVER */
	uint32_t *points; /**< as of e2e_victim_dies_at() */
	uint32_t *counts; /**< by kind of step, E2E_VICTIM_STEPS of them; shared with its parent */
};

/** Kinds of step. */
#define E2E_VICTIM_STEPS 18u
const char *e2e_victim_step_name(uint32_t step);

/**
 * Makes the process kill itself at a doorbell of the link, which is a point before the card gets it and a point after that.
 * @param points left until the last one; 0: it lives. Another process may write it then.
 */
void e2e_victim_dies_at(struct pb_link *link, uint32_t *points);

/** Connects, attaches, and goes on until it dies. @return 1, only on an error */
int e2e_victim_live(const struct e2e_victim *victim);

#endif
