/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Schedules of the WDDM shim.
 */
#ifndef PB_TESTS_THREADS_SHIM_H
#define PB_TESTS_THREADS_SHIM_H

#include <stdbool.h>
#include <stdint.h>

/** Runs the schedule of a seed. Ends the process if a rule is broken. */
void pb_shim_schedule(uint64_t seed);
/** Plants a fault: a lock that keeps no thread away. @return false: there is no lock of that name */
bool pb_shim_remove(const char *name);

#endif
