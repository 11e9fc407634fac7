/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_timeline.h"

#include <stdlib.h>
#include <string.h>

#include "host/tool/trace_open.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/submission.h"

#define QUEUES 0x10000u
#define NODES  256u

/** A slot of the table of queues, and the open submissions of its queue. */
struct queue {
	struct pb_lane_slot slot;
	uint32_t put; /**< put index of the last SUBMIT record; open.counted: there was one */
	struct pb_open open;
};

struct builder {
	const struct pb_trace_data *data;
	struct pb_timeline *timeline;
	struct queue *queues[QUEUES]; /**< by slot */
	uint64_t node_free[NODES];    /**< end of the last packet of each node */
	uint64_t node_stop[NODES];    /**< 1 + time of the last stop of each node; 0: there was none */
	uint64_t stop;                /**< 1 + time of the last stop of any node */
	bool blind;                   /**< stops are not recorded */
	uint64_t now;
	uint32_t incarnation; /**< of the last BOOT record, or PB_TRACE_UNKNOWN */
	bool failed;
};

const char *pb_packet_kind_name(enum pb_packet_kind kind)
{
#define NAME(name, number, text) [PB_PACKET_##name] = (text),
	static const char *const names[] = {PB_PACKET_KINDS(NAME)};
#undef NAME

	return names[kind];
}

uint64_t pb_packet_begin(const struct pb_packet *packet)
{
	const uint64_t times[] = {packet->submit, packet->patch, packet->feed};

	for (uint32_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (times[i] != PB_TRACE_NEVER)
			return times[i];
	}
	return packet->end;
}

static void *append(void **array, size_t *count, size_t size)
{
	/* Doubles whenever the count is a power of two. */
	if ((*count & (*count - 1u)) == 0) {
		void *larger = realloc(*array, (*count == 0 ? 1u : 2u * *count) * size);

		if (larger == NULL)
			return NULL;
		*array = larger;
	}
	return (char *)*array + size * (*count)++;
}

static void keep_packet(struct builder *builder, const struct pb_packet *packet)
{
	struct pb_packet *kept =
		append((void **)&builder->timeline->packets, &builder->timeline->packet_count, sizeof(*kept));

	if (kept != NULL)
		*kept = *packet;
	else
		builder->failed = true;
}

static void keep_mark(struct builder *builder, const struct pb_trace_record *record, uint32_t lane)
{
	struct pb_mark *kept =
		append((void **)&builder->timeline->marks, &builder->timeline->mark_count, sizeof(*kept));

	if (kept != NULL)
		*kept = (struct pb_mark){.time = builder->now, .lane = lane, .record = *record};
	else
		builder->failed = true;
}

static struct queue *queue_at(struct builder *builder, uint32_t index)
{
	struct queue *queue = builder->queues[index];

	if (queue != NULL)
		return queue;
	queue = calloc(1, sizeof(*queue));
	if (queue == NULL) {
		builder->failed = true;
		return NULL;
	}
	queue->slot = (struct pb_lane_slot){.index = index, .current = PB_LANE_NONE, .last = PB_LANE_NONE};
	builder->queues[index] = queue;
	return queue;
}

/** A new packet of a queue: the last open one. @return NULL: out of memory */
static struct pb_packet *add(struct builder *builder, struct queue *queue)
{
	struct pb_packet *packet = pb_open_add(&queue->open, queue->slot.current);

	builder->failed |= packet == NULL;
	return packet;
}

/** The last stop of a queue's node, as pb_open_find() wants it. */
static uint64_t stop_of(const struct builder *builder, const struct queue *queue)
{
	const uint32_t node = builder->timeline->lanes.lanes[queue->slot.current].node;

	if (builder->blind)
		return PB_TRACE_NEVER;
	return node < NODES ? builder->node_stop[node] : builder->stop;
}

/** Finds the packet that a record is about, or makes it. @return NULL: out of memory */
static struct pb_packet *find(struct builder *builder, struct queue *queue, uint32_t event,
			      const uint32_t *arguments)
{
	struct pb_packet *packet = pb_open_find(&queue->open, event, arguments, stop_of(builder, queue));

	if (packet != NULL)
		return packet;
	packet = add(builder, queue);
	if (packet != NULL)
		packet->fence_id = arguments[0];
	return packet;
}

