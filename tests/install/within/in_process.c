/* SPDX-License-Identifier: MIT */
/* Attaches to a card in this process. */
#include <patchbay/patchbay.h>
#include <patchbay/sim.h>
#include <stdio.h>

int main(void)
{
	static struct pb_channel channel;
	struct pb_sim *sim = pb_sim_create();
	struct pb_link *link;

	if (sim == NULL || pb_link_open_sim(sim, 1, &link) != PB_ERROR_OK)
		return 1;
	if (pb_channel_attach(&channel, link, 1000000) != PB_ERROR_OK)
		return 1;
	puts(channel.card.build);
	link->ops->close(link);
	pb_sim_destroy(sim);
	return 0;
}
