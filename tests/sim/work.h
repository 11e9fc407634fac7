/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The buffer and the lists of one submission, and what they must become: the oracle of patching.
 *
 * A buffer stores into three words of the host's segment 1 or 2, its mark: one as it begins, one on its way, one as its
 * last packet. Where they are, only the patches say.
 */
#ifndef PB_TESTS_SIM_WORK_H
#define PB_TESTS_SIM_WORK_H

#include "tests/sim/run.h"

/** Bytes of each segment of a host but the first. */
#define PB_WORK_VIDEO_BYTES (PB_MARKS / 2u * PB_MARK_WORDS * 4u)

/** The segment that a mark lies in: they take turns. */
static inline uint32_t pb_work_segment(uint32_t mark)
{
	return 1u + mark % 2u;
}

/** Offset of a queue's page in segment 0. */
uint32_t pb_work_queue_offset(uint32_t queue);
/** Makes what an entry needs, into its place, and the descriptor. `kind` and all that the host chose are set. */
void pb_work_build(struct pb_run *run, struct pb_host *host, struct pb_entry *entry);
/** Writes buffer and lists where the firmware finds them, and the descriptor at `to`. */
void pb_work_write(struct pb_host *host, const struct pb_entry *entry, struct pb_descriptor *to);
/** Other words of segment 1 for an entry that has not begun: its host has moved an allocation. */
void pb_work_move(struct pb_run *run, struct pb_host *host, struct pb_entry *entry, struct pb_descriptor *to);
/** A mark of its own for an entry. */
uint32_t pb_work_new_mark(struct pb_run *run, struct pb_host *host);
/** The words of a mark in card memory. */
uint32_t *pb_work_mark(const struct pb_host *host, uint32_t mark);
/** The buffer's words in card memory. */
uint32_t *pb_work_words(const struct pb_host *host, uint32_t place);
/** The first byte of a host's memory that differs from what it wrote there, where nobody else may write; NULL: none. @param clock the card's, now */
const uint8_t *pb_work_spoiled(const struct pb_host *host, uint32_t clock);
/** Whether a submission runs anything at the engine. */
bool pb_work_runs(const struct pb_entry *entry);

#endif
