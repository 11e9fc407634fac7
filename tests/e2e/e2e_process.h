/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the teardown needs of the processes.
 */
#ifndef PB_TESTS_E2E_E2E_PROCESS_H
#define PB_TESTS_E2E_E2E_PROCESS_H

#include <stddef.h>

/** Kills and collects all children, adopted ones too. @return the number that were alive */
size_t e2e_end_children(void);

#endif
