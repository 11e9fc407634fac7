/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/trace_file.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/trace_anchor.h"
#include "host/tool/trace_guest.h"

static const char magic[8] = "PBTRACE2";
static const char former_magic[8] = "PBTRACE1";

/** Words of a DDI call. */
#define CALL_WORDS 7u
/** Words of an anchor, and of one in an older file. */
#define ANCHOR_WORDS        6u
#define FORMER_ANCHOR_WORDS 3u
#define NODES_MAX           256u
/** In a microsecond. */
#define NANOSECONDS 1000u

/* ---- writing ---- */

static bool write_piece(FILE *file, enum pb_trace_piece kind, const void *bytes, uint32_t length)
{
	const uint32_t head[2] = {htole32((uint32_t)kind), htole32(length)};

	return fwrite(head, sizeof(head), 1, file) == 1 &&
	       (length == 0 || fwrite(bytes, length, 1, file) == 1);
}

static bool write_words(FILE *file, enum pb_trace_piece kind, const uint32_t *words, uint32_t count)
{
	uint32_t little[64];

	for (uint32_t i = 0; i < count; i++)
		little[i] = htole32(words[i]);
	return write_piece(file, kind, little, count * (uint32_t)sizeof(uint32_t));
}

bool pb_trace_file_begin(FILE *file, const char *schema, uint32_t hertz)
{
	return fwrite(magic, sizeof(magic), 1, file) == 1 &&
	       write_piece(file, PB_TRACE_PIECE_SCHEMA, schema, (uint32_t)strlen(schema)) &&
	       write_words(file, PB_TRACE_PIECE_RATE, &hertz, 1);
}

bool pb_trace_file_nodes(FILE *file, uint32_t nodes)
{
	return write_words(file, PB_TRACE_PIECE_NODES, &nodes, 1);
}

bool pb_trace_file_records(FILE *file, const struct pb_trace_record *records, uint32_t count)
{
	while (count != 0) {
		const uint32_t some = count < 16u ? count : 16u;
		uint32_t words[64];

		memcpy(words, records, some * sizeof(*records));
		if (!write_words(file, PB_TRACE_PIECE_RECORDS, words, some * 4u))
			return false;
		records += some;
		count -= some;
	}
	return true;
}

bool pb_trace_file_lost(FILE *file, uint32_t count)
{
	return write_words(file, PB_TRACE_PIECE_LOST, &count, 1);
}

bool pb_trace_file_anchor(FILE *file, const struct pb_trace_anchor *anchor, uint32_t clock)
{
	return write_words(file, PB_TRACE_PIECE_ANCHOR,
			   (uint32_t[]){(uint32_t)anchor->nanoseconds, (uint32_t)(anchor->nanoseconds >> 32),
					clock, anchor->error_us, (uint32_t)anchor->host_us,
					(uint32_t)(anchor->host_us >> 32)},
			   ANCHOR_WORDS);
}

bool pb_trace_file_calls(FILE *file, const struct pb_ddi_call *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!write_words(file, PB_TRACE_PIECE_CALLS,
				 (uint32_t[]){(uint32_t)calls[i].host_us, (uint32_t)(calls[i].host_us >> 32),
					      calls[i].function, calls[i].node, calls[i].names, calls[i].id,
					      calls[i].status},
				 CALL_WORDS))
			return false;
	}
	return true;
}

bool pb_trace_file_guest(FILE *file, uint32_t guest, const struct pb_guest_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct pb_guest_event *event = &events[i];
		uint32_t words[PB_TRACE_GUEST_WORDS] = {guest,
							event->kind,
							(uint32_t)event->nanoseconds,
							(uint32_t)(event->nanoseconds >> 32),
							(uint32_t)event->file,
							(uint32_t)(event->file >> 32),
							(uint32_t)event->value,
							(uint32_t)(event->value >> 32),
							event->node,
							event->queue,
							event->card_us,
							(uint32_t)event->detail,
							event->pid};

		for (size_t c = 0; c < sizeof(event->comm); c++)
			words[PB_TRACE_GUEST_COMM + c / 4u] |= (uint32_t)(uint8_t)event->comm[c]
							       << 8u * (c % 4u);
		if (!write_words(file,
				 pb_guest_event_is_host(event) ? PB_TRACE_PIECE_HOST : PB_TRACE_PIECE_GUEST,
				 words, PB_TRACE_GUEST_WORDS))
			return false;
	}
	return true;
}

/* ---- reading ---- */

