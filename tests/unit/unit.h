/* SPDX-License-Identifier: MIT */
/**
 * @file
 * cmocka, and the headers that it wants to find before it.
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

#endif
