/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/stats_command.h"

#include <argp.h>
#include <cjson/cJSON.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/tool/card_arguments.h"
#include "host/tool/memory_file.h"
#include "host/tool/open_card.h"
#include "host/tool/seconds.h"
#include "host/tool/stats.h"
#include "host/tool/whole_file.h"

enum option_key {
	KEY_JSON = 0x100,
	KEY_PROMETHEUS,
	KEY_EVERY,
	KEY_MEMORY,
};

struct arguments {
	struct pb_open_options card;
	const char *memory;
	const char *prometheus;
	bool json;
	double every; /**< period in seconds; 0: once */
};

/** State of a run. */
struct run {
	const char *program;
	const struct arguments *arguments;
	struct pb_open_card card; /**< link NULL: not open */
	struct pb_telemetry_snapshot snapshot;
};

static const struct argp_option option_table[] = {
	{"json", KEY_JSON, NULL, 0, "Print one JSON object; with --every, one a line", 0},
	{"prometheus", KEY_PROMETHEUS, "FILE", 0, "Write FILE for Prometheus; FILE is replaced atomically",
	 0},
	{"every", KEY_EVERY, "SECONDS", 0, "Repeat every SECONDS until interrupted", 0},
	{"memory", KEY_MEMORY, "FILE.bin", 0, "Read saved card memory, from its first byte on", 0},
	{0},
};

static void check(const struct arguments *arguments, struct argp_state *state)
{
	if (arguments->json && arguments->prometheus != NULL)
		argp_error(state, "--json and --prometheus exclude each other; give one");
	if (arguments->memory != NULL && pb_names_card(&arguments->card))
		argp_error(state, "a card and --memory exclude each other; give one");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case KEY_JSON:
		arguments->json = true;
		return 0;
	case KEY_PROMETHEUS:
		arguments->prometheus = text;
		return 0;
	case KEY_EVERY:
		if (!pb_seconds_parse(text, 0.01, 1e6, &arguments->every))
			argp_error(state, "--every %s: give 0.01 to 1000000 seconds", text);
		return 0;
	case KEY_MEMORY:
		arguments->memory = text;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->card;
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- reading ---- */

static void complain(const struct run *run, const char *of, const char *why)
{
	fprintf(stderr, "%s: %s%s%s\n", run->program, of, of[0] != '\0' ? ": " : "", why);
}

static enum pb_error read_memory(struct run *run)
{
	struct pb_link link;
	enum pb_error error;

	if (!pb_memory_file_read(run->program, run->arguments->memory, &link))
		return PB_ERROR_SYSTEM;
	error = pb_telemetry_read(&link, &run->snapshot);
	free(link.memory);
	return error;
}

static void close_card(struct run *run)
{
	if (run->card.link != NULL)
		pb_close_card(&run->card);
	run->card = (struct pb_open_card){.link = NULL};
}

/** Reads the card. After the card has closed the connection its memory is still mapped, but the card is gone. */
static enum pb_error read_card(struct run *run)
{
	struct pb_card_info info;
	enum pb_error error;

	if (run->card.link->ops->wait(run->card.link, 0) == PB_ERROR_NO_CARD)
		return PB_ERROR_NO_CARD;
	error = pb_card_read_running(run->card.link, &info);
	return error == PB_ERROR_OK ? pb_telemetry_read(run->card.link, &run->snapshot) : error;
}

/** Opens the card, if necessary, and reads its counters. Prints errors. */
static enum pb_error read_counters(struct run *run)
{
	enum pb_error error;

	if (run->arguments->memory != NULL)
		error = read_memory(run);
	else if (run->card.link == NULL &&
		 pb_open_card(&run->arguments->card, PB_OPEN_READ, &run->card) != 0) {
		run->card.link = NULL;
		return PB_ERROR_SYSTEM; /* the error has been printed */
	} else
		error = read_card(run);
	if (error == PB_ERROR_NO_CARD)
		close_card(run);
	if (error != PB_ERROR_OK && error != PB_ERROR_SYSTEM)
		complain(run, pb_error_name((uint32_t)error), pb_error_meaning((uint32_t)error));
	return error;
}

/* ---- writing ---- */

static bool write_prometheus(const struct run *run, enum pb_error error)
{
	const char *path = run->arguments->prometheus;
	struct pb_whole_file file;
	bool good = pb_whole_file_begin(&file, path);

	if (good) {
		pb_stats_prometheus(file.stream, &run->snapshot, error);
		good = pb_whole_file_end(&file);
	}
	if (!good)
		complain(run, path, strerror(errno));
	return good;
}

static bool print(const struct run *run)
{
	char *text;

	if (!run->arguments->json) {
		pb_stats_print(stdout, &run->snapshot);
		if (run->arguments->every != 0)
			putchar('\n');
	} else {
		text = pb_stats_json(&run->snapshot, run->arguments->every != 0);
		if (text != NULL)
			puts(text);
		cJSON_free(text);
	}
	/* The end of the program reports what could not be written. */
	return fflush(stdout) == 0 && ferror(stdout) == 0;
}

/** Reads the counters once and writes them. @return true: success */
static bool report_once(struct run *run)
{
	const enum pb_error error = read_counters(run);

	/* Write the file also after an error: its reader must not take old values for present ones. */
	if (run->arguments->prometheus != NULL)
		return write_prometheus(run, error) && error == PB_ERROR_OK;
	return error == PB_ERROR_OK && print(run);
}

/** Sleeps for a period. @return false: SIGINT or SIGTERM came */
static bool sleep_period(const sigset_t *signals, double seconds)
{
	const struct timespec time = {.tv_sec = (time_t)seconds,
				      .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

	while (sigtimedwait(signals, NULL, &time) < 0) {
		if (errno == EAGAIN)
			return true;
	}
	return false;
}

/** Repeats until a signal. A lost card is opened again. Signals are blocked during a report. */
static bool repeat(struct run *run)
{
	sigset_t signals;
	bool good = true;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	while (sleep_period(&signals, run->arguments->every) && good)
		good = report_once(run) || run->arguments->prometheus != NULL;
	return good;
}

int pb_stats_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.doc = "Print the counters of a card's firmware since its boot.\v"
		       "Reads card memory only, so that it also works after the firmware died. A card that "
		       "cannot be read counts as down for Prometheus; with --every it is opened again.\n\n"
		       "Exit code: 0 success, or interrupted; 1 reading or writing failed; 2 wrong "
		       "arguments.",
		.children = pb_card_arguments,
	};
	struct arguments arguments = {0};
	struct run run = {.program = argv[0], .arguments = &arguments};
	bool good;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	good = report_once(&run);
	if (arguments.every != 0 && (good || arguments.prometheus != NULL))
		good = repeat(&run);
	close_card(&run);
	return good ? 0 : 1;
}
