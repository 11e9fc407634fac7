/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the files of the Perfetto export share: its events, its tracks, and who
 * the clients are.
 */
#ifndef PB_HOST_TOOL_TRACE_PERFETTO_STATE_H
#define PB_HOST_TOOL_TRACE_PERFETTO_STATE_H

#include "host/tool/trace_proto.h"
#include "host/tool/trace_timeline.h"

/** The sequence of all packets. */
#define PB_PERFETTO_SEQUENCE 1u
/** sequence_flags: the packet depends on state of the sequence. */
#define PB_PERFETTO_STATE_NEEDED 2u
/** Nodes that have tracks. */
#define PB_PERFETTO_NODES 256u

/** Kinds of tracks. Each has a number of its own in a track's uuid. */
enum pb_perfetto_kind {
	PB_PERFETTO_CARD_PROCESS = 1, /**< the process of the card */
	PB_PERFETTO_CARD,             /**< events of no queue and no node */
	PB_PERFETTO_NODE,             /**< what an engine runs; by node */
	PB_PERFETTO_NODE_BUSY,        /**< counter: share of the time in which it runs something; by node */
	PB_PERFETTO_NODE_DEPTH,       /**< counter: submissions of its queues; by node */
	PB_PERFETTO_CLIENT,           /**< the process of a client; by client */
	PB_PERFETTO_QUEUE,            /**< events and waits of a queue; by lane */
	PB_PERFETTO_ROW,              /**< submissions of a queue that do not overlap; by lane and row */
	PB_PERFETTO_QUEUE_DEPTH,      /**< counter: submissions of a queue; by lane */
	PB_PERFETTO_CALLS_PROCESS,    /**< the process of the WDDM kernel */
	PB_PERFETTO_CALLS,            /**< DDI calls of a node; by node, PB_PERFETTO_NODES: of none */
	PB_PERFETTO_GUEST_PROCESS,    /**< a process of a guest; by index of its first event */
	PB_PERFETTO_GUEST,            /**< one of its files and queues; by index of its first event */
};

/** Types of an event, as Perfetto numbers them. */
enum pb_perfetto_type {
	PB_PERFETTO_BEGIN = 1,
	PB_PERFETTO_END = 2,
	PB_PERFETTO_INSTANT = 3,
	PB_PERFETTO_COUNTER = 4,
};

/** What the annotations of an event are taken from. */
enum pb_perfetto_detail {
	PB_PERFETTO_NO_DETAIL,
	PB_PERFETTO_PACKET, /**< index of pb_timeline.packets */
	PB_PERFETTO_MARK,   /**< index of pb_timeline.marks */
	PB_PERFETTO_CALL,   /**< index of pb_trace_data.calls */
	PB_PERFETTO_EVENT,  /**< index of pb_trace_data.guest */
};

/* X(NAME, text): names of events that are neither records nor calls. */
#define PB_PERFETTO_NAMES(X)                                                                                 \
	X(SUBMISSION, "submission")                                                                          \
	X(WAITING, "waiting")                                                                                \
	X(PATCHING, "patching")                                                                              \
	X(READY, "ready")                                                                                    \
	X(QUEUED, "queued")                                                                                  \
	X(RUNNING, "running")                                                                                \
	X(SIGNAL, "signal")                                                                                  \
	X(AWAITS, "waits for another queue")                                                                 \
	X(GUEST_SUBMIT, "guest submit")                                                                      \
	X(GUEST_RING, "guest ring")                                                                          \
	X(GUEST_SIGNAL, "guest signal")                                                                      \
	X(HOST_SUBMITTED, "host submitted")                                                                  \
	X(HOST_INTERRUPT, "host interrupt")                                                                  \
	X(HOST_SEEN, "host seen")                                                                            \
	X(HOST_FRAME, "host frame")                                                                          \
	X(RENDER, "render")                                                                                  \
	X(PRESENT, "present")                                                                                \
	X(PAGING, "paging")                                                                                  \
	X(PREEMPTED, "preempted")                                                                            \
	X(FAILED, "failed")                                                                                  \
	X(OPEN, "open")

/** Interned names of events. Records and calls have theirs behind them. */
enum pb_perfetto_name {
	PB_PERFETTO_NAME_NONE,
#define PB_PERFETTO_NAME_ENUM(name, text) PB_PERFETTO_NAME_##name,
	PB_PERFETTO_NAMES(PB_PERFETTO_NAME_ENUM)
#undef PB_PERFETTO_NAME_ENUM
		PB_PERFETTO_NAME_RECORD =
			0x100,         /**< plus the number of an event in the trace's schema, 0: not there */
	PB_PERFETTO_NAME_CALL = 0x200, /**< plus enum pb_ddi_function, 0: unknown */
};

