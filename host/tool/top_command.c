/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/top_command.h"

#include <argp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "host/tool/seconds.h"
#include "host/tool/top_card.h"
#include "host/tool/top_view.h"

#define EXIT_USAGE 2
/** Longest sleep in milliseconds, while replies are expected and otherwise. */
#define BUSY_MS 5
#define IDLE_MS 100
/** Time in milliseconds after which ESC is a key of its own. */
#define ESCAPE_MS 25

enum option_key {
	KEY_CARD = 0x100,
	KEY_DELAY,
};

struct arguments {
	const char *socket;
	double delay;
};

/** State of a run. */
struct top {
	struct pb_top_card card;
	const struct pb_top_queue *list[PB_SURVEY_QUEUES];
	uint64_t delay; /**< microseconds between refreshes */
	uint64_t next;  /**< time of the next refresh */
	uint32_t scroll;
	bool paused;
	bool quit;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

static const struct argp_option option_table[] = {
	{"card", KEY_CARD, "SOCKET", 0, "The running card that listens at SOCKET", 0},
	{"delay", KEY_DELAY, "SECONDS", 0, "Time between refreshes (default 1)", 0},
	{0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case KEY_CARD:
		arguments->socket = text;
		return 0;
	case KEY_DELAY:
		if (!pb_seconds_parse(text, 0.1, 3600, &arguments->delay))
			argp_error(state, "--delay %s: give 0.1 to 3600 seconds", text);
		return 0;
	case ARGP_KEY_END:
		if (arguments->socket == NULL)
			argp_error(state, "--card SOCKET of a running card is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_nsec / 1000u;
}

static void draw(struct top *top)
{
	const struct pb_top_card *card = &top->card;
	const struct pb_top_picture picture = {
		.model = &card->model,
		.uptime = pb_top_card_uptime(card),
		.queues = top->list,
		.queue_count = pb_survey_list(&card->survey, top->list),
		.scroll = top->scroll,
		.message = card->message,
		.old = card->old,
		.paused = top->paused,
	};

	top->scroll = pb_top_draw(stdscr, &picture);
	(void)refresh();
}

/* ---- keys ---- */

static void press(struct top *top, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		top->quit = true;
		break;
	case 'p':
	case 'P':
		top->paused = !top->paused;
		/* Counters of the pause belong to no interval: start a new one. */
		pb_top_model_restart(&top->card.model);
		top->next = 0;
		break;
	case KEY_DOWN:
		top->scroll++;
		break;
	case KEY_UP:
		top->scroll -= top->scroll != 0;
		break;
	default:
		break;
	}
}

/** Waits for keys and handles them. @return false: the terminal is closed */
static bool handle_keys(struct top *top, int milliseconds)
{
	struct pollfd poller = {.fd = STDIN_FILENO, .events = POLLIN};
	bool any = false;
	int key;

	if (poll(&poller, 1, milliseconds) > 0 && (poller.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
		return false;
	/* A new size of the terminal comes as a key. */
	while ((key = getch()) != ERR) {
		press(top, key);
		any = true;
	}
	if (any)
		draw(top);
	return true;
}

/* ---- refreshes ---- */

/** Refreshes when due, else reads replies. @return longest sleep from now, in milliseconds */
static int step(struct top *top)
{
	const uint64_t begin = now();
	bool busy;

	if (top->paused)
		return IDLE_MS;
	if (begin >= top->next) {
		top->next = begin + top->delay;
		pb_top_card_refresh(&top->card);
		draw(top);
	}
	busy = top->card.attached && top->card.survey.phase != PB_SURVEY_DONE;
	if (busy && !pb_top_card_poll(&top->card))
		draw(top);
	if (busy)
		return BUSY_MS;
	return top->next - begin < IDLE_MS * 1000u ? (int)((top->next - begin) / 1000u) + 1 : IDLE_MS;
}

static bool open_screen(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = interrupt};

	if (newterm(NULL, stdout, stdin) == NULL)
		return false;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		(void)sigaction(signals[i], &action, NULL);
	(void)cbreak();
	(void)noecho();
	(void)curs_set(0);
	(void)keypad(stdscr, TRUE);
	(void)nodelay(stdscr, TRUE);
	(void)set_escdelay(ESCAPE_MS);
	return true;
}

static int watch(const char *program, struct top *top)
{
	const enum pb_error error = pb_top_card_open(&top->card);

	if (error != PB_ERROR_OK) {
		fprintf(stderr, "%s: %s: %s: %s\n", program, top->card.socket, pb_error_name((uint32_t)error),
			pb_error_meaning((uint32_t)error));
		return 1;
	}
	if (!open_screen()) {
		fprintf(stderr,
			"%s: the terminal lacks needed functions; use patchbay stats, which needs no "
			"terminal\n",
			program);
		pb_top_card_close(&top->card);
		return EXIT_USAGE;
	}
	while (!top->quit && interrupted == 0 && handle_keys(top, step(top)))
		;
	(void)endwin();
	pb_top_card_close(&top->card);
	return 0;
}

int pb_top_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.doc = "Show what a card does, refreshed: its firmware, its nodes, and its queues, the "
		       "busiest "
		       "first.\v"
		       "Keys: q quits, p pauses and resumes, arrows scroll the queues. Continues when the "
		       "firmware is restarted, and when the card returns.\n\n"
		       "Exit code: 0 success; 1 there is no card; 2 wrong arguments, or no terminal.",
	};
	static struct top top;
	struct arguments arguments = {.delay = 1};

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		fprintf(stderr,
			"%s: standard input and output must be a terminal; use patchbay stats, which needs "
			"none\n",
			argv[0]);
		return EXIT_USAGE;
	}
	top.card.socket = arguments.socket;
	top.delay = (uint64_t)(arguments.delay * 1e6);
	return watch(argv[0], &top);
}
