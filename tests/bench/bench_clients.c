/* SPDX-License-Identifier: MIT */
/*
 * What one pass costs at most: eight clients keep the firmware busy as far as their words reach. Each of them
 * kicks all its queues, asks for a rescan and keeps its command ring full; it has long lists on every node, and
 * other queues whose submissions complete at once, fail, or wait. Engines fault now and then, and ticks come. Every
 * line is pending again as soon as it has been claimed; or none but an alarm, and the time until the next claim is noted.
 */
#include <stddef.h>

#include "boards/board.h"
#include "hal/engine/registers.h"
#include "hal/shared.h"
#include "qemu/mcu/layout.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_board.h"

#define CLIENTS      8u
#define NODES        4u
#define QUEUES       32u /* of a client; the first of each node has long lists */
#define ENTRIES      16u
#define QUEUE_BYTES  (sizeof(struct pb_queue_page) + ENTRIES * sizeof(struct pb_descriptor))
#define WAITS_OFFSET ((QUEUES + 1u) * (uint32_t)QUEUE_BYTES)
#define PAGES_BYTES  (WAITS_OFFSET + QUEUES * 64u)
#define SYSTEM_BYTES 0x60000u
#define SYSTEM_OS    0x10000000u
#define PATCHES      2000u
#define ALLOCATIONS  64u
#define BUFFER_BYTES 0x10000u
#define PASSES       4000u

struct client {
	struct pb_link link;
	struct pb_channel channel;
	struct pb_segment segment;
	struct pb_memory pages, lists, buffer;
	uint32_t context;
	uint32_t handles[QUEUES + 1u]; /* the last one comes and goes */
	uint32_t puts[QUEUES];
	uint32_t reply_get;
};

static struct client clients[CLIENTS];
static uint32_t seed;

/** Commands of one storm: those that a client sends, one of them chosen at a time. */
struct storm {
	const uint32_t *codes;
	uint32_t count;
};

static const struct storm *storm;

static uint32_t some(uint32_t limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % limit;
}

static struct pb_queue_page *page_of(const struct client *client, uint32_t q)
{
	return (void *)(client->pages.bytes_host + q * QUEUE_BYTES);
}

static void create_queue(struct client *client, uint32_t q)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		q % NODES, ENTRIES, (uint32_t)client->pages.os_address + q * (uint32_t)QUEUE_BYTES, 0,
		PB_PRIORITY_NORMAL};
	uint32_t results[PB_REPLY_RESULTS];

	pb_bench_require(pb_channel_command(&client->channel, PB_COMMAND_QUEUE_CREATE, arguments, results) ==
				 PB_ERROR_OK,
			 "a hostile queue");
	client->handles[q] = results[0];
}

static void write_lists(struct client *client)
{
	static const uint32_t formats[] = {PB_PATCH_FORMAT_SPLIT40, PB_PATCH_FORMAT_SHIFT8,
					   PB_PATCH_FORMAT_ADDRESS32, PB_PATCH_FORMAT_ADDRESS64};
	struct pb_allocation *allocations = (void *)client->lists.bytes_host;
	struct pb_patch_location *patches = (void *)(allocations + ALLOCATIONS);

	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		allocations[i] = (struct pb_allocation){
			.address_low = SYSTEM_OS + i * 0x1000u, .size_low = 0x1000u, .flags = i % 2u};
	for (uint32_t i = 0; i < PATCHES; i++)
		patches[i] = (struct pb_patch_location){.allocation_index = i % ALLOCATIONS,
							.driver_id = formats[i % 4u],
							.patch_offset = i * 16u % BUFFER_BYTES};
}

static void join(uint32_t c)
{
	const struct pb_segment_request system = {.os_base = SYSTEM_OS,
						  .gpu_base = SYSTEM_OS,
						  .size = SYSTEM_BYTES,
						  .backing_bytes = SYSTEM_BYTES};
	struct client *client = &clients[c];

	pb_bench_link(&client->link, c + 1u);
	pb_bench_require(pb_channel_attach(&client->channel, &client->link, 1) == PB_ERROR_OK, "attach");
	pb_bench_require(pb_segment_create(&client->segment, &client->channel, &system) == PB_ERROR_OK,
			 "a hostile segment");
	pb_bench_require(pb_context_create(&client->channel, &client->context) == PB_ERROR_OK,
			 "a hostile context");
	pb_bench_require(
		pb_memory_allocate(&client->segment, PAGES_BYTES, 64, &client->pages) == PB_ERROR_OK &&
			pb_memory_allocate(&client->segment, 0x10000u, PB_PAGE_BYTES, &client->lists) ==
				PB_ERROR_OK &&
			pb_memory_allocate(&client->segment, BUFFER_BYTES, PB_PAGE_BYTES, &client->buffer) ==
				PB_ERROR_OK,
		"hostile memory");
	for (uint32_t i = 0; i < PAGES_BYTES / 4u; i++)
		pb_shared_write32((uint32_t *)(void *)client->pages.bytes_host + i, 0);
	for (uint32_t q = 0; q < QUEUES; q++)
		create_queue(client, q);
	write_lists(client);
	client->reply_get = client->channel.reply_get;
	for (uint32_t q = 0; q < QUEUES; q++)
		client->puts[q] = 0;
}

