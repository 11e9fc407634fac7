/* SPDX-License-Identifier: MIT */
/* `patchbay sim` around a firmware that something may happen to at each access to card memory. */
#include "host/tool/sim_command.h"

int main(int argc, char **argv)
{
	return pb_sim_command(argc, argv);
}
