/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay sim`: schedules by seed. It stands in tests/sim, because it looks at both sides of the contract.
 */
#ifndef PB_HOST_TOOL_SIM_COMMAND_H
#define PB_HOST_TOOL_SIM_COMMAND_H

/** @return 0: every invariant held; 1: one did not; 2: wrong arguments */
int pb_sim_command(int argc, char **argv);

#endif
