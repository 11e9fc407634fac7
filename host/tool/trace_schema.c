/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/trace_schema.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "patchbay/abi/submission.h"
#include "patchbay/names.h"

static const struct {
	const char *name;
	uint32_t event;
} own[] = {
#define OWN(name, number, category, level, arguments) {#name, (number)},
	PB_TRACE_EVENTS(OWN)
#undef OWN
};

static uint32_t find_own(const char *name)
{
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (strcmp(own[i].name, name) == 0)
			return own[i].event;
	}
	return 0;
}

static bool parse_argument(const char *text, struct pb_trace_argument *argument)
{
	char format[3];

	if (strcmp(text, "-") == 0) {
		*argument = (struct pb_trace_argument){.format = '-'};
		return true;
	}
	if (sscanf(text, "%15[a-z_]:%2s", argument->name, format) != 2 || format[1] != '\0')
		return false;
	argument->format = format[0];
	return true;
}

static bool parse_line(const char *line, struct pb_trace_schema *schema)
{
	char first[32], second[32];
	struct pb_trace_kind kind = {.known = true};
	uint32_t number;

	if (sscanf(line, "%u %23[A-Z0-9_] %15[A-Z0-9_] %u %31s %31s", &number, kind.name, kind.category,
		   &kind.level, first, second) != 6)
		return false;
	if (number == 0 || number > 255u || !parse_argument(first, &kind.arguments[0]) ||
	    !parse_argument(second, &kind.arguments[1]))
		return false;
	kind.event = find_own(kind.name);
	schema->kinds[number] = kind;
	return true;
}

uint32_t pb_trace_schema_parse(const char *text, struct pb_trace_schema *schema)
{
	char line[128];

	memset(schema, 0, sizeof(*schema));
	for (uint32_t n = 1; *text != '\0'; n++) {
		const size_t length = strcspn(text, "\n");

		if (length >= sizeof(line))
			return n;
		memcpy(line, text, length);
		line[length] = '\0';
		if (!parse_line(line, schema))
			return n;
		text += length + (text[length] == '\n');
	}
	return 0;
}

static int print_flags(char *to, size_t room, uint32_t flags)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} names[] = {
		{PB_FLAG_PAGING, "paging "},
		{PB_FLAG_PRESENT, "present "},
		{PB_FLAG_REDIRECTED_PRESENT, "redirected "},
		{PB_FLAG_NULL_RENDERING, "null "},
	};
	int at = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if ((flags & names[i].flag) != 0)
			at += snprintf(to + at, room - (size_t)at, "%s", names[i].name);
	}
	return at + snprintf(to + at, room - (size_t)at, "0x%x", flags);
}

static int print_value(char *to, size_t room, char format, uint32_t value)
{
	switch (format) {
	case 'x':
		return snprintf(to, room, "0x%x", value);
	case 'e':
		return snprintf(to, room, "%s", pb_error_name(value));
	case 'd':
		return snprintf(to, room, "%s node %u", pb_error_name(PB_TRACE_DONE_ERROR(value)),
				PB_TRACE_DONE_NODE(value));
	case 'o':
		return snprintf(to, room, "channel %u node %u priority %s", PB_TRACE_OF_CHANNEL(value),
				PB_TRACE_OF_NODE(value), pb_priority_name(PB_TRACE_OF_PRIORITY(value)));
	case 'f':
		return print_flags(to, room, value);
	case 's':
		return snprintf(to, room, "%s", pb_boot_stage_name(value));
	case 'c':
		return snprintf(to, room, "%s", pb_command_name(value));
	default:
		return snprintf(to, room, "%u", value);
	}
}

void pb_trace_schema_print(const struct pb_trace_schema *schema, const struct pb_trace_record *record,
			   char *text)
{
	const uint32_t number = PB_TRACE_WHAT_EVENT(record->what),
		       object = PB_TRACE_WHAT_OBJECT(record->what);
	const struct pb_trace_kind *kind = &schema->kinds[number];
	size_t at = 0;

	if (!kind->known) {
		snprintf(text, PB_TRACE_TEXT_BYTES, "event %u object %u arguments 0x%x 0x%x", number, object,
			 record->arguments[0], record->arguments[1]);
		return;
	}
	at += (size_t)snprintf(text, PB_TRACE_TEXT_BYTES, "%-9s", kind->name);
	if (object != PB_TRACE_NONE)
		at += (size_t)snprintf(text + at, PB_TRACE_TEXT_BYTES - at, " %s %u",
				       strcmp(kind->category, "NODE") == 0 ? "node" : "queue", object);
	for (uint32_t i = 0; i < 2u; i++) {
		const struct pb_trace_argument *argument = &kind->arguments[i];

		if (argument->format == '-')
			continue;
		at += (size_t)snprintf(text + at, PB_TRACE_TEXT_BYTES - at, " %s ", argument->name);
		at += (size_t)print_value(text + at, PB_TRACE_TEXT_BYTES - at, argument->format,
					  record->arguments[i]);
	}
}

static bool parse_category(const char *name, size_t length, uint32_t level, uint32_t *levels)
{
#define CATEGORY(name, number, meaning) {#name, (number)},
	static const struct {
		const char *name;
		uint32_t number;
	} categories[] = {PB_TRACE_CATEGORIES(CATEGORY)};
#undef CATEGORY

	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
		const uint32_t shift = 4u * categories[i].number;

		if (strlen(categories[i].name) != length ||
		    strncasecmp(categories[i].name, name, length) != 0)
			continue;
		*levels = (*levels & ~(0xfu << shift)) | level << shift;
		return true;
	}
	return false;
}

bool pb_trace_levels_parse(const char *text, uint32_t *levels)
{
	static const struct {
		const char *name;
		uint32_t levels;
	} names[] = {{"off", PB_TRACE_LEVELS_NONE},
		     {"default", PB_TRACE_LEVELS_DEFAULT},
		     {"all", PB_TRACE_LEVELS_ALL}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		*levels = names[i].levels;
		if (strcmp(text, names[i].name) == 0)
			return true;
	}
	*levels = PB_TRACE_LEVELS_DEFAULT;
	for (;;) {
		const size_t length = strcspn(text, "=,");
		const char *level = text + length + 1;

		if (text[length] != '=' || level[0] < '0' || level[0] > (char)('0' + PB_TRACE_LEVEL_MAX) ||
		    (level[1] != ',' && level[1] != '\0') ||
		    !parse_category(text, length, (uint32_t)(level[0] - '0'), levels))
			return false;
		if (level[1] == '\0')
			return true;
		text = level + 2;
	}
}
