/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Replay of one captured submission.
 */
#ifndef PB_HOST_TOOL_REPLAY_JOB_H
#define PB_HOST_TOOL_REPLAY_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/tool/replay_formats.h"
#include "host/tool/subm.h"
#include "patchbay/patchbay.h"

/** Segment of the target objects: OS and GPU addresses are equal; no memory is behind them. */
#define PB_REPLAY_TARGET_SEGMENT 3u

/** Parameters of all jobs of a replay. */
struct pb_replay_rules {
	const struct pb_card_info *card; /**< its capabilities are the limits */
	uint32_t reloc_bits;             /**< width of the file's relocations */
	enum pb_patch_encoding encoding; /**< encoding of the patch lists */
	bool random;                     /**< place the objects at random */
	uint64_t random_state;           /**< advances with each job */
};

/** A job. Zero it before the first use; it may be reused after pb_replay_job_clear(). */
struct pb_replay_job {
	struct pb_subm_submission submission; /**< filled by the caller */
	uint64_t *addresses;                  /**< address of each object */
	uint32_t *offsets;                    /**< offset of each contents in the DMA buffer */
	uint8_t *expected;                    /**< DMA buffer as it must be after patching */
	uint8_t *found;                       /**< DMA buffer as read back */
	struct pb_patch_location *patches;    /**< patch list */
	uint32_t *words;                      /**< patch list in compact form; NULL: not used */
	uint32_t buffer_bytes;                /**< size of the DMA buffer */
	uint32_t memory_bytes;                /**< largest size of the DMA buffer and its two lists */
	uint32_t list_count;                  /**< entries of the patch list; in compact form words */
	uint32_t list_bytes;                  /**< size of the patch list in bytes */
	uint32_t crc_before;                  /**< CRC-32 of the contents as captured */
	uint32_t crc_after;                   /**< CRC-32 of the contents as read back */
	struct pb_memory memory;              /**< allocated and freed by the caller */
	struct pb_descriptor descriptor;      /**< filled in by pb_replay_job_write() */
};

/** Size of the buffer for a message, in bytes. */
#define PB_REPLAY_MESSAGE_BYTES 400u

/** Returns the card memory for a submission in bytes: DMA buffer and lists; not 0. A compact list may need less. */
uint64_t pb_replay_job_bytes(const struct pb_subm_submission *submission, enum pb_patch_encoding encoding);
/**
 * Lays out the DMA buffer, places the objects and computes the expected result.
 * @param message out: the error, without the submission's number
 * @return false: see `message`
 */
bool pb_replay_job_prepare(struct pb_replay_job *job, struct pb_replay_rules *rules, char *message);
/**
 * Builds the patch list.
 * @param formats after pb_replay_formats_add() for this submission
 * @param message out: the error
 * @return false: the list exceeds the encoding or the board's limits; see `message`
 */
bool pb_replay_job_list(struct pb_replay_job *job, const struct pb_replay_rules *rules,
			const struct pb_replay_formats *formats, char *message);
/**
 * Writes buffer and lists to job->memory and fills in the descriptor. Each target word is set to the complement of its
 * expected value, so that a missing patch is found whatever the value.
 */
void pb_replay_job_write(struct pb_replay_job *job, uint32_t context);
/** Writes the DMA buffer as pb_replay_job_write() does. @param to job->buffer_bytes bytes */
void pb_replay_job_write_buffer(const struct pb_replay_job *job, uint8_t *to);
/**
 * Formats why the firmware refused a submission, with the object or relocation.
 * @param message out: PB_REPLAY_MESSAGE_BYTES
 */
void pb_replay_job_refusal(const struct pb_replay_job *job, const struct pb_fence *fence, char *message);
/** Returns the relocation of an error index of the firmware; PB_INDEX_NONE: none. */
uint32_t pb_replay_job_entry(const struct pb_replay_job *job, uint32_t index);
/**
 * Reads the buffer back, sets crc_after, and compares the buffer with the expected one.
 * @param message out: the first difference
 * @return false: the buffers differ; see `message`
 */
bool pb_replay_job_verify(struct pb_replay_job *job, char *message);
/** Frees what pb_replay_job_prepare() allocated. The submission stays. */
void pb_replay_job_clear(struct pb_replay_job *job);

#endif
