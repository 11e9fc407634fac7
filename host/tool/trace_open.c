/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_open.h"

#include <stdlib.h>
#include <string.h>

#include "patchbay/abi/trace.h"

/** Makes room for one more. @return false: out of memory */
static bool has_room(struct pb_open *open)
{
	const uint32_t room = open->room == 0 ? 4u : 2u * open->room;
	struct pb_packet *larger;

	if (open->count < open->room)
		return true;
	larger = realloc(open->packets, room * sizeof(*larger));
	if (larger == NULL)
		return false;
	open->packets = larger;
	open->room = room;
	return true;
}

struct pb_packet *pb_open_add(struct pb_open *open, uint32_t lane)
{
	struct pb_packet *packet;

	if (open->count == PB_OPEN_MAX)
		memmove(open->packets, &open->packets[1], --open->count * sizeof(open->packets[0]));
	if (!has_room(open))
		return NULL;
	packet = &open->packets[open->count++];
	*packet = (struct pb_packet){.lane = lane,
				     .node = PB_TRACE_UNKNOWN,
				     .context = PB_TRACE_UNKNOWN,
				     .submit = PB_TRACE_NEVER,
				     .patch = PB_TRACE_NEVER,
				     .patched = PB_TRACE_NEVER,
				     .feed = PB_TRACE_NEVER,
				     .again = PB_TRACE_NEVER,
				     .run = PB_TRACE_NEVER,
				     .end = PB_TRACE_NEVER};
	return packet;
}

/** Returns whether a record has named the packet by its fence id. */
static bool is_named(const struct pb_packet *packet)
{
	return packet->patch != PB_TRACE_NEVER || packet->feed != PB_TRACE_NEVER || packet->flags != 0;
}

/** The oldest packet that no record has named; NULL: there is none. */
static struct pb_packet *find_nameless(struct pb_open *open)
{
	for (uint32_t i = 0; i < open->count; i++) {
		if (!is_named(&open->packets[i]))
			return &open->packets[i];
	}
	return NULL;
}

/** Whether a packet may be admitted now: it is not with the engine, or may have been recalled from there. */
static bool may_be_admitted(const struct pb_packet *packet, uint64_t stopped)
{
	return packet->feed == PB_TRACE_NEVER || stopped > packet->again;
}

/** Whether a record is the next one of a packet; several open packets of a queue may have one fence id. */
static bool is_next(const struct pb_packet *packet, uint32_t event, uint32_t flags, uint64_t stopped)
{
	switch (event) {
	case PB_TRACE_KIND:
		return may_be_admitted(packet, stopped) &&
		       (packet->feed == PB_TRACE_NEVER || packet->flags == flags);
	case PB_TRACE_PATCH:
	case PB_TRACE_FEED:
		return may_be_admitted(packet, stopped);
	case PB_TRACE_PATCHED:
		return packet->patch != PB_TRACE_NEVER && packet->patched == PB_TRACE_NEVER;
	default:
		return true;
	}
}

/**
 * Finds the oldest packet of a record's fence id that the record may be the next one of.
 * @param any out: the oldest packet of the fence id, or NULL @return NULL: there is none
 */
static struct pb_packet *find_named(struct pb_open *open, uint32_t event, const uint32_t *arguments,
				    uint64_t stopped, struct pb_packet **any)
{
	*any = NULL;
	for (uint32_t i = 0; i < open->count; i++) {
		struct pb_packet *packet = &open->packets[i];

		if (!is_named(packet) || packet->fence_id != arguments[0])
			continue;
		if (is_next(packet, event, arguments[1], stopped))
			return packet;
		if (*any == NULL)
			*any = packet;
	}
	return NULL;
}

struct pb_packet *pb_open_find(struct pb_open *open, uint32_t event, const uint32_t *arguments,
			       uint64_t stopped)
{
	struct pb_packet *any, *named = find_named(open, event, arguments, stopped, &any);
	struct pb_packet *nameless = find_nameless(open);

	if (named != NULL)
		return named;
	if (event == PB_TRACE_PATCHED && any != NULL)
		return any;
	/* No other packet can be fed. */
	if (event == PB_TRACE_FEED && nameless == NULL && open->counted)
		return any;
	if (nameless != NULL)
		nameless->fence_id = arguments[0];
	return nameless;
}
