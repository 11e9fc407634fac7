/* SPDX-License-Identifier: MIT */
#include "tests/sim/actions.h"
#include "tests/sim/judge.h"
#include "tests/sim/work.h"

static bool has_room(const struct pb_host *host, const struct pb_queue_view *queue)
{
	return queue->life == PB_QUEUE_OPEN && !host->moving && pb_outstanding(queue) < queue->entries;
}

/** PB_PLACES: none is free. */
static uint32_t free_place(struct pb_host *host)
{
	uint32_t place = 0;

	while (place < PB_PLACES && host->places[place].used)
		place++;
	return place;
}

static enum pb_kind some_kind(struct pb_run *run, bool paging)
{
	const uint32_t roll = pb_random_below(&run->random, 32);

	if (roll < 3u && (run->rates & PB_RATE_BAD) != 0)
		return roll == 0 || paging ? PB_KIND_FAULT : PB_KIND_BAD;
	if (roll == 3u && (run->rates & PB_RATE_HANG) != 0)
		return PB_KIND_HANG;
	if (roll < 8u)
		return roll < 6u ? PB_KIND_NULL : PB_KIND_EMPTY;
	return PB_KIND_PLAIN;
}

static uint32_t some_busy(struct pb_run *run)
{
	static const uint32_t most[] = {1, 20, 200, 3000};

	return pb_random_below(&run->random, most[pb_random_below(&run->random, 4)]);
}

static void some_wait(struct pb_run *run, struct pb_host *host, struct pb_entry_wait *wait)
{
	const uint32_t q = pb_random_below(&run->random, PB_QUEUES);
	const struct pb_queue_view *queue = &host->queues[q];

	*wait = (struct pb_entry_wait){.queue = q, .handle = queue->handle, .value = queue->timeline};
	if (queue->life == PB_QUEUE_CREATING || queue->handle == 0) {
		wait->queue = PB_QUEUES;
		wait->handle = PB_HANDLE(PB_WORLD_QUEUES - 1u, 77);
	}
	if (pb_random_one_in(&run->random, 4))
		wait->value = queue->reached;
	else if (pb_random_one_in(&run->random, 4))
		wait->value += 1u + pb_random_below(&run->random, 4);
}

static void add_waits(struct pb_run *run, struct pb_host *host, struct pb_entry *entry)
{
	if ((run->rates & PB_RATE_WAITS) == 0 || !pb_random_one_in(&run->random, 3))
		return;
	entry->wait_count =
		1u + pb_random_below(&run->random, 2) * pb_random_below(&run->random, PB_WAITS_MAX);
	for (uint32_t i = 0; i < entry->wait_count; i++)
		some_wait(run, host, &entry->waits[i]);
}

/** Into the ring, and told. All but its timeline and step are set. */
static void submit(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
		   struct pb_entry *entry)
{
	struct pb_descriptor *ring = (struct pb_descriptor *)(void *)(queue->page + 1);
	struct pb_context_view *context = &host->contexts[entry->context];

	entry->step = run->step;
	entry->sure_lost = context->sure_lost;
	if (entry->kind >= PB_KIND_BAD && !entry->paging)
		context->maybe_lost = true;
	pb_work_write(host, entry, &ring[queue->put % queue->entries]);
	queue->ring[queue->put % queue->entries] = *entry;
	queue->may_resume = false;
	pb_shared_release();
	pb_shared_write32(&queue->page->put, ++queue->put);
	pb_client_kick(&host->client, queue->handle);
	run->moved = run->world.now;
	run->totals.submissions++;
	pb_run_say(run,
		   "channel %u queue %08x node %u: submits fence %08x timeline %llx kind %d busy %u waits "
		   "%u%s%s",
		   host->client.channel, queue->handle, queue->node, entry->fence_id,
		   (unsigned long long)entry->timeline, (int)entry->kind, entry->busy, entry->wait_count,
		   entry->paging ? " paging" : "", entry->resumed ? " resumed" : "");
	for (uint32_t i = 0; i < entry->wait_count; i++)
		pb_run_say(run, "  waits for queue %08x timeline %llx", entry->waits[i].handle,
			   (unsigned long long)entry->waits[i].value);
}

void pb_act_submit(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	struct pb_entry entry = {.place = free_place(host)};

	/* A few marks are kept for what is to come back. */
	if (!has_room(host, queue) || entry.place == PB_PLACES || host->mark_count + 96u > PB_MARKS)
		return;
	entry.paging = host->paging && pb_random_one_in(&run->random, 10);
	entry.kind = some_kind(run, entry.paging);
	entry.context = pb_random_below(&run->random, PB_CONTEXTS);
	entry.busy = pb_work_runs(&entry) ? some_busy(run) : 0;
	entry.fence_id = queue->next_fence++;
	add_waits(run, host, &entry);
	queue->timeline += 1u + pb_random_below(&run->random, 3);
	entry.timeline = queue->timeline;
	entry.mark = pb_work_new_mark(run, host);
	pb_work_build(run, host, &entry);
	submit(run, host, queue, &entry);
}

void pb_act_signal(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue, uint64_t value)
{
	struct pb_entry entry = {.place = free_place(host), .kind = PB_KIND_EMPTY};

	/* What is outstanding may reach it. */
	if (!has_room(host, queue) || entry.place == PB_PLACES ||
	    (value <= queue->timeline && pb_outstanding(queue) != 0))
		return;
	queue->timeline = value > queue->timeline ? value : queue->timeline + 1u;
	entry.timeline = queue->timeline;
	entry.fence_id = queue->next_fence++;
	entry.mark = pb_work_new_mark(run, host);
	pb_work_build(run, host, &entry);
	submit(run, host, queue, &entry);
}

/** It goes on from where it was: what it has stored, it does not store again. */
static void prepare_resume(struct pb_host *host, struct pb_entry *entry)
{
	struct pb_mark *mark = &host->marks[entry->mark];
	struct pb_place *place = &host->places[entry->place];
	uint32_t *words = pb_work_mark(host, entry->mark);

	for (uint32_t i = 0; i < 3u; i++) {
		if (pb_shared_read32(&words[i]) == PB_UNMARKED)
			continue;
		pb_shared_write32(&words[i], PB_UNMARKED);
		mark->value[i] = 0;
	}
	mark->settled = false;
	entry->resumed = true;
	for (uint32_t i = 0; i < place->words; i++)
		place->raw[i] = place->image[i];
	for (uint32_t i = 0; i < place->patches; i++) {
		if (place->patch[i].driver_id != PB_PATCH_FORMAT_FENCE_ID)
			continue;
		place->image[place->patch[i].patch_offset % 256u / 4u] = entry->fence_id;
		if (mark->value[2] != 0)
			mark->value[2] = entry->fence_id;
	}
}

void pb_act_resubmit(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	struct pb_entry entry = queue->back[0];

	if (!has_room(host, queue) || queue->back_count == 0)
		return;
	queue->back_count--;
	for (uint32_t i = 0; i < queue->back_count; i++)
		queue->back[i] = queue->back[i + 1u];
	if (!entry.paging)
		entry.fence_id = queue->next_fence++;
	queue->timeline += 1u;
	entry.timeline = queue->timeline;
	entry.resumed = false;
	if (queue->may_resume && pb_work_runs(&entry) && entry.fence_id != 0 &&
	    pb_random_one_in(&run->random, 2)) {
		prepare_resume(host, &entry);
	} else {
		if (pb_random_one_in(&run->random, 2))
			entry.mark = pb_work_new_mark(run, host);
		pb_work_build(run, host, &entry);
	}
	submit(run, host, queue, &entry);
}
