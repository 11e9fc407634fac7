/* SPDX-License-Identifier: MIT */
/*
 * Whether one submission may have ended as it did. Where timing decides, several ends are right. Elsewhere only
 * one is.
 */
#include <stdio.h>

#include "tests/sim/host_memory.h"
#include "tests/sim/judge.h"
#include "tests/sim/submission.h"

static void name_entry(const struct pb_host *host, const struct pb_queue_view *queue,
		       const struct pb_entry *entry, char *name, size_t bytes)
{
	snprintf(name, bytes, "channel %u queue %08x node %u fence %08x timeline %llx kind %d",
		 host->client.channel, queue->handle, queue->node, entry->fence_id,
		 (unsigned long long)entry->timeline, (int)entry->kind);
}

#define BREAK(format, ...)                                                                                   \
	do {                                                                                                 \
		char name[160];                                                                              \
		name_entry(host, queue, entry, name, sizeof(name));                                          \
		pb_run_break(run, "%s: " format, name, __VA_ARGS__);                                         \
	} while (0)

/** The words of its mark that were stored, as bits: 1 the first, 2 the second, 4 the last. */
static uint32_t stores_of(const struct pb_host *host, const struct pb_entry *entry)
{
	const struct pb_mark *mark = &host->marks[entry->mark];
	uint32_t stored = 0;

	for (uint32_t i = 0; i < 3u; i++) {
		if (mark->value[i] != 0 && pb_submission_word(host, entry->mark, i) != PB_UNMARKED)
			stored |= 1u << i;
	}
	return stored;
}

static uint32_t all_stores(const struct pb_host *host, const struct pb_entry *entry)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < 3u; i++)
		all |= host->marks[entry->mark].value[i] != 0 ? 1u << i : 0;
	return all;
}

/** Each stored word has the value of the oracle. The word behind them is never stored. */
void pb_judge_values(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
		     struct pb_entry *entry)
{
	for (uint32_t i = 0; i < PB_MARK_WORDS; i++) {
		const uint32_t word = pb_submission_word(host, entry->mark, i);

		if (word != PB_UNMARKED && (i == 3u || word != host->marks[entry->mark].value[i]))
			BREAK("word %u of its mark is %08x", i, word);
	}
}

/** The buffer is patched as the oracle has it. With `partly` each word is either unpatched or right. */
static void check_image(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
			struct pb_entry *entry, bool partly)
{
	const struct pb_slot *slot = &host->slots[entry->slot];
	const uint32_t *words = pb_submission_words(host, entry->slot);

	for (uint32_t i = 0; i < slot->words; i++) {
		const uint32_t word = pb_shared_read32(&words[i]);

		if (word != slot->image[i] && !(partly && word == slot->raw[i]))
			BREAK("word %u of its buffer is %08x, not %08x", i, word, slot->image[i]);
	}
}

static bool was_trouble(const struct pb_run *run, const struct pb_queue_view *queue,
			const struct pb_entry *entry)
{
	return run->nodes[queue->node].trouble_step >= entry->step;
}

static void check_success(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
			  struct pb_entry *entry)
{
	if (entry->kind == PB_KIND_BAD || entry->kind == PB_KIND_FAULT || entry->kind == PB_KIND_HANG)
		BREAK("completed without the error %s", "that it must have");
	if (run->nodes[queue->node].dead && entry->step > run->nodes[queue->node].dead_step)
		BREAK("ran on an engine that is %s", "dead");
	if (entry->sure_lost && !entry->paging)
		BREAK("ran although its context is %s", "lost");
	if (!pb_judge_wait_reached(host, entry))
		BREAK("ran before what it waits for %s", "was reached");
	if (entry->kind == PB_KIND_PLAIN && stores_of(host, entry) != all_stores(host, entry))
		BREAK("completed when it had not run to its end: stores %x of %x", stores_of(host, entry),
		      all_stores(host, entry));
	if (entry->kind != PB_KIND_PLAIN && stores_of(host, entry) != 0)
		BREAK("ran, and should not: stores %x", stores_of(host, entry));
	check_image(run, host, queue, entry, entry->kind == PB_KIND_EMPTY);
}

/** Whether an error has its cause in something other than the submission itself. */
static bool is_excused(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
		       struct pb_entry *entry, uint32_t status)
{
	const struct pb_context_view *context = &host->contexts[entry->context];

	if (status == PB_ERROR_CONTEXT_LOST)
		return !entry->paging && (context->maybe_lost || context->maybe_step >= entry->step);
	if (status == PB_ERROR_HALTED)
		return host->halted[queue->node] || host->halted_step[queue->node] >= entry->step;
	if (status == PB_ERROR_ENGINE_FAULT)
		return pb_submission_is_doomed(host, entry);
	if (status == PB_ERROR_DEP_FAILED)
		return pb_judge_dep_failed(run, host, entry);
	if (status == PB_ERROR_DEADLOCK)
		return pb_judge_deadlock(host, queue, entry);
	if (status == PB_ERROR_ENGINE_DEAD)
		return run->nodes[queue->node].may_die;
	if (status == PB_ERROR_ENGINE_HANG)
		return run->nodes[queue->node].deaf_step >= entry->step || queue->reset_step >= entry->step ||
		       pb_host_memory_ends(run, host, queue->node);
	return false;
}

static bool is_own(const struct pb_entry *entry, uint32_t status, uint32_t index)
{
	if (entry->kind == PB_KIND_BAD)
		return status == entry->bad && (index == entry->bad_index || index == PB_INDEX_UNKNOWN);
	if (entry->kind == PB_KIND_FAULT)
		return status == PB_ERROR_ENGINE_FAULT;
	return entry->kind == PB_KIND_HANG && status == PB_ERROR_ENGINE_HANG;
}

