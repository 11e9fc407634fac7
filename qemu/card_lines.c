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
	lines->here = 0;
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
	if (count == 0)
		return;
	sent = send(lines->socket, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
	for (size_t i = 0; i < count && (ssize_t)i < sent; i++) {
		lines->unsent &= ~(1u << bytes[i]);
		lines->sent[bytes[i]]++;
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

/* Looks at a line, if it has been raised since or a byte says so. */
static bool look(struct pb_card_lines *lines, uint32_t line, bool told)
{
	const uint32_t raised = pb_shared_read32(&lines->block->from_mcu_raised[line]);

	if (raised == lines->seen[line] && !told)
		return false;
	lines->seen[line] = raised;
	pb_shared_barrier();
	lines->line(lines->context, line);
	return true;
}

bool pb_card_lines_receive(struct pb_card_lines *lines)
{
	uint8_t bytes[64];
	ssize_t got = recv(lines->socket, bytes, sizeof(bytes), MSG_DONTWAIT);

	for (ssize_t i = 0; i < got; i++) {
		if (bytes[i] >= PB_CARD_LINES)
			continue;
		lines->here |= 1u << bytes[i];
		look(lines, bytes[i], true);
	}
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool look_at(struct pb_card_lines *lines, uint32_t mask)
{
	bool raised = false;

	for (; mask != 0; mask &= mask - 1u)
		raised = look(lines, (uint32_t)__builtin_ctz(mask), false) || raised;
	return raised;
}

bool pb_card_lines_poll(struct pb_card_lines *lines)
{
	return look_at(lines, lines->here);
}

bool pb_card_lines_rest(struct pb_card_lines *lines)
{
	const uint32_t here = lines->here;

	lines->here = 0;
	for (uint32_t left = here; left != 0; left &= left - 1u) {
		const uint32_t line = (uint32_t)__builtin_ctz(left);

		pb_shared_write32(&lines->block->from_mcu_taken[line], ++lines->taken[line]);
	}
	pb_shared_barrier();
	return look_at(lines, here);
}
