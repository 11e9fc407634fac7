/* SPDX-License-Identifier: MIT */
/* `patchbay sim` with events injected at each access of the firmware to card memory. */
#include "host/tool/sim_command.h"

int main(int argc, char **argv)
{
	return pb_sim_command(argc, argv);
}