/** Handles SUBMIT, which reports how many submissions are open: adds the missing ones. */
static void on_submit(struct builder *builder, struct queue *queue, uint32_t put, uint32_t completed)
{
	const uint32_t fresh = queue->open.counted ? put - queue->put : 1u;
	uint32_t missing = put - completed - queue->open.count;

	queue->put = put;
	queue->open.counted = true;
	/* The last `fresh` of them were submitted now. */
	for (; missing != 0 && missing <= PB_OPEN_MAX; missing--) {
		struct pb_packet *packet = add(builder, queue);

		if (packet == NULL)
			return;
		if (missing <= fresh)
			packet->submit = builder->now;
	}
}

/** Ends a packet. A node runs packets one after the other: this one ran from the end of the previous one. */
static void end(struct builder *builder, struct pb_packet *packet, uint32_t node)
{
	packet->end = builder->now;
	packet->node = node;
	if (packet->again == PB_TRACE_NEVER || node >= NODES)
		return;
	packet->run = packet->again;
	if (packet->run < builder->node_free[node])
		packet->run = builder->node_free[node];
	builder->node_free[node] = builder->now;
}

/** Ends a packet and removes it from its queue. */
static void leave(struct builder *builder, struct queue *queue, struct pb_packet *packet, uint32_t node)
{
	const size_t behind = (size_t)(&queue->open.packets[queue->open.count] - packet) - 1u;

	end(builder, packet, node);
	keep_packet(builder, packet);
	memmove(packet, packet + 1, behind * sizeof(*packet));
	queue->open.count--;
}

static void on_complete(struct builder *builder, struct queue *queue, const struct pb_trace_record *record)
{
	const uint32_t node = PB_TRACE_DONE_NODE(record->arguments[1]);
	struct pb_packet *packet = find(builder, queue, PB_TRACE_COMPLETE, record->arguments);

	if (packet == NULL)
		return;
	packet->lane = pb_lane_ran(&builder->timeline->lanes, &queue->slot, node);
	builder->failed |= packet->lane == PB_LANE_NONE;
	packet->error = PB_TRACE_DONE_ERROR(record->arguments[1]);
	if (packet->error != 0)
		packet->kind = PB_PACKET_FAILED;
	else if ((packet->flags & PB_FLAG_PAGING) != 0)
		packet->kind = PB_PACKET_PAGING;
	else if ((packet->flags & (PB_FLAG_PRESENT | PB_FLAG_REDIRECTED_PRESENT)) != 0)
		packet->kind = PB_PACKET_PRESENT;
	leave(builder, queue, packet, node);
}

/** Handles RETURN: the oldest packets are returned. Later submissions stay open. */
static void on_return(struct builder *builder, struct queue *queue, uint32_t count)
{
	const uint32_t node = builder->timeline->lanes.lanes[queue->slot.current].node;

	for (; count != 0 && queue->open.count != 0; count--) {
		queue->open.packets[0].kind = PB_PACKET_PREEMPTED;
		leave(builder, queue, &queue->open.packets[0], node);
	}
}

/** Handles PATCH. What is patched once more, after it was fed and recalled, keeps its first times. */
static void on_patch(struct builder *builder, struct pb_packet *packet, uint32_t patches)
{
	packet->patches = patches;
	if (packet->feed != PB_TRACE_NEVER)
		return;
	packet->patch = builder->now;
	packet->patched = PB_TRACE_NEVER;
}

static void on_feed(struct builder *builder, struct pb_packet *packet, uint32_t context)
{
	packet->context = context;
	packet->again = builder->now;
	packet->feeds++;
	if (packet->feed == PB_TRACE_NEVER)
		packet->feed = builder->now;
}

/** Handles a record of the path of a submission. @return false: the record is a mark */
static bool on_packet(struct builder *builder, uint32_t event, struct queue *queue,
		      const struct pb_trace_record *record)
{
	const uint32_t *arguments = record->arguments;
	struct pb_packet *packet;

	if (event == PB_TRACE_SUBMIT) {
		on_submit(builder, queue, arguments[0], arguments[1]);
		return true;
	}
	if (event == PB_TRACE_COMPLETE) {
		on_complete(builder, queue, record);
		return true;
	}
	if (event == PB_TRACE_RETURN)
		on_return(builder, queue, arguments[0]);
	if (event != PB_TRACE_PATCH && event != PB_TRACE_PATCHED && event != PB_TRACE_FEED &&
	    event != PB_TRACE_KIND)
		return false;
	packet = find(builder, queue, event, arguments);
	if (packet == NULL)
		return true;
	if (event == PB_TRACE_PATCH) {
		on_patch(builder, packet, arguments[1]);
	} else if (event == PB_TRACE_PATCHED) {
		if (packet->feed == PB_TRACE_NEVER)
			packet->patched = builder->now;
	} else if (event == PB_TRACE_FEED) {
		on_feed(builder, packet, arguments[1]);
	} else {
		packet->flags = arguments[1];
	}
	return true;
}

