/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/card_command.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/tool/board_image.h"
#include "host/tool/card_arguments.h"
#include "qemu/card.h"

enum option_key {
	KEY_BOARD = 0x100,
	KEY_IMAGE,
	KEY_FLASH,
	KEY_SOCKET,
	KEY_RESTARTS,
	KEY_GDB,
	KEY_HOST_MEMORY,
	KEY_MEMORY,
	KEY_ENGINE,
	KEY_QUIET = 'q',
};

static const struct argp_option option_table[] = {
	{"board", KEY_BOARD, "NAME", 0, "Emulate this board (default " PB_DEFAULT_BOARD ")", 0},
	{"image", KEY_IMAGE, "FILE", 0, "Firmware image (default: the one built for the board)", 0},
	{"flash", KEY_FLASH, "FILE", 0,
	 "Boot by the board's loader, from the signed images in this flash, which scripts/sign makes; "
	 "--image is "
	 "the loader then. SOCKET.admin takes updates",
	 0},
	{"socket", KEY_SOCKET, "PATH", 0,
	 "Socket that hosts connect to (default $XDG_RUNTIME_DIR/patchbay.sock or /tmp/patchbay.sock)", 0},
	{"restarts", KEY_RESTARTS, "N", 0, "Restart a dead MCU, up to N times (default 3)", 0},
	{"gdb", KEY_GDB, "ADDRESS", 0,
	 "Halt the MCU at reset until gdb resumes it. ADDRESS: HOST:PORT or the path of a socket that gdb "
	 "connects to",
	 0},
	{"host-memory", KEY_HOST_MEMORY, "CHANNEL=FILE", 0,
	 "Grant a client's channel, 1 to 8, host memory: all of a file that the client shares, such as the "
	 "RAM of a "
	 "virtual machine. Its size is a power of two, at least 1 MiB. May be given for several channels",
	 0},
	{"card-memory", KEY_MEMORY, "SIZE", 0, PB_CARD_MEMORY_HELP, 0},
	{"engine", KEY_ENGINE, "KIND", 0,
	 "What the 3D nodes are: reference (default), or gl, which runs OpenGL by virglrenderer in software, "
	 "a "
	 "process for each context",
	 0},
	{"quiet", KEY_QUIET, NULL, 0, "Print errors only", 0},
	{0},
};

static uint32_t parse_restarts(const char *text, struct argp_state *state)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || value > UINT32_MAX)
		argp_error(state, "--restarts %s: give a number from 0 to 4294967295", text);
	return (uint32_t)value;
}

/* CHANNEL=FILE. */
static void add_host_memory(struct pb_card_options *options, const char *text, struct argp_state *state)
{
	const uint32_t channel = (uint32_t)(text[0] - '0');

	if (channel - 1u >= PB_CARD_HOST_FILES || text[1] != '=' || text[2] == '\0')
		argp_error(state, "--host-memory %s: give CHANNEL=FILE, with a channel from 1 to %u", text,
			   PB_CARD_HOST_FILES);
	for (uint32_t i = 0; i < options->host_count; i++) {
		if (options->host[i].channel == channel)
			argp_error(state, "--host-memory %s: channel %u has a file already", text,
				   (unsigned)channel);
	}
	options->host[options->host_count++] =
		(struct pb_card_host_option){.channel = channel, .path = text + 2};
}

static void set_engine(struct pb_card_options *options, const char *text, struct argp_state *state)
{
	static char renderer[PATH_MAX];

	if (strcmp(text, "gl") == 0)
		options->renderer = pb_renderer_program(renderer, sizeof(renderer)) ? renderer : NULL;
	else if (strcmp(text, "reference") == 0)
		options->renderer = NULL;
	else
		argp_error(state, "--engine %s: give reference or gl", text);
	if (strcmp(text, "gl") == 0 && options->renderer == NULL)
		argp_error(state, "--engine gl: the path of this program is too long");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct pb_card_options *options = state->input;

	switch (key) {
	case KEY_BOARD:
		options->board = pb_board_name(text);
		return 0;
	case KEY_IMAGE:
		options->image = text;
		return 0;
	case KEY_FLASH:
		options->flash = text;
		return 0;
	case KEY_SOCKET:
		options->socket = text;
		return 0;
	case KEY_RESTARTS:
		options->restarts = parse_restarts(text, state);
		return 0;
	case KEY_HOST_MEMORY:
		add_host_memory(options, text, state);
		return 0;
	case KEY_MEMORY:
		options->memory_bytes = pb_card_memory_argument(text, state);
		return 0;
	case KEY_ENGINE:
		set_engine(options, text, state);
		return 0;
	case KEY_GDB:
		options->gdb = text;
		return 0;
	case KEY_QUIET:
		options->quiet = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool default_socket(char *path, size_t bytes)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	const int length = snprintf(path, bytes, "%s/patchbay.sock", folder != NULL ? folder : "/tmp");

	return length > 0 && (size_t)length < bytes;
}

int pb_card_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.doc = "Emulate a card: its MCU in QEMU, its engines, memory and interrupt lines.\v"
		       "Runs until it is interrupted. Up to 8 hosts connect with --card SOCKET, and up to 16 "
		       "observers: info, stats, why, top, trace, crash and screenshot take no channel.\n\n"
		       "Exit code: 0 interrupted; 1 the card failed; 2 wrong arguments.",
	};
	struct pb_card_options options = PB_CARD_OPTIONS_DEFAULT;
	char image[PATH_MAX], socket[108];

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (pb_machine_find(options.board) == NULL) {
		fprintf(stderr, "%s: there is no board %s\n", argv[0], options.board);
		return 2;
	}
	if (options.image == NULL) {
		if (!(options.flash != NULL ? pb_board_loader : pb_board_image)(options.board, image,
										sizeof(image)))
			return 1;
		options.image = image;
	}
	if (options.socket == NULL) {
		if (!default_socket(socket, sizeof(socket))) {
			fprintf(stderr,
				"%s: XDG_RUNTIME_DIR is too long for the path of a socket; give --socket\n",
				argv[0]);
			return 2;
		}
		options.socket = socket;
	}
	return pb_card_run(&options);
}
