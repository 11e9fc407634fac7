/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A judged client of a contest: what it does, what it waits for, and the bounds, which follow from the terms.
 */
#ifndef PB_TESTS_SIM_CONTEST_CLIENT_H
#define PB_TESTS_SIM_CONTEST_CLIENT_H

#include "tests/sim/contest.h"

/** Longest time for which a hang keeps an engine from everybody, in microseconds. */
uint32_t pb_contest_ladder(const struct pb_contest_terms *terms);
/** Requests the client's queues, and opens its accounts. */
void pb_contest_client_open(struct pb_contest *contest, uint32_t c);
/** Does what is due, and checks what it waits for. @return false: a claim is broken, and named */
bool pb_contest_client_act(struct pb_contest *contest, uint32_t c);
/** Adds an interval to its account of the node. @return false: a claim is broken, and named */
bool pb_contest_account(struct pb_contest *contest, uint32_t c, uint32_t node, uint32_t interval,
			uint32_t used);
/** A hang begins on the node: it costs the client so much time, once. */
void pb_contest_client_hang(struct pb_contest *contest, uint32_t c, uint32_t node);
/** Adds the contest to the figures. */
void pb_contest_sum_up(struct pb_contest *contest);

#endif