/** Ends the open packets of a queue as open: the trace has nothing more of them. */
static void drop_open(struct builder *builder, struct queue *queue)
{
	for (uint32_t i = 0; i < queue->open.count; i++) {
		struct pb_packet *packet = &queue->open.packets[i];

		packet->kind = PB_PACKET_OPEN;
		packet->end = builder->now;
		keep_packet(builder, packet);
	}
	queue->open.count = 0;
	queue->open.counted = false;
}

/** Whatever happens to queues from here on cannot be in the trace, or they are gone. @param gone the latter */
static void forget_queues(struct builder *builder, bool gone)
{
	for (uint32_t q = 0; q < QUEUES; q++) {
		struct queue *queue = builder->queues[q];

		if (queue == NULL)
			continue;
		drop_open(builder, queue);
		if (gone)
			pb_lane_end(&queue->slot);
		else
			pb_lane_lose(&builder->timeline->lanes, &queue->slot);
	}
}

/** Handles BOOT: a boot has no queue of the one before. */
static void on_boot(struct builder *builder, uint32_t incarnation)
{
	struct pb_lanes *lanes = &builder->timeline->lanes;

	if (incarnation == builder->incarnation)
		return;
	builder->incarnation = incarnation;
	forget_queues(builder, true);
	if (lanes->count != 0)
		lanes->incarnation = incarnation;
}

/** Handles QUEUE, HANDLE and FREE before their mark is kept. @return false: another record */
static bool on_identity(struct builder *builder, uint32_t event, struct queue *queue,
			const struct pb_trace_record *record)
{
	struct pb_lanes *lanes = &builder->timeline->lanes;
	const uint32_t first = record->arguments[0], second = record->arguments[1];

	if (event == PB_TRACE_QUEUE) {
		drop_open(builder, queue);
		builder->failed |= !pb_lane_created(lanes, &queue->slot, first, second);
		return true;
	}
	if (event != PB_TRACE_HANDLE && event != PB_TRACE_FREE)
		return false;
	if (pb_lane_is_other(lanes, &queue->slot, first, second))
		drop_open(builder, queue);
	builder->failed |= !pb_lane_identify(lanes, &queue->slot, first, second);
	for (uint32_t i = 0; i < queue->open.count; i++)
		queue->open.packets[i].lane = queue->slot.current;
	return true;
}

/** Handles a record about a queue. */
static void on_queue(struct builder *builder, uint32_t event, const struct pb_trace_record *record)
{
	struct queue *queue = queue_at(builder, PB_TRACE_WHAT_OBJECT(record->what));
	uint32_t lane;

	if (queue == NULL)
		return;
	if (!on_identity(builder, event, queue, record) &&
	    pb_lane_of(&builder->timeline->lanes, &queue->slot) == PB_LANE_NONE)
		builder->failed = true;
	if (builder->failed)
		return;
	lane = queue->slot.current;
	if (event == PB_TRACE_FREE) {
		drop_open(builder, queue);
		pb_lane_end(&queue->slot);
	}
	if (event != PB_TRACE_HANDLE && !on_packet(builder, event, queue, record))
		keep_mark(builder, record, lane);
}

/** Handles what tells of stops: a node that no longer runs, and whether the trace has such records. */
static void on_stop(struct builder *builder, uint32_t event, const struct pb_trace_record *record)
{
	const uint32_t node = PB_TRACE_WHAT_OBJECT(record->what);

	if (event == PB_TRACE_LEVELS)
		builder->blind = (record->arguments[0] >> 4u * PB_TRACE_CATEGORY_NODE & 0xfu) == 0;
	if (event != PB_TRACE_NODE || record->arguments[0] == PB_NODE_STATE_RUNNING)
		return;
	builder->stop = builder->now + 1u;
	if (node < NODES)
		builder->node_stop[node] = builder->stop;
}

