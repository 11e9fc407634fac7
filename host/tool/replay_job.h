/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One captured submission on its way through a card.
 */
#ifndef PB_HOST_TOOL_REPLAY_JOB_H
#define PB_HOST_TOOL_REPLAY_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/patchbay.h"
#include "host/tool/replay_formats.h"
#include "host/tool/subm.h"

/** Segment of the targets: addresses as they are, and no memory behind them. */
#define PB_REPLAY_TARGET_SEGMENT 3u

/** What holds for all jobs of a replay. */
struct pb_replay_rules {
	const struct pb_card_info *card; /**< its capabilities are the limits */
	uint32_t reloc_bits;             /**< of the file */
	enum pb_patch_encoding encoding; /**< of the patch lists */
	bool random;                     /**< a random placement instead of the fixed one */
	uint64_t random_state;           /**< moved on with each job */
};

/** Zero it before the first use. It may be used again after pb_replay_job_clear. */
struct pb_replay_job {
	struct pb_subm_submission submission; /**< filled by the caller */
	uint64_t *addresses;                  /**< of each object */
	uint32_t *places;                     /**< of each contents in the DMA buffer */
	uint8_t *expected;                    /**< the DMA buffer as it must be afterwards */
	uint8_t *found;                       /**< as it was read back */
	struct pb_patch_location *patches;    /**< the patch list */
	uint32_t *words;                      /**< the same, compact; NULL if that is not wanted */
	uint32_t buffer_bytes;                /**< of the DMA buffer */
	uint32_t memory_bytes;                /**< of the DMA buffer and its two lists, at most */
	uint32_t list_count;                  /**< entries of the patch list; words if it is compact */
	uint32_t list_bytes;                  /**< the same in bytes */
	uint32_t crc_before;                  /**< over the contents as captured */
	uint32_t crc_after;                   /**< over the contents as read back */
	struct pb_memory memory;              /**< allocated and freed by the caller */
	struct pb_descriptor descriptor;
};

/** Room for a message about a job. */
#define PB_REPLAY_MESSAGE_BYTES 400u

/** Bytes of card memory for a submission: DMA buffer and lists. Never 0. A compact list may take less. */
uint64_t pb_replay_job_bytes(const struct pb_subm_submission *submission, enum pb_patch_encoding encoding);
/**
 * Lays out the DMA buffer, places the objects and works out the result.
 * @return false: `message` says why, without the submission's number
 */
bool pb_replay_job_prepare(struct pb_replay_job *job, struct pb_replay_rules *rules, char *message);
/**
 * Makes the patch list.
 * @param formats as pb_replay_formats_add left them for this submission
 * @return false: it is beyond the encoding or the board; `message` says why
 */
bool pb_replay_job_list(struct pb_replay_job *job, const struct pb_replay_rules *rules,
			const struct pb_replay_formats *formats, char *message);
/**
 * Writes buffer and lists into job->memory and fills the descriptor. Each word
 * to be patched becomes the complement of what it must be, so that a patch that
 * is left out shows, whatever its value.
 */
void pb_replay_job_write(struct pb_replay_job *job, uint32_t context);
/** Which relocation the firmware means by the index of an error; PB_INDEX_NONE if none. */
uint32_t pb_replay_job_entry(const struct pb_replay_job *job, uint32_t index);
/**
 * Reads the buffer back and compares it; crc_after is set in any case.
 * @return false: `message` names the first difference
 */
bool pb_replay_job_verify(struct pb_replay_job *job, char *message);
/** Frees what prepare allocated. The submission stays. */
void pb_replay_job_clear(struct pb_replay_job *job);

#endif
