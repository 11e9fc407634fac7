/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Host memory in schedules: which segments lie there, and the supervisor that revokes pages under work in flight. From
 * the reply on, the pages are another's: what that one has stored there stays, whatever the channel does.
 */
#ifndef PB_TESTS_SIM_HOST_MEMORY_H
#define PB_TESTS_SIM_HOST_MEMORY_H

#include "tests/sim/run.h"

/** Whether a segment of the channel lies in host memory in this schedule. */
bool pb_host_memory_has(const struct pb_run *run, uint32_t channel, uint32_t segment);
/** Host address of a segment's backing. */
uint32_t pb_host_memory_address(uint32_t segment);
/** Posts the grant of all of its host memory to a channel. Checks first what was revoked. */
void pb_host_memory_grant(struct pb_run *run, uint32_t channel);
/** Posts the revocation of all host memory of a channel. @return false: there is none, or one is in progress */
bool pb_host_memory_revoke(struct pb_run *run, uint32_t channel);
/** Revokes a segment of the hostile host now and then, and grants it again. */
void pb_host_memory_act(struct pb_run *run);
/** Revokes a segment of a host that is at work, under that work; grants it again, so that the host can create it. */
void pb_host_memory_revoke_part(struct pb_run *run);
/** Whether a revocation has held a host for as long as a hang takes: what is still in flight on the node is reset. */
bool pb_host_memory_ends(const struct pb_run *run, const struct pb_host *host, uint32_t node);
/** Handles the reply to a grant. */
void pb_host_memory_granted(struct pb_run *run, const struct pb_question *question);
/** Handles the reply to a revocation. */
void pb_host_memory_revoked(struct pb_run *run, const struct pb_question *question);
/** Checks the pages that are revoked. */
void pb_host_memory_judge(struct pb_run *run);
/** The firmware starts again: nothing is granted, revoked or asked. */
void pb_host_memory_restart(struct pb_run *run);

#endif
