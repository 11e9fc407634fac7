/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/tool/board_image.h"
#include "host/tool/gl_arguments.h"
#include "host/tool/gl_command.h"
#include "host/tool/gl_peer.h"
#include "host/tool/gl_private.h"
#include "host/tool/gl_registry.h"
#include "host/tool/gl_serve.h"
#include "host/tool/gl_timeline.h"
#include "qemu/card.h"

/* Exit codes of a shell for a program that cannot be started, or ended by a signal. */
#define EXIT_NOT_FOUND 127
#define EXIT_NOT_RUN   126
#define EXIT_SIGNAL    128
/* Connections at once: as many as a card has channels. */
#define CONNECTIONS 8u
/* How often the trace is read, and how long connections may take to end behind the program. */
#define POLL_MS       10
#define END_POLLS_MAX 1500u

enum option_key {
	KEY_CARD = 0x100,
	KEY_BOARD,
	KEY_TIMELINE,
	KEY_SERVER,
};

struct options {
	struct pb_gl_card_options card;
	const char *board;
	const char *timeline;
	const char *server; /* NULL: none */
	char **program;     /* NULL-terminated */
};

/* What runs. */
struct run {
	const char *name; /* argv[0] */
	const struct options *options;
	int listener;
	pid_t card; /* 0: not ours */
	pid_t program;
	pid_t connections[CONNECTIONS];
	int status;
	bool ended; /* the program */
	struct pb_gl_timeline timeline;
};

static const struct argp_option option_table[] = {
	{"card", KEY_CARD, "SOCKET", 0, "Use the running card that listens at SOCKET; it has a GL engine", 0},
	{"board", KEY_BOARD, "NAME", 0,
	 "Start a card with this board's firmware (default " PB_DEFAULT_BOARD ")", 0},
	{"server", KEY_SERVER, "PATH", OPTION_ARG_OPTIONAL,
	 "Have a running `patchbay gl` serve the program, and register it there. PATH is the server's "
	 "socket "
	 "(default " PB_GL_SOCKET ")",
	 0},
	{"timeline", KEY_TIMELINE, "FILE", 0, "Leave a page with the timeline of the firmware's work", 0},
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
	case KEY_BOARD:
		options->board = pb_board_name(text);
		return 0;
	case KEY_TIMELINE:
		options->timeline = text;
		return 0;
	case KEY_SERVER:
		options->server = text != NULL ? text : PB_GL_SOCKET;
		return 0;
	case ARGP_KEY_ARGS:
		options->program = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		if (options->program == NULL)
			argp_error(state, "give the program, behind --");
		if (options->board != NULL && options->card.socket != NULL)
			argp_error(state, "--card and --board exclude each other");
		if (options->server != NULL && (options->board != NULL || options->card.socket != NULL))
			argp_error(state, "--server excludes --card and --board");
		if (options->server != NULL && options->timeline != NULL)
			argp_error(state, "--timeline needs the card, which only the server knows");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- a card of its own ---- */

static bool start_card(struct run *run, struct pb_gl_card_options *card)
{
	static char socket[108], image[PATH_MAX], renderer[PATH_MAX];
	const char *folder = getenv("XDG_RUNTIME_DIR");
	struct pb_card_options options = PB_CARD_OPTIONS_DEFAULT;

	if (run->options->board != NULL)
		options.board = run->options->board;
	if (pb_machine_find(options.board) == NULL) {
		fprintf(stderr, "%s: there is no board %s\n", run->name, options.board);
		return false;
	}
	if (!pb_board_image(options.board, image, sizeof(image)))
		return false;
	(void)snprintf(socket, sizeof(socket), "%s/patchbay-run-%ld.sock", folder != NULL ? folder : "/tmp",
		       (long)getpid());
	options.image = image;
	options.socket = socket;
	options.memory_bytes = PB_GL_CARD_BYTES;
	if (!pb_renderer_program(renderer, sizeof(renderer))) {
		fprintf(stderr, "%s: the path of this program is too long\n", run->name);
		return false;
	}
	options.renderer = renderer;
	options.quiet = true;
	card->socket = socket;
	return pb_card_start(&options, &run->card) == 0;
}

/* ---- the program ---- */

static bool start_program(struct run *run)
{
	char **program = run->options->program;

	(void)fflush(NULL);
	run->program = fork();
	if (run->program == 0) {
		(void)setenv("GALLIUM_DRIVER", "virpipe", 1);
		(void)setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
		(void)execvp(program[0], program);
		fprintf(stderr, "%s: %s: %s\n", run->name, program[0], strerror(errno));
		_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
	}
	if (run->program > 0)
		return true;
	fprintf(stderr, "%s: %s\n", run->name, strerror(errno));
	return false;
}

/* Notes a process that has ended. */
static void note_end(struct run *run, pid_t pid, int status)
{
	if (pid == run->program) {
		run->ended = true;
		run->status = WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
	}
	if (pid == run->card) {
		fprintf(stderr, "%s: the card has ended\n", run->name);
		run->card = 0;
	}
	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		if (run->connections[i] == pid)
			run->connections[i] = 0;
	}
}

