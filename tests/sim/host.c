/* SPDX-License-Identifier: MIT */
#include "tests/sim/host.h"

#include <string.h>

#include "tests/sim/judge.h"
#include "tests/sim/work.h"

static void post(struct pb_run *run, struct pb_host *host, uint32_t code, uint32_t object,
		 const uint32_t *arguments, uint32_t count)
{
	if (!pb_client_post(&host->client, code, object, arguments, count))
		pb_run_break(run, "channel %u: no room for a command", host->client.channel);
}

static uint64_t some_base(struct pb_run *run)
{
	/* Far from the end of the address space, where nothing else of the channel can be. */
	return (pb_random_next(&run->random) >> 2) / PB_PAGE_BYTES * PB_PAGE_BYTES;
}

static void make_segment(struct pb_run *run, struct pb_host *host, uint32_t segment, uint32_t bytes)
{
	const uint64_t os = some_base(run), gpu = some_base(run);
	const uint32_t arguments[] = {
		segment,       PB_SEGMENT_LINEAR,     (uint32_t)os, (uint32_t)(os >> 32),
		(uint32_t)gpu, (uint32_t)(gpu >> 32), bytes,        0,
		bytes};

	host->os_base[segment] = os;
	host->gpu_base[segment] = gpu;
	post(run, host, PB_COMMAND_SEGMENT_CREATE, segment, arguments, 9);
}

/** Near a wrap, or anywhere. */
static uint32_t some_fence(struct pb_run *run)
{
	return pb_random_one_in(&run->random, 2) ? 0u - pb_random_below(&run->random, 12)
						 : (uint32_t)pb_random_next(&run->random);
}

static uint64_t some_timeline(struct pb_run *run)
{
	static const uint64_t starts[] = {0, 0, 0xfffffff8u, UINT64_C(1) << 63, UINT64_MAX - 4000u};

	return starts[pb_random_below(&run->random, 5)];
}

void pb_host_make_queue(struct pb_run *run, struct pb_host *host, uint32_t q)
{
	struct pb_queue_view *queue = &host->queues[q];
	const struct pb_queue_view old = *queue;
	const uint32_t offset = pb_work_queue_offset(q);

	*queue = (struct pb_queue_view){
		.life = PB_QUEUE_CREATING,
		.page = (struct pb_queue_page *)(void *)(host->memory[0] + offset),
		.address = host->os_base[0] + offset,
		.handle = old.handle,
		.node = pb_random_below(&run->random, PB_CARD_NODES),
		.entries = 4u << pb_random_below(&run->random, 3),
		.timeline = some_timeline(run),
		.next_fence = some_fence(run),
		.worst = UINT64_MAX,
		.gone_step = old.gone_step,
	};
	memcpy(queue->waited_step, old.waited_step, sizeof(old.waited_step));
	memset(queue->page, 0, sizeof(*queue->page));
	post(run, host, PB_COMMAND_QUEUE_CREATE, q,
	     (uint32_t[]){queue->node, queue->entries, (uint32_t)queue->address,
			  (uint32_t)(queue->address >> 32), pb_random_below(&run->random, PB_PRIORITIES),
			  pb_random_one_in(&run->random, 2) ? 0 : 1u + pb_random_below(&run->random, 3000)},
	     6);
}

static void mark_memory(struct pb_host *host)
{
	uint32_t *words = (uint32_t *)(void *)host->memory[1];

	for (uint32_t i = 0; i < PB_MARKS * PB_MARK_WORDS; i++)
		pb_shared_write32(&words[i], PB_UNMARKED);
}

static void attach(struct pb_run *run, struct pb_host *host)
{
	pb_client_ask(&host->client, PB_ATTACH_OP_ATTACH);
	for (uint32_t i = 0; !pb_client_answered(&host->client); i++) {
		if (i == 10000u)
			pb_run_break(run, "channel %u: no answer to an attach", host->client.channel);
		pb_run_step(run);
	}
	if (pb_shared_read32(&host->client.entry->state) != PB_CHANNEL_OPEN)
		pb_run_break(run, "channel %u: not attached, error %u", host->client.channel,
			     pb_shared_read32(&host->client.entry->error));
}

void pb_host_open(struct pb_run *run, struct pb_host *host)
{
	const struct pb_client client = host->client;
	const uint32_t queues = 1u + pb_random_below(&run->random, PB_QUEUES);

	*host = (struct pb_host){.client = client, .paging = true};
	attach(run, host);
	host->attached = true;
	make_segment(run, host, 0, PB_WORK_SYSTEM_BYTES);
	make_segment(run, host, 1, PB_WORK_VIDEO_BYTES);
	for (uint32_t c = 0; c < PB_CONTEXTS; c++)
		post(run, host, PB_COMMAND_CONTEXT_CREATE, c, NULL, 0);
	pb_run_until_answered(run, host);
	mark_memory(host);
	for (uint32_t q = 0; q < queues; q++)
		pb_host_make_queue(run, host, q);
	pb_run_until_answered(run, host);
}

void pb_host_leave(struct pb_run *run, struct pb_host *host)
{
	host->attached = false;
	host->leaving = true;
	run->moved = run->world.now;
	pb_client_ask(&host->client, PB_ATTACH_OP_DETACH);
}

void pb_host_look_gone(struct pb_run *run, struct pb_host *host)
{
	if (!pb_client_answered(&host->client))
		return;
	if (pb_shared_read32(&host->client.entry->state) != PB_CHANNEL_CLOSED)
		pb_run_break(run, "channel %u: detached, and its state is %u", host->client.channel,
			     pb_shared_read32(&host->client.entry->state));
	pb_judge_marks(run, host);
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		struct pb_queue_view *queue = &host->queues[q];

		if (queue->life == PB_QUEUE_ABSENT)
			continue;
		for (uint32_t i = queue->completed; i != queue->put; i++)
			pb_judge_cancelled(run, host, pb_entry_at(queue, i));
		queue->life = PB_QUEUE_ABSENT;
	}
	host->leaving = false;
}
