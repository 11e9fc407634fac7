/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Schedules of the host library, and of the WDDM shim: what runs in the fibers, and the judge.
 */
#ifndef PB_TESTS_THREADS_LIBRARY_H
#define PB_TESTS_THREADS_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

/** Runs the schedule of a seed. Ends the process if a rule is broken. */
void pb_library_schedule(uint64_t seed);
/** Plants a fault: a lock that keeps no thread away. @return false: there is no lock of that name */
bool pb_library_remove(const char *name);

#endif