/** Handles one record. */
static void handle(struct builder *builder, const struct pb_trace_moment *moment)
{
	const struct pb_trace_record *record = &moment->record;
	const uint32_t event = builder->data->schema.kinds[PB_TRACE_WHAT_EVENT(record->what)].event;
	const uint32_t object = PB_TRACE_WHAT_OBJECT(record->what);

	if (moment->after_loss)
		forget_queues(builder, false);
	builder->now = moment->time;
	if (event == PB_TRACE_BOOT)
		on_boot(builder, record->arguments[1]);
	if (event == PB_TRACE_LEVELS && (PB_TRACE_LEVELS_LIFE(record->arguments[0]) == 0 ||
					 PB_TRACE_LEVELS_LIFE(record->arguments[1]) == 0))
		forget_queues(builder, false);
	on_stop(builder, event, record);
	if (event != 0 && object != PB_TRACE_NONE && event != PB_TRACE_NODE)
		on_queue(builder, event, record);
	else
		keep_mark(builder, record, PB_LANE_NONE);
}

static int by_feed(const void *left, const void *right)
{
	const struct pb_packet *const a = left, *const b = right;

	return (a->again > b->again) - (a->again < b->again);
}

/** Ends all open packets at the end of the trace. A packet behind another one in an engine's ring has not run. */
static void end_open(struct builder *builder)
{
	struct pb_timeline *timeline = builder->timeline;
	const size_t first = timeline->packet_count;

	for (uint32_t q = 0; q < QUEUES; q++) {
		struct queue *queue = builder->queues[q];

		for (uint32_t i = 0; queue != NULL && i < queue->open.count; i++) {
			queue->open.packets[i].kind = PB_PACKET_OPEN;
			queue->open.packets[i].node =
				builder->timeline->lanes.lanes[queue->slot.current].node;
			keep_packet(builder, &queue->open.packets[i]);
		}
	}
	if (timeline->packet_count == first || builder->failed)
		return;
	qsort(&timeline->packets[first], timeline->packet_count - first, sizeof(struct pb_packet), by_feed);
	for (size_t i = first; i < timeline->packet_count; i++) {
		struct pb_packet *packet = &timeline->packets[i];

		end(builder, packet, packet->node);
		if (packet->run == packet->end)
			packet->run = PB_TRACE_NEVER;
	}
}

/** Gives packets and marks their final lanes, and packets that did not run the node of their queue. */
static void place(struct pb_timeline *timeline, uint32_t *places)
{
	struct pb_lanes *lanes = &timeline->lanes;

	for (size_t i = 0; i < timeline->packet_count; i++) {
		struct pb_packet *packet = &timeline->packets[i];

		packet->lane = pb_lane_resolve(lanes, packet->lane);
		lanes->lanes[packet->lane].packets++;
	}
	for (size_t i = 0; i < timeline->mark_count; i++)
		timeline->marks[i].lane = pb_lane_resolve(lanes, timeline->marks[i].lane);
	pb_lanes_sort(lanes, places);
	for (size_t i = 0; i < timeline->packet_count; i++) {
		struct pb_packet *packet = &timeline->packets[i];

		packet->lane = places[packet->lane];
		if (packet->node == PB_TRACE_UNKNOWN)
			packet->node = lanes->lanes[packet->lane].node;
	}
	for (size_t i = 0; i < timeline->mark_count; i++) {
		struct pb_mark *mark = &timeline->marks[i];

		mark->lane = mark->lane != PB_LANE_NONE ? places[mark->lane] : PB_LANE_NONE;
	}
}

/** Ends what is open and sorts the lanes. */
static void finish(struct builder *builder)
{
	uint32_t *places = calloc(builder->timeline->lanes.count + 1u, sizeof(*places));

	end_open(builder);
	builder->failed |= places == NULL;
	if (!builder->failed)
		place(builder->timeline, places);
	free(places);
}

bool pb_timeline_build(const struct pb_trace_data *data, struct pb_timeline *timeline)
{
	struct builder *builder = calloc(1, sizeof(*builder));
	bool failed = builder == NULL;

	memset(timeline, 0, sizeof(*timeline));
	if (builder == NULL)
		return false;
	builder->data = data;
	builder->timeline = timeline;
	builder->incarnation = PB_TRACE_UNKNOWN;
	timeline->lanes.incarnation = PB_TRACE_UNKNOWN;
	for (size_t i = 0; i < data->count && !builder->failed; i++)
		handle(builder, &data->moments[i]);
	timeline->duration = builder->now;
	if (!builder->failed)
		finish(builder);
	for (uint32_t q = 0; q < QUEUES; q++) {
		if (builder->queues[q] != NULL)
			free(builder->queues[q]->open.packets);
		free(builder->queues[q]);
	}
	failed = builder->failed;
	free(builder);
	return !failed;
}

void pb_timeline_free(struct pb_timeline *timeline)
{
	free(timeline->lanes.lanes);
	free(timeline->packets);
	free(timeline->marks);
	memset(timeline, 0, sizeof(*timeline));
}
