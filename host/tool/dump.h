/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A saved card, as `patchbay dump` writes it: card memory from its first byte on, then what the firmware answered when
 * it was asked about every channel and queue, then a footer. So each reader of card memory reads it as it is. What is
 * read from a file is checked before use.
 */
#ifndef PB_HOST_TOOL_DUMP_H
#define PB_HOST_TOOL_DUMP_H

#include <stdio.h>

#include "patchbay/patchbay.h"

/** Largest card memory that is saved or read, in bytes. */
#define PB_DUMP_MEMORY_MAX (256u << 20)
/** First words of a footer, "PBDUMP" and its version. */
#define PB_DUMP_MAGIC_LOW  0x55444250u
#define PB_DUMP_MAGIC_HIGH 0x0001504du

/** The answer to a QUERY. Words are little-endian. */
struct pb_dump_answer {
	uint32_t arguments[3];              /**< of PB_COMMAND_QUERY */
	uint32_t results[PB_REPLY_RESULTS]; /**< of its reply, which had no error */
};

/** The end of a saved card. Words are little-endian. */
struct pb_dump_footer {
	uint32_t magic_low;    /**< PB_DUMP_MAGIC_LOW */
	uint32_t magic_high;   /**< PB_DUMP_MAGIC_HIGH */
	uint32_t memory_bytes; /**< card memory, in front of the answers */
	uint32_t answers;      /**< how many struct pb_dump_answer there are */
};

/** A saved card in memory. */
struct pb_dump {
	uint8_t *memory;                      /**< card memory, of this size exactly; NULL: none was read */
	uint32_t memory_bytes;                /**< size of `memory` */
	const struct pb_dump_answer *answers; /**< behind it, in the same allocation */
	uint32_t count;                       /**< of answers; 0 also if only card memory was saved */
};

/** What was saved, for a message. */
struct pb_dump_figures {
	uint32_t memory_bytes; /**< card memory */
	uint32_t answers;      /**< of the firmware */
};

/**
 * Saves a card. Pages of zeros take no room in a file that has holes.
 * @param channel asks the firmware; NULL: it does not answer
 * @return false: errno says why the file could not be written
 */
bool pb_dump_write(FILE *file, const struct pb_link *link, struct pb_channel *channel,
		   struct pb_dump_figures *figures);
/**
 * Reads a saved card, or card memory without anything behind it.
 * @param dump out; the caller frees its memory
 * @return NULL, or what is wrong with the file
 */
const char *pb_dump_read(FILE *file, struct pb_dump *dump);
/**
 * Makes a link on which a channel asks the saved card, as an observer asks a running one. A question without a saved
 * answer has PB_ERROR_BAD_HANDLE.
 * @param dump must stay; closing the link frees its memory
 * @return NULL: out of memory
 */
struct pb_link *pb_dump_link(const struct pb_dump *dump);

#endif
