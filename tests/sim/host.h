/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A host comes and goes: attach, segments, contexts, queues; detach.
 */
#ifndef PB_TESTS_SIM_HOST_H
#define PB_TESTS_SIM_HOST_H

#include "tests/sim/run.h"

/** Attaches and makes what a host needs; steps until it is there. */
void pb_host_open(struct pb_run *run, struct pb_host *host);
/** Asks for one queue; the reply opens it. */
void pb_host_make_queue(struct pb_run *run, struct pb_host *host, uint32_t queue);
/** Asks to detach; what it has submitted goes with it. */
void pb_host_leave(struct pb_run *run, struct pb_host *host);
/** Notes when it is gone: nothing of it runs any more. */
void pb_host_look_gone(struct pb_run *run, struct pb_host *host);

#endif
