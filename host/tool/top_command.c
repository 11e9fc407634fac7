/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/top_command.h"

#include <argp.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "host/tool/card_arguments.h"
#include "host/tool/open_card.h"
#include "host/tool/seconds.h"
#include "host/tool/top_card.h"
#include "host/tool/top_view.h"

#define EXIT_USAGE 2
/** Rounds of queries for one reading: each index of each channel comes up in fewer. */
#define ROUNDS_MOST 1000u
/** Longest sleep in milliseconds, while replies are expected and otherwise. */
#define BUSY_MS 5
#define IDLE_MS 100
/** Time in milliseconds after which ESC is a key of its own. */
#define ESCAPE_MS 25

enum option_key {
	KEY_DELAY = 0x100,
	KEY_ONCE,
};

struct arguments {
	struct pb_open_options card;
	double delay;
	bool once;
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
	{"delay", KEY_DELAY, "SECONDS", 0, "Time between refreshes (default 1)", 0},
	{"once", KEY_ONCE, NULL, 0, "Print one reading, without rates; needs no terminal. So does --memory",
	 0},
	{0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case KEY_ONCE:
		arguments->once = true;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->card;
		return 0;
	case KEY_DELAY:
		if (!pb_seconds_parse(text, 0.1, 3600, &arguments->delay))
			argp_error(state, "--delay %s: give 0.1 to 3600 seconds", text);
		return 0;
	case ARGP_KEY_END:
		if (!pb_names_card(&arguments->card))
			argp_error(state, "--card SOCKET of a running card is missing");
		if (arguments->card.memory != NULL)
			arguments->once = true;
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

static struct pb_top_picture picture_of(struct top *top)
{
	const struct pb_top_card *card = &top->card;

	return (struct pb_top_picture){
		.model = &card->model,
		.uptime = pb_top_card_uptime(card),
		.queues = top->list,
		.queue_count = pb_survey_list(&card->survey, top->list),
		.scroll = top->scroll,
		.message = card->message,
		.old = card->old,
		.paused = top->paused,
	};
}

static void draw(struct top *top)
{
	const struct pb_top_picture picture = picture_of(top);

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

/** Returns the width of the terminal that standard output is; 0: it is none, or does not know. */
static uint32_t terminal_width(void)
{
	struct winsize size = {0};

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/** Prints one reading, when all queues have been found. Queues that come and go meanwhile end the search after a while. */
static void print_once(struct top *top)
{
	struct pb_top_picture picture;

	pb_top_model_restart(&top->card.model);
	pb_top_card_refresh(&top->card);
	for (uint32_t rounds = 0; top->card.attached && rounds < ROUNDS_MOST; rounds++) {
		while (pb_top_card_poll(&top->card))
			(void)top->card.link->ops->wait(top->card.link, BUSY_MS * 1000u);
		if (!top->card.attached || pb_survey_complete(&top->card.survey))
			break;
		pb_survey_round(&top->card.survey);
	}
	/* A reading that took several rounds has rates of some queues; they are left out like those of the nodes. */
	for (uint32_t q = 0; q < PB_SURVEY_QUEUES; q++)
		top->card.survey.queues[q].rate = (double)NAN;
	picture = picture_of(top);
	pb_top_print(stdout, &picture, terminal_width());
}

static int watch(const char *program, struct top *top)
{
	if (!open_screen()) {
		fprintf(stderr,
			"%s: the terminal lacks needed functions; use patchbay stats, which needs no "
			"terminal\n",
			program);
		return EXIT_USAGE;
	}
	while (!top->quit && interrupted == 0 && handle_keys(top, step(top)))
		;
	(void)endwin();
	return 0;
}

static bool has_terminal(const char *program)
{
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return true;
	fprintf(stderr,
		"%s: standard input and output must be a terminal; use --once or patchbay stats, which need "
		"none\n",
		program);
	return false;
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
		.children = pb_running_card_arguments,
	};
	static struct top top;
	struct arguments arguments = {.delay = 1};
	struct pb_open_card card;
	int code;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (!arguments.once && !has_terminal(argv[0]))
		return EXIT_USAGE;
	code = pb_open_card(&arguments.card, PB_OPEN_ASK, &card);
	if (code != 0)
		return code;
	top.card.socket = arguments.card.socket;
	top.card.link = card.link;
	top.delay = (uint64_t)(arguments.delay * 1e6);
	if (arguments.once)
		print_once(&top);
	else
		code = watch(argv[0], &top);
	/* A link that was lost was closed, and another one opened. */
	card.link = top.card.link;
	if (card.link != NULL)
		pb_close_card(&card);
	return code;
}
