/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/gl_command.h"

#include <argp.h>
#include <signal.h>
#include <stdlib.h>

#include "host/tool/gl_arguments.h"
#include "host/tool/gl_serve.h"
#include "host/tool/gl_server.h"

enum option_key {
	KEY_CARD = 0x100,
	KEY_SOCKET,
	KEY_CONNECTIONS,
	KEY_VERBOSE = 'v',
};

struct options {
	struct pb_gl_card_options card;
	const char *socket;
	uint32_t each;
	bool tells;
};

static const struct argp_option option_table[] = {
	{"connections", KEY_CONNECTIONS, "N", 0, "Connections of one program at once, 1 to 64 (default 4)",
	 0},
	{"card", KEY_CARD, "SOCKET", 0, "The running card that listens at SOCKET; it has a GL engine", 0},
	{"socket", KEY_SOCKET, "PATH", 0, "Socket that programs connect to (default " PB_GL_SOCKET ")", 0},
	{"verbose", KEY_VERBOSE, NULL, 0, "Print what each program gets, and at its end what it did", 0},
	{0},
};

static uint32_t connections_of(const char *text, struct argp_state *state)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end != '\0' || value - 1u >= PB_GL_CONNECTIONS)
		argp_error(state, "--connections %s: give a number from 1 to %u", text, PB_GL_CONNECTIONS);
	return (uint32_t)value;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->card;
		return 0;
	case KEY_CARD:
		options->card.socket = text;
		return 0;
	case KEY_SOCKET:
		options->socket = text;
		return 0;
	case KEY_CONNECTIONS:
		options->each = connections_of(text, state);
		return 0;
	case KEY_VERBOSE:
		options->tells = true;
		return 0;
	case ARGP_KEY_END:
		if (options->card.socket == NULL)
			argp_error(state, "give the card with --card SOCKET");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* Serves until a signal asks for the end. */
static void serve(struct pb_gl_server *server)
{
	const struct sigaction action = {.sa_handler = interrupt};

	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	while (interrupted == 0)
		pb_gl_server_poll(server);
}

int pb_gl_command(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&pb_gl_arguments, 0, "Each program that is not registered:", 1}, {0}};
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.children = children,
		.doc = "Serve OpenGL programs on a running card.\v"
		       "Runs until it is interrupted. `patchbay run --server` starts a program with a "
		       "priority "
		       "and a weight of its own. Other programs get those given here; start them with "
		       "GALLIUM_DRIVER=virpipe and LIBGL_ALWAYS_SOFTWARE=1 in their environment. Each "
		       "connection "
		       "has a channel of the card, of which there are 8.\n\n"
		       "Exit code: 0 interrupted; 1 the card has no room or no GL engine, or the socket "
		       "cannot be "
		       "made; 2 wrong arguments.",
	};
	struct options options = {
		.card = PB_GL_CARD_OPTIONS_DEFAULT, .socket = PB_GL_SOCKET, .each = PB_GL_CONNECTIONS_EACH};
	static struct pb_gl_server server;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	server = (struct pb_gl_server){.name = argv[0], .each = options.each, .tells = options.tells};
	if (!pb_gl_try(argv[0], &options.card))
		return 1;
	if (!pb_gl_server_start(&server, options.socket, &options.card))
		return 1;
	serve(&server);
	pb_gl_server_end(&server, options.socket);
	return 0;
}
