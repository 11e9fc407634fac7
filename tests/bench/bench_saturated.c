/* SPDX-License-Identifier: MIT */
/*
 * What a submission costs while everything is busy: 4 nodes with 16 queues each, 32 submissions for one doorbell, rings
 * that are refilled before they are empty, and a host interrupt for 32 completions. The firmware runs until it would sleep;
 * then each engine completes one submission, or all that it was fed. The instructions of all passes are divided by the
 * completions. No interrupt handler is counted: lines are raised by a word.
 */
#include <stddef.h>

#include "hal/lines.h"
#include "hal/shared.h"
#include "tests/bench/bench.h"

#define NODES          4u
#define QUEUES         64u
#define ENTRIES        64u
#define BATCH          32u
#define WARM_UP        256u  /**< completions that are not counted: the first lists and timeslices */
#define COMPLETIONS    8192u /* counted */
#define MODERATION_US  1000u
#define PASSES_AT_MOST 64u /**< until the firmware would sleep */

static struct pb_queue queues[QUEUES];
static uint32_t raised; /**< lines that the next pass claims */

static uint32_t claim(void *context)
{
	const uint32_t lines = raised;

	(void)context;
	raised = 0;
	return lines;
}

static void write_batch(struct pb_queue *queue)
{
	struct pb_queue_page *page = (void *)queue->memory.bytes_host;
	struct pb_descriptor *ring = (void *)(page + 1);
	struct pb_descriptor descriptor = pb_bench_descriptor();

	for (uint32_t i = 0; i < BATCH; i++) {
		descriptor.timeline_low = (uint32_t)++queue->timeline;
		ring[queue->put++ % ENTRIES] = descriptor;
	}
	pb_shared_release();
	pb_shared_write32(&page->put, queue->put);
}

static void kick(const struct pb_queue *queue)
{
	struct pb_channel *channel = queue->channel;
	uint32_t *ring = (void *)(channel->link->memory + channel->kick_offset);

	pb_shared_write32(&ring[channel->kick_put % channel->kick_entries], queue->handle);
	pb_shared_release();
	pb_shared_write32(&channel->entry->kick_put, ++channel->kick_put);
}

/** Refills each ring that is half empty. @return completions since the last call */
static uint32_t refill(void)
{
	uint32_t completions = 0;

	for (uint32_t q = 0; q < QUEUES; q++) {
		struct pb_queue *queue = &queues[q];
		const struct pb_queue_page *page = (const void *)queue->memory.bytes_host;
		const uint32_t completed = pb_shared_read32(&page->fence.completed);

		pb_bench_require(pb_shared_read32(&page->fence.errors) == 0, "a submission failed");
		completions += completed - queue->completed;
		queue->completed = completed;
		if (queue->put - completed > ENTRIES - BATCH)
			continue;
		write_batch(queue);
		kick(queue);
		raised |= 1u << PB_LINE_CHANNEL(queue->channel->link->channel);
	}
	return completions;
}

/** Runs the firmware until it would sleep. @return instructions times 1000 */
static uint64_t run(void)
{
	uint64_t sum = 0;
	bool more = true;

	for (uint32_t i = 0; more && i < PASSES_AT_MOST; i++) {
		sum += pb_bench_counted_pass(&more);
		pb_bench_read_outgoing();
	}
	return sum;
}

/** @param all engines complete all that they were fed; else one submission at a time */
static void saturate(const char *key, uint32_t warm_up, uint32_t most, bool all)
{
	uint32_t completions = 0;
	uint64_t sum = 0;

	while (completions < warm_up) {
		completions += refill();
		raised |= pb_bench_complete(all);
		(void)run();
	}
	for (completions = 0; completions < most;) {
		completions += refill();
		raised |= pb_bench_complete(all);
		sum += run();
	}
	pb_bench_print_milli(key, (uint32_t)(sum / completions));
}

static void create_queues(void)
{
	static struct pb_memory pages;
	const struct pb_bench_queues request = {.channel = &pb_bench.channel,
						.pages = &pages,
						.entries = ENTRIES,
						.nodes = NODES,
						.priority = PB_PRIORITY_NORMAL};
	const uint32_t moderate[PB_COMMAND_ARGUMENTS] = {BATCH, MODERATION_US};

	pb_bench_require(pb_memory_allocate(&pb_bench.system_segment, QUEUES * pb_bench_queue_bytes(ENTRIES),
					    PB_PAGE_BYTES, &pages) == PB_ERROR_OK,
			 "pages of the saturated queues");
	pb_bench_queues_create(queues, QUEUES, &request);
	pb_bench_require(pb_channel_command(&pb_bench.channel, PB_COMMAND_MODERATE, moderate, NULL) ==
				 PB_ERROR_OK,
			 "moderation");
}

void pb_bench_saturated(const char *key_of_one, const char *key_of_all)
{
	pb_bench_boot(false);
	create_queues();
	pb_bench_claim_bare(claim, &raised);
	if (key_of_one != NULL)
		saturate(key_of_one, WARM_UP, COMPLETIONS, false);
	saturate(key_of_all, WARM_UP, COMPLETIONS, true);
	pb_bench_claim_bare(NULL, NULL);
}
