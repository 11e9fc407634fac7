/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay trace record` beside a test, and what the exports of its file show.
 */
#ifndef PB_TESTS_E2E_E2E_TRACE_H
#define PB_TESTS_E2E_E2E_TRACE_H

#include "tests/e2e/e2e.h"

/** Starts to record into a file. Returns when the recording has begun. @param levels of the trace */
pid_t e2e_recorder_start(const struct e2e_card *card, const char *levels, const char *trace);
/** Ends the recording. Fails unless the recorder ends well. */
void e2e_recorder_end(pid_t recorder);

#endif
