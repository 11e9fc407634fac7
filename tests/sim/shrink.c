/* SPDX-License-Identifier: MIT */
#include "tests/sim/shrink.h"

#include <string.h>

#include "tests/sim/schedule.h"

/** What stays fixed while shrinking: the seed, the card and the invariant. */
struct failure {
	uint64_t seed;
	enum pb_mutation_kind mutation;
	const char *broke;
	char what[sizeof(((struct pb_run *)NULL)->what)];
	uint32_t tried;
};

/** Whether the invariant breaks with these options, too. If so, they become the run's. */
static bool breaks(struct pb_run *run, struct failure *failure, const struct pb_options *options)
{
	const struct pb_options before = run->options;

	failure->tried++;
	run->options = *options;
	if (!pb_schedule_run(run, failure->seed, failure->mutation) && run->broke == failure->broke &&
	    /* The place where the firmware stopped is one of many. */
	    (run->broke != NULL || strcmp(run->what, failure->what) == 0))
		return true;
	run->options = before;
	return false;
}

/** Drops the actions after the one in which the invariant broke. */
static void cut_after(struct pb_run *run, struct failure *failure, uint32_t action)
{
	struct pb_options options = run->options;

	/* The invariant may have broken at the end of the schedule, after all actions. */
	options.actions = action + 1u;
	if (action + 1u < PB_ACTIONS_MAX && breaks(run, failure, &options))
		return;
	for (uint32_t step = PB_ACTIONS_MAX / 2u; step != 0; step /= 2u) {
		options = run->options;
		if (options.actions == 0)
			options.actions = PB_ACTIONS_MAX;
		if (options.actions <= step)
			continue;
		options.actions -= step;
		breaks(run, failure, &options);
	}
}

static void drop_hosts(struct pb_run *run, struct failure *failure)
{
	for (uint32_t hosts = 1; hosts < PB_HOSTS; hosts++) {
		struct pb_options options = run->options;

		options.hosts = hosts;
		if (breaks(run, failure, &options))
			return;
	}
}

static void drop_faults(struct pb_run *run, struct failure *failure)
{
	for (uint32_t i = 0; i < PB_RATE_COUNT; i++) {
		struct pb_options options = run->options;

		options.without |= 1u << i;
		breaks(run, failure, &options);
	}
}

/** Drops runs of actions, shorter and shorter ones. */
static void drop_actions(struct pb_run *run, struct failure *failure)
{
	const uint32_t end = run->options.actions != 0 ? run->options.actions : PB_ACTIONS_MAX;

	for (uint32_t length = 64; length != 0; length /= 2u) {
		for (uint32_t first = 0; first < end; first += length) {
			struct pb_options options = run->options;
			bool any = false;

			for (uint32_t i = first; i < first + length && i < end; i++) {
				any = any || !options.skip[i];
				options.skip[i] = true;
			}
			if (any)
				breaks(run, failure, &options);
		}
	}
}

/** Skipped actions after the last one mean nothing. */
static void forget_skipped_end(struct pb_run *run)
{
	uint32_t end = run->options.actions != 0 ? run->options.actions : PB_ACTIONS_MAX;

	while (end > 1u && run->options.skip[end - 1u])
		run->options.skip[--end] = false;
	run->options.actions = end;
	for (uint32_t i = end; i < PB_ACTIONS_MAX; i++)
		run->options.skip[i] = false;
}

uint32_t pb_shrink(struct pb_run *run)
{
	const struct pb_totals totals = run->totals;
	const bool verbose = run->verbose;
	struct failure failure = {.seed = run->seed, .mutation = run->mutation.kind, .broke = run->broke};

	memcpy(failure.what, run->what, sizeof(failure.what));
	run->verbose = false;
	cut_after(run, &failure, run->action);
	drop_faults(run, &failure);
	drop_hosts(run, &failure);
	drop_actions(run, &failure);
	drop_faults(run, &failure);
	drop_actions(run, &failure);
	forget_skipped_end(run);
	run->verbose = verbose;
	pb_schedule_run(run, failure.seed, failure.mutation);
	run->totals = totals;
	return failure.tried;
}
