/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_lines.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hal/lines.h"
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
	/* Bytes under way are lost with the old MCU, and so is what the unsent ones announced. */
	lines->unsent = 0;
	lines->here = 0;
	lines->heard = false;
	pb_shared_write32(&lines->block->mcu_polls, 0);
	for (uint32_t i = 0; i < PB_CARD_LINES; i++)
		lines->sent[i] = pb_shared_read32(&lines->block->to_mcu_taken[i]);
}

/*
 * Sends what can be sent, in one piece. At most one byte a line is under way,
 * so the socket has room for all; what fails is kept for the next time.
 */
static void flush(struct pb_card_lines *lines)
{
	uint8_t bytes[PB_CARD_LINES];
	size_t count = 0;
	ssize_t sent;

	for (uint32_t left = lines->unsent; left != 0; left &= left - 1u)
		bytes[count++] = (uint8_t)__builtin_ctz(left);
	if (count == 0 || lines->held)
		return;
	sent = send(lines->socket, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
	for (size_t i = 0; i < count && (ssize_t)i < sent; i++) {
		lines->unsent &= ~(1u << bytes[i]);
		lines->sent[bytes[i]]++;
	}
}

void pb_card_lines_hold(struct pb_card_lines *lines, bool held)
{
	lines->held = held;
	if (lines->socket >= 0)
		flush(lines);
}

void pb_card_lines_answer(struct pb_card_lines *lines, uint8_t byte)
{
	/* A loader that gets no answer starts nothing. */
	(void)!send(lines->socket, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
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
	pb_shared_release();
	pb_shared_write32(&lines->block->to_mcu_raises, ++lines->raises);
	pb_shared_barrier();
	if (pb_shared_read32(&lines->block->mcu_polls) != 0)
		return;
	if (pb_shared_read32(&lines->block->to_mcu_taken[line]) == lines->sent[line])
		lines->unsent |= 1u << line;
	if (lines->socket >= 0)
		flush(lines);
}

/* Takes the byte of a line, and only then looks: a raise from here on sends another. */
static void take(struct pb_card_lines *lines, uint32_t line)
{
	lines->here &= ~(1u << line);
	pb_shared_write32(&lines->block->from_mcu_taken[line], ++lines->taken[line]);
	pb_shared_barrier();
	lines->line(lines->context, line);
}

bool pb_card_lines_receive(struct pb_card_lines *lines)
{
	uint8_t bytes[64];
	ssize_t got = recv(lines->socket, bytes, sizeof(bytes), MSG_DONTWAIT);

	lines->heard = lines->heard || got > 0;
	for (ssize_t i = 0; i < got; i++) {
		if ((lines->byte != NULL && lines->byte(lines->context, bytes[i])) ||
		    bytes[i] >= PB_CARD_LINES)
			continue;
		if ((PB_LINES_NODES & 1u << bytes[i]) != 0)
			lines->here |= 1u << bytes[i];
		else
			take(lines, bytes[i]);
	}
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

void pb_card_lines_poll(struct pb_card_lines *lines)
{
	pb_shared_acquire();
	for (uint32_t left = lines->here; left != 0; left &= left - 1u)
		lines->line(lines->context, (uint32_t)__builtin_ctz(left));
}

bool pb_card_lines_rest(struct pb_card_lines *lines)
{
	const bool rests = lines->here != 0;

	while (lines->here != 0)
		take(lines, (uint32_t)__builtin_ctz(lines->here));
	return rests;
}
