/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_timeline.h"

#include <stdlib.h>
#include <string.h>

#include "patchbay/abi/submission.h"

#define QUEUES 0x10000u
#define NODES  256u
/** Largest number of open submissions of a queue: the size of a ring. The records of older ones were lost. */
#define OPEN_MAX 256u

/** Open submissions of a queue, the oldest first. */
struct queue {
	uint32_t channel;
	uint32_t node;
	uint32_t put; /**< put index of the last SUBMIT record */
	bool put_known;
	uint32_t count;
	struct pb_packet open[OPEN_MAX];
};

struct builder {
	const struct pb_trace_data *data;
	struct pb_timeline *timeline;
	struct queue *queues[QUEUES];
	uint64_t node_free[NODES]; /**< end of the last packet of each node */
	uint64_t now;
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

static void keep_mark(struct builder *builder, const struct pb_trace_record *record)
{
	struct pb_mark *kept =
		append((void **)&builder->timeline->marks, &builder->timeline->mark_count, sizeof(*kept));

	if (kept != NULL)
		*kept = (struct pb_mark){.time = builder->now, .record = *record};
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
	queue->channel = PB_TRACE_UNKNOWN;
	queue->node = PB_TRACE_UNKNOWN;
	builder->queues[index] = queue;
	return queue;
}

static struct pb_packet *add(struct queue *queue, uint32_t index)
{
	struct pb_packet *packet;

