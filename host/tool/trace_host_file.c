/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/* Reads the file that programs have written by PATCHBAY_TRACE_HOST: host/link_trace.h describes it. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "host/link_trace.h"
#include "host/tool/trace_host.h"
#include "patchbay/host_trace.h"

/** Largest number of events of a section: each link keeps fewer. */
#define EVENTS_MAX 0x100000u

bool pb_trace_host_is(FILE *file)
{
	char begins[sizeof(PB_HOST_TRACE_MAGIC) - 1u];
	const bool is = fread(begins, sizeof(begins), 1, file) == 1 &&
			memcmp(begins, PB_HOST_TRACE_MAGIC, sizeof(begins)) == 0;

	rewind(file);
	return is;
}

static uint64_t wide(const uint32_t *words)
{
	return (uint64_t)words[1] << 32 | words[0];
}

/** Reads words. @return how many */
static size_t read_words(FILE *file, uint32_t *words, size_t count)
{
	const size_t got = fread(words, 1, count * sizeof(*words), file);

	for (size_t i = 0; i < count; i++)
		words[i] = le32toh(words[i]);
	return got;
}

/** Makes room for the events of a section. @return NULL, or the error */
static const char *grow(struct pb_trace_host *host, uint32_t count)
{
	const size_t wanted = host->count + count;
	size_t room = host->room != 0 ? host->room : 64u;
	struct pb_guest_event *events;
	uint32_t *numbers;

	if (count > EVENTS_MAX)
		return "a section of a host's events is too long";
	while (room < wanted)
		room *= 2u;
	if (room == host->room)
		return NULL;
	events = realloc(host->events, room * sizeof(*events));
	if (events != NULL)
		host->events = events;
	numbers = realloc(host->numbers, room * sizeof(*numbers));
	if (numbers != NULL)
		host->numbers = numbers;
	if (events == NULL || numbers == NULL)
		return "out of memory";
	host->room = room;
	return NULL;
}

/** Reads a section behind its head. @param head its words */
static const char *read_section(FILE *file, struct pb_trace_host *host, const uint32_t *head)
{
	uint32_t words[PB_HOST_TRACE_EVENT_WORDS] = {0};
	const char *wrong = grow(host, head[4]);

	host->lost += head[5];
	for (uint32_t i = 0; wrong == NULL && i < head[4]; i++) {
		struct pb_guest_event *event = &host->events[host->count];

		if (read_words(file, words, PB_HOST_TRACE_EVENT_WORDS) != sizeof(words))
			return "the file is cut off";
		if (words[4] < PB_HOST_SUBMITTED || words[4] > PB_HOST_FRAME)
			return "an event of a host is of no known kind";
		if (wide(words) > UINT64_MAX / 2000u)
			return "an event of a host has no time";
		*event = (struct pb_guest_event){.nanoseconds = wide(words) * 1000u,
						 .file = head[3],
						 .value = wide(&words[2]),
						 .kind = words[4] +
							 (PB_GUEST_HOST_SUBMITTED - PB_HOST_SUBMITTED),
						 .queue = words[5],
						 .node = words[6],
						 .card_us = words[7],
						 .detail = (int32_t)words[8],
						 .pid = head[2]};
		for (size_t c = 0; c + 1u < sizeof(event->comm); c++)
			event->comm[c] = (char)(head[PB_HOST_TRACE_NAME_WORD + c / 4u] >> 8u * (c % 4u));
		host->numbers[host->count++] = host->sections;
	}
	return wrong;
}

const char *pb_trace_host_read(FILE *file, struct pb_trace_host *host)
{
	uint32_t head[PB_HOST_TRACE_HEAD_WORDS] = {0};
	const char *wrong = NULL;

	memset(host, 0, sizeof(*host));
	while (wrong == NULL) {
		const size_t got = read_words(file, head, PB_HOST_TRACE_HEAD_WORDS);
		uint32_t magic[2];

		memcpy(magic, PB_HOST_TRACE_MAGIC, sizeof(magic));
		if (got == 0 && host->sections != 0)
			return NULL;
		if (got != sizeof(head))
			return "the file is cut off";
		if (head[0] != le32toh(magic[0]) || head[1] != le32toh(magic[1]))
			return "a section is no host's";
		wrong = read_section(file, host, head);
		host->sections++;
	}
	return wrong;
}

void pb_trace_host_free(struct pb_trace_host *host)
{
	free(host->events);
	free(host->numbers);
	memset(host, 0, sizeof(*host));
}
