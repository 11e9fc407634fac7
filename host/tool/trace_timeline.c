/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_timeline.h"

#include <stdlib.h>
#include <string.h>

#define QUEUES 0x10000u
#define NODES  256u
/** Submissions of a queue that have not ended, at most: a ring's. Older ones than these were lost with their records. */
#define OPEN_MAX 256u

/** What of a queue has not ended, the oldest first. */
struct queue {
	uint32_t channel;
	uint32_t node;
	uint32_t put; /**< as the last SUBMIT said */
	bool put_known;
	uint32_t count;
	struct pb_packet open[OPEN_MAX];
};

struct builder {
	const struct pb_trace_data *data;
	struct pb_timeline *timeline;
	struct queue *queues[QUEUES];
	uint64_t node_free[NODES]; /**< when the last of its work ended */
	uint64_t now;
	bool failed;
};

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

static struct queue *queue_at(struct builder *builder, uint32_t index)
{
	struct queue **queue = &builder->queues[index];

	if (*queue == NULL) {
		*queue = calloc(1, sizeof(**queue));
		if (*queue == NULL) {
			builder->failed = true;
			return NULL;
		}
		(*queue)->channel = UINT32_MAX;
		(*queue)->node = UINT32_MAX;
	}
	return *queue;
}

static struct pb_packet *add(struct queue *queue, uint32_t index)
{
	struct pb_packet *packet;

	if (queue->count == OPEN_MAX)
		memmove(queue->open, &queue->open[1], --queue->count * sizeof(queue->open[0]));
	packet = &queue->open[queue->count++];
	*packet = (struct pb_packet){.queue = index,
				     .channel = queue->channel,
				     .node = queue->node,
				     .submit = PB_TRACE_NEVER,
				     .patch = PB_TRACE_NEVER,
				     .patched = PB_TRACE_NEVER,
				     .feed = PB_TRACE_NEVER,
				     .run = PB_TRACE_NEVER,
				     .end = PB_TRACE_NEVER};
	return packet;
}

/** Whether the firmware has named it by its fence id. */
static bool is_named(const struct pb_packet *packet)
{
	return packet->patch != PB_TRACE_NEVER || packet->feed != PB_TRACE_NEVER;
}

/** The packet of this fence: the one that has it, else the oldest without, else a new one. */
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

static void on_submit(struct builder *builder, struct queue *queue, uint32_t index, uint32_t put)
{
	uint32_t fresh = queue->put_known ? put - queue->put : 0;

	if (!queue->put_known || fresh > OPEN_MAX)
		fresh = 1;
	queue->put = put;
	queue->put_known = true;
	for (; fresh != 0; fresh--)
		add(queue, index)->submit = builder->now;
}

/** It leaves its queue. */
static void end(struct builder *builder, struct queue *queue, struct pb_packet *packet)
{
	struct pb_packet *kept =
		append((void **)&builder->timeline->packets, &builder->timeline->packet_count, sizeof(*kept));
	const size_t behind = (size_t)(&queue->open[queue->count] - packet) - 1u;

	packet->end = builder->now;
	if (packet->feed != PB_TRACE_NEVER && packet->node < NODES) {
		const uint64_t since = builder->node_free[packet->node];

		packet->run = packet->feed > since ? packet->feed : since;
		builder->node_free[packet->node] = builder->now;
	}
	builder->failed = builder->failed || kept == NULL;
	if (kept != NULL)
		*kept = *packet;
	memmove(packet, packet + 1, behind * sizeof(*packet));
	queue->count--;
}

static void on_complete(struct builder *builder, struct queue *queue, uint32_t index,
			const struct pb_trace_record *record)
{
	struct pb_packet *packet = find(queue, index, record->arguments[0]);

	packet->error = record->arguments[1];
	if (packet->error != 0)
		packet->kind = PB_PACKET_FAILED;
	else if (packet->feed != PB_TRACE_NEVER && builder->data->contexts != 0 &&
		 packet->context == builder->data->contexts + 1u)
		packet->kind = PB_PACKET_PAGING;
	end(builder, queue, packet);
}