/** What is known while a file is read. */
struct reading {
	struct pb_trace_data *data;
	struct pb_trace_clock clock;
	size_t unsure; /**< since the last CLOCK: the first record behind the last gap, a loss or a boot; else SIZE_MAX */
};

/* Returns the room of an array of `count` elements: 0, or a power of two from 64 on. */
static size_t room_for(size_t count)
{
	size_t room = count != 0 ? 64u : 0;

	while (room < count)
		room *= 2u;
	return room;
}

/* Makes room for `more` elements. @return NULL, or the error */
static const char *grow(void **array, size_t count, size_t more, size_t size)
{
	void *larger;

	if (room_for(count + more) == room_for(count))
		return NULL;
	larger = realloc(*array, room_for(count + more) * size);
	if (larger == NULL)
		return "out of memory";
	*array = larger;
	return NULL;
}

static const char *read_schema(struct pb_trace_data *data, const uint8_t *bytes, uint32_t length)
{
	char *text = malloc(length + 1u);
	uint32_t line;

	if (text == NULL)
		return "out of memory";
	memcpy(text, bytes, length);
	text[length] = '\0';
	line = pb_trace_schema_parse(text, &data->schema);
	free(text);
	return line == 0 ? NULL : "the schema of the trace is invalid";
}

/** Sets the time of a record that was read, and what it tells of the clock. */
static void set_time(struct reading *reading, struct pb_trace_moment *moment)
{
	struct pb_trace_data *data = reading->data;
	const struct pb_trace_record *record = &moment->record;
	const uint32_t event = data->schema.kinds[PB_TRACE_WHAT_EVENT(record->what)].event;
	uint64_t late;

	if (pb_trace_clock_is_boot(event, record))
		reading->unsure = data->count;
	moment->time = pb_trace_clock_record(&reading->clock, event, record, &late);
	for (size_t i = reading->unsure; late != 0 && i < data->count; i++)
		data->moments[i].time += late;
	if (event == PB_TRACE_CLOCK)
		reading->unsure = SIZE_MAX;
}

static const char *read_records(struct reading *reading, const uint32_t *words, uint32_t count)
{
	struct pb_trace_data *data = reading->data;
	const char *wrong = grow((void **)&data->moments, data->count, count / 4u, sizeof(data->moments[0]));

	if (wrong != NULL)
		return wrong;
	for (uint32_t i = 0; i + 4u <= count; i += 4u) {
		struct pb_trace_moment *moment = &data->moments[data->count];

		if (words[i + 1u] == 0)
			continue; /* the record was never written */
		moment->record = (struct pb_trace_record){.clock = words[i],
							  .what = words[i + 1u],
							  .arguments = {words[i + 2u], words[i + 3u]}};
		moment->after_loss = data->losing;
		moment->lost = data->lost;
		if (data->losing)
			reading->unsure = data->count;
		data->losing = false;
		set_time(reading, moment);
		data->count++;
	}
	return NULL;
}

static uint64_t wide(const uint32_t *words)
{
	return (uint64_t)words[1] << 32 | words[0];
}

static const char *read_anchor(struct reading *reading, const uint32_t *words, uint32_t count)
{
	struct pb_trace_data *data = reading->data;
	const bool former = count == FORMER_ANCHOR_WORDS;
	const char *wrong = grow((void **)&data->anchors, data->anchor_count, 1, sizeof(data->anchors[0]));

	if (wrong != NULL)
		return wrong;
	data->anchors[data->anchor_count++] =
		(struct pb_trace_anchor){.nanoseconds = wide(words),
					 .error_us = former ? 0 : words[3],
					 .host_us = former ? 0 : wide(&words[4]),
					 .time = pb_trace_clock_at(&reading->clock, words[2])};
	return NULL;
}

/* Their times are found when all anchors have been read. */
static const char *read_calls(struct pb_trace_data *data, const uint32_t *words, uint32_t count)
{
	const char *wrong =
		grow((void **)&data->calls, data->call_count, count / CALL_WORDS, sizeof(data->calls[0]));

	for (; wrong == NULL && count >= CALL_WORDS; words += CALL_WORDS, count -= CALL_WORDS) {
		data->calls[data->call_count++].call = (struct pb_ddi_call){.host_us = wide(words),
									    .function = words[2],
									    .node = words[3],
									    .names = words[4],
									    .id = words[5],
									    .status = words[6]};
	}
	return wrong;
}

