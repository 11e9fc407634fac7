/* SPDX-License-Identifier: MIT */
#include "loader/start.h"

int main(void);

int main(void)
{
	const struct pb_loader *loader = pb_loader_board();
	struct pb_loader_choice choice;

	pb_loader_choose(loader, &choice);
	pb_loader_start(loader, &choice);
}
