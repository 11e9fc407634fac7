/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay sim`: schedules by seed. Implemented in tests/sim, because it uses both sides of the contract.
 */
#ifndef PB_HOST_TOOL_SIM_COMMAND_H
#define PB_HOST_TOOL_SIM_COMMAND_H

/** Runs the command. @return exit code: 0 every invariant held, 1 one was violated, 2 usage error */
int pb_sim_command(int argc, char **argv);

#endif