static void submit(struct client *client, uint32_t q)
{
	struct pb_queue_page *page = page_of(client, q);
	struct pb_descriptor *ring = (void *)(page + 1);
	struct pb_descriptor descriptor = {.context = client->context};
	struct pb_wait *wait = (void *)(client->pages.bytes_host + WAITS_OFFSET + q * 64u);
	const uint32_t other = some(QUEUES);

	if (client->puts[q] - pb_shared_read32(&page->fence.completed) >= ENTRIES)
		return;
	descriptor.timeline_low = ++client->puts[q];
	if (some(8) == 0)
		descriptor.context = 0;
	if (some(4) == 0) {
		/* Of a queue that may have reached the value, or not yet. */
		*wait = (struct pb_wait){.queue = client->handles[other],
					 .timeline_low = client->puts[other] + some(2)};
		descriptor.wait_address_low = (uint32_t)client->pages.os_address + WAITS_OFFSET + q * 64u;
		descriptor.wait_count = 1;
	}
	if (q < NODES) {
		descriptor.dma_address_low = (uint32_t)client->buffer.os_address;
		descriptor.dma_size = BUFFER_BYTES;
		descriptor.dma_end = BUFFER_BYTES;
		descriptor.allocation_count = ALLOCATIONS;
		descriptor.allocation_address_low = (uint32_t)client->lists.os_address;
		descriptor.patch_address_low = descriptor.allocation_address_low +
					       ALLOCATIONS * (uint32_t)sizeof(struct pb_allocation);
		descriptor.patch_count = PATCHES;
		descriptor.patch_length = PATCHES;
	}
	ring[(client->puts[q] - 1u) % ENTRIES] = descriptor;
	pb_shared_write32(&page->put, client->puts[q]);
}

/** A kick ring that is always full, of queues and now and then of none. */
static void kick(const struct client *client)
{
	const struct pb_channel *channel = &client->channel;
	uint32_t *ring = (void *)(client->link.memory + channel->kick_offset);
	const uint32_t get = pb_shared_read32(&channel->entry->kick_get);

	for (uint32_t i = 0; i < 4u; i++)
		pb_shared_write32(&ring[(get + i) % channel->kick_entries],
				  some(16) == 0 ? 0 : client->handles[some(QUEUES)]);
	pb_shared_write32(&channel->entry->kick_put, get + channel->kick_entries);
	pb_shared_write32(&channel->entry->rescan, pb_shared_read32(&channel->entry->rescan) + some(2));
	pb_shared_write32(&channel->entry->event_get, pb_shared_read32(&channel->entry->event_put));
}

static void read_replies(struct client *client)
{
	const struct pb_channel *channel = &client->channel;
	const struct pb_reply *ring = (const void *)(client->link.memory + channel->reply_offset);
	const uint32_t put = pb_shared_read32(&channel->entry->reply_put);

	for (; client->reply_get != put; client->reply_get++) {
		const struct pb_reply *reply = &ring[client->reply_get % channel->control_entries];

		if (reply->code == PB_COMMAND_QUEUE_CREATE && reply->error == PB_ERROR_OK)
			client->handles[QUEUES] = reply->results[0];
	}
	pb_shared_write32(&channel->entry->reply_get, put);
}

