/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/update_command.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/tool/board_image.h"
#include "host/tool/card_arguments.h"
#include "host/tool/update_card.h"
#include "host/tool/update_probe.h"
#include "loader/update.h"

/* Between two questions whether the image came up, and how many there are: a minute. */
#define PAUSE_US 50000u
#define PAUSES   1200u

enum option_key {
	KEY_CARD = 0x100,
	KEY_FLASH,
	KEY_LINK,
	KEY_BOARD,
	KEY_SLOT,
	KEY_LATER,
};

struct arguments {
	const char *file;
	const char *socket;
	const char *flash;
	const char *stub;
	const char *board;
	uint32_t slot;
	bool later;
};

static const struct argp_option option_table[] = {
	{"card", KEY_CARD, "SOCKET", 0, "The running card whose hosts connect to SOCKET", 0},
	{"flash", KEY_FLASH, "FILE", 0, "The flash of a card that does not run", 0},
	{"link", KEY_LINK, "gdb:STUB", 0, "The card at a debug probe whose server programs its flash", 0},
	{"board", KEY_BOARD, "NAME", 0,
	 "Board of a card that does not run, or is at a probe (default " PB_DEFAULT_BOARD ")", 0},
	{"slot", KEY_SLOT, "A|B", 0, "Where to write (default: the slot that the card does not need)", 0},
	{"later", KEY_LATER, NULL, 0, "Do not start the MCU again: the next start tries the image", 0},
	{0},
};

static uint32_t parse_slot(const char *text, struct argp_state *state)
{
	if (strcmp(text, "A") != 0 && strcmp(text, "B") != 0)
		argp_error(state, "--slot %s: give A or B", text);
	return text[0] == 'A' ? 0 : 1;
}

static const char *parse_stub(const char *text, struct argp_state *state)
{
	static const char kind[] = "gdb:";

	if (strncmp(text, kind, strlen(kind)) != 0 || text[strlen(kind)] == '\0')
		argp_error(state, "--link %s: give gdb:STUB", text);
	return text + strlen(kind);
}

static bool is_one_card(const struct arguments *arguments)
{
	return (arguments->socket != NULL) + (arguments->flash != NULL) + (arguments->stub != NULL) == 1;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case KEY_CARD:
		arguments->socket = text;
		return 0;
	case KEY_FLASH:
		arguments->flash = text;
		return 0;
	case KEY_LINK:
		arguments->stub = parse_stub(text, state);
		return 0;
	case KEY_BOARD:
		arguments->board = pb_board_name(text);
		return 0;
	case KEY_SLOT:
		arguments->slot = parse_slot(text, state);
		return 0;
	case KEY_LATER:
		arguments->later = true;
		return 0;
	case ARGP_KEY_END:
		(void)pb_file_argument(key, text, state, &arguments->file);
		if (!is_one_card(arguments))
			argp_error(state,
				   "give --card SOCKET of a running card, --flash FILE, or --link gdb:STUB");
		return 0;
	default:
		return pb_file_argument(key, text, state, &arguments->file);
	}
}

static char slot_name(uint32_t slot)
{
	return (char)('A' + slot);
}

/* Waits until the card has decided about the slot. @return exit code */
static int await(const char *program, int connection, uint32_t slot, uint32_t starts)
{
	const struct pb_admin_request ask = {.magic = PB_ADMIN_MAGIC, .operation = PB_ADMIN_STATUS};
	struct pb_admin_answer answer;

	for (uint32_t i = 0; i < PAUSES; i++) {
		if (!pb_update_ask(connection, &ask, NULL, &answer)) {
			fprintf(stderr, "%s: the card has gone\n", program);
			return 1;
		}
		if (answer.starts != starts && answer.up != 0 && answer.confirmed != 0) {
			if (answer.running == slot) {
				printf("slot %c runs and is confirmed; the card's counter is %u\n",
				       slot_name(slot), answer.counter);
				return 0;
			}
			fprintf(stderr, "%s: slot %c did not come up (%s); slot %c runs\n", program,
				slot_name(slot), pb_update_reason_text(answer.reasons[slot]),
				slot_name(answer.running));
			return 1;
		}
		usleep(PAUSE_US);
	}
	fprintf(stderr, "%s: the card does not come up\n", program);
	return 1;
}

