/* SPDX-License-Identifier: MIT */
#include "qemu/card_say.h"

#include <stdarg.h>
#include <stdio.h>

void pb_card_say(const char *format, ...)
{
	char line[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	fprintf(stderr, "card: %s\n", line);
}
