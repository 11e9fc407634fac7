/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/guest_trace.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/** What stands in front of a tracepoint's name. */
#define MARK " patchbay_"
/** Digits of a fraction of a second: more of them are less than a nanosecond. */
#define FRACTION_DIGITS 9u

const char *pb_guest_event_name(uint32_t kind)
{
#define NAME(name, number, text) [PB_GUEST_##name] = (text),
	static const char *const names[] = {"?", PB_GUEST_EVENTS(NAME)};
#undef NAME

	return names[kind < sizeof(names) / sizeof(names[0]) ? kind : 0];
}

/** Finds the kind whose name begins a text and ends with a colon. @return 0: another one */
static uint32_t kind_of(const char *text)
{
	for (uint32_t kind = PB_GUEST_SUBMIT; kind <= PB_GUEST_SIGNAL; kind++) {
		const size_t length = strlen(pb_guest_event_name(kind));

		if (strncmp(text, pb_guest_event_name(kind), length) == 0 && text[length] == ':')
			return kind;
	}
	return 0;
}

/** Reads "SECONDS.FRACTION:", which ends at `end`. */
static bool read_time(const char *line, const char *end, uint64_t *nanoseconds)
{
	const char *at = end;
	uint64_t seconds, fraction = 0;
	uint32_t digits = 0;
	char *point;

	while (at > line && (isdigit((unsigned char)at[-1]) || at[-1] == '.'))
		at--;
	if (!isdigit((unsigned char)*at))
		return false;
	seconds = strtoull(at, &point, 10);
	if (*point != '.' || seconds > UINT64_MAX / 2000000000u)
		return false;
	for (at = point + 1; digits < FRACTION_DIGITS; digits++) {
		fraction *= 10u;
		if (at < end && isdigit((unsigned char)*at))
			fraction += (uint64_t)(*at++ - '0');
	}
	*nanoseconds = seconds * 1000000000u + fraction;
	return *at == ':';
}

/** Reads "COMM-PID" at the start of a line, in front of "[CPU]" or "(TGID)". COMM may hold anything. */
static bool read_task(const char *line, const char *end, struct pb_guest_event *event)
{
	const char *cpu = memrchr(line, '[', (size_t)(end - line)), *dash, *name = line;
	char *after;
	size_t length;

	if (cpu == NULL)
		return false;
	while (cpu > line && cpu[-1] == ' ')
		cpu--;
	if (cpu > line && cpu[-1] == ')') { /* the thread group, if the guest was asked for it */
		const char *group = memrchr(line, '(', (size_t)(cpu - line));

		for (cpu = group != NULL ? group : line; cpu > line && cpu[-1] == ' ';)
			cpu--;
	}
	dash = memrchr(line, '-', (size_t)(cpu - line));
	while (*name == ' ')
		name++;
	if (dash == NULL || dash < name || !isdigit((unsigned char)dash[1]))
		return false;
	event->pid = (uint32_t)strtoul(dash + 1, &after, 10);
	length = (size_t)(dash - name) < sizeof(event->comm) - 1u ? (size_t)(dash - name)
								  : sizeof(event->comm) - 1u;
	for (size_t i = 0; i < length; i++)
		event->comm[i] = (char)(isprint((unsigned char)name[i]) && name[i] != '"' &&
							name[i] != '\\' && name[i] != '<' && name[i] != '>'
						? name[i]
						: '_');
	event->comm[length] = '\0';
	return after == cpu;
}

/** Reads a line with an event. @param mark where its name begins */
static const char *read_event(const char *line, const char *mark, uint32_t kind, struct pb_guest_event *event)
{
	const char *fields = strchr(mark, ':') + 1;
	const char *time_end = mark - strlen(":" MARK);

	*event = (struct pb_guest_event){.kind = kind};
	if (!read_time(line, time_end, &event->nanoseconds))
		return "the event has no time in seconds";
	if (!read_task(line, time_end, event))
		return "the event has no task";
	if (sscanf(fields,
		   " file=%" SCNu64 " node=%" SCNu32 " queue=%" SCNx32 " value=%" SCNu64 " card_us=%" SCNu32
		   " detail=%" SCNd32,
		   &event->file, &event->node, &event->queue, &event->value, &event->card_us,
		   &event->detail) != 6)
		return "the event is cut off or has other fields";
	return NULL;
}

/** Makes room for one more event. @return false: out of memory */
static bool grow(struct pb_guest_trace *trace)
{
	struct pb_guest_event *larger;

	/* Doubles whenever the count is a power of two. */
	if ((trace->count & (trace->count - 1u)) != 0)
		return true;
	larger = realloc(trace->events, (trace->count == 0 ? 1u : 2u * trace->count) * sizeof(*larger));
	if (larger == NULL)
		return false;
	trace->events = larger;
	return true;
}

/** Finds what stands between a time and the name of a tracepoint of the driver. A task may have any name. */
static const char *find_mark(const char *line)
{
	const char *mark = strstr(line, ":" MARK);

	while (mark != NULL && (mark == line || !isdigit((unsigned char)mark[-1])))
		mark = strstr(mark + 1, ":" MARK);
	return mark;
}

static const char *read_line(struct pb_guest_trace *trace, const char *line)
{
	const char *mark = find_mark(line), *wrong;
	const char *lost = strstr(line, "[LOST ");
	uint32_t kind;

	if (lost != NULL && mark == NULL)
		trace->lost += strtoull(lost + strlen("[LOST "), NULL, 10);
	if (mark == NULL)
		return NULL;
	mark += strlen(":" MARK);
	kind = kind_of(mark);
	if (kind == 0)
		return NULL;
	if (!grow(trace))
		return "out of memory";
	wrong = read_event(line, mark, kind, &trace->events[trace->count]);
	trace->count += wrong == NULL;
	return wrong;
}

const char *pb_guest_trace_read(FILE *file, struct pb_guest_trace *trace)
{
	const char *wrong = NULL;
	char *line = NULL;
	size_t room = 0;

	memset(trace, 0, sizeof(*trace));
	while (wrong == NULL && getline(&line, &room, file) >= 0) {
		trace->line++;
		wrong = read_line(trace, line);
	}
	free(line);
	if (wrong == NULL && ferror(file) != 0)
		return "it cannot be read";
	return wrong == NULL && trace->count == 0 ? "there is no event patchbay_submit, patchbay_ring or "
						    "patchbay_signal"
						  : wrong;
}

void pb_guest_trace_free(struct pb_guest_trace *trace)
{
	free(trace->events);
	memset(trace, 0, sizeof(*trace));
}
