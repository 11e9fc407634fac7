/* SPDX-License-Identifier: MIT */
#include "tests/sim/actions.h"
#include "tests/sim/judge.h"
#include "tests/sim/submission.h"

static bool has_room(const struct pb_host *host, const struct pb_queue_view *queue)
{
	return queue->life == PB_QUEUE_OPEN && !host->moving && pb_outstanding(queue) < queue->entries;
}

/** @return PB_SLOTS when all are used */
static uint32_t free_slot(struct pb_host *host)
{
	uint32_t slot = 0;

	while (slot < PB_SLOTS && host->slots[slot].used)
		slot++;
	return slot;
}

static enum pb_kind random_kind(struct pb_run *run, bool paging)
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

static uint32_t random_runtime(struct pb_run *run)
{
	static const uint32_t most[] = {1, 20, 200, 3000};

	return pb_random_below(&run->random, most[pb_random_below(&run->random, 4)]);
}

static void random_wait(struct pb_run *run, struct pb_host *host, struct pb_entry_wait *wait)
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
		random_wait(run, host, &entry->waits[i]);
}

/** Writes the entry into the ring and rings the doorbell. Pre: all but `timeline` and `step` is set. */
static void submit(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
		   struct pb_entry *entry)
{
	struct pb_descriptor *ring = (struct pb_descriptor *)(void *)(queue->page + 1);
	struct pb_context_view *context = &host->contexts[entry->context];

	entry->step = run->step;
	entry->sure_lost = context->sure_lost;
	if ((entry->kind >= PB_KIND_BAD || pb_submission_is_doomed(host, entry)) && !entry->paging)
		context->maybe_lost = true;
	pb_submission_write(host, entry, &ring[queue->put % queue->entries]);
	queue->ring[queue->put % queue->entries] = *entry;
	queue->may_resume = false;
	pb_shared_release();
	pb_shared_write32(&queue->page->put, ++queue->put);
	pb_client_kick(&host->client, queue->handle);
	pb_judge_note_work(run, queue->node, entry->busy);
	run->totals.submissions++;
	pb_run_log(run,
		   "channel %u queue %08x node %u: submits fence %08x timeline %llx kind %d busy %u waits "
		   "%u%s%s",
		   host->client.channel, queue->handle, queue->node, entry->fence_id,
		   (unsigned long long)entry->timeline, (int)entry->kind, entry->busy, entry->wait_count,
		   entry->paging ? " paging" : "", entry->resumed ? " resumed" : "");
	for (uint32_t i = 0; i < entry->wait_count; i++)
		pb_run_log(run, "  waits for queue %08x timeline %llx", entry->waits[i].handle,
			   (unsigned long long)entry->waits[i].value);
}

void pb_act_submit(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	struct pb_entry entry = {.slot = free_slot(host)};

	/* A few marks are kept for submissions that are returned and submitted again. */
	if (!has_room(host, queue) || entry.slot == PB_SLOTS || host->mark_count + 96u > PB_MARKS)
		return;
	entry.paging = host->paging && pb_random_one_in(&run->random, 10);
	entry.kind = random_kind(run, entry.paging);
	entry.context = pb_random_below(&run->random, PB_CONTEXTS);
	entry.busy = pb_submission_runs(&entry) ? random_runtime(run) : 0;
	entry.fence_id = queue->next_fence++;
	add_waits(run, host, &entry);
	queue->timeline += 1u + pb_random_below(&run->random, 3);
	entry.timeline = queue->timeline;
	entry.mark = pb_submission_new_mark(run, host);
	pb_submission_build(run, host, &entry);
	submit(run, host, queue, &entry);
}

void pb_act_signal(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue, uint64_t value)
{
	struct pb_entry entry = {.slot = free_slot(host), .kind = PB_KIND_EMPTY};

	/* An outstanding submission may reach the value. */
	if (!has_room(host, queue) || entry.slot == PB_SLOTS ||
	    (value <= queue->timeline && pb_outstanding(queue) != 0))
		return;
	queue->timeline = value > queue->timeline ? value : queue->timeline + 1u;
	entry.timeline = queue->timeline;
	entry.fence_id = queue->next_fence++;
	entry.mark = pb_submission_new_mark(run, host);
	pb_submission_build(run, host, &entry);
	submit(run, host, queue, &entry);
}

/** Resumes from the saved state: words that it has stored are not stored again. */
static void prepare_resume(struct pb_host *host, struct pb_entry *entry)
{
	struct pb_mark *mark = &host->marks[entry->mark];
	struct pb_slot *slot = &host->slots[entry->slot];

	for (uint32_t i = 0; i < 3u; i++) {
		if (pb_submission_word(host, entry->mark, i) == PB_UNMARKED)
			continue;
		pb_submission_unmark(host, entry->mark, i);
		mark->value[i] = 0;
	}
	mark->settled = false;
	entry->resumed = true;
	for (uint32_t i = 0; i < slot->words; i++)
		slot->raw[i] = slot->image[i];
	for (uint32_t i = 0; i < slot->patches; i++) {
		if (slot->patch[i].driver_id != PB_PATCH_FORMAT_FENCE_ID)
			continue;
		slot->image[slot->patch[i].patch_offset % 256u / 4u] = entry->fence_id;
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
	if (queue->may_resume && pb_submission_runs(&entry) && entry.fence_id != 0 &&
	    pb_random_one_in(&run->random, 2)) {
		prepare_resume(host, &entry);
	} else {
		if (pb_random_one_in(&run->random, 2))
			entry.mark = pb_submission_new_mark(run, host);
		pb_submission_build(run, host, &entry);
	}
	submit(run, host, queue, &entry);
}
