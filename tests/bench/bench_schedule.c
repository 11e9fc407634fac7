/* SPDX-License-Identifier: MIT */
/*
 * The cost of scheduling: a submission to one of 2,280 queues, a preemption in the middle of a long patch
 * list while all queues have submissions, and a switch of queues at the end of a timeslice.
 */
#include "tests/bench/bench.h"

#define QUEUES  2279u /* with the bench's own all that a channel can have of 4,096 */
#define ENTRIES 4u
#define REPEATS 2048u
#define ROUNDS  100u
/** Patch locations of the submission that is preempted. */
#define PATCHES 40000u
/** Passes after which everything has been admitted that can be. */
#define SETTLED 40u
/** Passes after which half of that submission is patched. */
#define UNDER_WAY 16u

static struct pb_memory pages;
static struct pb_queue queues[QUEUES];

static struct pb_descriptor nothing(void)
{
	return (struct pb_descriptor){.context = pb_bench.context, .fence_id = pb_bench.fence_id++};
}

static void create(uint32_t priority)
{
	const struct pb_bench_queues request = {.channel = &pb_bench.channel,
						.pages = &pages,
						.entries = ENTRIES,
						.nodes = 1,
						.priority = priority};

	pb_bench_queues_create(queues, QUEUES, &request);
}

static void destroy(void)
{
	pb_bench_queues_destroy(queues, QUEUES);
}

/** A queue in rotation. The odd step spreads them. */
static struct pb_queue *some_queue(uint32_t i)
{
	return i % 8u == 0 ? &pb_bench.queue : &queues[i * 1237u % QUEUES];
}

static void measure_submit(const char *key, bool many)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < REPEATS; i++) {
		const struct pb_descriptor descriptor = pb_bench_descriptor();
		struct pb_queue *queue = many ? some_queue(i) : &pb_bench.queue;
		uint32_t submit, retire;

		pb_bench_submit_to(queue, &descriptor, &submit, &retire);
		sum += submit;
	}
	pb_bench_print_milli(key, (uint32_t)(sum / REPEATS));
}

static struct pb_descriptor long_patch(void)
{
	struct pb_allocation *allocation = (void *)pb_bench.lists.bytes_host;
	struct pb_patch_location *patches = (void *)(allocation + 1);
	struct pb_descriptor descriptor = pb_bench_descriptor();

	*allocation = (struct pb_allocation){.address_low = PB_BENCH_LOCAL_OS,
					     .size_low = 0x1000u,
					     .flags = 1u << PB_ALLOCATION_SEGMENT_SHIFT};
	for (uint32_t i = 0; i < PATCHES; i++)
		patches[i] =
			(struct pb_patch_location){.driver_id = PB_PATCH_FORMAT_ADDRESS64,
						   .patch_offset = i * 4u % (PB_BENCH_BUFFER_BYTES - 8u)};
	descriptor.allocation_count = 1;
	descriptor.allocation_address_low = (uint32_t)pb_bench.lists.os_address;
	descriptor.patch_address_low = descriptor.allocation_address_low + (uint32_t)sizeof(*allocation);
	descriptor.patch_count = PATCHES;
	descriptor.patch_length = PATCHES;
	return descriptor;
}

/**
 * A submission runs, one behind it is being patched, and its queue is preempted. @return instructions times
 * 1000
 */
static uint32_t preempt_once(const struct pb_descriptor *patched)
{
	struct pb_queue *queue = &pb_bench.queue;
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {queue->handle};
	const struct pb_descriptor empty = nothing();
	uint32_t tag, delay;

	pb_bench_submit_uncounted(&empty, false);
	pb_bench_pass(SETTLED);
	pb_bench_answer(); /* a submission of lower priority was stopped for it */
	pb_bench_pass(SETTLED);
	pb_bench_submit_uncounted(patched, false);
	pb_bench_pass(UNDER_WAY);
	arguments[1] = queue->put;
	pb_bench_mute(true);
	pb_bench_require(pb_channel_begin(&pb_bench.channel, PB_COMMAND_PREEMPT, arguments, &tag) ==
				 PB_ERROR_OK,
			 "ask for a preemption");
	pb_bench_mute(false);
	delay = pb_bench_stop_delay();
	pb_bench_answer();
	pb_bench_pass(SETTLED);
	pb_bench_require(pb_channel_finish(&pb_bench.channel, tag, NULL) == PB_ERROR_OK, "the preemption");
	queue->completed = queue->put;
	pb_bench_serve(); /* lets a lower priority finish that is not stopped */
	pb_bench_pass(SETTLED);
	return delay;
}

/** Every other queue has a submission of lower priority, so that these come last. */
static void submit_to_all_queues(void)
{
	const struct pb_descriptor descriptor = nothing();

	for (uint32_t i = 0; i < QUEUES; i++) {
		pb_bench_require(pb_queue_submit(&queues[i], &descriptor) == PB_ERROR_OK, "submit to all");
		if (i % 64u == 0)
			pb_bench_pass(512);
	}
	pb_bench_pass(16384);
}

static void measure_preempt(void)
{
	const struct pb_descriptor patched = long_patch();
	uint32_t longest = 0, stops = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		const uint32_t delay = preempt_once(&patched);

		/* None when a protected submission of lower priority runs: then nothing of the queue runs. */
		stops += delay != 0;
		longest = delay > longest ? delay : longest;
	}
	pb_bench_require(stops > ROUNDS / 2u, "few preemptions stopped the engine");
	pb_bench_print_milli("preempt_instr_max", longest);
}

/** The timeslice of a queue is over, its submission runs, and another queue waits. */
static void measure_switch(void)
{
	const struct pb_descriptor descriptor = nothing();
	uint64_t sum = 0;

	for (uint32_t i = 0; i < REPEATS; i++) {
		pb_bench_require(pb_queue_submit(&pb_bench.queue, &descriptor) == PB_ERROR_OK, "submit");
		pb_bench_pass(8);
		for (uint32_t q = 0; q < 3u; q++)
			pb_bench_require(pb_queue_submit(&queues[q], &descriptor) == PB_ERROR_OK, "submit");
		pb_bench_pass(8);
		sum += pb_bench_switch();
		pb_bench_answer();
		pb_bench_finish(&pb_bench.queue);
		for (uint32_t q = 0; q < 3u; q++)
			pb_bench_finish(&queues[q]);
	}
	pb_bench_print_milli("switch_instr", (uint32_t)(sum / REPEATS));
}

void pb_bench_schedule(void)
{
	pb_bench_require(pb_memory_allocate(&pb_bench.system_segment, QUEUES * pb_bench_queue_bytes(ENTRIES),
					    64, &pages) == PB_ERROR_OK,
			 "pages of many queues");
	measure_submit("submit_instr_q1", false);
	create(PB_PRIORITY_NORMAL);
	measure_submit("submit_instr_q4096", true);
	measure_switch();
	destroy();
	create(PB_PRIORITY_LOW);
	submit_to_all_queues();
	measure_preempt();
	for (uint32_t i = 0; i < QUEUES; i++)
		pb_bench_finish(&queues[i]);
	destroy();
}
