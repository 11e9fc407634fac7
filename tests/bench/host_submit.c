/* SPDX-License-Identifier: MIT */
/* Submissions without patches to the card simulated in this process. The doorbell sets a bit. */
#include "hal/engine/packets.h"
#include "patchbay/patchbay.h"
#include "qemu/sim.h"
#include "tests/bench/host_bench.h"

/** Fewer than a kick ring holds: a full ring has a path of its own. */
#define BURST         32u
#define QUEUE_ENTRIES 64u
#define TIMEOUT_US    1000000u
#define SYSTEM_BYTES  0x100000u

struct client {
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_queue queue;
	struct pb_memory buffer;
	uint32_t context;
};

static void open_client(struct client *client, struct pb_link *link)
{
	const struct pb_segment_request system = {.os_base = 0x10000000u,
						  .gpu_base = 0x10000000u,
						  .size = SYSTEM_BYTES,
						  .backing_bytes = SYSTEM_BYTES};
	enum pb_error error = pb_channel_attach(&client->channel, link, TIMEOUT_US);

	pb_host_bench_require(error == PB_ERROR_OK, "attach");
	error = pb_segment_create(&client->system, &client->channel, &system);
	pb_host_bench_require(error == PB_ERROR_OK, "segment 0");
	error = pb_context_create(&client->channel, &client->context);
	pb_host_bench_require(error == PB_ERROR_OK, "context");
	error = pb_queue_create(&client->queue, &client->channel, &client->system, 0, QUEUE_ENTRIES);
	pb_host_bench_require(error == PB_ERROR_OK, "queue");
	error = pb_memory_allocate(&client->system, PB_PAGE_BYTES, PB_PAGE_BYTES, &client->buffer);
	pb_host_bench_require(error == PB_ERROR_OK, "buffer");
	*(uint32_t *)(void *)client->buffer.bytes_host = PB_PACKET(PB_PACKET_NOP, 1);
}

/** @return nanoseconds for all of them */
static uint64_t submit_burst(struct client *client, uint32_t first_fence)
{
	struct pb_descriptor descriptor = {
		.context = client->context,
		.dma_address_low = (uint32_t)client->buffer.os_address,
		.dma_size = PB_PAGE_BYTES,
		.dma_end = sizeof(uint32_t),
	};
	const uint64_t start = pb_host_bench_now_ns();
	uint32_t refused = 0;

	for (uint32_t i = 0; i < BURST; i++) {
		descriptor.fence_id = first_fence + i;
		refused += pb_queue_submit(&client->queue, &descriptor) != PB_ERROR_OK;
	}
	pb_host_bench_require(refused == 0, "submit");
	return pb_host_bench_now_ns() - start;
}

uint32_t pb_host_bench_submit(uint64_t *times, uint32_t repeats)
{
	static struct client client;
	struct pb_sim *sim = pb_sim_create();
	struct pb_link *link = NULL;
	struct pb_fence fence;

	pb_host_bench_require(sim != NULL, "simulation");
	pb_host_bench_require(pb_link_open_sim(sim, 1, &link) == PB_ERROR_OK, "link");
	open_client(&client, link);
	for (uint32_t i = 0; i < repeats; i++) {
		enum pb_error error;

		times[i] = submit_burst(&client, i * BURST);
		error = pb_queue_wait(&client.queue, client.queue.timeline, TIMEOUT_US, &fence);
		pb_host_bench_require(error == PB_ERROR_OK && fence.errors == 0 &&
					      fence.completed == (i + 1u) * BURST,
				      "a submission did not complete");
	}
	link->ops->close(link);
	pb_sim_destroy(sim);
	return BURST;
}
