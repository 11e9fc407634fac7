/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The C loops that are compared with those in assembly have slices of the same
 * length. Included before everything else.
 */
#ifndef PB_TESTS_BENCH_TWINS_SLICES_H
#define PB_TESTS_BENCH_TWINS_SLICES_H

#include "firmware/limits.h"
#include "hal/cortex_m/loops.h"

#undef PB_SLICE_PATCHES
#define PB_SLICE_PATCHES ((unsigned int)PB_LOOPS_SLICE_PATCHES)

#endif
