/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/gl_command.h"

#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/tool/gl_arguments.h"
#include "host/tool/gl_serve.h"

enum option_key {
	KEY_CARD = 0x100,
	KEY_SOCKET,
};

struct options {
	struct pb_gl_card_options card;
	const char *socket;
};

static const struct argp_option option_table[] = {
	{"card", KEY_CARD, "SOCKET", 0, "The running card that listens at SOCKET; it has a GL engine", 0},
	{"socket", KEY_SOCKET, "PATH", 0, "Socket that programs connect to (default " PB_GL_SOCKET ")", 0},
	{0},
};

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
	case ARGP_KEY_END:
		if (options->card.socket == NULL)
			argp_error(state, "give the card with --card SOCKET");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static sig_atomic_t interrupted;

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* Serves until a signal asks for the end. */
static void serve(const char *program, int listener, const struct pb_gl_card_options *options)
{
	const struct sigaction action = {.sa_handler = interrupt};
	struct pollfd poller = {.fd = listener, .events = POLLIN};

	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	while (interrupted == 0) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (poll(&poller, 1, 100) > 0)
			(void)pb_gl_accept(program, listener, options);
	}
}

int pb_gl_command(int argc, char **argv)
{
	static const struct argp_child children[] = {{&pb_gl_arguments, 0, "Each program:", 1}, {0}};
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.children = children,
		.doc = "Serve OpenGL programs on a running card.\v"
		       "Runs until it is interrupted. Start programs with GALLIUM_DRIVER=virpipe and "
		       "LIBGL_ALWAYS_SOFTWARE=1 in their environment. Each connection has a channel of the "
		       "card, of "
		       "which there are 8.\n\n"
		       "Exit code: 0 interrupted; 1 the socket cannot be made; 2 wrong arguments.",
	};
	struct options options = {.card = PB_GL_CARD_OPTIONS_DEFAULT, .socket = PB_GL_SOCKET};
	int listener;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	listener = pb_gl_listen(argv[0], options.socket);
	if (listener < 0)
		return 1;
	serve(argv[0], listener, &options.card);
	(void)close(listener);
	(void)unlink(options.socket);
	return 0;
}
