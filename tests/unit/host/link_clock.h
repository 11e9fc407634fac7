/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The clock of the links, pb_clock_us(), in programs that are linked with this. It advances by what the links sleep, which
 * takes no time then, and else `slower` times slower than the clock on the wall. So what a link gives a few seconds has
 * UNIT_PATIENCE_US and more, and a link that waits for an end of its own patience gets there at once.
 */
#ifndef PB_TESTS_UNIT_LINK_CLOCK_H
#define PB_TESTS_UNIT_LINK_CLOCK_H

#include <stdint.h>

/** Makes UNIT_PATIENCE_US of the shortest patience of a link, 5 seconds. */
#define LINK_CLOCK_SLOWER 120u

/** How much slower than the wall: LINK_CLOCK_SLOWER if a test does not change it, between two links. */
extern uint32_t link_clock_slower;

/** Lets time pass on the clock, in microseconds. */
void link_clock_pass(uint64_t us);

#endif
