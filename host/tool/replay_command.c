/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/replay_command.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/tool/open_card.h"
#include "host/tool/replay.h"

enum option_key {
	KEY_CRC_OUT = 0x100,
	KEY_SEED,
	KEY_SIM,
	KEY_BOARD,
	KEY_CARD,
};

struct arguments {
	struct pb_replay_options replay;
	struct pb_open_options card;
};

static const struct argp_option option_table[] = {
	{"crc-out", KEY_CRC_OUT, "OUT.tsv", 0,
	 "Write index, relocs, crc_before, crc_after of each submission", 0},
	{"seed", KEY_SEED, "N", 0, "Place the objects at random, from this seed", 0},
	{"sim", KEY_SIM, NULL, 0, "Simulate the card in this process", 1},
	{"board", KEY_BOARD, "NAME", 0, "Start a card with this board", 1},
	{"card", KEY_CARD, "SOCKET", 0, "Use the card that listens there", 1},
	{0},
};

static void parse_seed(const char *text, struct argp_state *state, struct pb_replay_options *options)
{
	char *end;

	errno = 0;
	options->random = true;
	options->seed = strtoull(text, &end, 0);
	if (errno != 0 || end == text || *end != '\0' || text[0] == '-')
		argp_error(state, "%s is no seed: a number from 0 to 2^64 - 1", text);
}

static void check_arguments(const struct arguments *arguments, struct argp_state *state)
{
	const struct pb_open_options *card = &arguments->card;

	if (arguments->replay.file == NULL)
		argp_error(state, "which file?");
	if ((card->sim ? 1 : 0) + (card->board != NULL ? 1 : 0) + (card->socket != NULL ? 1 : 0) > 1)
		argp_error(state, "--sim, --board and --card exclude each other");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case KEY_CRC_OUT:
		arguments->replay.crc_out = text;
		break;
	case KEY_SEED:
		parse_seed(text, state, &arguments->replay);
		break;
	case KEY_SIM:
		arguments->card.sim = true;
		break;
	case KEY_BOARD:
		arguments->card.board = text;
		break;
	case KEY_CARD:
		arguments->card.socket = text;
		break;
	case ARGP_KEY_ARG:
		if (arguments->replay.file != NULL)
			argp_error(state, "one file only");
		arguments->replay.file = text;
		break;
	case ARGP_KEY_END:
		check_arguments(arguments, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int pb_replay_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.args_doc = "FILE.subm[.zst]",
		.doc = "Replays captured submissions of i915 drivers through the firmware, without executing "
		       "them, and "
		       "checks every patched byte.\v"
		       "Exit code: 0 all is right; 1 the firmware's result is wrong, or the card does not "
		       "work; "
		       "2 the file is bad or beyond the board's limits.",
	};
	struct arguments arguments = {.replay.progress = isatty(STDERR_FILENO) != 0};
	struct pb_replay_summary summary;
	struct pb_open_card card = {0};
	int result;

	argp_err_exit_status = PB_REPLAY_REFUSED;
	(void)argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	result = pb_open_card(&arguments.card, &card);
	if (result != 0)
		return result;
	result = pb_replay_run(card.link, &arguments.replay, &summary);
	pb_close_card(&card);
	if (result != PB_REPLAY_OK)
		(void)fprintf(stderr, "replay: %s\n", summary.message);
	else
		(void)printf("replay: ok %s: %" PRIu64 " submissions, %" PRIu64 " relocations, %" PRIu64
			     " bytes\n",
			     arguments.replay.file, summary.submissions, summary.relocations, summary.bytes);
	return result;
}
