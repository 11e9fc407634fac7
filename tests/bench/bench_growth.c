/* SPDX-License-Identifier: MIT */
/*
 * How cost grows: for each curve, lines "CURVE UNITS INSTRUCTIONS". A curve is what a number of units costs together, from
 * the first doorbell until the firmware would sleep and all fences are written; or, named beside_..., what one submission
 * costs beside a number of units that it has nothing to do with. scripts/growth.py fits and draws them.
 */
#include <stddef.h>

#include "hal/lines.h"
#include "hal/shared.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_board.h"

#define NODES           4u
#define CLIENTS         8u
#define MANY_QUEUES     2048u
#define ENTRIES         4u
#define MOST_PATCHES    16384u
#define MOST_ALLOCATION 1024u
#define PAGES_BYTES     0x30000u /* of a client beside the bench's own */
#define PASSES_AT_MOST  100000u

int main(void);

static struct pb_queue queues[MANY_QUEUES];
static struct pb_memory pages;
static uint32_t raised; /**< lines that the next pass claims */

static void print(const char *curve, uint32_t units, uint64_t milli)
{
	pb_bench_print_text(curve);
	pb_bench_print_text(" ");
	pb_bench_print_number(units);
	pb_bench_print_text(" ");
	pb_bench_print_number((uint32_t)(milli / 1000u));
	pb_bench_print_text("\n");
}

static uint32_t claim(void *context)
{
	const uint32_t lines = raised;

	(void)context;
	raised = 0;
	return lines;
}

/** Runs firmware and engines until both are idle. @return instructions of the firmware times 1000 */
static uint64_t run(void)
{
	uint64_t sum = 0;
	bool more = true;

	for (uint32_t i = 0; (more || raised != 0) && i < PASSES_AT_MOST; i++) {
		sum += pb_bench_counted_pass(&more);
		pb_bench_read_outgoing();
		if (!more)
			raised |= pb_bench_complete(false);
	}
	return sum;
}

/* ---- submissions: as the library's, but without a wait for the firmware ---- */

static void submit(struct pb_queue *queue, const struct pb_descriptor *descriptor)
{
	struct pb_channel *channel = queue->channel;
	struct pb_queue_page *page = (void *)queue->memory.bytes_host;
	struct pb_descriptor *ring = (void *)(page + 1);
	uint32_t *kicks = (void *)(channel->link->memory + channel->kick_offset);

	ring[queue->put % queue->entries] = *descriptor;
	ring[queue->put % queue->entries].timeline_low = (uint32_t)++queue->timeline;
	pb_shared_write32(&page->put, ++queue->put);
	if (channel->kick_put - pb_shared_read32(&channel->entry->kick_get) < channel->kick_entries) {
		pb_shared_write32(&kicks[channel->kick_put % channel->kick_entries], queue->handle);
		pb_shared_write32(&channel->entry->kick_put, ++channel->kick_put);
	} else {
		pb_shared_write32(&channel->entry->rescan, ++channel->rescan);
	}
	raised |= 1u << PB_LINE_CHANNEL(channel->link->channel);
}

static void require_complete(const struct pb_queue *queue)
{
	const struct pb_queue_page *page = (const void *)queue->memory.bytes_host;

	pb_bench_require(pb_shared_read32(&page->fence.completed) == queue->put &&
				 pb_shared_read32(&page->fence.errors) == 0,
			 "a submission did not complete");
}

/* ---- lists ---- */

static uint64_t patch(uint32_t allocation_count, uint32_t patch_count)
{
	struct pb_allocation *allocations = (void *)pb_bench.lists.bytes_host;
	struct pb_patch_location *patches = (void *)(allocations + allocation_count);
	struct pb_descriptor descriptor = pb_bench_descriptor();
	uint64_t cost;

	for (uint32_t i = 0; i < allocation_count; i++)
		allocations[i] = (struct pb_allocation){.address_low = PB_BENCH_LOCAL_OS + i * 0x1000u,
							.size_low = 0x1000u,
							.flags = 1u << PB_ALLOCATION_SEGMENT_SHIFT};
	for (uint32_t i = 0; i < patch_count; i++)
		patches[i] = (struct pb_patch_location){.allocation_index = i % allocation_count,
							.driver_id = PB_PATCH_FORMAT_ADDRESS64,
							.patch_offset = i * 8u};
	descriptor.allocation_count = allocation_count;
	descriptor.allocation_address_low = (uint32_t)pb_bench.lists.os_address;
	descriptor.patch_address_low =
		descriptor.allocation_address_low + allocation_count * (uint32_t)sizeof(*allocations);
	descriptor.patch_count = patch_count;
	descriptor.patch_length = patch_count;
	submit(&pb_bench.queue, &descriptor);
	cost = run();
	require_complete(&pb_bench.queue);
	return cost;
}

static void grow_lists(void)
{
	/* Slots that a longer list has left are cleared once. */
	for (uint32_t count = 64; count <= MOST_PATCHES; count *= 2u)
		print("patches", count, patch(1, count));
	for (uint32_t count = 16; count <= MOST_ALLOCATION; count *= 2u)
		print("allocations", count, patch(count, 1));
}

/* ---- queues, nodes, submissions in flight ---- */

static void create(uint32_t count, uint32_t nodes)
{
	const struct pb_bench_queues request = {.channel = &pb_bench.channel,
						.pages = &pages,
						.entries = ENTRIES,
						.nodes = nodes,
						.priority = PB_PRIORITY_NORMAL};

	pb_bench_claim_bare(NULL, NULL);
	pb_bench_queues_create(queues, count, &request);
	pb_bench_claim_bare(claim, &raised);
}

