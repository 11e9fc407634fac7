/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/sim_command.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sim/contest.h"
#include "tests/sim/schedule.h"
#include "tests/sim/shrink.h"

#define JOBS_MAX 64u
/** Failing seeds that are printed. The rest are counted. */
#define SHOWN_MAX 10u
/** Seeds of one job before its first line of progress, and between two later ones. */
#define PROGRESS_FIRST 100u
#define PROGRESS_SEEDS 5000u

enum key {
	KEY_FROM = 0x100,
	KEY_COUNT,
	KEY_JOBS,
	KEY_AT_LEAST,
	KEY_RECORD,
	KEY_VERBOSE,
	KEY_HOSTS,
	KEY_ACTIONS,
	KEY_WITHOUT,
	KEY_SKIP,
	KEY_CONTESTS,
	KEY_HOST_MEMORY,
};

struct arguments {
	uint64_t from;
	uint64_t count;
	uint64_t at_least;
	uint32_t jobs;
	bool record;
	bool verbose;
	bool contests;
	uint32_t strategies; /**< that no rival of a contest plays, PB_STRATEGY_* */
	struct pb_options options;
};

/** The result of one job, in memory shared with the parent process. */
/** Set by SIGINT and SIGTERM: no further seed begins. */
static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

struct job {
	struct pb_totals totals;
	uint64_t broken;
	bool finished;
	pid_t pid; /**< of the process; not above 0: this process, or none could be made */
};

static const struct argp_option command_options[] = {
	{"from", KEY_FROM, "SEED", 0, "The first seed: any number of 64 bits (default: 0)", 0},
	{"count", KEY_COUNT, "N", 0, "Number of seeds, in sequence (default: 1000)", 0},
	{"jobs", KEY_JOBS, "N", 0, "Processes that share the seeds (default: one for each processor)", 0},
	{"at-least", KEY_AT_LEAST, "N", 0, "Fail if there were fewer than N submissions", 0},
	{"record", KEY_RECORD, NULL, 0, "Print a record line at the end, for scripts/simulate", 0},
	{"hosts", KEY_HOSTS, "N", 0, "Only the first N hosts", 1},
	{"actions", KEY_ACTIONS, "N", 0, "Only the first N actions", 1},
	{"without", KEY_WITHOUT, "NAME,...", 0,
	 "Leave out faults and features of these names; behind --contests: strategies", 1},
	{"skip", KEY_SKIP, "LIST", 0, "Leave out actions: 3,7-9", 1},
	{"host-memory", KEY_HOST_MEMORY, NULL, 0,
	 "Some segments lie in host memory, which the supervisor revokes at times", 1},
	{"contests", KEY_CONTESTS, NULL, 0,
	 "Run contests: clients whose time is judged beside rivals that play well", 1},
	{"verbose", KEY_VERBOSE, NULL, 0, "Print the events of each schedule", 0},
	{0},
};

static uint64_t parse_number(const char *text, uint64_t least, uint64_t most, struct argp_state *state)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno != 0 || end == text || *end != '\0' || *text == '-' || value < least || value > most)
		argp_error(state, "%s: a number from %" PRIu64 " to %" PRIu64 " is needed", text, least,
			   most);
	return value;
}

static void parse_without(char *list, struct arguments *arguments, struct argp_state *state)
{
	for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ",")) {
		uint32_t bit;

		if (arguments->contests && pb_strategy_find(name, &bit))
			arguments->strategies |= bit;
		else if (!arguments->contests && pb_options_rate(name, &bit))
			arguments->options.without |= bit;
		else
			argp_error(state, "%s: unknown name", name);
	}
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case KEY_FROM:
		arguments->from = parse_number(value, 0, UINT64_MAX, state);
		return 0;
	case KEY_COUNT:
		arguments->count = parse_number(value, 1, UINT64_MAX, state);
		return 0;
	case KEY_JOBS:
		arguments->jobs = (uint32_t)parse_number(value, 1, JOBS_MAX, state);
		return 0;
	case KEY_AT_LEAST:
		arguments->at_least = parse_number(value, 0, UINT64_MAX, state);
		return 0;
	case KEY_RECORD:
		arguments->record = true;
		return 0;
	case KEY_HOSTS:
		arguments->options.hosts = (uint32_t)parse_number(value, 1, PB_HOSTS, state);
		return 0;
	case KEY_ACTIONS:
		arguments->options.actions = (uint32_t)parse_number(value, 1, PB_ACTIONS_MAX, state);
		return 0;
	case KEY_WITHOUT:
		parse_without(value, arguments, state);
		return 0;
	case KEY_SKIP:
		if (!pb_options_skip(&arguments->options, value))
			argp_error(state, "%s: a list like 3,7-9 is needed", value);
		return 0;
	case KEY_HOST_MEMORY:
		arguments->options.host_memory = true;
		return 0;
	case KEY_CONTESTS:
		arguments->contests = true;
		return 0;
	case KEY_VERBOSE:
		arguments->verbose = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/** Prints what broke, and the command that repeats it in the shortest schedule found. */
