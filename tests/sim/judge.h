/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The judge: looks at what the firmware has written, after each pass, and breaks the run if the contract excludes it.
 */
#ifndef PB_TESTS_SIM_JUDGE_H
#define PB_TESTS_SIM_JUDGE_H

#include "tests/sim/run.h"

/** The list entry at which a submission failed, when no event could tell it. */
#define PB_INDEX_UNKNOWN 0xfffffffeu

/** Everything that all hosts can see. */
void pb_judge_look(struct pb_run *run);
/** Stores that nobody may make any more: work that has ended, or does not run. */
void pb_judge_marks(struct pb_run *run, struct pb_host *host);
/** What nobody but the host itself may write in its share: another host, or the firmware on its behalf, has (judge_share.c). */
void pb_judge_share(struct pb_run *run, struct pb_host *host);
/** Remembers what nobody may change on the card while the firmware runs. */
void pb_judge_card_keep(struct pb_run *run);
/** Whether all of that stands. */
void pb_judge_card(struct pb_run *run);
/** Memory that is nobody's does not change. */
void pb_judge_pool(struct pb_run *run);
/** Forgets what stands there: it may change while the firmware starts. */
void pb_judge_pool_forget(struct pb_run *run);
/** No segment of any channel is known to the engines: so it is after a boot. */
void pb_judge_no_ranges(struct pb_run *run);
/** What one pass of the firmware took (judge_share.c). */
void pb_judge_pass(struct pb_run *run);
/**
 * Whether a host was interrupted for what it found: so many completions, and `told`: an event or a reply
 * (judge_interrupts.c).
 */
void pb_judge_interrupts(struct pb_run *run, struct pb_host *host, uint32_t completions, bool told);
/** Events that found no room (judge_interrupts.c). */
void pb_judge_dropped(struct pb_run *run, struct pb_host *host, bool failed);
/** Whether something that could go on has stood still for too long (judge_patience.c). */
void pb_judge_patience(struct pb_run *run);

/* ---- the verdict on one submission (judge_verdict.c) ---- */

/** A submission has completed with this status. */
void pb_judge_completed(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
			struct pb_entry *entry, uint32_t status, uint32_t index);
/** A submission has completed, and no event told how. */
void pb_judge_unsure(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
		     struct pb_entry *entry, const struct pb_fence_record *record);
/** Each word that an entry has stored is the right one. */
void pb_judge_values(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
		     struct pb_entry *entry);
/** A submission was given back. */
void pb_judge_returned(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
		       struct pb_entry *entry);
/** A submission went with its queue or channel. */
void pb_judge_cancelled(struct pb_run *run, struct pb_host *host, struct pb_entry *entry);
/** What stands in an entry's mark from now on stays. */
void pb_judge_settle(struct pb_host *host, const struct pb_entry *entry);

/* ---- waits (judge_waits.c) ---- */

bool pb_judge_is_reached(const struct pb_host *host, const struct pb_entry_wait *wait);
/** Whether all that an entry waits for has been reached. */
bool pb_judge_wait_reached(const struct pb_host *host, const struct pb_entry *entry);
/** Work of a queue has ended: what it waited for may still count in the verdict on others. */
void pb_judge_waited(const struct pb_run *run, struct pb_queue_view *queue, const struct pb_entry *entry);
/** A queue is about to go: what was reached is noted. */
void pb_judge_waits_keep(struct pb_host *host);
/** Whether DEP_FAILED can be true of the entry. */
bool pb_judge_dep_failed(const struct pb_run *run, const struct pb_host *host, const struct pb_entry *entry);
/** Whether DEADLOCK can be true of the entry. */
bool pb_judge_deadlock(struct pb_host *host, const struct pb_queue_view *queue, const struct pb_entry *entry);
/** Whether the queue's first entry could run, as far as waits go. */
bool pb_judge_free_to_run(struct pb_host *host, struct pb_queue_view *queue);

/* ---- replies (judge_replies.c) ---- */

/** @return true: there was one */
bool pb_judge_replies(struct pb_run *run, struct pb_host *host);
/** What a QUERY told (judge_query.c). */
void pb_judge_query(struct pb_run *run, struct pb_host *host, const struct pb_question *question,
		    const struct pb_reply *reply);
/** The preempt record, when the event says that it was written. */
void pb_judge_preempted(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue, uint32_t id);

#endif
