/* SPDX-License-Identifier: MIT */
#include "tests/interleave/schedule.h"

#include <stddef.h>

#include "tests/interleave/card.h"
#include "tests/interleave/host.h"
#include "tests/interleave/weave.h"

/** Accesses after which a schedule counts as endless. */
#define ACCESSES_MAX 1000000u

bool pb_schedule_create(void)
{
	return pb_weave_card_create();
}

static void choose_rates(struct pb_random *random)
{
	static const uint32_t runs[] = {1, 2, 4, 8, 30, 200, 2000};
	static const uint32_t drains[] = {1, 2, 6, 20, 100, 500};
	static const uint32_t stales[] = {0, 2, 3, 8, 50};
	const struct pb_weave_rates rates = {
		.run = runs[pb_random_below(random, sizeof(runs) / sizeof(runs[0]))],
		.drain = drains[pb_random_below(random, sizeof(drains) / sizeof(drains[0]))],
		.stale = stales[pb_random_below(random, sizeof(stales) / sizeof(stales[0]))],
	};

	pb_weave_set_rates(&rates);
}

static void run(const struct pb_weave_ground *ground, uint64_t seed, struct pb_weave_plan *plan)
{
	pb_weave_reset(ground, seed);
	pb_weave_plan_reset(plan, ground, seed);
	choose_rates(pb_weave_random());
	pb_weave_card_reset();
	pb_host_reset();
	pb_weave_run();
}

enum pb_schedule_end pb_schedule_run(uint64_t seed, const struct pb_schedule_options *options)
{
	const struct pb_weave_ground ground = {
		.memory = pb_weave_card_memory(),
		.rung = pb_weave_card_rung,
		.clock = pb_weave_card_clock,
		.quiet = pb_weave_card_quiet,
		.limit = ACCESSES_MAX,
		.without = options->without,
		.without_line = options->line,
		.verbose = options->verbose,
	};
	struct pb_weave_plan plan = {.made = false};
	const bool twice = options->without != NULL || seed % 4u == 3u;

	run(&ground, seed, twice ? &plan : NULL);
	if (pb_weave_failure() == NULL && pb_weave_plan_make(&plan)) {
		run(&ground, seed, &plan);
		if (pb_weave_plan_void())
			return PB_SCHEDULE_VOID;
	}
	return pb_weave_failure() != NULL ? PB_SCHEDULE_BROKEN : PB_SCHEDULE_HELD;
}
