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

#include "firmware/abi/submission.h"
#include "host/link.h"

/** Exit codes. */
enum pb_replay_result {
	PB_REPLAY_OK = 0,
	PB_REPLAY_FAILED = 1, /**< the firmware's result is wrong, or the card does not work */
	PB_REPLAY_REFUSED =
		2, /**< the file is bad or beyond the board's limits, or a file cannot be written */
};

struct pb_replay_options {
	const char *file;    /**< a SUBM file */
	const char *crc_out; /**< NULL, or where the CRCs go; after a failure it holds the rows up to there */
	bool random;         /**< a random placement instead of the fixed one */
	uint64_t seed;       /**< of the random placement */
	bool progress;       /**< show it on stderr */
	enum pb_patch_encoding encoding; /**< of the patch lists */
};

/** What was replayed and found right, up to the failure if there was one. */
struct pb_replay_summary {
	uint64_t submissions;
	uint64_t relocations;
	uint64_t bytes;      /**< of contents */
	uint64_t list_bytes; /**< of patch lists */
	char message[600];   /**< why the result is not PB_REPLAY_OK */
};

/**
 * Reads the file to its end, with no card.
 * @param largest bytes of card memory that its largest submission takes
 * @return PB_REPLAY_OK, or PB_REPLAY_REFUSED with the summary's message
 */
int pb_replay_scan(const struct pb_replay_options *options, uint64_t *largest,
		   struct pb_replay_summary *summary);

/**
 * Attaches to the card, replays one file, detaches. The link stays open.
 * @param largest from pb_replay_scan: so much card memory, twice if it can be had, is taken
 * @return enum pb_replay_result
 */
int pb_replay_run(struct pb_link *link, const struct pb_replay_options *options, uint64_t largest,
		  struct pb_replay_summary *summary);

#endif
