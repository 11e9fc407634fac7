/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/e2e/e2e_board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/e2e.h"

const char *e2e_board(void)
{
	const char *board = getenv("E2E_BOARD");

	return board != NULL ? board : PB_CARD_OPTIONS_DEFAULT.board;
}

static const char *image(const char *board, const char *variant)
{
	static char path[2 * E2E_PATH_BYTES];

	assert_true((size_t)snprintf(path, sizeof(path), E2E_BUILDS "/%s%s/patchbay-%s.elf", board, variant,
				     board) < sizeof(path));
	return path;
}

const char *e2e_image(void)
{
	return image(e2e_board(), "");
}

const char *e2e_image_assembly(void)
{
	return image(e2e_board(), "-asm");
}

struct pb_card_options e2e_card_options_of(const char *board)
{
	struct pb_card_options options = PB_CARD_OPTIONS_DEFAULT;

	options.board = board;
	options.image = image(board, "");
	/* Only a hang of the emulator takes so long. */
	options.boot_us = E2E_PATIENCE_US;
	return options;
}

struct pb_card_options e2e_card_options(void)
{
	return e2e_card_options_of(e2e_board());
}

/* Whether a command starts a card and does not choose its board. */
static bool starts_any_card(const char *const *arguments, size_t count)
{
	static const char *const commands[] = {"card", "demo", "info", "replay"};
	static const char *const choices[] = {"--sim", "--card", "--board"};
	bool starts = false;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]) && count != 0; i++)
		starts = starts || strcmp(arguments[0], commands[i]) == 0;
	for (size_t a = 1; a < count; a++) {
		for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
			starts = starts && strcmp(arguments[a], choices[i]) != 0;
	}
	return starts;
}

size_t e2e_board_arguments(const char *const *arguments, size_t count, const char *more[2])
{
	if (strcmp(e2e_board(), PB_CARD_OPTIONS_DEFAULT.board) == 0 || !starts_any_card(arguments, count))
		return 0;
	more[0] = "--board";
	more[1] = e2e_board();
	return 2;
}
