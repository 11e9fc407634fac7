/* SPDX-License-Identifier: MIT */
#include "patchbay/trace.h"

#include <string.h>

#include "host/internal.h"

/* The ring's `put` counts bytes modulo 2^32; record numbers are therefore modulo 2^32 / RECORD_BYTES. */
#define RECORD_BYTES ((uint32_t)sizeof(struct pb_trace_record))
#define COUNT_MASK   (UINT32_MAX / RECORD_BYTES)

static const struct pb_trace_ring *ring_of(const struct pb_trace *trace)
{
	return pb_at(trace->link, trace->records_offset - (uint32_t)sizeof(struct pb_trace_ring));
}

static uint32_t read_put(const struct pb_trace *trace)
{
	return pb_shared_read32(&ring_of(trace)->put) / RECORD_BYTES;
}

/* Returns how many unread records may have been overwritten. */
static uint32_t count_gone(const struct pb_trace *trace)
{
	const uint32_t kept = trace->entries - PB_TRACE_MARGIN;
	const uint32_t behind = (read_put(trace) - trace->get) & COUNT_MASK;

	return behind > kept ? behind - kept : 0;
}

/* Moves the reader forward. */
static void advance(struct pb_trace *trace, uint32_t count)
{
	trace->get = (trace->get + count) & COUNT_MASK;
}

/* Moves the reader past overwritten records. They count as lost once reading has begun. */
static void skip_lost(struct pb_trace *trace, uint32_t count)
{
	advance(trace, count);
	if (trace->begun)
		trace->lost += count;
}

/* Copies the ring's description and checks it. */
static enum pb_error read_ring(struct pb_trace *trace, uint32_t offset)
{
	const struct pb_link *link = trace->link;
	const struct pb_trace_ring *ring;

	if (!pb_inside(link, offset, sizeof(*ring)))
		return PB_ERROR_PROTOCOL;
	ring = pb_at(link, offset);
	if (pb_shared_read32(&ring->magic) != PB_TRACE_MAGIC)
		return PB_ERROR_UNSUPPORTED;
	pb_shared_acquire();
	if (pb_shared_read32(&ring->version) != PB_TRACE_VERSION ||
	    pb_shared_read32(&ring->record_bytes) != RECORD_BYTES)
		return PB_ERROR_UNSUPPORTED;
	trace->entries = pb_shared_read32(&ring->entries);
	trace->records_offset = pb_shared_read32(&ring->records_offset);
	trace->schema_offset = pb_shared_read32(&ring->schema_offset);
	trace->schema_bytes = pb_shared_read32(&ring->schema_bytes);
	trace->levels = pb_shared_read32(&ring->levels);
	if (trace->entries <= PB_TRACE_MARGIN || (trace->entries & (trace->entries - 1u)) != 0 ||
	    trace->records_offset != offset + sizeof(*ring) ||
	    !pb_inside(link, trace->records_offset, (uint64_t)trace->entries * RECORD_BYTES) ||
	    trace->schema_bytes > PB_TRACE_SCHEMA_BYTES_MAX ||
	    !pb_inside(link, trace->schema_offset, (trace->schema_bytes + 3u) & ~3u))
		return PB_ERROR_PROTOCOL;
	return PB_ERROR_OK;
}

enum pb_error pb_trace_open(struct pb_trace *trace, const struct pb_link *link)
{
	const struct pb_boot_block *boot = pb_at(link, PB_BOOT_OFFSET);
	struct pb_card_info info;
	const enum pb_error card_error = pb_card_read(link, &info);
	enum pb_error error = PB_ERROR_UNSUPPORTED;
	uint32_t offset;

	*trace = (struct pb_trace){.link = link};
	if (link->memory_bytes < sizeof(*boot) || card_error == PB_ERROR_BAD_VERSION)
		return card_error;
	/* A boot that failed early leaves a trace although pb_card_read() fails. */
	offset = pb_shared_read32(&boot->trace_offset);
	if (offset != 0)
		error = read_ring(trace, offset);
	if (error != PB_ERROR_OK)
		return card_error != PB_ERROR_OK ? card_error : error;
	trace->get = (read_put(trace) - (trace->entries - PB_TRACE_MARGIN)) & COUNT_MASK;
	return PB_ERROR_OK;
}

uint32_t pb_trace_read(struct pb_trace *trace, struct pb_trace_record *records, uint32_t max)
{
	const struct pb_trace_record *shared = pb_at(trace->link, trace->records_offset);
	uint32_t gone = count_gone(trace);
	uint32_t count;

	skip_lost(trace, gone);
	trace->begun = true;
	count = (read_put(trace) - trace->get) & COUNT_MASK;
	count = count < max ? count : max;
	count = count < trace->entries ? count : trace->entries;
	pb_shared_acquire();
	for (uint32_t i = 0; i < count; i++)
		pb_shared_copy_in(&records[i], &shared[(trace->get + i) % trace->entries], RECORD_BYTES);
	pb_shared_acquire();
	gone = count_gone(trace); /* overwritten during the copy */
	if (gone >= count) {
		skip_lost(trace, gone);
		return 0;
	}
	skip_lost(trace, gone);
	memmove(records, &records[gone], (count - gone) * sizeof(records[0]));
	advance(trace, count - gone);
	return count - gone;
}

void pb_trace_schema(const struct pb_trace *trace, char *text)
{
	const uint32_t *shared = pb_at(trace->link, trace->schema_offset);

	for (uint32_t i = 0; i < trace->schema_bytes; i += 4u) {
		const uint32_t word = pb_shared_read32(&shared[i / 4u]);

		for (uint32_t b = 0; b < 4u && i + b < trace->schema_bytes; b++) {
			const uint32_t byte = word >> 8u * b & 0xffu;

			text[i + b] = (byte >= ' ' && byte <= '~') || byte == '\n' ? (char)byte : '?';
		}
	}
	text[trace->schema_bytes] = '\0';
}

enum pb_error pb_trace_set(struct pb_channel *channel, uint32_t levels, uint64_t nanoseconds)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {levels, (uint32_t)nanoseconds,
							  (uint32_t)(nanoseconds >> 32)};

	return pb_channel_command(channel, PB_COMMAND_TRACE, arguments, NULL);
}
