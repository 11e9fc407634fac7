/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/replay_command.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/tool/card_arguments.h"
#include "host/tool/open_card.h"
#include "host/tool/replay.h"

enum option_key {
	KEY_CRC_OUT = 0x100,
	KEY_SEED,
	KEY_ENCODING,
	KEY_WDDM,
	KEY_PRESUMED,
};

struct arguments {
	struct pb_replay_options replay;
	struct pb_open_options card;
};

static const struct argp_option option_table[] = {
	{"crc-out", KEY_CRC_OUT, "OUT.tsv", 0,
	 "Write index, relocations, CRC before and after of each submission to OUT.tsv", 0},
	{"seed", KEY_SEED, "N", 0, "Place the objects at random, with seed N", 0},
	{"encoding", KEY_ENCODING, "wddm|compact|grouped", 0, "Encoding of patch lists (default wddm)", 0},
	{"wddm", KEY_WDDM, NULL, 0,
	 "Submit as a WDDM kernel does: through the functions of the miniport, with moves and preemptions on "
	 "the "
	 "way. Takes the whole card, so give a board or simulate",
	 0},
	{"presumed", KEY_PRESUMED, NULL, 0,
	 "Submit each submission three times more, after none, some and all of its objects have moved, with "
	 "what its patches "
	 "presume: only what has moved is patched",
	 0},
	{0},
};

static const char *const encoding_names[] = {
	[PB_PATCH_ENCODING_WDDM] = "wddm",
	[PB_PATCH_ENCODING_COMPACT] = "compact",
	[PB_PATCH_ENCODING_GROUPED] = "grouped",
};

static void parse_encoding(const char *text, struct argp_state *state, struct pb_replay_options *options)
{
	for (uint32_t i = 0; i < sizeof(encoding_names) / sizeof(encoding_names[0]); i++) {
		if (strcmp(text, encoding_names[i]) == 0) {
			options->encoding = (enum pb_patch_encoding)i;
			return;
		}
	}
	argp_error(state, "--encoding %s: give wddm, compact or grouped", text);
}

static void parse_seed(const char *text, struct argp_state *state, struct pb_replay_options *options)
{
	char *end;

	errno = 0;
	options->random = true;
	options->seed = strtoull(text, &end, 0);
	/* The first character must be a digit: strtoull() skips blanks and accepts a sign. */
	if (errno != 0 || *end != '\0' || isdigit((unsigned char)text[0]) == 0)
		argp_error(state, "--seed %s: give a number from 0 to 2^64 - 1", text);
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
	case KEY_ENCODING:
		parse_encoding(text, state, &arguments->replay);
		break;
	case KEY_WDDM:
		arguments->replay.wddm = true;
		break;
	case KEY_PRESUMED:
		arguments->replay.presumed = true;
		break;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->card;
		break;
	case ARGP_KEY_ARG:
		if (arguments->replay.file != NULL)
			argp_error(state, "give one FILE");
		arguments->replay.file = text;
		break;
	case ARGP_KEY_END:
		if (arguments->replay.file == NULL)
			argp_error(state, "FILE is missing");
		if (arguments->replay.wddm && arguments->replay.encoding != PB_PATCH_ENCODING_WDDM)
			argp_error(state, "--wddm: a WDDM kernel has no compact or grouped lists");
		if (arguments->replay.presumed &&
		    (arguments->replay.wddm || arguments->replay.encoding == PB_PATCH_ENCODING_COMPACT))
			argp_error(state, "--presumed: not with --wddm, and the firmware skips nothing of "
					  "compact lists");
		if (arguments->replay.wddm && pb_names_running_card(&arguments->card))
			argp_error(state, "--wddm takes the whole card, its admin channel included, which a "
					  "running card's "
					  "supervisor has: give --board or --sim, not --card or --link");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void print_result(const struct arguments *arguments, int result,
			 const struct pb_replay_summary *summary)
{
	if (result != PB_REPLAY_OK)
		(void)fprintf(stderr, "replay: %s\n", summary->message);
	else
		(void)printf("replay: ok %s: %" PRIu64 " submissions, %" PRIu64 " relocations, %" PRIu64
			     " bytes; %s patch lists of %" PRIu64 " bytes\n",
			     arguments->replay.file, summary->submissions, summary->relocations,
			     summary->bytes, encoding_names[arguments->replay.encoding], summary->list_bytes);
	if (result == PB_REPLAY_OK && arguments->replay.presumed)
		(void)printf("submitted again %" PRIu32 " times: %" PRIu64 " relocations patched, %" PRIu64
			     " skipped\n",
			     summary->moves, summary->repatched, summary->kept);
	if (result == PB_REPLAY_OK && arguments->replay.wddm)
		(void)printf("as a WDDM kernel: %" PRIu32 " packets, %" PRIu32 " patched, %" PRIu32
			     " moves, %" PRIu32 " preemptions; in %s memory\n",
			     summary->packets, summary->patched, summary->moves, summary->preemptions,
			     summary->host_memory ? "host" : "card");
}

int pb_replay_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.args_doc = "FILE.subm[.zst]",
		.doc = "Replay captured submissions of i915 and nouveau drivers through the firmware, "
		       "without executing them, and check every patched byte.\v"
		       "The file is read twice: first to check it and to find the card memory it needs.\n\n"
		       "Exit code: 0 every byte is right; 1 a byte is wrong, or the card failed or is "
		       "full; 2 the file is invalid or exceeds the board's limits, OUT.tsv cannot be "
		       "written, or wrong arguments.",
		.children = pb_card_arguments,
	};
	struct arguments arguments = {.replay.progress = isatty(STDERR_FILENO) != 0};
	struct pb_replay_summary summary;
	struct pb_open_card card;
	uint64_t largest;
	int result;

	argp_err_exit_status = PB_REPLAY_REFUSED;
	(void)argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	/* Check the file before a card is started. */
	result = pb_replay_scan(&arguments.replay, &largest, &summary);
	if (result == PB_REPLAY_OK) {
		result = pb_open_card(&arguments.card,
				      arguments.replay.wddm ? PB_OPEN_HOST_MEMORY : PB_OPEN_LINK, &card);
		if (result != 0)
			return result;
		arguments.replay.host_memory = card.host_memory;
		result = pb_replay_run(card.link, &arguments.replay, largest, &summary);
		pb_close_card(&card);
	}
	print_result(&arguments, result, &summary);
	return result;
}
