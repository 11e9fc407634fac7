/* SPDX-License-Identifier: MIT */
/* The tracks of a Perfetto trace: their names, who they belong to, and their order. */
#include <inttypes.h>

#include "host/tool/trace_perfetto_state.h"

/* Fields of Trace, TracePacket and of its messages that tracks use. */
#define TRACE_PACKET            1u
#define PACKET_SEQUENCE         10u
#define PACKET_SEQUENCE_FLAGS   13u
#define PACKET_TRACK_DESCRIPTOR 60u
#define TRACK_UUID              1u
#define TRACK_NAME              2u
#define TRACK_PROCESS           3u
#define TRACK_PARENT            5u
#define TRACK_COUNTER           8u
#define TRACK_CHILD_ORDERING    11u
#define TRACK_RANK              12u
#define TRACK_DESCRIPTION       14u
#define TRACK_PROCESS_ORDERING  19u
#define PROCESS_PID             1u
#define PROCESS_NAME            6u
#define COUNTER_UNIT            3u
#define COUNTER_UNIT_NAME       6u
#define UNIT_COUNT              2u

/** Values of child_ordering and of process_ordering: by the children's ranks. */
#define CHILDREN_BY_RANK  3u
#define PROCESSES_BY_RANK 1u

/** Process ids: the card's, then those of the clients, and last that of the WDDM kernel. */
#define CARD_PID 1u

#define NAME_BYTES 160u

/** A track to be described. */
struct track {
	uint64_t uuid, parent;   /**< parent 0: it has none */
	const char *name;        /**< of the track, or of the process */
	uint32_t pid;            /**< of a process; 0: no process */
	uint32_t rank;           /**< among the tracks of its parent */
	const char *unit;        /**< of a counter; "": a count; NULL: no counter */
	const char *description; /**< or NULL */
};

size_t pb_perfetto_begin_packet(struct pb_proto *proto)
{
	const size_t packet = pb_proto_begin(proto, TRACE_PACKET);

	pb_proto_number(proto, PACKET_SEQUENCE, PB_PERFETTO_SEQUENCE);
	pb_proto_number(proto, PACKET_SEQUENCE_FLAGS, PB_PERFETTO_STATE_NEEDED);
	return packet;
}

static bool write_track(struct pb_proto *proto, FILE *file, const struct track *track)
{
	const size_t packet = pb_perfetto_begin_packet(proto);
	const size_t descriptor = pb_proto_begin(proto, PACKET_TRACK_DESCRIPTOR);

	pb_proto_number(proto, TRACK_UUID, track->uuid);
	if (track->parent != 0)
		pb_proto_number(proto, TRACK_PARENT, track->parent);
	if (track->pid != 0) {
		const size_t process = pb_proto_begin(proto, TRACK_PROCESS);

		pb_proto_number(proto, PROCESS_PID, track->pid);
		pb_proto_text(proto, PROCESS_NAME, track->name);
		pb_proto_end(proto, process);
	}
	pb_proto_text(proto, TRACK_NAME, track->name);
	if (track->unit != NULL) {
		const size_t counter = pb_proto_begin(proto, TRACK_COUNTER);

		if (track->unit[0] != '\0')
			pb_proto_text(proto, COUNTER_UNIT_NAME, track->unit);
		else
			pb_proto_number(proto, COUNTER_UNIT, UNIT_COUNT);
		pb_proto_end(proto, counter);
	}
	pb_proto_number(proto, TRACK_CHILD_ORDERING, CHILDREN_BY_RANK);
	pb_proto_number(proto, TRACK_RANK, track->rank);
	if (track->description != NULL)
		pb_proto_text(proto, TRACK_DESCRIPTION, track->description);
	pb_proto_end(proto, descriptor);
	pb_proto_end(proto, packet);
	return pb_proto_write(proto, file);
}

/** Writes the root, which is no track of its own: it has processes stand in the order of their ranks. */
static bool write_root(struct pb_proto *proto, FILE *file)
{
	const size_t packet = pb_perfetto_begin_packet(proto);
	const size_t descriptor = pb_proto_begin(proto, PACKET_TRACK_DESCRIPTOR);

	pb_proto_number(proto, TRACK_UUID, 0);
	pb_proto_number(proto, TRACK_CHILD_ORDERING, CHILDREN_BY_RANK);
	pb_proto_number(proto, TRACK_PROCESS_ORDERING, PROCESSES_BY_RANK);
	pb_proto_end(proto, descriptor);
	pb_proto_end(proto, packet);
	return pb_proto_write(proto, file);
}

