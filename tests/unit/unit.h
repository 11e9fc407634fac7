/* SPDX-License-Identifier: MIT */
/**
 * @file
 * cmocka with the headers that must precede it, and the suites that runners hold.
 */
#ifndef PB_TESTS_UNIT_UNIT_H
#define PB_TESTS_UNIT_UNIT_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
/* clang-format on */

/**
 * How long a test waits for what must come, in microseconds: the patience of all polls and waits. Only a hang takes as long,
 * so that no verdict depends on how busy the machine is.
 */
#define UNIT_PATIENCE_US 600000000u

/**
 * Begins the function of a suite, `int name(void)`, which runs its tests and
 * returns how many failed. tests/suites.cmake lists it by this name.
 */
#define UNIT_SUITE(name)                                                                                     \
	int name(void);                                                                                      \
	int name(void)

/** @return the suite's argument of the command line with this number, from 0; NULL if there is none */
const char *unit_argument(int number);

#endif
