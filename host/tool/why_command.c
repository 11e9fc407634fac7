/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/why_command.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/tool/card_arguments.h"
#include "host/tool/card_failure.h"
#include "host/tool/open_card.h"
#include "host/tool/why.h"

#define ATTACH_TIMEOUT_US 30000000u

enum option_key {
	KEY_CHANNEL = 0x100,
	KEY_JSON,
};

struct arguments {
	struct pb_open_options card;
	struct pb_why_queue queue;
	uint32_t channel; /**< 0: not given */
	bool named;
	bool json;
};

static const struct argp_option option_table[] = {
	{"channel", KEY_CHANNEL, "N", 0, "Channel that owns the queue", 0},
	{"json", KEY_JSON, NULL, 0, "Print one JSON object", 0},
	{0},
};

static void set_channel(struct arguments *arguments, const char *text, struct argp_state *state)
{
	char *end;
	const unsigned long channel = strtoul(text, &end, 10);

	if (end == text || *end != '\0' || channel == 0 || channel > 31)
		argp_error(state, "--channel %s: give a number from 1 to 31", text);
	arguments->channel = (uint32_t)channel;
}

static void set_queue(struct arguments *arguments, const char *text, struct argp_state *state)
{
	if (arguments->named)
		argp_error(state, "give one QUEUE");
	if (!pb_why_parse(text, &arguments->queue))
		argp_error(state, "%s: give a queue's handle or CHANNEL:INDEX", text);
	arguments->named = true;
}

/* Checks the combination of all arguments. */
static void check(struct arguments *arguments, struct argp_state *state)
{
	if (!arguments->named)
		argp_error(state, "QUEUE is missing: give a queue's handle or CHANNEL:INDEX");
	if (!pb_names_card(&arguments->card))
		argp_error(state, "--card SOCKET of a running card is missing");
	if (arguments->channel != 0 && arguments->queue.channel != 0)
		argp_error(state, "QUEUE already names the channel; leave --channel out");
	if (arguments->channel != 0)
		arguments->queue.channel = arguments->channel;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->card;
		return 0;
	case KEY_CHANNEL:
		set_channel(arguments, text, state);
		return 0;
	case KEY_JSON:
		arguments->json = true;
		return 0;
	case ARGP_KEY_ARG:
		set_queue(arguments, text, state);
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool print_json(const struct pb_why_queue *queue, const struct pb_queue_state *state)
{
	char *text = pb_why_json(queue, state);

	if (text != NULL)
		puts(text);
	free(text);
	return text != NULL;
}

/* Attaches, queries the queue, prints the answer, detaches. @return exit code */
static int ask(const char *program, struct pb_link *link, void *context)
{
	struct arguments *arguments = context;
	struct pb_channel channel;
	struct pb_queue_state state;
	char text[PB_WHY_BYTES];
	enum pb_error error = pb_channel_attach(&channel, link, ATTACH_TIMEOUT_US);

	if (error == PB_ERROR_OK) {
		error = pb_why_ask(&channel, &arguments->queue, &state);
		(void)pb_channel_detach(&channel);
	}
	if (error != PB_ERROR_OK) {
		pb_card_failure(&channel, error, text);
		fprintf(stderr, "%s: %s\n", program, text);
		return 1;
	}
	if (arguments->json)
		return print_json(&arguments->queue, &state) ? 0 : 1;
	pb_why_sentence(&arguments->queue, &state, text);
	puts(text);
	return 0;
}

int pb_why_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.args_doc = "QUEUE",
		.doc = "Explain why no submission of a queue runs, and what the queue waits for.\v"
		       "QUEUE is a queue's handle, or CHANNEL:INDEX: the queue of that channel whose handle "
		       "has INDEX as its low 16 bits.\n\n"
		       "Exit code: 0 success; 1 there is no answer; 2 wrong arguments.",
		.children = pb_running_card_arguments,
	};
	struct arguments arguments = {0};

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	return pb_ask_card(&arguments.card, ask, argv[0], &arguments);
}
