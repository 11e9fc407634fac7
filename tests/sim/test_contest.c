/* SPDX-License-Identifier: MIT */
/* Contests: clients whose time is judged, beside rivals that play well. The claims hold, and each of them can fail. */
#include <string.h>

#include "tests/sim/contest.h"
#include "tests/unit/unit.h"

#define ALL_STRATEGIES ((1u << PB_STRATEGY_COUNT) - 1u)

static int create(void **state)
{
	*state = pb_contest_create();
	return *state == NULL ? -1 : 0;
}

static int destroy(void **state)
{
	pb_contest_destroy(*state);
	return 0;
}

static void expect_held(struct pb_contest *contest, uint32_t without, uint64_t from)
{
	contest->without = without;
	contest->fault = PB_CONTEST_NO_FAULT;
	for (uint64_t seed = from; seed < from + TRIED; seed++) {
		if (!pb_contest_run(contest, seed))
			fail_msg("contest %llu: %s", (unsigned long long)seed, contest->what);
	}
	assert_true(contest->completed > TRIED * 100u && contest->waited > TRIED * 100u);
}

/** A card that has been up for a while, and no client has used its nodes: the first one pays for nothing before. */
static void the_first_client_of_a_node_is_not_charged_for_the_time_before(void **state)
{
	expect_held(*state, ALL_STRATEGIES, 1);
}

static void rivals_that_play_well_take_no_time_from_others(void **state)
{
	expect_held(*state, 0, 1000);
}

static void one_seed_gives_one_contest_whatever_ran_before(void **state)
{
	struct pb_contest *contest = *state, *other = pb_contest_create();

	assert_non_null(other);
	contest->without = other->without = 0;
	for (uint64_t seed = 5; seed < 8; seed++) {
		(void)pb_contest_run(contest, 100u + seed);
		(void)pb_contest_run(contest, seed);
		(void)pb_contest_run(other, seed);
		assert_true(contest->world.now == other->world.now);
		assert_memory_equal(contest->world.memory, other->world.memory, contest->world.memory_bytes);
	}
	pb_contest_destroy(other);
}

struct planted {
	enum pb_contest_fault fault;
	const char *named[3]; /**< claims that it breaks, as the contest names them */
	/** Least number of TRIED contests: unfair weights need room. */
	uint32_t least;
};

static const struct planted planted[] = {
	{PB_CONTEST_FROZEN,
	 {"it lacks engine time", "a submission of queue", "a preemption"},
	 TRIED * 9u / 10u},
	{PB_CONTEST_STOPPED, {"a reply", "an urgent submission", "a wake"}, TRIED * 3u / 4u},
	{PB_CONTEST_UNFAIR,
	 {"it lacks engine time", "it lacks engine time", "it lacks engine time"},
	 TRIED / 5u},
};

static bool names(const struct planted *fault, const char *what)
{
	for (uint32_t i = 0; i < 3u; i++) {
		if (strstr(what, fault->named[i]) != NULL)
			return true;
	}
	return false;
}

static void a_planted_fault_breaks_a_claim_of_time(void **state)
{
	struct pb_contest *contest = *state;

	for (size_t i = 0; i < sizeof(planted) / sizeof(planted[0]); i++) {
		uint32_t broken = 0;

		contest->without = ALL_STRATEGIES & ~(uint32_t)PB_STRATEGY_WORK;
		contest->fault = planted[i].fault;
		for (uint64_t seed = 0; seed < TRIED; seed++) {
			if (pb_contest_run(contest, seed))
				continue;
			broken += names(&planted[i], contest->what);
		}
		print_message("fault %d: %u of %u\n", (int)planted[i].fault, broken, TRIED);
		assert_true(broken >= planted[i].least);
	}
	contest->fault = PB_CONTEST_NO_FAULT;
}

/** A failing contest is shortened to the strategies that it needs. */
static void a_failing_contest_is_shortened(void **state)
{
	struct pb_contest *contest = *state;

	contest->without = 0;
	contest->fault = PB_CONTEST_UNFAIR;
	for (uint64_t seed = 0; seed < TRIED; seed++) {
		contest->without = 0;
		if (pb_contest_run(contest, seed))
			continue;
		pb_contest_shrink(contest, seed);
		assert_true(contest->what[0] != '\0');
		assert_true((contest->without & ~(uint32_t)PB_STRATEGY_WORK) != 0);
	}
	contest->without = 0;
	contest->fault = PB_CONTEST_NO_FAULT;
}

UNIT_SUITE(test_contest)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_client_of_a_node_is_not_charged_for_the_time_before),
		cmocka_unit_test(rivals_that_play_well_take_no_time_from_others),
		cmocka_unit_test(one_seed_gives_one_contest_whatever_ran_before),
		cmocka_unit_test(a_planted_fault_breaks_a_claim_of_time),
		cmocka_unit_test(a_failing_contest_is_shortened),
	};

	return cmocka_run_group_tests_name("contests", tests, create, destroy);
}
