/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/card_arguments.h"

#include <string.h>

#include "host/tool/board_image.h"
#include "host/tool/open_card.h"
#include "qemu/card.h"

/* Distinct from the keys of the commands: an argp parent and its child must not share keys. */
enum option_key {
	KEY_SIM = 0x1000,
	KEY_BOARD,
	KEY_CARD,
	KEY_LINK,
};

static const struct argp_option option_table[] = {
	{"sim", KEY_SIM, NULL, 0, "Simulate the card in this process", 0},
	{"board", KEY_BOARD, "NAME", 0, "Start an emulated card with this board's firmware", 0},
	{"card", KEY_CARD, "SOCKET", 0, "Use the running card that listens at SOCKET", 0},
	{"link", KEY_LINK, "gdb:STUB", 0,
	 "Use the board at a debug probe. STUB: address of the probe's gdb server, HOST:PORT or the path of "
	 "a Unix socket, optionally followed by \",ADDRESS,BYTES\" of card memory",
	 0},
	{0},
};

static void set_link(struct pb_open_options *options, char *text, struct argp_state *state)
{
	static const char kind[] = "gdb:";

	if (strncmp(text, kind, strlen(kind)) != 0 ||
	    !pb_gdb_target_parse(text + strlen(kind), &options->probe))
		argp_error(state, "--link %s: give gdb:STUB or gdb:STUB,ADDRESS,BYTES", text);
}

static void set_board(struct pb_open_options *options, const char *board, struct argp_state *state)
{
	if (pb_machine_find(board) == NULL)
		argp_error(state, "there is no board %s", board);
	options->board = board;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct pb_open_options *options = state->input;

	if (key != KEY_SIM && key != KEY_BOARD && key != KEY_CARD && key != KEY_LINK)
		return ARGP_ERR_UNKNOWN;
	if (options->sim || options->board != NULL || options->socket != NULL || options->probe.stub != NULL)
		argp_error(state, "--sim, --board, --card and --link exclude each other; give one");
	if (key == KEY_SIM)
		options->sim = true;
	else if (key == KEY_BOARD)
		set_board(options, text, state);
	else if (key == KEY_LINK)
		set_link(options, text, state);
	else
		options->socket = text;
	return 0;
}

static const struct argp argp = {.options = option_table, .parser = parse};

const struct argp_child pb_card_arguments[] = {
	{&argp, 0, "Which card (default: --board " PB_DEFAULT_BOARD "):", 1},
	{0},
};
