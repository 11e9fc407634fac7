/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Lines of a card that is one MCU and nothing else: its engines are soft
 * (hal/engine/soft.h), its hosts read and write card memory through a debug
 * probe. No doorbell comes in but by the tick, which has the firmware look at
 * every channel; no host is interrupted, hosts look for themselves.
 *
 * The engines have a step at each take(), that is, in each pass of the main
 * loop; before it sleeps, a host that lives on the MCU itself has its turn.
 *
 * The card's clock stands still during a step and then moves by the engine
 * time of it, so that work which takes this CPU long is not late: all times
 * of the firmware are those of a card whose engines run beside the MCU.
 */
#ifndef PB_HAL_CORTEX_M_LOCAL_LINES_H
#define PB_HAL_CORTEX_M_LOCAL_LINES_H

#include "firmware/abi/boot.h"
#include "hal/engine/soft.h"
#include "hal/lines.h"

/** The board fills in the first group. */
struct pb_local_lines {
	struct pb_soft_engines *engines;
	struct pb_boot_block *boot;      /**< in card memory: clock and heartbeat_clock are kept there */
	uint32_t cycles_per_tick;        /**< as of pb_cortex_m_tick_start */
	uint32_t cycles_per_microsecond; /**< of the core clock */
	/**
	 * A host on this MCU; NULL: none. Called in thread context when the firmware has nothing to do; it may read
	 * and write card memory like any host. @return true: it is not done, and wants another turn soon
	 */
	bool (*host)(void *context);
	void *host_context;

	uint32_t pending; /**< lines raised and not taken; written by the tick's handler */
	uint32_t ticks;   /**< written by the tick's handler */
	uint32_t clock;   /**< the card's, in microseconds */
	uint32_t cycles;  /**< of the timer, up to when the clock has been moved on */
	bool awake;       /**< engines or the host have more to do: no sleep */
};

extern const struct pb_lines_ops pb_local_lines_ops;

/** Handler of the tick: records, no more. */
void pb_local_lines_tick(struct pb_local_lines *lines);

#endif