static void destroy(uint32_t count)
{
	pb_bench_claim_bare(NULL, NULL);
	pb_bench_queues_destroy(queues, count);
	pb_bench_claim_bare(claim, &raised);
}

/** So many submissions to each of the first queues. */
static uint64_t submit_to(uint32_t count, uint32_t each)
{
	const struct pb_descriptor descriptor = pb_bench_descriptor();
	uint64_t cost;

	for (uint32_t i = 0; i < each; i++)
		for (uint32_t q = 0; q < count; q++)
			submit(&queues[q], &descriptor);
	cost = run();
	for (uint32_t q = 0; q < count; q++)
		require_complete(&queues[q]);
	return cost;
}

static void rescan_beside(uint32_t count)
{
	struct pb_channel *channel = &pb_bench.channel;

	pb_shared_write32(&channel->entry->rescan, ++channel->rescan);
	raised |= 1u << PB_LINE_CHANNEL(channel->link->channel);
	print("rescan", count, run());
}

static void grow_queues(void)
{
	for (uint32_t count = 16; count <= MANY_QUEUES; count *= 2u) {
		create(count, 1);
		print("queues", count, submit_to(count, 1));
		print("beside_queues", count, submit_to(1, 1));
		rescan_beside(count);
		destroy(count);
	}
	for (uint32_t nodes = 1; nodes <= NODES; nodes++) {
		create(NODES, nodes);
		print("nodes", nodes, submit_to(nodes, 1));
		destroy(NODES);
	}
}

static void set_depth(struct pb_channel *admin, uint32_t depth)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0, PB_NODE_SCHEDULED, depth};

	pb_bench_claim_bare(NULL, NULL);
	pb_bench_require(pb_channel_command(admin, PB_COMMAND_NODE_SET, arguments, NULL) == PB_ERROR_OK,
			 "depth of a node");
	pb_bench_claim_bare(claim, &raised);
}

/** The same submissions of the same queues, of which more and more are in flight at once, up to what a node allows. */
static void grow_in_flight(void)
{
	const uint32_t most = pb_bench.channel.card.capabilities[PB_CAPABILITY_IN_FLIGHT];
	struct pb_link link;
	struct pb_channel admin;

	pb_bench_claim_bare(NULL, NULL);
	pb_bench_link(&link, PB_CHANNEL_ADMIN);
	pb_bench_require(pb_channel_attach(&admin, &link, 1) == PB_ERROR_OK, "admin");
	create(most, 1);
	for (uint32_t depth = 1; depth <= most; depth++) {
		set_depth(&admin, depth);
		print("in_flight", depth, submit_to(most, ENTRIES));
	}
	destroy(most);
	pb_bench_claim_bare(NULL, NULL);
	pb_bench_require(pb_channel_detach(&admin) == PB_ERROR_OK, "admin's end");
	pb_bench_claim_bare(claim, &raised);
}

/* ---- channels ---- */

struct client {
	struct pb_link link;
	struct pb_channel channel;
	struct pb_segment segment;
	struct pb_memory pages;
	struct pb_queue queue;
};

static struct client clients[CLIENTS];

static void join(struct client *client, uint32_t channel)
{
	const struct pb_segment_request system = {.os_base = 0x10000000u,
						  .gpu_base = 0x10000000u,
						  .size = PAGES_BYTES,
						  .backing_bytes = PAGES_BYTES};
	const struct pb_bench_queues request = {.channel = &client->channel,
						.pages = &client->pages,
						.entries = ENTRIES,
						.nodes = 1,
						.priority = PB_PRIORITY_NORMAL};

	pb_bench_link(&client->link, channel);
	pb_bench_require(pb_channel_attach(&client->channel, &client->link, 1) == PB_ERROR_OK &&
				 pb_segment_create(&client->segment, &client->channel, &system) ==
					 PB_ERROR_OK &&
				 pb_memory_allocate(&client->segment, pb_bench_queue_bytes(ENTRIES),
						    PB_PAGE_BYTES, &client->pages) == PB_ERROR_OK,
			 "a client");
	pb_bench_queues_create(&client->queue, 1, &request);
}

/** One submission of each of the first clients. */
static void submit_of(uint32_t count)
{
	uint32_t context[CLIENTS];
	uint64_t cost;

	for (uint32_t c = 0; c < count; c++) {
		struct pb_descriptor descriptor = {0};

		pb_bench_claim_bare(NULL, NULL);
		pb_bench_require(pb_context_create(&clients[c].channel, &context[c]) == PB_ERROR_OK,
				 "context");
		pb_bench_claim_bare(claim, &raised);
		descriptor.context = context[c];
		submit(&clients[c].queue, &descriptor);
	}
	cost = run();
	for (uint32_t c = 0; c < count; c++)
		require_complete(&clients[c].queue);
	print("channels", count, cost);
}

static void grow_channels(void)
{
	pb_bench_claim_bare(NULL, NULL);
	for (uint32_t c = 1; c < CLIENTS; c++)
		join(&clients[c - 1u], c + 1u);
	pb_bench_claim_bare(claim, &raised);
	/* A channel that is alone is neither listed nor charged: growth begins where two share the node. */
	for (uint32_t count = 2; count < CLIENTS; count++)
		submit_of(count);
}

int main(void)
{
	pb_bench_boot(false);
	pb_bench_require(pb_memory_allocate(&pb_bench.system_segment,
					    MANY_QUEUES * pb_bench_queue_bytes(ENTRIES), PB_PAGE_BYTES,
					    &pages) == PB_ERROR_OK,
			 "pages of many queues");
	pb_bench_claim_bare(claim, &raised);
	grow_lists();
	grow_queues();
	grow_in_flight();
	grow_channels();
	pb_bench_exit(0);
}