static bool write_node(struct pb_proto *proto, FILE *file, uint32_t node)
{
	const uint64_t track = pb_perfetto_uuid(PB_PERFETTO_NODE, node, 0);
	char name[NAME_BYTES], busy[NAME_BYTES], depth[NAME_BYTES];

	snprintf(name, sizeof(name), "node %" PRIu32, node);
	snprintf(busy, sizeof(busy), "node %" PRIu32 " occupied", node);
	snprintf(depth, sizeof(depth), "node %" PRIu32 " submissions", node);
	return write_track(proto, file,
			   &(struct track){.uuid = track,
					   .parent = pb_perfetto_uuid(PB_PERFETTO_CARD_PROCESS, 0, 0),
					   .name = name,
					   .rank = 1u + node,
					   .description = "What the engine of the node ran."}) &&
	       write_track(proto, file,
			   &(struct track){.uuid = pb_perfetto_uuid(PB_PERFETTO_NODE_BUSY, node, 0),
					   .parent = track,
					   .name = busy,
					   .unit = "%",
					   .description = "Share of a window of time, 10 ms or more, in "
							  "which the engine ran a submission."}) &&
	       write_track(proto, file,
			   &(struct track){.uuid = pb_perfetto_uuid(PB_PERFETTO_NODE_DEPTH, node, 0),
					   .parent = track,
					   .name = depth,
					   .rank = 1,
					   .unit = "",
					   .description = "Submissions of the node's queues that have "
							  "not ended, from their first record on."});
}

static bool write_card(const struct pb_perfetto *export, struct pb_proto *proto, FILE *file)
{
	const uint64_t process = pb_perfetto_uuid(PB_PERFETTO_CARD_PROCESS, 0, 0);
	bool good =
		write_track(proto, file, &(struct track){.uuid = process, .name = "card", .pid = CARD_PID}) &&
		write_track(proto, file,
			    &(struct track){.uuid = pb_perfetto_uuid(PB_PERFETTO_CARD, 0, 0),
					    .parent = process,
					    .name = "firmware",
					    .description = "Records of no queue and no node."});

	for (uint32_t node = 0; good && node < PB_PERFETTO_NODES; node++)
		good = !export->node[node] || write_node(proto, file, node);
	return good;
}

static void name_client(const struct pb_perfetto_client *client, char name[NAME_BYTES])
{
	char boot[32] = "", opening[32] = "";

	if (client->incarnation != PB_TRACE_UNKNOWN)
		snprintf(boot, sizeof(boot), ", incarnation %" PRIu32, client->incarnation);
	if (client->opening > 1u)
		snprintf(opening, sizeof(opening), ", client %" PRIu32, client->opening);
	if (client->channel == PB_TRACE_UNKNOWN)
		snprintf(name, NAME_BYTES, "unknown channel%s", boot);
	else
		snprintf(name, NAME_BYTES, "channel %" PRIu32 "%s%s", client->channel, boot, opening);
}

static bool write_clients(const struct pb_perfetto *export, struct pb_proto *proto, FILE *file)
{
	char name[NAME_BYTES];
	bool good = true;

	for (uint32_t i = 0; good && i < export->client_count; i++) {
		name_client(&export->clients[i], name);
		good = write_track(proto, file,
				   &(struct track){.uuid = pb_perfetto_uuid(PB_PERFETTO_CLIENT, i, 0),
						   .name = name,
						   .pid = CARD_PID + 1u + i,
						   .rank = 1u + i});
	}
	return good;
}

/** Writes the tracks of a queue: its own, the rows of its submissions, which have one name, and its depth. */
static bool write_queue(const struct pb_perfetto *export, struct pb_proto *proto, FILE *file, uint32_t lane)
{
	const uint64_t track = pb_perfetto_uuid(PB_PERFETTO_QUEUE, lane, 0);
	char name[PB_LANE_NAME_BYTES];
	bool good;

	pb_lane_name(&export->timeline->lanes.lanes[lane], name);
	good = write_track(proto, file,
			   &(struct track){
				   .uuid = track,
				   .parent = pb_perfetto_uuid(PB_PERFETTO_CLIENT, export->client_of[lane], 0),
				   .name = name,
				   .rank = lane}) &&
	       write_track(proto, file,
			   &(struct track){.uuid = pb_perfetto_uuid(PB_PERFETTO_QUEUE_DEPTH, lane, 0),
					   .parent = track,
					   .name = "depth",
					   .rank = 1,
					   .unit = "",
					   .description = "Submissions that have not ended, from their "
							  "first record on."});
	for (uint32_t row = 0; good && row < export->rows[lane]; row++)
		good = write_track(proto, file,
				   &(struct track){.uuid = pb_perfetto_uuid(PB_PERFETTO_ROW, lane, row),
						   .parent = track,
						   .name = "submissions"});
	return good;
}

