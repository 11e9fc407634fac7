/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Replays captured submissions of real drivers through a card and checks every
 * byte that the firmware patched.
 */
#ifndef PB_HOST_TOOL_REPLAY_H
#define PB_HOST_TOOL_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/submission.h"
#include "patchbay/link.h"

/** Exit codes. */
enum pb_replay_result {
	PB_REPLAY_OK = 0,     /**< every patched byte is right */
	PB_REPLAY_FAILED = 1, /**< the firmware's result is wrong, or the card does not work */
	PB_REPLAY_REFUSED =
		2, /**< the file is invalid or exceeds the board's limits, or a file cannot be written */
};

/** Parameters of a replay. */
struct pb_replay_options {
	const char *file;     /**< a SUBM file */
	const char *crc_out;  /**< NULL, or the file for CRCs; after a failure it holds the rows before it */
	bool random;          /**< place the objects at random */
	uint64_t seed;        /**< of the random placement */
	bool progress;        /**< show progress on stderr */
	bool wddm;            /**< as a WDDM kernel, through the functions of a miniport */
	bool presumed;        /**< submit each submission again after moves, with what its patches presume */
	uint8_t *host_memory; /**< host memory that the card maps from this process; NULL: none */
	enum pb_patch_encoding encoding; /**< encoding of the patch lists */
};

/** Totals of the submissions that were replayed and found right. */
struct pb_replay_summary {
	uint64_t submissions; /**< number of submissions */
	uint64_t relocations; /**< relocations in them */
	uint64_t bytes;       /**< bytes of contents */
	uint64_t list_bytes;  /**< bytes of patch lists */
	uint32_t packets;     /**< as a WDDM kernel: calls of SubmitCommand */
	uint32_t patched;     /**< of them behind a call of Patch */
	uint32_t moves;       /**< submissions made again after some of their objects had moved */
	uint32_t preemptions; /**< answered calls of PreemptCommand */
	bool host_memory;     /**< its system memory is host memory */
	uint64_t kept;        /**< submitted again: relocations that were skipped */
	uint64_t repatched;   /**< relocations that were patched again */
	char message[600];    /**< the error, if the result is not PB_REPLAY_OK */
};

/**
 * Reads and checks the whole file, without a card.
 * @param largest out: card memory of the largest submission, in bytes
 * @return PB_REPLAY_OK, or PB_REPLAY_REFUSED with the summary's message
 */
int pb_replay_scan(const struct pb_replay_options *options, uint64_t *largest,
		   struct pb_replay_summary *summary);

/**
 * Attaches to the card, replays one file, detaches. The link stays open.
 * @param largest from pb_replay_scan(); the replay allocates twice as much card memory, or once if the card has less
 * @return enum pb_replay_result
 */
int pb_replay_run(struct pb_link *link, const struct pb_replay_options *options, uint64_t largest,
		  struct pb_replay_summary *summary);

#endif