	if (queue->count == OPEN_MAX)
		memmove(queue->open, &queue->open[1], --queue->count * sizeof(queue->open[0]));
	packet = &queue->open[queue->count++];
	*packet = (struct pb_packet){.queue = index,
				     .channel = queue->channel,
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

/** Finds the packet of a fence id: the one named so, else the oldest unnamed one, else a new one. */
static struct pb_packet *find(struct queue *queue, uint32_t index, uint32_t fence_id)
{
	struct pb_packet *nameless = NULL;

	for (uint32_t i = 0; i < queue->count; i++) {
		if (is_named(&queue->open[i]) && queue->open[i].fence_id == fence_id)
			return &queue->open[i];
		if (nameless == NULL && !is_named(&queue->open[i]))
			nameless = &queue->open[i];
	}
	if (nameless == NULL)
		nameless = add(queue, index);
	nameless->fence_id = fence_id;
	return nameless;
}

/** Handles SUBMIT, which reports how many submissions are open: adds the missing ones. */
static void on_submit(struct builder *builder, struct queue *queue, uint32_t index, uint32_t put,
		      uint32_t completed)
{
	const uint32_t fresh = queue->put_known ? put - queue->put : 1u;
	uint32_t missing = put - completed - queue->count;

	queue->put = put;
	queue->put_known = true;
	/* The last `fresh` of them were submitted now. */
	for (; missing != 0 && missing <= OPEN_MAX; missing--) {
		struct pb_packet *packet = add(queue, index);

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
static void leave(struct builder *builder, struct queue *queue, struct pb_packet *packet)
{
	const size_t behind = (size_t)(&queue->open[queue->count] - packet) - 1u;

	end(builder, packet, queue->node);
	keep_packet(builder, packet);
	memmove(packet, packet + 1, behind * sizeof(*packet));
	queue->count--;
}

static void on_complete(struct builder *builder, struct queue *queue, uint32_t index,
			const struct pb_trace_record *record)
{
	struct pb_packet *packet = find(queue, index, record->arguments[0]);

	queue->node = PB_TRACE_DONE_NODE(record->arguments[1]);
	packet->error = PB_TRACE_DONE_ERROR(record->arguments[1]);
	if (packet->error != 0)
		packet->kind = PB_PACKET_FAILED;
	else if ((packet->flags & PB_FLAG_PAGING) != 0)
		packet->kind = PB_PACKET_PAGING;
	else if ((packet->flags & (PB_FLAG_PRESENT | PB_FLAG_REDIRECTED_PRESENT)) != 0)
		packet->kind = PB_PACKET_PRESENT;
	leave(builder, queue, packet);
}

/** Handles RETURN: the oldest packets are returned. Later submissions stay open. */
static void on_return(struct builder *builder, struct queue *queue, uint32_t count)
{
	for (; count != 0 && queue->count != 0; count--) {
		queue->open[0].kind = PB_PACKET_PREEMPTED;
		leave(builder, queue, &queue->open[0]);
	}
}

static void on_feed(struct builder *builder, struct pb_packet *packet, uint32_t context)
{
	packet->context = context;
	packet->again = builder->now;
	packet->feeds++;
	if (packet->feed == PB_TRACE_NEVER)
		packet->feed = builder->now;
}

/** Handles a record of a queue. @return false: the record is a mark */
static bool on_packet(struct builder *builder, uint32_t event, uint32_t index,
		      const struct pb_trace_record *record)
{
	struct queue *queue = queue_at(builder, index);
	const uint32_t *arguments = record->arguments;
	struct pb_packet *packet;

	if (queue == NULL)
		return true;
	if (event == PB_TRACE_SUBMIT) {
		on_submit(builder, queue, index, arguments[0], arguments[1]);
		return true;
	}
	if (event == PB_TRACE_COMPLETE) {
		on_complete(builder, queue, index, record);
		return true;
	}
	if (event == PB_TRACE_RETURN)
		on_return(builder, queue, arguments[0]);
	if (event != PB_TRACE_PATCH && event != PB_TRACE_PATCHED && event != PB_TRACE_FEED &&
	    event != PB_TRACE_KIND)
		return false;
	packet = find(queue, index, arguments[0]);
	if (event == PB_TRACE_PATCH) {
		packet->patch = builder->now;
		packet->patches = arguments[1];
	} else if (event == PB_TRACE_PATCHED) {
		packet->patched = builder->now;
	} else if (event == PB_TRACE_FEED) {
		on_feed(builder, packet, arguments[1]);
	} else {
		packet->flags = arguments[1];
	}
	return true;
}

/** Handles one record. */
static void handle(struct builder *builder, const struct pb_trace_moment *moment)
{
	const struct pb_trace_record *record = &moment->record;
	const uint32_t event = builder->data->schema.kinds[PB_TRACE_WHAT_EVENT(record->what)].event;
	const uint32_t object = PB_TRACE_WHAT_OBJECT(record->what);

	builder->now = moment->time;
	if (event == PB_TRACE_QUEUE && queue_at(builder, object) != NULL)
		*queue_at(builder, object) =
			(struct queue){.channel = record->arguments[0], .node = record->arguments[1]};
	if (event != 0 && object != PB_TRACE_NONE && event != PB_TRACE_NODE &&
	    on_packet(builder, event, object, record))
		return;
	keep_mark(builder, record);
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

		for (uint32_t i = 0; queue != NULL && i < queue->count; i++) {
			queue->open[i].kind = PB_PACKET_OPEN;
			queue->open[i].node = queue->node;
			keep_packet(builder, &queue->open[i]);
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

bool pb_timeline_build(const struct pb_trace_data *data, struct pb_timeline *timeline)
{
	struct builder *builder = calloc(1, sizeof(*builder));
	bool failed = builder == NULL;

	memset(timeline, 0, sizeof(*timeline));
	if (builder == NULL)
		return false;
	builder->data = data;
	builder->timeline = timeline;
	for (size_t i = 0; i < data->count && !builder->failed; i++)
		handle(builder, &data->moments[i]);
	timeline->duration = builder->now;
	end_open(builder);
	for (uint32_t q = 0; q < QUEUES; q++)
		free(builder->queues[q]);
	failed = builder->failed;
	free(builder);
	return !failed;
}

void pb_timeline_free(struct pb_timeline *timeline)
{
	free(timeline->packets);
	free(timeline->marks);
	memset(timeline, 0, sizeof(*timeline));
}