/* Updates a running card. @return exit code */
static int update_card(const char *program, int connection, const struct arguments *arguments,
		       const struct pb_update_file *file)
{
	struct pb_admin_request request = {.magic = PB_ADMIN_MAGIC,
					   .operation = PB_ADMIN_WRITE,
					   .slot = arguments->slot,
					   .bytes = (uint32_t)file->bytes};
	struct pb_admin_answer answer, restarted;

	if (!pb_update_ask(connection, &request, file->words, &answer)) {
		fprintf(stderr, "%s: the card has gone\n", program);
		return 1;
	}
	if (answer.error != PB_UPDATE_DONE) {
		fprintf(stderr, "%s: %s: %s\n", program, arguments->file, pb_update_error_text(answer.error));
		return 1;
	}
	printf("%s is written to slot %c\n", arguments->file, slot_name(answer.slot));
	if (arguments->later)
		return 0;
	request = (struct pb_admin_request){.magic = PB_ADMIN_MAGIC, .operation = PB_ADMIN_RESTART};
	if (!pb_update_ask(connection, &request, NULL, &restarted)) {
		fprintf(stderr, "%s: the card has gone\n", program);
		return 1;
	}
	return await(program, connection, answer.slot, restarted.starts);
}

/* Updates the file of a flash. @return exit code */
static int update_flash(const char *program, const struct arguments *arguments,
			const struct pb_update_file *file)
{
	uint32_t slot = arguments->slot;
	const int error = pb_update_flash(program, arguments->flash, arguments->board, file, &slot);

	if (error == (int)PB_UPDATE_DONE)
		printf("%s is written to slot %c\n", arguments->file, slot_name(slot));
	else if (error > 0)
		fprintf(stderr, "%s: %s: %s\n", program, arguments->file,
			pb_update_error_text((uint32_t)error));
	return error == (int)PB_UPDATE_DONE ? 0 : 1;
}

/* Updates a card at a probe. @return exit code */
static int update_probe(const char *program, const struct arguments *arguments,
			const struct pb_update_file *file)
{
	const struct pb_update_probe_order order = {.stub = arguments->stub,
						    .machine = pb_machine_find(arguments->board),
						    .path = arguments->file,
						    .slot = arguments->slot,
						    .later = arguments->later};

	if (order.machine != NULL)
		return pb_update_probe(program, &order, file);
	fprintf(stderr, "%s: there is no board %s\n", program, arguments->board);
	return 1;
}

static int update(const char *program, const struct arguments *arguments, const struct pb_update_file *file)
{
	int connection, code;

	if (arguments->stub != NULL)
		return update_probe(program, arguments, file);
	if (arguments->flash != NULL)
		return update_flash(program, arguments, file);
	connection = pb_update_connect(program, arguments->socket);
	if (connection < 0)
		return 1;
	code = update_card(program, connection, arguments, file);
	close(connection);
	return code;
}

int pb_update_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.args_doc = "FILE",
		.doc = "Write a signed firmware image to a slot of a card that boots by a loader.\v"
		       "FILE is what scripts/sign made. The MCU is started again and tries the image; if the "
		       "image does not come up, the card starts the former one. The command waits for "
		       "that.\n\n"
		       "Exit code: 0 the image runs and is confirmed, or is written and the card does not "
		       "run; "
		       "1 it was refused or did not come up; 2 wrong arguments.",
	};
	struct arguments arguments = {.slot = PB_SLOT_NONE, .board = PB_DEFAULT_BOARD};
	struct pb_update_file file;
	int code = 1;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (pb_update_file_read(argv[0], arguments.file, &file))
		code = update(argv[0], &arguments, &file);
	free(file.words);
	return code;
}
