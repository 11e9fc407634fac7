/* SPDX-License-Identifier: MIT */
#include "host/tool/short_text.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

/** A unit, and its size in the previous unit. */
struct unit {
	const char *name;
	double ratio;
};

static void print_in(char *text, double value, const struct unit *units, size_t count)
{
	size_t unit = 0;

	if (isnan(value)) {
		(void)snprintf(text, PB_SHORT_BYTES, "-");
		return;
	}
	while (unit + 1u < count && value >= units[unit + 1u].ratio) {
		unit++;
		value /= units[unit].ratio;
	}
	(void)snprintf(text, PB_SHORT_BYTES, "%.*f%s",
		       unit == 0       ? 0
		       : value < 9.995 ? 2
		       : value < 99.95 ? 1
				       : 0,
		       value, units[unit].name);
}

void pb_short_count(char text[PB_SHORT_BYTES], double value)
{
	static const struct unit units[] = {{"", 1}, {"k", 1000}, {"M", 1000}, {"G", 1000}, {"T", 1000}};

	if (value < 99.95 && value != floor(value))
		(void)snprintf(text, PB_SHORT_BYTES, "%.1f", value);
	else if (value < 99999.5)
		(void)snprintf(text, PB_SHORT_BYTES, "%.0f", value);
	else
		print_in(text, value, units, sizeof(units) / sizeof(units[0]));
}

void pb_short_bytes(char text[PB_SHORT_BYTES], double value)
{
	static const struct unit units[] = {{"", 1}, {"Ki", 1024}, {"Mi", 1024}, {"Gi", 1024}, {"Ti", 1024}};

	print_in(text, value, units, sizeof(units) / sizeof(units[0]));
}

void pb_short_time(char text[PB_SHORT_BYTES], double microseconds)
{
	static const struct unit units[] = {{"us", 1}, {"ms", 1000}, {"s", 1000}, {"m", 60}, {"h", 60}};

	print_in(text, microseconds, units, sizeof(units) / sizeof(units[0]));
}
