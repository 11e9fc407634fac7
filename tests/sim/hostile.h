/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Hosts that write garbage into their own share of memory at any step: a hostile one, and dead ones until the
 * supervisor has closed their channels. Their share is what the engines' range table holds, which they cannot
 * write.
 */
#ifndef PB_TESTS_SIM_HOSTILE_H
#define PB_TESTS_SIM_HOSTILE_H

#include "tests/sim/run.h"

/** Whether any host writes garbage in this schedule. */
bool pb_hostile_present(const struct pb_run *run);
/** The hostile host acts, validly or not. The memory of dead hosts is overwritten. */
void pb_hostile_act(struct pb_run *run);
/** May schedule a garbage write in the middle of one of the next passes. */
void pb_hostile_plan(struct pb_run *run);
/** The hostile host stops writing. The supervisor closes its channel. */
void pb_hostile_end(struct pb_run *run);

/** Where the engines' range table has a segment. @return bytes of card memory; 0: absent, or paged */
uint32_t pb_hostile_range(const struct pb_world *world, uint32_t channel, uint32_t segment, uint32_t *offset);

#endif
