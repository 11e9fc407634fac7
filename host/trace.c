/* SPDX-License-Identifier: MIT */
#include "patchbay/trace.h"

#include <string.h>

#include "host/internal.h"

/* The ring's `put` counts bytes modulo 2^32; record numbers are therefore modulo 2^32 / RECORD_BYTES. */
#define RECORD_BYTES ((uint32_t)sizeof(struct pb_trace_record))
#define COUNT_MASK   (UINT32_MAX / RECORD_BYTES)
#define MICROSECONDS 1000000u

/* Microseconds that a stamp waits for a tick, between looks before the tick is near, and until it is near. */
#define TICK_PATIENCE_US 20000u
#define FAR_US           500u
#define NEAR_US          4500u

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
	trace->version = pb_shared_read32(&ring->version);
	if (trace->version - 1u >= PB_TRACE_VERSION || pb_shared_read32(&ring->record_bytes) != RECORD_BYTES)
		return PB_ERROR_UNSUPPORTED;
	trace->hertz = trace->version >= 2u ? pb_shared_read32(&ring->clock_hertz) : 0;
	trace->entries = pb_shared_read32(&ring->entries);
	trace->records_offset = pb_shared_read32(&ring->records_offset);
	trace->schema_offset = pb_shared_read32(&ring->schema_offset);
	trace->schema_bytes = pb_shared_read32(&ring->schema_bytes);
	trace->levels = pb_shared_read32(&ring->levels);
	if (trace->entries <= PB_TRACE_MARGIN || (trace->entries & (trace->entries - 1u)) != 0 ||
	    trace->records_offset != offset + sizeof(*ring) ||
	    !pb_inside(link, trace->records_offset, (uint64_t)trace->entries * RECORD_BYTES) ||
	    (trace->hertz != 0 && trace->hertz < MICROSECONDS) ||
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

/* The clock of the host's link, and what the card shows meanwhile. */
struct look {
	uint64_t before, after;
	uint32_t clock;
	uint64_t far_us; /* how long to wait while the next tick is far */
};

/* Looks at the clock that the firmware publishes. */
static enum pb_error look(const struct pb_trace *trace, struct pb_link *link, uint64_t wait_us,
			  struct look *seen)
{
	enum pb_error error;

	seen->before = link->ops->now(link);
	error = link->ops->wait(link, wait_us);
	if (error == PB_ERROR_OK || error == PB_ERROR_TIMEOUT)
		error = link->ops->refresh != NULL ? link->ops->refresh(link) : PB_ERROR_OK;
	/* The wait is no part of the look, unless it fetches the memory. */
	if (wait_us != 0 && link->ops->refresh == NULL)
		seen->before = link->ops->now(link);
	seen->clock = pb_shared_read32(&ring_of(trace)->clock);
	seen->after = link->ops->now(link);
	return error;
}

/* Waits for the firmware to publish its clock once more. `last` is the look at the former one, and is updated. */
static enum pb_error await_tick(const struct pb_trace *trace, struct pb_link *link, struct look *last,
				struct pb_trace_stamp *stamp)
{
	const uint64_t start = link->ops->now(link);
	uint64_t before = last->before;
	enum pb_error error = PB_ERROR_OK;
	bool stands = false;
	struct look seen;

	do {
		const uint64_t age = link->ops->now(link) - last->after;

		seen.far_us = last->far_us;
		error = look(trace, link, age < NEAR_US ? last->far_us : stands ? 1u : 0, &seen);
		stands = seen.after ==
			 seen.before; /* a simulated card's clock goes on only while its host waits */
		if (error == PB_ERROR_OK && seen.clock != last->clock) {
			/* Published after the last look that did not see it had begun. */
			*stamp = (struct pb_trace_stamp){.clock = seen.clock,
							 .host_us = seen.after,
							 .error_us = (uint32_t)(seen.after - before)};
			*last = seen;
			return PB_ERROR_OK;
		}
		before = seen.before;
	} while (error == PB_ERROR_OK && seen.after - start < TICK_PATIENCE_US);
	return error != PB_ERROR_OK ? error : PB_ERROR_TIMEOUT;
}

/* How much later `stamp` has seen the clock than `best` has, in microseconds. */
static int64_t delay(const struct pb_trace *trace, const struct pb_trace_stamp *best,
		     const struct pb_trace_stamp *stamp)
{
	const uint32_t hertz = trace->hertz != 0 ? trace->hertz : MICROSECONDS;
	const uint64_t counts = stamp->clock - best->clock;

	return (int64_t)(stamp->host_us - best->host_us) - (int64_t)(counts * MICROSECONDS / hertz);
}

enum pb_error pb_trace_stamp(const struct pb_trace *trace, struct pb_link *link, uint32_t count,
			     struct pb_trace_stamp *stamp)
{
	struct pb_trace_stamp fresh;
	struct look last;
	enum pb_error error;

	if (trace->version < 2u || link->ops == NULL)
		return PB_ERROR_UNSUPPORTED;
	error = look(trace, link, 0, &last);
	/* The clock of a simulated card that sleeps goes on by a whole tick at once. */
	last.far_us = last.after == last.before ? 1u : FAR_US;
	/* Only tells when the next one comes. */
	if (error == PB_ERROR_OK)
		error = await_tick(trace, link, &last, stamp);
	for (uint32_t i = 0; i < count && error == PB_ERROR_OK; i++) {
		error = await_tick(trace, link, &last, &fresh);
		if (error == PB_ERROR_OK && (i == 0 || delay(trace, stamp, &fresh) < 0))
			*stamp = fresh;
	}
	return error;
}
