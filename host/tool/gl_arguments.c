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
};

static const struct argp_option option_table[] = {
	{"priority", KEY_PRIORITY, "P", 0, "idle, low, normal (default), high or realtime", 0},
	{"video-memory", KEY_VIDEO, "SIZE", 0,
	 "Addresses for each program's resources, in MiB as in 64M (default), 1M to 128M. If the card has "
	 "less, the "
	 "program gets half as much, or a quarter, ...",
	 0},
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
		options->memory_bytes = (uint64_t)number(text, "M", 128) << 20;
		if (options->memory_bytes == 0)
			argp_error(state, "--video-memory %s: give MiB as in 64M, 1M to 128M", text);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp pb_gl_arguments = {.options = option_table, .parser = parse};
