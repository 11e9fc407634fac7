/* SPDX-License-Identifier: MIT */
#include "host/tool/seconds.h"

#include <stdlib.h>

bool pb_seconds_parse(const char *text, double least, double most, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	return end != text && *end == '\0' && *seconds >= least && *seconds <= most;
}
