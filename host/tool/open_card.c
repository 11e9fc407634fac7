/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/open_card.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/tool/board_image.h"
#include "host/tool/probe.h"
#include "qemu/card.h"
#include "qemu/sim.h"

/** Channel used on a simulated card, whose only host is this process. */
#define SIM_CHANNEL 1u

static int open_sim(uint32_t memory_bytes, struct pb_open_card *card)
{
	card->sim = pb_sim_create_with(0, memory_bytes != 0 ? memory_bytes - PB_CARD_MEMORY_BYTES : 0);
	if (card->sim == NULL || pb_link_open_sim(card->sim, SIM_CHANNEL, &card->link) != PB_ERROR_OK) {
		fprintf(stderr, "patchbay: out of memory for a simulated card\n");
		pb_sim_destroy(card->sim);
		return 1;
	}
	return 0;
}

static int open_socket(const char *path, struct pb_open_card *card)
{
	const enum pb_error error = pb_link_open_socket(path, &card->link);

	if (error == PB_ERROR_OK)
		return 0;
	fprintf(stderr, "patchbay: %s: %s: %s%s%s\n", path, pb_error_name(error), pb_error_meaning(error),
		error == PB_ERROR_SYSTEM ? ": " : "", error == PB_ERROR_SYSTEM ? strerror(errno) : "");
	return 1;
}

static int open_probe(const struct pb_gdb_target *target, struct pb_open_card *card)
{
	char message[PB_GDB_MESSAGE_BYTES];

	if (pb_open_probe(target, &card->link, message) == PB_ERROR_OK)
		return 0;
	fprintf(stderr, "patchbay: %s\n", message);
	return 1;
}

/** Builds a socket path of this process's own: the card refuses a path in use. @return false: it is too long */
static bool private_socket(char *path, size_t bytes)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	const int length = snprintf(path, bytes, "%s/patchbay-%ld.sock", folder != NULL ? folder : "/tmp",
				    (long)getpid());

	return length > 0 && (size_t)length < bytes;
}

static int open_own(const char *board, uint32_t memory_bytes, struct pb_open_card *card)
{
	struct pb_card_options options = PB_CARD_OPTIONS_DEFAULT;
	char image[PATH_MAX];

	if (!pb_board_image(board, image, sizeof(image)))
		return 1;
	if (!private_socket(card->socket, sizeof(card->socket))) {
		fprintf(stderr, "patchbay: XDG_RUNTIME_DIR is too long for the path of a socket; set a "
				"shorter one\n");
		return 1;
	}
	options.board = board;
	options.image = image;
	options.socket = card->socket;
	if (memory_bytes != 0)
		options.memory_bytes = memory_bytes;
	options.quiet = true;
	if (pb_card_start(&options, &card->pid) != 0) {
		card->pid = 0;
		return 1;
	}
	if (open_socket(card->socket, card) == 0)
		return 0;
	pb_card_stop(card->pid);
	return 1;
}

bool pb_names_card(const struct pb_open_options *options)
{
	return options->socket != NULL || options->probe.stub != NULL || options->sim ||
	       options->board != NULL;
}

int pb_open_card(const struct pb_open_options *options, struct pb_open_card *card)
{
	memset(card, 0, sizeof(*card));
	if (options->sim)
		return open_sim(options->memory_bytes, card);
	if (options->socket != NULL)
		return open_socket(options->socket, card);
	if (options->probe.stub != NULL)
		return open_probe(&options->probe, card);
	return open_own(options->board != NULL ? options->board : PB_DEFAULT_BOARD, options->memory_bytes,
			card);
}

void pb_close_card(struct pb_open_card *card)
{
	card->link->ops->close(card->link);
	pb_sim_destroy(card->sim);
	if (card->pid != 0)
		pb_card_stop(card->pid);
}

enum pb_error pb_card_read_running(struct pb_link *link, struct pb_card_info *info)
{
	enum pb_error error = pb_card_read(link, info);

	/* A simulated card advances its boot only while a host waits on its link. */
	for (int tries = 0; tries < 100 && error == PB_ERROR_OK && info->boot_stage < PB_BOOT_STAGE_RUNNING;
	     tries++) {
		(void)link->ops->wait(link, 10000);
		error = pb_card_read(link, info);
	}
	return error;
}
