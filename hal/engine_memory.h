/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Memory management of a card's engines: which addresses each channel's
 * submissions may touch, and the page tables of apertures. One for the whole
 * card, whatever the number of its nodes. Thread context only; nothing blocks.
 */
#ifndef PB_HAL_ENGINE_MEMORY_H
#define PB_HAL_ENGINE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/base.h"

/** Addresses that a channel's submissions may touch: whole pages, in all three numbers. */
struct pb_engine_range {
	uint64_t gpu_base; /**< first GPU address */
	uint32_t bytes;    /**< 0: there is no such range */
	uint32_t
		memory_offset; /**< where the range lies in card memory, or in the window on host memory behind it (hal/host_window.h); paged: where its page table lies, in what the MCU sees of card memory */
	bool paged; /**< an aperture: each page lies where its page table entry points, in a range that is not paged */
};

/** Ranges of one channel. */
#define PB_ENGINE_RANGES 32u

/** Bytes of page table for an aperture of `bytes` bytes. */
#define PB_ENGINE_TABLE_BYTES(bytes) ((bytes) / PB_PAGE_BYTES * 4u)

/** Operations of the driver; all are called by the firmware, in thread context. */
struct pb_engine_memory_ops {
	/**
	 * Sets one of the ranges of a channel, for all nodes. The firmware changes
	 * a range only while nothing of the channel is fed. Adding one is safe at
	 * any time, `bytes` becomes visible last. So is removing one: a submission
	 * that runs may have the range until it ends, one that starts later has it
	 * not.
	 */
	void (*set_range)(void *context, uint32_t channel, uint32_t index,
			  const struct pb_engine_range *range);
	/**
	 * Reads one entry of a page table, for the MCU's own accesses through an aperture.
	 * @return the page's offset in card memory (foreign: range-check it), or 0 if it is not mapped
	 */
	uint32_t (*page)(void *context, uint32_t table_offset, uint32_t index);
	/** Writes `count` page table entries as not mapped, and invalidates the translation caches of all nodes. */
	void (*page_clear)(void *context, uint32_t table_offset, uint32_t index, uint32_t count);
	/**
	 * Starts to clear card memory that the MCU does not see, if the unit that does it is idle. `bytes` 0 only asks
	 * whether it is. NULL: the card has no such memory.
	 * @param offset of whole pages in outer memory (hal/outer_memory.h)
	 * @return whether the unit was idle: what it was given before is 0, for every engine
	 */
	bool (*clear)(void *context, uint32_t offset, uint32_t bytes);
};

/** The driver with its state; both live as long as the firmware. */
struct pb_engine_memory {
	const struct pb_engine_memory_ops *ops; /**< the driver's */
	void *context;                          /**< first argument of all operations */
};

#endif