static void write_command(const struct client *client, struct pb_command *command)
{
	const uint32_t q = some(QUEUES);

	*command = (struct pb_command){.code = storm->codes[some(storm->count)],
				       .arguments = {client->handles[q], client->puts[q]}};
	switch (command->code) {
	case PB_COMMAND_QUEUE_CREATE:
		command->arguments[0] = some(NODES);
		command->arguments[1] = ENTRIES;
		command->arguments[2] = (uint32_t)client->pages.os_address + QUEUES * (uint32_t)QUEUE_BYTES;
		command->arguments[4] = PB_PRIORITY_NORMAL;
		break;
	case PB_COMMAND_QUEUE_DESTROY:
		command->arguments[0] = client->handles[QUEUES];
		break;
	case PB_COMMAND_QUERY:
		command->arguments[1] = command->arguments[0];
		command->arguments[0] = some(2) == 0 ? PB_QUERY_QUEUE : PB_QUERY_CHANNEL;
		if (command->arguments[0] == PB_QUERY_CHANNEL)
			command->arguments[1] = client->link.channel;
		break;
	case PB_COMMAND_RESET:
		command->arguments[1] = command->arguments[0];
		command->arguments[0] = q % NODES;
		command->arguments[2] = client->puts[q];
		break;
	case PB_COMMAND_PREEMPT:
		command->arguments[3] = some(2) * PB_STOP_INSIDE;
		break;
	case PB_COMMAND_SUSPEND:
		command->arguments[2] = some(2) * PB_STOP_RECALL;
		break;
	case PB_COMMAND_SEGMENT_CREATE:
	case PB_COMMAND_SEGMENT_DESTROY:
		command->arguments[0] = 1u + some(PB_LIMIT_SEGMENTS - 1u);
		command->arguments[1] = some(2);
		command->arguments[2] = 0x40000000u + command->arguments[0] * 0x1000000u;
		command->arguments[4] = command->arguments[2];
		command->arguments[6] = 0x100000u;
		command->arguments[8] = command->arguments[1] == PB_SEGMENT_LINEAR ? 0x1000u : 0;
		break;
	default:
		break;
	}
}

/** A command ring that is always full. What the firmware has carried out is replaced. */
static void command(struct client *client)
{
	const struct pb_channel *channel = &client->channel;
	struct pb_command *ring = (void *)(client->link.memory + channel->control_offset);
	const uint32_t get = pb_shared_read32(&channel->entry->control_get);
	uint32_t put = pb_shared_read32(&channel->entry->control_put);

	read_replies(client);
	for (; put - get < channel->control_entries; put++)
		write_command(client, &ring[put % channel->control_entries]);
	pb_shared_write32(&channel->entry->control_put, put);
}

/** An engine of four stops in a buffer, as a FAULT packet has it. */
static void fault(void)
{
	struct pb_engine_registers *registers = (void *)(clients[0].link.memory + PB_CARD_ENGINE_OFFSET +
							 some(NODES) * PB_CARD_ENGINE_STRIDE);

	if (pb_shared_read32(&registers->tail) == pb_shared_read32(&registers->sequence))
		return;
	pb_shared_write32(&registers->fault_sequence, pb_shared_read32(&registers->sequence) + 1u);
	pb_shared_write32(&registers->fault_code, PB_ENGINE_FAULT_ASKED);
}

/** An engine that is reset has no fault any more. @param all others neither */
static void recover(bool all)
{
	for (uint32_t n = 0; n < NODES; n++) {
		struct pb_engine_registers *registers =
			(void *)(clients[0].link.memory + PB_CARD_ENGINE_OFFSET + n * PB_CARD_ENGINE_STRIDE);

		if (all ||
		    pb_shared_read32(&registers->command) != pb_shared_read32(&registers->command_done))
			pb_shared_write32(&registers->fault_code, PB_ENGINE_FAULT_NONE);
	}
}

/** What hosts and engines do between two passes. @return the lines that are raised */
static uint32_t between(void)
{
	pb_bench_read_outgoing();
	for (uint32_t c = 0; c < CLIENTS; c++) {
		for (uint32_t i = 0; i < 4u; i++)
			submit(&clients[c], some(QUEUES));
		kick(&clients[c]);
		command(&clients[c]);
	}
	recover(false);
	if (some(4) != 0)
		pb_bench_serve();
	else if (some(8) == 0)
		fault();
	return ((1u << NODES) - 1u) << PB_LINE_NODE(0) | ((1u << CLIENTS) - 1u) << PB_LINE_CHANNEL(1) |
	       (some(64) == 0 ? 1u << PB_LINE_TICK : 0);
}

/* ---- passes ---- */

static uint32_t claimed_at;    /**< counter behind the last claim */
static uint32_t longest_pass;  /**< instructions between two claims, times 1000 */
static uint32_t longest_delay; /**< from an alarm to the next claim */
static bool alarming;
static const uint32_t always = 1;

