/* SPDX-License-Identifier: MIT */
/*
 * A host in the process of the card: waiting is what lets the card run.
 */
#include <stdlib.h>

#include "patchbay/link.h"
#include "qemu/sim.h"

struct sim_link {
	struct pb_link link; /* first, so that the one pointer is both */
	struct pb_sim *sim;
};

static struct pb_sim *sim_of(struct pb_link *link)
{
	return ((struct sim_link *)(void *)link)->sim;
}

static void doorbell(struct pb_link *link)
{
	pb_sim_doorbell(sim_of(link), link->channel);
}

static enum pb_error wait_for_card(struct pb_link *link, uint64_t timeout_us)
{
	struct pb_sim *sim = sim_of(link);
	const uint64_t start = pb_sim_now(sim);

	while (!pb_sim_interrupt_take(sim, link->channel)) {
		if (pb_sim_now(sim) - start >= timeout_us)
			return PB_ERROR_TIMEOUT;
		pb_sim_step(sim);
	}
	return PB_ERROR_OK;
}

static uint64_t now(struct pb_link *link)
{
	return pb_sim_now(sim_of(link));
}

static void close_link(struct pb_link *link)
{
	free(link);
}

static const struct pb_link_ops sim_link_ops = {
	.doorbell = doorbell,
	.wait = wait_for_card,
	.now = now,
	.close = close_link,
};

enum pb_error pb_link_open_sim(struct pb_sim *sim, uint32_t channel, struct pb_link **link)
{
	struct sim_link *made = calloc(1, sizeof(*made));

	if (made == NULL)
		return PB_ERROR_HOST_MEMORY;
	made->link = (struct pb_link){
		.ops = &sim_link_ops,
		.memory = pb_sim_memory(sim),
		.memory_bytes = pb_sim_memory_bytes(sim),
		.channel = channel,
	};
	made->sim = sim;
	*link = &made->link;
	return PB_ERROR_OK;
}
