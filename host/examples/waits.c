/* SPDX-License-Identifier: MIT */
/*
 * A wait between queues: a copy engine copies what a 3D engine fills. The copy is submitted first, and names the timeline
 * value that the other queue will reach. No host takes part in between.
 */
#include <stdio.h>

#include "example.h"

#define VALUE 0x77a175u

int main(int argc, char **argv)
{
	static struct example example;
	static struct pb_queue producer, consumer;
	struct example_buffer fill, copy;
	struct pb_memory source, target;
	struct pb_queue_state state;
	struct pb_descriptor descriptor;

	example_open(&example, argc, argv);
	check(pb_queue_create(&producer, &example.channel, &example.system, 0, 16));
	check(pb_queue_create(&consumer, &example.channel, &example.system, 1, 16));
	source = example_allocate(&example, PB_PAGE_BYTES);
	target = example_allocate(&example, PB_PAGE_BYTES);

	/* The consumer waits for value 1 of the producer's timeline, which has not been submitted yet. */
	example_begin(&copy, &example);
	example_word(&copy, PB_PACKET(PB_PACKET_COPY, PB_PACKET_COPY_WORDS));
	example_address(&copy, &source, PB_PATCH_FORMAT_ADDRESS64, 2);
	example_address(&copy, &target, PB_PATCH_FORMAT_ADDRESS64_WRITE, 2);
	example_word(&copy, PB_PAGE_BYTES);
	pb_wait_on((struct pb_wait *)(void *)copy.waits.bytes_host, &producer, 1);
	copy.wait_count = 1;
	descriptor = example_describe(&copy, &example);
	check(pb_queue_submit(&consumer, &descriptor));
	do {
		check(pb_queue_query(&consumer, &state));
	} while (state.why != PB_WHY_WAITING);
	require(state.waits_for_queue == producer.handle && state.waits_for_value == 1,
		"it waits for value 1");
	require(example_read(&target, 0) == 0, "nothing was copied");

	/* The producer: its first submission is value 1. */
	example_begin(&fill, &example);
	example_fill(&fill, &source, VALUE);
	descriptor = example_describe(&fill, &example);
	check(pb_queue_submit(&producer, &descriptor));
	example_wait(&consumer);
	require(example_read(&target, 0) == VALUE, "what was filled is copied");
	puts("the copy has waited for the fill");
	example_close(&example);
	return 0;
}
