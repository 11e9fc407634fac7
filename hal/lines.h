/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Interrupt lines: doorbells and engine interrupts into the MCU, engine
 * doorbells and host interrupts out of it, and the tick.
 */
#ifndef PB_HAL_LINES_H
#define PB_HAL_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/shared.h"

/** In: channel c's doorbell. Out: channel c's host interrupt. */
#define PB_LINE_CHANNEL(c) ((uint32_t)(c))
/** In: node n's engine interrupt. Out: node n's engine doorbell. */
#define PB_LINE_NODE(n) (16u + (uint32_t)(n))
/** In only: the tick, every 5 ms or less. */
#define PB_LINE_TICK 31u

#define PB_LINES_CHANNELS 0x0000ffffu /**< all doorbells, as a mask */
#define PB_LINES_NODES    0x00ff0000u /**< all engines, as a mask */

/** Operations of a lines driver; all are called in thread context. */
struct pb_lines_ops {
	/**
	 * Takes and clears the set of lines that were raised, as a mask of
	 * 1 << line. The core assumes that a line raised after the take shows in
	 * the next one, and that what the raiser stored before is visible.
	 * The driver's interrupt handler only records.
	 */
	uint32_t (*take)(void *context);
	/**
	 * Raises an outgoing line. Never blocks: the driver keeps what it cannot
	 * send yet. Raising twice may be seen once. The core has put a release
	 * barrier before it.
	 */
	void (*raise)(void *context, uint32_t line);
	/**
	 * Before sleeping: from here to idle_leave no interrupt is handled, but
	 * each stays pending and ends the wait.
	 */
	void (*idle_enter)(void *context);
	/** Sleeps until a line is pending; returns at once if one is. */
	void (*idle_wait)(void *context);
	/** Handles what is pending; take() returns it next. */
	void (*idle_leave)(void *context);
};

/** A lines driver with its state; both live as long as the firmware. */
struct pb_lines {
	const struct pb_lines_ops *ops; /**< the driver's */
	void *context;                  /**< their first argument */
	const uint32_t *pending; /**< a word of the driver's: not 0 while take() would return anything */
};

/** Whether take() would return anything: for a look between two slices. May be a moment late. */
/*@
  requires \valid_read(pending);
  assigns \nothing;
*/
static inline bool pb_lines_waiting(const uint32_t *pending)
{
	return pb_shared_read32(pending) != 0;
}

#endif