/* Leaves out what was called before the first record. */
static void time_calls(struct pb_trace_data *data)
{
	size_t kept = 0;

	for (size_t i = 0; i < data->call_count; i++) {
		int64_t time;

		if (!pb_trace_time_of(data, data->calls[i].call.host_us, &time) || time < 0)
			continue;
		data->calls[kept] = data->calls[i];
		data->calls[kept++].time = (uint64_t)time;
	}
	data->call_count = kept;
}

static const char *read_piece(struct reading *reading, uint32_t kind, uint8_t *bytes, uint32_t length)
{
	struct pb_trace_data *data = reading->data;
	uint32_t *words = (uint32_t *)(void *)bytes;
	const uint32_t count = length / (uint32_t)sizeof(uint32_t);

	if (kind == PB_TRACE_PIECE_SCHEMA)
		return read_schema(data, bytes, length);
	for (uint32_t i = 0; i < count; i++)
		words[i] = le32toh(words[i]);
	if (kind == PB_TRACE_PIECE_RECORDS)
		return length % sizeof(struct pb_trace_record) != 0 ? "a piece of records is cut off"
								    : read_records(reading, words, count);
	if (kind == PB_TRACE_PIECE_NODES && count == 1u)
		data->nodes = words[0] < NODES_MAX ? words[0] : NODES_MAX;
	if (kind == PB_TRACE_PIECE_LOST && count == 1u) {
		data->lost += words[0];
		data->losing = true;
	}
	if (kind == PB_TRACE_PIECE_RATE && count == 1u && data->count == 0)
		reading->clock.hertz = data->hertz = words[0];
	if (kind == PB_TRACE_PIECE_ANCHOR && (count == ANCHOR_WORDS || count == FORMER_ANCHOR_WORDS))
		return read_anchor(reading, words, count);
	if (kind == PB_TRACE_PIECE_GUEST || kind == PB_TRACE_PIECE_HOST)
		return pb_trace_guest_add(data, kind == PB_TRACE_PIECE_HOST, words, count);
	if (kind == PB_TRACE_PIECE_CALLS)
		return count % CALL_WORDS != 0 ? "a piece of calls is cut off"
					       : read_calls(data, words, count);
	return NULL;
}

static const char *read_pieces(FILE *file, struct pb_trace_data *data, uint8_t *bytes)
{
	struct reading reading = {.data = data, .unsure = SIZE_MAX};
	const char *wrong = NULL;
	uint32_t head[2] = {0};

	while (wrong == NULL) {
		const size_t got = fread(head, 1, sizeof(head), file);
		const uint32_t length = le32toh(head[1]);

		if (got == 0)
			return NULL;
		if (got != sizeof(head))
			return "the file is cut off";
		if (length > PB_TRACE_PIECE_BYTES_MAX)
			return "a piece is too long";
		if (length != 0 && fread(bytes, length, 1, file) != 1)
			return "the file is cut off";
		wrong = read_piece(&reading, le32toh(head[0]), bytes, length);
	}
	return wrong;
}

/** Finds the times of hosts' events by the anchors. Without an anchor they are never. */
static void time_hosts(struct pb_trace_data *data)
{
	for (size_t i = 0; i < data->guest_count; i++) {
		struct pb_trace_guest *at = &data->guest[i];
		int64_t time = -1;

		if (!pb_guest_event_is_host(&at->event))
			continue;
		(void)pb_trace_time_of(data, at->event.nanoseconds / NANOSECONDS, &time);
		at->time = (uint64_t)time;
	}
}

const char *pb_trace_file_read(FILE *file, struct pb_trace_data *data)
{
	char begins[sizeof(magic)];
	const char *wrong;
	uint8_t *bytes;

	memset(data, 0, sizeof(*data));
	if (fread(begins, sizeof(begins), 1, file) != 1 ||
	    (memcmp(begins, magic, sizeof(magic)) != 0 &&
	     memcmp(begins, former_magic, sizeof(former_magic)) != 0))
		return "the file is no trace";
	bytes = malloc(PB_TRACE_PIECE_BYTES_MAX);
	if (bytes == NULL)
		return "out of memory";
	wrong = read_pieces(file, data, bytes);
	time_calls(data);
	time_hosts(data);
	pb_trace_guest_time(data);
	free(bytes);
	return wrong;
}

void pb_trace_data_free(struct pb_trace_data *data)
{
	free(data->moments);
	free(data->anchors);
	free(data->calls);
	free(data->guest);
	memset(data, 0, sizeof(*data));
}
