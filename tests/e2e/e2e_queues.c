/* SPDX-License-Identifier: MIT */
#include "tests/e2e/e2e_queues.h"

#include <string.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"

#define NODES 4u
/* Commands posted and not finished. */
#define UNDER_WAY 8u
/* What the other host holds. */
#define OTHER_BYTES (E2E_SYSTEM_BYTES + E2E_VIDEO_BYTES)
/* What one channel can have: of 4096 queues 227, and of 512 contexts 28, are kept for each other one. */
#define ALL_QUEUES   2280u
#define ALL_CONTEXTS 288u
#define OWN_SEGMENTS 32u

static void prepare(struct pb_queue *queue, struct pb_channel *channel, const struct pb_memory *memory,
		    uint32_t index)
{
	const uint32_t offset = index * E2E_SMALL_QUEUE_BYTES;

	assert_true(offset + E2E_SMALL_QUEUE_BYTES <= memory->bytes);
	*queue = (struct pb_queue){
		.channel = channel,
		.memory = {memory->segment, memory->offset + offset, E2E_SMALL_QUEUE_BYTES,
			   memory->os_address + offset, memory->bytes_host + offset},
		.node = index % NODES,
		.entries = E2E_SMALL_RING,
	};
	memset(queue->memory.bytes_host, 0, sizeof(struct pb_queue_page));
}

static void finish(struct pb_queue *queue, uint32_t tag)
{
	const uint64_t start = e2e_now();
	uint32_t results[PB_REPLY_RESULTS];
	enum pb_error error;

	while ((error = pb_channel_finish(queue->channel, tag, results)) == PB_ERROR_TIMEOUT) {
		(void)queue->channel->link->ops->wait(queue->channel->link, 1000);
		assert_true(e2e_now() - start < E2E_PATIENCE_US);
	}
	assert_int_equal(error, PB_ERROR_OK);
	queue->handle = results[0];
}

void e2e_queues_create(struct pb_queue *queues, uint32_t count, struct pb_channel *channel,
		       const struct pb_memory *memory)
{
	uint32_t tags[UNDER_WAY], begun = 0;

	for (uint32_t done = 0; done < count; done++) {
		for (; begun < count && begun - done < UNDER_WAY; begun++) {
			struct pb_queue *queue = &queues[begun];
			uint32_t arguments[PB_COMMAND_ARGUMENTS] = {begun % NODES, E2E_SMALL_RING};

			prepare(queue, channel, memory, begun);
			arguments[2] = (uint32_t)queue->memory.os_address;
			arguments[3] = (uint32_t)(queue->memory.os_address >> 32);
			arguments[4] = begun / NODES % PB_PRIORITIES;
			assert_int_equal(pb_channel_begin(channel, PB_COMMAND_QUEUE_CREATE, arguments,
							  &tags[begun % UNDER_WAY]),
					 PB_ERROR_OK);
		}
		finish(&queues[done], tags[done % UNDER_WAY]);
	}
}

void e2e_channel_is_empty(struct pb_channel *asker, uint32_t number)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {PB_QUERY_CHANNEL, number};
	uint32_t results[PB_REPLY_RESULTS];

	assert_int_equal(pb_channel_command(asker, PB_COMMAND_QUERY, arguments, results), PB_ERROR_OK);
	/* Queues, contexts, segments, submissions. */
	for (uint32_t i = 3; i < 7; i++)
		assert_int_equal(results[i], 0);
}

/* ---- everything is free ---- */

static void allocate_contexts(struct pb_channel *channel)
{
	uint32_t context;

	for (uint32_t i = 0; i < ALL_CONTEXTS; i++)
		assert_int_equal(pb_context_create(channel, &context), PB_ERROR_OK);
	assert_int_equal(pb_context_create(channel, &context), PB_ERROR_NO_SPACE);
}

/* What channels share of the pool in one piece, but for what the other host allocated first; then its own part. */
static void allocate_pool(struct pb_channel *channel, struct pb_segment *system)
{
	const uint32_t own = channel->card.capabilities[PB_CAPABILITY_POOL_BYTES_MIN];
	const uint32_t bytes = channel->card.capabilities[PB_CAPABILITY_POOL_BYTES] - OTHER_BYTES -
			       channel->card.channel_count * own;
	struct pb_segment_request request = {.os_base = E2E_SYSTEM_BASE,
					     .gpu_base = E2E_SYSTEM_BASE,
					     .size = bytes,
					     .backing_bytes = bytes};
	static struct pb_segment more;

	assert_int_equal(pb_segment_create(system, channel, &request), PB_ERROR_OK);
	request = (struct pb_segment_request){.id = E2E_VIDEO,
					      .os_base = E2E_VIDEO_OS,
					      .gpu_base = E2E_VIDEO_GPU,
					      .size = own + PB_PAGE_BYTES,
					      .backing_bytes = own + PB_PAGE_BYTES};
	assert_int_equal(pb_segment_create(&more, channel, &request), PB_ERROR_NO_SPACE);
	request.size = request.backing_bytes = own;
	assert_int_equal(pb_segment_create(&more, channel, &request), PB_ERROR_OK);
	assert_int_equal(pb_segment_destroy(&more), PB_ERROR_OK);
	request.size = PB_PAGE_BYTES;
	request.backing_bytes = 0;
	for (uint32_t id = 1; id < OWN_SEGMENTS; id++) {
		request.id = id;
		request.os_base = request.gpu_base = E2E_VIDEO_OS + id * PB_PAGE_BYTES;
		assert_int_equal(pb_segment_create(&more, channel, &request), PB_ERROR_OK);
	}
}

static void allocate_queues(struct pb_channel *channel, struct pb_segment *system)
{
	static struct pb_queue queues[ALL_QUEUES];
	struct pb_queue one_more;
	struct pb_memory memory;

	assert_int_equal(
		pb_memory_allocate(system, ALL_QUEUES * E2E_SMALL_QUEUE_BYTES, PB_LINE_BYTES, &memory),
		PB_ERROR_OK);
	e2e_queues_create(queues, ALL_QUEUES, channel, &memory);
	assert_int_equal(pb_queue_create(&one_more, channel, system, 0, E2E_SMALL_RING), PB_ERROR_NO_SPACE);
}

void e2e_all_is_free(struct pb_link *link)
{
	static struct pb_segment system;
	struct pb_channel channel;

	assert_int_equal(pb_channel_attach(&channel, link, E2E_PATIENCE_US), PB_ERROR_OK);
	allocate_contexts(&channel);
	allocate_pool(&channel, &system);
	allocate_queues(&channel, &system);
	assert_int_equal(pb_channel_detach(&channel), PB_ERROR_OK);
}
