/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Memory protection: which accesses of the program are allowed where. Start-up
 * covers the code (read and execute), the variables (read and write) and the
 * guard below the stack (no access). A board lists the other memory that its
 * drivers and the firmware access, read and write without execute. All other
 * addresses are closed, also those that a null pointer reaches. A stray access
 * is a fault and leaves a crash record.
 *
 * What a CPU cannot express exactly becomes the smallest power of two that
 * covers it, at a multiple of its size. An image does not run if the CPU's unit
 * has too few regions, none among them, or if the CPU may cache card memory.
 */
#ifndef PB_HAL_PROTECT_H
#define PB_HAL_PROTECT_H

#include <stdbool.h>
#include <stdint.h>

/** Regions that a board may list. */
#define PB_REGIONS_MAX 4u
/**
 * From address 0 on, nothing may be touched: an image has nothing there but its vectors. Its header, behind them, stays
 * open, because a debug probe may see what the CPU sees.
 */
#define PB_NULL_BYTES 0x200u

/** How a region is accessed. */
enum pb_region_kind {
	PB_REGION_SHARED = 0, /**< memory that other processors access as well: not cached */
	PB_REGION_DEVICE = 1, /**< registers */
};

/** A range that the program may read and write, and not run. */
struct pb_region {
	uintptr_t start;          /**< its first address */
	uint32_t bytes;           /**< its size, not 0 */
	enum pb_region_kind kind; /**< how it is accessed */
};

/** Whether the protection unit was enough for the image. */
struct pb_protection {
	uint32_t has;   /**< regions of the unit that this CPU's driver can use */
	uint32_t needs; /**< regions that the image needs; 0: its board has not asked for protection */
};

/** Returns what the CPU had and needed when the board asked for protection. If it has less, nothing was protected. */
const struct pb_protection *pb_hal_protection(void);
/**
 * Whether a data cache may hold a part of a range, as cache and protection unit are set now. A CPU whose caches software
 * cannot know of (RISC-V) returns false.
 * @param bytes not 0
 */
bool pb_hal_may_cache(uintptr_t start, uint32_t bytes);
/** Writes back what a data cache holds of a range, so that other processors see it. */
void pb_hal_write_back(uintptr_t start, uint32_t bytes);

/**
 * Returns the start of the smallest aligned power of two that covers a region.
 * @param bytes in: the region's size, not 0; out: the size of the cover, at least 32
 */
static inline uintptr_t pb_region_cover(uintptr_t start, uint32_t *bytes)
{
	const uintptr_t last = start + *bytes - 1u;
	uint32_t size = 32;

	while (size < 0x80000000u && (start & ~((uintptr_t)size - 1u)) + (size - 1u) < last)
		size *= 2u;
	*bytes = size;
	return start & ~((uintptr_t)size - 1u);
}

#endif
