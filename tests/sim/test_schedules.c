/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/* The schedules: they repeat exactly, and the judge notices planted faults. */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/schedule.h"
#include "tests/sim/shrink.h"
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

static void schedules_hold_at_both_ends_of_the_seed_range(void **state)
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

static void one_seed_gives_one_schedule_whatever_ran_before(void **state)
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

static void different_seeds_give_different_schedules(void **state)
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
	const char *what; /**< part of the judge's message */
	bool may_go;      /**< the submission that it damages may be cancelled before a check */
	uint32_t without; /**< features that may hide the damage, or give it a valid cause */
};

#define CALM (PB_RATE_DIES | PB_RATE_RESTART | PB_RATE_DEAD | PB_RATE_HOSTILE | PB_RATE_MOVES)

static const struct mutation_case mutation_cases[] = {
	{PB_MUTATION_LOST, "no reason", true, CALM | PB_RATE_DEAF},
	{PB_MUTATION_STOPPED, "has waited", false, CALM},
	{PB_MUTATION_EARLY, "completed when it had not run to its end", false, CALM},
	{PB_MUTATION_BACK, "completed goes from", false, CALM},
	{PB_MUTATION_STORE, "was stored after the submission had ended", true, CALM},
	{PB_MUTATION_PATCH, "word 2 of its mark is", true, CALM},
	{PB_MUTATION_STATUS, "for no reason", false, CALM},
	{PB_MUTATION_FENCE, "the record has fence", false, CALM},
	{PB_MUTATION_EVENT, "instead of", false, CALM},
	{PB_MUTATION_FOREIGN, "another component has written", false, CALM},
	{PB_MUTATION_RANGE, "the engines have another segment", true, CALM},
	{PB_MUTATION_PUT, "not what its host wrote", false, CALM},
	{PB_MUTATION_SILENT, "without an interrupt", false, 0},
	{PB_MUTATION_QUERY, "QUERY of 1", false, 0},
	{PB_MUTATION_CALLS, "calls or accesses", false, 0},
	{PB_MUTATION_FORGOTTEN, "differs after a restart", false, 0},
	{PB_MUTATION_DROPPED, "events dropped", false, CALM | PB_RATE_UNREAD},
	{PB_MUTATION_STRAY, "has no owner, and has changed", true, CALM},
	{PB_MUTATION_FATAL, "the firmware stopped: kind 1", false, CALM},
	{PB_MUTATION_REVOKED, "host memory that was revoked has changed", true, CALM},
	{PB_MUTATION_BESIDE, "the engines have another segment 1", true, CALM},
};

/** Each time a fault was planted, the judge reported a break, and mostly the right one. */
static void check_mutation(struct pb_run *run, const struct mutation_case *mutation)
{
	uint32_t done = 0, named = 0, missed = 0;

	run->options = (struct pb_options){.without = mutation->without,
					   .host_memory = mutation->kind == PB_MUTATION_REVOKED ||
							  mutation->kind == PB_MUTATION_BESIDE};
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
	run->options = (struct pb_options){0};
	print_message("mutation %d: %u of %u named\n", (int)mutation->kind, named, done);
	assert_true(done >= TRIED / 20u);
	assert_true(named >= done / 2u && missed <= done / 20u);
}

static void a_planted_fault_is_noticed(void **state)
{
	assert_int_equal(sizeof(mutation_cases) / sizeof(mutation_cases[0]), PB_MUTATIONS - 1);
	for (size_t i = 0; i < sizeof(mutation_cases) / sizeof(mutation_cases[0]); i++)
		check_mutation(*state, &mutation_cases[i]);
}

/* ---- shrinking ---- */

static uint32_t count_actions(const struct pb_options *options)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < options->actions; i++)
		count += !options->skip[i];
	return count;
}

/** Prints the options by name and list, and parses them again, as if typed. */
static struct pb_options typed(const struct pb_options *options)
{
	struct pb_options read = {0};
	char text[2048], *rest = text, *word;

	pb_options_print(options, text, sizeof(text));
	while ((word = strtok_r(rest, " ", &rest)) != NULL) {
		char *value = strtok_r(rest, " ", &rest);
		uint32_t bit;

		assert_non_null(value);
		if (strcmp(word, "--hosts") == 0)
			read.hosts = (uint32_t)strtoul(value, NULL, 10);
		else if (strcmp(word, "--actions") == 0)
			read.actions = (uint32_t)strtoul(value, NULL, 10);
		else if (strcmp(word, "--skip") == 0)
			assert_true(pb_options_skip(&read, value));
		for (char *name = strtok_r(value, ",", &value);
		     strcmp(word, "--without") == 0 && name != NULL; name = strtok_r(value, ",", &value)) {
			assert_true(pb_options_rate(name, &bit));
			read.without |= bit;
		}
	}
	return read;
}

static void a_failing_schedule_is_shortened_and_its_options_parse_back(void **state)
{
	struct pb_run *run = *state;
	uint32_t shortened = 0, actions = 0;

	for (uint64_t seed = 0; seed < 30; seed++) {
		char what[sizeof(run->what)];
		uint64_t step;

		run->options = (struct pb_options){0};
		if (pb_schedule_run(run, seed, PB_MUTATION_EARLY))
			continue;
		assert_in_range(pb_shrink(run), 1, 1000);
		memcpy(what, run->what, sizeof(what));
		step = run->step;
		actions += count_actions(&run->options);
		run->options = typed(&run->options);
		assert_false(pb_schedule_run(run, seed, PB_MUTATION_EARLY));
		assert_string_equal(run->what, what);
		assert_int_equal(run->step, step);
		shortened++;
	}
	run->options = (struct pb_options){0};
	print_message("%u schedules shortened to %u actions in all\n", shortened, actions);
	/* One submission is enough, and now and then another before it. */
	assert_true(shortened >= 20u && actions <= 5u * shortened);
}

static void an_unknown_option_is_refused(void **state)
{
	static const char *const lists[] = {"", "x", "1,", ",1", "5-3", "216", "1-216", "1 2", "-1", "1--2"};
	struct pb_options options = {0};
	uint32_t bit;

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		assert_false(pb_options_skip(&options, lists[i]));
	assert_true(pb_options_skip(&options, "0,3-4,215"));
	assert_true(options.skip[0] && options.skip[3] && options.skip[4] && options.skip[215]);
	assert_false(pb_options_rate("nothing", &bit));
	assert_false(pb_options_rate("", &bit));
}

UNIT_SUITE(test_schedules)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schedules_hold_at_both_ends_of_the_seed_range),
		cmocka_unit_test(one_seed_gives_one_schedule_whatever_ran_before),
		cmocka_unit_test(different_seeds_give_different_schedules),
		cmocka_unit_test(a_planted_fault_is_noticed),
		cmocka_unit_test(a_failing_schedule_is_shortened_and_its_options_parse_back),
		cmocka_unit_test(an_unknown_option_is_refused),
	};

	return cmocka_run_group_tests_name("schedules", tests, create, destroy);
}
