/* SPDX-License-Identifier: MIT */
#include "tests/sim/host.h"

#include <string.h>

#include "tests/sim/host_memory.h"
#include "tests/sim/inside.h"
#include "tests/sim/judge.h"
#include "tests/sim/submission.h"
#include "tests/sim/supervisor.h"

static void post(struct pb_run *run, struct pb_host *host, uint32_t code, uint32_t object,
		 const uint32_t *arguments, uint32_t count)
{
	if (!pb_client_post(&host->client, code, object, arguments, count))
		pb_run_break(run, "channel %u: no room for a command", host->client.channel);
}

static uint64_t random_base(struct pb_run *run)
{
	/* Far from the end of the address space, where no other segment of the channel lies. */
	return (pb_random_next(&run->random) >> 2) / PB_PAGE_BYTES * PB_PAGE_BYTES;
}

void pb_host_create_segment(struct pb_run *run, struct pb_host *host, uint32_t segment, uint32_t bytes)
{
	const uint64_t os = random_base(run), gpu = random_base(run);
	const bool host_memory = pb_host_memory_has(run, host->client.channel, segment);
	const uint32_t arguments[] = {segment,
				      host_memory ? PB_SEGMENT_HOST : PB_SEGMENT_LINEAR,
				      (uint32_t)os,
				      (uint32_t)(os >> 32),
				      (uint32_t)gpu,
				      (uint32_t)(gpu >> 32),
				      bytes,
				      0,
				      bytes,
				      pb_host_memory_address(segment),
				      0};

	host->os_base[segment] = os;
	host->gpu_base[segment] = gpu;
	host->bytes[segment] = bytes;
	post(run, host, PB_COMMAND_SEGMENT_CREATE, segment, arguments, 11);
}

/** A start value near a wrap, or anywhere. */
static uint32_t random_fence(struct pb_run *run)
{
	return pb_random_one_in(&run->random, 2) ? 0u - pb_random_below(&run->random, 12)
						 : (uint32_t)pb_random_next(&run->random);
}

static uint64_t random_timeline(struct pb_run *run)
{
	static const uint64_t starts[] = {0, 0, 0xfffffff8u, UINT64_C(1) << 63, UINT64_MAX - 4000u};

	return starts[pb_random_below(&run->random, 5)];
}

/** Whether the node is host-ordered and has its one queue already, or is getting it. */
static bool is_full(const struct pb_run *run, uint32_t node)
{
	for (uint32_t h = 0; h < run->host_count; h++) {
		const struct pb_host *host = &run->hosts[h];

		for (uint32_t q = 0; q < PB_QUEUES; q++) {
			if (host->queues[q].life != PB_QUEUE_ABSENT && host->queues[q].node == node)
				return true;
		}
	}
	return false;
}

/** @return PB_CARD_NODES when no node has room for a queue */
static uint32_t random_node(struct pb_run *run)
{
	const uint32_t first = pb_random_below(&run->random, PB_CARD_NODES);

	for (uint32_t i = 0; i < PB_CARD_NODES; i++) {
		const uint32_t node = (first + i) % PB_CARD_NODES;

		if (run->nodes[node].mode == PB_NODE_SCHEDULED || !is_full(run, node))
			return node;
	}
	return PB_CARD_NODES;
}

