/* SPDX-License-Identifier: MIT */
#include "tests/unit/replay_card.h"

#include "patchbay/link.h"
#include "qemu/mcu/layout.h"
#include "qemu/sim.h"
#include "tests/unit/unit.h"

void (*replay_sabotage)(uint8_t *pool);
static const struct pb_link_ops *real_ops;

static void sabotaged_doorbell(struct pb_link *link)
{
	if (replay_sabotage != NULL)
		replay_sabotage(link->memory + PB_CARD_POOL_OFFSET);
	real_ops->doorbell(link);
}

int replay_on_card(const struct pb_replay_options *options, struct pb_replay_summary *summary)
{
	struct pb_sim *sim;
	struct pb_link_ops ops;
	struct pb_link *link;
	uint64_t largest;
	int result = pb_replay_scan(options, &largest, summary);

	if (result != PB_REPLAY_OK)
		return result;
	sim = pb_sim_create();
	assert_non_null(sim);
	assert_int_equal(pb_link_open_sim(sim, 1, &link), PB_ERROR_OK);
	real_ops = link->ops;
	ops = *real_ops;
	ops.doorbell = sabotaged_doorbell;
	link->ops = &ops;
	result = pb_replay_run(link, options, largest, summary);
	link->ops->close(link);
	pb_sim_destroy(sim);
	return result;
}