static bool loses_context(uint32_t status)
{
	return status != PB_ERROR_CONTEXT_LOST && status != PB_ERROR_HALTED &&
	       status != PB_ERROR_DEP_FAILED && status != PB_ERROR_DEADLOCK &&
	       status != PB_ERROR_ENGINE_DEAD && status != PB_ERROR_BAD_CONTEXT;
}

static void check_failure(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
			  struct pb_entry *entry, uint32_t status, uint32_t index)
{
	if (!is_own(entry, status, index) && !is_excused(run, host, queue, entry, status))
		BREAK("failed with error %u, entry %u, for no reason", status, index);
	/* An engine that was reset or stopped may have run it to its end without a report. */
	if ((stores_of(host, entry) & 4u) != 0 && !was_trouble(run, queue, entry) &&
	    !pb_submission_is_doomed(host, entry))
		BREAK("failed with error %u and ran to its end", status);
	if (entry->kind == PB_KIND_BAD && stores_of(host, entry) != 0)
		BREAK("is bad and ran: stores %x", stores_of(host, entry));
	/* It may have failed before it was patched, also in its second life: what it waits for is gone. */
	check_image(run, host, queue, entry, true);
}

void pb_judge_settle(struct pb_host *host, const struct pb_entry *entry)
{
	struct pb_mark *mark = &host->marks[entry->mark];

	for (uint32_t i = 0; i < 3u; i++)
		mark->seen[i] = pb_submission_word(host, entry->mark, i);
	mark->settled = true;
}

static void note_error(struct pb_run *run, struct pb_queue_view *queue, const struct pb_entry *entry,
		       uint32_t status, uint32_t index)
{
	queue->errors++;
	if (queue->first.error == PB_ERROR_OK)
		queue->first = (struct pb_first_error){status, entry->fence_id, index, entry->timeline};
	if (entry->timeline < queue->worst)
		queue->worst = entry->timeline;
	queue->worst_step = UINT64_MAX; /* until it is cleared */
	run->totals.failed++;
}

/** From here on the contexts of the host may be lost. */
static void note_loss(struct pb_run *run, struct pb_host *host, struct pb_entry *entry, uint32_t status,
		      uint32_t node)
{
	struct pb_context_view *context = &host->contexts[entry->context];

	if (entry->paging && loses_context(status)) {
		host->halted[node] = true;
		host->halted_step[node] = run->step;
	} else if (!entry->paging && loses_context(status)) {
		context->maybe_lost = true;
		/* A clear may have come between the loss and the completion that reports it. */
		context->sure_lost = context->clear_step < entry->step &&
				     !pb_client_asks(&host->client, PB_COMMAND_CONTEXT_CLEAR, entry->context);
		context->sure_step = run->step;
	}
	if (context->maybe_lost)
		context->maybe_step = run->step;
}

static void end_entry(struct pb_host *host, struct pb_queue_view *queue, const struct pb_entry *entry)
{
	pb_judge_settle(host, entry);
	host->slots[entry->slot].used = false;
	queue->reached = entry->timeline;
	queue->last_fence = entry->fence_id;
	queue->valid = true;
}

void pb_judge_completed(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
			struct pb_entry *entry, uint32_t status, uint32_t index)
{
	pb_run_log(run, "channel %u queue %08x fence %08x timeline %llx ends with %u", host->client.channel,
		   queue->handle, entry->fence_id, (unsigned long long)entry->timeline, status);
	pb_judge_values(run, host, queue, entry);
	if (status == PB_ERROR_OK) {
		check_success(run, host, queue, entry);
		run->totals.completed++;
		run->totals.beside += host->revocation != PB_REVOCATION_NONE && pb_submission_runs(entry);
	} else {
		check_failure(run, host, queue, entry, status, index);
		note_error(run, queue, entry, status, index);
		note_loss(run, host, entry, status, queue->node);
	}
	end_entry(host, queue, entry);
}

void pb_judge_returned(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
		       struct pb_entry *entry)
{
	pb_run_log(run, "channel %u queue %08x fence %08x timeline %llx is returned", host->client.channel,
		   queue->handle, entry->fence_id, (unsigned long long)entry->timeline);
	if (queue->hold != PB_HOLD_PREEMPTING && queue->hold != PB_HOLD_RESETTING)
		BREAK("was returned, and %s", "no command asked for it");
	pb_judge_values(run, host, queue, entry);
	pb_judge_settle(host, entry);
	queue->returned++;
	queue->back[queue->back_count++] = *entry;
	run->totals.returned++;
}

void pb_judge_cancelled(struct pb_run *run, struct pb_host *host, struct pb_entry *entry)
{
	pb_judge_settle(host, entry);
	host->slots[entry->slot].used = false;
	run->totals.cancelled++;
}

void pb_judge_completed_unreported(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue,
				   struct pb_entry *entry, const struct pb_fence_record *record)
{
	pb_judge_values(run, host, queue, entry);
	check_image(run, host, queue, entry, true);
	host->contexts[entry->context].maybe_lost = true;
	host->contexts[entry->context].maybe_step = run->step;
	queue->errors = record->errors;
	queue->first = (struct pb_first_error){record->error, record->error_fence_id, record->error_index,
					       entry->timeline};
	if (entry->timeline < queue->worst)
		queue->worst = entry->timeline;
	queue->worst_step = UINT64_MAX;
	end_entry(host, queue, entry);
}
