/* SPDX-License-Identifier: MIT */
#include "tests/unit/trace_sample.h"

#include <stdlib.h>
#include <string.h>

#include "host/tool/trace_file.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/errors.h"
#include "patchbay/abi/submission.h"

/** Most records that a packet makes. */
#define PACKET_RECORDS 10u

struct moment {
	uint64_t time;
	uint32_t number; /**< of the records: keeps the order of those of one time */
	uint32_t what, first, second;
};

struct maker {
	struct moment *moments;
	uint32_t count;
	uint64_t random;
	uint64_t patch_free[TRACE_SAMPLE_NODES];
	uint64_t node_free[TRACE_SAMPLE_NODES];
	uint64_t before
		[TRACE_SAMPLE_NODES]; /**< when the last but one of the node ended: two are in its ring */
	uint32_t put[TRACE_SAMPLE_QUEUES];
	bool waits;
	struct trace_sample sample;
};

static uint32_t below(struct maker *maker, uint32_t limit)
{
	maker->random = maker->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(maker->random >> 33) % limit;
}

static void put(struct maker *maker, uint64_t time, uint32_t what, uint32_t first, uint32_t second)
{
	maker->moments[maker->count] = (struct moment){time, maker->count, what, first, second};
	maker->count++;
}

/** What becomes of one on its way, in parts of a thousand. */
static const struct {
	uint32_t below;
	uint32_t flags;
	uint32_t error;
	bool returned;
} fates[] = {
	{40, PB_FLAG_PRESENT, PB_ERROR_OK, false},
	{90, PB_FLAG_PAGING, PB_ERROR_OK, false},
	{96, 0, PB_ERROR_OK, true},
	{99, 0, PB_ERROR_ENGINE_HANG, false},
	{1000, 0, PB_ERROR_OK, false},
};

static uint32_t draw_fate(struct maker *maker)
{
	const uint32_t drawn = below(maker, 1000);
	uint32_t fate = 0;

	while (fates[fate].below <= drawn)
		fate++;
	maker->sample.present += fates[fate].flags == PB_FLAG_PRESENT;
	maker->sample.paging += fates[fate].flags == PB_FLAG_PAGING;
	maker->sample.preempted += fates[fate].returned;
	maker->sample.failed += fates[fate].error != PB_ERROR_OK;
	return fate;
}

/** The next queue has waited for the end of a paging buffer. */
static void wait_for(struct maker *maker, uint32_t queue, uint32_t fence, uint64_t end)
{
	const uint32_t waiter = (queue + 1u) % TRACE_SAMPLE_QUEUES;

	put(maker, end - 1u, PB_TRACE_WHAT(PB_TRACE_WAIT, waiter), queue, fence);
	put(maker, end, PB_TRACE_WHAT(PB_TRACE_WAKE, waiter), queue, 0);
}

/** From its patches on. @param time they are done */
static void finish(struct maker *maker, uint32_t queue, uint32_t fence, uint32_t fate, uint64_t time)
{
	const uint32_t node = queue % TRACE_SAMPLE_NODES;
	const uint64_t run = time > maker->node_free[node] ? time : maker->node_free[node];
	uint64_t end = run + 20u + below(maker, 400);

	if (fates[fate].returned) {
		end = run + 5u;
		put(maker, time, PB_TRACE_WHAT(PB_TRACE_STOP, queue), 1, maker->put[queue]);
		put(maker, end, PB_TRACE_WHAT(PB_TRACE_RETURN, queue), 1, maker->put[queue]);
	} else {
		put(maker, time, PB_TRACE_WHAT(PB_TRACE_FEED, queue), fence, queue);
		if (fates[fate].error != PB_ERROR_OK)
			put(maker, end, PB_TRACE_WHAT(PB_TRACE_NODE, node), 4, 2);
		put(maker, end, PB_TRACE_WHAT(PB_TRACE_COMPLETE, queue), fence,
		    PB_TRACE_DONE(node, fates[fate].error));
		if (maker->waits && fates[fate].flags == PB_FLAG_PAGING)
			wait_for(maker, queue, fence, end);
	}
	maker->before[node] = maker->node_free[node];
	maker->node_free[node] = end;
}

