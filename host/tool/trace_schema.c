/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_schema.h"

#include <stdio.h>
#include <string.h>

#include "firmware/abi/errors.h"
#include "host/names.h"

static bool parse_argument(const char *text, struct pb_trace_argument *argument)
{
	char format[2];

	if (strcmp(text, "-") == 0) {
		*argument = (struct pb_trace_argument){.format = '-'};
		return true;
	}
	if (sscanf(text, "%15[a-z_]:%1s", argument->name, format) != 2)
		return false;
	argument->format = format[0];
	return true;
}

static bool parse_line(const char *line, struct pb_trace_schema *schema)
{
	char first[32], second[32];
	struct pb_trace_kind kind = {.known = true};
	uint32_t number;

	if (sscanf(line, "%u %23[A-Z0-9_] %15[A-Z0-9_] %u %31s %31s", &number, kind.name, kind.category, &kind.level, first,
		   second) != 6)
		return false;
	if (number == 0 || number > 255u || !parse_argument(first, &kind.arguments[0]) ||
	    !parse_argument(second, &kind.arguments[1]))
		return false;
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

static int print_value(char *to, size_t room, char format, uint32_t value)
{
	switch (format) {
	case 'x':
		return snprintf(to, room, "0x%x", value);
	case 'e':
		return snprintf(to, room, "%s", pb_error_name((enum pb_error)value));
	case 'n':
		return snprintf(to, room, "%u context %u", PB_TRACE_FED_NODE(value),
				PB_TRACE_FED_CONTEXT(value));
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
	const uint32_t number = PB_TRACE_WHAT_EVENT(record->what), object = PB_TRACE_WHAT_OBJECT(record->what);
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
