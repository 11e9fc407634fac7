/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/gl_arguments.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Distinct from the keys of the commands: an argp parent and its child must not share keys. */
enum option_key {
	KEY_PRIORITY = 0x2000,
	KEY_VIDEO,
	KEY_WEIGHT,
	KEY_HANG,
};

static const struct argp_option option_table[] = {
	{"hang-limit", KEY_HANG, "MS", 0,
	 "Milliseconds without progress after which a submission is reset and its context lost, 1 to 10000; "
	 "the card takes no more than its administrator allows (default: the card's limit, 10000)",
	 0},
	{"priority", KEY_PRIORITY, "P", 0, "idle, low, normal (default), high or realtime", 0},
	{"video-memory", KEY_VIDEO, "SIZE", 0,
	 "Addresses for each program's resources, in MiB as in 64M (default), 1M to 128M. If the card has "
	 "less, the "
	 "program gets half as much, or a quarter, ...",
	 0},
	{"weight", KEY_WEIGHT, "N", 0,
	 "Share of the engines beside other programs of the same priority, 1 (default) to 64", 0},
	{0},
};

static uint32_t priority_of(const char *text, struct argp_state *state)
{
	static const char *const names[PB_PRIORITIES] = {"idle", "low", "normal", "high", "realtime"};

	for (uint32_t i = 0; i < PB_PRIORITIES; i++) {
		if (strcasecmp(text, names[i]) == 0)
			return i;
	}
	argp_error(state, "--priority %s: give idle, low, normal, high or realtime", text);
	return PB_PRIORITY_NORMAL;
}

static unsigned long number(const char *text, const char *unit, unsigned long most)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	return text[0] >= '0' && text[0] <= '9' && strcmp(end, unit) == 0 && value <= most ? value : 0;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct pb_gl_card_options *options = state->input;

	switch (key) {
	case KEY_PRIORITY:
		options->priority = priority_of(text, state);
		return 0;
	case KEY_VIDEO:
		options->memory_bytes = (uint64_t)number(text, "M", PB_GL_MEMORY_MIB_MAX) << 20;
		if (options->memory_bytes == 0)
			argp_error(state, "--video-memory %s: give MiB as in 64M, 1M to 128M", text);
		return 0;
	case KEY_WEIGHT:
		options->weight = (uint32_t)number(text, "", PB_WEIGHT_MAX);
		if (options->weight == 0)
			argp_error(state, "--weight %s: give a number from 1 to %u", text, PB_WEIGHT_MAX);
		return 0;
	case KEY_HANG:
		options->hang_us = (uint32_t)number(text, "", PB_GL_HANG_MS_MAX) * 1000u;
		if (options->hang_us == 0)
			argp_error(state, "--hang-limit %s: give milliseconds from 1 to %u", text,
				   PB_GL_HANG_MS_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp pb_gl_arguments = {.options = option_table, .parser = parse};
