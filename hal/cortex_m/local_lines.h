/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Lines of a card that is one MCU and nothing else: its engines are soft
 * (hal/engine_model/soft.h), its hosts read and write card memory through a debug
 * probe. The only doorbell is the tick, at which the firmware polls every
 * channel; no host is interrupted, hosts poll.
 *
 * The engines run one step at each take(), that is, in each pass of the main
 * loop; before the firmware sleeps, a host that runs on the MCU is called.
 *
 * The card's clock stands still during a step and then advances by the engine
 * time of the step, so that a submission that takes this CPU long is not late:
 * all times are those of a card whose engines run beside the MCU.
 */
#ifndef PB_HAL_CORTEX_M_LOCAL_LINES_H
#define PB_HAL_CORTEX_M_LOCAL_LINES_H

#include "hal/engine_model/soft.h"
#include "hal/lines.h"
#include "patchbay/abi/boot.h"

/** The board fills in the first group. */
struct pb_local_lines {
	struct pb_soft_engines *engines;
	struct pb_boot_block *boot;      /**< in card memory: clock and heartbeat_clock are kept there */
	uint32_t cycles_per_tick;        /**< as of pb_cortex_m_tick_start */
	uint32_t cycles_per_microsecond; /**< of the core clock */
	/**
	 * A host on this MCU; NULL: none. Called in thread context when the firmware has nothing to do; it may read
	 * and write card memory like any host. @return true: it has more to do and is to be called again soon
	 */
	bool (*host)(void *context);
	void *host_context;

	uint32_t pending; /**< pending lines; written by the tick's handler */
	uint32_t ticks;   /**< written by the tick's handler */
	uint32_t clock;   /**< the card's, in microseconds */
	uint32_t cycles;  /**< of the timer, up to which the clock has been advanced */
	bool awake;       /**< engines or the host have more to do: no sleep */
};

/** Their context is a struct pb_local_lines. */
extern const struct pb_lines_ops pb_local_lines_ops;

/** Handler of the tick: records it, and nothing else. Handler mode. */
void pb_local_lines_tick(struct pb_local_lines *lines);

#endif