void pb_host_create_queue(struct pb_run *run, struct pb_host *host, uint32_t q)
{
	struct pb_queue_view *queue = &host->queues[q];
	const struct pb_queue_view old = *queue;
	const uint32_t offset = pb_submission_queue_offset(q);
	const uint32_t node = random_node(run);

	if (node == PB_CARD_NODES)
		return;
	*queue = (struct pb_queue_view){
		.life = PB_QUEUE_CREATING,
		.page = (struct pb_queue_page *)(void *)(host->memory[0] + offset),
		.address = host->os_base[0] + offset,
		.handle = old.handle,
		.node = node,
		.entries = 4u << pb_random_below(&run->random, 3),
		.priority = pb_random_below(&run->random, run->grants[host->client.channel].cap + 1u),
		.timeline = random_timeline(run),
		.next_fence = random_fence(run),
		.worst = UINT64_MAX,
		.gone_step = old.gone_step,
	};
	memcpy(queue->waited_step, old.waited_step, sizeof(old.waited_step));
	memset(queue->page, 0, sizeof(*queue->page));
	post(run, host, PB_COMMAND_QUEUE_CREATE, q,
	     (uint32_t[]){queue->node, queue->entries, (uint32_t)queue->address,
			  (uint32_t)(queue->address >> 32), queue->priority,
			  pb_random_one_in(&run->random, 2) ? 0 : 1u + pb_random_below(&run->random, 3000)},
	     6);
}

void pb_host_ask_too_much(struct pb_run *run, struct pb_host *host, const struct pb_queue_view *queue)
{
	if (queue->life != PB_QUEUE_OPEN || run->nodes[queue->node].mode != PB_NODE_HOST_ORDERED)
		return;
	post(run, host, PB_COMMAND_QUEUE_CREATE, PB_QUEUES,
	     (uint32_t[]){queue->node, 4, (uint32_t)queue->address, (uint32_t)(queue->address >> 32),
			  PB_PRIORITY_NORMAL, 0},
	     6);
}

void pb_host_mark_segment(struct pb_host *host, uint32_t segment)
{
	uint32_t *words = (uint32_t *)(void *)host->memory[segment];

	for (uint32_t i = 0; i < PB_SUBMISSION_VIDEO_BYTES / 4u; i++)
		pb_shared_write32(&words[i], PB_UNMARKED);
}

/** Another channel may get the memory at once. */
static void forget_marks(struct pb_host *host, uint32_t segment)
{
	for (uint32_t m = 0; m < host->mark_count; m++) {
		if (pb_submission_segment(m) == segment)
			host->marks[m].settled = false;
	}
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

void pb_host_begin(struct pb_run *run, struct pb_host *host)
{
	const struct pb_client client = host->client;

	*host = (struct pb_host){.client = client, .written = run->written[client.channel - 1u]};
	host->client.unread = (run->rates & PB_RATE_UNREAD) != 0 && pb_random_one_in(&run->random, 2);
	/* A host that reads no events is not notified that it is halted. */
	host->paging = !host->client.unread;
}

void pb_host_create_segments(struct pb_run *run, struct pb_host *host)
{
	pb_host_create_segment(run, host, 0, PB_SUBMISSION_SYSTEM_BYTES);
	for (uint32_t segment = 1; segment < PB_SEGMENTS; segment++)
		pb_host_create_segment(run, host, segment, PB_SUBMISSION_VIDEO_BYTES);
}

/** Fills the host's event ring: kicks of queues that it never created cause events. */
static void fill_events(struct pb_run *run, struct pb_host *host)
{
	for (uint32_t i = 80u + pb_random_below(&run->random, 60); i != 0; i--)
		pb_client_kick(&host->client, PB_HANDLE(PB_WORLD_QUEUES - 1u, 78));
}

void pb_host_attach(struct pb_run *run, struct pb_host *host)
{
	const uint32_t queues = 1u + pb_random_below(&run->random, PB_QUEUES);

	pb_host_begin(run, host);
	attach(run, host);
	host->attached = true;
	pb_host_create_segments(run, host);
	for (uint32_t c = 0; c < PB_CONTEXTS; c++)
		post(run, host, PB_COMMAND_CONTEXT_CREATE, c, NULL, 0);
	pb_run_until_answered(run, host);
	if (host->refused) {
		pb_supervisor_close(run, run->hostile.client.channel);
		pb_host_detach(run, host);
		return;
	}
	memcpy(host->written, host->memory[0], PB_SUBMISSION_SYSTEM_BYTES);
	host->opened = true;
	for (uint32_t segment = 1; segment < PB_SEGMENTS; segment++)
		pb_host_mark_segment(host, segment);
	if (host->client.unread)
		fill_events(run, host);
	for (uint32_t q = 0; q < queues; q++)
		pb_host_create_queue(run, host, q);
	pb_run_until_answered(run, host);
}

void pb_host_move(struct pb_run *run, struct pb_host *host)
{
	static const uint32_t segment = PB_REVOKED_SEGMENT;

	if (host->revocation != PB_REVOCATION_NONE && host->revocation != PB_REVOCATION_GRANTED)
		return;
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		struct pb_queue_view *queue = &host->queues[q];

		if (queue->life == PB_QUEUE_CREATING || queue->life == PB_QUEUE_DESTROYING ||
		    (queue->life == PB_QUEUE_OPEN && pb_outstanding(queue) != 0))
			return;
	}
	pb_judge_marks(run, host);
	forget_marks(host, segment);
	host->moving = true;
	post(run, host, PB_COMMAND_SEGMENT_DESTROY, segment, &segment, 1);
	pb_host_create_segment(run, host, segment, PB_SUBMISSION_VIDEO_BYTES);
	/* Submissions that had begun ran with the old addresses. */
	for (uint32_t q = 0; q < PB_QUEUES; q++)
		host->queues[q].may_resume = false;
	pb_run_log(run, "channel %u: creates segment %u again", host->client.channel, segment);
}

