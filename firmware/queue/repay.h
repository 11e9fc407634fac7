/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a priority repays that was served because it had starved. The owner of
 * pb_core_fair_level.repay_us and of pb_core_fair.repays; main loop only.
 */
#ifndef PB_FIRMWARE_QUEUE_REPAY_H
#define PB_FIRMWARE_QUEUE_REPAY_H

#include <stdint.h>

struct pb_core_node;

/**
 * Charges a protected submission PB_REPAY_TIMES its runtime, which higher priorities must get first; their runtime repays.
 * So that priorities that starve side by side cost the higher ones no more than one does, all of them repay; one time
 * less, so that another one is due first.
 */
void pb_core_repay_protected(struct pb_core_node *node, uint32_t priority, uint32_t microseconds);
/** A priority has had engine time, or has kept it from lower ones as it waited for a job: that repays theirs. */
void pb_core_repay(struct pb_core_node *node, uint32_t priority, uint32_t microseconds);

#endif
