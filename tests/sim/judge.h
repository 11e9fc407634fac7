/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The judge: checks what the firmware has written after each pass, and breaks the run if the contract excludes it.
 */
#ifndef PB_TESTS_SIM_JUDGE_H
#define PB_TESTS_SIM_JUDGE_H

#include "tests/sim/run.h"

/** The list entry at which a submission failed, when no event could report it. */
#define PB_INDEX_UNKNOWN 0xfffffffeu

/** Checks everything that all hosts can see. */
void pb_judge_check(struct pb_run *run);
/** Breaks the run if a submission that has ended, or does not run, has stored a word. */
void pb_judge_marks(struct pb_run *run, struct pb_host *host);
/** Breaks the run if a word that only the host may write has changed (judge_share.c). */
void pb_judge_share(struct pb_run *run, struct pb_host *host);
/** Remembers what must not change on the card while the firmware runs. */
void pb_judge_card_keep(struct pb_run *run);
/** Breaks the run if a word that pb_judge_card_keep() remembered has changed. */
void pb_judge_card(struct pb_run *run);
/** Breaks the run if a page of the pool without an owner has changed. */
void pb_judge_pool(struct pb_run *run);
/** Forgets the pool's pages: they may change while the firmware boots. */
void pb_judge_pool_forget(struct pb_run *run);
/** Breaks the run if the engines have a segment of any channel. Pre: the firmware has just booted. */
void pb_judge_no_ranges(struct pb_run *run);
/** Checks the cost of one pass of the firmware (judge_share.c). */
void pb_judge_pass(struct pb_run *run);
/**
 * Whether a host was interrupted for what it found: `completions`, and with `reported` an event or a reply
 * (judge_interrupts.c).
 */
void pb_judge_interrupts(struct pb_run *run, struct pb_host *host, uint32_t completions, bool reported);
/** Checks the count of events that found no room (judge_interrupts.c). */
void pb_judge_dropped(struct pb_run *run, struct pb_host *host, bool failed);
/** Notes a submission to the node, or a stop request, which others may have to wait for (judge_patience.c). */
void pb_judge_note_work(struct pb_run *run, uint32_t node, uint32_t busy);
/** Breaks the run if a queue that can run, a command or the card has waited for too long (judge_patience.c). */
void pb_judge_patience(struct pb_run *run);

/* ---- the verdict on one submission (judge_verdict.c) ---- */

/** A submission has completed with this status. */
void pb_judge_completed(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
			struct pb_entry *entry, uint32_t status, uint32_t index);
/** A submission has completed, and no event reported how. */
void pb_judge_completed_unreported(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
				   struct pb_entry *entry, const struct pb_fence_record *record);
/** Each word that an entry has stored must be the right one. */
void pb_judge_values(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
		     struct pb_entry *entry);
/** A submission was returned. */
void pb_judge_returned(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
		       struct pb_entry *entry);
/** A submission was cancelled with its queue or channel. */
void pb_judge_cancelled(struct pb_run *run, struct pb_host *host, struct pb_entry *entry);
/** The words of an entry's mark must not change any more. */
void pb_judge_settle(struct pb_host *host, const struct pb_entry *entry);

/* ---- waits (judge_waits.c) ---- */

bool pb_judge_is_reached(const struct pb_host *host, const struct pb_entry_wait *wait);
/** Whether all waits of an entry have been reached. */
bool pb_judge_wait_reached(const struct pb_host *host, const struct pb_entry *entry);
/** A submission of a queue has ended: its waits may still count in the verdict on others. */
void pb_judge_note_waits(const struct pb_run *run, struct pb_queue_view *queue, const struct pb_entry *entry);
/** Notes which waits were reached. Pre: a queue is about to be destroyed. */
void pb_judge_waits_keep(struct pb_host *host);
/** Whether DEP_FAILED can be true of the entry. */
bool pb_judge_dep_failed(const struct pb_run *run, const struct pb_host *host, const struct pb_entry *entry);
/** Whether DEADLOCK can be true of the entry. */
bool pb_judge_deadlock(struct pb_host *host, const struct pb_queue_view *queue, const struct pb_entry *entry);
/** Whether the waits of the queue's first entry let it run. */
bool pb_judge_free_to_run(struct pb_host *host, struct pb_queue_view *queue);

/* ---- replies (judge_replies.c) ---- */

/** Reads one reply. @return true: there was one */
bool pb_judge_replies(struct pb_run *run, struct pb_host *host);
/** Checks the reply to a QUERY (judge_query.c). */
void pb_judge_query(struct pb_run *run, struct pb_host *host, const struct pb_question *question,
		    const struct pb_reply *reply);
/** Checks the preempt record. Pre: the event has reported it as written. */
void pb_judge_preempted(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue, uint32_t id);

#endif
