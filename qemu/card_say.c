/* SPDX-License-Identifier: MIT */
#include "qemu/card_say.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "qemu/card.h"

void pb_card_say(const char *format, ...)
{
	char line[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	fprintf(stderr, "card: %s\n", line);
}

void pb_card_say_started(const struct pb_card_options *options, const char *socket, pid_t mcu)
{
	if (!options->quiet)
		pb_card_say("board %s, socket %s, memory %u MiB, MCU pid %d", options->board, socket,
			    options->memory_bytes >> 20, (int)mcu);
}

void pb_card_say_ready(int *ready_fd)
{
	const char newline = '\n';

	if (*ready_fd < 0)
		return;
	if (write(*ready_fd, &newline, 1) != 1)
		pb_card_say("no reader for the report that the card is ready");
	close(*ready_fd);
	*ready_fd = -1;
}

void pb_card_say_refused(void *context, uint32_t code, uint32_t channel, uint32_t error)
{
	(void)context;
	pb_card_say("the firmware refused command %u about channel %u: error %u", code, channel, error);
}
