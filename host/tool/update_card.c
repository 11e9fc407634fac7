/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/update_card.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/link_system.h"
#include "host/tool/gl_socket.h"
#include "qemu/card_loader.h"
#include "qemu/mcu/flash.h"

/* A card answers within a turn of its loop, also a slow one. */
#define ANSWER_MS 20000

#define TEXT_CASE(name, number, meaning)                                                                     \
	case (number):                                                                                       \
		return meaning;

const char *pb_update_error_text(uint32_t error)
{
	switch (error) {
		PB_UPDATE_ERRORS(TEXT_CASE)
	default:
		return "unknown error";
	}
}

const char *pb_update_reason_text(uint32_t reason)
{
	switch (reason) {
		PB_LOADER_REASONS(TEXT_CASE)
	default:
		return "unknown reason";
	}
}

static bool read_stream(FILE *stream, struct pb_update_file *file)
{
	file->words = calloc(1, PB_CARD_SLOT_BYTES + 1u);
	if (file->words == NULL)
		return false;
	/* One byte more than fits shows that a file is too long. */
	file->bytes = fread(file->words, 1, PB_CARD_SLOT_BYTES + 1u, stream);
	return ferror(stream) == 0;
}

bool pb_update_file_read(const char *program, const char *path, struct pb_update_file *file)
{
	FILE *stream = fopen(path, "rb");
	bool read;

	*file = (struct pb_update_file){0};
	read = stream != NULL && read_stream(stream, file);
	if (!read)
		fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
	if (stream != NULL)
		(void)fclose(stream);
	if (read && file->bytes > PB_CARD_SLOT_BYTES) {
		fprintf(stderr, "%s: %s: %s\n", program, path, pb_update_error_text(PB_UPDATE_TOO_LARGE));
		read = false;
	}
	return read;
}

int pb_update_connect(const char *program, const char *socket)
{
	char path[128];
	const int length = snprintf(path, sizeof(path), "%s" PB_ADMIN_SUFFIX, socket);
	int connection = -1;

	if (length > 0 && (size_t)length < sizeof(path) && pb_connect_unix(path, &connection) == PB_ERROR_OK)
		return connection;
	if (connection >= 0)
		close(connection);
	fprintf(stderr, "%s: no card takes updates at %s: it must run with --flash\n", program, path);
	return -1;
}

static bool receive_all(int connection, void *data, size_t bytes)
{
	uint8_t *at = data;

	while (bytes != 0) {
		struct pollfd poller = {.fd = connection, .events = POLLIN};
		ssize_t got;

		if (poll(&poller, 1, ANSWER_MS) == 0)
			return false;
		got = recv(connection, at, bytes, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		bytes -= (size_t)got;
	}
	return true;
}

bool pb_update_ask(int connection, const struct pb_admin_request *request, const void *data,
		   struct pb_admin_answer *answer)
{
	return pb_gl_write_all(connection, request, sizeof(*request)) &&
	       pb_gl_write_all(connection, data, request->bytes) &&
	       receive_all(connection, answer, sizeof(*answer)) && answer->magic == PB_ADMIN_MAGIC;
}

int pb_update_flash(const char *program, const char *flash, const char *board,
		    const struct pb_update_file *file, uint32_t *slot)
{
	static struct pb_card_lines lines;
	const struct pb_machine *machine = pb_machine_find(board);
	struct pb_card_loader loader;
	int error;

	if (machine == NULL) {
		fprintf(stderr, "%s: there is no board %s\n", program, board);
		return -1;
	}
	if (!pb_card_loader_open(&loader, flash, machine, &lines, true))
		return -1;
	if (*slot >= PB_SLOTS)
		*slot = pb_update_free_slot(&loader.updater, PB_SLOT_NONE);
	error = (int)pb_update_write(&loader.updater, file->words, (uint32_t)file->bytes, *slot,
				     PB_SLOT_NONE);
	pb_card_loader_close(&loader);
	return error;
}
