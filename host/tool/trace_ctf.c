/* SPDX-License-Identifier: MIT */
/* The records of a trace in the Common Trace Format, as pb_trace_ctf_metadata() describes them. */
#include "host/tool/trace_ctf.h"

#define CTF_MAGIC 0xc1fc1fc1u
/** Bytes of a packet's header and context. */
#define HEAD_BYTES 48u
/** Events of a packet. */
#define PACKET_EVENTS 4096u
/** Bytes of the longest event. */
#define EVENT_BYTES 74u

/** A packet that is being filled. */
struct packet {
	FILE *file;
	uint64_t begin, end; /**< times of its first and last event */
	uint64_t lost;       /**< records lost before its end, since the trace began */
	uint64_t told;       /**< of those, as the packet before has told */
	uint32_t events;
	size_t count; /**< bytes in `bytes` */
	uint8_t bytes[HEAD_BYTES + PACKET_EVENTS * EVENT_BYTES];
};

static void put(struct packet *packet, uint64_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		packet->bytes[packet->count++] = (uint8_t)(value >> 8u * i);
}

/** Writes the packet and begins the next one. A packet without an event counts what was lost. */
static bool end_packet(struct packet *packet)
{
	const size_t count = packet->count;
	bool written;

	packet->count = 0;
	put(packet, CTF_MAGIC, 4);
	put(packet, 0, 4);
	put(packet, packet->begin, 8);
	put(packet, packet->end, 8);
	put(packet, 8u * count, 8);
	put(packet, 8u * count, 8);
	put(packet, packet->lost, 8);
	written = fwrite(packet->bytes, count, 1, packet->file) == 1;
	packet->told = packet->lost;
	packet->begin = packet->end;
	packet->events = 0;
	packet->count = HEAD_BYTES;
	return written;
}

/** Begins an event. @return false: writing failed */
static bool begin_event(struct packet *packet, uint32_t id, uint64_t time)
{
	if (packet->events == PACKET_EVENTS && !end_packet(packet))
		return false;
	/* Times of a stream do not go back. */
	if (time > packet->end)
		packet->end = time;
	if (packet->events++ == 0)
		packet->begin = packet->end;
	put(packet, id, 2);
	put(packet, packet->end, 8);
	return true;
}

static bool put_record(struct packet *packet, const struct pb_trace_data *data,
		       const struct pb_trace_moment *moment)
{
	const struct pb_trace_record *record = &moment->record;
	const uint32_t number = PB_TRACE_WHAT_EVENT(record->what),
		       object = PB_TRACE_WHAT_OBJECT(record->what);
	const struct pb_trace_kind *kind = &data->schema.kinds[number];

	if (!begin_event(packet, number, moment->time))
		return false;
	put(packet, object == PB_TRACE_NONE ? UINT32_MAX : object, 4);
	for (uint32_t i = 0; i < 2u; i++) {
		if (!kind->known || kind->arguments[i].format != '-')
			put(packet, record->arguments[i], 4);
	}
	return true;
}

static bool put_call(struct packet *packet, const struct pb_trace_call *at)
{
	const struct pb_ddi_call *call = &at->call;
	const bool known = call->function <= PB_DDI_RESTART_FROM_TIMEOUT;

	if (!begin_event(packet, PB_CTF_CALLS + (known ? call->function : 0), at->time))
		return false;
	put(packet, call->node, 4);
	put(packet, call->names, 4);
	put(packet, call->id, 4);
	put(packet, call->status, 4);
	return true;
}

static bool put_guest(struct packet *packet, const struct pb_trace_guest *at)
{
	const struct pb_guest_event *event = &at->event;

	if (!begin_event(packet, PB_CTF_GUESTS + event->kind, at->time))
		return false;
	put(packet, at->guest, 4);
	put(packet, event->file, 8);
	put(packet, event->node, 4);
	put(packet, event->queue, 4);
	put(packet, event->value, 8);
	put(packet, (uint32_t)event->detail, 4);
	put(packet, event->card_us, 4);
	put(packet, event->nanoseconds, 8);
	put(packet, event->pid, 4);
	for (const char *c = event->comm; *c != '\0'; c++)
		put(packet, (uint8_t)*c, 1);
	put(packet, 0, 1);
	return true;
}

/** What of the calls and of the guests' events has been written. */
struct others {
	size_t calls, guests;
};

/** Writes the calls and guests' events of before a time. */
static bool put_others(struct packet *packet, const struct pb_trace_data *data, struct others *done,
		       uint64_t time)
{
	bool good = true;

	while (good) {
		const bool calls = done->calls < data->call_count && data->calls[done->calls].time < time;
		const bool guests = done->guests < data->guest_count && data->guest[done->guests].time < time;

		if (!calls && !guests)
			return true;
		if (guests && (!calls || data->guest[done->guests].time < data->calls[done->calls].time))
			good = put_guest(packet, &data->guest[done->guests++]);
		else
			good = put_call(packet, &data->calls[done->calls++]);
	}
	return false;
}

/** Ends the packet where records were lost: a reader reports them between this packet and the next one. */
static bool put_lost(struct packet *packet, uint64_t lost)
{
	const bool written = packet->lost == lost || packet->events == 0 || end_packet(packet);

	packet->lost = lost;
	return written;
}

bool pb_trace_ctf_stream(FILE *file, const struct pb_trace_data *data)
{
	static struct packet packet;
	struct others done = {0};
	bool good = true;

	packet.file = file;
	packet.count = HEAD_BYTES;
	packet.begin = packet.end = packet.lost = packet.told = 0;
	packet.events = 0;
	for (size_t i = 0; good && i < data->count; i++) {
		good = put_others(&packet, data, &done, data->moments[i].time);
		good = good && put_lost(&packet, data->moments[i].lost) &&
		       put_record(&packet, data, &data->moments[i]);
	}
	good = good && put_others(&packet, data, &done, UINT64_MAX);
	good = good && put_lost(&packet, data->lost);
	if (good && (packet.events != 0 || packet.lost != packet.told))
		good = end_packet(&packet);
	return good && fflush(file) == 0 && ferror(file) == 0;
}
