/* SPDX-License-Identifier: MIT */
/*
 * A preemption: submissions that have not completed come back to the host, which runs something urgent first and then
 * submits them again. Each runs once, and in order.
 */
#include <stdio.h>

#include "example.h"

#define COUNT  12u
#define VALUE  0x9ee00000u
#define BUSY   400u  /* packets of each submission that only take time */
#define EACH   5000u /* microseconds of engine time of each */
#define URGENT 0x09e47u

static struct example example;
static struct pb_queue queue;
static struct example_buffer buffers[COUNT];
static struct pb_memory targets[COUNT];

/* A submission that takes a while, then fills its target. */
static void build(uint32_t index)
{
	targets[index] = example_allocate(&example, PB_PAGE_BYTES);
	example_begin(&buffers[index], &example);
	for (uint32_t i = 0; i < BUSY; i++) {
		example_word(&buffers[index], PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS));
		example_word(&buffers[index], EACH);
	}
	example_fill(&buffers[index], &targets[index], VALUE + index);
}

static void submit(const struct example_buffer *buffer, uint32_t fence_id)
{
	struct pb_descriptor descriptor = example_describe(buffer, &example);

	descriptor.fence_id = fence_id;
	check(pb_queue_submit(&queue, &descriptor));
}

int main(int argc, char **argv)
{
	struct example_buffer urgent;
	struct pb_memory target;
	struct pb_preempt result;

	example_open(&example, argc, argv);
	check(pb_queue_create(&queue, &example.channel, &example.system, 0, 16));
	for (uint32_t i = 0; i < COUNT; i++)
		build(i);
	target = example_allocate(&example, PB_PAGE_BYTES);
	example_begin(&urgent, &example);
	example_fill(&urgent, &target, URGENT);

	for (uint32_t i = 0; i < COUNT; i++)
		submit(&buffers[i], i + 1u);
	/* The first one has completed; how many more do before the engine stops depends on the machine. */
	check(pb_queue_wait(&queue, 1, EXAMPLE_PATIENCE_US, NULL));
	check(pb_queue_preempt(&queue, 1, PB_STOP_INSIDE, &result));
	require(result.completed == COUNT && result.returned < COUNT, "each has completed or came back");
	submit(&urgent, COUNT + 1u);
	example_wait(&queue);
	require(example_read(&target, 0) == URGENT, "the urgent one has run");
	for (uint32_t i = 0; i < COUNT - result.returned; i++)
		require(example_read(&targets[i], 0) == VALUE + i, "what has completed has run");
	/* The first one that came back may have begun; PB_OPTION_RESUME would continue it. */
	for (uint32_t i = COUNT - result.returned + result.started; i < COUNT; i++)
		require(example_read(&targets[i], 0) == 0, "what came back has not run");

	/* What came back is submitted again, as it was. */
	for (uint32_t i = COUNT - result.returned; i < COUNT; i++)
		submit(&buffers[i], i + 1u);
	example_wait(&queue);
	for (uint32_t i = 0; i < COUNT; i++)
		require(example_read(&targets[i], 0) == VALUE + i, "all have run");
	printf("%u of %u came back and ran later\n", result.returned, COUNT);
	example_close(&example);
	return 0;
}
