/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A copy of card memory that a debug probe keeps up: this process reads and
 * writes it through plain pointers, as it would card memory.
 *
 * The copy is made a page at a time, when a page is touched, by way of page
 * protection and SIGSEGV. At any moment all pages that can be read are from
 * the same halt of the MCU, so that what is read later is never older than
 * what was read before: a ring's index from one page vouches for the entry in
 * another. What the host has written is found by comparing whole words with
 * what the MCU had, and only those words go back: host and MCU own different
 * words, and those beside the host's own stay what the MCU made of them. As
 * the MCU stands still meanwhile, it sees all of them at once, an index with
 * its entries.
 *
 * One thread may use a copy at a time. System calls are not to be given
 * pointers into it: they fail with EFAULT where a page is not there.
 */
#ifndef PB_HOST_LINK_GDB_MEMORY_H
#define PB_HOST_LINK_GDB_MEMORY_H

#include "host/link_gdb_remote.h"

/** What is counted, for those who ask what a link costs. */
struct pb_gdb_figures {
	uint64_t halts;     /**< times that the MCU was halted */
	uint64_t halted_us; /**< how long, all together */
	uint64_t bytes_in;  /**< read from the MCU's memory */
	uint64_t bytes_out; /**< written to it */
};

/** Pages that one instruction of the host may need: two from which it copies, two to which. */
#define PB_GDB_PAGES_AT_ONCE 4u

/** The caller's, and where it is while it is open it stays; only the functions below touch it. */
struct pb_gdb_memory {
	struct pb_gdb *gdb;
	struct pb_gdb_memory *next; /**< of all that are open */
	uint32_t address;           /**< of its first byte, as the MCU sees it */
	uint32_t bytes;             /**< a multiple of 4 */
	uint32_t page_bytes;        /**< of the system */
	uint32_t page_count;
	uint8_t *view;  /**< what the host has: protected page by page */
	uint8_t *copy;  /**< the same memory, without protection */
	uint8_t *base;  /**< what the MCU had, of pages that may have been written */
	uint8_t *pages; /**< flags of each page */
	uint32_t
		missed[PB_GDB_PAGES_AT_ONCE]; /**< different pages that were missing last, the latest first */
	uint32_t
		ahead; /**< pages that were read when one was missing last: more of them while they are in a row */
	uint32_t ahead_end;  /**< the page behind those */
	enum pb_error error; /**< of the first exchange that failed; from then on there are no others */
	uint64_t synced_us;  /**< when the last exchange ended */
	uint64_t cost_us;    /**< how long the last one took */
	struct pb_gdb_figures figures;
};

/**
 * Makes a copy; nothing of it is there yet. The first that is opened installs
 * a handler of SIGSEGV, which passes on what is not its own; the last that is
 * closed takes it away.
 * @param gdb greeted; its MCU runs from now on, but for moments
 * @param bytes a multiple of 4, not 0
 * @retval PB_ERROR_HOST_MEMORY
 * @retval PB_ERROR_SYSTEM see errno
 */
enum pb_error pb_gdb_memory_open(struct pb_gdb_memory *memory, struct pb_gdb *gdb, uint32_t address,
				 uint32_t bytes);
/** Hands over what was written, and ends it. The MCU runs. */
void pb_gdb_memory_close(struct pb_gdb_memory *memory);

/** Hands over what was written since; the MCU is not halted for nothing. @return memory->error */
enum pb_error pb_gdb_memory_push(struct pb_gdb_memory *memory);
/** The same, and what is read from now on is what the MCU has now, or later. @return memory->error */
enum pb_error pb_gdb_memory_sync(struct pb_gdb_memory *memory);
/** A word as it was at the last exchange, if its page was read there. @return false: it was not */
bool pb_gdb_memory_peek(const struct pb_gdb_memory *memory, uint32_t offset, uint32_t *word);

#endif
