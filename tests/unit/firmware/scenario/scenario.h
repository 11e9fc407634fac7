/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Tests that are told as stories: steps separated by ';', a verb and its words each.
 *
 *   CARD(a_high_queue_runs_first,
 *        "queue B prio=high; hold; submit A*4 B run=busy:100; run 1000; release; order B A*4")
 *
 * A story runs on the puppet (puppet_bench.h: one node, whose engine does what the story says) or on the card
 * (card_fixture.h: the engine model on virtual time), through the public contract alone. Channel 1 is attached, has a
 * context and queue A on node 0. A leading "for 1 x | 2 y;" runs the rest once a row, each time from a boot; $1 and $2
 * are the row's words. A step that fails is printed with its story, number and row; so is one with a word too many.
 *
 * Names    A..Z a queue, as a value its handle; b the slot of B; c0, c1 contexts of the channel; values may be sums
 * Anywhere client=N: on another channel, which is attached at its first use; 0 is the admin's
 * Make     queue B node= prio= quantum= entries= [again] [= ERROR], attach, detach, detached
 * Submit   submit A*4 B..D run=busy:US,fault,hang,nop,fill:..,word:..,mark:WORD:VALUE patches=N paging=1 wait=B:1 ctx=
 *          fence= timeline= or a field of the descriptor; full A: from now on the ring is full; put A N: a broken index
 * Command  do [N] COMMAND arguments [= ERROR results], begin TAG .., reply TAG [= ..], a result _ may be anything;
 *          hold, release (the card), destroy, clear, resume (a queue), forgive (a context) are commands, too
 * Expect   expect A=3:BUSY:7 (completed, status, fence id of the last; on the card after 2 ms), now A=.. (at once),
 *          until A=.. (waits; A: all), record A errors= .., event TYPE A FENCE ERROR DETAIL, noevent, why A REASON, node 0 STATE
 * Card     run US, timer, took LOW HIGH, order A*4 B [of=AB], balance AB TOTAL AHEAD, shares A=1 B..D=2 [of=US],
 *          interrupt yes/no/any/wait, word N VALUE, poke N VALUE, until-word N VALUE, stuck 0/1
 * Puppet   finish [N], fault [N/late], answer [late], stopped SEQUENCE RUNNING: what the engine reports;
 *          stall MS, progress MS, irq [tick node ring], pass, silent, add WORD N, kick, asleep WORD 0/1;
 *          engine resets= stops= inside= cycles= restores= fed= owner=; fed A1 - B1: what it was fed, - runs nothing
 * Repeat   each B..D STEP with %, each BCD STEP with %; loop N; ..; end
 */
#ifndef PB_TESTS_UNIT_SCENARIO_H
#define PB_TESTS_UNIT_SCENARIO_H

#include "tests/unit/unit.h"

struct scenario {
	const char *name;
	const char *story;
};

void scenario_on_puppet(void **state);
void scenario_on_card(void **state);

/** Rows of a table of tests, at file scope. */
#define SCENARIO(runner, name, story)                                                                        \
	{                                                                                                    \
#name, runner, NULL, NULL, &(struct scenario)                                                \
		{                                                                                            \
#name, story                                                                         \
		}                                                                                            \
	}
#define PUPPET(name, story) SCENARIO(scenario_on_puppet, name, story)
#define CARD(name, story)   SCENARIO(scenario_on_card, name, story)

#endif