static void show_failure(struct pb_run *run)
{
	const struct pb_options options = run->options;
	char text[2048];
	uint32_t tried;

	printf("seed %" PRIu64 ", step %" PRIu64 ": %s\n", run->seed, run->step, run->what);
	fflush(stdout);
	tried = pb_shrink(run);
	pb_options_print(&run->options, text, sizeof(text));
	printf("  shortened in %" PRIu32 " tries, step %" PRIu64 ": %s\n  again: %s --from %" PRIu64
	       " --count 1 --verbose%s\n",
	       tried, run->step, run->what, pb_world_touches.program, run->seed, text);
	fflush(stdout);
	run->options = options;
}

/** Runs seeds from + first, then each jobs-th one. */
static void run_job(const struct arguments *arguments, struct job *job, uint32_t first)
{
	struct pb_run *run = pb_schedule_create();

	if (run == NULL)
		return;
	run->verbose = arguments->verbose;
	run->options = arguments->options;
	for (uint64_t i = first, done = 1; i < arguments->count && interrupted == 0;
	     i += arguments->jobs, done++) {
		if (!pb_schedule_run(run, arguments->from + i, PB_MUTATION_NONE) && job->broken++ < SHOWN_MAX)
			show_failure(run);
		if ((done == PROGRESS_FIRST || done % PROGRESS_SEEDS == 0) && first == 0)
			fprintf(stderr, "patchbay sim: %" PRIu64 " of %" PRIu64 "\n", i + 1u,
				arguments->count);
		if (arguments->count - i <= arguments->jobs)
			break; /* the sum may not fit 64 bits */
	}
	job->totals = run->totals;
	job->finished = true;
	pb_schedule_destroy(run);
}

/** Prints what a contest broke, the strategies that break it, and the command that repeats it. */
static void show_contest(const struct arguments *arguments, struct pb_contest *contest, uint64_t seed)
{
	char names[200];

	printf("contest %" PRIu64 ": %s\n", seed, contest->what);
	pb_contest_shrink(contest, seed);
	for (uint32_t r = 0; r < contest->terms.rivals; r++) {
		pb_strategy_print(contest->terms.strategies[r], names, sizeof(names));
		printf("  rival %" PRIu32 " of %" PRIu32 " plays %s\n", r, contest->terms.rivals,
		       names[0] != '\0' ? names : "nothing");
	}
	pb_strategy_print(contest->without, names, sizeof(names));
	printf("  shortened: %s\n  again: %s --contests --from %" PRIu64 " --count 1%s%s\n", contest->what,
	       pb_world_touches.program, seed, names[0] != '\0' ? " --without " : "", names);
	fflush(stdout);
	contest->without = arguments->strategies;
}

/** Runs contests of the seeds from + first, then of each jobs-th one. */
static void run_contests(const struct arguments *arguments, struct job *job, uint32_t first)
{
	struct pb_contest *contest = pb_contest_create();

	if (contest == NULL)
		return;
	contest->without = arguments->strategies;
	for (uint64_t i = first; i < arguments->count && interrupted == 0; i += arguments->jobs) {
		if (!pb_contest_run(contest, arguments->from + i) && job->broken++ < SHOWN_MAX)
			show_contest(arguments, contest, arguments->from + i);
		job->totals.schedules++;
		if (arguments->count - i <= arguments->jobs)
			break;
	}
	job->totals.completed = contest->completed;
	job->totals.submissions = contest->completed;
	printf("worst: %" PRIu32 " permille of the slack of a share", contest->lack_worst);
	for (uint32_t wait = 0; wait <= PB_CONTEST_PROGRESS; wait++)
		printf(", %" PRIu32, contest->wait_worst[wait]);
	printf(" of the bounds of wake, urgent submission, reply, preemption, close, progress\n");
	job->finished = true;
	pb_contest_destroy(contest);
}

static void add(struct pb_totals *sum, const struct pb_totals *part)
{
	sum->schedules += part->schedules;
	sum->submissions += part->submissions;
	sum->completed += part->completed;
	sum->failed += part->failed;
	sum->returned += part->returned;
	sum->cancelled += part->cancelled;
	sum->preemptions += part->preemptions;
	sum->suspensions += part->suspensions;
	sum->revocations += part->revocations;
	sum->parts += part->parts;
	sum->beside += part->beside;
	sum->resets += part->resets;
	sum->faults += part->faults;
	sum->deaths += part->deaths;
	sum->restarts += part->restarts;
	sum->hostile += part->hostile;
	sum->hostile_submissions += part->hostile_submissions;
	sum->moves += part->moves;
	sum->queries += part->queries;
	sum->dropped += part->dropped;
	if (sum->touches_max < part->touches_max)
		sum->touches_max = part->touches_max;
}