/** An event of a track. */
struct pb_perfetto_event {
	uint64_t time;   /**< microseconds since the first record */
	uint64_t track;  /**< its uuid */
	uint64_t flow;   /**< id of the flow of its submission, or 0 */
	int64_t value;   /**< of a counter */
	uint32_t number; /**< keeps the order of events of one time */
	uint32_t name;   /**< enum pb_perfetto_name */
	uint32_t index;  /**< of what `detail` names */
	enum pb_perfetto_type type;
	enum pb_perfetto_detail detail;
	bool cause; /**< of events of one time, it is before those that are no cause */
};

/** A flow from an event to a queue that waited for it. An event may have several. */
struct pb_perfetto_link {
	uint32_t number; /**< of the event */
	uint64_t flow;   /**< its id */
};

/** A client: one process of the export. */
struct pb_perfetto_client {
	uint32_t channel;     /**< or PB_TRACE_UNKNOWN */
	uint32_t incarnation; /**< as that of a lane */
	uint32_t opening;     /**< how often its channel was opened before it, in the trace */
};

/** Where an event of a guest stands. */
struct pb_perfetto_guest {
	uint32_t process;               /**< index of the first event of its process */
	uint32_t track;                 /**< index of the first event of its track */
	uint32_t pid;                   /**< of the process that opened its file; 0: unknown */
	char comm[PB_GUEST_COMM_BYTES]; /**< name of that process */
};

/** An export in progress. */
struct pb_perfetto {
	const struct pb_trace_data *data;
	const struct pb_timeline *timeline;
	struct pb_perfetto_event *events; /**< by time when they are sorted */
	size_t event_count;
	struct pb_perfetto_link *links; /**< by number of the event */
	size_t link_count;
	struct pb_perfetto_client *clients; /**< by channel, incarnation and opening */
	size_t client_count;
	uint32_t *client_of; /**< of each lane: index of its client */
	uint32_t *rows;      /**< of each lane: number of its rows */
	uint32_t *signals;   /**< of each packet: number of the event that is its signal; 0: it has none */
	struct pb_perfetto_guest *guest; /**< of each event of a guest */
	bool node[PB_PERFETTO_NODES];    /**< the nodes that the trace has */
	bool failed;                     /**< the host was out of memory */
};

/** The uuid of a track. @param row below 4,096, 0 where the kind has none */
static inline uint64_t pb_perfetto_uuid(enum pb_perfetto_kind kind, uint32_t index, uint32_t row)
{
	return (uint64_t)0x5042u << 48 | (uint64_t)kind << 44 | (uint64_t)row << 32 | index;
}

/** Finds the clients of the lanes. Fills clients and client_of. */
void pb_perfetto_find_clients(struct pb_perfetto *export);
/** Adds the events of all packets. Fills rows and signals. Pre: the clients are known. */
void pb_perfetto_add_packets(struct pb_perfetto *export);
/** Adds events without a packet: records, waits, DDI calls. Fills links. Pre: the packets were added. */
void pb_perfetto_add_marks(struct pb_perfetto *export);
/** Adds the events of guests. Fills guest. */
void pb_perfetto_add_guests(struct pb_perfetto *export);
/** Adds the values of all counters. Fills node. */
void pb_perfetto_add_counters(struct pb_perfetto *export);

/** Adds an event behind the others. Its `number` is set. */
void pb_perfetto_add(struct pb_perfetto *export, struct pb_perfetto_event event);
/** Adds a link. @param number of the event that the flow leads from */
void pb_perfetto_add_link(struct pb_perfetto *export, uint32_t number, uint64_t flow);
/** Sorts the events by time, those of one time as they were added, and the links by event. */
void pb_perfetto_sort(struct pb_perfetto *export);
/** The first link of an event. @return its index; where there is none, that of another event's, or link_count */
size_t pb_perfetto_find_links(const struct pb_perfetto *export, uint32_t number);

/** Begins a TracePacket: its sequence and flags. @return its place, for pb_proto_end() */
size_t pb_perfetto_begin_packet(struct pb_proto *proto);
/** Writes the descriptors of all tracks, each behind that of its parent. @return false: writing failed */
bool pb_perfetto_write_tracks(const struct pb_perfetto *export, struct pb_proto *proto, FILE *file);

#endif
