/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A copy of card memory that is kept up to date through a debug probe. This
 * process reads and writes the copy through plain pointers, as card memory.
 *
 * Pages are read on first access, by page protection and SIGSEGV. All readable
 * pages are of one halt of the MCU, so that a later read is never older than an
 * earlier one: after a ring's index was read from one page, its entry in
 * another page is valid. Words that the host has written are found by a
 * comparison with the MCU's words, and only those are written back: host and
 * MCU own different words. The MCU is halted during the exchange and so sees
 * all of them at once, an index together with its entries.
 *
 * One thread may use a copy at a time. Pointers into the copy must not be
 * passed to system calls: they fail with EFAULT on a page that was not read.
 */
#ifndef PB_HOST_LINK_GDB_MEMORY_H
#define PB_HOST_LINK_GDB_MEMORY_H

#include "host/link_gdb_remote.h"
#include "patchbay/link_gdb.h"

/** Pages that one instruction of the host may need: two to read from, two to write to. */
#define PB_GDB_PAGES_AT_ONCE 4u

/** A copy. The caller owns the struct and keeps it in place while open; only the functions below access it. */
struct pb_gdb_memory {
	struct pb_gdb *gdb;         /**< the stub */
	struct pb_gdb_memory *next; /**< list of all open copies */
	uint32_t address;           /**< of the first byte, as the MCU addresses it */
	uint32_t bytes;             /**< size, a multiple of 4 */
	uint32_t page_bytes;        /**< page size of the host */
	uint32_t page_count;        /**< pages of the copy */
	uint8_t *view;              /**< the host's view: protected page by page */
	uint8_t *copy;              /**< the memory of `view`, mapped without protection */
	uint8_t *base;              /**< the MCU's words, for pages that may have been written */
	uint8_t *pages;             /**< flags of each page */
	/** The last different pages that were missing, the latest first. */
	uint32_t missed[PB_GDB_PAGES_AT_ONCE];
	uint32_t ahead;      /**< pages read at the last miss: doubles while the misses are consecutive */
	uint32_t ahead_end;  /**< page behind those */
	enum pb_error error; /**< of the first failed exchange; no further one is tried */
	uint64_t synced_us;  /**< end of the last exchange, on pb_clock_us() */
	uint64_t cost_us;    /**< duration of the last exchange */
	struct pb_gdb_figures figures; /**< cost since the copy was opened */
};

/**
 * Opens a copy; no page is read yet. The first open copy installs a SIGSEGV handler, which passes on faults elsewhere;
 * closing the last copy restores the former handler.
 * @param gdb greeted; from now on its MCU runs, except during exchanges
 * @param bytes a multiple of 4, not 0
 * @retval PB_ERROR_HOST_MEMORY the host is out of memory
 * @retval PB_ERROR_SYSTEM a system call failed; errno holds the reason
 */
enum pb_error pb_gdb_memory_open(struct pb_gdb_memory *memory, struct pb_gdb *gdb, uint32_t address,
				 uint32_t bytes);
/** Writes the host's words back and closes the copy. The MCU runs. */
void pb_gdb_memory_close(struct pb_gdb_memory *memory);

/** Writes the host's words back. Does not halt the MCU if the host wrote nothing. @return memory->error */
enum pb_error pb_gdb_memory_push(struct pb_gdb_memory *memory);
/**
 * Writes the host's words back and discards all pages, so that later reads are as new as this call. @return
 * memory->error
 */
enum pb_error pb_gdb_memory_sync(struct pb_gdb_memory *memory);
/** Returns a word of the last exchange without an exchange. @return false: its page was not read then */
bool pb_gdb_memory_peek(const struct pb_gdb_memory *memory, uint32_t offset, uint32_t *word);

#endif