void pb_host_detach(struct pb_run *run, struct pb_host *host)
{
	pb_run_log(run, "channel %u: detaches", host->client.channel);
	/* Its memory is judged now: it is cleared before the channel is closed. */
	if (!host->refused) {
		pb_judge_marks(run, host);
		pb_judge_share(run, host);
	}
	host->attached = false;
	host->detaching = true;
	pb_client_ask(&host->client, PB_ATTACH_OP_DETACH);
}

/** Forgets the host's submissions: their memory has no owner any more. */
static void forget_submissions(struct pb_run *run, struct pb_host *host)
{
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		struct pb_queue_view *queue = &host->queues[q];

		for (uint32_t i = queue->completed; queue->life != PB_QUEUE_ABSENT && i != queue->put; i++)
			pb_judge_cancelled(run, host, pb_entry_at(queue, i));
		queue->life = PB_QUEUE_ABSENT;
	}
}

/** What a client had is clear before another can have it. */
static void check_clean(struct pb_run *run)
{
	const uint32_t dirty = pb_inside_dirty(run->world.firmware);

	if (dirty != 0)
		pb_run_break(run, "memory at 0x%x is free, and not clear", dirty);
}

void pb_host_poll_detach(struct pb_run *run, struct pb_host *host)
{
	if (!pb_client_answered(&host->client))
		return;
	if (pb_shared_read32(&host->client.entry->state) != PB_CHANNEL_CLOSED)
		pb_run_break(run, "channel %u: detached, and its state is %u", host->client.channel,
			     pb_shared_read32(&host->client.entry->state));
	check_clean(run);
	forget_submissions(run, host);
	host->detaching = false;
}

void pb_host_die(struct pb_run *run, struct pb_host *host)
{
	pb_run_log(run, "channel %u: its host dies", host->client.channel);
	host->attached = false;
	host->died = true;
	run->world.injected++;
	run->totals.deaths++;
}

void pb_host_closed(struct pb_run *run, struct pb_host *host)
{
	if (pb_shared_read32(&host->client.entry->state) != PB_CHANNEL_CLOSED)
		pb_run_break(run, "channel %u: closed by the supervisor, and its state is %u",
			     host->client.channel, pb_shared_read32(&host->client.entry->state));
	check_clean(run);
	forget_submissions(run, host);
	pb_client_forget(&host->client);
	host->died = false;
}
