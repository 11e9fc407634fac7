/* SPDX-License-Identifier: MIT */
/* The program: interleavings by seed, optionally without one of the source's barriers. */
#define _GNU_SOURCE
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/interleave/schedule.h"
#include "tests/interleave/weave.h"

/** Failing seeds that are printed. The rest are counted. */
#define SHOWN_MAX 10u
/** Seeds between two lines of progress. */
#define PROGRESS_SEEDS 5000u

enum key { KEY_FROM = 0x100, KEY_COUNT, KEY_WITHOUT, KEY_VERBOSE };

struct arguments {
	uint64_t from;
	uint64_t count;
	struct pb_schedule_options options;
	char without[64]; /**< the file part of it */
};

static const struct argp_option command_options[] = {
	{"from", KEY_FROM, "SEED", 0, "The first seed: any number of 64 bits (default: 0)", 0},
	{"count", KEY_COUNT, "N", 0, "Number of seeds, in sequence (default: 1000)", 0},
	{"without", KEY_WITHOUT, "FILE:LINE", 0,
	 "Leave out the barrier at this place, and end with the first seed that fails", 0},
	{"verbose", KEY_VERBOSE, NULL, 0, "Print each access to card memory and each barrier", 0},
	{0},
};

static struct arguments arguments = {.count = 1000};
static uint64_t seed;
static uint64_t broken, empty;

static uint64_t parse_number(const char *text, uint64_t least, uint64_t most, struct argp_state *state)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno != 0 || end == text || *end != '\0' || *text == '-' || value < least || value > most)
		argp_error(state, "%s: not a number from %" PRIu64 " to %" PRIu64, text, least, most);
	return value;
}

static void parse_without(const char *text, struct argp_state *state)
{
	const char *colon = strrchr(text, ':');
	const size_t length = colon != NULL ? (size_t)(colon - text) : 0;

	if (length == 0 || length >= sizeof(arguments.without))
		argp_error(state, "%s: not FILE:LINE", text);
	memcpy(arguments.without, text, length);
	arguments.options.without = arguments.without;
	arguments.options.line = (uint32_t)parse_number(colon + 1, 1, UINT32_MAX, state);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	switch (key) {
	case KEY_FROM:
		arguments.from = parse_number(value, 0, UINT64_MAX, state);
		return 0;
	case KEY_COUNT:
		arguments.count = parse_number(value, 1, UINT64_MAX, state);
		return 0;
	case KEY_WITHOUT:
		parse_without(value, state);
		return 0;
	case KEY_VERBOSE:
		arguments.options.verbose = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void show_failure(const char *what)
{
	char without[96] = "";

	if (broken++ >= SHOWN_MAX)
		return;
	if (arguments.options.without != NULL)
		snprintf(without, sizeof(without), " --without %s:%u", arguments.without,
			 arguments.options.line);
	printf("seed %" PRIu64 ": %s\n  again: scripts/interleave --from %" PRIu64 " --count 1%s --verbose\n",
	       seed, what, seed, without);
	fflush(stdout);
}

/** An agent used a broken pointer or index: the seed has broken more than a rule. */
static void die(int number)
{
	show_failure(number == SIGABRT ? "abort" : "an invalid access");
	_exit(1);
}

static void watch_signals(void)
{
	static uint8_t stack[0x10000];
	const stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = die, .sa_flags = SA_ONSTACK};

	sigaltstack(&own, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	sigaction(SIGABRT, &action, NULL);
}

static void run_all(void)
{
	for (uint64_t i = 0; i < arguments.count; i++) {
		enum pb_schedule_end end;

		seed = arguments.from + i;
		end = pb_schedule_run(seed, &arguments.options);
		if (end == PB_SCHEDULE_BROKEN)
			show_failure(pb_weave_failure());
		empty += end == PB_SCHEDULE_VOID;
		if (broken != 0 && arguments.options.without != NULL)
			return;
		if ((i + 1u) % PROGRESS_SEEDS == 0)
			fprintf(stderr, "interleave: %" PRIu64 " of %" PRIu64 "\n", i + 1u, arguments.count);
	}
}

int main(int argc, char **argv)
{
	static const struct argp parser = {
		.options = command_options,
		.parser = parse,
		.doc = "Runs the firmware, its engines and hosts with the host library in one process, one "
		       "access to "
		       "card memory at a time, in an order and with a memory that each seed chooses.\v"
		       "Exit code: 0 every rule held; 1 one did not; 2 wrong arguments.",
	};

	argp_err_exit_status = 2;
	argp_parse(&parser, argc, argv, 0, NULL, NULL);
	if (!pb_schedule_create()) {
		perror(argv[0]);
		return 1;
	}
	watch_signals();
	run_all();
	if (broken != 0)
		printf("%" PRIu64 " schedules broke a rule\n", broken);
	if (arguments.options.without == NULL)
		printf("%" PRIu64 " schedules, %" PRIu64 " of them void\n", arguments.count, empty);
	return broken == 0 ? 0 : 1;
}
