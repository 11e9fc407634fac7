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
	bool presumed;                   /**< the jobs are submitted again */
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
	uint32_t *words;                      /**< patch list in compact or grouped form; NULL: not used */
	struct pb_presumed *presumed;         /**< what the buffer presumes, by object; NULL: nothing */
	bool *shared;                         /**< by object: a bit of its targets is another object's, too */
	uint32_t buffer_bytes;                /**< size of the DMA buffer */
	uint32_t memory_bytes;                /**< largest size of the DMA buffer and its two lists */
	uint32_t list_count;                  /**< entries of the patch list, or its words */
	uint32_t list_bytes;                  /**< size of the patch list in bytes */
	uint32_t crc_before;                  /**< CRC-32 of the contents as captured */
	uint32_t crc_after;                   /**< CRC-32 of the contents as read back */
	struct pb_memory memory;              /**< allocated and freed by the caller */
	struct pb_descriptor descriptor;      /**< filled in by pb_replay_job_write() */
	uint32_t patch_count;                 /**< relocations that the firmware is to patch */
};

/** Size of the buffer for a message, in bytes. */
#define PB_REPLAY_MESSAGE_BYTES 400u

/**
 * Returns the card memory for a submission in bytes: DMA buffer and lists; not 0. A list in words may need less.
 * @param presumed with room for what the buffer presumes
 */
uint64_t pb_replay_job_bytes(const struct pb_subm_submission *submission, enum pb_patch_encoding encoding,
			     bool presumed);
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
void pb_replay_job_write(struct pb_replay_job *job, uint32_t context, enum pb_patch_encoding encoding);
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
/**
 * Prepares a job to be submitted again, after it was found right: some objects have moved, the others are presumed where
 * they are. Sets the expected result and patch_count, and writes lists and descriptor; the buffer stays as it is.
 * @param round which objects move: 0 none, 1 each third, 2 all
 * @param message out: the error
 * @return false: the objects do not fit into the address space, or there is no memory
 */
bool pb_replay_job_again(struct pb_replay_job *job, const struct pb_replay_rules *rules, uint32_t round,
			 char *message);
/** Rounds of pb_replay_job_again(). */
#define PB_REPLAY_ROUNDS 3u
/** Computes the expected result from the contents and the addresses. */
void pb_replay_job_expect(struct pb_replay_job *job);
/** Writes the allocation list, and what the buffer presumes behind it. */
void pb_replay_job_write_allocations(const struct pb_replay_job *job);
/** Frees what pb_replay_job_prepare() allocated. The submission stays. */
void pb_replay_job_clear(struct pb_replay_job *job);

#endif