/** The last ones before the cutoff go back; what was submitted behind it has no name yet and stays. */
static void on_return(struct builder *builder, struct queue *queue, uint32_t count)
{
	queue->put_known = false;
	for (; count != 0 && queue->count != 0; count--) {
		queue->open[0].kind = PB_PACKET_PREEMPTED;
		end(builder, queue, &queue->open[0]);
	}
}

static void on_queue_record(struct builder *builder, uint32_t index, const struct pb_trace_record *record)
{
	struct queue *queue = queue_at(builder, index);
	const uint32_t number = PB_TRACE_WHAT_EVENT(record->what);
	struct pb_packet *packet;

	if (queue == NULL)
		return;
	if (number == PB_TRACE_QUEUE) {
		*queue = (struct queue){.channel = record->arguments[0], .node = record->arguments[1]};
	} else if (number == PB_TRACE_SUBMIT) {
		on_submit(builder, queue, index, record->arguments[0]);
	} else if (number == PB_TRACE_PATCH) {
		packet = find(queue, index, record->arguments[0]);
		packet->patch = builder->now;
		packet->patches = record->arguments[1];
	} else if (number == PB_TRACE_PATCHED) {
		find(queue, index, record->arguments[0])->patched = builder->now;
	} else if (number == PB_TRACE_FEED) {
		packet = find(queue, index, record->arguments[0]);
		queue->node = PB_TRACE_FED_NODE(record->arguments[1]);
		packet->node = queue->node;
		packet->context = PB_TRACE_FED_CONTEXT(record->arguments[1]);
		if (packet->feed == PB_TRACE_NEVER)
			packet->feed = builder->now;
	} else if (number == PB_TRACE_COMPLETE) {
		on_complete(builder, queue, index, record);
	} else if (number == PB_TRACE_RETURN) {
		on_return(builder, queue, record->arguments[0]);
	}
}

static bool is_of_packets(uint32_t number)
{
	return number == PB_TRACE_SUBMIT || (number >= PB_TRACE_PATCH && number <= PB_TRACE_COMPLETE);
}

static void take(struct builder *builder, const struct pb_trace_moment *moment)
{
	const uint32_t number = PB_TRACE_WHAT_EVENT(moment->record.what);
	const uint32_t object = PB_TRACE_WHAT_OBJECT(moment->record.what);
	struct pb_mark *mark;

	builder->now = moment->time;
	if (object != PB_TRACE_NONE && number != PB_TRACE_NODE)
		on_queue_record(builder, object, &moment->record);
	if (is_of_packets(number))
		return;
	mark = append((void **)&builder->timeline->marks, &builder->timeline->mark_count, sizeof(*mark));
	builder->failed = builder->failed || mark == NULL;
	if (mark != NULL)
		*mark = (struct pb_mark){.time = moment->time, .record = moment->record};
}

bool pb_timeline_build(const struct pb_trace_data *data, struct pb_timeline *timeline)
{
	struct builder *builder = calloc(1, sizeof(*builder));

	memset(timeline, 0, sizeof(*timeline));
	if (builder == NULL)
		return false;
	builder->data = data;
	builder->timeline = timeline;
	for (size_t i = 0; i < data->count && !builder->failed; i++)
		take(builder, &data->moments[i]);
	timeline->duration = builder->now;
	for (uint32_t q = 0; q < QUEUES; q++) {
		struct queue *queue = builder->queues[q];

		while (queue != NULL && queue->count != 0 && !builder->failed) {
			queue->open[0].kind = PB_PACKET_OPEN;
			end(builder, queue, &queue->open[0]);
		}
		free(queue);
	}
	if (builder->failed)
		pb_timeline_free(timeline);
	builder->failed = builder->failed || false;
	const bool built = !builder->failed;

	free(builder);
	return built;
}

void pb_timeline_free(struct pb_timeline *timeline)
{
	free(timeline->packets);
	free(timeline->marks);
	memset(timeline, 0, sizeof(*timeline));
}
