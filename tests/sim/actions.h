/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What hosts do, as the seed has it.
 */
#ifndef PB_TESTS_SIM_ACTIONS_H
#define PB_TESTS_SIM_ACTIONS_H

#include "tests/sim/run.h"

/** One thing that some host does, or that goes wrong, if it can just now. */
void pb_act(struct pb_run *run);

/* ---- submissions (actions_submit.c) ---- */

/** A new submission, if there is room. */
void pb_act_submit(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue);
/** Brings back what a preemption or reset has returned, if there is anything and room. */
void pb_act_resubmit(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue);
/** An empty submission that brings the queue's timeline to `value` or beyond, if there is room and nothing else may. */
void pb_act_signal(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue, uint64_t value);

/* ---- what holds queues up (actions_stop.c) ---- */

void pb_act_preempt(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue);
void pb_act_suspend(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue);
void pb_act_resume(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue);
/** The whole card, by the admin. */
void pb_act_suspend_card(struct pb_run *run);
void pb_act_resume_card(struct pb_run *run);
void pb_act_reset(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue);
/** Lets work go on that a bad paging buffer has halted. */
void pb_act_release(struct pb_run *run, struct pb_host *host, uint32_t node);

#endif
