/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Hosts that write garbage into what is theirs, at any moment: a hostile one, and dead ones until the supervisor has
 * closed their channels. What is theirs is what the engines' range table says, which they cannot write.
 */
#ifndef PB_TESTS_SIM_HOSTILE_H
#define PB_TESTS_SIM_HOSTILE_H

#include "tests/sim/run.h"

/** Whether anybody writes garbage. */
bool pb_hostile_present(const struct pb_run *run);
/** The hostile host does something, be it right or wrong; the dead ones' memory goes to ruin. */
void pb_hostile_act(struct pb_run *run);
/** May have garbage written in the middle of one of the passes to come. */
void pb_hostile_plan(struct pb_run *run);
/** The hostile host writes no more; the supervisor closes its channel. */
void pb_hostile_end(struct pb_run *run);

/** Where a segment of a channel lies, as the engines have it. @return its bytes of card memory; 0: it is not there, or paged */
uint32_t pb_hostile_range(const struct pb_world *world, uint32_t channel, uint32_t segment, uint32_t *offset);

#endif
