/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/sim/schedule.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/sim/actions.h"
#include "tests/sim/finish.h"
#include "tests/sim/host_memory.h"
#include "tests/sim/hostile.h"
#include "tests/sim/judge.h"
#include "tests/sim/leaks.h"
#include "tests/sim/setup.h"

/** Steps between two checks of memory that must not change and of progress. */
#define CHECK_STEPS 16u
/** Steps between two checks of pool memory without an owner, which is large. */
#define POOL_STEPS 64u
/** More steps than any reply of the firmware can take. */
#define END_STEPS 100000u

void pb_run_break(struct pb_run *run, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(run->what, sizeof(run->what), format, arguments);
	va_end(arguments);
	run->broke = format;
	longjmp(run->broken, 1);
}

void pb_run_log(const struct pb_run *run, const char *format, ...)
{
	va_list arguments;

	if (!run->verbose)
		return;
	printf("%6llu %8llu us  ", (unsigned long long)run->step, (unsigned long long)run->world.now);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
}

/* ---- one step ---- */

/** How long the step is, for the MCU and the engines. With nothing to do before the next tick, time leaps to the tick. */
static uint32_t step_time(struct pb_run *run)
{
	static const uint32_t times[] = {1, 10, 10, 40, 40, 150, 150, 1000};

	if (run->quiet && !pb_world_awake(&run->world) && run->world.next_tick > run->world.now)
		return (uint32_t)(run->world.next_tick - run->world.now);
	return times[pb_random_below(&run->random, 8)];
}

/** Checks memory that must not change, and progress. */
static void check_memory(struct pb_run *run)
{
	for (uint32_t h = 0; h < run->host_count; h++) {
		if (!run->hosts[h].attached)
			continue;
		pb_judge_marks(run, &run->hosts[h]);
		pb_judge_share(run, &run->hosts[h]);
	}
	pb_judge_card(run);
	pb_host_memory_judge(run);
	pb_judge_patience(run);
	if (run->step % POOL_STEPS == 0 && run->supervising)
		pb_judge_pool(run);
}

void pb_run_step(struct pb_run *run)
{
	const uint32_t microseconds = step_time(run);
	const uint64_t end = run->world.now + microseconds;
	uint32_t left;

	run->step++;
	pb_hostile_plan(run);
	while (pb_world_awake(&run->world) && run->world.now < end) {
		pb_world_pass(&run->world);
		pb_judge_pass(run);
		pb_judge_check(run);
	}
	left = run->world.now < end ? (uint32_t)(end - run->world.now) : 0;
	pb_world_advance(&run->world, left);
	run->quiet = !pb_world_engines(&run->world, left) && !pb_world_awake(&run->world);
	if (pb_mutate(run))
		pb_judge_check(run); /* before the firmware overwrites the mutation */
	if (run->step % CHECK_STEPS == 0)
		check_memory(run);
}

void pb_run_until_answered(struct pb_run *run, struct pb_host *host)
{
	while (pb_client_open_questions(&host->client) != 0)
		pb_run_step(run);
}

void pb_run_ask(struct pb_run *run, struct pb_client *client, uint32_t code, const uint32_t *arguments,
		uint32_t count, struct pb_reply *reply)
{
	struct pb_question question;
	uint32_t steps = 0;

	pb_client_post(client, code, 0, arguments, count);
	while (!pb_client_reply(client, reply, &question)) {
		if (++steps == END_STEPS)
			pb_run_break(run, "channel %u: no answer to command %u", client->channel, code);
		pb_run_step(run);
	}
}

/** Starts a sequence of random numbers that depends on the seed and `stream` alone. */
static void begin_stream(struct pb_run *run, uint64_t stream)
{
	run->random.state = run->seed + (stream + 1u) * 0xd1342543de82ef95u;
	(void)pb_random_next(&run->random);
}

static void run_all(struct pb_run *run)
{
	uint32_t actions, still; /* the fewer steps between two actions, the more is outstanding */

	pb_setup(run);
	actions = 16u + pb_random_below(&run->random, 200);
	still = pb_random_below(&run->random, 5);
	if (run->options.actions != 0 && actions > run->options.actions)
		actions = run->options.actions;
	for (run->action = 0; run->action < actions; run->action++) {
		if (run->options.skip[run->action])
			continue;
		begin_stream(run, 1u + run->action);
		pb_act(run);
		for (uint32_t i = pb_random_below(&run->random, 6); i > still; i--)
			pb_run_step(run);
	}
	begin_stream(run, 0);
	pb_finish(run);
	pb_leaks_check(run);
}

/* ---- a firmware that stops ---- */

static struct pb_run *aborting;

/** Publishes the fatal record, as the fault handler of a board does. */
static void on_abort(int signal)
{
	(void)signal;
	pb_firmware_fatal(&(struct pb_fault){.cpu = 0});
	longjmp(aborting->broken, 2);
}

static void describe_fatal(struct pb_run *run)
{
	const struct pb_fatal_record *fatal = &pb_world_boot_block(&run->world)->fatal;

	run->broke = NULL;
	snprintf(run->what, sizeof(run->what), "the firmware stopped: kind %u, line %u, waypoint %u",
		 fatal->kind, fatal->status, fatal->waypoint);
}

bool pb_schedule_try(struct pb_run *run, uint64_t seed, void (*what)(struct pb_run *run))
{
	struct sigaction old, action = {.sa_handler = on_abort, .sa_flags = SA_NODEFER};
	bool held = false;

	run->seed = seed;
	run->what[0] = '\0';
	run->random.state = seed;
	run->step = 0;
	run->quiet = false;
	run->card_delay.on = false;
	run->revocation_delay.on = false;
	run->host_count = 0;
	run->rates = 0;
	run->card = PB_HOLD_NONE;
	run->supervising = false;
	pb_judge_pool_forget(run);
	run->lenient = false;
	run->closing = 0;
	aborting = run;
	sigaction(SIGABRT, &action, &old);
	switch (setjmp(run->broken)) {
	case 0:
		what(run);
		held = true;
		break;
	case 2:
		describe_fatal(run);
		break;
	default:
		break;
	}
	sigaction(SIGABRT, &old, NULL);
	return held;
}

bool pb_schedule_run(struct pb_run *run, uint64_t seed, enum pb_mutation_kind mutation)
{
	run->mutation = (struct pb_mutation){.kind = mutation};
	run->totals.schedules++;
	return pb_schedule_try(run, seed, run_all);
}

struct pb_run *pb_schedule_create(void)
{
	struct pb_run *run = calloc(1, sizeof(*run));

	/* Before the first schedule, so that each of them depends on its seed only. */
	if (run != NULL && pb_world_create(&run->world) && pb_schedule_try(run, 0, pb_setup_features))
		return run;
	free(run);
	return NULL;
}

void pb_schedule_destroy(struct pb_run *run)
{
	pb_world_destroy(&run->world);
	free(run);
}
