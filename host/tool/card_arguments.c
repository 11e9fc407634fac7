/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/card_arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/board_image.h"
#include "host/tool/open_card.h"
#include "qemu/card.h"
#include "qemu/card_files.h"

/* Distinct from the keys of the commands: an argp parent and its child must not share keys. */
enum option_key {
	KEY_SIM = 0x1000,
	KEY_BOARD,
	KEY_CARD,
	KEY_LINK,
	KEY_MEMORY,
	KEY_SAVED,
};

#define CARD_HELP "Use the running card that listens at SOCKET"
#define LINK_HELP                                                                                            \
	"gdb:STUB is the board at a debug probe. STUB: address of the probe's gdb server, HOST:PORT or the " \
	"path of a Unix socket, optionally followed by \",ADDRESS,BYTES\" of card memory. In a virtual "     \
	"machine: vfio:ADDRESS is the PCI device at ADDRESS, as in 0000:00:04.0, by the driver vfio-pci; "   \
	"pci:ADDRESS without a driver and without interrupts"

static const struct argp_option option_table[] = {
	{"sim", KEY_SIM, NULL, 0, "Simulate the card in this process", 0},
	{"board", KEY_BOARD, "NAME", 0, "Start an emulated card with this board's firmware", 0},
	{"card", KEY_CARD, "SOCKET", 0, CARD_HELP, 0},
	{"link", KEY_LINK, "KIND:NAME", 0, LINK_HELP, 0},
	{"card-memory", KEY_MEMORY, "SIZE", 0, "Of a card that is started: " PB_CARD_MEMORY_HELP, 0},
	{0},
};

static const struct argp_option running_table[] = {
	{"card", KEY_CARD, "SOCKET", 0, CARD_HELP, 0},
	{"link", KEY_LINK, "KIND:NAME", 0, LINK_HELP, 0},
	{"memory", KEY_SAVED, "FILE", 0, "Read a card that patchbay dump has saved", 0},
	{0},
};

/* A number of bytes, or of MiB with an M behind it. */
uint32_t pb_card_memory_argument(const char *text, struct argp_state *state)
{
	unsigned long long value = 0;
	const char *wrong;
	char *end = NULL;

	errno = 0;
	if (text[0] >= '0' && text[0] <= '9')
		value = strtoull(text, &end, 10);
	if (end != NULL && *end == 'M' && value <= UINT32_MAX) {
		value <<= 20;
		end++;
	}
	if (end == NULL || errno != 0 || *end != '\0')
		argp_error(state, "--card-memory %s: give a number of bytes, or of MiB as in 64M", text);
	wrong = pb_card_memory_wrong(value);
	if (wrong != NULL)
		argp_error(state, "--card-memory %s: %s", text, wrong);
	return (uint32_t)value;
}

static void set_link(struct pb_open_options *options, char *text, struct argp_state *state)
{
	static const char gdb[] = "gdb:", vfio[] = "vfio:", pci[] = "pci:";

	if (strncmp(text, vfio, strlen(vfio)) == 0)
		options->vfio = text + strlen(vfio);
	else if (strncmp(text, pci, strlen(pci)) == 0)
		options->pci = text + strlen(pci);
	else if (strncmp(text, gdb, strlen(gdb)) != 0 ||
		 !pb_gdb_target_parse(text + strlen(gdb), &options->probe))
		argp_error(state,
			   "--link %s: give gdb:STUB or gdb:STUB,ADDRESS,BYTES, vfio:ADDRESS or pci:ADDRESS",
			   text);
}

static void set_board(struct pb_open_options *options, char *text, struct argp_state *state)
{
	const char *board = pb_board_name(text);

	if (pb_machine_find(board) == NULL)
		argp_error(state, "there is no board %s", board);
	options->board = board;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct pb_open_options *options = state->input;

	if (key == KEY_MEMORY) {
		options->memory_bytes = pb_card_memory_argument(text, state);
		return 0;
	}
	if (key == ARGP_KEY_END && options->memory_bytes != 0 && pb_names_running_card(options))
		argp_error(state, "--card-memory is for a card that is started: not with --card or --link");
	if (key != KEY_SIM && key != KEY_BOARD && key != KEY_CARD && key != KEY_LINK && key != KEY_SAVED)
		return ARGP_ERR_UNKNOWN;
	if (pb_names_card(options))
		argp_error(state, "the options that name a card exclude each other; give one");
	if (key == KEY_SIM)
		options->sim = true;
	else if (key == KEY_BOARD)
		set_board(options, text, state);
	else if (key == KEY_LINK)
		set_link(options, text, state);
	else if (key == KEY_SAVED)
		options->memory = text;
	else
		options->socket = text;
	return 0;
}

static const struct argp argp = {.options = option_table, .parser = parse};

const struct argp_child pb_card_arguments[] = {
	{&argp, 0, "Which card (default: --board " PB_DEFAULT_BOARD "):", 1},
	{0},
};

static const struct argp running = {.options = running_table, .parser = parse};

const struct argp_child pb_running_card_arguments[] = {
	{&running, 0, "Which card:", 1},
	{0},
};

error_t pb_file_argument(int key, char *text, const struct argp_state *state, const char **file)
{
	if (key == ARGP_KEY_ARG && *file != NULL)
		argp_error(state, "give one FILE");
	if (key == ARGP_KEY_END && *file == NULL)
		argp_error(state, "FILE is missing");
	if (key == ARGP_KEY_ARG)
		*file = text;
	return key == ARGP_KEY_ARG || key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}
