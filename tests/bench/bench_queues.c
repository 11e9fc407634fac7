/* SPDX-License-Identifier: MIT */
/* More queues than the library's allocator holds: their pages are parts of one allocation. */
#include <stddef.h>

#include "hal/shared.h"
#include "tests/bench/bench.h"

uint32_t pb_bench_queue_bytes(uint32_t entries)
{
	return (uint32_t)(sizeof(struct pb_queue_page) + entries * sizeof(struct pb_descriptor));
}

static void create_one(struct pb_queue *queue, const struct pb_bench_queues *request, uint32_t i)
{
	const uint32_t bytes = pb_bench_queue_bytes(request->entries);
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {i % request->nodes, request->entries,
							  (uint32_t)request->pages->os_address + i * bytes, 0,
							  request->priority};
	uint32_t results[PB_REPLY_RESULTS];

	*queue = (struct pb_queue){
		.channel = request->channel, .memory = *request->pages, .entries = request->entries};
	queue->memory.bytes_host += i * bytes;
	for (uint32_t w = 0; w < bytes / 4u; w++)
		pb_shared_write32((uint32_t *)(void *)queue->memory.bytes_host + w, 0);
	pb_bench_require(pb_channel_command(request->channel, PB_COMMAND_QUEUE_CREATE, arguments, results) ==
				 PB_ERROR_OK,
			 "create one of many queues");
	queue->handle = results[0];
}

void pb_bench_queues_create(struct pb_queue *queues, uint32_t count, const struct pb_bench_queues *request)
{
	for (uint32_t i = 0; i < count; i++)
		create_one(&queues[i], request, i);
}

void pb_bench_queues_destroy(struct pb_queue *queues, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {queues[i].handle};

		pb_bench_require(pb_channel_command(queues[i].channel, PB_COMMAND_QUEUE_DESTROY, arguments,
						    NULL) == PB_ERROR_OK,
				 "destroy one of many queues");
	}
}