static void show_counts(const struct pb_totals *sum)
{
	printf("%" PRIu64 " schedules, %" PRIu64 " submissions (%" PRIu64 " completed, %" PRIu64
	       " failed, %" PRIu64 " returned, %" PRIu64 " cancelled), %" PRIu64 " preemptions, %" PRIu64
	       " suspensions, %" PRIu64 " resets, %" PRIu64 " questions\n",
	       sum->schedules, sum->submissions, sum->completed, sum->failed, sum->returned, sum->cancelled,
	       sum->preemptions, sum->suspensions, sum->resets, sum->queries);
	printf("%" PRIu64 " faults injected, %" PRIu64 " garbage words and %" PRIu64
	       " submissions of hostile hosts, %" PRIu64 " hosts died, %" PRIu64
	       " restarts of the firmware, %" PRIu64 " segments moved, %" PRIu64
	       " schedules with events dropped; at most %" PRIu32 " calls or accesses in a pass\n",
	       sum->faults, sum->hostile, sum->hostile_submissions, sum->deaths, sum->restarts, sum->moves,
	       sum->dropped, sum->touches_max);
	if (sum->revocations != 0)
		printf("%" PRIu64 " times host memory was revoked, %" PRIu64
		       " times of a client at work, which had %" PRIu64 " submissions run beside it\n",
		       sum->revocations, sum->parts, sum->beside);
}

static int show_totals(const struct arguments *arguments, const struct job *jobs)
{
	struct pb_totals sum = {0};
	uint64_t broken = 0;
	bool finished = true;

	for (uint32_t j = 0; j < arguments->jobs; j++) {
		add(&sum, &jobs[j].totals);
		broken += jobs[j].broken;
		finished = finished && jobs[j].finished;
	}
	if (interrupted != 0)
		printf("interrupted after %" PRIu64 " of %" PRIu64 " schedules\n", sum.schedules,
		       arguments->count);
	if (!finished)
		printf("a process of the simulation died\n");
	if (broken != 0)
		printf("%" PRIu64 " schedules broke an invariant\n", broken);
	show_counts(&sum);
	if (arguments->record)
		printf("record\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
		       "\n",
		       arguments->from, arguments->from + arguments->count - 1u, sum.schedules,
		       sum.submissions, sum.faults + sum.hostile + sum.deaths, broken);
	if (sum.submissions < arguments->at_least)
		printf("fewer than %" PRIu64 " submissions\n", arguments->at_least);
	return finished && broken == 0 && interrupted == 0 && sum.submissions >= arguments->at_least ? 0 : 1;
}

static void run_one(const struct arguments *arguments, struct job *job, uint32_t first)
{
	if (arguments->contests)
		run_contests(arguments, job, first);
	else
		run_job(arguments, job, first);
}

/** Waits for all processes. A terminal interrupts them, too; `kill` interrupts only the first one. */
static void await_jobs(const struct arguments *arguments, const struct job *jobs)
{
	bool told = false;

	do {
		for (uint32_t j = 1; j < arguments->jobs && interrupted != 0 && !told; j++)
			if (jobs[j].pid > 0)
				(void)kill(jobs[j].pid, SIGTERM);
		told = interrupted != 0;
	} while (wait(NULL) > 0 || errno == EINTR);
}

static void run_jobs(const struct arguments *arguments, struct job *jobs)
{
	const struct sigaction action = {.sa_handler = interrupt};

	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	for (uint32_t j = 1; j < arguments->jobs; j++) {
		const pid_t pid = fork();

		if (pid == 0) {
			run_one(arguments, &jobs[j], j);
			_exit(0);
		}
		jobs[j].pid = pid;
	}
	run_one(arguments, &jobs[0], 0);
	await_jobs(arguments, jobs);
}

static void choose_jobs(struct arguments *arguments)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (arguments->jobs == 0)
		arguments->jobs = processors < 1 ? 1u : (uint32_t)processors;
	if (arguments->jobs > JOBS_MAX)
		arguments->jobs = JOBS_MAX;
	if (arguments->jobs > arguments->count)
		arguments->jobs = (uint32_t)arguments->count;
}

int pb_sim_command(int argc, char **argv)
{
	static const struct argp parser = {
		.options = command_options,
		.parser = parse,
		.doc = "Runs one schedule for each seed on a card in this process: hosts submit, preempt, "
		       "preempt, "
		       "reset, attach and detach, while faults are injected. After each pass of the "
		       "firmware "
		       "all that hosts see is compared with a model of the contract.\v"
		       "Exit code: 0 every invariant held; 1 one did not, or it was interrupted, with the "
		       "counts so far; 2 wrong arguments.",
	};
	struct arguments arguments = {.count = 1000};
	struct job *jobs;
	int code;

	argp_err_exit_status = 2;
	argp_parse(&parser, argc, argv, 0, NULL, &arguments);
	choose_jobs(&arguments);
	jobs = mmap(NULL, JOBS_MAX * sizeof(*jobs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	if (jobs == MAP_FAILED) {
		perror(argv[0]);
		return 1;
	}
	run_jobs(&arguments, jobs);
	code = show_totals(&arguments, jobs);
	munmap(jobs, JOBS_MAX * sizeof(*jobs));
	return code;
}
