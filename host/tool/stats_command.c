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
	double every; /**< seconds; 0: once */
};

/** What a run has. */
struct run {
	const char *program;
	const struct arguments *arguments;
	struct pb_open_card card; /**< its link is NULL while it is not open */
	struct pb_telemetry_snapshot snapshot;
};

static const struct argp_option option_table[] = {
	{"json", KEY_JSON, NULL, 0, "Print one JSON object; with --every, one a line", 0},
	{"prometheus", KEY_PROMETHEUS, "FILE", 0, "Write it for Prometheus; FILE is replaced as a whole", 0},
	{"every", KEY_EVERY, "SECONDS", 0, "Again and again, until interrupted", 0},
	{"memory", KEY_MEMORY, "FILE.bin", 0, "Card memory as it was saved, from its first byte on", 0},
	{0},
};

static void check(const struct arguments *arguments, struct argp_state *state)
{
	const struct pb_open_options *card = &arguments->card;

	if (arguments->json && arguments->prometheus != NULL)
		argp_error(state, "either --json or --prometheus");
	if (arguments->memory != NULL &&
	    (card->socket != NULL || card->probe.stub != NULL || card->sim || card->board != NULL))
		argp_error(state, "either a card or --memory");
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
			argp_error(state, "--every %s: 0.01 to a million seconds are possible", text);
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

/** A card that was left is not there, although its memory still is. */
static enum pb_error read_card(struct run *run)
{
	struct pb_card_info info;
	enum pb_error error;

	if (run->card.link->ops->wait(run->card.link, 0) == PB_ERROR_NO_CARD)
		return PB_ERROR_NO_CARD;
	error = pb_card_read_running(run->card.link, &info);
	return error == PB_ERROR_OK ? pb_telemetry_read(run->card.link, &run->snapshot) : error;
}

/** Opens the card if it is not, and reads it; says what went wrong. */
static enum pb_error look(struct run *run)
{
	enum pb_error error;

	if (run->arguments->memory != NULL)
		error = read_memory(run);
	else if (run->card.link == NULL && pb_open_card(&run->arguments->card, &run->card) != 0) {
		run->card.link = NULL;
		return PB_ERROR_SYSTEM; /* it has been said */
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
	return fflush(stdout) == 0;
}

/** Looks once and tells. @return whether all went well */
static bool turn(struct run *run)
{
	const enum pb_error error = look(run);

	/* Who reads that file must not take what was for what is. */
	if (run->arguments->prometheus != NULL)
		return write_prometheus(run, error) && error == PB_ERROR_OK;
	return error == PB_ERROR_OK && print(run);
}

/** @return false: a signal came that ends it */
static bool sleep_a_turn(const sigset_t *signals, double seconds)
{
	const struct timespec time = {.tv_sec = (time_t)seconds,
				      .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

	while (sigtimedwait(signals, NULL, &time) < 0) {
		if (errno == EAGAIN)
			return true;
	}
	return false;
}

/** For as long as nobody interrupts: a card that is gone may come back. Signals wait until a turn is over. */
static bool go_on(struct run *run)
{
	sigset_t signals;
	bool good = true;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	while (sleep_a_turn(&signals, run->arguments->every) && good)
		good = turn(run) || run->arguments->prometheus != NULL;
	return good;
}

int pb_stats_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.doc = "Print what the firmware of a card has counted since it booted.\v"
		       "Reads card memory only, so that it works when the firmware is dead too. For "
		       "Prometheus, a "
		       "card that cannot be read is one that is not up, and with --every it is looked for "
		       "again.\n\n"
		       "Exit code: 0 here it is, or it was interrupted; 1 it cannot be read or written; 2 "
		       "wrong "
		       "arguments.",
		.children = pb_card_arguments,
	};
	struct arguments arguments = {0};
	struct run run = {.program = argv[0], .arguments = &arguments};
	bool good;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	good = turn(&run);
	if (arguments.every != 0 && (good || arguments.prometheus != NULL))
		good = go_on(&run);
	close_card(&run);
	return good ? 0 : 1;
}
