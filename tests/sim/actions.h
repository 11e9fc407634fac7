/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What hosts do. The seed chooses.
 */
#ifndef PB_TESTS_SIM_ACTIONS_H
#define PB_TESTS_SIM_ACTIONS_H

#include "tests/sim/run.h"

/** One random action of a host, or one fault, if it is possible at this step. */
void pb_act(struct pb_run *run);

/* ---- submissions (actions_submit.c) ---- */

/** Submits one new submission, if there is room. */
void pb_act_submit(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue);
/** Submits again what a preemption or reset has returned, if there is any and room. */
void pb_act_resubmit(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue);
/** Submits an empty submission that brings the queue's timeline to `value` or beyond, if the ring has room. */
void pb_act_signal(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue, uint64_t value);

/* ---- stop requests (actions_stop.c) ---- */

void pb_act_preempt(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue);
void pb_act_suspend(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue);
void pb_act_resume(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue);
/** Suspends the whole card, by the admin channel. */
void pb_act_suspend_card(struct pb_run *run);
void pb_act_resume_card(struct pb_run *run);
void pb_act_reset(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue);
/** Resumes the host's submissions on a node that a bad paging buffer has halted. */
void pb_act_release(struct pb_run *run, struct pb_host *host, uint32_t node);

#endif
