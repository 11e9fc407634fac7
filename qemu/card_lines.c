/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_lines.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hal/shared.h"

void pb_card_lines_init(struct pb_card_lines *lines, struct pb_card_line_block *block,
			void (*line)(void *context, uint32_t line), void *context)
{
	memset(lines, 0, sizeof(*lines));
	lines->block = block;
	lines->line = line;
	lines->context = context;
	lines->socket = -1;
}

void pb_card_lines_restart(struct pb_card_lines *lines)
{
	if (lines->socket >= 0)
		close(lines->socket);
	lines->socket = -1;
	/* Bytes under way died with the old MCU, and so did the work that unsent ones told of. */
	lines->unsent = 0;
	for (uint32_t i = 0; i < PB_CARD_LINES; i++)
		lines->sent[i] = pb_shared_read32(&lines->block->to_mcu_taken[i]);
}

/*
 * Sends what can be sent. At most one byte a line is under way, so the socket
 * has room for all; what fails is kept for the next time.
 */
static void flush(struct pb_card_lines *lines)
{
	for (uint32_t i = 0; i < PB_CARD_LINES && lines->unsent != 0; i++) {
		const uint8_t byte = (uint8_t)i;

		if ((lines->unsent & 1u << i) == 0)
			continue;
		if (send(lines->socket, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
			return;
		lines->unsent &= ~(1u << i);
		lines->sent[i]++;
	}
}

void pb_card_lines_connect(struct pb_card_lines *lines, int socket)
{
	lines->socket = socket;
	flush(lines);
}

void pb_card_lines_raise(struct pb_card_lines *lines, uint32_t line)
{
	pb_shared_release();
	pb_shared_write32(&lines->block->to_mcu_raised[line], ++lines->raised[line]);
	pb_shared_barrier();
	if (pb_shared_read32(&lines->block->to_mcu_taken[line]) == lines->sent[line])
		lines->unsent |= 1u << line;
	if (lines->socket >= 0)
		flush(lines);
}

static void take(struct pb_card_lines *lines, uint32_t line)
{
	if (line >= PB_CARD_LINES)
		return;
	pb_shared_write32(&lines->block->from_mcu_taken[line], ++lines->taken[line]);
	pb_shared_barrier();
	lines->line(lines->context, line);
}

bool pb_card_lines_receive(struct pb_card_lines *lines)
{
	uint8_t bytes[64];
	ssize_t got = recv(lines->socket, bytes, sizeof(bytes), MSG_DONTWAIT);

	for (ssize_t i = 0; i < got; i++)
		take(lines, bytes[i]);
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}
