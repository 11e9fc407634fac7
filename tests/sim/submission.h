/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The buffer and the lists of one submission, and what they must become: the oracle of patching.
 *
 * A buffer stores into three words of the host's segment 1 or 2, its mark: one as it begins, one midway, one
 * as its last packet. Only the patches hold their addresses.
 */
#ifndef PB_TESTS_SIM_SUBMISSION_H
#define PB_TESTS_SIM_SUBMISSION_H

#include "tests/sim/run.h"

/** Bytes of each segment of a host but the first. */
#define PB_SUBMISSION_VIDEO_BYTES (PB_MARKS / 2u * PB_MARK_WORDS * 4u)

/** The segment of a mark: segments 1 and 2 alternate. */
static inline uint32_t pb_submission_segment(uint32_t mark)
{
	return 1u + mark % 2u;
}

/** Offset of a queue's page in segment 0. */
uint32_t pb_submission_queue_offset(uint32_t queue);
/**
 * Builds an entry's program and lists in its slot, and the descriptor. Pre: `kind` and all that the host
 * chose are set.
 */
void pb_submission_build(struct pb_run *run, struct pb_host *host, struct pb_entry *entry);
/** Writes buffer and lists into card memory, and the descriptor at `to`. */
void pb_submission_write(struct pb_host *host, const struct pb_entry *entry, struct pb_descriptor *to);
/** Gives an entry that has not begun other words of segment 1, as a host that moves an allocation does. */
void pb_submission_move(struct pb_run *run, struct pb_host *host, struct pb_entry *entry,
			struct pb_descriptor *to);
/** Allocates a mark for an entry. */
uint32_t pb_submission_new_mark(struct pb_run *run, struct pb_host *host);
/** The words of a mark in memory. */
uint32_t *pb_submission_mark(const struct pb_host *host, uint32_t mark);
/** Reads word `i` of a mark; the last value that the host saw there, if its page was revoked. */
uint32_t pb_submission_word(const struct pb_host *host, uint32_t mark, uint32_t i);
/** Sets word `i` of a mark to PB_UNMARKED. */
void pb_submission_unmark(struct pb_host *host, uint32_t mark, uint32_t i);
/** Whether a submission may fault, because the page of its mark is revoked or being revoked. */
bool pb_submission_is_doomed(const struct pb_host *host, const struct pb_entry *entry);
/** The buffer's words in card memory. */
uint32_t *pb_submission_words(const struct pb_host *host, uint32_t slot);
/** The first byte that differs from what the host wrote, where only the host may write. @return NULL: none. */
const uint8_t *pb_submission_changed_byte(const struct pb_host *host);
/** Whether the engine runs anything for a submission. */
bool pb_submission_runs(const struct pb_entry *entry);

#endif
