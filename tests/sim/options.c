/* SPDX-License-Identifier: MIT */
#include "tests/sim/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE_NAME(name, text, meaning) [PB_RATE_BIT_##name] = text,
static const char *const names[PB_RATE_COUNT] = {PB_RATES(RATE_NAME)};
#undef RATE_NAME

bool pb_options_rate(const char *name, uint32_t *bit)
{
	for (uint32_t i = 0; i < PB_RATE_COUNT; i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		*bit = 1u << i;
		return true;
	}
	return false;
}

/** @return what follows the number; NULL: there is no number, or it is no action */
static const char *parse_action(const char *text, unsigned long *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	*number = strtoul(text, &end, 10);
	return *number < PB_ACTIONS_MAX ? end : NULL;
}

bool pb_options_skip(struct pb_options *options, const char *list)
{
	do {
		unsigned long first, last;

		list = parse_action(list, &first);
		last = first;
		if (list != NULL && *list == '-')
			list = parse_action(list + 1, &last);
		if (list == NULL || last < first)
			return false;
		for (; first <= last; first++)
			options->skip[first] = true;
	} while (*list++ == ',');
	return list[-1] == '\0';
}

/** Appends to the text, as far as it fits. */
static __attribute__((format(printf, 3, 4))) void append(char *text, size_t bytes, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, bytes - used, format, arguments);
	va_end(arguments);
}

static void print_skip(const struct pb_options *options, char *text, size_t bytes)
{
	const char *before = " --skip ";

	for (uint32_t first = 0; first < PB_ACTIONS_MAX; first++) {
		uint32_t last = first;

		if (!options->skip[first])
			continue;
		while (last + 1u < PB_ACTIONS_MAX && options->skip[last + 1u])
			last++;
		append(text, bytes, "%s%u", before, first);
		if (last != first)
			append(text, bytes, "-%u", last);
		before = ",";
		first = last;
	}
}

void pb_options_print(const struct pb_options *options, char *text, size_t bytes)
{
	const char *before = " --without ";

	text[0] = '\0';
	if (options->hosts != 0)
		append(text, bytes, " --hosts %u", options->hosts);
	if (options->host_memory)
		append(text, bytes, " --host-memory");
	if (options->actions != 0)
		append(text, bytes, " --actions %u", options->actions);
	for (uint32_t i = 0; i < PB_RATE_COUNT; i++) {
		if ((options->without & 1u << i) == 0)
			continue;
		append(text, bytes, "%s%s", before, names[i]);
		before = ",";
	}
	print_skip(options, text, bytes);
}
