/* SPDX-License-Identifier: MIT */
/* The judge: what the library has, beside what the threads did. */
#include "tests/threads/library_world.h"

#define PATIENCE_US 1000000u

/** Each submission that a thread made is in the ring once, in the thread's order, and nothing else is. */
static void judge_ring(struct pb_library *world, uint32_t q)
{
	uint32_t next[PB_LIBRARY_THREADS] = {0};
	uint32_t sum = 0;

	for (uint32_t i = 0; i < world->queues[q].put; i++) {
		const uint32_t id = world->history[q][i].fence_id;
		const uint32_t thread = id / 0x10000u - 1u;

		if (thread >= PB_LIBRARY_THREADS || id != pb_library_fence_id(thread, q, next[thread]))
			pb_fibers_fail("queue %u: entry %u has fence 0x%x", q, i, id);
		next[thread]++;
	}
	for (uint32_t t = 0; t < PB_LIBRARY_THREADS; t++) {
		sum += world->threads[t].submitted[q];
		if (next[t] != world->threads[t].submitted[q])
			pb_fibers_fail("queue %u: %u submissions of thread %u, not %u", q, next[t], t,
				       world->threads[t].submitted[q]);
	}
	if (sum != world->queues[q].put)
		pb_fibers_fail("queue %u: put index %u after %u submissions", q, world->queues[q].put, sum);
}

/** All submissions complete, or were returned. */
static void judge_completions(struct pb_library *world, uint32_t q)
{
	struct pb_queue *queue = &world->queues[q];
	const uint64_t deadline = world->channel.link->ops->now(world->channel.link) + PATIENCE_US;
	struct pb_fence fence;

	for (;;) {
		pb_library_must(pb_queue_fence(queue, &fence), "the last fence");
		if (fence.completed == queue->put)
			break;
		if (world->channel.link->ops->now(world->channel.link) > deadline)
			pb_fibers_fail("queue %u: %u of %u end", q, fence.completed, queue->put);
		(void)world->channel.link->ops->wait(world->channel.link, 1000);
	}
	if (fence.timeline > queue->timeline)
		pb_fibers_fail("queue %u: timeline %llu of %llu", q, (unsigned long long)fence.timeline,
			       (unsigned long long)queue->timeline);
}

/** What the submissions of a closed channel became: each that did not complete is handed out once. */
static void judge_unfinished(struct pb_library *world, uint32_t q)
{
	struct pb_queue *queue = &world->queues[q];
	struct pb_descriptor descriptor;
	uint32_t completed = queue->completed;

	while (pb_queue_unfinished(queue, &descriptor) != PB_ERROR_OK) {
		if (descriptor.fence_id != world->history[q][completed++].fence_id)
			pb_fibers_fail("queue %u: fence 0x%x is handed out", q, descriptor.fence_id);
	}
	if (pb_channel_check(&world->channel, NULL) != PB_ERROR_OK && completed != queue->put)
		pb_fibers_fail("queue %u: %u of %u are accounted for", q, completed, queue->put);
}

static void judge_rings(const struct pb_library *world)
{
	const struct pb_channel *channel = &world->channel;
	uint32_t submitted = 0, events = 0, failures = 0;

	for (uint32_t t = 0; t < PB_FIBERS; t++) {
		submitted += world->threads[t].submitted[0] + world->threads[t].submitted[1];
		events += world->threads[t].events;
		failures += world->threads[t].failures;
	}
	if (channel->kick_put + channel->rescan != submitted)
		pb_fibers_fail("%u kicks of %u submissions", channel->kick_put + channel->rescan, submitted);
	if (events != channel->event_get)
		pb_fibers_fail("%u events are read, %u were taken", events, channel->event_get);
	if (failures > submitted)
		pb_fibers_fail("%u failures of %u submissions", failures, submitted);
	for (uint32_t i = 0; i < PB_COMMANDS_PENDING; i++) {
		if (channel->pending[i].state != PB_PENDING_FREE)
			pb_fibers_fail("a command has no end");
	}
	if (channel->control_put != channel->reply_get)
		pb_fibers_fail("%u commands, %u replies", channel->control_put, channel->reply_get);
}

void pb_library_judge(struct pb_library *world)
{
	const bool open = pb_channel_check(&world->channel, NULL) == PB_ERROR_OK;

	for (uint32_t q = 0; q < PB_LIBRARY_QUEUES; q++) {
		judge_ring(world, q);
		if (open)
			judge_completions(world, q);
		else
			judge_unfinished(world, q);
	}
	if (!open)
		return;
	pb_library_read_events(0);
	judge_rings(world);
}