static uint32_t take(void *context)
{
	const uint32_t now = pb_bench_board_counter();
	const uint32_t pass = pb_bench_board_instructions_milli(claimed_at, now);
	uint32_t alarm, raised;

	(void)context;
	if (!alarming && pass > longest_pass)
		longest_pass = pass;
	if (alarming && pb_bench_board_alarm_rang(&alarm)) {
		const uint32_t delay = pb_bench_board_instructions_milli(alarm, now);

		/* Not if it rang behind the reading. */
		if (delay <= pass && delay > longest_delay)
			longest_delay = delay;
	}
	raised = between();
	(void)pb_bench_board_alarm_rang(&alarm); /* it rang while the hosts wrote */
	claimed_at = pb_bench_board_counter();
	return raised;
}

/** Clients and a firmware that know nothing of each other yet. */
static void begin(void)
{
	pb_bench_boot(false);
	pb_bench_require(pb_channel_detach(&pb_bench.channel) == PB_ERROR_OK, "detach");
	for (uint32_t c = 0; c < CLIENTS; c++)
		join(c);
}

/** @param again lines are pending again as soon as they have been claimed; else an alarm is the only one */
static void run(const struct storm *commands, bool again)
{
	storm = commands;
	seed = 1; /* each run is alike, whatever the alarms of another one have met */
	begin();
	alarming = !again;
	pb_bench_claim_by(take, again ? &always : pb_bench_board_alarms());
	if (alarming)
		pb_bench_board_alarm_start();
	claimed_at = pb_bench_board_counter();
	pb_bench_pass(PASSES);
	pb_bench_board_alarm_stop();
	pb_bench_claim_by(NULL, NULL);
	recover(true); /* or the next boot waits for one that has just failed */
	for (uint32_t c = 0; c < CLIENTS; c++)
		pb_bench_require(pb_shared_read32(&clients[c].channel.entry->state) == PB_CHANNEL_OPEN,
				 "a hostile channel has faulted");
}

void pb_bench_clients(void)
{
	static const uint32_t pings[] = {PB_COMMAND_PING};
	static const uint32_t queries[] = {PB_COMMAND_QUERY};
	static const uint32_t contexts[] = {PB_COMMAND_CONTEXT_CREATE};
	static const uint32_t stops[] = {PB_COMMAND_PREEMPT, PB_COMMAND_SUSPEND, PB_COMMAND_RESUME};
	static const uint32_t resets[] = {PB_COMMAND_PREEMPT, PB_COMMAND_RESET, PB_COMMAND_CONTEXT_CLEAR};
	static const uint32_t queues[] = {PB_COMMAND_QUEUE_CREATE, PB_COMMAND_QUEUE_DESTROY,
					  PB_COMMAND_QUEUE_CLEAR};
	static const uint32_t segments[] = {PB_COMMAND_SEGMENT_CREATE, PB_COMMAND_SEGMENT_DESTROY};
	static const uint32_t all[] = {
		PB_COMMAND_PING,          PB_COMMAND_QUERY,          PB_COMMAND_CONTEXT_CREATE,
		PB_COMMAND_CONTEXT_CLEAR, PB_COMMAND_PREEMPT,        PB_COMMAND_SUSPEND,
		PB_COMMAND_RESUME,        PB_COMMAND_RESET,          PB_COMMAND_QUEUE_CREATE,
		PB_COMMAND_QUEUE_DESTROY, PB_COMMAND_SEGMENT_CREATE, PB_COMMAND_SEGMENT_DESTROY,
		PB_COMMAND_MODERATE,      PB_COMMAND_FORMAT_SET,     PB_COMMAND_PREEMPT,
	};
#define STORM(codes)                                                                                         \
	{                                                                                                    \
		codes, sizeof(codes) / sizeof((codes)[0])                                                    \
	}
	static const struct storm storms[] = {STORM(pings),  STORM(queries), STORM(contexts), STORM(stops),
					      STORM(resets), STORM(queues),  STORM(segments), STORM(all)};

	for (uint32_t i = 0; i < sizeof(storms) / sizeof(storms[0]); i++) {
		run(&storms[i], true);
		run(&storms[i], false);
	}
	pb_bench_require(longest_delay != 0, "no alarm was taken");
	pb_bench_print_milli("pass_instr_max", longest_pass);
	pb_bench_print_milli("slice_clients_instr_max", longest_delay);
}