static void make_packet(struct maker *maker, uint32_t fence)
{
	const uint32_t queue = below(maker, TRACE_SAMPLE_QUEUES), node = queue % TRACE_SAMPLE_NODES;
	const uint32_t fate = draw_fate(maker), patches = 1u + below(maker, 60);
	uint64_t time = maker->patch_free[node];

	if (time < maker->before[node])
		time = maker->before[node];
	if (below(maker, 50) == 0)
		time += below(maker, 5000); /* every queue is idle */
	time += 2;
	put(maker, time - below(maker, 2), PB_TRACE_WHAT(PB_TRACE_SUBMIT, queue), ++maker->put[queue], 0);
	if (fates[fate].flags != 0)
		put(maker, time, PB_TRACE_WHAT(PB_TRACE_KIND, queue), fence, fates[fate].flags);
	if (fates[fate].flags != PB_FLAG_PAGING) {
		put(maker, time, PB_TRACE_WHAT(PB_TRACE_PATCH, queue), fence, patches);
		time += patches;
		put(maker, time, PB_TRACE_WHAT(PB_TRACE_PATCHED, queue), fence, PB_ERROR_OK);
	}
	maker->patch_free[node] = time;
	finish(maker, queue, fence, fate, time);
	if (fence % 16u == 0)
		put(maker, time, PB_TRACE_WHAT(PB_TRACE_INTERRUPT, PB_TRACE_NONE), queue % 3u, 0);
}

static int by_time(const void *left, const void *right)
{
	const struct moment *const a = left, *const b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static bool write_all(FILE *file, const struct maker *maker)
{
	bool good = pb_trace_file_begin(file, PB_TRACE_SCHEMA, 0);
	uint32_t completed[TRACE_SAMPLE_QUEUES] = {0};

	for (uint32_t i = 0; i < maker->count && good; i++) {
		struct moment *moment = &maker->moments[i];
		uint32_t *ended = &completed[PB_TRACE_WHAT_OBJECT(moment->what) % TRACE_SAMPLE_QUEUES];

		*ended += PB_TRACE_WHAT_EVENT(moment->what) == PB_TRACE_COMPLETE ||
			  PB_TRACE_WHAT_EVENT(moment->what) == PB_TRACE_RETURN;
		if (PB_TRACE_WHAT_EVENT(moment->what) == PB_TRACE_SUBMIT)
			moment->second = *ended;
		/* Its clock wraps on the way. */
		const struct pb_trace_record record = {.clock = (uint32_t)moment->time - 1000000u,
						       .what = moment->what,
						       .arguments = {moment->first, moment->second}};

		good = pb_trace_file_records(file, &record, 1);
	}
	return good && fflush(file) == 0;
}

bool trace_sample_write(FILE *file, uint32_t packets, struct trace_sample *sample)
{
	return trace_sample_write_waits(file, packets, false, sample);
}

bool trace_sample_write_waits(FILE *file, uint32_t packets, bool waits, struct trace_sample *sample)
{
	struct maker maker = {
		.moments = calloc(packets * PACKET_RECORDS + 2u * TRACE_SAMPLE_QUEUES, sizeof(struct moment)),
		.waits = waits};
	bool good;

	if (maker.moments == NULL)
		return false;
	for (uint32_t q = 0; q < TRACE_SAMPLE_QUEUES; q++) {
		const uint32_t channel = 1u + q / TRACE_SAMPLE_NODES, node = q % TRACE_SAMPLE_NODES;

		put(&maker, 0, PB_TRACE_WHAT(PB_TRACE_QUEUE, q), channel, node);
		put(&maker, 0, PB_TRACE_WHAT(PB_TRACE_HANDLE, q), PB_HANDLE(q, 1),
		    PB_TRACE_OF(channel, node, PB_PRIORITY_NORMAL));
	}
	for (uint32_t fence = 1; fence <= packets; fence++)
		make_packet(&maker, fence);
	qsort(maker.moments, maker.count, sizeof(struct moment), by_time);
	maker.sample.render = packets - maker.sample.present - maker.sample.paging - maker.sample.preempted -
			      maker.sample.failed;
	*sample = maker.sample;
	good = write_all(file, &maker);
	free(maker.moments);
	return good;
}
