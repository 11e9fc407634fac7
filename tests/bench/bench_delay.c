/* SPDX-License-Identifier: MIT */
/*
 * The longest time between two polls of the firmware's interrupts: an alarm rings again and again, at varying
 * points of long lists, and the time until the main loop claims it is noted.
 */
#include "tests/bench/bench.h"

#define ENTRIES     2000u
#define ALLOCATIONS 1024u
/** Repetitions: a long path that runs once in a list is hit by few of the alarms. */
#define LIST_ROUNDS  40u
#define QUEUE_ROUNDS 8u
#define TURNS        40u

static struct pb_allocation *allocations(void)
{
	return (void *)pb_bench.lists.bytes_host;
}

static struct pb_patch_location *patches(void)
{
	return (void *)(allocations() + ALLOCATIONS);
}

/** @param spread segment ids change from one allocation to the next, and one in three is not bound */
static void write_lists(bool spread, uint32_t format, uint32_t other_format)
{
	for (uint32_t i = 0; i < ALLOCATIONS; i++) {
		const bool unbound = spread && i % 3u == 2u;

		allocations()[i] = (struct pb_allocation){
			.address_low = PB_BENCH_LOCAL_OS + i * 0x1000u,
			.size_low = 0x1000u,
			.flags = unbound ? PB_ALLOCATION_UNBIND
					 : 1u << PB_ALLOCATION_SEGMENT_SHIFT |
						   (spread && i % 2u != 0 ? PB_ALLOCATION_WRITE : 0),
		};
	}
	for (uint32_t i = 0; i < ENTRIES; i++) {
		patches()[i] = (struct pb_patch_location){
			.allocation_index = i % ALLOCATIONS,
			.driver_id = i % 5u < 3u ? format : other_format,
			.allocation_offset = i % 0x400u * 4u,
			.patch_offset = i * 16u % PB_BENCH_BUFFER_BYTES,
		};
	}
}

static struct pb_descriptor describe(uint32_t length)
{
	struct pb_descriptor descriptor = pb_bench_descriptor();

	descriptor.allocation_count = ALLOCATIONS;
	descriptor.allocation_address_low = (uint32_t)pb_bench.lists.os_address;
	descriptor.patch_address_low =
		descriptor.allocation_address_low + ALLOCATIONS * (uint32_t)sizeof(struct pb_allocation);
	descriptor.patch_count = length;
	descriptor.patch_length = length;
	return descriptor;
}

static void patch_long_lists(void)
{
	static const struct {
		bool spread;
		uint32_t format, other_format;
	} rows[] = {
		{false, PB_PATCH_FORMAT_ADDRESS32, PB_PATCH_FORMAT_ADDRESS32},
		{false, PB_PATCH_FORMAT_ADDRESS64, PB_PATCH_FORMAT_ADDRESS64},
		{false, PB_PATCH_FORMAT_ADDRESS64, PB_PATCH_FORMAT_HIGH32},
		{false, PB_PATCH_FORMAT_SPLIT40, PB_PATCH_FORMAT_SPLIT40},
		{true, PB_PATCH_FORMAT_SPLIT40, PB_PATCH_FORMAT_SHIFT8},
		{true, PB_PATCH_FORMAT_NOUVEAU_DMA, PB_PATCH_FORMAT_ID32},
		{true, PB_PATCH_FORMAT_ADDRESS32, PB_PATCH_FORMAT_SUM64_SIGNED},
	};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pb_descriptor descriptor = describe(ENTRIES);

		write_lists(rows[i].spread, rows[i].format, rows[i].other_format);
		pb_bench_submit_uncounted(&descriptor, true);
		/* A short list after a long one: slots to clear, then the comparison with the known list. */
		descriptor = describe(1);
		descriptor.allocation_count = 1;
		pb_bench_submit_uncounted(&descriptor, true);
		for (uint32_t again = 0; again < 2u; again++) {
			descriptor = describe(ENTRIES);
			descriptor.cookie = i + 1u;
			pb_bench_submit_uncounted(&descriptor, true);
		}
	}
}

/** Long lists on both nodes at once: the slices of the nodes do not add up. */
static void patch_on_two_nodes(void)
{
	struct pb_queue first = pb_bench.queue, second;
	struct pb_descriptor descriptor = describe(ENTRIES);
	enum pb_error error = pb_queue_create(&second, &pb_bench.channel, &pb_bench.system_segment, 1, 4);

	pb_bench_require(error == PB_ERROR_OK, "second queue");
	for (uint32_t i = 0; i < TURNS; i++) {
		error = pb_queue_submit(&first, &descriptor);
		pb_bench_require(error == PB_ERROR_OK, "submit to node 0");
		error = pb_queue_submit(&second, &descriptor);
		pb_bench_require(error == PB_ERROR_OK, "submit to node 1");
		error = pb_queue_wait(&first, first.timeline, 1, NULL);
		pb_bench_require(error == PB_ERROR_OK, "wait for node 0");
		error = pb_queue_wait(&second, second.timeline, 1, NULL);
		pb_bench_require(error == PB_ERROR_OK, "wait for node 1");
	}
	pb_bench.queue = first;
	pb_bench_require(pb_queue_destroy(&second) == PB_ERROR_OK, "second queue's end");
}

/** A queue is destroyed while its 256 entries wait, and another one is created. */
static void replace_a_full_queue(void)
{
	struct pb_queue *queue = &pb_bench.queue;
	enum pb_error error;

	for (uint32_t i = 0; i < queue->entries; i++) {
		const struct pb_descriptor descriptor = describe(ENTRIES);

		pb_bench_submit_uncounted(&descriptor, false);
	}
	pb_bench_require(pb_queue_destroy(queue) == PB_ERROR_OK, "queue destroy");
	error = pb_queue_create(queue, &pb_bench.channel, &pb_bench.system_segment, 0, queue->entries);
	pb_bench_require(error == PB_ERROR_OK, "queue create");
}

void pb_bench_delays(void)
{
	pb_bench_watch_alarms();
	for (uint32_t i = 0; i < LIST_ROUNDS; i++)
		patch_long_lists();
	write_lists(true, PB_PATCH_FORMAT_ADDRESS32, PB_PATCH_FORMAT_ADDRESS64);
	patch_on_two_nodes();
	for (uint32_t i = 0; i < QUEUE_ROUNDS; i++)
		replace_a_full_queue();
	pb_bench_require(pb_channel_detach(&pb_bench.channel) == PB_ERROR_OK, "detach");
	pb_bench_require(pb_bench_longest_delay != 0, "no alarm was taken");
	pb_bench_print_milli("slice_instr_max", pb_bench_longest_delay);
}
