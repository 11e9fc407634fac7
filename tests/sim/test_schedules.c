/* SPDX-License-Identifier: MIT */
/* The schedules themselves: they can be repeated, and the judge notices when the world is broken. */
#include <string.h>

#include "tests/sim/schedule.h"
#include "tests/unit/unit.h"

/** Schedules in which each mutation is tried. */
#define TRIED 200u

static int create(void **state)
{
	*state = pb_schedule_create();
	return *state == NULL ? -1 : 0;
}

static int destroy(void **state)
{
	pb_schedule_destroy(*state);
	return 0;
}

static void seeds_at_the_ends_of_their_range_hold(void **state)
{
	static const uint64_t seeds[] = {0, 1, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 1u, UINT64_MAX};

	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		struct pb_run *run = *state;

		if (!pb_schedule_run(run, seeds[i], PB_MUTATION_NONE))
			fail_msg("seed %llu: %s", (unsigned long long)seeds[i], run->what);
	}
}

/** What card memory holds at the end depends on all that has happened. */
static uint64_t digest(const struct pb_run *run)
{
	uint64_t hash = 14695981039346656037u;

	for (uint32_t i = 0; i < PB_WORLD_MEMORY_BYTES; i++)
		hash = (hash ^ run->world.memory[i]) * 1099511628211u;
	return hash ^ run->step ^ run->world.now << 20;
}

static void a_seed_is_one_schedule_whatever_ran_before(void **state)
{
	struct pb_run *run = *state, *other = pb_schedule_create();

	assert_non_null(other);
	for (uint64_t seed = 1000; seed < 1020; seed++)
		pb_schedule_run(run, seed, PB_MUTATION_NONE);
	for (uint64_t seed = 1019; seed >= 1015; seed--) {
		pb_schedule_run(run, seed, PB_MUTATION_NONE);
		pb_schedule_run(other, seed, PB_MUTATION_NONE);
		assert_true(digest(run) == digest(other));
	}
	pb_schedule_destroy(other);
}

static void seeds_differ(void **state)
{
	struct pb_run *run = *state;
	uint64_t first;

	pb_schedule_run(run, 5, PB_MUTATION_NONE);
	first = digest(run);
	pb_schedule_run(run, 6, PB_MUTATION_NONE);
	assert_true(digest(run) != first);
}

struct mutation_case {
	enum pb_mutation_kind kind;
	const char *what; /**< part of what the judge says */
	bool may_go;      /**< the work that it is done to may be cancelled before anybody looks at it */
};

static const struct mutation_case mutation_cases[] = {
	{PB_MUTATION_LOST, "no reason", false},
	{PB_MUTATION_STOPPED, "has waited", false},
	{PB_MUTATION_EARLY, "completed when it had not run to its end", false},
	{PB_MUTATION_BACK, "completed goes from", false},
	{PB_MUTATION_STORE, "was stored after the work had ended", false},
	{PB_MUTATION_PATCH, "word 2 of its mark is", true},
	{PB_MUTATION_STATUS, "for no reason", false},
	{PB_MUTATION_FENCE, "the record has fence", false},
	{PB_MUTATION_EVENT, "instead of", false},
};

/** Each time that the world was broken, the judge said so; and mostly it said what was wrong. */
static void check_mutation(struct pb_run *run, const struct mutation_case *mutation)
{
	uint32_t done = 0, named = 0, missed = 0;

	for (uint64_t seed = 0; seed < TRIED; seed++) {
		const bool held = pb_schedule_run(run, seed, mutation->kind);

		if (!run->mutation.done)
			continue;
		done++;
		missed += held;
		if (held && !mutation->may_go)
			fail_msg("mutation %d, seed %llu: not noticed", (int)mutation->kind,
				 (unsigned long long)seed);
		named += strstr(run->what, mutation->what) != NULL;
	}
	print_message("mutation %d: %u of %u named\n", (int)mutation->kind, named, done);
	assert_true(done >= TRIED / 10u);
	assert_true(named >= done / 2u && missed <= done / 20u);
}

static void a_broken_world_is_noticed(void **state)
{
	assert_int_equal(sizeof(mutation_cases) / sizeof(mutation_cases[0]), PB_MUTATIONS - 1);
	for (size_t i = 0; i < sizeof(mutation_cases) / sizeof(mutation_cases[0]); i++)
		check_mutation(*state, &mutation_cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seeds_at_the_ends_of_their_range_hold),
		cmocka_unit_test(a_seed_is_one_schedule_whatever_ran_before),
		cmocka_unit_test(seeds_differ),
		cmocka_unit_test(a_broken_world_is_noticed),
	};

	return cmocka_run_group_tests_name("schedules", tests, create, destroy);
}