static bool write_calls(const struct pb_perfetto *export, struct pb_proto *proto, FILE *file)
{
	const uint64_t process = pb_perfetto_uuid(PB_PERFETTO_CALLS_PROCESS, 0, 0);
	const uint32_t place = 1u + (uint32_t) export->client_count;
	bool called[PB_PERFETTO_NODES + 1u] = {false};
	char name[NAME_BYTES] = "all nodes";
	bool good = write_track(
		proto, file,
		&(struct track){
			.uuid = process, .name = "WDDM kernel", .pid = CARD_PID + place, .rank = place});

	for (size_t i = 0; i < export->data->call_count; i++) {
		const uint32_t node = export->data->calls[i].call.node;

		called[node < PB_PERFETTO_NODES ? node : PB_PERFETTO_NODES] = true;
	}
	for (uint32_t node = PB_PERFETTO_NODES + 1u; good && node-- != 0;) {
		if (!called[node])
			continue;
		if (node < PB_PERFETTO_NODES)
			snprintf(name, sizeof(name), "DDI calls of node %" PRIu32, node);
		good = write_track(proto, file,
				   &(struct track){.uuid = pb_perfetto_uuid(PB_PERFETTO_CALLS, node, 0),
						   .parent = process,
						   .name = name,
						   .rank = node});
	}
	return good;
}

static bool write_guest_process(const struct pb_perfetto *export, struct pb_proto *proto, FILE *file,
				uint32_t index, uint32_t place)
{
	const struct pb_perfetto_guest *at = &export->guest[index];
	const uint32_t guest = export->data->guest[index].guest;
	char name[NAME_BYTES];

	if (pb_guest_event_is_host(&export->data->guest[index].event))
		snprintf(name, sizeof(name), "host: %s %" PRIu32, at->comm, at->pid);
	else if (at->pid != 0)
		snprintf(name, sizeof(name), "guest %" PRIu32 ": %s %" PRIu32, guest, at->comm, at->pid);
	else
		snprintf(name, sizeof(name), "guest %" PRIu32 ": unknown process", guest);
	return write_track(proto, file,
			   &(struct track){.uuid = pb_perfetto_uuid(PB_PERFETTO_GUEST_PROCESS, index, 0),
					   .name = name,
					   .pid = CARD_PID + place,
					   .rank = place});
}

static bool write_guest_track(const struct pb_perfetto *export, struct pb_proto *proto, FILE *file,
			      uint32_t index)
{
	const struct pb_guest_event *event = &export->data->guest[index].event;
	char name[NAME_BYTES];

	if (event->kind == PB_GUEST_HOST_INTERRUPT || event->kind == PB_GUEST_HOST_FRAME)
		snprintf(name, sizeof(name), "channel %" PRIu64 ", %ss", event->file,
			 pb_guest_event_name(event->kind));
	else
		snprintf(name, sizeof(name), "%s %" PRIu64 ", queue 0x%08" PRIx32 " (node %" PRIu32 ")",
			 pb_guest_event_is_host(event) ? "channel" : "file", event->file, event->queue,
			 event->node);
	return write_track(proto, file,
			   &(struct track){.uuid = pb_perfetto_uuid(PB_PERFETTO_GUEST, index, 0),
					   .parent = pb_perfetto_uuid(PB_PERFETTO_GUEST_PROCESS,
								      export->guest[index].process, 0),
					   .name = name,
					   .rank = index});
}

/** The first number of a guest from a number on. @return UINT64_MAX: there is none */
static uint64_t next_guest(const struct pb_trace_data *data, uint64_t from)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < data->guest_count; i++) {
		if (data->guest[i].guest >= from && data->guest[i].guest < next)
			next = data->guest[i].guest;
	}
	return next;
}

/** Writes the processes of each guest behind all others, and a track for each file and queue of one. */
static bool write_guests(const struct pb_perfetto *export, struct pb_proto *proto, FILE *file)
{
	const struct pb_trace_data *data = export->data;
	uint32_t place = 1u + (uint32_t) export->client_count;
	uint64_t guest = next_guest(data, 0);
	bool good = true;

	for (; good && guest != UINT64_MAX; guest = next_guest(data, guest + 1u)) {
		for (uint32_t i = 0; good && i < data->guest_count; i++) {
			if (data->guest[i].guest != guest)
				continue;
			if (export->guest[i].process == i)
				good = write_guest_process(export, proto, file, i, ++place);
			if (good && export->guest[i].track == i)
				good = write_guest_track(export, proto, file, i);
		}
	}
	return good;
}

bool pb_perfetto_write_tracks(const struct pb_perfetto *export, struct pb_proto *proto, FILE *file)
{
	bool good = write_root(proto, file) && write_card(export, proto, file) &&
		    write_clients(export, proto, file);

	for (uint32_t lane = 0; good && lane < export->timeline->lanes.count; lane++)
		good = write_queue(export, proto, file, lane);
	return good && (export->data->call_count == 0 || write_calls(export, proto, file)) &&
	       write_guests(export, proto, file);
}