/* Returns a free element; NULL: all are in use. */
static pid_t *free_connection(struct run *run)
{
	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		if (run->connections[i] == 0)
			return &run->connections[i];
	}
	return NULL;
}

static bool is_quiet(const struct run *run)
{
	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		if (run->connections[i] != 0)
			return false;
	}
	return true;
}

/* Accepts one connection and serves it. @return the id of the process that does; 0: none */
static pid_t accept_one(const struct run *run)
{
	struct pb_gl_program program = {.server = run->name, .options = run->options->card};
	uid_t user;
	pid_t process;

	program.connection = accept4(run->listener, NULL, NULL, SOCK_CLOEXEC);
	if (program.connection < 0)
		return 0;
	program.id = pb_gl_peer(program.connection, &user);
	process = pb_gl_start(&program);
	(void)close(program.connection);
	return process > 0 ? process : 0;
}

/* Accepts connections until the program has ended, and they have. */
static void attend(struct run *run)
{
	struct pollfd poller = {.fd = run->listener, .events = POLLIN};
	uint32_t polls = 0;

	while ((!run->ended || !is_quiet(run)) && polls < END_POLLS_MAX) {
		pid_t *connection = free_connection(run);
		int status = 0;
		pid_t pid;

		poller.fd = connection != NULL ? run->listener : -1;
		if (poll(&poller, 1, POLL_MS) > 0 && connection != NULL)
			*connection = accept_one(run);
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			note_end(run, pid, status);
		if (run->options->timeline != NULL)
			pb_gl_timeline_keep(&run->timeline);
		polls += run->ended ? 1u : 0u;
	}
	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		if (run->connections[i] > 0)
			(void)kill(run->connections[i], SIGKILL);
	}
}

/* Runs the program on the card that the options name. @return exit code */
static int run_program(struct run *run)
{
	const char *const timeline = run->options->timeline;

	if (!pb_gl_private_tmp(run->name, strrchr(PB_GL_SOCKET, '/') + 1))
		return 1;
	if (run->card == 0 && !pb_gl_try(run->name, &run->options->card))
		return 1;
	if (timeline != NULL && !pb_gl_timeline_begin(&run->timeline, run->name, run->options->card.socket))
		return 1;
	run->listener = pb_gl_listen(run->name, PB_GL_SOCKET, SOCK_STREAM | SOCK_CLOEXEC);
	if (run->listener < 0 || !start_program(run))
		return 1;
	/* Keys that end the program are for the program. */
	(void)signal(SIGINT, SIG_IGN);
	attend(run);
	(void)close(run->listener);
	if (timeline != NULL && !pb_gl_timeline_write(&run->timeline, timeline) && run->status == 0)
		return 1;
	return run->status;
}

/* ---- a server that runs ---- */

/* Registers, and runs the program. What the program starts and leaves behind stays this process's. @return exit code */
static int run_served(struct run *run)
{
	const char *const path = run->options->server;
	const int registration = pb_gl_register(run->name, path, &run->options->card);
	int status = 0;
	pid_t pid;

	if (registration < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		return 1;
	/* Where Mesa looks, no namespace is needed. */
	if (strcmp(path, PB_GL_SOCKET) != 0 &&
	    (!pb_gl_private_tmp(run->name, strrchr(PB_GL_SOCKET, '/') + 1) ||
	     !pb_gl_private_socket(run->name, path, PB_GL_SOCKET)))
		return 1;
	if (!start_program(run))
		return 1;
	(void)signal(SIGINT, SIG_IGN);
	while (!run->ended && (pid = waitpid(-1, &status, 0)) != 0) {
		if (pid > 0)
			note_end(run, pid, status);
		else if (errno != EINTR)
			break;
	}
	(void)close(registration);
	return run->status;
}

int pb_run_command(int argc, char **argv)
{
	static const struct argp_child children[] = {{&pb_gl_arguments, 0, "The program:", 1}, {0}};
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.children = children,
		.args_doc = "-- PROGRAM [ARGUMENT...]",
		.doc = "Run an OpenGL program on a card.\v"
		       "Starts a card with a GL engine, unless one is named, or a server. The program finds "
		       "it by Mesa's "
		       "driver "
		       "virpipe, "
		       "in a /tmp of its own, which shows what is in /tmp.\n\n"
		       "Exit code: the program's; 1 no card, no server, or no mount namespace; 2 wrong "
		       "arguments; 126 "
		       "and "
		       "127 the "
		       "program cannot be started; 128 + N signal N ended it.",
	};
	struct options options = {.card = PB_GL_CARD_OPTIONS_DEFAULT};
	struct run run = {.name = argv[0], .options = &options, .listener = -1};
	int code = 1;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
	if (options.server != NULL)
		code = run_served(&run);
	else if (options.card.socket != NULL || start_card(&run, &options.card))
		code = run_program(&run);
	if (run.card != 0)
		(void)pb_card_stop(run.card);
	return code;
}
