/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/* The schedules themselves: they can be repeated, and the judge notices when the world is broken. */
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
	uint32_t without; /**< what may take the evidence away, or is a reason for what should have none */
};

#define CALM (PB_RATE_DIES | PB_RATE_RESTART | PB_RATE_DEAD | PB_RATE_HOSTILE | PB_RATE_MOVES)

static const struct mutation_case mutation_cases[] = {
	{PB_MUTATION_LOST, "no reason", true, CALM | PB_RATE_DEAF},
	{PB_MUTATION_STOPPED, "has waited", false, CALM},
	{PB_MUTATION_EARLY, "completed when it had not run to its end", false, CALM},
	{PB_MUTATION_BACK, "completed goes from", false, CALM},
	{PB_MUTATION_STORE, "was stored after the work had ended", true, CALM},
	{PB_MUTATION_PATCH, "word 2 of its mark is", true, CALM},
	{PB_MUTATION_STATUS, "for no reason", false, CALM},
	{PB_MUTATION_FENCE, "the record has fence", false, CALM},
	{PB_MUTATION_EVENT, "instead of", false, CALM},
	{PB_MUTATION_FOREIGN, "somebody has written", false, CALM},
	{PB_MUTATION_RANGE, "the engines have another segment", true, CALM},
	{PB_MUTATION_PUT, "not what its host wrote", false, CALM},
	{PB_MUTATION_SILENT, "without an interrupt", false, 0},
	{PB_MUTATION_QUERY, "QUERY of 1", false, 0},
	{PB_MUTATION_CALLS, "calls or accesses", false, 0},
	{PB_MUTATION_FORGOTTEN, "another after a restart", false, 0},
	{PB_MUTATION_DROPPED, "events dropped", false, CALM | PB_RATE_UNREAD},
	{PB_MUTATION_STRAY, "is nobody's, and has changed", true, CALM},
	{PB_MUTATION_FATAL, "the firmware stopped: kind 1", false, CALM},
};

/** Each time that the world was broken, the judge said so; and mostly it said what was wrong. */
static void check_mutation(struct pb_run *run, const struct mutation_case *mutation)
{
	uint32_t done = 0, named = 0, missed = 0;

	run->options = (struct pb_options){.without = mutation->without};
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

static void a_broken_world_is_noticed(void **state)
{
	assert_int_equal(sizeof(mutation_cases) / sizeof(mutation_cases[0]), PB_MUTATIONS - 1);
	for (size_t i = 0; i < sizeof(mutation_cases) / sizeof(mutation_cases[0]); i++)
		check_mutation(*state, &mutation_cases[i]);
}

/* ---- making them shorter ---- */

static uint32_t count_actions(const struct pb_options *options)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < options->actions; i++)
		count += !options->skip[i];
	return count;
}

/** As if typed: the options printed by name and list, and read again. */
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

static void a_failing_schedule_gets_short_and_is_the_same_when_typed(void **state)
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
	/* One submission is what it takes, and now and then another before it. */
	assert_true(shortened >= 20u && actions <= 5u * shortened);
}

static void what_is_no_option_is_refused(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seeds_at_the_ends_of_their_range_hold),
		cmocka_unit_test(a_seed_is_one_schedule_whatever_ran_before),
		cmocka_unit_test(seeds_differ),
		cmocka_unit_test(a_broken_world_is_noticed),
		cmocka_unit_test(a_failing_schedule_gets_short_and_is_the_same_when_typed),
		cmocka_unit_test(what_is_no_option_is_refused),
	};

	return cmocka_run_group_tests_name("schedules", tests, create, destroy);
}
