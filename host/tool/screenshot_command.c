/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/screenshot_command.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/memory_file.h"
#include "host/tool/open_card.h"
#include "host/tool/screenshot.h"

enum option_key {
	KEY_CARD = 0x100,
	KEY_MEMORY,
	KEY_NUMBER,
};

struct arguments {
	struct pb_open_options card;
	const char *memory;
	const char *file;
	uint32_t number;
};

static const struct argp_option option_table[] = {
	{"card", KEY_CARD, "SOCKET", 0, "The running card that listens at SOCKET", 0},
	{"memory", KEY_MEMORY, "FILE.bin", 0, "Read saved card memory, from its first byte on", 0},
	{"number", KEY_NUMBER, "N", 0, "Which display, from 1, in the order of card memory (default 1)", 0},
	{0},
};

static void set_number(struct arguments *arguments, const char *text, struct argp_state *state)
{
	char *end;
	const unsigned long number = strtoul(text, &end, 10);

	if (end == text || *end != '\0' || number == 0 || number > 32)
		argp_error(state, "--number %s: give a number from 1 to 32", text);
	arguments->number = (uint32_t)number;
}

static void set_file(struct arguments *arguments, const char *text, struct argp_state *state)
{
	if (arguments->file != NULL)
		argp_error(state, "give one FILE.png");
	arguments->file = text;
}

/* Checks the combination of all arguments. */
static void check(const struct arguments *arguments, struct argp_state *state)
{
	if (arguments->file == NULL)
		argp_error(state, "FILE.png is missing");
	if ((arguments->card.socket == NULL) == (arguments->memory == NULL))
		argp_error(state, "give --card SOCKET of a running card, or --memory FILE.bin");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case KEY_CARD:
		arguments->card.socket = text;
		return 0;
	case KEY_MEMORY:
		arguments->memory = text;
		return 0;
	case KEY_NUMBER:
		set_number(arguments, text, state);
		return 0;
	case ARGP_KEY_ARG:
		set_file(arguments, text, state);
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Finds the picture and writes it. @return exit code */
static int shoot(const char *program, const struct pb_link *link, const struct arguments *arguments)
{
	struct pb_scanout record;
	struct pb_image image;
	int error;

	if (!pb_screenshot_find(link, arguments->number, &record)) {
		fprintf(stderr, "%s: card memory has no display %u\n", program, arguments->number);
		return 1;
	}
	if (!pb_screenshot_copy(link, &record, &image)) {
		fprintf(stderr, "%s: not enough memory\n", program);
		return 1;
	}
	error = pb_image_write_png(&image, arguments->file);
	free(image.pixels);
	if (error != 0) {
		fprintf(stderr, "%s: %s: %s\n", program, arguments->file, strerror(error));
		return 1;
	}
	printf("%s: %u x %u, update %u\n", arguments->file, record.width, record.height, record.updates);
	return 0;
}

static int shoot_file(const char *program, const struct arguments *arguments)
{
	struct pb_link link;
	int code;

	if (!pb_memory_file_read(program, arguments->memory, &link))
		return 1;
	code = shoot(program, &link, arguments);
	free(link.memory);
	return code;
}

int pb_screenshot_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.args_doc = "FILE.png",
		.doc = "Write what a display of a running card shows, such as that of a Linux guest.\v"
		       "Reads card memory only.\n\n"
		       "Exit code: 0 success; 1 there is no such display, or the file cannot be written; "
		       "2 wrong arguments.",
	};
	struct arguments arguments = {.number = 1};
	struct pb_open_card card;
	int code;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (arguments.memory != NULL)
		return shoot_file(argv[0], &arguments);
	code = pb_open_card(&arguments.card, PB_OPEN_READ, &card);
	if (code != 0)
		return code;
	code = shoot(argv[0], card.link, &arguments);
	pb_close_card(&card);
	return code;
}
