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
	 * Returns and clears the set of pending lines, as a mask of 1 << line. A
	 * line that is raised afterwards is in the next call's result. What the
	 * raiser stored before it raised a line is visible to the caller. The
	 * driver's interrupt handlers record lines and do nothing else.
	 */
	uint32_t (*take)(void *context);
	/**
	 * Raises an outgoing line. Never blocks: the driver keeps a line that it
	 * cannot send yet and sends it from an interrupt. Two raises of one line
	 * may arrive as one. Pre: the caller has put a release barrier before it.
	 */
	void (*raise)(void *context, uint32_t line);
	/**
	 * Masks interrupts, before the firmware sleeps: until idle_leave() none is
	 * handled, but each stays pending and ends idle_wait().
	 */
	void (*idle_enter)(void *context);
	/** Sleeps until a line is pending; returns at once if one is. */
	void (*idle_wait)(void *context);
	/** Unmasks interrupts: the pending ones are handled, and the next take() returns their lines. */
	void (*idle_leave)(void *context);
};

/** A lines driver with its state; both live as long as the firmware. */
struct pb_lines {
	const struct pb_lines_ops *ops; /**< the driver's */
	void *context;                  /**< first argument of all operations */
	const uint32_t *pending;        /**< a word of the driver: not 0 while take() would return a line */
};

/** Returns whether take() would return a line. Cheap: one read, for the check between two slices. May be late by a moment. */
/*@
  requires \valid_read(pending);
  assigns \nothing;
*/
static inline bool pb_lines_waiting(const uint32_t *pending)
{
	return pb_shared_read32(pending) != 0;
}

#endif
